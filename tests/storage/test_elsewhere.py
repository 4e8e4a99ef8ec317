"""Documents in folders of other people's: nothing is put beside them, and all that is promised holds there too."""

from __future__ import annotations

import errno
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC
from pathlib import Path

import pytest

from openclaw_memory.clock import ManualClock
from openclaw_memory.errors import FolderInUseError
from openclaw_memory.layers.curated import plan_entry
from openclaw_memory.layers.notes import plan_note
from openclaw_memory.layers.rooms import FOLDERS, Workspace, format_of
from openclaw_memory.markdown.curated import digest_of
from openclaw_memory.storage.buffer import FlushLimits
from openclaw_memory.storage.files import LocalFiles
from openclaw_memory.storage.rootlock import FolderLock, Locks, RootLock
from openclaw_memory.storage.starting import RecoveryReport
from openclaw_memory.storage.store import Store
from tests.memory_folder import content, damage
from tests.support import START, FaultyFiles, copied_in_use

WORKSPACE = Workspace("main", "main")
AREAS = (*FOLDERS, *WORKSPACE.areas)
NOTE = f"{WORKSPACE.notes}/2026-05-04.md"
CURATED = WORKSPACE.curated[0]


class Opened:
    """A store on `<base>/memory`, with a workspace in `<base>/work`."""

    def __init__(self, base: Path, files: LocalFiles) -> None:
        self.memory, self.work, self.clock = base / "memory", base / "work", ManualClock(START)
        self.store = Store(
            self.memory,
            files,
            self.clock,
            format_of,
            FlushLimits(2.0, 50, 500),
            1 << 20,
            lambda *change: None,
            lambda reason: None,
            elsewhere={WORKSPACE.folder: self.work},
        )
        self.recovered: RecoveryReport | None = None

    async def note(self, text: str) -> None:
        draft = await self.store.draft([NOTE])
        plan_note(draft, text, None, now=self.clock.now(), zone=UTC, folder=WORKSPACE.notes)
        await self.store.commit(draft).wait()

    async def entry(self, text: str) -> None:
        draft = await self.store.draft([CURATED])
        plan_entry(draft, CURATED, text, section=None, language="en")
        await self.store.commit(draft).wait()

    async def replace(self, old: str, new: str) -> None:
        draft = await self.store.draft([CURATED])
        plan_entry(
            draft,
            CURATED,
            new,
            section=None,
            language="en",
            ours={digest_of(old)},
            similar=lambda text, entries: entries.index(old),
        )
        await self.store.commit(draft).wait()

    def read(self, path: str) -> str:
        return (self.work / path.removeprefix(f"{WORKSPACE.folder}/")).read_text()

    def place(self, path: str) -> Path:
        return self.work / path.removeprefix(f"{WORKSPACE.folder}/")


@asynccontextmanager
async def opened(base: Path, files: LocalFiles | None = None) -> AsyncIterator[Opened]:
    it = Opened(base, files or FaultyFiles())
    it.recovered = await it.store.open(AREAS)
    await it.store.look(AREAS)
    try:
        yield it
    finally:
        await it.store.close()


def crashed(base: Path, target: Path) -> Path:
    """Copy everything as a crash would leave it, times and inodes apart from the workspace's own."""
    copied_in_use(base, target)
    return target


async def test_flush_close_and_open_again(tmp_path: Path) -> None:
    """The workspace holds the two files and nothing else; the next start finds no fault with them."""
    async with opened(tmp_path) as it:
        await it.note("bought a lamp")
        await it.entry("likes short answers")
        await it.store.flush()
        await it.entry("lives in Oslo")
    assert content(tmp_path / "work").keys() == {"MEMORY.md", "memory/2026-05-04.md"}
    before = content(tmp_path / "work")
    async with opened(tmp_path) as it:
        assert it.store.notices() == {}
        assert it.store.problems() == {}
        await it.store.flush()
    assert content(tmp_path / "work") == before
    assert "lives in Oslo" in it.read(CURATED)
    assert it.read(NOTE).count("bought a lamp") == 1


@pytest.mark.parametrize("flushes", [0, 1, 2])
async def test_killed_and_opened_again(tmp_path: Path, flushes: int) -> None:
    """What was acknowledged is there once, whatever of it had reached the file."""
    base = tmp_path / "a"
    async with opened(base) as it:
        for number in range(2):
            await it.note(f"note {number}")
            await it.entry(f"entry {number}")
            if number < flushes:
                await it.store.flush()
        copy = crashed(base, tmp_path / "b")
    async with opened(copy) as again:
        assert again.store.notices() == {}
    assert content(copy / "work").keys() == {"MEMORY.md", "memory/2026-05-04.md"}
    for number in range(2):
        assert again.read(NOTE).count(f"note {number}") == 1
        assert again.read(CURATED).count(f"entry {number}") == 1


