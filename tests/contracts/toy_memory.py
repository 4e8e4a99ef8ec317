"""An honest Memory of a few lines, and wrong ones that each depart from the contract in one way."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bus import Event, EventBus
from contracts import (
    BatchContent,
    Citation,
    HistoryMessage,
    MemoryContext,
    MemoryRead,
    MemoryResults,
    MemorySearch,
    MemoryWrite,
    MemoryWritten,
    MessageContent,
    MessagesContent,
    SearchResult,
    Task,
    TaskContent,
    TaskStateChange,
    TokenReport,
    UpdateFact,
    prompt_text,
)
from contracts.content import FactContent

NOW = datetime(2026, 5, 4, tzinfo=UTC)


class RefusedError(Exception):
    """Raised when a write is refused."""


@dataclass
class State:
    """All that the toy remembers."""

    messages: list[tuple[str, HistoryMessage]] = field(default_factory=list)
    facts: dict[tuple[str, str], str] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)
    answers: dict[str, MemoryWritten] = field(default_factory=dict)
    replaced: int = 0


class HonestMemory:
    """Keeps everything in one pickle and conforms. The wrong ones override one method each."""

    name = "toy"

    def __init__(self, root: Path) -> None:
        self.path = root / "memory.pickle"
        self.state = pickle.loads(self.path.read_bytes()) if self.path.exists() else State()

    async def start(self, bus: EventBus) -> None:
        """Listen."""
        self.bus = bus
        types = [MemoryRead, MemoryWrite, UpdateFact, TaskStateChange, MemorySearch]
        bus.subscribe(types, self.handle, name=self.name, answers=True)

    async def stop(self) -> None:
        """Nothing is held."""

    async def handle(self, event: Event[Any]) -> None:
        """Answer one event."""
        await self.bus.reply(event, self.answer(event.data))

    def answer(self, request: Any) -> Any:
        """Give the reply to a request."""
        if isinstance(request, MemoryRead):
            return self.read(request)
        if isinstance(request, MemorySearch):
            return self.search(request)
        if request.session_kind == "sandbox":
            return self.refuse("a sandbox session writes nothing")
        return self.remember(request)

    def refuse(self, why: str) -> MemoryWritten:
        """Refuse a write."""
        return MemoryWritten(key="", success=False, degraded=False, message=why)

    def remember(self, request: Any) -> MemoryWritten:
        """Do a write, all of it or nothing, and keep it before it is acknowledged."""
        known = getattr(request, "idempotency_key", None)
        if known in self.state.answers:
            return self.state.answers[known]
        before = pickle.dumps(self.state)
        try:
            keys = tuple(self.apply(request))
        except RefusedError as error:
            self.roll_back(before)
            return self.refuse(str(error))
        replaced, self.state.replaced = self.state.replaced, 0
        message = f"{replaced} characters became U+FFFD" if replaced else None
        written = MemoryWritten(
            key=keys[0], keys=keys, success=True, degraded=False, message=message, durability="synced"
        )
        if known is not None:
            self.state.answers[known] = written
        self.keep()
        return written

    def roll_back(self, before: bytes) -> None:
        """Undo what a refused write has done so far."""
        self.state = pickle.loads(before)

    def keep(self) -> None:
        """Write everything down."""
        self.path.write_bytes(pickle.dumps(self.state))

    def apply(self, request: Any) -> Iterable[str]:
        """Change the state and give the addresses of what was written."""
        if isinstance(request, UpdateFact | FactContent):
            yield self.set_fact(request.section, request.key, request.value)
        elif isinstance(request, TaskStateChange):
            yield self.change_task(request)
        elif isinstance(request.content, BatchContent):
            for item in request.content.items:
                yield from self.apply(item.data)
        elif isinstance(request.content, MessageContent | MessagesContent):
            content = request.content
            for message in content.messages if isinstance(content, MessagesContent) else (content,):
                yield self.add_message(request.session_id, message)
        elif isinstance(request.content, FactContent):
            yield from self.apply(request.content)
        elif isinstance(request.content, TaskContent):
            yield self.put_task(request.content)
        else:
            raise RefusedError(f"{request.type} is not offered by this toy")

    def add_message(self, session_id: str, message: MessageContent) -> str:
        """Keep a message."""
        text = "".join("\ufffd" if char == "\0" or "\ud800" <= char <= "\udfff" else char for char in message.content)
        self.state.replaced += sum(a != b for a, b in zip(text, message.content, strict=True))
        key = f"messages#{len(self.state.messages)}"
        kept = HistoryMessage(role=message.role, content=text, timestamp=message.timestamp or NOW, key=key)
        self.state.messages.append((session_id, kept))
        return key

    def set_fact(self, section: str, key: str, value: str) -> str:
        """Keep a fact."""
        self.state.facts[section, key] = value
        return f"facts#{section}/{key}"

    def put_task(self, content: TaskContent) -> str:
        """Keep a task, or change one."""
        number = f"OPEN-{len(self.state.tasks) + 1:03}"
        task_id = content.task_id or number
        old = self.state.tasks.get(task_id)
        if content.task_id and old is None:
            raise RefusedError(f"there is no task {task_id}")
        given = content.model_dump(exclude_none=True, exclude={"task_id"})
        start = {"id": task_id, "state": "pending", "priority": "medium", "created": NOW}
        self.state.tasks[task_id] = Task.model_validate((old.model_dump() if old else start) | given)
        return f"tasks#{task_id}"

    def change_task(self, change: TaskStateChange) -> str:
        """Change the state of a task."""
        task = self.state.tasks.get(change.task_id)
        if task is None:
            raise RefusedError(f"there is no task {change.task_id}")
        if task.state == "completed" and change.new_state not in ("completed", "in_progress"):
            raise RefusedError(f"{task.id} is completed; it goes back to in_progress only")
        self.state.tasks[task.id] = task.model_copy(update={"state": change.new_state})
        return f"tasks#{task.id}"

    def read(self, request: MemoryRead) -> MemoryContext:
        """Give everything that matters and fits: history last dropped."""
        group = request.session_kind == "group"
        said = [each for each in self.state.messages if request.as_of is None or each[1].timestamp <= request.as_of]
        history = [kept for session_id, kept in said if session_id == request.session_id]
        words = [word for word in request.query.split() if len(word) > 2]
        found = [] if group else [kept for _, kept in said if any(word in kept.content for word in words)]
        written = [f"{section}/{key}: {value}" for (section, key), value in self.state.facts.items()]
        nothing_else = group or (request.as_of is not None and request.as_of < NOW)
        context = MemoryContext(
            facts=() if nothing_else else tuple(written),
            tasks=() if nothing_else else tuple(self.state.tasks.values()),
            summaries=(),
            degraded=False,
            recalled=tuple(kept.content for kept in found),
            history=tuple(history),
            citations=tuple(self.cite(kept) for kept in found),
        )
        return self.fit(context, request.max_tokens)

    def cite(self, kept: HistoryMessage) -> Citation:
        """Tell where a message is kept."""
        return Citation(
            path="m", start_line=1, end_line=1, layer="conversation", key=kept.key, time=kept.timestamp, score=1.0
        )

    def fit(self, context: MemoryContext, most: int) -> MemoryContext:
        """Leave out pieces until the budget is kept, counting two bytes as a token."""
        left_out = False
        while len(prompt_text(context).encode()) > 2 * most:
            left_out = True
            part = next(name for name in ("recalled", "history", "facts", "tasks") if getattr(context, name))
            context = context.model_copy(update={part: getattr(context, part)[1:]})
        cited = context.citations[len(context.citations) - len(context.recalled) :]
        context = context.model_copy(update={"citations": cited})
        tokens = TokenReport(max=most, used=len(prompt_text(context).encode()) // 2, encoding="estimate")
        return context.model_copy(update={"tokens": tokens, "truncated": left_out})

    def search(self, request: MemorySearch) -> MemoryResults:
        """Find messages by any two characters of the query in a row."""
        query = request.query
        pairs = {query[place : place + 2] for place in range(len(query) - 1)}
        hits = (
            []
            if request.session_kind == "group"
            else [(sum(p in m.content for p in pairs), m) for _, m in self.state.messages]
        )
        best = sorted((hit for hit in hits if hit[0]), key=lambda hit: -hit[0])[: request.max_results]
        results = [
            SearchResult(
                path="m",
                start_line=1,
                end_line=1,
                score=float(score),
                snippet=kept.content,
                layer="conversation",
                time=None,
            )
            for score, kept in best
        ]
        return MemoryResults(results=tuple(results), degraded=False)


class AnswersByTheWrongEvent(HonestMemory):
    """Answers a read by memory:written."""

    def read(self, request: MemoryRead) -> Any:
        return self.refuse("wrong event")


class IgnoresTheBudget(HonestMemory):
    """Gives everything, whatever maxTokens says, and reports the truth."""

    def fit(self, context: MemoryContext, most: int) -> MemoryContext:
        used = len(prompt_text(context).encode()) // 2
        return context.model_copy(
            update={"tokens": TokenReport(max=most, used=used, encoding="estimate"), "truncated": True}
        )


class LiesAboutTheBudget(HonestMemory):
    """Gives everything and says that it fits."""

    def fit(self, context: MemoryContext, most: int) -> MemoryContext:
        return context.model_copy(
            update={"tokens": TokenReport(max=most, used=1, encoding="cl100k_base"), "truncated": True}
        )


class Forgets(HonestMemory):
    """Acknowledges messages and keeps none."""

    def add_message(self, session_id: str, message: MessageContent) -> str:
        return "messages#0"


class ForgetsAtRestart(HonestMemory):
    """Acknowledges as synced and writes nothing down."""

    def keep(self) -> None:
        pass


class RaisesIntoTheBus(HonestMemory):
    """Lets its own fault out at an unknown task."""

    def change_task(self, change: TaskStateChange) -> str:
        return f"tasks#{self.state.tasks[change.task_id].id}"


class RaisesAfterReplying(HonestMemory):
    """Replies, and fails afterwards."""

    async def handle(self, event: Event[Any]) -> None:
        await super().handle(event)
        if isinstance(event.data, UpdateFact):
            raise RuntimeError("the index is gone")


class DoesHalfABatch(HonestMemory):
    """Keeps what a refused batch has done so far."""

    def roll_back(self, before: bytes) -> None:
        pass


class NeverReplies(HonestMemory):
    """Takes searches and says nothing."""

    async def handle(self, event: Event[Any]) -> None:
        if not isinstance(event.data, MemorySearch):
            await super().handle(event)


class CreatesUnknownTasks(HonestMemory):
    """Acknowledges the change of a task that does not exist."""

    def change_task(self, change: TaskStateChange) -> str:
        return f"tasks#{change.task_id}"


class KeepsBothValues(HonestMemory):
    """Adds a new value of a fact beside the old one."""

    def set_fact(self, section: str, key: str, value: str) -> str:
        old = self.state.facts.get((section, key), "")
        return super().set_fact(section, key, f"{old} {value}".strip())


class ChangesWhatWasSaid(HonestMemory):
    """Strips messages."""

    def add_message(self, session_id: str, message: MessageContent) -> str:
        return super().add_message(session_id, message.model_copy(update={"content": message.content.strip()}))


class WritesTwice(HonestMemory):
    """Does not know idempotency keys."""

    def remember(self, request: Any) -> MemoryWritten:
        if isinstance(request, MemoryWrite):
            request = request.model_copy(update={"idempotency_key": None})
        return super().remember(request)


class OffersNoSearch(HonestMemory):
    """Listens to all but searches."""

    async def start(self, bus: EventBus) -> None:
        self.bus = bus
        bus.subscribe([MemoryRead, MemoryWrite, UpdateFact, TaskStateChange], self.handle, answers=True)


class TellsGroups(HonestMemory):
    """Treats a group like any session."""

    def read(self, request: MemoryRead) -> MemoryContext:
        return super().read(request.model_copy(update={"session_kind": None}))


class WritesLater(HonestMemory):
    """Does writes in a task of its own, so that a read overtakes them."""

    async def handle(self, event: Event[Any]) -> None:
        if isinstance(event.data, MemoryWrite):
            self.later = [*getattr(self, "later", []), asyncio.get_running_loop().call_later(0.02, self.do, event)]
        else:
            await super().handle(event)

    def do(self, event: Event[Any]) -> None:
        self.running = [
            *getattr(self, "running", []),
            asyncio.ensure_future(self.bus.reply(event, self.answer(event.data))),
        ]


class AnswersBadInput(HonestMemory):
    """Answers what the bus has refused."""

    async def start(self, bus: EventBus) -> None:
        await super().start(bus)
        bus.subscribe("bus:rejected", self.excuse, name="excuse")

    async def excuse(self, event: Event[Any]) -> None:
        await self.bus.publish(self.refuse("never mind"))


class DoesNotStart(HonestMemory):
    """Fails at the start."""

    async def start(self, bus: EventBus) -> None:
        raise OSError("no space left on device")


class NeedsMore(HonestMemory):
    """Cannot be made of a folder alone."""

    def __init__(self, root: Path, password: str) -> None:
        super().__init__(root)


class NeverStops(HonestMemory):
    """Hangs when it is stopped."""

    async def stop(self) -> None:
        await asyncio.Event().wait()


class PublishesItsAnswers(HonestMemory):
    """Answers what comes as JSON without saying what it answers."""

    async def handle(self, event: Event[Any]) -> None:
        if event.source == "brain":
            await self.bus.publish(self.answer(event.data))
        else:
            await super().handle(event)


class RolesLost(HonestMemory):
    """Keeps every message as the user's."""

    def add_message(self, session_id: str, message: MessageContent) -> str:
        return super().add_message(session_id, message.model_copy(update={"role": "user"}))


