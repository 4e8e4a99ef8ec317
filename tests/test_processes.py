"""Several processes on one folder: one owns it, the others read beside it and hand their writes in."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Coroutine
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest

from contracts import MemoryRead, MemoryWrite, TaskStateChange, UpdateFact
from openclaw_memory import ManualClock
from openclaw_memory.handed_in import with_key
from openclaw_memory.owner import Owner
from openclaw_memory.storage.files import LocalFiles
from openclaw_memory.storage.inbox import Inbox
from tests.support import Remembering, remembering

ROOT = Path(__file__).parent.parent


def say(content: str, session: str = "s1") -> MemoryWrite:
    return MemoryWrite(type="conversation", content={"role": "user", "content": content}, session_id=session)


async def passing(coroutine: Coroutine[Any, Any, Any], *clocks: ManualClock, step: float = 0.02) -> Any:
    """Let time pass on all clocks until something is done."""
    task = asyncio.ensure_future(coroutine)
    while not task.done():
        for clock in clocks:
            clock.advance(step)
        await anyio.wait_all_tasks_blocked()
    return task.result()


async def history(it: Remembering, session: str = "s1") -> list[str]:
    context = await it.ask(MemoryRead(query="", session_id=session, max_tokens=100_000))
    return [message.content for message in context.history]


async def test_guest_reads_what_the_owner_has_only_in_its_journal(tmp_path: Path) -> None:
    """What was acknowledged is seen at once, although no file holds it yet; and after it was flushed, once."""
    async with remembering(tmp_path) as owner, remembering(tmp_path) as guest:
        assert "process" in (guest.memory.status().owner or "")
        await owner.ask(say("hello"))
        await owner.ask(UpdateFact(section="S", key="k", value="v"))
        assert await history(guest) == ["hello"]
        await owner.flushed()
        await owner.ask(say("again"))
        assert await history(guest) == ["hello", "again"]
        await owner.flushed()
        assert await history(guest) == ["hello", "again"]
        assert (await guest.ask(MemoryRead(query="", session_id="x", max_tokens=100))).facts == ("S/k: v",)


async def test_guest_writes_through_the_owner(tmp_path: Path) -> None:
    """All three events that write; the reply is the owner's, refusals included; both see the result."""
    async with remembering(tmp_path) as owner, remembering(tmp_path) as guest:
        clocks = (owner.clock, guest.clock)
        written = await passing(guest.ask(say("from beside")), *clocks)
        assert (written.success, written.durability) == (True, "synced")
        assert written.key.startswith("conversations/2026-05-04.md#")
        assert await history(owner) == await history(guest) == ["from beside"]
        fact = await passing(guest.ask(UpdateFact(section="S", key="k", value="v")), *clocks)
        assert fact.key == "facts/user-profile.md#S/k"
        refused = await passing(guest.ask(TaskStateChange(task_id="OPEN-404", new_state="completed")), *clocks)
        assert (refused.success, refused.degraded) == (False, False)
        assert "there is no task OPEN-404" in refused.message
        assert list((owner.folder / ".inbox").rglob("*.json")) == []


async def test_guest_does_not_wait_for_ever(tmp_path: Path) -> None:
    """An owner that does not answer: what was handed in is safe, and the reply says where it is."""
    async with remembering(tmp_path) as owner, remembering(tmp_path) as guest:
        written = await passing(guest.ask(say("patience")), guest.clock, step=1.0)
        assert (written.success, written.durability, written.key) == (True, "synced", "")
        assert "has not answered yet" in written.message
        assert len(list((owner.folder / ".inbox/new").iterdir())) == 1
        while await history(owner) == []:
            owner.clock.advance(1)
            await anyio.wait_all_tasks_blocked()
        assert await history(owner) == ["patience"]


async def test_guest_takes_the_place_of_an_owner_that_is_gone(tmp_path: Path) -> None:
    """At its next write; nothing of the owner's is lost."""
    async with remembering(tmp_path) as guest_later:
        await guest_later.ask(say("one"))
        async with remembering(tmp_path) as guest:
            await guest_later.memory.stop()
            written = await guest.ask(say("two"))
            assert written.key.startswith("conversations/")
            assert guest.memory.status().owner is None
            assert await history(guest) == ["one", "two"]


async def test_handed_in_while_nobody_owns_is_applied_once(tmp_path: Path) -> None:
    """By the next owner; and not again by the one after it, also when its reply was never left."""
    inbox = Inbox(tmp_path / "memory", LocalFiles())
    event = {"type": "memory:write", "data": say("waiting").model_dump(mode="json", by_alias=True)}
    inbox.hand_in("0001", event)
    for _ in range(2):
        async with remembering(tmp_path) as it:
            while inbox.waiting():
                it.clock.advance(0.02)
                await anyio.wait_all_tasks_blocked()
            assert await history(it) == ["waiting"]
        assert inbox.reply("0001")["success"] is True
        inbox.hand_in("0001", event)


