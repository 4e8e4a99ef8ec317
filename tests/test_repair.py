"""What can be done by itself is done, nothing is deleted that is nowhere else, and a second repair finds nothing."""

from __future__ import annotations

import errno
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from openclaw_memory.clock import ManualClock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.errors import RootInUseError
from openclaw_memory.markdown.frontmatter import split
from openclaw_memory.markdown.text import decode
from openclaw_memory.repair import Repair, holds_every_line, plan_repair, repair, still_saving
from openclaw_memory.storage.files import LocalFiles
from openclaw_memory.storage.rootlock import RootLock
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
    overwrite,
    remembered,
    said,
    states,
)
from tests.support import START, FaultyFiles

MARK = "20260504T063000"


async def repaired(memory: Path, *, adopt: bool = False, files: LocalFiles | None = None) -> Repair:
    config = MemoryConfig(root=memory.parent, timezone="Asia/Shanghai")
    return await repair(config, files or FaultyFiles(), ManualClock(START), adopt=adopt)


async def repaired_for_good(memory: Path, *, adopt: bool = False) -> Repair:
    """Repair, and insist that everything planned was done and that a second time finds nothing and changes nothing."""
    first = await repaired(memory, adopt=adopt)
    assert first.trouble is None
    assert [action for action in first.actions if not action.done] == []
    before = states(memory)
    second = await repaired(memory, adopt=adopt)
    assert second.actions == ()
    # Taking the lock writes who has it.
    assert {p: s for p, s in states(memory).items() if not p.endswith(".lock")} == {
        p: s for p, s in before.items() if not p.endswith(".lock")
    }
    return first


