"""A batch that takes long to plan is planned beside the event loop, on what is still so when it is written."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from contracts import MemoryRead, MemoryWrite, UpdateFact
from openclaw_memory import writer
from openclaw_memory.writing import apart
from tests.support import Remembering, remembering

SECONDS = 20.0
"""After so long something waits that should not."""


def batch(count: int, *more: dict[str, Any]) -> MemoryWrite:
    facts = [{"section": f"S{number % 7}", "key": f"k{number}", "value": f"v{number}"} for number in range(count)]
    items = [{"event": "memory:update_fact", "data": fact} for fact in [*facts, *more]]
    tasks = [
        {"event": "memory:write", "data": {"type": "task", "content": {"title": f"task {number}"}, "sessionId": "s1"}}
        for number in range(count // 4)
    ]
    return MemoryWrite(type="batch", content={"items": [*items, *tasks]}, session_id="s1")


def files(it: Remembering) -> dict[str, str]:
    return {
        path.relative_to(it.folder).as_posix(): path.read_text()
        for folder in ("facts", "tasks")
        for path in sorted((it.folder / folder).rglob("*.md"))
    }


async def test_planned_apart_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same files and the same addresses, wherever it was planned."""
    found = []
    for name, most in (("here", 10**9), ("apart", 0)):
        monkeypatch.setattr(apart, "LONG", most)
        async with remembering(tmp_path / name, ids=True) as it:
            await it.ask(UpdateFact(section="S1", key="k1", value="before"))
            written = await it.ask(batch(40, {"section": "S1", "key": "k1", "value": "after"}))
            assert written.success
            await it.flushed()
            found.append((written.keys, files(it)))
    assert found[0] == found[1]
    assert found[0][1]["facts/archive/user-profile.md"].count(": before") == 1


def slowed(monkeypatch: pytest.MonkeyPatch, wait: Callable[[], None]) -> list[bool]:
    """Have `wait` called in the thread before each long plan; gives for each plan whether it was beside the loop."""
    plan, loop = writer.Writer._plan, threading.get_ident()
    apart_each: list[bool] = []

    def slow(self: Any, change: Any, *rest: Any) -> Any:
        if isinstance(change, MemoryWrite) and change.type == "batch":
            apart_each.append(threading.get_ident() != loop)
            if apart_each[-1]:
                wait()
        return plan(self, change, *rest)

    monkeypatch.setattr(writer.Writer, "_plan", slow)
    return apart_each


async def test_others_are_answered_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is planned, other sessions write and read."""
    begun, answered = anyio.Event(), threading.Event()
    async with remembering(tmp_path) as it:

        def wait() -> None:
            anyio.from_thread.run_sync(begun.set)
            assert answered.wait(SECONDS)

        planned = slowed(monkeypatch, wait)

        async def other() -> None:
            await begun.wait()
            said = {"role": "user", "content": "hello"}
            assert (await it.ask(MemoryWrite(type="conversation", content=said, session_id="s2"))).success
            assert (await it.ask(MemoryRead(query="", session_id="s2", max_tokens=100))).history
            answered.set()

        async with anyio.create_task_group() as group:
            group.start_soon(other)
            assert (await it.ask(batch(60))).success
        assert planned == [True]


async def test_what_others_write_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fact is changed each time that the batch was planned: it is planned anew, the last time on the event loop."""
    values = iter(range(100))
    async with remembering(tmp_path) as it:
        owner = it.memory._owner
        assert owner is not None

        async def written(fact: UpdateFact) -> None:
            await (await owner.plan(fact)).commit.wait()

        def change() -> None:
            fact = UpdateFact(section="other", key="k", value=str(next(values)), session_id="s2")
            anyio.from_thread.run(written, fact)

        planned = slowed(monkeypatch, change)
        assert (await it.ask(batch(60, {"section": "other", "key": "k", "value": "the batch's"}))).success
        assert planned == [*[True] * apart.TRIES, False]
        await it.flushed()
        text = files(it)
        assert text["facts/user-profile.md"].count("- k: the batch's\n") == 1
        archived = text["facts/archive/user-profile.md"]
        assert [archived.count(f": {number}\n") for number in range(apart.TRIES)] == [1] * apart.TRIES
