"""What can go wrong when something is put into a document."""

from __future__ import annotations


class MarkdownError(Exception):
    """Raised when a document cannot be changed as asked; base of all errors of this package."""


class UnwritableValueError(MarkdownError):
    """Raised when a value cannot be written so that it would be read back as the same value.

    Args:
        field: What the value is for, such as `key` or `title`.
        value: The value.
        reason: What is in the way, and what to do.
    """

    def __init__(self, field: str, value: str, reason: str) -> None:
        self.field = field
        self.value = value
        self.reason = reason
        super().__init__(f"{field} {value[:80]!r} cannot be written: {reason}")


class UnknownTaskError(MarkdownError):
    """Raised when the document holds no task with this id.

    Args:
        task_id: The id that was looked for.
    """

    def __init__(self, task_id: str) -> None:
        self.task_id = task_id
        super().__init__(f"no task {task_id!r} in this document: look its id up in the task list")
