"""`python -m openclaw_memory.cli`, the same as `openclaw-memory`."""

from openclaw_memory.cli.app import app

app(prog_name="openclaw-memory")
