"""What is done to memories as a whole before the power fails: forgetting, compaction, and the jobs of the heartbeat.

Each workload runs on an owner of a root over a simulated disk, and says what must be true after any crash.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from contracts import Forget, MemoryCompact, MemoryWritten, Selector
from openclaw_memory import ManualClock, MemoryConfig
from openclaw_memory import owner as owner_module
from openclaw_memory.context.tokens import EstimateCounter
from openclaw_memory.events import Change
from openclaw_memory.lifecycle.jobs import Outcome
from openclaw_memory.owner import Owner
from openclaw_memory.storage.inbox import Inbox
from tests.lifecycle.models import saved, settings
from tests.reliability.crashes import Crash, crash_states
from tests.reliability.disk import SimulatedDisk, State
from tests.reliability.harness import DAY, DISK, ROOT, Deed, NoLock, PunctualJournal, fact, occurrences, say
from tests.support import START

HeedsSync = Callable[[], bool]
SECRET = "bluewhale"
DAY_SECONDS = 86_400.0
_HOME = ROOT.parent.relative_to(DISK).as_posix() + "/"

# An index on a disk would be on the real one.
USUAL: dict[str, Any] = {
    "root": ROOT.parent,
    "timezone": "Asia/Shanghai",
    "language": "en",
    "watch": False,
    "index": {"type": "memory"},
    "heartbeat": {"enabled": False},
}


@dataclass(slots=True)
class Kept:
    """An owner at work, and what was done."""

    disk: SimulatedDisk
    owner: Owner
    clock: ManualClock
    deeds: dict[str, Deed] = field(default_factory=dict)

    async def write(self, change: Change, pattern: str) -> None:
        """Write something and wait for the acknowledgement; `pattern` stands once in the documents from then on."""
        self.deeds[pattern] = Deed.of(pattern, pattern)
        planned = await self.owner.plan(change)
        await planned.commit.wait()
        assert planned.commit.error is None
        self.disk.tell(pattern)

    async def tick(self) -> dict[str, Outcome]:
        """Run what is due."""
        return dict(await self.owner.heartbeat.tick(self.clock.now()))


@asynccontextmanager
async def keeping(
    disk: SimulatedDisk, more: dict[str, Any], *, first_id: int = 1, close: bool = True
) -> AsyncIterator[Kept]:
    """Own a root on a disk. Without `close` it ends as a process does that is killed."""
    clock, numbers = ManualClock(START), itertools.count(first_id)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner_module, "locks", lambda config: NoLock())
        owner = Owner(
            MemoryConfig(**{**USUAL, **more}),
            clock,
            disk,
            EstimateCounter(),
            lambda _: f"{next(numbers):026}",
            lambda reason: None,
            _nobody_asks,
        )
    await owner.open()
    try:
        yield Kept(disk, owner, clock)
    finally:
        if close:
            await owner.close()
        else:
            journal = owner._store._journal
            assert isinstance(journal, PunctualJournal)
            journal.wait_for_rest()
            journal.close()


async def _nobody_asks(change: Any) -> MemoryWritten:
    raise AssertionError("nothing is handed in while nobody serves it")


@dataclass(frozen=True, slots=True)
class Upkeep:
    """A workload: what is done, and what is to be looked at after a crash.

    `look` gets a memory that was opened after a crash, and whether it had been told that the work was done; it gives
    faults. `deeds` are looked for in the documents by itself.
    """

    work: Callable[[Kept], Awaitable[None]]
    look: Callable[[Kept, bool], Awaitable[list[str]]]
    more: dict[str, Any] = field(default_factory=dict)
    forgets: bool = False

    def __str__(self) -> str:
        return self.work.__name__


DONE = "done"


async def faults_of(upkeep: Upkeep, heeds_sync: HeedsSync = lambda: True) -> tuple[int, list[str]]:
    """Run a workload, open every state that a crash may leave; gives how many there are, and the first faults."""
    disk = SimulatedDisk(DISK, heeds_sync=heeds_sync)
    async with keeping(disk, upkeep.more, close=False) as kept:
        await upkeep.work(kept)
        disk.tell(DONE)
    crashes = crash_states(State(), disk.steps, disk.state)
    for crash in crashes:
        if found := await _faults(upkeep, kept.deeds, crash):
            return len(crashes), [f"crash after step {crash.step} of {len(disk.steps)}: {fault}" for fault in found]
    return len(crashes), []


async def _faults(upkeep: Upkeep, deeds: dict[str, Deed], crash: Crash) -> list[str]:
    told = DONE in crash.told
    found = [f"told, and {path} holds it" for path in _holding(crash.state)] if told and upkeep.forgets else []
    disk = SimulatedDisk(DISK, crash.state)
    try:
        async with keeping(disk, upkeep.more, first_id=100) as kept:
            found += await upkeep.look(kept, told)
            await kept.owner.flush()
            texts = [data.decode() for path, data in disk.state.files().items() if _is_document(path)]
            begun = bool(kept.owner.forgetter.tombstones)
        # Of what a crash tore, nobody can tell that a person did not write it: it is kept, by the document's name.
        secret = [path for path in _holding(disk.state) if SECRET.encode() in disk.state.files()[path]]
    except Exception as error:  # noqa: BLE001 - whatever it is, the start must not fail
        return [f"start failed: {error!r}"]
    for name, deed in deeds.items():
        (count,) = occurrences(deed, texts)
        may_be_gone = name not in crash.told or (upkeep.forgets and SECRET in name and not secret)
        if count != 1 and not (count == 0 and may_be_gone):
            found.append(f"{name!r}, {'told' if name in crash.told else 'not told'}, is there {count} times: {secret}")
    if begun and secret:
        found.append(f"its forgetting has begun and was finished by the start, and it is still in {secret}")
    return found


def _is_document(path: str) -> bool:
    hidden = any(part.startswith(".") for part in path.split("/"))
    return path.endswith(".md") and not hidden


def _holding(state: State) -> list[str]:
    return [path for path, data in state.files().items() if SECRET.encode() in data or SECRET in path]


# -- forgetting ------------------------------------------------------------------------------------------------------


async def nothing_more(kept: Kept, told: bool) -> list[str]:
    """Look at nothing but what was written."""
    return []


async def forgotten(kept: Kept) -> None:
    """A message that is in files, backups and journal, beside one that stays."""
    await kept.write(say(f"{SECRET} rises"), rf"{SECRET} rises\n")
    await kept.owner.flush()
    await kept.write(say("hello-1"), r"hello-1\n")
    await kept.owner.flush()
    await _forget(kept, text=SECRET)


async def forgotten_before_any_flush(kept: Kept) -> None:
    """The journal alone holds it."""
    await kept.write(say("hello-1"), r"hello-1\n")
    await kept.write(say(f"{SECRET} rises"), rf"{SECRET} rises\n")
    await _forget(kept, text=SECRET)


async def copied_forgotten(kept: Kept) -> None:
    """It is in HISTORY.md and in the day's note as well."""
    await forgotten(kept)


