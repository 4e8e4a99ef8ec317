"""Checks of what is kept: conversations, facts, tasks, batches, and in which order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NoReturn

from contracts import (
    MemoryContext,
    MemoryWrite,
    MemoryWritten,
    MessageContent,
    MessagesContent,
    Task,
    TaskContent,
    TaskStateChange,
    UpdateFact,
    prompt_text,
)
from contracts.conformance.check import Check
from contracts.conformance.probe import Probe, expect
from contracts.content import FactContent, StepContent
from contracts.errors import CheckFailedError
from contracts.fields import TaskState
from contracts.writing import BatchContent, TaskStateItem, UpdateFactItem, WriteItem

SESSION = "conformance"
NOW = datetime(2026, 5, 4, 14, 30, tzinfo=UTC)
CODE = (
    "用 `kestrel-8816` 部署:\n\n```sh\n---\n### 2026-05-04T14:30:00+08:00\necho '👩‍👩‍👧' # done\n```\n\n  trailing  \n"
)
"""Hard to keep: Chinese, a fence, lines that look like Markdown's own, an emoji of five code points, blank ends."""


def said(text: str, position: int = 0, session_id: str = SESSION, idempotency_key: str | None = None) -> MemoryWrite:
    """Make the write of one message of the user."""
    content = MessageContent(role="user", content=text, timestamp=NOW + timedelta(seconds=position))
    return MemoryWrite(type="conversation", content=content, session_id=session_id, idempotency_key=idempotency_key)


def fact(key: str, value: str) -> UpdateFact:
    """Make the update of a fact of the profile."""
    return UpdateFact(section="技术栈", key=key, value=value, topic="user-profile", session_id=SESSION)


def state(task_id: str, new_state: TaskState) -> TaskStateChange:
    """Make the change of a task's state."""
    return TaskStateChange(task_id=task_id, new_state=new_state, session_id=SESSION)


async def new_task(probe: Probe, title: str) -> str:
    """Write a new task and return its id, which the key names."""
    steps = (StepContent(text="first step", done=True), StepContent(text="第二步"))
    content = TaskContent(title=title, priority="high", steps=steps)
    written = await probe.write(MemoryWrite(type="task", content=content, session_id=SESSION))
    return task_id_of(written)


def task_id_of(written: MemoryWritten) -> str:
    """Read the id of a task off the key of its write, `tasks/active.md#OPEN-003`."""
    _, mark, task_id = written.key.rpartition("#")
    expect(
        bool(mark) and "-" in task_id,
        f"the key of a new task must end in #<id>, such as #OPEN-001, not {written.key!r}",
    )
    return task_id


def shown(context: MemoryContext, task_id: str) -> Task | None:
    """Find a task in a context."""
    return next((task for task in context.tasks if task.id == task_id), None)


async def message_is_kept(probe: Probe) -> None:
    """A message comes back in the history of its session, character for character."""
    await probe.write(said(CODE))
    history = (await probe.read("kestrel-8816")).history
    expect([message.content for message in history] == [CODE], "the message is not in the history as it was written")
    expect(history[0].role == "user", f"the message of the user comes back as of the {history[0].role}")
    expect(history[0].timestamp == NOW, f"the message was said at {NOW}, history says {history[0].timestamp}")


async def message_is_recalled_elsewhere(probe: Probe) -> None:
    """What was said in one session is recalled in another."""
    await probe.write(said("The deploy key is called kestrel-8816.", session_id="conformance-a"))
    await probe.finds("kestrel-8816", "deploy key kestrel-8816", session_id="conformance-b")


async def messages_keep_their_order(probe: Probe) -> None:
    """Several messages of one write come back in order."""
    texts = [f"message number {position} 第{position}条" for position in range(6)]
    messages = tuple(said(text, position).content for position, text in enumerate(texts))
    content = MessagesContent(messages=tuple(each for each in messages if isinstance(each, MessageContent)))
    written = await probe.write(MemoryWrite(type="conversation", content=content, session_id=SESSION))
    expect(len(written.keys) == len(texts), f"{len(texts)} messages were written, keys names {len(written.keys)}")
    found = [message.content for message in (await probe.read("message")).history]
    expect(found == texts, f"the history is {found}")


