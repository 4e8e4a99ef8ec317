"""Every error of moving in and out, in one flat room."""

from __future__ import annotations

from openclaw_memory.errors import OpenClawMemoryError


class SourceError(OpenClawMemoryError):
    """Raised when what is to be imported can't be read, or is nothing that can be imported."""

    def __init__(self, source: str, problem: str, remedy: str) -> None:
        super().__init__(f"{source}: {problem}; {remedy}")
        self.source, self.problem, self.remedy = source, problem, remedy


class BackupError(OpenClawMemoryError):
    """Raised when a backup does not hold what was backed up; nothing was imported."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"the backup in {place} is not good ({problem}); nothing was imported")
        self.place, self.problem = place, problem


class StoppedError(OpenClawMemoryError):
    """Raised when an import could not be finished: why, and what was done about what it had written."""

    def __init__(self, problem: str, state: str) -> None:
        super().__init__(f"{problem}; {state}")
        self.problem, self.state = problem, state


class DestinationError(OpenClawMemoryError):
    """Raised when an export can't be put where it is to go; nothing was written."""

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        super().__init__(f"{place}: {problem}; {remedy}")
        self.place, self.problem, self.remedy = place, problem, remedy
