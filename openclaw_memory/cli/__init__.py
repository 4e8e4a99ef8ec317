"""The command line: `openclaw-memory`. It works on the files, beside a running Gateway or without one."""
