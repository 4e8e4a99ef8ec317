"""What can be wrong with what the context is asked for."""

from __future__ import annotations

from openclaw_memory.errors import OpenClawMemoryError


class UnknownEncodingError(OpenClawMemoryError, ValueError):
    """Raised when an encoding is named that there is no counter for."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        self.name = name
        self.known = known
        super().__init__(f"unknown token encoding {name!r}; use one of: {', '.join(known)}")


class EncodingUnavailableError(OpenClawMemoryError, RuntimeError):
    """Raised when the package that brings an encoding is not installed; nothing is ever downloaded for it."""

    def __init__(self, name: str, package: str, extra: str | None = None) -> None:
        self.name = name
        self.package = package
        what = f"openclaw-memory[{extra}]" if extra else package
        super().__init__(f"token encoding {name!r} needs the package {package!r}; install it: pip install '{what}'")
