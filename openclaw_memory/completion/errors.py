"""What can go wrong when a language model is asked."""

from __future__ import annotations

from openclaw_memory.errors import OpenClawMemoryError


class CompletionError(OpenClawMemoryError):
    """Raised when a model gives no answer: no connection, time is up, the key or the request is refused, no JSON."""

    def __init__(self, model: str, problem: str) -> None:
        super().__init__(f"{model}: {problem}")
        self.model, self.problem = model, problem


class MissingPackageError(CompletionError):
    """Raised when the package that a provider needs is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            "completion", f"the package {package} is not installed; pip install 'openclaw-memory[{extra}]'"
        )
        self.package, self.extra = package, extra
