"""Two to four processes and two people on one folder, in rounds: all act at once, come to rest, and are checked.

One round is one interleaving: everybody's steps on the disk, in the order that the seed decides.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import re
from collections.abc import Callable
from typing import Any

from bus import Gateway
from contracts import MemoryRead, MemoryWrite, UpdateFact
from openclaw_memory import ManualClock, Memory, MemoryConfig
from openclaw_memory.context.tokens import EstimateCounter
from openclaw_memory.events import Change
from openclaw_memory.layers.rooms import FOLDERS
from openclaw_memory.storage.flusher import REST_SECONDS
from openclaw_memory.storage.inbox import FOLDER as INBOX
from tests.reliability.harness import DAY, DISK, PROFILE, ROOT, batch, documents, fact, say, set_aside
from tests.reliability.people import HAND, MARK, Editor, Truth, facts_changed, message_changed
from tests.reliability.shared import Locks, SharedDisk
from tests.reliability.turns import Person, Stopping, Turns
from tests.support import START

MOST_PROCESSES = 4
TICK_SECONDS = 0.05
"""How much time passes for a process each time it has nothing to do."""
MOST_RESTS = 30
MOST_TURNS = 100_000

# An index on a disk would be on the real one.
CONFIG = MemoryConfig(
    index={"type": "memory"},
    root=ROOT.parent,
    timezone="Asia/Shanghai",
    language="en",
    watch=False,
    history_messages=1000,
    conversations={"max_messages_per_file": 8},
    buffer={"flush_interval_seconds": 0.08, "max_entries_per_file": 5, "journal_limit_bytes": 2048},
)

_OWN = re.compile(r"^- (own-\w+): (mark-\d+-end)", re.MULTILINE)


class Broken(AssertionError):  # noqa: N818 - an assertion, in words of its own
    """Raised when a promise is broken; the text says which."""


class Process:
    """A process with a memory on the shared folder: owner or guest, as it comes."""

    def __init__(self, world: World, name: str) -> None:
        self.name = name
        self.orders: list[Callable[[], Any]] = []
        self.at_work = 0
        self.leaving = False
        self.resting = False
        self.clock = ManualClock(world.now)
        self._world = world
        self.memory = Memory(
            CONFIG, clock=self.clock, files=world.disk, counter=EstimateCounter(), new_id=lambda _: world.new_id()
        )
        self.gateway: Gateway
        self.party = Stopping(name, lambda: asyncio.run(self._live()))

    @property
    def busy(self) -> bool:
        return bool(self.orders or self.at_work or self.leaving)

    @property
    def owns(self) -> bool:
        return self.memory._owner is not None and self._world.locks.owner is self.party

    async def _live(self) -> None:
        asyncio.get_running_loop().set_exception_handler(self._world.heard)
        async with Gateway(drain_timeout=None) as self.gateway:
            await self.gateway.register(self.memory)
            work: set[asyncio.Task[None]] = set()
            while not self.leaving:
                while self.orders:
                    work.add(asyncio.create_task(self._do(self.orders.pop(0))))
                if self.resting:
                    await self._rest()
                    self.resting = False
                await self._pass(TICK_SECONDS, 4)
                work = {task for task in work if not task.done()}
                self.party.stop()

    async def _rest(self) -> None:
        """Let so much time pass that everything is written down, late edits are found, and what came is served."""
        await self.look()
        await self._pass(REST_SECONDS + 1, 60)
        await self.memory.flush()
        await self._pass(1.0, 20)

    async def _pass(self, seconds: float, turns: int) -> None:
        self.clock.advance(seconds)
        for _ in range(turns):
            await asyncio.sleep(0)

    async def _do(self, order: Callable[[], Any]) -> None:
        self.at_work += 1
        try:
            await order()
        except BaseException as error:  # noqa: BLE001 - raised again by the world
            self._world.failed = self._world.failed or error
        finally:
            self.at_work -= 1

    async def write(self, change: Change, mark: str) -> None:
        """Write something, and take note of what the reply promises."""
        truth = self._world.truth
        truth.told.setdefault(mark, False)
        self._world.note(f"{self.name} writes {mark}")
        written = await self.gateway.bus.request(change, timeout=None)
        self._world.note(f"{self.name} has written {mark}: {written.message}")
        if not written.success:
            raise Broken(f"{self.name} was refused: {written.message}")
        truth.told[mark] = True
        if isinstance(change, UpdateFact) and change.key.startswith("own-"):
            self._world.current[change.key] = mark

    async def look(self) -> None:
        """Look at all files, as the watcher has it done when one changes."""
        if self.memory._owner is not None:
            await self.memory._owner._store.look(FOLDERS)

    async def read(self) -> None:
        """What was acknowledged to this process before is in what it reads."""
        begun = sum(editor.begun for editor in self._world.editors)
        mine = self._world.said.get(self.name, [])
        before = [mark for mark in mine if self._world.truth.told.get(mark)]
        context = await self.gateway.bus.request(
            MemoryRead(query="", session_id=self.name, max_tokens=1_000_000), timeout=None
        )
        seen = MARK.findall("\n".join(message.content for message in context.history))
        # While a file is half saved, half of it is all that anybody can see.
        undisturbed = begun == sum(editor.begun for editor in self._world.editors) == self._world.begun_before
        if undisturbed and (lacking := set(before) - set(seen) - self._world.waiting()):
            raise Broken(f"{self.name} does not see what it wrote: {sorted(lacking)}; notice {context.notice}")
        if twice := {mark for mark in seen if seen.count(mark) > 1}:
            raise Broken(f"{self.name} sees twice: {sorted(twice)}")


class World:
    """Everything that a run consists of. `seed` decides the run."""

    def __init__(self, seed: int) -> None:
        chance = self.chance = random.Random(f"interleavings {seed}")
        self.turns = Turns(chance)
        self.disk = SharedDisk(DISK, ROOT, self.turns)
        self.locks = Locks(self.turns, lambda: not any(editor.saving_old for editor in self.editors), self._owner_came)
        self.truth = Truth()
        self.said: dict[str, list[str]] = {}
        """Marks of messages, by session."""
        self.current: dict[str, str] = {}
        """The value that each process gave to its own key last."""
        self.processes: list[Process] = []
        self.history: list[str] = []
        """What happened, for a person to follow."""
        self.now = START
        self.begun_before = 0
        """Saves of people that had begun when all were at rest last."""
        self._generation = 0
        self._ids, self._names, self._marks = itertools.count(1), itertools.count(1), itertools.count(1)
        self._heard: list[str] = []
        self.failed: BaseException | None = None
        self.editors = [
            Editor(
                self.disk, ROOT / path, change, self.truth, chance, self._is_owned, lambda: self._generation, self.note
            )
            for path, change in ((PROFILE, facts_changed), (DAY, message_changed))
        ]

    def new_id(self) -> str:
        return f"{next(self._ids):06}"

    def heard(self, loop: object, context: dict[str, Any]) -> None:
        """Take note of an error that no task of ours has raised."""
        self._heard.append(f"{context.get('message')}: {context.get('exception')!r}")

    def note(self, what: str) -> None:
        """Write down what happened, with the turn."""
        self.history.append(f"{self.turns.taken}: {what}")

    def _owner_came(self) -> None:
        self.note(f"{self.turns.running.name} owns" if self.turns.running else "")
        self._generation += 1
        for editor in self.editors:
            editor.owner_came()

    def _is_owned(self) -> bool:
        owner = self._owner()
        return owner is not None and not owner.leaving

    def _owner(self) -> Process | None:
        return next((process for process in self.processes if process.owns), None)

    # -- a round -------------------------------------------------------------------------------------------------

    def round(self) -> None:
        """Let everybody act, in any order; then let all come to rest, and check."""
        chance = self.chance
        self.turns.haste = chance.choice([0.2, 0.6, 0.9, 0.97])
        while len(self.processes) < 2 or (len(self.processes) < MOST_PROCESSES and chance.random() < 0.15):
            self._begin()
        for process in chance.sample(self.processes, chance.randint(2, len(self.processes))):
            for _ in range(chance.choice([1, 1, 2])):
                self._order(process)
        people = [Person(f"editor {number}", editor.save()) for number, editor in enumerate(self.editors)]
        people = [person for person in people if chance.random() < 0.7]
        going = chance.choice(self.processes) if chance.random() < 0.15 else None
        goes_at, killed = chance.randrange(40), chance.random() < 0.4
        for turn in range(MOST_TURNS):
            if going is not None and turn >= goes_at and (killed or not going.busy) and self._may_end(going):
                self._end(going, killed)
                going = None
            if self.failed is not None:
                raise self.failed
            self._collect()
            people = [person for person in people if not person.ended]
            acting = [process for process in self.processes if process.busy or not hasattr(process, "gateway")]
            if not acting and not people:
                break
            # Others wait for the owner, and looking whether it is done is dear.
            acting += [owner] * 3 if (owner := self._owner()) is not None else []
            self.turns.give(chance.choice([*(process.party for process in acting), *people, *people]))
        else:
            raise Broken("a round does not end")
        self.note("coming to rest")
        self._come_to_rest()
        self._say_something(self._owner() or self.processes[0])
        self._come_to_rest()
        self.note("at rest")
        self.check()
        self.begun_before = sum(editor.begun for editor in self.editors)
        reader = chance.choice(self.processes)
        reader.orders.append(reader.read)
        self._let(reader)

    def _begin(self) -> Process:
        process = Process(self, f"p{next(self._names)}")
        self.processes.append(process)
        self.note(f"{process.name} begins")
        return process

    def _end(self, process: Process, killed: bool) -> None:
        self.note(f"{process.name}{', the owner,' if process.owns else ''} {'is killed' if killed else 'leaves'}")
        if killed:
            self.processes.remove(process)
            self.locks.killed(process.party)
            self.now = max(self.now, process.clock.now())
        else:
            process.leaving = True

    def _may_end(self, process: Process) -> bool:
        """Tell whether the owner has seen what people saved from old views; of others the next one knows nothing."""
        owner = process.memory._owner
        if not process.owns or owner is None:
            return True
        entries = owner._store._shelf.entries
        return all(editor.is_seen(entries) for editor in self.editors)

    def _collect(self) -> None:
        for process in [process for process in self.processes if process.party.ended]:
            self.processes.remove(process)
            self.now = max(self.now, process.clock.now())

    def _order(self, process: Process, what: str | None = None) -> None:
        """Have a process write one thing, or read."""
        mark = f"mark-{next(self._marks)}-end"
        mine = self.said.setdefault(process.name, [])
        match what or self.chance.choice(["say", "say", "known", "own", "both", "read", "again", "look"]):
            case "say":
                mine.append(mark)
                change: Change = self._say(process, mark)
            case "known":
                change = fact(mark, "known", topic="user-profile")
            case "own":
                # One session, so that the order of the values is theirs.
                change = fact(f"own-{process.name}", mark, topic="user-profile", session_id=process.name)
            case "both":
                said = {"type": "conversation", "content": {"role": "user", "content": mark}}
                known = {"section": "S", "key": f"with-{mark}", "value": "known", "topic": "user-profile"}
                change = batch(("memory:write", said), ("memory:update_fact", known))
            case "look":
                process.orders.append(process.look)
                return
            case "read":
                process.orders.append(process.read)
                return
            case _:
                # The same event from two processes, as after a time-out: once.
                said = {"role": "user", "content": mark, "timestamp": self.now.isoformat()}
                data = {"type": "conversation", "content": said, "sessionId": "both"}
                key = f"key of {mark.removesuffix('-end')}"
                change = MemoryWrite.model_validate_json(json.dumps({**data, "idempotencyKey": key}))
                other = self.chance.choice(self.processes)
                other.orders.append(lambda: other.write(change, mark))
        process.orders.append(lambda: process.write(change, mark))

    def _say(self, process: Process, mark: str) -> MemoryWrite:
        return say(mark).model_copy(update={"session_id": process.name})

    # -- at rest -------------------------------------------------------------------------------------------------

    def _come_to_rest(self) -> None:
        """Let the owner, or whoever becomes it, apply and write down everything."""
        for _ in range(MOST_RESTS):
            owner = self._owner()
            if owner is None:
                self._say_something(self.processes[0] if self.processes else self._begin())
            elif self._rested(owner):
                return
        raise Broken("the folder does not come to rest")

    def _say_something(self, process: Process) -> None:
        """Whoever writes becomes the owner where there is none, and tidies a day that was saved from an old view."""
        self._order(process, "say")
        self._let(process)

    def _let(self, process: Process) -> None:
        """Let a process finish what it does; and one that is just becoming the owner, for which it may be waiting."""
        while process.busy:
            coming = [other for other in self.processes if other.party is self.locks.owner]
            self.turns.give(self.chance.choice([process, *coming]).party)
        if self.failed is not None:
            raise self.failed

    def _rested(self, owner: Process) -> bool:
        owner.resting = True
        self.turns.haste, haste = 1.0, self.turns.haste
        while owner.resting:
            self.turns.give(owner.party)
        self.turns.haste = haste
        return self._is_at_rest(owner)

    def _is_at_rest(self, owner: Process) -> bool:
        assert owner.memory._owner is not None
        entries = owner.memory._owner._store._shelf.entries.values()
        lagging = [entry for entry in entries if entry.to_write or entry.queued]
        return not lagging and not self.waiting() and not self._inbox()

    def _inbox(self) -> list[str]:
        return [path for path in self.disk.state.files() if f"/{INBOX}/new/" in path]

    def waiting(self) -> set[str]:
        """Tell which marks are in the inbox."""
        files = self.disk.state.files()
        return {mark for path in self._inbox() for mark in MARK.findall(files[path].decode())}

    def check(self) -> None:
        """Everything acknowledged is there once, what a person took out is not, what they put in is there."""
        if self._heard:
            raise Broken(f"errors that nobody raised: {self._heard}")
        files = self.disk.state.files()
        texts = {path: data for path, data in documents(files).items() if path.endswith(".md")}
        whole = "\n".join(data.decode() for data in texts.values())
        found = MARK.findall(whole.replace("with-mark", "with-"))
        counts = {mark: found.count(mark) for mark in self.truth.told}
        wrong = {mark: count for mark, count in counts.items() if not self._fits(mark, count)}
        if wrong:
            places = [
                f"\n  {path}: {line}"
                for path, data in texts.items()
                for line in data.decode().split("\n")
                if any(mark in line for mark in wrong)
            ]
            told = sorted(mark for mark in wrong if self.truth.told[mark])
            raise Broken(f"wrong number of: {wrong}; acknowledged: {told}{''.join(places)}")
        aside = "\n".join(data.decode() for data in set_aside(files).values())
        for name, hands in self.truth.live.items():
            for hand in hands:
                if hand not in whole and hand not in aside:
                    raise Broken(f"{hand}, put into {name} by a person, is gone")
        hands_found = HAND.findall(whole)
        if twice := {hand for hand in hands_found if hands_found.count(hand) > 1}:
            raise Broken(f"put in by a person, and there twice: {twice}")
        halves = {mark for mark in self.truth.told if (f"with-{mark}" in whole) != (f"\n{mark}" in whole)}
        if halves := {mark for mark in halves if f"with-{mark}" in whole}:
            raise Broken(f"halves of batches: {halves}")
        current = dict(_OWN.findall(texts[PROFILE].decode())) if PROFILE in texts else {}
        # An update that was planned on a half-saved file, which lacked the line, is put beside it when it is back.
        beside = MARK.findall("\n".join(re.findall(r"^- own-.* \(not applied .*$", whole, re.MULTILINE)))
        if wrong_values := {
            key: (current.get(key), mark)
            for key, mark in self.current.items()
            # What was handed in by a process that was killed is applied, although nobody heard of it.
            if (now := current.get(key)) != mark and self.truth.told.get(now or "", True) and mark not in beside
        }:
            raise Broken(f"not the last value: {wrong_values}\n{texts[PROFILE].decode()}")
        if odd := [path for path in files if ".corrupt-" in path or path.endswith(".tmp")]:
            raise Broken(f"taken for damage, or left over: {odd}")

    def _fits(self, mark: str, count: int) -> bool:
        if mark in self.truth.unsure:
            return count <= 1
        if mark in self.truth.gone:
            return count == 0
        return count == 1 or (count == 0 and not self.truth.told[mark])
