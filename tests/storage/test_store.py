"""Planned, committed, flushed: nothing acknowledged is lost, and a person's edit is never written over."""

from __future__ import annotations

import errno
import os
import threading
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import pytest

from openclaw_memory.clock import ManualClock
from openclaw_memory.errors import RootInUseError, UnreadableDocumentError
from openclaw_memory.layers.rooms import FOLDERS, format_of
from openclaw_memory.storage.buffer import FlushLimits
from openclaw_memory.storage.entries import Entry
from openclaw_memory.storage.files import LocalFiles, Stamp
from openclaw_memory.storage.flusher import REST_SECONDS
from openclaw_memory.storage.journal import read_journal
from openclaw_memory.storage.operations import Operation, Record, encode
from openclaw_memory.storage.shelf import MERGED_APART
from openclaw_memory.storage.starting import RecoveryReport
from openclaw_memory.storage.store import Commit, Store
from tests.support import START, FaultyFiles, copied_in_use, no_space

PROFILE = "facts/user-profile.md"
OTHER = "facts/other.md"


class Opened:
    def __init__(self, root: Path, files: LocalFiles, **limits: int) -> None:
        self.root, self.clock = root, ManualClock(START)
        self.seen: dict[str, Any] = {}
        self.trouble: list[str | None] = []
        self.store = Store(
            root,
            files,
            self.clock,
            format_of,
            FlushLimits(2.0, limits.get("per_document", 50), 500),
            limits.get("journal_limit", 1 << 20),
            lambda path, before, after: self.seen.__setitem__(path, after),
            self.trouble.append,
        )
        self.recovered: RecoveryReport | None = None

    async def set(self, key: str, value: str, path: str = PROFILE) -> Commit:
        commit = await self.plan(key, value, path)
        await commit.wait()
        return commit

    async def plan(self, key: str, value: str, path: str = PROFILE) -> Commit:
        draft = await self.store.draft([path])
        draft.apply(
            Operation(
                path,
                "set",
                {
                    "section": "S",
                    "key": key,
                    "value": value,
                    "old": None,
                    "title": "T",
                    "language": "en",
                    "at": "2026-05-04T14:30:00+08:00",
                },
            )
        )
        return self.store.commit(draft)

    def file(self, path: str = PROFILE) -> str:
        return (self.root / path).read_text()

    def crashed(self, target: Path) -> Path:
        copied_in_use(self.root, target)
        return target


@asynccontextmanager
async def opened(root: Path, files: LocalFiles | None = None, **limits: int) -> AsyncIterator[Opened]:
    it = Opened(root, files or FaultyFiles(), **limits)
    it.recovered = await it.store.open(FOLDERS)
    try:
        yield it
    finally:
        await it.store.close()


async def test_acknowledged_survives_a_crash_before_the_flush(tmp_path: Path) -> None:
    """What is committed is in the journal; a new owner of the folder writes it into the file."""
    async with opened(tmp_path / "a") as it:
        await it.set("one", "1")
        await it.set("two", "2")
        assert not (tmp_path / "a" / PROFILE).exists()
        crashed = it.crashed(tmp_path / "b")
    async with opened(crashed) as again:
        assert again.recovered == RecoveryReport({PROFILE: 2}, 0)
        assert "- one: 1\n- two: 2\n" in again.file()


async def test_recovery_applies_nothing_twice(tmp_path: Path) -> None:
    """A crash after the flush, before and after the journal knows of it, changes nothing."""
    async with opened(tmp_path / "a") as it:
        await it.set("one", "1")
        await it.store.flush()
        flushed = it.file()
        crashed = it.crashed(tmp_path / "b")
    async with opened(crashed) as again:
        assert again.recovered == RecoveryReport({}, 0)
        assert again.file() == flushed


@pytest.mark.parametrize("edit", ["line", "front matter", "file"])
async def test_deleted_after_the_flush_stays_deleted(tmp_path: Path, edit: str) -> None:
    """A person deletes a line, or the whole file, after the flush and before the restart."""
    async with opened(tmp_path / "a") as it:
        await it.set("one", "1")
        await it.set("two", "2")
        await it.store.flush()
        await it.store.settled()
        crashed = it.crashed(tmp_path / "b")
    path = crashed / PROFILE
    text = path.read_text()
    if edit == "line":
        path.write_text(text.replace("- one: 1\n", ""))
    elif edit == "front matter":
        path.write_text(text.split("---\n")[2].replace("- one: 1\n", ""))
    else:
        path.unlink()
    async with opened(crashed) as again:
        assert "one: 1" not in (path.read_text() if path.exists() else "")
        await again.set("three", "3")
        await again.store.flush()
        assert "one: 1" not in again.file()
        assert "- three: 3" in again.file()