async def topic_forgotten(kept: Kept) -> None:
    """A document goes as a whole, and its name tells of what it was."""
    await kept.write(fact("k", "value-1", topic=SECRET), r"- k: value-1\n")
    await kept.write(say("hello-1"), r"hello-1\n")
    await kept.owner.flush()
    await _forget(kept, topic=SECRET)
    del kept.deeds[r"- k: value-1\n"]


async def copies_forgotten(kept: Kept) -> None:
    """Something set aside long ago holds it, and nothing else does."""
    kept.disk.save(ROOT / "conversations/2026-05-03.md.corrupt-20260503T000000", f"{SECRET}\0".encode())
    await kept.write(say("hello-1"), r"hello-1\n")
    await kept.owner.flush()
    await _forget(kept, text=SECRET)


async def damaged_forgotten(kept: Kept) -> None:
    """A damaged file was restored from its backup and the journal; the damaged bytes are set aside."""
    await kept.write(say("hello-1"), r"hello-1\n")
    await kept.owner.flush()
    await kept.write(say(f"{SECRET} rises"), rf"{SECRET} rises\n")
    await kept.owner.flush()
    damaged = kept.disk.read_now(ROOT / DAY).replace(b"hello-1", b"hel\0\0-1")
    kept.disk.save(ROOT / DAY, damaged, in_place=True)
    await kept.owner.reader.look(everywhere=True)
    await kept.owner.flush()
    await _forget(kept, text=SECRET)