class LosesTimes(HonestMemory):
    """Keeps the hour of a message and not the minute."""

    def add_message(self, session_id: str, message: MessageContent) -> str:
        hour = (message.timestamp or NOW).replace(minute=0)
        return super().add_message(session_id, message.model_copy(update={"timestamp": hour}))


class LosesNeighbours(HonestMemory):
    """Writes a section anew at each fact."""

    def set_fact(self, section: str, key: str, value: str) -> str:
        self.state.facts = {known: old for known, old in self.state.facts.items() if known[0] != section}
        return super().set_fact(section, key, value)


class OtherSection(HonestMemory):
    """Looks for the key of a fact in all sections and replaces it there."""

    def set_fact(self, section: str, key: str, value: str) -> str:
        self.state.facts = {known: old for known, old in self.state.facts.items() if known[1] != key}
        return super().set_fact(section, key, value)


class FactsValueTrunc(HonestMemory):
    """Keeps the first line of a value."""

    def set_fact(self, section: str, key: str, value: str) -> str:
        return super().set_fact(section, key, value.split("\n")[0])


class TurnsLinesRound(HonestMemory):
    """Keeps the lines of a value from the last to the first."""

    def set_fact(self, section: str, key: str, value: str) -> str:
        return super().set_fact(section, key, "\n".join(reversed(value.split("\n"))))


