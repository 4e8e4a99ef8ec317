"""What can go wrong with versions."""

from __future__ import annotations

from pathlib import Path

from openclaw_memory.errors import OpenClawMemoryError


class VersioningError(OpenClawMemoryError):
    """Base of what goes wrong with versions; the documents themselves are well."""


class GitMissingError(VersioningError):
    """Raised when there is no program `git`."""

    def __init__(self) -> None:
        super().__init__("the program git is not installed; install it, or set versioning.enabled to false")


class GitError(VersioningError):
    """Raised when `git` refuses, or takes too long; `problem` is what it said."""

    def __init__(self, folder: Path, command: str, problem: str) -> None:
        super().__init__(f"git {command} in {folder}: {problem}")
        self.folder, self.command, self.problem = folder, command, problem


class NoVersionError(VersioningError):
    """Raised when there is no version of a file, or none at that time."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path, self.why = path, why