async def broken_text_is_kept(probe: Probe) -> None:
    """A lone half of a surrogate pair and a NUL become U+FFFD, and the reply says so."""
    written = await probe.write(said("half \ud83d and zero \0 end"))
    expect(bool(written.message), "two characters were replaced, but the reply's message does not say so")
    found = [message.content for message in (await probe.read("half")).history]
    expect(found == ["half \ufffd and zero \ufffd end"], f"the history is {found}")


async def fact_is_replaced(probe: Probe) -> None:
    """A new value for a known key is the only current one."""
    await probe.write(fact("主要语言", "Fortran-7731"))
    await probe.write(fact("编辑器", "Vim-5505"))
    await probe.write(fact("主要语言", "Gleam-7732"))
    facts = "\n".join((await probe.read("主要语言 编辑器")).facts)
    expect("Gleam-7732" in facts, f"the new value is not among the facts: {facts!r}")
    expect("Fortran-7731" not in facts, f"the replaced value is still among the facts: {facts!r}")
    expect("Vim-5505" in facts, f"another key of the section lost its value: {facts!r}")


async def fact_is_written(probe: Probe) -> None:
    """A fact written by memory:write is the same as one by memory:update_fact."""
    content = FactContent(section="偏好", key="回答风格", value="brief-4410", topic="user-profile")
    await probe.write(MemoryWrite(type="fact", content=content, session_id=SESSION))
    facts = "\n".join((await probe.read("回答风格")).facts)
    expect("brief-4410" in facts, f"the fact is not among the facts: {facts!r}")


async def task_lives(probe: Probe) -> None:
    """A new task is pending and shown whatever the query; its state changes."""
    task_id = await new_task(probe, "Write the rollback 写回滚")
    task = shown(await probe.read("something else"), task_id)
    if task is None:
        raise_missing(task_id)
    expect(task.title == "Write the rollback 写回滚", f"the title comes back as {task.title!r}")
    expect((task.state, task.priority) == ("pending", "high"), f"it is {task.state}, {task.priority}")
    steps = [(step.text, step.done) for step in task.steps]
    expect(steps == [("first step", True), ("第二步", False)], f"the steps come back as {steps}")
    await probe.write(state(task_id, "in_progress"))
    task = shown(await probe.read("something else"), task_id)
    expect(task is not None and task.state == "in_progress", f"{task_id} is not in_progress after the change")


def raise_missing(task_id: str) -> NoReturn:
    """Fail: a task that was acknowledged is not shown."""
    raise CheckFailedError(f"task {task_id} was acknowledged but is not among the tasks of memory:context")


async def task_ids_differ(probe: Probe) -> None:
    """Two tasks of one title are two tasks."""
    ids = [await new_task(probe, "the same title") for _ in range(3)]
    expect(len(set(ids)) == 3, f"three tasks got the ids {ids}")


async def unknown_task_is_refused(probe: Probe) -> None:
    """A change to a task that does not exist is refused, names it, and is no trouble."""
    reply = await probe.refused(state("OPEN-987654", "completed"), "there is no task OPEN-987654")
    expect("OPEN-987654" in (reply.message or ""), f"the refusal does not name the task: {reply.message!r}")


async def completed_goes_back_to_in_progress_only(probe: Probe) -> None:
    """From completed a task goes back to in_progress and nowhere else."""
    task_id = await new_task(probe, "finish it")
    await probe.write(state(task_id, "completed"))
    await probe.refused(state(task_id, "pending"), "a completed task goes back to in_progress only")
    await probe.write(state(task_id, "in_progress"))


def batch(*items: WriteItem | UpdateFactItem | TaskStateItem) -> MemoryWrite:
    """Make the write of a batch."""
    return MemoryWrite(type="batch", content=BatchContent(items=items), session_id=SESSION)


async def batch_is_done(probe: Probe) -> None:
    """All of a batch is done, and keys has an address for each item."""
    task = MemoryWrite(type="task", content=TaskContent(title="batched-3302"), session_id=SESSION)
    written = await probe.write(
        batch(
            WriteItem(event="memory:write", data=said("batched-3301")),
            UpdateFactItem(event="memory:update_fact", data=fact("批量", "batched-3303")),
            WriteItem(event="memory:write", data=task),
        )
    )
    expect(len(written.keys) == 3, f"3 items were written, keys names {len(written.keys)}")
    text = prompt_text(await probe.read("batched"))
    missing = [each for each in ("batched-3301", "batched-3302", "batched-3303") if each not in text]
    expect(not missing, f"acknowledged in a batch but not in memory:context: {missing}")


