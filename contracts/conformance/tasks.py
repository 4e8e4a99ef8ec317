"""Checks of tasks: what they hold, how they change, and their ids."""

from __future__ import annotations

from contracts import MemoryWrite, TaskContent
from contracts.conformance.asking import NOW, SESSION, find, new_task, shown, state
from contracts.conformance.check import Check
from contracts.conformance.probe import Probe, expect

STEPS = [("first step", True), ("第二步", False)]
"""The steps that a new task has here, and whether they are done."""


async def task_lives(probe: Probe) -> None:
    """A new task is pending and shown whatever the query; its state changes."""
    task_id = await new_task(probe, "Write the rollback 写回滚")
    task = await shown(probe, task_id)
    expect(task.title == "Write the rollback 写回滚", f"the title comes back as {task.title!r}")
    expect((task.state, task.priority) == ("pending", "high"), f"it is {task.state}, {task.priority}")
    expect(task.due == NOW.date(), f"it is due on {NOW.date()}, but comes back as due {task.due}")
    steps = [(step.text, step.done) for step in task.steps]
    expect(steps == STEPS, f"the steps come back as {steps}")
    await probe.write(state(task_id, "in_progress"))
    changed = find(await probe.read("something else"), task_id)
    expect(changed is not None and changed.state == "in_progress", f"{task_id} is not in_progress after the change")


async def change_leaves_the_rest(probe: Probe) -> None:
    """A write with a taskId changes the fields that it names and no other."""
    task_id = await new_task(probe, "an old title")
    old = await shown(probe, task_id)
    change = TaskContent(task_id=task_id, title="a new title")
    await probe.write(MemoryWrite(type="task", content=change, session_id=SESSION))
    new = await shown(probe, task_id)
    expect(new.title == "a new title", f"{task_id} got a new title by its taskId, but is still called {new.title!r}")
    lost = [name for name in ("state", "priority", "due", "steps") if getattr(new, name) != getattr(old, name)]
    expect(not lost, f"only the title of {task_id} was changed by its taskId, but so did its {', '.join(lost)}")


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


CHECKS = (
    Check("memory:write: a task is kept, shown and changes its state", task_lives),
    Check("memory:write: a change of a task by its taskId leaves the rest", change_leaves_the_rest),
    Check("memory:write: ids of tasks differ", task_ids_differ),
    Check("memory:task_state_change: an unknown task is refused by its id", unknown_task_is_refused),
    Check("memory:task_state_change: from completed only back to in_progress", completed_goes_back_to_in_progress_only),
)