class LosesDue(HonestMemory):
    """Keeps a task without its day."""

    def put_task(self, content: TaskContent) -> str:
        return super().put_task(content.model_copy(update={"due": None}))


class DropsSteps(HonestMemory):
    """Sets what a change of a task does not name back to what a new task has."""

    def put_task(self, content: TaskContent) -> str:
        key = super().put_task(content)
        if content.task_id:
            fresh = {"steps": content.steps or (), "due": content.due, "priority": content.priority or "medium"}
            self.state.tasks[content.task_id] = self.state.tasks[content.task_id].model_copy(update=fresh)
        return key


class KeepsTheOldTitle(HonestMemory):
    """Takes the title of a new task only."""

    def put_task(self, content: TaskContent) -> str:
        return super().put_task(content.model_copy(update={"title": None}) if content.task_id else content)


class OneIdForAll(HonestMemory):
    """Has room for one task."""

    def put_task(self, content: TaskContent) -> str:
        self.state.tasks = {} if content.task_id is None else self.state.tasks
        return super().put_task(content)


class IdsReused(HonestMemory):
    """Numbers the tasks since the start, and keeps what it has when a number comes again."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.earlier, self.state.tasks = self.state.tasks, {}

    def read(self, request: MemoryRead) -> MemoryContext:
        current, self.state.tasks = self.state.tasks, self.earlier | self.state.tasks
        context = super().read(request)
        self.state.tasks = current
        return context


class IdemRestart(HonestMemory):
    """Knows idempotency keys until it is stopped."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.state.answers = {}