async def test_what_is_not_understood_is_left_for_a_person(tmp_path: Path) -> None:
    """Garbage in the inbox stops nobody, and stays where it is."""
    inbox = Inbox(tmp_path / "memory", LocalFiles())
    inbox.make_folders()
    (tmp_path / "memory/.inbox/new/0001.json").write_text("{torn")
    inbox.hand_in("0002", {"type": "memory:read", "data": {}})
    inbox.hand_in("0003", {"type": "memory:write", "data": {"type": "conversation"}})
    inbox.hand_in("0004", {"type": "memory:write", "data": say("good").model_dump(mode="json", by_alias=True)})
    async with remembering(tmp_path) as it:
        while await history(it) == []:
            it.clock.advance(0.02)
            await anyio.wait_all_tasks_blocked()
        assert await history(it) == ["good"]
    assert inbox.waiting() == ["0001", "0002", "0003"]


@pytest.mark.parametrize(
    "event",
    [
        say("x"),
        UpdateFact(section="S", key="k", value="v", session_id="s9"),
        TaskStateChange(task_id="OPEN-001", new_state="completed", session_kind="sub"),
    ],
    ids=lambda event: event.event_type,
)
def test_every_event_that_writes_gets_a_key(event: Any) -> None:
    """So that trying it again changes nothing; its session and its kind stay its own."""
    write = with_key({"type": event.event_type, "data": event.model_dump(mode="json", by_alias=True)}, "n1")
    assert write.idempotency_key == "inbox:n1"
    assert write.session_id == (event.session_id or "inbox")
    assert write.session_kind == event.session_kind


WRITER = """
import asyncio, json, sys
from bus import Gateway
from contracts import MemoryWrite, UpdateFact
from openclaw_memory import Memory, MemoryConfig

async def main(root, name, count, facts):
    async with Gateway(drain_timeout=None) as gateway:
        await gateway.register(Memory(MemoryConfig(root=root, timezone="UTC")))
        async def one(number):
            content = {"role": "user", "content": f"{name} {number}"}
            session = f"{name}{number % 10}"
            write = MemoryWrite(type="conversation", content=content, session_id=session)
            if facts and number % 10 == 0:
                key = f"fact {name} {number}"
                fact = UpdateFact(section="S", key=key, value="known", topic="by-hand", session_id=session)
                assert (await gateway.bus.request(fact, timeout=None)).success
            return (await gateway.bus.request(write, timeout=None)).success
        print(json.dumps(sum(await asyncio.gather(*(one(number) for number in range(count))))))

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), len(sys.argv) > 4))
"""


def test_two_processes_write_a_thousand_messages_each(tmp_path: Path) -> None:
    """2,000 are there, each once, whoever came first (fault 9)."""
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    processes = [
        subprocess.Popen([*command, name, "1000"], cwd=ROOT, stdout=subprocess.PIPE, text=True) for name in ("a", "b")
    ]
    counts = [json.loads(process.communicate()[0]) for process in processes]
    assert counts == [1000, 1000]
    assert anyio.run(all_messages, tmp_path) == sorted(f"{name} {number}" for name in "ab" for number in range(1000))


@pytest.mark.parametrize("counts", [(40, 80, 120)])
def test_processes_come_and_go_while_a_person_edits(tmp_path: Path, counts: tuple[int, ...]) -> None:
    """Three processes write, the owner leaves first, and a person saves by rename and in place all the while."""
    _write_beside_a_person(tmp_path, counts)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_processes_come_and_go_while_a_person_edits_for_long(tmp_path: Path) -> None:
    """The same with more messages, twice."""
    for number in range(2):
        _write_beside_a_person(tmp_path / str(number), (100, 200, 300))


def _write_beside_a_person(folder: Path, counts: tuple[int, ...]) -> None:
    path = folder / "memory/facts/by-hand.md"
    path.parent.mkdir(parents=True)
    path.write_text("# By hand\n\n")
    names = "abcd"[: len(counts)]
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", WRITER, str(folder), name, str(count), "facts"],
                    cwd=ROOT,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for name, count in zip(names, counts, strict=True)
        ]
        saves = 0
        while any(process.poll() is None for process in processes):
            text = path.read_text()
            if text:
                saves += 1
                text += f"- hand {saves}: saved\n"
                if saves % 2:
                    other = path.with_name("draft.txt")
                    other.write_text(text)
                    other.replace(path)
                else:
                    path.write_text(text)
            # Longer than the second for which a file that was saved in place is left alone, now and then.
            time.sleep(1.2 if saves % 4 == 0 else 0.02)
        assert [json.loads(process.communicate()[0]) for process in processes] == list(counts)
    print(f"{sum(counts)} messages, {saves} saves")
    assert saves > 4
    expected = sorted(f"{name} {number}" for name, count in zip(names, counts, strict=True) for number in range(count))
    assert anyio.run(all_messages, folder, names) == expected
    text = path.read_text()
    facts = [
        f"- fact {name} {number}: known\n"
        for name, count in zip(names, counts, strict=True)
        for number in range(0, count, 10)
    ]
    assert [line for line in facts if text.count(line) != 1] == []
    assert [number for number in range(1, saves + 1) if text.count(f"- hand {number}: saved\n") != 1] == []


