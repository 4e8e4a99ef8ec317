"""Checks of who sees and changes what: groups and sandboxes."""

from __future__ import annotations

from typing import TypeVar

from bus import Payload
from contracts import MemoryRead, MemorySearch, prompt_text
from contracts.conformance.asking import batch, fact, fact_write, find, new_task, said, state, task
from contracts.conformance.check import Check
from contracts.conformance.probe import Probe, expect
from contracts.writing import WriteItem

P = TypeVar("P", bound=Payload)


async def group_sees_nothing_private(probe: Probe) -> None:
    """What was said and written in a primary session does not reach a group, by any route."""
    await probe.write(said("private-8801 in the talk"))
    await probe.write(fact("密码本", "private-8802"))
    await new_task(probe, "private-8803")
    query = "private-8801 private-8802 private-8803 密码本"
    group = MemoryRead(query=query, session_id="agent:main:telegram:group:-7", max_tokens=4_000, session_kind="group")
    context = await probe.ask(group)
    expect("private-880" not in context.model_dump_json(), "a group's memory:context holds what is private")
    asked = MemorySearch(query=query, session_id=group.session_id, session_kind="group")
    results = await probe.ask(asked)
    expect("private-880" not in results.model_dump_json(), "a group's memory:results hold what is private")


async def sandbox_writes_nothing(probe: Probe) -> None:
    """Whatever a sandbox writes is refused with a reason and leaves nothing."""
    task_id = await new_task(probe, "not of the sandbox")
    moved = state(task_id, "in_progress")
    inner = WriteItem(event="memory:write", data=sandboxed(said("sandboxed-5506")))
    await probe.refused(sandboxed(said("sandboxed-5501")), "a message of a sandbox writes nothing")
    await probe.refused(sandboxed(fact_write("沙箱甲", "sandboxed-5502")), "a fact of a sandbox writes nothing")
    await probe.refused(sandboxed(fact("沙箱乙", "sandboxed-5503")), "a fact's update of a sandbox writes nothing")
    await probe.refused(sandboxed(task("sandboxed-5504")), "a task of a sandbox writes nothing")
    await probe.refused(sandboxed(moved), "a task's change of a sandbox writes nothing")
    await probe.refused(sandboxed(batch(inner)), "a batch of a sandbox writes nothing")
    context = await probe.read("sandboxed 沙箱甲 沙箱乙")
    left = [each for each in (f"sandboxed-550{number}" for number in range(1, 7)) if each in prompt_text(context)]
    expect(not left, f"the writes of a sandbox were refused, but are there: {left}")
    kept = find(context, task_id)
    expect(kept is not None and kept.state == "pending", f"a sandbox's change of {task_id} was refused, but is done")


def sandboxed(request: P) -> P:
    """Make the same request as one of a sandbox."""
    return request.model_copy(update={"session_kind": "sandbox"})


CHECKS = (
    Check("privacy: a group sees nothing of a primary session", group_sees_nothing_private),
    Check("privacy: a sandbox writes nothing", sandbox_writes_nothing),
)