async def test_edit_between_read_and_flush_keeps_both(tmp_path: Path) -> None:
    """A person saves the file while our change waits: their lines and ours are there (fault 11)."""
    async with opened(tmp_path) as it:
        await it.set("one", "1")
        await it.store.flush()
        await it.set("two", "2")
        path = tmp_path / PROFILE
        path.write_text(it.file().replace("- one: 1", "- one: 1\n- mine: by hand"))
        await it.store.flush()
        assert "- one: 1\n- mine: by hand\n- two: 2\n" in it.file()
        # Also while the record is on its way to the disk.
        commit = await it.plan("three", "3")
        path.write_text(it.file().replace("by hand", "by hand again"))
        await it.store.draft([PROFILE])
        await commit.wait()
        await it.store.flush()
        assert "- mine: by hand again\n- two: 2\n- three: 3\n" in it.file()
        assert it.seen[PROFILE].body == it.file().split("---\n", 2)[2]


async def test_document_counts_as_rewritten_once_its_own_file_was_looked_at(tmp_path: Path) -> None:
    """Who rotates it then need not wait for its lock while the files that are rewritten with it are looked at."""

    class LooksLong(FaultyFiles):
        def __init__(self) -> None:
            super().__init__()
            self.reached, self.go_on = anyio.Event(), anyio.Event()
            self.go_on.set()

        async def stamp(self, path: Path) -> Stamp | None:
            if path.name == "other.md" and not self.go_on.is_set():
                self.reached.set()
                await self.go_on.wait()
            return await super().stamp(path)

    files = LooksLong()
    async with opened(tmp_path, files) as it:
        await it.set("a", "1")
        await it.set("b", "2", OTHER)
        files.go_on = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(it.store.flush, [PROFILE, OTHER])
            with anyio.fail_after(20):
                await files.reached.wait()
            rewritten = it.store.is_rewritten_now(PROFILE), it.store.is_rewritten_now(OTHER)
            files.go_on.set()
        assert rewritten == (True, False)
        assert not it.store.is_rewritten_now(PROFILE)


async def test_edit_during_the_flush_is_not_overwritten(tmp_path: Path) -> None:
    """A file that is saved after we looked and before we replace it is left for the next flush, which merges."""
    path = tmp_path / PROFILE

    class EditsLate(FaultyFiles):
        def exchange(self, one: Path, other: Path) -> bool:
            if late:
                path.write_text(path.read_text() + late.pop())
            return super().exchange(one, other)

    late: list[str] = []
    async with opened(tmp_path, EditsLate()) as it:
        await it.set("one", "1")
        await it.store.flush()
        await it.set("two", "2")
        late.append("- mine: by hand\n")
        await it.store.flush()
        assert it.file().endswith("- one: 1\n- mine: by hand\n")
        assert it.store.unflushed() == {PROFILE: 1}
        await it.store.flush()
        assert "- one: 1\n- mine: by hand\n- two: 2\n" in it.file()


async def test_file_that_is_being_saved_is_not_believed_empty(tmp_path: Path) -> None:
    """An editor that saves in place empties the file first; only a file that stays empty is believed."""
    files = FaultyFiles()
    async with opened(tmp_path, files) as it:
        await it.set("one", "1")
        await it.store.flush()
        path = tmp_path / PROFILE
        path.write_bytes(b"")
        files.seconds_old = 0.5
        for _ in range(3):
            assert "one" in (await it.store.read(PROFILE)).body
        files.seconds_old = 1.5
        assert (await it.store.read(PROFILE)).body == ""


async def test_file_that_is_being_saved_is_not_written_over(tmp_path: Path) -> None:
    """Half of a save is read as it is, but nothing is put in its place until the editor must be done."""
    files = FaultyFiles()
    async with opened(tmp_path, files) as it:
        await it.set("one", "1")
        await it.store.flush()
        await it.set("two", "2")
        path, files.seconds_old = tmp_path / PROFILE, 0.1
        whole = it.file() + "- mine: by hand\n"
        for save in ("", whole[:-10], whole):
            path.write_text(save)
            await it.store.read(PROFILE)
            await it.store.flush()
            assert it.file() == save
        assert it.store.notices() == {}
        files.seconds_old = 1.5
        await it.store.flush()
        assert it.file().endswith("- one: 1\n- mine: by hand\n- two: 2\n")