async def all_messages(root: Path, names: str = "ab") -> list[str]:
    async with remembering(root, history_messages=1000) as it:
        clock = it.clock
        inbox = Inbox(it.folder, LocalFiles())
        while inbox.waiting():
            clock.advance(1)
            await anyio.wait_all_tasks_blocked()
        found = []
        for name in names:
            for number in range(10):
                found += await history(it, f"{name}{number}")
    return sorted(found)


async def test_edit_is_taken_up_before_anybody_reads(tmp_path: Path) -> None:
    """A person saves a file, and without a read what readers would see changes (real watching, real time)."""
    async with remembering(tmp_path, watch=True) as it:
        await it.ask(UpdateFact(section="S", key="k", value="v"))
        await it.flushed()
        owner = it.memory._owner
        assert owner is not None
        path = it.folder / "facts/user-profile.md"
        seen = anyio.Event()
        changed = owner._catalog.changed

        def tell(name: str, before: Any, after: Any) -> None:
            changed(name, before, after)
            if "by hand" in getattr(after, "body", ""):
                seen.set()

        owner._store._shelf._changed = tell
        with anyio.fail_after(20):
            while not seen.is_set():
                # Watching begins some time after the start; saving again does no harm.
                path.write_text(path.read_text().replace("k: v", "k: by hand"))
                path.touch()
                with anyio.move_on_after(0.2):
                    await seen.wait()


async def test_take_over_keeps_the_order_of_what_was_handed_in(tmp_path: Path) -> None:
    """What a guest handed in to an owner that died comes before what it writes as the owner; several lanes at once."""
    async with remembering(tmp_path) as owner, remembering(tmp_path) as guest:
        await passing(guest.ask(say("first")), guest.clock, step=1.0)
        await passing(guest.ask(UpdateFact(section="S", key="k", value="old", session_id="s1")), guest.clock, step=1.0)
        # The owner dies: its lock is free, and nobody has looked into the inbox.
        assert owner.memory._owner is not None
        owner.memory._owner._store._lock.release()
        owner.memory._owner._store._lock.keep = lambda: None  # type: ignore[method-assign]
        async with anyio.create_task_group() as group:
            for session in ("s1", "s2", "s3"):
                group.start_soon(guest.ask, say("second", session))
        await guest.ask(UpdateFact(section="S", key="k", value="new", session_id="s1"))
        assert await history(guest) == ["first", "second"]
        assert await history(guest, "s2") == ["second"]
        assert (await guest.ask(MemoryRead(query="", session_id="x", max_tokens=100))).facts == ("S/k: new",)


async def test_handed_in_message_belongs_to_the_day_it_was_said(tmp_path: Path) -> None:
    """Not to the day on which somebody applies it."""
    async with remembering(tmp_path) as owner, remembering(tmp_path) as guest:
        await passing(guest.ask(say("yesterday")), guest.clock, step=1.0)
        owner.clock.advance(86_400)
        while not await history(owner):
            owner.clock.advance(1)
            await anyio.wait_all_tasks_blocked()
        await owner.flushed()
        assert (owner.folder / "conversations/2026-05-04.md").exists()
        assert not (owner.folder / "conversations/2026-05-05.md").exists()


async def test_nobody_overtakes_what_a_take_over_applies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write of another session that comes in the middle of the take-over waits for what was handed in before it."""
    async with remembering(tmp_path) as owner, remembering(tmp_path) as guest:
        await passing(guest.ask(say("handed in", "s2")), guest.clock, step=1.0)
        assert owner.memory._owner is not None
        owner.memory._owner._store._lock.release()
        owner.memory._owner._store._lock.keep = lambda: None  # type: ignore[method-assign]
        serve, begun, go_on = Owner.serve_what_waits, anyio.Event(), anyio.Event()

        async def held(self: Owner) -> None:
            begun.set()
            await go_on.wait()
            await serve(self)

        monkeypatch.setattr(Owner, "serve_what_waits", held)
        async with anyio.create_task_group() as group:
            group.start_soon(guest.ask, say("takes over", "s1"))
            await begun.wait()
            group.start_soon(guest.ask, say("comes in between", "s2"))
            await anyio.wait_all_tasks_blocked()
            go_on.set()
        assert await history(guest, "s2") == ["handed in", "comes in between"]


async def test_event_handed_in_again_is_the_same_event(tmp_path: Path) -> None:
    """A client that heard nothing tries again with its idempotency key, later and perhaps by another process: once."""
    async with remembering(tmp_path) as owner, remembering(tmp_path) as guest:
        write = say("once").model_copy(update={"idempotency_key": "k1"})
        first = await passing(guest.ask(write), owner.clock, guest.clock)
        guest.clock.advance(5)
        again = await passing(guest.ask(write), owner.clock, guest.clock)
        direct = await owner.ask(write)
        assert (first.success, again.success, direct.success) == (True, True, True), again.message
        assert first.key == again.key == direct.key
        assert await history(owner) == ["once"]