async def handed_in_forgotten(kept: Kept) -> None:
    """Another process has handed it in, and taken the reply."""
    inbox = Inbox(ROOT, kept.disk)
    write = say(f"{SECRET} rises")
    event = {"type": write.event_type, "data": write.model_dump(mode="json", by_alias=True)}
    kept.deeds[rf"{SECRET} rises\n"] = Deed.of("x", rf"{SECRET} rises\n")
    inbox.hand_in("1", event)
    await kept.owner.serve_what_waits()
    kept.disk.tell(rf"{SECRET} rises\n")
    assert inbox.reply("1") is not None
    await _forget(kept, text=SECRET)


async def _serve(kept: Kept, told: bool) -> list[str]:
    """Serve what a crash may have left in the inbox, as is done once memory works."""
    await kept.owner.serve_what_waits()
    Inbox(ROOT, kept.disk).reply("1")
    return []


async def _forget(kept: Kept, **selector: Any) -> None:
    reply = await kept.owner.forget(Forget(selector=Selector(**selector)))
    assert reply.total, reply
    assert reply.verified, reply


# -- copies of messages ----------------------------------------------------------------------------------------------

COPIES: dict[str, Any] = {"history_file": True, "daily_log_messages": True}
WORKSPACE = "workspace/main/memory"


async def copied(kept: Kept) -> None:
    """Messages go into HISTORY.md and the day's note as well; a person writes into the note meanwhile."""
    await kept.write(say("turn-1"), r"\nturn-1\n")
    await kept.owner.flush()
    note = ROOT.parent / WORKSPACE / "2026-05-04.md"
    kept.disk.save(note, kept.disk.read_now(note) + b"by hand\n")
    await kept.write(say("turn-2"), r"\nturn-2\n")
    await kept.owner.flush()
    await kept.write(say("turn-3"), r"\nturn-3\n")


async def in_all_places(kept: Kept, told: bool) -> list[str]:
    """Each message is in all three places, once, or in none."""
    await kept.owner.flush()
    files = kept.disk.state.files()
    places = (f"memory/{DAY}", f"{WORKSPACE}/HISTORY.md", f"{WORKSPACE}/2026-05-04.md")
    texts = [files.get(f"{_HOME}{place}", b"") for place in places]
    counts = [[text.count(b"turn-%d" % number) for text in texts] for number in (1, 2, 3)]
    by_hand = texts[2].count(b"by hand")
    whole = all(count in ([0, 0, 0], [1, 1, 1]) for count in counts)
    return [] if whole and by_hand in ((1,) if told else (0, 1)) else [f"told: {told}, {counts}, by hand {by_hand}"]


# -- compaction ------------------------------------------------------------------------------------------------------

TALK = 6
LONG = "let us look at how the old interface is called, and then decide whether the cache stays as it is, " * 3


async def compacted(kept: Kept) -> None:
    """The oldest messages of a session are summed up, and stay where they are."""
    for number in range(TALK):
        await kept.write(say(f"turn-{number} {LONG}"), rf"\nturn-{number} ")
    reply = await kept.owner.compactor.compact(MemoryCompact(session_id="s1"))
    assert reply.dropped, reply


