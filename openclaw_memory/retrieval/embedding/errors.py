"""What can go wrong between a text and its vector."""

from __future__ import annotations

from openclaw_memory.errors import OpenClawMemoryError


class EmbeddingError(OpenClawMemoryError):
    """Base of the errors of embedders."""


class MissingExtraError(EmbeddingError):
    """Raised when a package that an embedder needs is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"the package {package} is not installed; pip install 'openclaw-memory[{extra}]'")
        self.package, self.extra = package, extra


class EmbedderUnavailableError(EmbeddingError):
    """Raised when an embedder can't answer now, and may later: no connection, too many requests, a wrong answer."""

    def __init__(self, embedder: str, problem: str) -> None:
        super().__init__(f"{embedder}: {problem}")
        self.embedder, self.problem = embedder, problem


class TextRefusedError(EmbeddingError):
    """Raised when an embedder will never give a vector for one of the texts; the others are not at fault."""

    def __init__(self, embedder: str, problem: str) -> None:
        super().__init__(f"{embedder} refuses a text: {problem}")
        self.embedder, self.problem = embedder, problem
