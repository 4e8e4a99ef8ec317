"""Checks of what is kept: conversations, facts and batches."""

from __future__ import annotations

from typing import get_args

from contracts import MessageContent, prompt_text
from contracts.conformance.asking import CODE, NOW, batch, fact, fact_write, said, said_together, state, task
from contracts.conformance.check import Check
from contracts.conformance.probe import Probe, expect
from contracts.fields import Role
from contracts.writing import TaskStateItem, UpdateFactItem, WriteItem


async def message_is_kept(probe: Probe) -> None:
    """A message comes back in the history of its session, character for character."""
    await probe.write(said(CODE))
    history = (await probe.read("kestrel-8816")).history
    expect([message.content for message in history] == [CODE], "the message is not in the history as it was written")
    expect(history[0].timestamp == NOW, f"the message was said at {NOW}, history says {history[0].timestamp}")


async def roles_are_kept(probe: Probe) -> None:
    """A message comes back as of the one who said it."""
    roles = list(get_args(Role))
    await probe.write(said_together(*(MessageContent(role=each, content=f"said by the {each}") for each in roles)))
    found = [message.role for message in (await probe.read("said")).history]
    expect(found == roles, f"messages of the roles {roles} come back as of {found}")


async def message_is_recalled_elsewhere(probe: Probe) -> None:
    """What was said in one session is recalled in another."""
    await probe.write(said("The deploy key is called kestrel-8816.", session_id="conformance-a"))
    await probe.finds("kestrel-8816", "deploy key kestrel-8816", session_id="conformance-b")


async def messages_keep_their_order(probe: Probe) -> None:
    """Several messages of one write come back in order."""
    texts = [f"message number {position} 第{position}条" for position in range(6)]
    written = await probe.write(said_together(*(MessageContent(role="user", content=text) for text in texts)))
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


async def fact_is_of_its_section(probe: Probe) -> None:
    """The same key in two sections is two facts."""
    await probe.write(fact("版本", "Gleam-1-4", section="技术栈"))
    await probe.write(fact("版本", "Vim-9-1", section="工具"))
    facts = "\n".join((await probe.read("版本")).facts)
    missing = [each for each in ("Gleam-1-4", "Vim-9-1") if each not in facts]
    expect(not missing, f"the same key was written in two sections, but {missing} is not among the facts: {facts!r}")


async def whole_value_is_kept(probe: Probe) -> None:
    """All lines of a value are kept, in order."""
    lines = ("first-2201 of three", "- second-2202", "第三行 third-2203")
    await probe.write(fact("部署步骤", "\n".join(lines)))
    facts = "\n".join((await probe.read("部署步骤")).facts)
    places = [facts.find(each) for each in ("first-2201", "second-2202", "third-2203")]
    expect(-1 not in places, f"the fact's value has three lines, but of them came only {facts!r}")
    expect(places == sorted(places), f"the lines of the fact's value come back in another order: {facts!r}")


async def fact_is_written(probe: Probe) -> None:
    """A fact written by memory:write is the same as one by memory:update_fact."""
    await probe.write(fact_write("回答风格", "brief-4410", section="偏好"))
    facts = "\n".join((await probe.read("回答风格")).facts)
    expect("brief-4410" in facts, f"the fact is not among the facts: {facts!r}")


async def batch_is_done(probe: Probe) -> None:
    """All of a batch is done, and keys has an address for each item."""
    written = await probe.write(
        batch(
            WriteItem(event="memory:write", data=said("batched-3301")),
            UpdateFactItem(event="memory:update_fact", data=fact("批量", "batched-3303")),
            WriteItem(event="memory:write", data=task("batched-3302")),
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


CHECKS = (
    Check("memory:write: a message comes back in its session's history as it was said", message_is_kept),
    Check("memory:write: a message comes back as of the one who said it", roles_are_kept),
    Check("memory:write: what was said in one session is recalled in another", message_is_recalled_elsewhere),
    Check("memory:write: several messages keep their order", messages_keep_their_order),
    Check("memory:write: text that UTF-8 cannot hold is kept with U+FFFD, and the reply says so", broken_text_is_kept),
    Check("memory:write: a fact is kept", fact_is_written),
    Check("memory:update_fact: a new value replaces the old one and nothing else", fact_is_replaced),
    Check("memory:update_fact: the same key in another section is another fact", fact_is_of_its_section),
    Check("memory:update_fact: all lines of a value are kept", whole_value_is_kept),
    Check("memory:write: a batch is done as a whole", batch_is_done),
    Check("memory:write: a batch is refused as a whole", batch_is_refused_as_a_whole),
)
