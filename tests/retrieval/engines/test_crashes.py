"""A process ends in the middle of a commit, at every step of it: the index opens as before it, or as after it."""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import signal
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from openclaw_memory.retrieval import InMemoryIndex
from openclaw_memory.retrieval.blocks import FileRecord
from openclaw_memory.retrieval.engines import open_index, tantivy_engine

_SPEC = importlib.util.spec_from_file_location("index_answers_crashes", Path(__file__).with_name("answers.py"))
answering = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = answering
_SPEC.loader.exec_module(answering)
answers, block = answering.answers, answering.block

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")

STEPS = ["intent", "terms", "rows", "terms changed", "terms committed", "visible", "done"]
RECORD = FileRecord(1, 2, 3, "x")


def before(index):
    """What was committed before the crash."""
    index.replace("a.md", [block(["tea", "lake"], line, session="s1") for line in range(1, 6)], RECORD)
    index.replace("b.md", [block(["rust", "茶"], line, path="b.md", session="s2") for line in range(1, 6)], RECORD)


def change(index):
    """What the commit that is interrupted takes in: blocks that go, move, change and come."""
    index.replace("a.md", [block(["tea", "lake"], line + 2, key=f"a.md#{line}", session="s1") for line in range(1, 4)])
    index.remove("b.md")
    index.add([block(["go", "tea"], line, path="c.md", session="s1") for line in range(1, 4)])
    index.record("c.md", FileRecord(9, 9, 9, "y"))


def twin(*changes):
    made = InMemoryIndex()
    for one in changes:
        one(made)
    return answers(made)


def in_child(work) -> int:
    """Run in a process of its own; gives how it ended."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def dying_at(point):
    """Give a `step` that ends the process; points inside the engine are reached by what calls it."""

    def step(name):
        if name == point:
            os._exit(77)

    if point.startswith("terms "):
        commit = tantivy_engine.TantivyEngine._commit

        def dying(self, writer, generation):
            if point == "terms changed":
                os._exit(77)
            commit(self, writer, generation)
            os._exit(77)

        tantivy_engine.TantivyEngine._commit = dying
    return step


@pytest.mark.parametrize("point", STEPS)
@pytest.mark.parametrize("again", [False, True], ids=["once", "twice"])
def test_process_ends_at_a_step(tmp_path, engine, point, again):
    """Opened again, it answers as before the commit or as after it, and can do the same commit again."""
    if engine == "sqlite" and (point == "intent" or point.startswith("terms")):
        pytest.skip("this engine has no files of its own")
    index = open_index(tmp_path, "main", engine)
    before(index)
    assert index.commit()
    index.close()

    def work():
        index = open_index(tmp_path, "main", engine)
        change(index)
        index._inner._step = dying_at(point)
        index.commit()

    for _ in range(2 if again else 1):
        assert in_child(work) == 77
    index = open_index(tmp_path, "main", engine)
    try:
        assert index.problem is None
        assert answers(index) == (twin(before, change) if point == "done" else twin(before))
        change(index)
        assert index.commit()
        assert answers(index) == twin(before, change)
    finally:
        index.close()


@pytest.mark.parametrize("point", ["intent", "terms", "rows", "visible"])
def test_disk_refuses_at_a_step(opened, engine, point):
    """A commit that fails loses nothing: everything is still found, and the next one goes through."""
    if engine == "sqlite" and point in ("intent", "terms"):
        pytest.skip("this engine has no files of its own")
    refusing = [point]

    def step(name):
        if name in refusing:
            raise OSError(28, "No space left on device")

    index = opened(step=step)
    before(index)
    assert not index.commit()
    assert "No space" in index.problem
    assert answers(index) == twin(before)
    change(index)
    assert not index.commit()
    assert answers(index) == twin(before, change)
    refusing.clear()
    assert index.commit()
    assert index.problem is None
    assert answers(index) == twin(before, change)
    index.close()
    assert answers(opened()) == twin(before, change)


@pytest.mark.parametrize("older", ["rows", "terms"])
def test_rows_and_terms_of_different_days(opened, tmp_path, engine, older):
    """Rows or terms that a power failure, or a backup, set back: rows are scanned, and the terms made anew."""
    if engine == "sqlite":
        pytest.skip("this engine has no files of its own")
    root, saved = tmp_path / "root", tmp_path / "saved"
    opened = partial(opened, root=root)
    index = opened()
    before(index)
    assert index.commit()
    index.close()
    shutil.copytree(root, saved)
    for _ in range(3):
        index = opened()
        change(index)
        index.add([block(["dec-0054"], 9, path="c.md")])
        index.commit()
        index.remove("c.md")
        index.commit()
        index.close()
    name = "main.sqlite" if older == "rows" else "main.index"
    if older == "rows":
        shutil.copy(saved / name, root / name)
        expected = twin(before)
    else:
        shutil.rmtree(root / name)
        shutil.copytree(saved / name, root / name)
        expected = twin(before, change, lambda index: index.remove("c.md"))
    index = opened()
    assert "generation" in index.problem
    assert answers(index) == expected
    assert index.commit()
    assert index.problem is None
    assert answers(index) == expected
    index.close()
    assert answers(opened()) == expected


def test_killed_at_any_time(tmp_path, engine):
    """Killed at random moments, it always opens in step: terms find exactly what the rows hold."""
    chance = random.Random(4)
    folder = tmp_path

    def work():
        index = open_index(folder, "main", engine)
        numbers = random.Random(os.getpid())
        while True:
            path = numbers.choice(answering.PATHS)
            index.replace(path, [block(numbers.choices(answering.WORDS, k=3), line, path=path) for line in range(1, 7)])
            index.commit()

    for _ in range(8):
        pid = os.fork()
        if pid == 0:
            work()
        time.sleep(0.05 + chance.random() * 0.25)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        index = open_index(folder, "main", engine)
        try:
            assert index.problem is None
            fresh = InMemoryIndex()
            for path in answering.PATHS:
                fresh.replace(path, index.blocks_of(path))
            assert answers(index) == answers(fresh)
        finally:
            index.close()
