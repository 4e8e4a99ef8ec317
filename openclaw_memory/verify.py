"""Look at a whole memory folder and tell how it is. Nothing is changed and no lock is taken: it may run at any time.

What is judged, and how, is in `findings.py`; here the files are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.findings import (
    JOURNAL,
    Code,
    Examined,
    Finding,
    Report,
    backup_unfit,
    examine,
    handed_in,
    journal_damaged,
    left_over,
    parse,
    pending,
    set_aside,
    unreadable,
)
from openclaw_memory.layers.rooms import FOLDERS, format_of
from openclaw_memory.storage.durable import BACKUP_SUFFIX
from openclaw_memory.storage.files import Files, LocalFiles, Stamp
from openclaw_memory.storage.inbox import FOLDER as INBOX
from openclaw_memory.storage.inbox import Inbox
from openclaw_memory.storage.journal import JournalContents, read_journal
from openclaw_memory.storage.leftovers import is_temporary
from openclaw_memory.storage.lockowner import LockOwner, find_owner
from openclaw_memory.storage.operations import Record
from openclaw_memory.storage.recovery import documents_named, held_up_to, operations_on
from openclaw_memory.storage.stamps import read_stamps

SET_ASIDE = re.compile(r"(?P<original>.+)\.(?:corrupt|recovered)-[^/]+")
"""Names of what was put aside."""

_LOOKS = 5
"""How often a file is read again that changes while it is read."""


def verify(folder: Path, files: Files, owner: LockOwner | None) -> Report:
    """Judge every document of the layers, what lies beside them, and the journal.

    Parameters: `folder`, that of the four layers; `owner`, who has it: what is on its way is no fault while one runs.
    """
    return _Verification(folder, files, owner).report()


def verify_on_disk(folder: Path) -> Report:
    """Do so on the real disk, beside whoever has the folder."""
    files = LocalFiles()
    return verify(folder, files, find_owner(folder, files))


def is_document(name: str) -> bool:
    """Tell whether a name is a document's, as the store has it."""
    return name.endswith((".md", ".json")) and not name.startswith(".")


