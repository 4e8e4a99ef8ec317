"""Exit codes, for scripts; the same for every command."""

from __future__ import annotations

DONE = 0
"""It is done, something was found, nothing needs attention."""

NOTHING = 1
"""Nothing was found, it was refused and nothing was changed, or something needs attention."""

USAGE = 2
"""The command was not understood, or the configuration is wrong."""

TROUBLE = 3
"""It could not be done: the disk refuses, memory is degraded."""

INTERRUPTED = 130
"""Stopped by Ctrl-C; what was acknowledged before is stored."""