async def test_crash_between_exchange_and_flush_record(tmp_path: Path) -> None:
    """The file holds what was only intended: nothing is applied twice, and what was displaced leaves no trace."""
    base = tmp_path / "a"
    async with opened(base) as it:
        await it.entry("first")
        await it.entry("tea")
        await it.store.flush()
        old = it.place(CURATED).read_bytes()
        await it.replace("tea", "coffee")
        as_it_was: list[Path] = []

        class Dies(FaultyFiles):
            def exchange(self, one: Path, other: Path) -> bool:
                done = super().exchange(one, other)
                as_it_was.append(crashed(base, tmp_path / "b"))
                return done

        it.store._flusher._shelf.files = Dies()
        await it.store.flush()
    copy = as_it_was[0]
    left = [path for path in (copy / "work").iterdir() if path.name.endswith(".tmp")]
    assert [path.read_bytes() for path in left] == [old]
    async with opened(copy) as again:
        assert again.store.notices() == {}
        assert again.recovered == RecoveryReport({}, 0)
    assert content(copy / "work").keys() == {"MEMORY.md"}
    assert [again.read(CURATED).count(word) for word in ("first", "tea", "coffee")] == [1, 0, 1]


@pytest.mark.parametrize("what", ["line", "file"])
async def test_deletion_by_a_person_stays(tmp_path: Path, what: str) -> None:
    """What somebody took out after the flush, before a start after a crash, stays out."""
    base = tmp_path / "a"
    async with opened(base) as it:
        await it.entry("keep this")
        await it.entry("forget this")
        await it.store.flush()
        # Also the journal's word that it was flushed, which nobody waits for.
        await it.store.settled()
        copy = crashed(base, tmp_path / "b")
    place = copy / "work/MEMORY.md"
    if what == "file":
        place.unlink()
    else:
        place.write_text(place.read_text().replace("- forget this\n", ""))
    async with opened(copy) as again:
        assert again.store.notices() == {}
    assert "forget this" not in (place.read_text() if place.exists() else "")
    assert place.exists() == (what == "line")


async def test_damage_is_restored_from_what_is_kept(tmp_path: Path) -> None:
    """Other bytes with our own inode and time: restored, and the damaged bytes are kept outside of the workspace."""
    async with opened(tmp_path) as it:
        await it.entry("first entry")
        await it.store.flush()
        await it.entry("second entry")
        await it.store.flush()
    damage(it.place(CURATED), b"\0" * 40)
    async with opened(tmp_path) as again:
        assert "restored" in again.store.notices()[CURATED]
        await again.store.flush()
    assert content(tmp_path / "work").keys() == {"MEMORY.md"}
    assert "first entry" in again.read(CURATED)
    assert "second entry" in again.read(CURATED)
    kept = content(tmp_path / "memory/.state/kept")
    assert [data for name, data in kept.items() if ".corrupt-" in name] == [b"\0" * 40]


async def test_hand_edit_between_flushes_is_kept(tmp_path: Path) -> None:
    """A person's line and ours are both there, and no copy of anything lies beside the file."""
    async with opened(tmp_path) as it:
        await it.entry("ours, first")
        await it.store.flush()
        with it.place(CURATED).open("a") as file:
            file.write("- a line by hand\n")
        await it.entry("ours, second")
        await it.store.flush()
        assert it.store.notices() == {}
    text = it.read(CURATED)
    assert [text.count(line) for line in ("ours, first", "a line by hand", "ours, second")] == [1, 1, 1]
    assert content(tmp_path / "work").keys() == {"MEMORY.md"}


async def test_an_edit_after_the_last_flush_is_no_damage(tmp_path: Path) -> None:
    """The next start adopts it, whatever it left of ours."""
    async with opened(tmp_path) as it:
        await it.entry("ours")
    it.place(CURATED).write_text("# mine alone\n")
    os.utime(it.place(CURATED), ns=(1, it.place(CURATED).stat().st_mtime_ns + 10_000_000))
    async with opened(tmp_path) as again:
        assert again.store.notices() == {}
    assert again.read(CURATED) == "# mine alone\n"