@dataclass(slots=True)
class _Verification:
    folder: Path
    files: Files
    owner: LockOwner | None
    records: tuple[Record, ...] = ()
    recorded: dict[str, Stamp] = field(default_factory=dict)

    @property
    def running(self) -> bool:
        return self.owner is not None and self.owner.running is True

    def report(self) -> Report:
        self.recorded = {path: left.stamp for path, left in read_stamps(self.folder, self.files).items()}
        findings = list(self._journal())
        self.recorded |= {f.path: Stamp(*f.stamp) for r in self.records for f in r.flushed if f.stamp is not None}
        examined: dict[str, Examined] = {}
        for folder in FOLDERS:
            names, problems = self._names(folder)
            findings += problems
            for name in names:
                path = f"{folder}/{name}"
                if is_document(name) and (found := self._document(path)) is not None:
                    examined[path] = found
            findings += self._beside(folder, names, examined)
        findings += [finding for found in examined.values() for finding in found.findings]
        findings += self._beside(".", self._names(".")[0], examined)
        findings += self._beside(JOURNAL, self._names(JOURNAL)[0], examined)
        findings += self._pending(examined)
        if waiting := Inbox(self.folder, self.files).waiting():
            findings.append(handed_in(INBOX, len(waiting)))
        intact = sum(not found.findings for found in examined.values())
        order = list(Code)
        findings.sort(key=lambda finding: (finding.path, order.index(finding.code)))
        return Report(self.folder, self.owner, len(examined), intact, tuple(findings))

    # -- documents ----------------------------------------------------------------------------------------------

    def _names(self, folder: str) -> tuple[list[str], list[Finding]]:
        """List a folder by names alone, so that what can't be looked at is told as well."""
        try:
            names = sorted(path.name for path in (self.folder / folder).iterdir())
        except FileNotFoundError:
            return [], []
        except OSError as error:
            return [], [unreadable(folder, error.strerror or str(error), "the folder can't be listed")]
        shown = {name: name.encode("utf-8", "backslashreplace").decode() for name in names}
        return [name for name in names if shown[name] == name], [
            unreadable(f"{folder}/{shown[name]}", "rename it", "its name is no UTF-8, so it is no address")
            for name in names
            if shown[name] != name and is_document(name)
        ]

    def _document(self, path: str) -> Examined | None:
        """Look at one document; None where there is none, as with a folder of that name."""
        try:
            read = self._read(self.folder / path)
        except OSError as error:
            return Examined(False, None, (unreadable(path, error.strerror or str(error), "it can't be read"),))
        if read is None:
            return None
        has_backup = self._backup_problem(path) is None
        return examine(
            path, *read, self.recorded.get(path), format_of(path), has_backup=has_backup, running=self.running
        )

    def _read(self, path: Path) -> tuple[bytes, Stamp] | None:
        """Read bytes with the stamp of just these bytes; None when there is no file of that name (any more)."""
        if path.is_symlink() and not path.exists():
            raise OSError("it is a link that leads nowhere")
        for _ in range(_LOOKS):
            stamp = self.files.stamp_now(path)
            if stamp is None or not path.is_file():
                return None
            data = self.files.read_now(path)
            if self.files.stamp_now(path) == stamp:
                return data, stamp
        raise OSError("it changed all the time while it was read; look again")

    # -- what lies beside them ----------------------------------------------------------------------------------

    def _beside(self, folder: str, names: list[str], examined: dict[str, Examined]) -> Iterator[Finding]:
        prefix = "" if folder == "." else f"{folder}/"
        for name in names:
            path = prefix + name
            if is_temporary(name):
                yield left_over(path, running=self.running)
            elif (aside := SET_ASIDE.fullmatch(name)) is not None:
                yield set_aside(path, prefix + aside["original"])
            elif name.endswith(BACKUP_SUFFIX) and is_document(name.removesuffix(BACKUP_SUFFIX)):
                yield from self._backup(path, examined.get(path.removesuffix(BACKUP_SUFFIX)))

    def _backup(self, path: str, document: Examined | None) -> Iterator[Finding]:
        problem = self._backup_problem(path.removesuffix(BACKUP_SUFFIX))
        if problem is None:
            return
        readable = document is not None and Code.UNREADABLE not in document.codes
        yield backup_unfit(path, problem=problem, alone=document is None, readable=readable, running=self.running)

    def _backup_problem(self, path: str) -> str | None:
        """Say why the backup of a document could not restore it; None when it could."""
        form = format_of(path)
        try:
            document = parse(form, path, self.files.read_now(self.folder / f"{path}{BACKUP_SUFFIX}"))
        except UnreadableDocumentError as error:
            return f"this backup can't be read: {error.problem}"
        except OSError as error:
            return f"this backup can't be read: {error.strerror or error}"
        return (
            None if form.fits(document) else "this backup does not fit its checksum, so it could not restore anything"
        )

    # -- the journal --------------------------------------------------------------------------------------------

    def _journal(self) -> Iterator[Finding]:
        """Read the journal, which a running Gateway may begin anew at any moment."""
        contents = JournalContents((), 0, 0)
        for look in range(_LOOKS):
            try:
                contents = read_journal(self.folder / JOURNAL, self.files)
                break
            except OSError as error:
                if look == _LOOKS - 1 or not isinstance(error, FileNotFoundError):
                    yield unreadable(JOURNAL, error.strerror or str(error), "the journal can't be read")
                    return
        self.records = contents.records
        if contents.damaged:
            yield journal_damaged(JOURNAL, contents.damaged)

    def _pending(self, examined: dict[str, Examined]) -> Iterator[Finding]:
        """Count what the next start would apply, as `Store.open` does."""
        for path in sorted(documents_named(self.records)):
            found = examined.get(path)
            if found is not None and Code.DAMAGED in found.codes:
                continue
            held = held_up_to(self.records, path, None if found is None else found.version)
            if count := sum(position > held for position, _ in operations_on(self.records, path)):
                readable = found is None or found.readable
                yield pending(path, count, readable=readable, running=self.running)
