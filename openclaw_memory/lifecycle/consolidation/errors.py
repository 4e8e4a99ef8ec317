"""What can be wrong with a model's answer."""

from __future__ import annotations

from openclaw_memory.errors import OpenClawMemoryError


class UnusableAnswerError(OpenClawMemoryError):
    """Raised when a model's answer is not what was asked for; nothing of it is used, and nothing is marked as done."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"the model's answer can't be used: {problem}")
        self.problem = problem