async def test_vanished_file_is_gone_for_readers(tmp_path: Path) -> None:
    """A person who deletes a file has deleted what was in it; what came after the flush is kept."""
    async with opened(tmp_path) as it:
        await it.set("one", "1")
        await it.store.flush()
        await it.set("two", "2")
        (tmp_path / PROFILE).unlink()
        body = (await it.store.read(PROFILE)).body
        assert "one" not in body
        assert "- two: 2" in body


async def test_failed_sync_fails_everything_planned_on_it(tmp_path: Path) -> None:
    """All commits since the failure are refused, nothing of them is seen, and writes resume by themselves."""
    files = FaultyFiles()
    async with opened(tmp_path, files) as it:
        await it.set("kept", "1")
        files.fault = lambda operation, path: errno.EIO if operation == "sync" else None
        commits = [await it.plan(f"lost{number}", "x") for number in range(3)]
        for commit in commits:
            await commit.wait()
        assert all(commit.error is not None and "Input/output error" in str(commit.error) for commit in commits)
        assert it.trouble == ["writing the journal failed: Input/output error"]
        assert "lost" not in (await it.store.read(PROFILE)).body
        files.fault = lambda operation, path: None
        again = await it.set("later", "2")
        assert again.error is None
        assert it.trouble[1:] == [None]
        crashed = it.crashed(tmp_path.parent / f"{tmp_path.name}-crashed")
    async with opened(crashed) as recovered:
        body = (await recovered.store.read(PROFILE)).body
        assert "- kept: 1\n- later: 2\n" in body
        assert "lost" not in body


async def test_full_disk_while_flushing_keeps_the_old_file(tmp_path: Path) -> None:
    """The file is whole, the trouble is told once, the journal holds the rest, and the flush is tried again."""
    files = FaultyFiles()
    async with opened(tmp_path, files) as it:
        await it.set("one", "1")
        await it.store.flush()
        whole = it.file()
        await it.set("two", "2")
        files.fault = no_space("create")
        await it.store.flush()
        await it.store.flush()
        assert it.file() == whole
        assert it.trouble == [f"writing {PROFILE} failed: No space left on device"]
        files.fault = lambda operation, path: None
        await it.store.flush()
        assert "- two: 2" in it.file()
        assert it.trouble[1:] == [None]


