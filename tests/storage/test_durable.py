"""Whole or as it was, on the disk on return, and never over somebody else's save."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

import pytest

from openclaw_memory.storage.durable import Replacement, make_folders, open_log, replace, write_whole
from openclaw_memory.storage.files import LocalFiles, Stamp
from tests.support import FaultyFiles


class WithoutExchange(FaultyFiles):
    """A system that can't swap two files in one step."""

    def exchange(self, one: Path, other: Path) -> bool:
        self._check("exchange", other)
        return False


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("kind", [FaultyFiles, WithoutExchange])
def test_replacement_of_what_we_know(tmp_path: Path, kind: type[FaultyFiles]) -> None:
    """The file is new, its mode is kept, its stamp is told; the one before it is the backup where that is possible."""
    path = tmp_path / "a.md"
    first = replace(kind(), path, b"one", None, keep_backup=True)
    assert first == Replacement(Stamp.of(path.stat()))
    path.chmod(0o640)
    second = replace(kind(), path, b"two", Stamp.of(path.stat()), keep_backup=True)
    assert second.stamp == Stamp.of(path.stat())
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"two", 0o640)
    if second.backup is None:
        assert kind is WithoutExchange or not LocalFiles().exchange(path, path)
        assert names(tmp_path) == ["a.md"]
    else:
        backup = tmp_path / "a.md.backup"
        assert (backup.read_bytes(), second.backup) == (b"one", Stamp.of(backup.stat()))
        assert names(tmp_path) == ["a.md", "a.md.backup"]


@pytest.mark.parametrize("kind", [FaultyFiles, WithoutExchange])
@pytest.mark.parametrize("change", ["in place", "by rename", "removed", "created"])
def test_file_that_somebody_else_changed_is_left(tmp_path: Path, kind: type[FaultyFiles], change: str) -> None:
    """Their bytes are there, ours are not, and no temporary file is left."""
    path = tmp_path / "a.md"
    expected = None
    if change != "created":
        path.write_bytes(b"old")
        expected = Stamp.of(path.stat())
    if change in ("in place", "created"):
        path.write_bytes(b"by hand")
    elif change == "by rename":
        (tmp_path / "x").write_bytes(b"by hand")
        (tmp_path / "x").rename(path)
    else:
        path.unlink()
    assert replace(kind(), path, b"ours", expected, keep_backup=True) == Replacement(None)
    assert names(tmp_path) == ([] if change == "removed" else ["a.md"])
    if change != "removed":
        assert path.read_bytes() == b"by hand"


@pytest.mark.parametrize("way", ["in place", "by rename"])
@pytest.mark.parametrize("saves", [2, 3, 4, 7])
def test_newest_of_several_saves_within_one_replacement_stays(tmp_path: Path, saves: int, way: str) -> None:
    """Saved before each exchange, of those too that put things back: what was saved last is there."""
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    expected = Stamp.of(path.stat())

    class SavesAgain(FaultyFiles):
        saved = 0

        def exchange(self, one: Path, other: Path) -> bool:
            if self.saved < saves:
                self.saved += 1
                text = b"save %d" % self.saved * self.saved
                if way == "in place":
                    path.write_bytes(text)
                else:
                    (tmp_path / "x").write_bytes(text)
                    (tmp_path / "x").rename(path)
            return super().exchange(one, other)

    if not LocalFiles().exchange(path, path):
        pytest.skip("this file system can't exchange two files")
    files = SavesAgain()
    assert replace(files, path, b"ours", expected, keep_backup=True) == Replacement(None)
    assert files.saved == saves
    assert (path.read_bytes(), names(tmp_path)) == (b"save %d" % saves * saves, ["a.md"])


STEPS = ["create", "append", "sync", "exchange", "sync_folder", "rename"]


@pytest.mark.parametrize("step", STEPS)
def test_failure_at_any_step_leaves_a_whole_file(tmp_path: Path, step: str) -> None:
    """Old or new, never half; what is left beside it is never a half-written document under a document's name."""
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    files = FaultyFiles(lambda operation, _: errno.ENOSPC if operation == step else None)
    with pytest.raises(OSError, match="No space"):
        replace(files, path, b"new", Stamp.of(path.stat()), keep_backup=True)
    assert path.read_bytes() == (b"new" if step in ("sync_folder", "rename") else b"old")
    kept = ["a.md", "a.md.backup"] if step == "sync_folder" else ["a.md"]
    assert [name for name in names(tmp_path) if not name.startswith(".")] == kept
    if step in ("create", "append", "sync", "exchange"):
        assert names(tmp_path) == ["a.md"]


def test_everything_is_synced_before_it_counts(tmp_path: Path) -> None:
    """Bytes before the name, the name before the return."""
    path, files = tmp_path / "a.md", FaultyFiles()
    replace(files, path, b"one", None, keep_backup=True)
    assert [call for call, _ in files.calls] == ["create", "append", "sync", "rename_new", "sync_folder"]
    files.calls.clear()
    write_whole(files, path, b"two")
    assert [call for call, _ in files.calls] == ["create", "append", "sync", "rename", "sync_folder"]
    files.calls.clear()
    open_log(files, tmp_path / "log").close()
    assert [call for call, _ in files.calls] == ["open_append", "sync_folder"]
    files.calls.clear()
    make_folders(files, tmp_path / "x" / "y")
    # Also the folder that was there: whoever made it may have been killed before its name was durable.
    assert files.calls == [
        ("sync_folder", tmp_path.parent.name),
        ("make_folder", "x"),
        ("sync_folder", tmp_path.name),
        ("make_folder", "y"),
        ("sync_folder", "x"),
    ]


def test_replacement_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    """A person who linked a file to another folder finds the link and the new text there."""
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "real.md", tmp_path / "link.md"
    target.write_bytes(b"old")
    link.symlink_to(target)
    replace(LocalFiles(), link, b"new", Stamp.of(target.stat()), keep_backup=False)
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert names(tmp_path) == ["link.md", "there"]