@pytest.mark.parametrize(
    ("left", "kept"),
    [("# notes\n", False), ("", False), ("# notes\n- a line\n", False), ("# somebody's unsaved words\n", True)],
)
async def test_left_over_temporary_files(tmp_path: Path, left: str, kept: bool) -> None:
    """Ours are removed; what somebody may have saved is kept, outside of the workspace."""
    folder = tmp_path / "work/memory"
    folder.mkdir(parents=True)
    (folder / "2026-05-04.md").write_text("# notes\n\n- a line\n- another\n")
    (folder / ".2026-05-04.md.0123456789ab.tmp").write_text(left)
    async with opened(tmp_path) as it:
        assert (NOTE in it.store.notices()) == kept
    assert content(tmp_path / "work").keys() == {"memory/2026-05-04.md"}
    found = [data for name, data in content(tmp_path / "memory").items() if ".recovered-" in name]
    assert found == ([left.encode()] if kept else [])


async def test_backup_on_another_disk(tmp_path: Path) -> None:
    """Where a rename can't reach it, the backup is copied."""

    class TwoDisks(FaultyFiles):
        def rename(self, source: Path, target: Path) -> None:
            if ("work" in source.parts) != ("work" in target.parts):
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
            super().rename(source, target)

    async with opened(tmp_path, TwoDisks()) as it:
        await it.entry("first")
        await it.store.flush()
        await it.entry("second")
        await it.store.flush()
        assert it.store.trouble is None
        backup = tmp_path / f"memory/.state/kept/{CURATED}.backup"
        assert "first" in backup.read_text()
        assert "second" not in backup.read_text()
    assert content(tmp_path / "work").keys() == {"MEMORY.md"}
    damage(it.place(CURATED), b"x" * 10)
    async with opened(tmp_path, TwoDisks()) as again:
        await again.store.flush()
    assert "second" in again.read(CURATED)


async def test_nested_folders_are_looked_through(tmp_path: Path) -> None:
    """Notes below notes are found, links to folders and what is hidden are not followed, one bad place costs itself."""
    notes = tmp_path / "work/memory"
    for name in ("a/b", ".hidden", "2026-05-05.md", "1/2/3/4/5"):
        (notes / name).mkdir(parents=True)
        (notes / name / "x.md").write_text("# x\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/secret.md").write_text("secret\n")
    (notes / "link").symlink_to(tmp_path / "out")
    async with opened(tmp_path) as it:
        found = await it.store.scan(f"{WORKSPACE.notes}/**/*.md")
        names = {path.removeprefix(f"{WORKSPACE.notes}/") for path in found}
        assert names == {"a/b/x.md", "2026-05-05.md/x.md"}
        problems = it.store.problems()
        assert "is a folder" in problems[f"{WORKSPACE.notes}/2026-05-05.md"]
        assert "too deep" in problems[f"{WORKSPACE.notes}/1/2/3/4/5"]
        (notes / "2026-05-05.md/x.md").unlink()
        (notes / "2026-05-05.md").rmdir()
        await it.store.look(AREAS)
        assert f"{WORKSPACE.notes}/2026-05-05.md" not in it.store.problems()


def test_a_folder_has_one_memory(tmp_path: Path) -> None:
    """Two memory folders that share a workspace exclude each other, through a link as well; no file tells of it."""
    work, link = tmp_path / "work", tmp_path / "link"
    work.mkdir()
    link.symlink_to(work)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    first = Locks(RootLock(tmp_path / "a"), [FolderLock(work)])
    second = Locks(RootLock(tmp_path / "b"), [FolderLock(link)])
    first.acquire()
    with pytest.raises(FolderInUseError, match="workspace_path"):
        second.acquire()
    assert not second.held
    assert list(work.iterdir()) == []
    first.release()
    second.acquire()
    assert second.held
    second.release()


def test_a_folder_that_was_made_anew_is_locked_again(tmp_path: Path) -> None:
    """Whoever removes the folder and makes another does not let two memories in."""
    work = tmp_path / "work"
    first, second = FolderLock(work), FolderLock(work)
    first.acquire()
    work.rename(tmp_path / "old")
    work.mkdir()
    first.keep()
    with pytest.raises(FolderInUseError):
        second.acquire()
    first.release()


def test_a_folder_that_cannot_be_locked_is_used_all_the_same(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """There a folder can't even be made; the log says what to see to."""
    (tmp_path / "file").write_text("")
    lock = FolderLock(tmp_path / "file/work")
    lock.acquire()
    lock.keep()
    lock.release()
    assert caplog.text.count("can't be locked") == 1
