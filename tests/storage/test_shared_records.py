"""Drafts of one turn of the event loop share a record of the journal, and each keeps its promise all the same."""

from __future__ import annotations

import errno
import logging
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from openclaw_memory.errors import UnstorableError
from openclaw_memory.storage.commits import Commit
from openclaw_memory.storage.journal import read_journal
from openclaw_memory.storage.ledger import MOST_IN_A_RECORD
from openclaw_memory.storage.operations import Operation
from tests.storage.test_store import Opened, opened
from tests.support import FaultyFiles

PROFILE = "facts/user-profile.md"
OTHER = "facts/other.md"


async def plan_many(it: Opened, count: int, first: int = 0, value: str = "") -> list[Commit]:
    """Plan so many facts with nothing awaited between two of them; `value` is that of the last one."""
    for path in (PROFILE, OTHER):
        await it.store.draft([path])
    commits = []
    for number in range(first, first + count):
        path = PROFILE if number % 2 else OTHER
        text = value if value and number == first + count - 1 else str(number)
        arguments = {"section": "S", "key": f"k{number}", "value": text, "old": None, "title": "T"}
        # Known: no file is looked at, so the event loop has no turn.
        drafting = it.store.draft([], known=[path])
        with pytest.raises(StopIteration) as done:
            drafting.send(None)
        draft = done.value.value
        draft.apply(Operation(path, "set", {**arguments, "language": "en", "at": "2026-05-04T14:30:00+08:00"}))
        commits.append(it.store.commit(draft))
    return commits


def records(folder: Path) -> list[int]:
    """Give how many operations each record of a journal holds."""
    return [len(one.operations) for one in read_journal(folder / ".journal", FaultyFiles()).records if one.operations]


async def test_a_burst_costs_one_record(tmp_path: Path) -> None:
    """All of it is durable when the first of it is, and a crash right then leaves all of it, once."""
    async with opened(tmp_path / "a") as it:
        commits = await plan_many(it, 10)
        assert it.store.in_flight == 10
        await commits[0].wait()
        assert it.store.in_flight == 0
        assert all(commit.is_settled and commit.error is None for commit in commits)
        assert records(tmp_path / "a") == [10]
        crashed = it.crashed(tmp_path / "b")
    async with opened(crashed) as again:
        text = again.file() + again.file(OTHER)
        assert [text.count(f"- k{number}: {number}\n") for number in range(10)] == [1] * 10


async def test_a_record_has_an_end(tmp_path: Path) -> None:
    """The event loop writes a record down in one go, so it does not grow for ever."""
    async with opened(tmp_path) as it:
        commits = await plan_many(it, MOST_IN_A_RECORD + 3)
        await commits[-1].wait()
        assert records(tmp_path) == [MOST_IN_A_RECORD, 3]


async def test_a_record_that_fails_fails_for_all_of_them(tmp_path: Path) -> None:
    """Each is told, nothing of it is there, and what is written next is."""
    files = FaultyFiles()
    async with opened(tmp_path, files) as it:
        await it.set("before", "0")
        files.fault = lambda operation, path: errno.EIO if operation == "sync" else None
        commits = await plan_many(it, 5)
        for commit in commits:
            await commit.wait()
            assert commit.error is not None
        assert it.store.in_flight == 0
        files.fault = lambda operation, path: None
        later = await it.set("after", "1")
        assert later.error is None
        await it.store.flush()
        assert "- before: 0\n- after: 1\n" in it.file()
        assert "k1" not in it.file()


async def test_what_is_planned_right_before_closing_is_kept(tmp_path: Path) -> None:
    """Whoever was given a commit is told what became of it, and it is on the disk."""
    async with opened(tmp_path) as it:
        (commit,) = await plan_many(it, 1)
        with anyio.fail_after(5):
            await it.store.close()
        assert commit.is_settled
        assert commit.error is None
    assert "- k0: 0\n" in (tmp_path / OTHER).read_text()


async def test_a_flush_comes_after_what_it_holds(tmp_path: Path) -> None:
    """Positions lie in the journal in order: a record about a flush never goes ahead of one that is still open."""
    async with opened(tmp_path) as it:
        await it.set("one", "1")
        async with anyio.create_task_group() as group:
            group.start_soon(it.store.flush)
            for first in range(0, 40, 4):
                await plan_many(it, 4, first)
                await anyio.lowlevel.checkpoint()
        await it.store.settled()
        positions = [one.position for one in read_journal(tmp_path / ".journal", FaultyFiles()).records]
        assert positions == sorted(positions)


