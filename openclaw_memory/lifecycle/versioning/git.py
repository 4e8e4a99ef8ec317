"""Call the program `git` in one folder. For threads: every call waits for it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from openclaw_memory.config import VersioningConfig
from openclaw_memory.lifecycle.versioning.errors import GitError, GitMissingError

_ALL = ("**/*.md", "**/*.md.zst")
_HIDDEN = (":(top,exclude,glob)**/.*/**", ":(top,exclude,glob)**/.*")

_EXCLUDED = """\
# What memory commits are its documents; the rest is derived, or lives for a moment.
*
!*/
!*.md
!*.md.zst
!/memories/**
.*/
"""
_SETTINGS = (
    "commit.gpgsign=false",
    "core.hooksPath=/dev/null",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.quotepath=false",
    "gc.autoDetach=false",
    "core.fsmonitor=false",
    "advice.defaultBranchName=false",
)
"""A person's own hooks, signatures and line ends are for their own commits."""


class Git:
    """One repository: the folder's own, never one that the folder lies in.

    Parameters: `folder`; `config`, whose author commits; `documents`, what is committed of the folder, as git's globs:
    hidden files never are, and neither the journal, the index, nor backups.
    """

    def __init__(self, folder: Path, config: VersioningConfig, documents: Sequence[str] = _ALL) -> None:
        self.folder = folder
        self._config = config
        self._documents = (*(f":(top,glob){glob}" for glob in documents), *_HIDDEN)

    @property
    def exists(self) -> bool:
        """Whether the folder has a repository."""
        return (self.folder / ".git").exists()

    def commit(self, message: str, when: datetime) -> tuple[str, ...]:
        """Commit what has changed of the documents; gives their paths, none when nothing has.

        What a person has staged, and files that are no documents, stay as they are. Raises: `VersioningError`.
        """
        if not self.exists:
            self._run("init", "--quiet", "--initial-branch=main")
            exclude = self.folder / ".git" / "info" / "exclude"
            exclude.parent.mkdir(exist_ok=True)
            exclude.write_text(_EXCLUDED, encoding="utf-8")
        paths = self.changed()
        if not paths:
            return ()
        names = "\0".join(paths).encode("utf-8", "surrogateescape")
        from_names = ("--pathspec-from-file=-", "--pathspec-file-nul")
        self._run("add", "--all", *from_names, given=names, literal=True)
        moment = when.isoformat(timespec="seconds")
        self._run(
            "commit",
            "--quiet",
            "--no-verify",
            f"--message={message.format(files=told(paths))}",
            "--only",
            *from_names,
            given=names,
            literal=True,
            environ={"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment},
        )
        return paths

    def changed(self) -> tuple[str, ...]:
        """List the documents that differ from the last commit, or are not in it."""
        listed = self._run(
            "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--", *self._documents
        )
        entries = [entry for entry in listed.split(b"\0") if len(entry) > 3]
        return tuple(sorted(entry[3:].decode("utf-8", "surrogateescape") for entry in entries))

    def ignored(self) -> tuple[str, ...]:
        """List the documents that never come into a commit, since the repository's rules leave them out."""
        listed = self._run("ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--", *self._documents)
        return tuple(sorted(name.decode("utf-8", "surrogateescape") for name in listed.split(b"\0") if name))

    def read(self, *arguments: str) -> bytes:
        """Give what git says that changes nothing. Raises: `VersioningError`."""
        return self._run(*arguments)

    def _run(
        self,
        *arguments: str,
        given: bytes | None = None,
        literal: bool = False,
        environ: Mapping[str, str] | None = None,
    ) -> bytes:
        settings = [*_SETTINGS, f"user.name={self._config.author_name}", f"user.email={self._config.author_email}"]
        command = ["git", *(["--literal-pathspecs"] if literal else [])]
        command += [part for setting in settings for part in ("-c", setting)]
        try:
            done = subprocess.run(
                [*command, *arguments],
                cwd=self.folder,
                input=given,
                stdin=None if given is not None else subprocess.DEVNULL,
                capture_output=True,
                timeout=self._config.timeout_seconds,
                env={**_environ(os.environ, self.folder), **(environ or {})},
                check=False,
            )
        except FileNotFoundError as error:
            if not self.folder.is_dir():
                raise GitError(self.folder, arguments[0], "there is no such folder") from error
            raise GitMissingError from error
        except subprocess.TimeoutExpired as error:
            raise GitError(
                self.folder, arguments[0], f"it took longer than {self._config.timeout_seconds:g} seconds"
            ) from error
        except OSError as error:
            raise GitError(self.folder, arguments[0], error.strerror or str(error)) from error
        if done.returncode:
            said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
            raise GitError(self.folder, arguments[0], said or f"it ended with {done.returncode}")
        return done.stdout


def _environ(environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Give an environment in which git looks at this folder alone, asks nobody anything, and speaks English."""
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    return {
        **kept,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_CEILING_DIRECTORIES": str(folder.resolve().parent),
        "LC_ALL": "C.UTF-8",
    }


def told(paths: Sequence[str]) -> str:
    """Name some files, in a few words."""
    first = paths[0]
    others = len(paths) - 1
    return first if not others else f"{first} and {others} more"