# -- damage ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [FACTS, NOTES, TALK, STATE])
async def test_damaged_document_is_as_it_was(tmp_path: Path, path: str) -> None:
    """From its backup and the journal; the damaged bytes lie beside it."""
    memory = await remembered(tmp_path, fact(FACTS, "language", "Zig"), said("m2", "two"))
    whole = content(memory)
    broken = whole[path][: len(whole[path]) // 2] + b"\x00" + whole[path][len(whole[path]) // 2 + 1 :]
    damage(memory / path, broken)
    result = await repaired_for_good(memory)
    after = content(memory)
    assert after[path] == whole[path]
    assert after[f"{path}.corrupt-{MARK}"] == broken
    assert [(action.path, action.code) for action in result.actions] == [(path, "DAMAGED")]
    assert "restored from its backup" in result.actions[0].words
    assert [finding.code for finding in result.left.findings] == ["SET_ASIDE"]


async def test_damage_without_a_backup_keeps_what_is_readable(tmp_path: Path) -> None:
    """The ladder of seed 000 section 7.1 goes on downwards, and nothing is deleted on the way."""
    memory = await remembered(tmp_path)
    (memory / f"{FACTS}.backup").write_bytes(b"garbage\n")
    broken = (memory / FACTS).read_bytes().replace(b"Go", b"G\x00")
    damage(memory / FACTS, broken)
    result = await repaired_for_good(memory)
    after = content(memory)
    assert "language: G\ufffd" in after[FACTS].decode()
    assert after[f"{FACTS}.corrupt-{MARK}"] == broken
    assert after[f"{FACTS}.backup.corrupt-{MARK}"] == b"garbage\n"
    assert [action.code for action in result.actions] == ["DAMAGED", "BACKUP_UNFIT"]


@pytest.mark.parametrize("place", range(0, 101, 10))
async def test_no_damaged_byte_costs_anything(tmp_path: Path, place: int) -> None:
    """Wherever it is in the file, front matter included: the text is as before, and the bytes are somewhere."""
    memory = await remembered(tmp_path)
    before = content(memory)
    broken = {}
    for path in (FACTS, NOTES, TALK):
        at = (len(before[path]) - 1) * place // 100
        broken[path] = before[path][:at] + bytes([before[path][at] ^ 0x15]) + before[path][at + 1 :]
        damage(memory / path, broken[path])
    await repaired_for_good(memory)
    after = content(memory)
    for path, data in broken.items():
        assert split(decode(after[path]).text).body == split(decode(before[path]).text).body
        assert data in after.values()


# -- what a crash leaves -----------------------------------------------------------------------------------------------


async def test_what_waited_in_the_journal_is_in_the_files(tmp_path: Path) -> None:
    """Once, and with backups that fit."""
    memory = await crashed(tmp_path, said("m2", "two"), fact(FACTS, "language", "Zig"))
    await repaired_for_good(memory)
    assert (memory / TALK).read_bytes().count(b"two") == 1
    assert (memory / FACTS).read_bytes().count(b"Zig") == 1


@pytest.mark.parametrize("line", [0, 1])
async def test_damaged_journal_is_set_aside_and_the_rest_applied(tmp_path: Path, line: int) -> None:
    """Every line that can be read counts, and the bytes of the others are kept for a person."""
    memory = await crashed(tmp_path, said("m2", "two"))
    (log,) = (memory / ".journal").iterdir()
    lines = log.read_bytes().split(b"\n")
    lines = [lines[0], lines[1], *lines[1:]]
    lines[line] = b"0" * 9 + lines[line][9:]
    overwrite(log, b"\n".join(lines))
    broken = log.read_bytes()
    result = await repaired_for_good(memory)
    assert (memory / TALK).read_bytes().count(b"two") == 1
    assert broken in content(memory / ".journal").values()
    assert [(finding.code, finding.path[:8]) for finding in result.left.findings] == [("SET_ASIDE", ".journal")]


async def test_left_over_files_go_and_a_persons_save_stays(tmp_path: Path) -> None:
    """Only what is certainly ours is removed."""
    memory = await remembered(tmp_path)
    whole = (memory / NOTES).read_bytes()
    (memory / "facts/.notes.md.0123456789ab.tmp").write_bytes(whole)
    (memory / "facts/.notes.md.abcdefabcdef.tmp").write_text("# somebody's own text\n")
    await repaired_for_good(memory)
    after = content(memory)
    assert after[f"{NOTES}.recovered-{MARK}"] == b"# somebody's own text\n"
    assert [name for name in after if name.endswith(".tmp")] == []


# -- backups -----------------------------------------------------------------------------------------------------------


async def test_unfit_backup_is_made_anew(tmp_path: Path) -> None:
    """An older version, of which every line is in the document, is let go."""
    memory = await remembered(tmp_path)
    backup = memory / f"{FACTS}.backup"
    body = backup.read_bytes()
    overwrite(backup, body.replace(b"checksum: ", b"checksum: 00"))
    result = await repaired_for_good(memory)
    assert content(memory)[f"{FACTS}.backup"] == body
    assert result.attention == 0


async def test_backup_with_lines_of_its_own_is_set_aside(tmp_path: Path) -> None:
    """They may be what an editor wrote at the last moment."""
    memory = await remembered(tmp_path)
    backup = memory / f"{FACTS}.backup"
    whole = backup.read_bytes()
    backup.write_bytes(whole + b"- tea: green\n")
    await repaired_for_good(memory)
    after = content(memory)
    assert after[f"{FACTS}.backup"] == whole
    assert after[f"{FACTS}.backup.corrupt-{MARK}"] == whole + b"- tea: green\n"


async def test_backup_of_an_edited_document_fits_the_edit(tmp_path: Path) -> None:
    """The file is not touched for it."""
    memory = await remembered(tmp_path)
    edited = (memory / FACTS).read_bytes() + b"- tea: green\n"
    (memory / FACTS).write_bytes(edited)
    (memory / f"{FACTS}.backup").write_bytes(b"garbage\n")
    await repaired_for_good(memory)
    after = content(memory)
    assert after[FACTS] == edited
    assert split(after[f"{FACTS}.backup"].decode()).body == split(edited.decode()).body


@pytest.mark.parametrize(
    ("document", "old", "held"),
    [
        (b"a\nb\n", b"b\na\n", True),
        (b"a\n", b"a\na\n", False),
        (b"a\n", b"a", True),
        (b"checksum: 2\na\n", b"checksum: 1\nupdated: x\n\n\na\n", True),
        (b"a\n", b"c\n", False),
        (b"", b"", True),
    ],
)
def test_lines_are_compared_as_a_multiset(document: bytes, old: bytes, held: bool) -> None:
    """Moved is not lost; once instead of twice is."""
    assert holds_every_line(document, old) is held


# -- edits -------------------------------------------------------------------------------------------------------------


async def test_edit_is_left_alone_unless_asked(tmp_path: Path) -> None:
    """It needs nothing, so nothing is done."""
    memory = await remembered(tmp_path)
    (memory / FACTS).write_bytes((memory / FACTS).read_bytes() + b"- tea: green\n")
    before = content(memory)
    assert (await repaired_for_good(memory)).actions == ()
    assert {name: data for name, data in content(memory).items() if name != ".lock"} == {
        name: data for name, data in before.items() if name != ".lock"
    }


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
@pytest.mark.parametrize(
    "front",
    ["", "---\n# mine\ntags: [a]  # why\nchecksum: old\n---\n", "---\r\nx: 'y'\r\n---\r\n", '---\ntags: ["a\n---\n'],
    ids=["none", "commented", "crlf", "refused"],
)
@pytest.mark.parametrize(
    "body", ["", "\n\n# 标题\r\n- 我们 a\t \n\u3000\r```\n", "没有换行"], ids=["empty", "odd", "open"]
)
async def test_adopting_changes_front_matter_only(tmp_path: Path, body: str, front: str, encoding: str) -> None:
    """Every byte of the body stays, and every line of the front matter but those that are ours."""
    memory = await remembered(tmp_path)
    edited = (front + body).encode(encoding)
    for path in (FACTS, TALK):
        (memory / path).write_bytes(edited)
    was = split(decode(edited).text)
    await repaired_for_good(memory, adopt=True)
    for path in (FACTS, TALK):
        after = (memory / path).read_bytes()
        assert decode(after).text.startswith("\ufeff") == decode(edited).text.startswith("\ufeff")
        now = split(decode(after).text)
        assert now.body.encode(decode(after).encoding) == body.encode(decode(edited).encoding)
        theirs = [line for line in was.head.split("\n") if line.strip("\ufeff") and line[:9] != "checksum:"]
        assert [line for line in now.head.split("\n") if line in theirs] == theirs
    report = verify(memory, LocalFiles(), None)
    assert report.intact + sum(finding.code == "FRONT_MATTER" for finding in report.findings) == report.documents


async def test_file_that_is_being_saved_is_not_written_over(tmp_path: Path) -> None:
    """An editor that saves in place needs a moment; it is waited for, and passed over when it saves on and on."""
    memory = await remembered(tmp_path)
    edited = (memory / FACTS).read_bytes() + b"- tea: green\n"
    (memory / FACTS).write_bytes(edited)
    files = FaultyFiles()
    files.seconds_old = 0.4
    assert still_saving(memory, files) == pytest.approx(0.6)
    clock = ManualClock(START)
    results: list[Repair] = []
    async with anyio.create_task_group() as group:

        async def run() -> None:
            config = MemoryConfig(root=memory.parent, timezone="Asia/Shanghai")
            results.append(await repair(config, files, clock, adopt=True))

        group.start_soon(run)
        while not results:
            await anyio.lowlevel.checkpoint()
            clock.advance(0.1)
    assert (memory / FACTS).read_bytes() == edited
    assert [action.done for action in results[0].actions] == [False]
    assert "being saved" in str(results[0].trouble)


@pytest.mark.parametrize(("seconds", "waits"), [(60.0, 0.0), (1.0, 0.0), (0.25, 0.75), (-3600.0, 0.0)])
async def test_wait_for_an_editor_is_short(tmp_path: Path, seconds: float, waits: float) -> None:
    """A file from the future is waited for no longer than an old one."""
    memory = await remembered(tmp_path)
    files = FaultyFiles()
    files.seconds_old = seconds
    assert still_saving(memory, files) == waits


async def test_adopted_document_is_known_as_ours(tmp_path: Path) -> None:
    """Damage after that is told from an edit, and restored to what was adopted."""
    memory = await remembered(tmp_path)
    (memory / FACTS).write_bytes((memory / FACTS).read_bytes() + b"- tea: green\n")
    await repaired_for_good(memory, adopt=True)
    adopted = (memory / FACTS).read_bytes()
    damage(memory / FACTS, adopted.replace(b"green", b"gr\x00en"))
    await repaired_for_good(memory)
    assert (memory / FACTS).read_bytes() == adopted


async def test_adopting_dates_the_document_by_its_file(tmp_path: Path) -> None:
    """`updated` is when the person saved it, in the user's time zone."""
    memory = await remembered(tmp_path)
    (memory / "facts/own.md").write_text("# Mine\n")
    await repaired_for_good(memory, adopt=True)
    fields = split((memory / "facts/own.md").read_text()).fields
    assert str(fields["updated"]).endswith("+08:00")
    assert fields["created"] == fields["updated"]


async def test_adopting_waits_for_the_journal(tmp_path: Path) -> None:
    """What was acknowledged is merged first; the checksum fits the merged text."""
    memory = await crashed(tmp_path, fact(FACTS, "language", "Zig"))
    (memory / FACTS).write_bytes((memory / FACTS).read_bytes() + b"- tea: green\n")
    await repaired_for_good(memory, adopt=True)
    text = (memory / FACTS).read_text()
    assert "tea: green" in text
    assert "Zig" in text


# -- telling and refusing ----------------------------------------------------------------------------------------------


async def test_plan_says_what_is_then_done(tmp_path: Path) -> None:
    """A dry run is the plan of the very same report."""
    memory = await crashed(tmp_path, said("m2", "two"))
    (memory / f"{NOTES}.backup").write_bytes(b"garbage\n")
    (memory / "facts/own.md").write_text("# Mine\n")
    plan = plan_repair(verify(memory, LocalFiles(), None), adopt=True)
    result = await repaired_for_good(memory, adopt=True)
    assert [(action.path, action.code) for action in result.actions] == [(action.path, action.code) for action in plan]
    assert {action.done for action in plan} == {None}


async def test_owner_is_named_and_nothing_done(tmp_path: Path) -> None:
    """Two who repair at once would undo each other's work."""
    memory = await crashed(tmp_path, said("m2", "two"))
    lock = RootLock(memory)
    lock.acquire()
    before = states(memory)
    with pytest.raises(RootInUseError, match="in use by process"):
        await repaired(memory)
    assert states(memory) == before
    lock.release()
    await repaired_for_good(memory)


async def test_lock_is_let_go_also_after_a_failure(tmp_path: Path) -> None:
    """A repair that can't set bytes aside stops before anything is put in their place."""
    memory = await remembered(tmp_path)
    (memory / f"{FACTS}.backup").write_bytes(b"garbage\n")
    full = FaultyFiles(lambda operation, path: errno.ENOSPC if operation == "append" else None)
    with pytest.raises(OSError, match="No space left"):
        await repaired(memory, files=full)
    assert (memory / f"{FACTS}.backup").read_bytes() == b"garbage\n"
    await repaired_for_good(memory)


async def test_refusing_disk_is_told(tmp_path: Path) -> None:
    """What was not done is marked so, and why."""
    memory = await crashed(tmp_path, said("m2", "two"))
    full = FaultyFiles(lambda operation, path: errno.ENOSPC if operation == "create" else None)
    result = await repaired(memory, files=full)
    assert [action.done for action in result.actions] == [False]
    assert "No space left" in str(result.trouble)
    assert result.attention == 1
    with anyio.fail_after(5):
        await repaired_for_good(memory)
