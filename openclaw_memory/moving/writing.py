"""Write a plan: files where there are none, then events on the bus, batch by batch."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from bus import EventBus
from contracts import MemoryWrite, MemoryWritten, TaskStateChange, UpdateFact
from contracts.content import MessageContent
from contracts.fields import Origin
from contracts.names import suggest_key, suggest_line
from openclaw_memory.moving.errors import StoppedError
from openclaw_memory.moving.found import FoundMessage, FoundTask, Remark
from openclaw_memory.moving.plan import Placement, Plan
from openclaw_memory.storage.durable import make_folders
from openclaw_memory.storage.durable import replace as replace_file
from openclaw_memory.storage.files import Files
from openclaw_memory.storage.places import Places

MOST_MESSAGES = 50
"""Messages of one batch: it is planned on the event loop at once, which a running Gateway must hardly notice."""

MOST_CHARS = 100_000
"""Characters of one batch, for the same reason; a longer message is a batch of its own."""

REPLY_SECONDS = 120.0
"""Longest wait for what becomes of a batch."""

SESSION = "import"
"""Session of what belongs to none."""

_AT = re.compile(r"content\.messages\[(\d+)\]")
_AGAIN = "written before"


@dataclass(slots=True)
class Written:
    """What was written: how much of each layer; what memory would not have, and why."""

    counts: dict[str, int] = field(default_factory=dict)
    refused: list[Remark] = field(default_factory=list)

    def add(self, layer: str, count: int = 1) -> None:
        """Count something."""
        self.counts[layer] = self.counts.get(layer, 0) + count


def place(placements: Sequence[Placement], places: Places, files: Files) -> list[Remark]:
    """Put files where there are none, each whole and durable. For a thread.

    Gives those whose place was taken meanwhile. Raises: `OSError`.
    """
    taken = []
    for placement in placements:
        target = places.of(placement.path)
        make_folders(files, target.parent)
        if replace_file(files, target, placement.data, None, keep_backup=False).stamp is None:
            taken.append(Remark(placement.where, f"{placement.path} was made by somebody else meanwhile"))
    return taken


def take_away(placements: Sequence[Placement], places: Places, files: Files) -> list[str]:
    """Remove the files that an import made, and that say what it put there; gives those that stay. For a thread."""
    left = []
    for placement in placements:
        target = places.of(placement.path)
        try:
            data = files.read_now(target)
        except FileNotFoundError:
            continue
        if data == placement.data:
            files.remove(target)
            files.sync_folder(target.parent)
        else:
            left.append(placement.path)
    return left


async def write_events(
    bus: EventBus,
    plan: Plan,
    written: Written,
    origin: Callable[[FoundMessage], Origin | None],
    progress: Callable[[int], None],
) -> None:
    """Publish what memory itself writes, and wait for each reply.

    Parameters: `origin`, which gives that of a message; `progress`, called with how many items are done.

    Raises: `StoppedError` when memory does not write: what was written before stays, for the caller to undo.
    """
    for batch in batches(plan.messages, origin):
        await _say(bus, batch, written, progress)
    for entry in plan.entries:
        section = suggest_line(entry.section) if entry.section else None
        content = {"text": entry.text, **({"section": section} if section else {})}
        reply = await _write(bus, _own("memory", content))
        _count(reply, "memory", entry.where, written)
        progress(1)
    for fact in plan.facts:
        key, name = suggest_key(fact.key), suggest_line(fact.section)
        if key is None or name is None:
            written.refused.append(Remark(fact.where, "its section or key can't be the name of a fact"))
            continue
        update = UpdateFact(
            section=name, key=key, value=fact.value, topic=fact.topic, session_id=SESSION, session_kind="primary"
        )
        _count(await _write(bus, update), "fact", fact.where, written)
        progress(1)
    for task in plan.tasks:
        await _add_task(bus, task, written)
        progress(1)


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages that go together: of one session, kind and origin."""

    messages: tuple[FoundMessage, ...]
    origin: Origin | None

    @property
    def key(self) -> str:
        """Give what a batch is known by again: it follows from what it says, and where."""
        said = repr(
            [(message.session, message.role, message.time.isoformat(), message.text) for message in self.messages]
        )
        return f"import:{hashlib.sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}"


