"""What can go wrong in a storage of long-term memory."""

from __future__ import annotations

from openclaw_memory.errors import OpenClawMemoryError


class LongTermError(OpenClawMemoryError):
    """Raised when a storage of long-term memory refuses a read or a write; nothing was changed."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place}: {problem}")
        self.place, self.problem = place, problem


class MissingPackageError(LongTermError):
    """Raised when the package that a storage needs is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__("long-term memory", f"{package} is not installed; pip install 'openclaw-memory[{extra}]'")
        self.package, self.extra = package, extra
