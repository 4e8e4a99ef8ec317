"""What a file was: its versions, the difference to one, and one of them put back. For threads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path

from openclaw_memory.lifecycle.versioning.errors import GitError, NoVersionError
from openclaw_memory.lifecycle.versioning.git import Git
from openclaw_memory.markdown.frontmatter import split
from openclaw_memory.markdown.text import decode, encode

MOST = 1_000
"""Versions that are listed."""

_COMMIT = re.compile(r"[0-9a-fA-F]{4,40}")


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a file: the commit, its time, what it was made for, and lines added and removed."""

    commit: str
    time: datetime
    message: str
    added: int
    removed: int


def versions_of(git: Git, path: str) -> list[Version]:
    """List the versions of a file, the newest first.

    Parameters: `path`, relative to the repository's folder. Raises: `NoVersionError` when there are none, `GitError`.
    """
    _check(git, path)
    listed = git.read(
        "log", f"--max-count={MOST}", "--format=%x01%H%x00%cI%x00%s", "--numstat", "--no-renames", "--", _literal(path)
    ).decode("utf-8", "replace")
    found = []
    for entry in listed.split("\x01")[1:]:
        head, _, counts = entry.partition("\n")
        commit, time, message = head.split("\0", 2)
        added, removed = [*(counts.strip().split("\t") or []), "0", "0"][:2]
        found.append(Version(commit, datetime.fromisoformat(time), message, _number(added), _number(removed)))
    if not found:
        raise NoVersionError(path, "no version of it was committed; there is one after the next commit")
    return found


def difference(git: Git, path: str, at: str | None, zone: tzinfo) -> str:
    """Give the difference between a version and the file as it is now, as `git diff` writes it; "" when there is none.

    Parameters: `at`, a commit or a time, None for the newest version. Raises: `VersioningError`.
    """
    commit = commit_at(git, path, at, zone)
    return git.read("diff", "--no-color", "--no-ext-diff", commit, "--", _literal(path)).decode("utf-8", "replace")


def content_at(git: Git, path: str, at: str | None, zone: tzinfo) -> bytes:
    """Give what a file held. Raises: `NoVersionError` when it did not exist then, `GitError`."""
    commit = commit_at(git, path, at, zone)
    try:
        return git.read("cat-file", "blob", f"{commit}:./{path}")
    except GitError as error:
        raise NoVersionError(path, f"it did not exist in {commit[:10]}") from error


def commit_at(git: Git, path: str, at: str | None, zone: tzinfo) -> str:
    """Find the commit that is meant: by its name, or the last one of the file at that time.

    Parameters: `at`, such as `3f2a91c`, `2026-05-04` (the end of that day), `2026-05-04T14:30`, in the user's `zone`.

    Raises: `NoVersionError`, `GitError`.
    """
    versions = versions_of(git, path)
    if at is None:
        return versions[0].commit
    if (moment := _moment(at, zone)) is not None:
        found = next((one for one in versions if one.time <= moment), None)
        if found is None:
            first = versions[-1].time.astimezone(zone)
            raise NoVersionError(path, f"no version of it is as old as {at}; the first is of {first:%Y-%m-%d %H:%M}")
        return found.commit
    if not _COMMIT.fullmatch(at):
        raise NoVersionError(path, f"{at!r} is neither a commit nor a time such as 2026-05-04 or 2026-05-04T14:30")
    try:
        return git.read("rev-parse", "--verify", "--quiet", f"{at}^{{commit}}").decode().strip()
    except GitError as error:
        raise NoVersionError(path, f"there is no commit {at}") from error


def restored(content: bytes, current: bytes | None) -> bytes:
    """Give what is written to put an old version in the place of the file as it is.

    The checksum in the front matter names a version. With that of the old one, memory would take it for an old view
    that an editor saves, and apply what came since once more; so it gets the one that is there now, and counts as what
    it is: a person's edit of the newest version.
    """
    old = decode(content)
    if old.problem is not None or current is None:
        return content
    front = split(old.text)
    now = split(decode(current).text)
    if "checksum" not in front.fields or "checksum" not in now.fields:
        return content
    return encode(front.with_fields({"checksum": now.fields["checksum"]}).text, old.encoding)


def put_back(place: Path, content: bytes) -> None:
    """Write a file as an editor saves it: whole, or not at all. Raises: `OSError`."""
    temporary = place.with_name(f".{place.name}.restored")
    mode = place.stat().st_mode & 0o777 if place.exists() else 0o600
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        temporary.write_bytes(content)
        temporary.chmod(mode)
        temporary.replace(place)
    finally:
        temporary.unlink(missing_ok=True)


def _check(git: Git, path: str) -> None:
    if not git.exists:
        raise NoVersionError(path, f"{git.folder} has no versions; set versioning.enabled to true")
    try:
        git.read("rev-parse", "--verify", "--quiet", "HEAD")
    except GitError as error:
        raise NoVersionError(path, f"nothing was committed in {git.folder} yet") from error


def _literal(path: str) -> str:
    return f":(top,literal){path}"


def _moment(at: str, zone: tzinfo) -> datetime | None:
    """Read a time; None when it is none. A day alone is meant to its end."""
    if not re.match(r"\d{4}-\d\d-\d\d", at):
        return None
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return None
    if len(at) == len("2026-05-04"):
        moment = moment.replace(hour=23, minute=59, second=59)
    return moment if moment.utcoffset() is not None else moment.replace(tzinfo=zone)


def _number(told: str) -> int:
    return int(told) if told.isdecimal() else 0