class AnswersAnotherKey(HonestMemory):
    """Writes once by an idempotency key, and answers the second time as if it had written again."""

    def remember(self, request: Any) -> MemoryWritten:
        known = getattr(request, "idempotency_key", None) in self.state.answers
        written = super().remember(request)
        return written.model_copy(update={"key": "messages#9", "keys": ("messages#9",)}) if known else written


class NotSynced(HonestMemory):
    """Says of no write how durable it is."""

    def remember(self, request: Any) -> MemoryWritten:
        return super().remember(request).model_copy(update={"durability": None})


class Citations(HonestMemory):
    """Cites the first of the recalled pieces only."""

    def read(self, request: MemoryRead) -> MemoryContext:
        context = super().read(request)
        return context.model_copy(update={"citations": context.citations[:1]})


class CitesInAnotherOrder(HonestMemory):
    """Cites the last recalled piece first."""

    def read(self, request: MemoryRead) -> MemoryContext:
        context = super().read(request)
        return context.model_copy(update={"citations": context.citations[::-1]})


class CitesNothing(HonestMemory):
    """Recalls without citations, which are optional."""

    def read(self, request: MemoryRead) -> MemoryContext:
        return super().read(request).model_copy(update={"citations": ()})


class IgnoresAsOf(HonestMemory):
    """Answers as of now, always."""

    def read(self, request: MemoryRead) -> MemoryContext:
        return super().read(request.model_copy(update={"as_of": None}))