async def batch_is_refused_as_a_whole(probe: Probe) -> None:
    """Of a batch with one item that is refused, nothing is done."""
    change = TaskStateItem(event="memory:task_state_change", data=state("OPEN-987654", "completed"))
    await probe.refused(
        batch(
            WriteItem(event="memory:write", data=said("half-done-9901")),
            UpdateFactItem(event="memory:update_fact", data=fact("批量", "half-done-9902")),
            change,
        ),
        "one item changes a task that does not exist",
    )
    text = prompt_text(await probe.read("half-done-9901 half-done-9902 批量"))
    done = [each for each in ("half-done-9901", "half-done-9902") if each in text]
    expect(not done, f"the batch was refused, but this was done all the same: {done}")


async def reader_sees_what_was_published(probe: Probe) -> None:
    """A read sees everything that was published before it in its session, without waiting for acknowledgements."""
    for position in range(20):
        await probe.bus.publish(said(f"published-{position:03}", position))
    history = [message.content for message in (await probe.read("published")).history]
    expect(
        bool(history) and history[-1] == "published-019",
        f"published before the read, not in its history: {history[-3:]}",
    )
    await probe.settle()


async def order_holds_across_events(probe: Probe) -> None:
    """Events of one session take effect in the order in which they were published, whatever their types."""
    first = FactContent(section="技术栈", key="主要语言", value="earlier-6601", topic="user-profile")
    await probe.bus.publish(MemoryWrite(type="fact", content=first, session_id=SESSION))
    await probe.bus.publish(fact("主要语言", "later-6602"))
    facts = "\n".join((await probe.read("主要语言")).facts)
    expect("later-6602" in facts and "earlier-6601" not in facts, f"published last, but not what holds: {facts!r}")
    await probe.settle()


async def same_key_is_written_once(probe: Probe) -> None:
    """The same idempotency key again changes nothing and gets the same answer."""
    first = await probe.write(said("only once 4407", idempotency_key="turn-1"))
    again = await probe.write(said("only once 4407", idempotency_key="turn-1"))
    expect(first.key == again.key, f"the same idempotencyKey got {first.key!r}, then {again.key!r}")
    found = [message.content for message in (await probe.read("only once")).history]
    expect(found == ["only once 4407"], f"written once by its idempotencyKey, but the history is {found}")


async def acknowledged_survives_restart(probe: Probe) -> None:
    """What was acknowledged is there after a restart on the same folder."""
    await probe.write(said(CODE))
    await probe.write(fact("主要语言", "Gleam-7732"))
    task_id = await new_task(probe, "survive")
    await probe.restart()
    context = await probe.read("kestrel-8816 主要语言")
    expect([message.content for message in context.history] == [CODE], "the message is gone or changed after a restart")
    expect("Gleam-7732" in "\n".join(context.facts), "the fact is gone after a restart")
    expect(shown(context, task_id) is not None, f"the task {task_id} is gone after a restart")


CHECKS = (
    Check("memory:write: a message comes back in its session's history as it was said", message_is_kept),
    Check("memory:write: what was said in one session is recalled in another", message_is_recalled_elsewhere),
    Check("memory:write: several messages keep their order", messages_keep_their_order),
    Check("memory:write: text that UTF-8 cannot hold is kept with U+FFFD, and the reply says so", broken_text_is_kept),
    Check("memory:write: a fact is kept", fact_is_written),
    Check("memory:update_fact: a new value replaces the old one and nothing else", fact_is_replaced),
    Check("memory:write: a task is kept, shown and changes its state", task_lives),
    Check("memory:write: ids of tasks differ", task_ids_differ),
    Check("memory:task_state_change: an unknown task is refused by its id", unknown_task_is_refused),
    Check("memory:task_state_change: from completed only back to in_progress", completed_goes_back_to_in_progress_only),
    Check("memory:write: a batch is done as a whole", batch_is_done),
    Check("memory:write: a batch is refused as a whole", batch_is_refused_as_a_whole),
    Check("order: a read sees what was published before it in its session", reader_sees_what_was_published),
    Check("order: events of one session take effect in order across types", order_holds_across_events),
    Check("memory:write: the same idempotencyKey again changes nothing", same_key_is_written_once),
    Check("restart: what was acknowledged is there", acknowledged_survives_restart),
)