async def test_what_no_journal_can_hold_costs_nobody_else(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Half of a character got in: that draft fails at once, and those beside it, of the same record, stand."""
    async with opened(tmp_path) as it:
        before = await it.plan("before", "0")
        await anyio.lowlevel.checkpoint()
        with caplog.at_level(logging.CRITICAL, "openclaw_memory"):
            *beside, refused = await plan_many(it, 3, value="\ud800")
            assert refused.is_settled
            assert isinstance(refused.error, UnstorableError)
            for commit in beside:
                await commit.wait()
                assert commit.error is None
        await before.wait()
        assert it.store.in_flight == 0
        after = await it.set("after", "1")
        assert (before.error, after.error) == (None, None)
        await it.store.flush()
        text = it.file() + it.file(OTHER)
        assert [text.count(f"- {key}: ") for key in ("before", "after", "k0", "k1", "k2")] == [1, 1, 1, 1, 0]
        assert it.store._shelf.entries[OTHER].planned is it.store._shelf.entries[OTHER].committed


async def test_what_no_document_can_take_costs_its_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is made when somebody looks: whoever shares the record is told, and the rest goes on."""
    async with opened(tmp_path) as it:
        await it.set("before", "0", OTHER)
        apply = it.store._shelf.entries[OTHER].format.apply

        def fails(document: Any, operation: Operation) -> Any:
            if operation.arguments["value"] == "bad":
                raise ZeroDivisionError("nobody thought of this")
            return apply(document, operation)

        monkeypatch.setattr(it.store._shelf.entries[OTHER].format, "apply", fails, raising=False)
        shared = {"section": "S", "old": None, "title": "T", "language": "en", "at": "2026-05-04T14:30:00+08:00"}
        with caplog.at_level(logging.CRITICAL, "openclaw_memory"), anyio.fail_after(5):
            commits = [
                it.store.add(Operation(OTHER, "set", {**shared, "key": key, "value": value}))
                for key, value in (("one", "1"), ("bad", "bad"), ("two", "2"))
            ]
            for commit in commits:
                await commit.wait()
                assert isinstance(commit.error, UnstorableError)
        assert it.store.in_flight == 0
        assert (await it.set("after", "3", OTHER)).error is None
        crashed = it.crashed(tmp_path / "b")
    async with opened(crashed) as again:
        text = again.file(OTHER)
        assert [text.count(f"- {key}: ") for key in ("before", "one", "bad", "two", "after")] == [1, 0, 0, 0, 1]


async def test_what_can_not_be_put_back_either_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing can be applied for a moment: of two documents none keeps what was refused, and both what was written."""
    async with opened(tmp_path) as it:
        for path in (PROFILE, OTHER):
            await it.set("flushed", "0", path)
        await it.store.flush()
        written = [await it.plan("written", "1", path) for path in (PROFILE, OTHER)]
        # On its way to the disk, and told only when the event loop has a turn.
        it.store._ledger.submit_open()
        shared = {"section": "S", "old": None, "title": "T", "language": "en", "at": "2026-05-04T14:30:00+08:00"}
        usual = {path: it.store._shelf.entries[path].format.apply for path in (PROFILE, OTHER)}

        def fails(document: Any, operation: Operation) -> Any:
            raise MemoryError

        with caplog.at_level(logging.CRITICAL, "openclaw_memory"):
            for path in usual:
                monkeypatch.setattr(it.store._shelf.entries[path].format, "apply", fails, raising=False)
            arguments = {**shared, "key": "refused", "value": "x"}
            every = [path for path in usual for _ in range(MOST_IN_A_RECORD // 2)]
            for commit in [it.store.add(Operation(path, "set", arguments)) for path in every]:
                assert commit.is_settled
                assert isinstance(commit.error, UnstorableError)
        for path, apply in usual.items():
            monkeypatch.setattr(it.store._shelf.entries[path].format, "apply", apply, raising=False)
        for commit in written:
            await commit.wait()
            assert commit.error is None
        for path in usual:
            assert (await it.set("after", "2", path)).error is None
        await it.store.flush()
        for path in usual:
            text = it.file(path)
            assert [text.count(f"- {key}: ") for key in ("flushed", "written", "refused", "after")] == [1, 1, 0, 1]


async def test_nobody_waits_for_ever_because_of_somebody_else(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A callback fails, and so does who is told what readers see: what shares the record is decided all the same."""
    async with opened(tmp_path) as it:

        def fails(*_: object) -> None:
            raise ValueError("no luck")

        told: list[Commit] = []
        with caplog.at_level(logging.CRITICAL, "openclaw_memory"):
            commits = await plan_many(it, MOST_IN_A_RECORD + 1)
            usual, it.store._shelf._changed = it.store._shelf._changed, fails
            for commit in commits[-2:]:
                commit.call_when_settled(fails)
                commit.call_when_settled(told.append)
            await it.set("after", "1")
            it.store._shelf._changed = usual
        assert told == commits[-2:]
        assert all(commit.is_settled and commit.error is None for commit in commits)