async def test_document_that_cannot_be_rendered_costs_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are written, the trouble is told, what is acknowledged waits, and the folder is let go of."""
    async with opened(tmp_path) as it:
        render = it.store._format_of(PROFILE).render

        def fails(self: Any, document: Any) -> Any:
            if document.path == PROFILE:
                raise UnicodeEncodeError("utf-8", "\ud83d", 0, 1, "surrogates not allowed")
            return render(document)

        monkeypatch.setattr(type(it.store._format_of(PROFILE)), "render", fails)
        await it.set("one", "1")
        await it.set("two", "2", OTHER)
        await it.store.flush()
        assert "- two: 2" in it.file(OTHER)
        (trouble,) = it.trouble
        assert (trouble or "").startswith(f"writing {PROFILE} failed: UnicodeEncodeError: ")
    monkeypatch.undo()
    async with opened(tmp_path) as it:
        assert "- one: 1" in it.file()


async def test_unreadable_file_is_never_written_over(tmp_path: Path) -> None:
    """Bytes that are no text are left alone; what was acknowledged before waits in the journal (fault 8)."""
    async with opened(tmp_path) as it:
        await it.set("one", "1")
        path = tmp_path / PROFILE
        path.write_bytes(b"\x00\xff\x00\xfe no text")
        with pytest.raises(UnreadableDocumentError, match=PROFILE):
            await it.store.draft([PROFILE])
        await it.store.flush()
        assert path.read_bytes() == b"\x00\xff\x00\xfe no text"
        assert list(it.store.problems()) == [PROFILE]
        path.write_text("# Mine\n")
        assert "- one: 1" in (await it.store.read(PROFILE)).body
        await it.store.flush()
        assert it.file().split("---\n", 2)[2].startswith("# Mine\n")
        assert it.store.problems() == {}


async def test_cancelled_caller_changes_nothing(tmp_path: Path) -> None:
    """Who stops waiting for a commit does not stop the commit."""
    async with opened(tmp_path) as it:
        commit = await it.plan("one", "1")
        with anyio.move_on_after(0):
            await commit.wait()
        await it.store.settled()
        assert commit.error is None
        assert "- one: 1" in (await it.store.read(PROFILE)).body


async def test_stale_draft_is_refused(tmp_path: Path) -> None:
    """A draft that was kept while its documents changed is a mistake of ours, and says so."""
    async with opened(tmp_path) as it:
        draft = await it.store.draft([PROFILE])
        await it.set("one", "1")
        draft.apply(
            Operation(
                PROFILE,
                "set",
                {"section": "S", "key": "k", "value": "v", "old": None, "title": "T", "at": "t", "language": "en"},
            )
        )
        with pytest.raises(RuntimeError, match=r"user-profile.*plan and commit without awaiting"):
            it.store.commit(draft)


async def test_background_flushes_when_time_has_come(tmp_path: Path) -> None:
    """Files follow after 2 seconds of the clock, and at once when a document has enough entries."""
    async with opened(tmp_path, per_document=3) as it, anyio.create_task_group() as group:
        group.start_soon(it.store.run)
        await it.set("one", "1")
        await anyio.wait_all_tasks_blocked()
        it.clock.advance(1.9)
        await anyio.wait_all_tasks_blocked()
        assert it.store.unflushed() == {PROFILE: 1}
        it.clock.advance(0.1)
        while it.store.unflushed():
            await anyio.lowlevel.checkpoint()
        assert "- one: 1" in it.file()
        for key in ("two", "three", "four"):
            await it.set(key, "x")
        while it.store.unflushed():
            await anyio.lowlevel.checkpoint()
        assert "- four: x" in it.file()
        group.cancel_scope.cancel()


async def test_file_that_takes_long_to_rewrite_is_given_a_pause(tmp_path: Path) -> None:
    """Four times what it took, when it is due by its own count; else a storm would rewrite a long day all the time."""

    def slow(operation: str, path: Path) -> None:
        if (operation, path.name) == ("exchange", "user-profile.md"):
            it.clock.advance(0.1)

    async with opened(tmp_path, FaultyFiles(slow), per_document=3) as it, anyio.create_task_group() as group:
        await it.set("zero", "x")
        await it.store.flush()
        await it.set("one", "x")
        await it.store.flush()
        group.start_soon(it.store.run)
        for key in ("two", "three", "four"):
            await it.set(key, "x")
        await anyio.wait_all_tasks_blocked()
        assert it.store.unflushed() == {PROFILE: 3}
        it.clock.advance(0.4)
        while it.store.unflushed():
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()


async def test_journal_is_shortened_after_flushes(tmp_path: Path) -> None:
    """The journal does not grow with all that was ever written, and holds what no file holds yet."""
    async with opened(tmp_path / "a", journal_limit=2_000) as it:
        for number in range(60):
            await it.set(f"key{number}", "x" * 50)
            if number % 10 == 9:
                await it.store.flush()
        await it.set("last", "1")
        await it.store.settled()
        size = sum(path.stat().st_size for path in (tmp_path / "a" / ".journal").iterdir())
        assert size < 10_000
        crashed = it.crashed(tmp_path / "b")
    async with opened(crashed) as again:
        body = (await again.store.read(PROFILE)).body
        assert [f"- key{number}: " in body for number in range(60)] == [True] * 60
        assert "- last: 1" in body


async def test_what_a_storm_left_in_the_journal_goes_when_it_is_over(tmp_path: Path) -> None:
    """While most of it is needed the journal is left alone, however long it grows; then all of it goes at once."""
    async with opened(tmp_path, journal_limit=2_000) as it:

        def names() -> list[str]:
            return sorted(path.name for path in (tmp_path / ".journal").iterdir())

        def size() -> int:
            return sum(path.stat().st_size for path in (tmp_path / ".journal").iterdir())

        begun = names()
        await it.set("not flushed", "y", OTHER)
        for number in range(100):
            await it.set(f"key{number}", "x" * 50)
            if number % 10 == 9:
                await it.store.flush([PROFILE])
                await it.store._flusher.settle_backups([PROFILE])
                it.store._shorten_journal()
        assert (names(), size() > 10_000) == (begun, True)
        await it.store.flush()
        await it.store._flusher.settle_backups()
        it.store._shorten_journal()
        # The first of two may be taken together with the wish; then that is done before the second.
        for key in ("last", "very last"):
            await it.set(key, "1")
        assert names() != begun
        assert size() < 2_000


async def test_two_documents_of_one_draft_survive_together(tmp_path: Path) -> None:
    """A record holds all operations of a draft: after a crash both documents have it."""
    async with opened(tmp_path / "a") as it:
        draft = await it.store.draft(["facts/a.md", "facts/b.md"])
        for path in ("facts/a.md", "facts/b.md"):
            draft.apply(
                Operation(
                    path,
                    "set",
                    {"section": "S", "key": "k", "value": "v", "old": None, "title": "T", "language": "en", "at": "t"},
                )
            )
        await it.store.commit(draft).wait()
        await it.store.flush(["facts/a.md"])
        await it.store.settled()
        crashed = it.crashed(tmp_path / "b")
    async with opened(crashed) as again:
        for path in ("facts/a.md", "facts/b.md"):
            assert again.file(path).count("- k: v\n") == 1


async def test_damaged_file_is_restored_from_backup_and_journal(tmp_path: Path) -> None:
    """Bits that flip on the disk change no time: the bytes are set aside, and everything acknowledged is back."""
    async with opened(tmp_path) as it:
        for key in ("one", "two", "three"):
            await it.set(key, "v")
            await it.store.flush()
        path = tmp_path / PROFILE
        whole, times = path.read_bytes(), path.stat()
        damaged = whole.replace(b"two", b"\xff\x00\xfe")
        with path.open("r+b") as file:
            file.write(damaged)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        # The size is the same, too; the time of the look is what makes the store read it.
        it.store._shelf.entries[PROFILE].stamp = None
        assert (await it.store.read(PROFILE)).body.endswith("- one: v\n- two: v\n- three: v\n")
        (notice,) = it.store.notices().values()
        assert "was damaged; it was restored from its backup and the journal" in notice
        await it.store.flush()
        assert path.read_bytes() == whole
        (aside,) = tmp_path.glob("facts/*.corrupt-*")
        assert aside.read_bytes() == damaged
        assert aside.name in notice


@pytest.mark.parametrize("backup", ["there", "damaged too", "missing"])
async def test_damage_between_two_runs(tmp_path: Path, backup: str) -> None:
    """At the next start the ladder goes down: backup, readable part; and a mismatch alone is an edit."""
    async with opened(tmp_path) as it:
        await it.set("one", "v")
        await it.store.flush()
        await it.set("two", "v")
    path, spare = tmp_path / PROFILE, tmp_path / f"{PROFILE}.backup"
    assert spare.read_bytes() == path.read_bytes()
    times = path.stat()
    with path.open("r+b") as file:
        file.write(path.read_bytes().replace(b"one: v", b"o\x00e: v"))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    if backup == "damaged too":
        spare.write_bytes(b"\xff\xff")
    elif backup == "missing":
        spare.unlink()
    async with opened(tmp_path) as it:
        body = (await it.store.read(PROFILE)).body
        assert "- two: v\n" in body
        assert ("- one: v\n" in body) == (backup == "there")
        await it.store.flush()
        assert (await it.store.read(PROFILE)).body == body
        assert len(list(tmp_path.glob("facts/*.corrupt-*"))) == 1
    async with opened(tmp_path) as it:
        assert it.store.notices() == {}


async def test_edit_between_two_runs_is_no_damage(tmp_path: Path) -> None:
    """A checksum that no longer fits is an edit: adopted, not undone, and the file is not touched for it."""
    async with opened(tmp_path) as it:
        await it.set("one", "v")
    path = tmp_path / PROFILE
    path.write_text(path.read_text().replace("one: v", "one: by hand"))
    edited = path.read_bytes()
    async with opened(tmp_path) as it:
        assert "- one: by hand" in (await it.store.read(PROFILE)).body
        assert it.store.notices() == {}
    assert path.read_bytes() == edited
    async with opened(tmp_path) as it:
        assert "- one: by hand" in (await it.store.read(PROFILE)).body
        assert it.store.notices() == {}


async def test_editor_that_writes_into_the_displaced_file_loses_nothing(tmp_path: Path) -> None:
    """An editor opened the file, we replaced it, and then the editor wrote into what it had open."""
    async with opened(tmp_path) as it:
        await it.set("one", "v")
        await it.store.flush()
        with (tmp_path / PROFILE).open("a") as editor:
            await it.set("two", "v")
            await it.store.flush()
            editor.write("- mine: by hand\n")
        await it.set("three", "v")
        await it.store.flush()
        assert it.file().endswith("- one: v\n- mine: by hand\n- two: v\n- three: v\n")


async def test_rested_document_needs_no_journal(tmp_path: Path) -> None:
    """After a while without changes the backup is the file, and the journal may forget it."""
    async with opened(tmp_path, journal_limit=1) as it, anyio.create_task_group() as group:
        group.start_soon(it.store.run)
        await it.set("one", "v")
        it.clock.advance(2)
        while it.store._shelf.entries[PROFILE].to_write:
            await anyio.lowlevel.checkpoint()
        assert it.store._shelf.entries[PROFILE].flushed
        await anyio.wait_all_tasks_blocked()
        it.clock.advance(REST_SECONDS)
        while it.store._shelf.entries[PROFILE].flushed:
            await anyio.lowlevel.checkpoint()
        assert (tmp_path / f"{PROFILE}.backup").read_bytes() == (tmp_path / PROFILE).read_bytes()
        group.cancel_scope.cancel()


@pytest.mark.parametrize("flushes", [1, 2, 5])
async def test_old_view_saved_over_the_file_loses_nothing_that_came_since(tmp_path: Path, flushes: int) -> None:
    """An editor was open while the agent went on; the person's change and everything acknowledged are there."""
    async with opened(tmp_path) as it:
        await it.set("zero", "v")
        await it.set("doomed", "v")
        await it.store.flush()
        view = it.file()
        for number in range(flushes):
            await it.set(f"key{number}", "v")
            await it.store.flush()
        await it.set("waiting", "v")
        (tmp_path / PROFILE).write_text(view.replace("- doomed: v\n", "- mine: by hand\n"))
        await it.store.flush()
        later = "".join(f"- key{number}: v\n" for number in range(flushes))
        assert it.file().endswith(f"- zero: v\n- mine: by hand\n{later}- waiting: v\n")
        # What a person deletes from the present view stays deleted.
        (tmp_path / PROFILE).write_text(it.file().replace("- key0: v\n", ""))
        await it.set("last", "v")
        await it.store.flush()
        assert "key0" not in it.file()
        assert "doomed" not in it.file()
        assert it.store.notices() == {}


