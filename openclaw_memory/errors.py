"""Every error of memory, in one flat room. The texts are built from typed fields and say what to do."""

from __future__ import annotations


class OpenClawMemoryError(Exception):
    """Base of every error that memory raises on purpose."""


class ConfigError(OpenClawMemoryError, ValueError):
    """Raised when the configuration has a key or a value that can't be used."""

    def __init__(self, where: str, problem: str, remedy: str) -> None:
        super().__init__(f"{where}: {problem}; {remedy}")
        self.where, self.problem, self.remedy = where, problem, remedy


class Refused(OpenClawMemoryError):  # noqa: N818 - a refusal is an answer, not a fault
    """Raised when a request is understood and can't be granted; nothing was changed."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field, self.reason = field, reason


class StaleMaterialError(OpenClawMemoryError):
    """Raised when something was forgotten while a text was made of what memory holds; nothing was written."""

    def __init__(self) -> None:
        super().__init__(
            "something was forgotten while this was made, so nothing of it was written; it is read anew the next time"
        )


class UnreadableDocumentError(OpenClawMemoryError):
    """Raised when a document exists and can't be read; it is left as it is and never written over.

    `is_whole`: nothing is wrong with it but its size, so there is nothing to restore.
    """

    def __init__(self, path: str, problem: str, *, is_whole: bool = False) -> None:
        super().__init__(f"{path} can't be read ({problem}); it is left as it is")
        self.path, self.problem, self.is_whole = path, problem, is_whole


class StorageError(OpenClawMemoryError):
    """Raised when the disk refuses a write; what was acknowledged before is safe."""

    def __init__(self, what: str, cause: Exception) -> None:
        why = (cause.strerror if isinstance(cause, OSError) else None) or str(cause) or type(cause).__name__
        super().__init__(f"{what} failed: {why}")
        self.what, self.cause = what, cause


class UnstorableError(OpenClawMemoryError):
    """Raised when a change holds what no journal can hold, such as half of a character; nothing of it was kept."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"a change can't be written down ({cause}); nothing of it was kept")
        self.cause = cause


class AlreadyStartedError(OpenClawMemoryError):
    """Raised when a memory is started that serves already, or whose stop failed; it is as it was."""

    def __init__(self) -> None:
        super().__init__("this memory is started already; stop it first")


class RootInUseError(OpenClawMemoryError):
    """Raised when another process owns the memory folder."""

    def __init__(self, root: str, owner: str) -> None:
        super().__init__(f"{root} is in use by {owner or 'another process'}; stop it, or choose another root")
        self.root, self.owner = root, owner


class FolderInUseError(OpenClawMemoryError):
    """Raised when another memory, with a memory folder of its own, writes a folder that this one is to write too."""

    def __init__(self, folder: str) -> None:
        super().__init__(
            f"{folder} is in use by another memory, whose memory folder is another one; "
            "give this one a workspace_path of its own, or stop the other"
        )
        self.folder = folder


class ClosedError(OpenClawMemoryError):
    """Raised when something is asked of a store that is closed."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is closed")
        self.what = what
