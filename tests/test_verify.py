"""Every kind of finding is found, with what to do, and looking changes nothing."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from openclaw_memory.findings import Report
from openclaw_memory.layers.rooms import FOLDERS
from openclaw_memory.markdown.frontmatter import split
from openclaw_memory.storage.files import LocalFiles, Stamp
from openclaw_memory.storage.inbox import Inbox
from openclaw_memory.storage.lockowner import LockOwner, judge_owner
from openclaw_memory.verify import verify
from tests.memory_folder import (
    FACTS,
    NOTES,
    STATE,
    TALK,
    content,
    crashed,
    damage,
    fact,
    opened,
    overwrite,
    remembered,
    said,
    states,
    write,
)

RUNNING = LockOwner("process 7 on here", True)


def looked(memory: Path, owner: LockOwner | None = None) -> Report:
    """Verify, and insist that nothing was touched."""
    before = states(memory)
    report = verify(memory, LocalFiles(), owner)
    assert states(memory) == before
    return report


def codes(report: Report) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for finding in report.findings:
        found.setdefault(finding.path, []).append(finding.code.value)
    return found


async def test_closed_folder_is_intact(tmp_path: Path) -> None:
    """There is nothing to say of what we left ourselves."""
    report = looked(await remembered(tmp_path, fact(FACTS, "language", "Zig")))
    assert (report.documents, report.intact, report.findings, report.attention) == (4, 4, (), 0)


def _edit(memory: Path) -> None:
    (memory / FACTS).write_bytes((memory / FACTS).read_bytes() + b"- tea: green\n")


def _strip(memory: Path) -> None:
    text = (memory / FACTS).read_text()
    (memory / FACTS).write_text(split(text).body)


def _own_file(memory: Path) -> None:
    (memory / "facts/own.md").write_text("# Mine\n")


def _empty(memory: Path) -> None:
    (memory / FACTS).write_text("")


def _flip(memory: Path) -> None:
    data = (memory / FACTS).read_bytes()
    damage(memory / FACTS, data[:-3] + bytes([data[-3] ^ 1]) + data[-2:])


def _cut(memory: Path) -> None:
    damage(memory / TALK, (memory / TALK).read_bytes()[:-4])


def _zeros(memory: Path) -> None:
    """A file system that lost the content and kept the rest, at another time."""
    overwrite(memory / TALK, bytes((memory / TALK).stat().st_size))


def _torn_state(memory: Path) -> None:
    overwrite(memory / STATE, b'{"last"')


def _no_text(memory: Path) -> None:
    (memory / "facts/picture.md").write_bytes(b"\x89PNG\x00\xff\xfe")


def _dangling(memory: Path) -> None:
    (memory / "facts/link.md").symlink_to(memory / "nowhere.md")


def _bad_yaml(memory: Path) -> None:
    text = (memory / FACTS).read_text()
    (memory / FACTS).write_text(text.replace("type: fact", 'type: fact\ntags: ["a'))


def _bad_backup(memory: Path) -> None:
    (memory / f"{FACTS}.backup").write_text("garbage")


def _lone_backup(memory: Path) -> None:
    (memory / FACTS).unlink()
    (memory / f"{FACTS}.backup").write_text("garbage")


def _left_over(memory: Path) -> None:
    (memory / "facts/.notes.md.0123456789ab.tmp").write_text("torn")


def _left_over_manifest(memory: Path) -> None:
    (memory / ".index.json.0123456789ab.tmp").write_text("{")


def _set_aside(memory: Path) -> None:
    (memory / f"{FACTS}.corrupt-20260504T063000").write_text("x")


def _recovered(memory: Path) -> None:
    (memory / f"{FACTS}.recovered-20260504T063000").write_text("x")


@pytest.mark.parametrize(
    ("befall", "path", "found", "attention", "remedy"),
    [
        (_edit, FACTS, ["CHECKSUM_MISMATCH"], 0, "adopt"),
        (_strip, FACTS, ["MISSING_CHECKSUM"], 0, "adopt"),
        (_own_file, "facts/own.md", ["MISSING_CHECKSUM"], 0, "adopt"),
        (_empty, FACTS, ["MISSING_CHECKSUM"], 0, "adopt"),
        (_bad_yaml, FACTS, ["FRONT_MATTER"], 1, None),
        (_flip, FACTS, ["DAMAGED"], 1, "repair"),
        (_cut, TALK, ["DAMAGED"], 1, "repair"),
        (_zeros, TALK, ["DAMAGED"], 1, "repair"),
        (_torn_state, STATE, ["DAMAGED"], 1, "repair"),
        (_no_text, "facts/picture.md", ["UNREADABLE"], 1, None),
        (_dangling, "facts/link.md", ["UNREADABLE"], 1, None),
        (_bad_backup, f"{FACTS}.backup", ["BACKUP_UNFIT"], 1, "repair"),
        (_lone_backup, f"{FACTS}.backup", ["BACKUP_UNFIT"], 1, None),
        (_left_over, "facts/.notes.md.0123456789ab.tmp", ["LEFT_OVER"], 1, "repair"),
        (_left_over_manifest, ".index.json.0123456789ab.tmp", ["LEFT_OVER"], 1, "repair"),
        (_set_aside, f"{FACTS}.corrupt-20260504T063000", ["SET_ASIDE"], 1, None),
        (_recovered, f"{FACTS}.recovered-20260504T063000", ["SET_ASIDE"], 1, None),
    ],
    ids=lambda value: value.__name__.strip("_") if callable(value) else None,
)
async def test_each_reason_is_found(
    tmp_path: Path,
    befall: Callable[[Path], None],
    path: str,
    found: list[str],
    attention: int,
    remedy: str | None,
) -> None:
    """One thing befalls the folder: it is told under its own reason, and nothing else is."""
    memory = await remembered(tmp_path)
    befall(memory)
    report = looked(memory)
    assert codes(report) == {path: found}
    assert report.attention == attention
    assert [finding.remedy for finding in report.findings] == [remedy]
    assert all(finding.words and finding.todo for finding in report.findings)


async def test_edit_with_broken_front_matter_is_both(tmp_path: Path) -> None:
    """Two things about one document are told as two."""
    memory = await remembered(tmp_path)
    _bad_yaml(memory)
    _edit(memory)
    assert codes(looked(memory)) == {FACTS: ["CHECKSUM_MISMATCH", "FRONT_MATTER"]}


async def test_damage_tells_what_the_ladder_will_give(tmp_path: Path) -> None:
    """Without an intact backup only what is readable can be restored, and that is said before it is done."""
    memory = await remembered(tmp_path)
    _flip(memory)
    (finding,) = looked(memory).findings
    assert "from its backup and the journal" in finding.todo
    (memory / f"{FACTS}.backup").unlink()
    (finding,) = looked(memory).findings
    assert "no intact backup" in finding.todo


async def test_folder_of_a_documents_name_is_passed_over(tmp_path: Path) -> None:
    """It is no document, for the store neither."""
    memory = await remembered(tmp_path)
    (memory / "facts/2026.md").mkdir()
    assert looked(memory).findings == ()


class _Refusing(LocalFiles):
    """A disk that refuses to read one file."""

    def __init__(self, name: str) -> None:
        self.name = name

    def read_now(self, path: Path) -> bytes:
        if path.name == self.name:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return super().read_now(path)


async def test_refused_file_is_told_with_the_reason(tmp_path: Path) -> None:
    """Permissions are the person's to give; the other documents are judged all the same."""
    report = verify(await remembered(tmp_path), _Refusing("notes.md"), None)
    assert codes(report) == {NOTES: ["UNREADABLE"]}
    assert "Permission denied" in report.findings[0].words
    assert report.intact == 3