async def test_operations_that_nobody_knows_stop_no_start(tmp_path: Path) -> None:
    """A journal of a newer version: what can be recovered is, and the rest is told."""
    async with opened(tmp_path / "a") as it:
        await it.set("one", "v")
        crashed = it.crashed(tmp_path / "b")
    (log,) = (crashed / ".journal").iterdir()
    unknown = [
        Record(90, (Operation("facts/user-profile.md", "embroider", {"at": "t"}),)),
        Record(91, (Operation("dreams/tonight.md", "set", {}),)),
    ]
    for record in unknown:
        log.write_bytes(log.read_bytes() + encode(record))
    line = b"[]"
    log.write_bytes(log.read_bytes() + b"%08x %s\n" % (zlib.crc32(line), line))
    async with opened(crashed) as it:
        await it.set("two", "v", "facts/other.md")
        assert list(it.store.problems()) == [PROFILE]
        assert list(it.store.notices()) == ["dreams/tonight.md"]
        assert it.store.unflushed()[PROFILE] == 2
    kept = [record.position for record in read_journal(crashed / ".journal", FaultyFiles()).records]
    assert {90, 91} <= set(kept)


async def test_editor_that_is_writing_into_the_displaced_file_is_waited_for(tmp_path: Path) -> None:
    """It has emptied what it holds and not written yet: nothing is taken from there, and nothing put in its place."""
    files = FaultyFiles()
    async with opened(tmp_path, files) as it:
        await it.set("one", "v")
        await it.store.flush()
        with (tmp_path / PROFILE).open("r+") as editor:
            whole = editor.read()
            await it.set("two", "v")
            await it.store.flush()
            editor.truncate(0)
            editor.flush()
            await it.set("three", "v")
            files.seconds_old = 0.2
            await it.store.flush()
            assert it.file().endswith("- one: v\n- two: v\n")
            editor.seek(0)
            editor.write(whole + "- mine: by hand\n")
        files.seconds_old = 60.0
        await it.store.flush()
        assert it.file().endswith("- one: v\n- mine: by hand\n- two: v\n- three: v\n")


