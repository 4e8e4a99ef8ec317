"""What can go wrong with kept vectors. All of them are derived: the worst that happens is that they are made again."""

from __future__ import annotations

from openclaw_memory.errors import OpenClawMemoryError


class VectorsError(OpenClawMemoryError):
    """Base of the errors of kept vectors."""


class OtherModelError(VectorsError):
    """Raised when the vectors were made with another model than the one that asks (case 24)."""

    def __init__(self, made_with: str, configured: str) -> None:
        super().__init__(
            f"vectors were made with {made_with} and {configured} is configured; "
            "run rebuild-index, or configure the former model"
        )
        self.made_with, self.configured = made_with, configured


class VectorsLostError(VectorsError):
    """Raised when the file of vectors was removed or is damaged: it is begun anew, from the texts."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path} {problem}; the vectors are made again from the texts")
        self.path, self.problem = path, problem


class VectorsUnavailableError(VectorsError):
    """Raised when the file of vectors can't be read or written now: disk full, no permission, locked."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path} can't be used now ({problem})")
        self.path, self.problem = path, problem