class AsOfForMessagesOnly(HonestMemory):
    """Shows facts and tasks of now beside the messages of then."""

    def read(self, request: MemoryRead) -> MemoryContext:
        now = super().read(request.model_copy(update={"as_of": None}))
        return super().read(request).model_copy(update={"facts": now.facts, "tasks": now.tasks})


class AsOfWithoutHistory(HonestMemory):
    """Has no history of an earlier time."""

    def read(self, request: MemoryRead) -> MemoryContext:
        context = super().read(request)
        return context if request.as_of is None else context.model_copy(update={"history": ()})


class SandboxWrites(HonestMemory):
    """Lets a sandbox do one kind of write."""

    let: str

    def answer(self, request: Any) -> Any:
        kind = request.type if isinstance(request, MemoryWrite) else request.event_type
        if kind == self.let:
            request = request.model_copy(update={"session_kind": None})
        return super().answer(request)


class SandboxTalks(SandboxWrites):
    """Lets a sandbox write messages."""

    let = "conversation"


class SandboxFacts(SandboxWrites):
    """Lets a sandbox write facts."""

    let = "fact"


class SandboxUpdates(SandboxWrites):
    """Lets a sandbox update facts."""

    let = "memory:update_fact"


class SandboxTasks(SandboxWrites):
    """Lets a sandbox write tasks."""

    let = "task"


class SandboxMoves(SandboxWrites):
    """Lets a sandbox change the state of tasks."""

    let = "memory:task_state_change"


class SandboxBatch(SandboxWrites):
    """Lets a sandbox write batches."""

    let = "batch"


class SandboxWritesQuietly(HonestMemory):
    """Refuses what a sandbox writes, after writing it."""

    def refuse(self, why: str) -> MemoryWritten:
        if self.asked.session_kind == "sandbox" and not isinstance(self.asked, TaskStateChange):
            self.remember(self.asked)
        return super().refuse(why)

    def answer(self, request: Any) -> Any:
        self.asked = request
        return super().answer(request)