async def test_refused_journal_is_told(tmp_path: Path) -> None:
    """What can't be looked at is never taken for empty."""
    memory = await remembered(tmp_path)
    (log,) = (memory / ".journal").iterdir()
    assert codes(verify(memory, _Refusing(log.name), None)) == {".journal": ["UNREADABLE"]}


class _Busy(LocalFiles):
    """A disk on which a file is saved while it is read, a number of times."""

    def __init__(self, path: Path, times: int) -> None:
        self.path, self.times = path, times

    def read_now(self, path: Path) -> bytes:
        data = super().read_now(path)
        if path == self.path and self.times:
            self.times -= 1
            path.write_bytes(data + b"- more: yes\n")
        return data


@pytest.mark.parametrize(("times", "code"), [(1, "CHECKSUM_MISMATCH"), (99, "UNREADABLE")])
async def test_file_that_changes_meanwhile_is_looked_at_again(tmp_path: Path, times: int, code: str) -> None:
    """Bytes are judged with their own stamp, never with that of others."""
    memory = await remembered(tmp_path)
    assert codes(verify(memory, _Busy(memory / FACTS, times), None)) == {FACTS: [code]}


# -- the journal -------------------------------------------------------------------------------------------------------


async def test_acknowledged_changes_that_no_file_holds_are_counted(tmp_path: Path) -> None:
    """After a crash they wait in the journal; a start or a repair writes them."""
    memory = await crashed(tmp_path, said("m2", "two"), said("m3", "three"), fact(FACTS, "language", "Zig"))
    report = looked(memory)
    assert codes(report) == {FACTS: ["PENDING"], TALK: ["PENDING"]}
    assert [finding.words[:3] for finding in report.findings] == ["2 a", "1 a"]
    assert report.attention == 2


