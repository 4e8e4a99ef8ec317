"""The real disk, one step at a time; and one owner a folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from openclaw_memory.errors import RootInUseError
from openclaw_memory.storage import files as files_module
from openclaw_memory.storage.files import LocalFiles
from openclaw_memory.storage.rootlock import RootLock


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_new_files_and_folders_are_private(tmp_path: Path) -> None:
    """0600 and 0700, whatever the umask allows; another mode only where it is asked for."""
    files = LocalFiles()
    files.make_folder(tmp_path / "a")
    files.make_folder(tmp_path / "a")
    files.create(tmp_path / "a/b").close()
    files.create(tmp_path / "a/c", 0o644).close()
    files.open_append(tmp_path / "a/log").close()
    assert [mode(tmp_path / name) for name in ("a", "a/b", "a/c", "a/log")] == [0o700, 0o600, 0o644, 0o600]
    with pytest.raises(FileExistsError):
        files.create(tmp_path / "a/b")


def test_write_that_takes_only_a_part_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`os.write` may write one byte and raise nothing."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:1]))
    file = LocalFiles().create(tmp_path / "a.md")
    file.append(b"every byte")
    file.append(b" of it")
    assert file.stamp().size == 16
    file.close()
    assert (tmp_path / "a.md").read_bytes() == b"every byte of it"


@pytest.mark.parametrize("native", [True, False], ids=["renameat2", "without"])
def test_rename_to_a_name_that_must_be_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, native: bool) -> None:
    """A name that is taken is never written over, whatever the system offers."""
    if not native:
        monkeypatch.setattr(files_module, "_native_renameat2", None)
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("1")
    LocalFiles().rename_new(one, other)
    assert (one.exists(), other.read_text()) == (False, "1")
    one.write_text("2")
    with pytest.raises(FileExistsError):
        LocalFiles().rename_new(one, other)
    assert (one.read_text(), other.read_text()) == ("2", "1")


def test_exchange_swaps_or_says_that_it_cannot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one step both names have the other's file; without the system call nothing happens."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("1")
    other.write_text("2")
    swapped = LocalFiles().exchange(one, other)
    assert (one.read_text(), other.read_text()) == (("2", "1") if swapped else ("1", "2"))
    monkeypatch.setattr(files_module, "_native_renameat2", None)
    before = (one.read_text(), other.read_text())
    assert LocalFiles().exchange(one, other) is False
    assert (one.read_text(), other.read_text()) == before


def test_scan_passes_over_what_is_no_file(tmp_path: Path) -> None:
    """Folders, links that lead nowhere and a folder that does not exist are no error."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    (tmp_path / "a.md").write_text("x")
    assert list(LocalFiles().scan(tmp_path)) == ["a.md"]
    (tmp_path / "a.md.backup").write_text("x")
    assert list(LocalFiles().scan(tmp_path, (".json", ".md"))) == ["a.md"]
    assert LocalFiles().scan(tmp_path / "missing") == {}
    assert LocalFiles().scan(tmp_path / "a.md") == {}


async def test_stamp_tells_an_edit(tmp_path: Path) -> None:
    """Reading gives the stamp of the bytes read; a missing file has none."""
    files, path = LocalFiles(), tmp_path / "a.md"
    assert await files.stamp(path) is None
    path.write_bytes(b"one")
    data, stamp = await files.read(path)
    assert (data, stamp, files.scan(tmp_path)) == (b"one", await files.stamp(path), {"a.md": stamp})
    path.write_bytes(b"three")
    assert await files.stamp(path) != stamp


def test_second_owner_is_refused_and_the_first_is_named(tmp_path: Path) -> None:
    """Two configurations that reach one folder by different paths exclude each other."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    first, second = RootLock(tmp_path / "real"), RootLock(tmp_path / "link")
    first.acquire()
    with pytest.raises(RootInUseError, match=f"process {os.getpid()} on "):
        second.acquire()
    first.release()
    second.acquire()
    second.release()


def test_lock_file_of_a_dead_owner_is_taken_over(tmp_path: Path) -> None:
    """What the file says does not matter: the system let go of the lock when its owner died."""
    (tmp_path / ".lock").write_text("process 1 on elsewhere, and a longer text than ours will be\n")
    lock = RootLock(tmp_path)
    lock.acquire()
    assert (tmp_path / ".lock").read_text().startswith(f"process {os.getpid()} on ")
    assert (tmp_path / ".lock").read_text().count("\n") == 1
    lock.release()


def test_lock_that_somebody_removed_is_taken_again(tmp_path: Path) -> None:
    """A second owner must not get in; when one is in already, the first learns of it."""
    first, second = RootLock(tmp_path), RootLock(tmp_path)
    first.acquire()
    (tmp_path / ".lock").unlink()
    first.keep()
    with pytest.raises(RootInUseError):
        second.acquire()
    (tmp_path / ".lock").unlink()
    second.acquire()
    with pytest.raises(RootInUseError):
        first.keep()
    with pytest.raises(RootInUseError):
        first.keep()
    second.release()
    first.keep()
    first.release()