class SandboxMovesQuietly(HonestMemory):
    """Refuses a sandbox's change of a task, after doing it."""

    def answer(self, request: Any) -> Any:
        if isinstance(request, TaskStateChange) and request.session_kind == "sandbox":
            self.remember(request)
        return super().answer(request)


class UpdatesNothing(HonestMemory):
    """Keeps the first value of a fact for good."""

    def set_fact(self, section: str, key: str, value: str) -> str:
        return super().set_fact(section, key, self.state.facts.get((section, key), value))


class WritesTwiceUnderOneKey(HonestMemory):
    """Answers a known idempotency key as it did, and writes all the same."""

    def remember(self, request: Any) -> MemoryWritten:
        first = self.state.answers.pop(getattr(request, "idempotency_key", None), None)
        written = super().remember(request)
        return written if first is None else first


class ForgetsFactsAtRestart(HonestMemory):
    """Starts without facts."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.state.facts = {}


class HidesTasksAfterRestart(HonestMemory):
    """Shows the tasks that it has changed or made itself."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.hidden = set(self.state.tasks)

    def read(self, request: MemoryRead) -> MemoryContext:
        context = super().read(request)
        return context.model_copy(update={"tasks": tuple(task for task in context.tasks if task.id not in self.hidden)})


class TellsGroupsBySearch(HonestMemory):
    """Searches everything for a group."""

    def search(self, request: MemorySearch) -> MemoryResults:
        return super().search(request.model_copy(update={"session_kind": None}))


class CutsTitles(HonestMemory):
    """Keeps the first two words of a long title."""

    def put_task(self, content: TaskContent) -> str:
        title = content.title if len(content.title or "") < 22 else " ".join((content.title or "").split()[:2])
        return super().put_task(content.model_copy(update={"title": title}))


class LosesPriority(HonestMemory):
    """Gives all tasks the same priority."""

    def put_task(self, content: TaskContent) -> str:
        return super().put_task(content.model_copy(update={"priority": None}))


class ChecksAllSteps(HonestMemory):
    """Takes every step for done."""

    def put_task(self, content: TaskContent) -> str:
        steps = content.steps and tuple(step.model_copy(update={"done": True}) for step in content.steps)
        return super().put_task(content.model_copy(update={"steps": steps}))


class NeverInProgress(HonestMemory):
    """Acknowledges the beginning of a task and leaves it pending."""

    def change_task(self, change: TaskStateChange) -> str:
        key = super().change_task(change)
        if change.new_state == "in_progress":
            self.state.tasks[change.task_id] = self.state.tasks[change.task_id].model_copy(update={"state": "pending"})
        return key


class RefusesWithoutNaming(HonestMemory):
    """Refuses without saying which task there is not."""

    def refuse(self, why: str) -> MemoryWritten:
        return super().refuse("impossible")


class RecallsForNothing(HonestMemory):
    """Recalls everything for an empty query."""

    def read(self, request: MemoryRead) -> MemoryContext:
        return super().read(request.model_copy(update={"query": request.query or "hello"}))


class EmptyQueryEmptyHistory(HonestMemory):
    """Has no history for an empty query."""

    def read(self, request: MemoryRead) -> MemoryContext:
        context = super().read(request)
        return context if request.query else context.model_copy(update={"history": ()})


class EmptyQueryNoFacts(HonestMemory):
    """Has no facts for an empty query."""

    def read(self, request: MemoryRead) -> MemoryContext:
        context = super().read(request)
        return context if request.query else context.model_copy(update={"facts": ()})


class SearchesWithoutLimit(HonestMemory):
    """Does not know maxResults."""

    def search(self, request: MemorySearch) -> MemoryResults:
        return super().search(request.model_copy(update={"max_results": 1_000}))


class MixesSessions(HonestMemory):
    """Keeps one history for sessions that are named alike."""

    def read(self, request: MemoryRead) -> MemoryContext:
        context = super().read(request)
        if request.session_id != "conformance-a":
            return context
        return context.model_copy(update={"history": tuple(kept for _, kept in self.state.messages)})
