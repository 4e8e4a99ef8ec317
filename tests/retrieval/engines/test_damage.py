"""Files of an index that are damaged, deleted, locked or in the way: nothing is raised, and in the end all is found."""

from __future__ import annotations

import importlib.util
import os
import random
import resource
import shutil
import sys
import traceback
from pathlib import Path

import apsw
import pytest

from openclaw_memory.retrieval import InMemoryIndex
from openclaw_memory.retrieval.blocks import FileRecord
from openclaw_memory.retrieval.engines import open_index

_SPEC = importlib.util.spec_from_file_location("index_answers_damage", Path(__file__).with_name("answers.py"))
answering = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = answering
_SPEC.loader.exec_module(answering)
answers, block, PATHS, WORDS = answering.answers, answering.block, answering.PATHS, answering.WORDS

RECORD = FileRecord(1, 2, 3, "x")


def files_of(seed=1):
    """The documents that everything is derived from."""
    chance = random.Random(seed)
    return {
        path: [block(chance.choices(WORDS, k=4), line, path=path, session="s1") for line in range(1, 40)]
        for path in PATHS
    }


def fill(index, files):
    for path, blocks in files.items():
        index.replace(path, blocks, RECORD)


def twin(files):
    made = InMemoryIndex()
    fill(made, files)
    return answers(made)


def serve(index, files):
    """What the owner of an index does: read what has no record, and all after a loss; commit until all is there."""
    if index.lost:
        index.reopen()
        fill(index, files)
        index.filled()
    known = index.records()
    for path, blocks in files.items():
        if known.get(path) != RECORD:
            index.replace(path, blocks, RECORD)
    for _ in range(5):
        if index.commit():
            return
        if index.lost:
            serve(index, files)
            return


def committed(opened, files, **how):
    index = opened(**how)
    fill(index, files)
    assert index.commit()
    # One segment, and so only a few files to damage.
    index.purge()
    index.close()


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)


def flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(3):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def zeroes(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    at = chance.randrange(len(data))
    data[at : at + 4096] = bytes(len(data[at : at + 4096]))
    path.write_bytes(data)


def cut(path: Path, chance: random.Random) -> None:
    os.truncate(path, chance.randrange(path.stat().st_size))


def emptied(path: Path, chance: random.Random) -> None:
    os.truncate(path, 0)


def garbage(path: Path, chance: random.Random) -> None:
    path.write_bytes(chance.randbytes(path.stat().st_size))


def deleted(path: Path, chance: random.Random) -> None:
    path.unlink()


def folder_instead(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.mkdir()
    (path / "a person's file").write_text("not to be lost")


@pytest.mark.parametrize("how", [flip, zeroes, cut, emptied, garbage, deleted, folder_instead])
def test_damaged_while_closed(opened, tmp_path, engine, how):
    """Whatever happened to one of the files, opening and searching raise nothing, nothing false is shown, and when the
    owner has done what it does everything is found again."""
    files, chance = files_of(), random.Random(how.__name__)
    expected = twin(files)
    true = {one for blocks in files.values() for one in blocks}
    committed(opened, files, root=tmp_path / "whole")
    for number, name in enumerate([path.relative_to(tmp_path / "whole") for path in files_in(tmp_path / "whole")]):
        root = tmp_path / f"{number}"
        shutil.copytree(tmp_path / "whole", root)
        how(root / name, chance)
        index = opened(root=root)
        for word in WORDS:
            hits = index.search([word], limit=50, allow=lambda _: True)
            assert {hit.block for hit in hits} <= true
        serve(index, files)
        assert index.problem is None
        # Bits of SQLite's own pages that nothing notices may cost a block, until the index is made anew.
        if how is not flip or name.suffix != ".sqlite":
            assert answers(index) == expected, name
        index.close()
    if how is folder_instead:
        kept = [path for path in tmp_path.rglob("a person's file") if "index" not in path.parent.parent.name]
        assert kept


@pytest.mark.parametrize("what", ["main.sqlite", "main.sqlite-wal", "main.index", "everything"])
def test_deleted_while_running(opened, tmp_path, engine, what):
    """Files that disappear under the running program are made anew from what is still open; nothing is read again."""
    files = files_of()
    index = opened()
    fill(index, files)
    index.commit()
    for path in tmp_path.iterdir():
        if what in (path.name, "everything"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert answers(index) == twin(files)
    files["a.md"] = files["a.md"][:7]
    index.replace("a.md", files["a.md"], RECORD)
    for _ in range(3):
        index.commit()
    assert index.waiting == 0
    assert index.problem is None
    assert not index.lost
    assert answers(index) == twin(files)
    index.close()
    again = opened()
    assert again.problem is None
    assert answers(again) == twin(files)


def test_damaged_while_running(opened, tmp_path, engine):
    """Pages that turn to zeroes under the running program: search goes on, the loss is told, and made good."""
    files = files_of()
    index = opened()
    fill(index, files)
    index.commit()
    index.close()
    index = opened()
    with (tmp_path / "main.sqlite").open("r+b") as file:
        file.write(bytes((tmp_path / "main.sqlite").stat().st_size))
    index.add([block(["lake"], 99, path="c.md")])
    hits = index.search(["lake"], limit=500, allow=lambda _: True)
    assert any(hit.block.start_line == 99 for hit in hits)
    assert index.lost
    assert "in memory" in index.problem
    assert index.status().engine == "memory"
    files["c.md"].append(block(["lake"], 99, path="c.md"))
    serve(index, files)
    assert (index.problem, index.lost) == (None, False)
    assert answers(index) == twin(files)


def test_somebody_else_has_the_lock(opened, tmp_path):
    """A database that another program has locked is left alone: memory stands in, and takes over what it held later."""
    files = files_of()
    committed(opened, files)
    stranger = apsw.Connection(str(tmp_path / "main.sqlite"))
    stranger.execute("PRAGMA locking_mode = EXCLUSIVE")
    stranger.execute("BEGIN EXCLUSIVE")
    index = opened()
    assert "in memory" in index.problem
    index.add([block(["rust"], 77, path="c.md")])
    assert [hit.block.start_line for hit in index.search(["rust"], limit=3, allow=lambda _: True)] == [77]
    stranger.execute("ROLLBACK")
    stranger.close()
    index.reopen()
    assert index.commit()
    assert index.problem is None
    files["c.md"].append(block(["rust"], 77, path="c.md"))
    assert answers(index) == twin(files)


def test_terms_have_another_writer(opened, engine):
    """Two processes that both think they own the folder: the second one scans, and raises nothing."""
    files = files_of()
    first = opened()
    fill(first, files)
    first.commit()
    second = opened()
    assert answers(second) == twin(files)
    second.add([block(["rust"], 77, path="c.md")])
    second.commit()
    files["c.md"].append(block(["rust"], 77, path="c.md"))
    assert answers(second) == twin(files)


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root")
def test_folder_that_can_not_be_written(opened, tmp_path):
    """Memory stands in, and says why."""
    (tmp_path / "root").mkdir()
    (tmp_path / "root").chmod(0o500)
    index = opened(root=tmp_path / "root")
    fill(index, files_of())
    assert "in memory" in index.problem
    assert answers(index) == twin(files_of())


def test_root_is_a_file(opened, tmp_path):
    """What can't be a folder: memory stands in."""
    (tmp_path / "root").write_text("x")
    index = opened(root=tmp_path / "root")
    fill(index, files_of())
    assert "in memory" in index.problem
    assert index.commit()
    assert answers(index) == twin(files_of())


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_disk_is_full(tmp_path, engine):
    """Files that can't grow: everything goes on being found from memory, and goes to the disk once there is room."""

    def work():
        files = files_of()
        index = open_index(tmp_path, "main", engine)
        fill(index, files)
        most = max(path.stat().st_size for path in files_in(tmp_path))
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
        for _ in range(3):
            assert not index.commit()
            assert index.problem
            assert answers(index) == twin(files)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert index.commit()
        assert index.problem is None
        assert answers(index) == twin(files)
        index.close()

    pid = os.fork()
    if pid == 0:
        try:
            work()
        except AssertionError:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    index = open_index(tmp_path, "main", engine)
    assert answers(index) == twin(files_of())
    index.close()


def test_other_terms_or_another_engine(opened, monkeypatch, engine):
    """An index that was made otherwise is made anew: never wrong results."""
    files = files_of()
    committed(opened, files)
    other = opened(engine="sqlite" if engine == "tantivy" else "tantivy")
    assert other.lost
    assert "engine" in other.problem
    serve(other, files)
    assert (other.problem, other.lost) == (None, False)
    assert answers(other) == twin(files)
    other.close()
    monkeypatch.setattr("openclaw_memory.retrieval.engines.identity.terms_version", lambda: "other")
    assert opened(engine="sqlite" if engine == "tantivy" else "tantivy").lost


def test_what_the_caller_raises_is_no_fault(opened, engine):
    """An error of `allow` goes to whoever gave it, and costs the index nothing."""
    index = opened()
    fill(index, files_of())
    index.commit()

    def broken(_):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        index.search(["tea"], limit=3, allow=broken)
    assert index.problem is None
    assert answers(index) == twin(files_of())