async def test_backup_that_another_tool_wrote_is_no_late_edit(tmp_path: Path) -> None:
    """A tool puts back the document and its backup: the document counts, and what was acknowledged is in it."""
    async with opened(tmp_path) as it:
        await it.set("one", "v")
        await it.store.flush()
        await it.set("two", "v")
        await it.store.flush()
        spare = tmp_path / f"{PROFILE}.backup"
        (tmp_path / PROFILE).write_text(it.file() + "- mine: by hand\n")
        text = spare.read_bytes()
        spare.unlink()
        spare.write_bytes(text)
        await it.set("three", "v")
        await it.store.flush()
        assert it.file().endswith("- one: v\n- two: v\n- mine: by hand\n- three: v\n")


async def test_old_view_saved_without_a_change_loses_nothing(tmp_path: Path) -> None:
    """Its bytes fit their checksum, and are an old view all the same: what came since is applied again."""
    async with opened(tmp_path) as it:
        await it.set("zero", "v")
        await it.store.flush()
        view = it.file()
        for number in range(3):
            await it.set(f"key{number}", "v")
            await it.store.flush()
        newest = it.file()
        (tmp_path / PROFILE).write_text(view)
        await it.store.read(PROFILE)
        await it.store.flush()
        assert it.file() == newest


async def test_crash_after_an_old_view_was_saved_loses_nothing(tmp_path: Path) -> None:
    """The journal had let go of what the file held; it takes it up again before anything rests on it."""
    async with opened(tmp_path / "a", journal_limit=1) as it:
        await it.set("zero", "v")
        await it.store.flush()
        view = it.file()
        for number in range(3):
            await it.set(f"key{number}", "v")
            await it.store.flush()
        await it.store._flusher.settle_backups()
        await it.set("waiting", "v", "facts/other.md")
        await it.store.flush()
        (tmp_path / "a" / PROFILE).write_text(view + "- mine: by hand\n")
        await it.store.read(PROFILE)
        await it.set("last", "v", "facts/other.md")
        crashed = it.crashed(tmp_path / "b")
    async with opened(crashed) as again:
        text = again.file()
        assert "- mine: by hand\n" in text
        assert all(f"- key{number}: v\n" in text for number in range(3))


