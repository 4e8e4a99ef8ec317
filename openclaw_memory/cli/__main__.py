"""`python -m openclaw_memory.cli`, the same as `openclaw-memory`."""

from openclaw_memory.cli.entry import main

main()