async def summed_up(kept: Kept, told: bool) -> list[str]:
    """Summary and the place where history begins are there together; asked again, it is done."""
    await kept.owner.flush()
    files = kept.disk.state.files()
    count = files.get(f"{_HOME}memory/{DAY}", b"").count(b"origin: system") + files.get(
        f"{_HOME}memory/{DAY}", b""
    ).count(b"[History summary]")
    marks = sum(data.count(b'"summary"') for path, data in files.items() if path.endswith(".state/compactions.json"))
    return [f"told: {told}, {count} summaries, {marks} marks"] if bool(count) != bool(marks) or told > marks else []


# -- the heartbeat ---------------------------------------------------------------------------------------------------

SUMMARY = "summaries/daily/2026-05-04.md"


async def summarised(kept: Kept) -> None:
    """A day has ended, and is summed up."""
    for number in range(3):
        await kept.write(
            say(f"We moved part-{number} of the shop from Redux to Zustand."), rf"\nWe moved part-{number} "
        )
    kept.clock.advance(DAY_SECONDS)
    assert (await kept.tick())["summaries"].outcome == "done"


async def day_summed_up(kept: Kept, told: bool) -> list[str]:
    """The summary is there when it was told; the next tick makes what is missing, and nothing twice."""
    kept.clock.advance(DAY_SECONDS)
    await kept.owner.flush()
    path = f"{_HOME}memory/{SUMMARY}"
    before = kept.disk.state.files().get(path)
    has_messages = b"We moved" in kept.disk.state.files().get(f"{_HOME}memory/{DAY}", b"")
    await kept.tick()
    await kept.owner.flush()
    after = kept.disk.state.files().get(path)
    if told and before is None:
        return ["told, and it is lost"]
    if before is not None and told and after != before:
        return [f"made again: {before!r} {after!r}"]
    return [f"not made: {sorted(kept.disk.state.files())}"] if has_messages and after is None else []


WINDOW = 20
ENTRY = "[2026-05-04 14:30] The back end is written in Go now."
CURATED = "# Long-term memory\n\n- writes Go\n"


async def consolidated(kept: Kept) -> None:
    """Half of a window of messages becomes an entry of HISTORY.md and a line of MEMORY.md."""
    for number in range(WINDOW):
        await kept.write(say(f"turn-{number} about Go"), rf"\nturn-{number} ")
    assert (await kept.tick())["consolidation"].outcome == "done"


async def entry_and_pointer(kept: Kept, told: bool) -> list[str]:
    """Entry, MEMORY.md and pointer are there together, and once."""
    await kept.owner.flush()
    files = kept.disk.state.files()
    held = {path.removeprefix(_HOME): data for path, data in files.items() if _is_document(path) or ".state" in path}
    counts = [
        sum(data.count(ENTRY.encode()) for path, data in held.items() if path.endswith("memory/HISTORY.md")),
        sum(data.count(b"- writes Go") for path, data in held.items() if path.endswith("/MEMORY.md")),
        sum(data.count(b'"last"') for path, data in held.items() if path.endswith(".state/consolidated.json")),
    ]
    return [] if counts in ([[1, 1, 1]] if told else [[0, 0, 0], [1, 1, 1]]) else [f"told: {told}, {counts}"]


_OFF = {"enabled": False}
HANDED_IN = Upkeep(handed_in_forgotten, _serve, forgets=True)
UPKEEP = (
    Upkeep(forgotten, nothing_more, forgets=True),
    Upkeep(forgotten_before_any_flush, nothing_more, forgets=True),
    Upkeep(topic_forgotten, nothing_more, forgets=True),
    Upkeep(copies_forgotten, nothing_more, forgets=True),
    Upkeep(damaged_forgotten, nothing_more, forgets=True),
    HANDED_IN,
    Upkeep(copied, in_all_places, COPIES),
    Upkeep(copied_forgotten, nothing_more, COPIES, forgets=True),
    Upkeep(compacted, summed_up),
    Upkeep(summarised, day_summed_up),
    Upkeep(
        consolidated, entry_and_pointer, {"window_size": WINDOW, "summaries": _OFF, **settings([saved(ENTRY, CURATED)])}
    ),
)
