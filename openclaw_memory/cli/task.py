"""`openclaw-memory task list`, `task add`, `task done` and `task state`."""

from __future__ import annotations

import re
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from contracts.words import Priority, TaskState
from openclaw_memory.cli.asking import SESSION, run
from openclaw_memory.cli.exits import DONE, NOTHING, TROUBLE
from openclaw_memory.cli.options import Agent, Config, Json, Root, Workspace, configuration
from openclaw_memory.cli.output import console, print_json
from openclaw_memory.cli.paths import nearest
from openclaw_memory.cli.payloads import built
from openclaw_memory.cli.words import say
from openclaw_memory.cli.writing import change, typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bus import EventBus
    from openclaw_memory.actor import Memory
    from openclaw_memory.markdown.task_blocks import Task

task = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look at what is to be done, and change it.")

STATES = get_args(TaskState)
PRIORITIES = get_args(Priority)

Id = Annotated[str, typer.Argument(metavar="ID", help="The task, such as `OPEN-003`; `3` is enough.")]
Name = Annotated[str, typer.Argument(metavar="TITLE", help="What is to be done, in a line.")]
Words = Annotated[
    str | None,
    typer.Option("--description", metavar="TEXT", help="More words; `-` reads them from the standard input."),
]
Due = Annotated[str | None, typer.Option("--due", metavar="DAY", help="Day by which it should be done: 2026-05-04.")]
Matters = Annotated[
    str | None,
    typer.Option(
        "--priority",
        metavar="NAME",
        help=f"{', '.join(PRIORITIES)}. [default: medium]",
        autocompletion=lambda: PRIORITIES,
    ),
]
Steps = Annotated[list[str] | None, typer.Option("--step", metavar="TEXT", help="A step of it; may be repeated.")]
Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; kept with the task.")]
New = Annotated[str, typer.Argument(metavar="STATE", help=f"{', '.join(STATES)}.", autocompletion=lambda: STATES)]
InStates = Annotated[
    list[str] | None,
    typer.Option(
        "--state",
        metavar="STATE",
        help=f"Only tasks in this state; may be repeated: {', '.join(STATES)}.",
        autocompletion=lambda: STATES,
    ),
]
All = Annotated[bool, typer.Option("--all", help="Completed and archived tasks as well.")]


@task.command("list")
def list_(
    state: InStates = None,
    every: All = False,
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
    json: Json = False,
) -> None:
    """List what is to be done, with `--all` what was done as well. Exit code 1: there is nothing."""
    settings = configuration(root, config, workspace, agent)
    wanted = tuple(_one_of(name, STATES, "--state", say("no state")) for name in state or ())
    known, problem = run(partial(_known, every or "completed" in wanted), settings, counts=False)
    # A completed task stays in the list of active ones for some days.
    found = [one for one in known if one.state in wanted or (not wanted and (every or one.state != "completed"))]
    if json:
        print_json({"tasks": [as_json(one) for one in found], "problem": problem})
    elif found:
        _show(found)
    else:
        typer.echo(say("There are no such tasks.") if wanted else say("There is nothing to be done."), err=True)
    if problem is not None and not json:
        typer.echo(problem, err=True)
    raise typer.Exit(TROUBLE if problem is not None else DONE if found else NOTHING)


@task.command("add")
def add(
    title: Name,
    description: Words = None,
    due: Due = None,
    priority: Matters = None,
    step: Steps = None,
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
    json: Json = False,
) -> None:
    """Put down something to be done; it gets an id of its own."""
    settings = configuration(root, config, workspace, agent)
    from contracts import MemoryWrite, TaskContent

    content = built(
        TaskContent,
        title=title,
        description=None if description is None else typed(description),
        due=due,
        priority=None if priority is None else _one_of(priority, PRIORITIES, "--priority", say("no priority")),
        steps=[{"text": text} for text in step] if step else None,
    )
    asked = built(MemoryWrite, type="task", content=content, session_id=SESSION, session_kind="primary", origin="owner")
    change(asked, settings, json=json)


@task.command("done")
def done(
    task_id: Id,
    reason: Reason = None,
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
    json: Json = False,
) -> None:
    """Say that a task is completed. Exit code 1: there is no such task."""
    settings = configuration(root, config, workspace, agent)
    _change(task_id, "completed", reason, settings, json)


@task.command("state")
def state(
    task_id: Id,
    new: New,
    reason: Reason = None,
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
    json: Json = False,
) -> None:
    """Give a task another state: it is begun, it has expired, it was not completed after all.

    From `completed` it goes back to `in_progress` only. Exit code 1: there is no such task, or it can't be.
    """
    settings = configuration(root, config, workspace, agent)
    _change(task_id, _one_of(new, STATES, "STATE", say("no state")), reason, settings, json)


def full_id(text: str) -> str:
    """Give the id that is meant by a number, or by small letters. Pure."""
    number = re.fullmatch(r"(?:open-)?(\d{1,9})", text.strip(), re.IGNORECASE | re.ASCII)
    return f"OPEN-{int(number[1]):03}" if number else text


def as_json(one: Task) -> dict[str, Any]:
    """Give a task as JSON values; the shape is told in docs/cli.md."""
    return {
        "id": one.id,
        "title": one.title,
        "state": one.state,
        "priority": one.priority,
        **{name: _iso(getattr(one, name)) for name in ("created", "due", "completed")},
        "description": one.description,
        "reason": one.reason,
        "steps": [asdict(step) for step in one.steps],
    }


def _change(task_id: str, new_state: str, reason: str | None, settings: Any, json: bool) -> None:
    from contracts import TaskStateChange

    asked = built(
        TaskStateChange,
        task_id=full_id(task_id),
        new_state=new_state,
        reason=reason,
        session_id=SESSION,
        session_kind="primary",
    )
    change(asked, settings, json=json)


async def _known(every: bool, memory: Memory, bus: EventBus) -> tuple[list[Task], str | None]:
    """Read every task, with `every` those that are done as well; and say which files can't be read."""
    from openclaw_memory.cli.documents import bodies_of
    from openclaw_memory.markdown.task_blocks import parse_tasks

    archives = sorted((memory.config.memory_folder / "tasks/archived").glob("*.md"), reverse=True) if every else []
    paths = ["tasks/active.md"]
    paths += ["tasks/completed.md", *(f"tasks/archived/{path.name}" for path in archives)] if every else []
    bodies = await bodies_of(bus, memory.config, paths)
    return [one for body in bodies.texts.values() for one in parse_tasks(body, memory.config.zone)], bodies.problem


def _one_of(name: str, known: Sequence[str], where: str, what: str) -> str:
    if name in known:
        return name
    meant = nearest(name, known)
    hint = say("did you mean {meant!r}?", meant=meant) if meant else say("there are: {names}", names=", ".join(known))
    raise typer.BadParameter(f"{name!r}: {what}; {hint}", param_hint=where)


def _iso(time: Any) -> str | None:
    return None if time is None else time.isoformat()


def _show(found: Sequence[Task]) -> None:
    from rich.text import Text

    out = console()
    colours = {"in_progress": "yellow", "expired": "red", "completed": "green"}
    for one in found:
        due = say("  due {day}", day=f"{one.due:%Y-%m-%d}") if one.due else ""
        state = (f"  {one.state}", colours.get(one.state, "cyan"))
        out.print(Text.assemble((one.id, "bold"), state, f"  {one.priority}{due}  {one.title}"))
        for step in one.steps:
            out.print(Text(f"    [{'x' if step.done else ' '}] {step.text}"))
