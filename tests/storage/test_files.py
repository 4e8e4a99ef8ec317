"""The real disk: whole or as it was, private, and every byte written."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from openclaw_memory.errors import RootInUseError
from openclaw_memory.storage.files import LocalFiles, Stamp
from openclaw_memory.storage.rootlock import RootLock


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_new_files_and_folders_are_private(tmp_path: Path) -> None:
    """0600 and 0700, whatever the umask allows."""
    files = LocalFiles()
    files.make_folder(tmp_path / "a" / "b")
    files.replace(tmp_path / "a" / "b" / "c.md", b"x")
    files.open_append(tmp_path / "a" / "log").close()
    assert [mode(tmp_path / name) for name in ("a", "a/b", "a/b/c.md", "a/log")] == [0o700, 0o700, 0o600, 0o600]


def test_replace_keeps_the_mode_and_gives_the_stamp(tmp_path: Path) -> None:
    """An existing file keeps its mode; the stamp is that of the new file."""
    path = tmp_path / "a.md"
    path.write_text("old")
    path.chmod(0o640)
    stamp = LocalFiles().replace(path, b"new")
    assert (path.read_bytes(), mode(path), stamp) == (b"new", 0o640, Stamp.of(path.stat()))


def test_write_that_takes_only_a_part_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`os.write` may write one byte and raise nothing."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:1]))
    LocalFiles().replace(tmp_path / "a.md", b"every byte")
    file = LocalFiles().open_append(tmp_path / "log")
    file.append(b"of it")
    file.close()
    assert (tmp_path / "a.md").read_bytes() + (tmp_path / "log").read_bytes() == b"every byteof it"


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_failed_replace_leaves_the_old_file_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Wherever it fails, the old file is whole and the temporary one is gone."""
    path = tmp_path / "a.md"
    path.write_bytes(b"old")

    def fail(*args: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match="no space"):
        LocalFiles().replace(path, b"new")
    monkeypatch.undo()
    assert (path.read_bytes(), [p.name for p in tmp_path.iterdir()]) == (b"old", ["a.md"])


def test_replace_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    """A person who linked a file to another folder finds the link and the new text there."""
    target, link = tmp_path / "real.md", tmp_path / "link.md"
    target.write_bytes(b"old")
    link.symlink_to(target)
    LocalFiles().replace(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


async def test_stamp_tells_an_edit(tmp_path: Path) -> None:
    """Reading gives the stamp of the bytes read; a missing file has none."""
    files, path = LocalFiles(), tmp_path / "a.md"
    assert await files.stamp(path) is None
    assert files.scan(tmp_path / "nowhere") == {}
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