async def test_save_that_is_cut_within_a_character_is_no_damage(tmp_path: Path) -> None:
    """Half of a save is no text yet; it is looked at again, and nothing is set aside."""
    files = FaultyFiles()
    async with opened(tmp_path, files) as it:
        await it.set("键", "值")
        await it.store.flush()
        path, files.seconds_old = tmp_path / PROFILE, 0.1
        whole = path.read_bytes() + "- 手写: 是\n".encode()
        path.write_bytes(whole[:-3])
        assert "- 键: 值" in (await it.store.read(PROFILE)).body
        path.write_bytes(whole)
        files.seconds_old = 60.0
        assert "- 手写: 是" in (await it.store.read(PROFILE)).body
        assert it.store.notices() == {}
        assert not list(tmp_path.glob("facts/*.corrupt-*"))


async def test_restoring_without_a_backup_brings_no_old_value_back(tmp_path: Path) -> None:
    """What the readable part holds in a later state stays in that state."""
    async with opened(tmp_path) as it:
        for value in ("a", "b"):
            draft = await it.store.draft([PROFILE])
            arguments = {"section": "S", "key": "k", "value": value, "old": None if value == "a" else "a"}
            draft.apply(Operation(PROFILE, "set", {**arguments, "title": "T", "language": "en", "at": "t"}))
            await it.store.commit(draft).wait()
            await it.set(f"other {value}", "v")
        await it.store.flush()
        path = tmp_path / PROFILE
        times = path.stat()
        path.write_bytes(path.read_bytes().replace(b"other a: v", b"other a: w"))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        it.store._shelf.entries[PROFILE].stamp = None
        body = (await it.store.read(PROFILE)).body
        assert "- k: b\n" in body
        assert "not applied" not in body


async def test_time_in_the_future_is_not_for_ever_young(tmp_path: Path) -> None:
    """A clock that was wrong when a person saved the file stops no flush."""

    class OwnAge(FaultyFiles):
        def age(self, stamp: Any) -> float:
            return LocalFiles.age(self, stamp)

    async with opened(tmp_path, OwnAge()) as it:
        await it.set("one", "v")
        await it.store.flush()
        path = tmp_path / PROFILE
        path.write_text(it.file() + "- mine: by hand\n")
        os.utime(path, (4_000_000_000, 4_000_000_000))
        await it.set("two", "v")
        await it.store.flush()
        assert it.file().endswith("- one: v\n- mine: by hand\n- two: v\n")