async def test_flushed_changes_are_not_pending(tmp_path: Path) -> None:
    """The journal keeps operations for the backup's sake; the file holds them, also when a person edited it."""
    memory = await crashed(tmp_path, fact(FACTS, "language", "Zig"), flushed=True)
    assert (memory / FACTS).read_bytes().count(b"Zig") == 1
    assert looked(memory).findings == ()
    _edit(memory)
    assert codes(looked(memory)) == {FACTS: ["CHECKSUM_MISMATCH"]}


async def test_pending_changes_of_an_unreadable_file_wait_for_the_person(tmp_path: Path) -> None:
    """They can't be written into what can't be read."""
    memory = await crashed(tmp_path, fact("facts/new.md", "a", "b"))
    (memory / "facts/new.md").write_bytes(b"\x89PNG\x00\xff\xfe")
    report = looked(memory)
    assert codes(report) == {"facts/new.md": ["UNREADABLE", "PENDING"]}
    assert [finding.remedy for finding in report.findings] == [None, None]


@pytest.mark.parametrize("line", [0, 1, 2])
async def test_damaged_lines_of_the_journal_are_told(tmp_path: Path, line: int) -> None:
    """Wherever they are: a first line that can't be read must not make the rest of the journal vanish."""
    memory = await crashed(tmp_path, said("m2", "two"))
    (log,) = (memory / ".journal").iterdir()
    lines = log.read_bytes().split(b"\n")
    whole = b"\n".join([*lines[:1], *lines[1:-1] * 3, b""])
    lines = whole.split(b"\n")
    lines[line] = b"0" * 9 + lines[line][9:]
    overwrite(log, b"\n".join(lines))
    report = looked(memory)
    assert codes(report)[".journal"] == ["JOURNAL_DAMAGED"]
    assert codes(report)[TALK] == ["PENDING"]


async def test_what_is_under_way_is_no_fault_while_an_owner_runs(tmp_path: Path) -> None:
    """Unflushed entries, a file being written, a backup that lags: all of them pass by themselves."""
    memory = await crashed(tmp_path, said("m2", "two"))
    _left_over(memory)
    _bad_backup(memory)
    assert looked(memory).attention == 3
    report = looked(memory, RUNNING)
    assert len(report.findings) == 3
    assert report.attention == 0


async def test_beside_an_owner_nothing_is_disturbed(tmp_path: Path) -> None:
    """A store goes on writing while it is looked at, and its journal is begun anew in between."""
    memory = tmp_path / "memory"
    store = opened(memory)
    await store.open(FOLDERS)
    for number in range(5):
        await write(store, said(f"m{number}", "hello"))
        assert {code for found in codes(looked(memory, RUNNING)).values() for code in found} <= {"PENDING"}
        await store.flush()
    await store.close()
    assert looked(memory).findings == ()
    assert (memory / TALK).read_bytes().count(b"hello") == 5


async def test_empty_folder_has_nothing_to_tell(tmp_path: Path) -> None:
    """Folders that do not exist yet are made at the first start."""
    report = looked(tmp_path)
    assert (report.documents, report.findings) == (0, ())
    assert content(tmp_path) == {}


# -- who owns it -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "alive", "locked", "running"),
    [
        ("process 7 on here", True, frozenset({5}), True),
        ("process 7 on here", False, frozenset({5}), True),
        ("", False, frozenset({5}), True),
        ("process 7 on here", True, frozenset({6}), "nobody"),
        ("process 7 on here", True, None, True),
        ("process 7 on here", False, None, "nobody"),
        ("process 7 on there", False, None, None),
        ("", True, None, "nobody"),
        ("scribble", True, None, "nobody"),
    ],
)
def test_owner_is_told_without_taking_the_lock(
    text: str, alive: bool, locked: frozenset[int] | None, running: bool | str | None
) -> None:
    """The system's list of locks decides where there is one, else whether the process lives; not so on another host."""
    owner = judge_owner(text, Stamp(5, 20, 0), "here", lambda process: alive, locked)
    assert ("nobody" if owner is None else owner.running) == running


async def test_name_that_is_no_text_is_told(tmp_path: Path) -> None:
    """The store passes it over, so nobody would find it."""
    memory = await remembered(tmp_path)
    (memory / os.fsdecode(b"facts/caf\xe9.md")).write_text("# x\n")
    assert codes(looked(memory)) == {"facts/caf\\udce9.md": ["UNREADABLE"]}


async def test_writes_of_other_processes_are_told(tmp_path: Path) -> None:
    """They are in no file yet, and safe: nobody has to do anything."""
    memory = await remembered(tmp_path)
    Inbox(memory, LocalFiles()).hand_in("01", {"type": "memory:write"})
    report = looked(memory)
    assert codes(report) == {".inbox": ["PENDING"]}
    assert report.attention == 0