def batches(messages: Sequence[FoundMessage], origin: Callable[[FoundMessage], Origin | None]) -> Iterator[Batch]:
    """Put messages together, session by session in the order of their beginnings; each session in its own order. Pure.

    One batch is one record of the journal.
    """
    by_session: dict[tuple[str, str], list[FoundMessage]] = {}
    for message in messages:
        by_session.setdefault((message.session, message.kind), []).append(message)
    for those in by_session.values():
        held: list[FoundMessage] = []
        chars = 0
        for message in those:
            other = bool(held) and origin(held[-1]) != origin(message)
            if held and (other or len(held) >= MOST_MESSAGES or chars + len(message.text) > MOST_CHARS):
                yield Batch(tuple(held), origin(held[0]))
                held, chars = [], 0
            held.append(message)
            chars += len(message.text)
        if held:
            yield Batch(tuple(held), origin(held[0]))


async def _say(bus: EventBus, batch: Batch, written: Written, progress: Callable[[int], None]) -> None:
    """Write a batch. What was forgotten once is left out of it, and the rest is written."""
    while batch.messages:
        first = batch.messages[0]
        write = MemoryWrite(
            type="conversation",
            content={"messages": [_content(message) for message in batch.messages]},
            session_id=first.session,
            session_kind=first.kind,
            origin=batch.origin,
            idempotency_key=batch.key,
        )
        reply = await _write(bus, write)
        if reply.success:
            count = len(batch.messages)
            if _AGAIN in (reply.message or ""):
                words = f"{count} messages were imported within the last days, and taken out again since; they stay out"
                written.refused.append(Remark(first.where, words))
            else:
                written.add("conversation", count)
            progress(count)
            return
        at = _AT.search(reply.message or "")
        number = int(at[1]) if at else len(batch.messages)
        if number >= len(batch.messages):
            # Nothing of this session can be taken; the others can.
            words = f"{len(batch.messages)} messages: {reply.message or 'refused'}"
            written.refused.append(Remark(first.where, words))
            progress(len(batch.messages))
            return
        written.refused.append(Remark(batch.messages[number].where, reply.message or ""))
        progress(1)
        batch = replace(batch, messages=(*batch.messages[:number], *batch.messages[number + 1 :]))


def _content(message: FoundMessage) -> MessageContent:
    name = suggest_line(message.name) if message.name else None
    metadata = {"important": message.important, **({"name": name} if name else {})}
    given = metadata if message.important or name else None
    return MessageContent.model_validate(
        {"role": message.role, "content": message.text, "timestamp": message.time, "metadata": given}
    )


async def _add_task(bus: EventBus, task: FoundTask, written: Written) -> None:
    title = suggest_line(task.title[:200])
    if title is None:
        written.refused.append(Remark(task.where, "its title is no line"))
        return
    content = {
        "title": title,
        "priority": task.priority,
        "due": task.due,
        "description": task.description,
        "steps": [{"text": text, "done": done} for text, done in task.steps] or None,
    }
    kept = {name: value for name, value in content.items() if value is not None}
    reply = await _write(bus, _own("task", kept))
    _count(reply, "task", task.where, written)
    state: Literal["in_progress"] = "in_progress"
    if reply.success and task.state == state and "#" in reply.key:
        task_id = reply.key.partition("#")[2]
        change = TaskStateChange(task_id=task_id, new_state=state, session_id=SESSION, session_kind="primary")
        await _write(bus, change)


def _own(kind: Literal["memory", "task"], content: Any) -> MemoryWrite:
    return MemoryWrite(type=kind, content=content, session_id=SESSION, session_kind="primary", origin="owner")


async def _write(bus: EventBus, change: MemoryWrite | UpdateFact | TaskStateChange) -> MemoryWritten:
    reply = await bus.request(change, timeout=REPLY_SECONDS)
    if reply.degraded:
        raise StoppedError(reply.message or "memory is in trouble", "what was written is undone")
    return reply


def _count(reply: MemoryWritten, layer: str, where: str, written: Written) -> None:
    if reply.success:
        written.add(layer)
    else:
        written.refused.append(Remark(where, reply.message or "refused"))