async def test_failed_write_is_not_there_after_a_crash_right_then(tmp_path: Path) -> None:
    """Its bytes had reached the file when the sync failed; the journal is begun anew before the answer."""
    files = FaultyFiles()
    async with opened(tmp_path / "a", files) as it:
        await it.set("kept", "v")
        failing = [errno.EIO]
        files.fault = lambda operation, path: failing.pop() if operation == "sync" and failing else None
        assert (await it.set("lost", "v")).error is not None
        crashed = it.crashed(tmp_path / "b")
    async with opened(crashed) as again:
        body = (await again.store.read(PROFILE)).body
        assert "- kept: v" in body
        assert "lost" not in body


async def test_folder_that_cannot_be_listed_costs_itself_only(tmp_path: Path) -> None:
    """Start goes on, the others are read, and the folder is named."""

    class Unlistable(FaultyFiles):
        def scan(self, folder: Path, endings: tuple[str, ...] = ("",)) -> Any:
            if folder.name == "weekly":
                raise PermissionError(errno.EACCES, "Permission denied")
            return super().scan(folder, endings)

    async with opened(tmp_path, Unlistable()) as it:
        await it.set("one", "v")
        await it.store.look(FOLDERS)
        assert it.store.problems() == {"summaries/weekly": "summaries/weekly can't be listed (Permission denied)"}
        assert "- one: v" in (await it.store.read(PROFILE)).body


async def test_nothing_is_written_without_the_lock(tmp_path: Path) -> None:
    """Trouble with folders must not let a second owner in; a full disk must not cost the lock."""
    async with opened(tmp_path) as first:
        await first.set("one", "v")
        second = Opened(
            tmp_path, FaultyFiles(lambda operation, path: errno.EIO if operation == "make_folder" else None)
        )
        with pytest.raises(RootInUseError):
            await second.store.open(FOLDERS)
        (tmp_path / ".lock").unlink()
        third = Opened(tmp_path, FaultyFiles())
        await third.store.open(FOLDERS)
        await third.set("two", "v", "facts/other.md")
        refused = await first.set("three", "v")
        assert isinstance(refused.error, RootInUseError)
        assert "- three: v" not in (await first.store.read(PROFILE)).body
        logs = sorted(path.name for path in (tmp_path / ".journal").iterdir())
        await first.store.flush()
        await first.store.close()
        assert sorted(path.name for path in (tmp_path / ".journal").iterdir()) == logs
        await third.store.close()
    assert "- two: v" in (tmp_path / "facts/other.md").read_text()


async def test_edit_of_a_large_file_is_merged_beside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written while it is merged is merged too, however often that happens, and the loop is free meanwhile."""
    loop, merged, apart = threading.get_ident(), Entry.merged, []

    def noted(self: Entry, *arguments: Any) -> Any:
        result = merged(self, *arguments)
        apart.append(threading.get_ident() != loop)
        if apart[-1]:
            # More is planned, and becomes durable, before this goes on.
            anyio.from_thread.run(it.set, f"during {len(apart)}", "1", OTHER)
            anyio.from_thread.run(planned_blindly, f"meanwhile {len(apart)}")
        return result

    async def planned_blindly(key: str) -> None:
        # The document's own lock is held by who reads the file: this looks at nothing.
        drafting = it.store.draft([], known=[PROFILE])
        with pytest.raises(StopIteration) as done:
            drafting.send(None)
        draft = done.value.value
        arguments = {"section": "S", "key": key, "value": "1", "old": None, "title": "T", "language": "en"}
        draft.apply(Operation(PROFILE, "set", {**arguments, "at": "2026-05-04T14:30:00+08:00"}))
        await it.store.commit(draft).wait()

    async with opened(tmp_path) as it:
        (tmp_path / PROFILE).write_text("# T\n\n## S\n\n" + "".join(f"- k{n}: {n}\n" for n in range(6_000)))
        await it.set("before", "1")
        (tmp_path / PROFILE).write_text((tmp_path / PROFILE).read_text().replace("- k7: 7\n", "- k7: by hand\n"))
        monkeypatch.setattr(Entry, "merged", noted)
        await it.store.look(FOLDERS)
        assert apart[: MERGED_APART + 1] == [*[True] * MERGED_APART, False]
        monkeypatch.undo()
        await it.store.flush()
        text = it.file()
        keys = ["before", *(f"meanwhile {number + 1}" for number in range(MERGED_APART))]
        assert [text.count(f"- {key}: 1\n") for key in keys] == [1] * len(keys)
        assert "- k7: by hand\n" in text
    async with opened(tmp_path) as again:
        assert again.file() == text
