"""What `verify` may find in a memory folder, in words that say what to do. Pure: bytes and stamps in, findings out."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.storage.documents import Format
from openclaw_memory.storage.durable import BACKUP_SUFFIX
from openclaw_memory.storage.files import Stamp
from openclaw_memory.storage.integrity import Verdict, judge
from openclaw_memory.storage.lockowner import LockOwner

log = logging.getLogger(__name__)


class Code(StrEnum):
    """Why a finding is one. The first two and `DAMAGED` are the verdicts of seed 000 section 7.1."""

    MISSING_CHECKSUM = "MISSING_CHECKSUM"
    CHECKSUM_MISMATCH = "CHECKSUM_MISMATCH"
    DAMAGED = "DAMAGED"
    UNREADABLE = "UNREADABLE"
    FRONT_MATTER = "FRONT_MATTER"
    BACKUP_UNFIT = "BACKUP_UNFIT"
    LEFT_OVER = "LEFT_OVER"
    SET_ASIDE = "SET_ASIDE"
    JOURNAL_DAMAGED = "JOURNAL_DAMAGED"
    PENDING = "PENDING"


JOURNAL = ".journal"
"""Folder of the journal."""

EDITS = frozenset({Code.MISSING_CHECKSUM, Code.CHECKSUM_MISMATCH})

Remedy = Literal["repair", "adopt"]
"""What can be done by itself: `repair`, or, for edits, `repair --adopt`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found: `path`, relative to the memory folder; `words`, what it is; `todo`, what to do.

    `attention`: whether somebody has to do something; a person's edit, for one, is fine as it is. `remedy`: what does
    it; None when it takes a person.
    """

    path: str
    code: Code
    words: str
    todo: str
    attention: bool = True
    remedy: Remedy | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What was found in `folder`: of `documents`, `intact` fit their checksums. `owner` has the folder, if anybody."""

    folder: Path
    owner: LockOwner | None
    documents: int
    intact: int
    findings: tuple[Finding, ...]

    @property
    def attention(self) -> int:
        """How many findings need somebody to do something."""
        return sum(finding.attention for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Examined:
    """A document that was looked at: whether it can be read, the version that it names, what is to be said of it."""

    readable: bool
    version: str | None
    findings: tuple[Finding, ...]

    @property
    def codes(self) -> frozenset[Code]:
        """The reasons of what was found."""
        return frozenset(finding.code for finding in self.findings)


def examine(
    path: str, data: bytes, stamp: Stamp, recorded: Stamp | None, form: Format, *, has_backup: bool, running: bool
) -> Examined:
    """Judge one document just as the store does when it opens it (see `storage.integrity`).

    Parameters: `recorded`, the stamp as it was left by us, None when it never was; `has_backup`, whether its backup
    is intact; `running`, whether an owner has the folder.
    """
    try:
        document = parse(form, path, data)
    except UnreadableDocumentError as error:
        if recorded is None:
            return Examined(False, None, (unreadable(path, error.problem, "it is no text that can be read"),))
        return Examined(False, None, (_damaged(path, error.problem, has_backup=has_backup, running=running),))
    found = [] if (problem := _front_matter_problem(document)) is None else [_front_matter(path, problem)]
    verdict = judge(fits=form.fits(document), stamp=stamp, recorded=recorded)
    if verdict is Verdict.DAMAGED:
        words = "its bytes are not those that were written, and nobody has saved it since"
        return Examined(True, None, (_damaged(path, words, has_backup=has_backup, running=running),))
    if verdict.is_edit:
        found.insert(0, _edited(path, verdict, empty=not data.strip()))
    return Examined(True, form.version(document), tuple(found))


def parse(form: Format, path: str, data: bytes) -> Any:
    """Parse a document, whatever it holds, as the store does.

    Raises: `UnreadableDocumentError`.
    """
    try:
        return form.parse(path, data)
    except UnreadableDocumentError:
        raise
    except Exception as error:
        log.exception("%s can't be parsed", path)
        raise UnreadableDocumentError(path, f"{type(error).__name__}: {error}") from error


def unreadable(path: str, problem: str, kind: str) -> Finding:
    """Tell of a file that can't be read and is left as it is."""
    return Finding(
        path,
        Code.UNREADABLE,
        f"{kind}: {problem}",
        "it is never written over; mend it (permissions, encoding UTF-8), or move it out of the folder",
    )


def backup_unfit(path: str, *, problem: str, alone: bool, readable: bool, running: bool) -> Finding:
    """Tell of a backup that could not restore its document. `alone`: the document is gone."""
    if alone:
        todo = "its document is gone; take from it what is worth keeping, then remove it"
    elif not readable:
        todo = "mend the document first; its backup is refreshed after that"
    elif running:
        todo = "nothing: the running Gateway brings it up to date when the document is at rest"
    else:
        todo = "`repair` makes a fresh one; bytes that are nowhere else are set aside"
    mendable = readable and not alone
    return Finding(path, Code.BACKUP_UNFIT, problem, todo, not (mendable and running), "repair" if mendable else None)


def left_over(path: str, *, running: bool) -> Finding:
    """Tell of a temporary file."""
    if running:
        return Finding(path, Code.LEFT_OVER, "a file is being written", "nothing: the Gateway runs", attention=False)
    return Finding(
        path,
        Code.LEFT_OVER,
        "a crash left it behind",
        "`repair`, like every start, removes it, or keeps it as `.recovered-<time>` where it may be a person's save",
        remedy="repair",
    )


def set_aside(path: str, original: str) -> Finding:
    """Tell of bytes that were put aside, which only a person can judge."""
    words = "damaged bytes of" if ".corrupt-" in path else "a save, interrupted by a crash, of"
    document = original.removesuffix(BACKUP_SUFFIX)
    if original.startswith(JOURNAL):
        todo = "what could be read of it is applied; when nothing is missed in the documents, remove it"
    else:
        todo = f"compare it with {document}, copy over what is missing there, then remove it"
    return Finding(path, Code.SET_ASIDE, f"{words} {original}", todo)


def journal_damaged(path: str, lines: int) -> Finding:
    """Tell of lines of the journal that can't be read."""
    return Finding(
        path,
        Code.JOURNAL_DAMAGED,
        f"{lines} of its lines can't be read; what they held may be missing in the documents",
        "`repair` sets a copy aside and applies every line that can be read",
        remedy="repair",
    )


def pending(path: str, operations: int, *, readable: bool, running: bool) -> Finding:
    """Tell of operations that are acknowledged and in no file yet."""
    words = f"{operations} acknowledged change{'s are' if operations != 1 else ' is'} in the journal only"
    if running:
        todo = "nothing: the running Gateway writes them to the file within seconds"
        return Finding(path, Code.PENDING, words, todo, attention=False, remedy="repair")
    if not readable:
        return Finding(path, Code.PENDING, words, "mend the file first; they stay in the journal until then")
    todo = "`repair`, or the next start of the Gateway, writes them to the file; nothing is lost"
    return Finding(path, Code.PENDING, words, todo, remedy="repair")


def handed_in(path: str, events: int) -> Finding:
    """Tell of writes of other processes that no owner has taken up yet. They are safe where they are."""
    words = f"{events} write{'s' if events != 1 else ''} of other processes, handed in"
    return Finding(path, Code.PENDING, words, "nothing: the Gateway applies them, now or at its next start", False)


def _edited(path: str, verdict: Verdict, *, empty: bool) -> Finding:
    if empty:
        words = "it is empty"
    elif verdict is Verdict.MISSING_CHECKSUM:
        words = "somebody else wrote it: it names no checksum"
    else:
        words = "it was edited by hand: its text is newer than its checksum"
    todo = "nothing: it is used as it is; the checksum is renewed with the next write (or by `repair --adopt`)"
    return Finding(path, Code(verdict.value), words, todo, attention=False, remedy="adopt")


def _damaged(path: str, problem: str, *, has_backup: bool, running: bool) -> Finding:
    origin = "its backup and the journal" if has_backup else "what is readable of it (it has no intact backup)"
    actor = "the running Gateway, when it looks at it," if running else "`repair`, or the next start of the Gateway,"
    return Finding(
        path,
        Code.DAMAGED,
        problem,
        f"{actor} restores it from {origin}; the damaged bytes are set aside beside it",
        remedy="repair",
    )


def _front_matter(path: str, problem: str) -> Finding:
    return Finding(
        path,
        Code.FRONT_MATTER,
        f"YAML refuses its front matter ({problem}); it is read line by line",
        "correct the lines between the two `---`; often a value with `:` or `#` lacks its quotes",
    )


def _front_matter_problem(document: Any) -> str | None:
    front = getattr(document, "front", None)
    return None if front is None else front.problem
