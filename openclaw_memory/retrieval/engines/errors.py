"""What can go wrong with an index's files. None of it reaches a user as an exception: `SafeIndex` answers for it."""

from __future__ import annotations

from openclaw_memory.errors import OpenClawMemoryError


class IndexFaultError(OpenClawMemoryError):
    """Base of what is wrong with an index on disk."""

    def __init__(self, what: str, problem: str) -> None:
        super().__init__(f"{what}: {problem}")
        self.what, self.problem = what, problem


class IndexDamagedError(IndexFaultError):
    """Raised when what lies on the disk can't be what was written; it has to be made anew."""


class TermsDamagedError(IndexFaultError):
    """Raised when an engine's own files can't be used or changed; its terms have to be made anew from the rows."""


class IndexUnavailableError(IndexFaultError):
    """Raised when the files can't be used now: locked by somebody, not to be written, or the disk is full."""


class IndexOutdatedError(IndexFaultError):
    """Raised when the files were made by another version, other terms or another engine; they have to be made anew."""
