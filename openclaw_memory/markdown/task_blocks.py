"""Reading tasks: a heading with an id and a list of attributes (seed 000 section 2.3).

    ### [OPEN-001] 把照片搬到新硬盘
    - 状态: 进行中
    - 步骤:
      - [x] 买一块 4 TB 硬盘

A heading without an id is no task of ours and is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from functools import lru_cache

from openclaw_memory.markdown.items import Item
from openclaw_memory.markdown.outline import READ_BEFORE, Outline, Section, outline
from openclaw_memory.markdown.steps import Step, read_steps
from openclaw_memory.markdown.task_words import (
    Attribute,
    Priority,
    State,
    attribute_of,
    read_day_or_time,
    read_priority,
    read_state,
    read_time,
)
from openclaw_memory.markdown.text import split_lines

_TITLE = re.compile(r"\[([A-Z][A-Z0-9]*-[0-9]{1,12})\][ \t]*(.*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Task:
    """What is known of a task; times are aware and kept to the minute, `reason` is why it has its state."""

    id: str
    title: str
    state: State = "pending"
    priority: Priority = "medium"
    created: datetime | None = None
    due: date | datetime | None = None
    completed: datetime | None = None
    description: str | None = None
    reason: str | None = None
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskBlock(Task):
    """A task as it stands in a file.

    `raw` are its lines as written, attributes that are not ours included, without the blank lines after it. Lines are
    counted from 1 in the body, both ends included. `section` is the title of the heading above it. `unread` names the
    attributes that should be times and say something else.
    """

    raw: str = ""
    start_line: int = 0
    end_line: int = 0
    section: str = ""
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a task stands: its heading, the items under it, and its last line that is not blank."""

    id: str
    title: str
    heading: Section
    items: tuple[tuple[Attribute, Item], ...]
    end_line: int


@lru_cache(maxsize=READ_BEFORE)
def parse_tasks(body: str, tz: tzinfo) -> tuple[TaskBlock, ...]:
    """Read all tasks, in the order of the file.

    Args:
        body: The document without its front matter.
        tz: The user's zone, for times without an offset.
    """
    lines = split_lines(body)
    return tuple(_read_task(place, lines, tz) for place in find_places(outline(body), lines))


def highest_id(body: str, prefix: str = "OPEN") -> int:
    """Return the highest number of all ids with this prefix, 0 where there is none.

    Headings in fences count as well: an id that was ever given must not be given again.

    Args:
        body: The document without its front matter.
        prefix: Letters before the dash.
    """
    numbers = re.findall(rf"^ {{0,3}}#{{1,6}}[ \t]+\[{re.escape(prefix)}-([0-9]{{1,12}})\]", body, re.MULTILINE)
    return max(map(int, numbers), default=0)


def find_places(found: Outline, lines: Sequence[str]) -> list[Place]:
    """Find the headings of tasks; a task ends where a heading of the same or a higher level, or another task, begins.

    Args:
        found: Outline of the body.
        lines: The body's lines.
    """
    places = []
    for index, section in enumerate(found.sections):
        match = _TITLE.match(section.title)
        if match is None or section.level == 0:
            continue
        last = section
        for below in found.sections[index + 1 :]:
            if below.level <= section.level or _TITLE.match(below.title):
                break
            last = below
        end = last.end_line
        while not lines[end - 1].strip():
            end -= 1
        places.append(Place(match[1], match[2].strip(), section, _attributes(section), end))
    return places


def _attributes(section: Section) -> tuple[tuple[Attribute, Item], ...]:
    """Return the items that are attributes of ours; of several with the same label the first one counts."""
    found: dict[Attribute, Item] = {}
    for item in section.items:
        attribute = attribute_of(item.key) if item.key is not None else None
        if attribute is not None:
            found.setdefault(attribute, item)
    return tuple(found.items())


def _read_task(place: Place, lines: Sequence[str], tz: tzinfo) -> TaskBlock:
    values = {attribute: item.value for attribute, item in place.items}
    start = place.heading.start_line
    steps = dict(place.items).get("steps")
    created, completed = read_time(values.get("created", ""), tz), read_time(values.get("completed", ""), tz)
    due = read_day_or_time(values.get("due", ""), tz)
    times: dict[Attribute, object] = {"created": created, "due": due, "completed": completed}
    return TaskBlock(
        id=place.id,
        title=place.title,
        state=read_state(values.get("state", "")),
        priority=read_priority(values.get("priority", "")),
        created=created,
        due=due,
        completed=completed,
        description=values.get("description") or None,
        reason=values.get("reason") or None,
        steps=tuple(step for step, _ in read_steps(lines[steps.start_line : steps.end_line])) if steps else (),
        raw="".join(lines[start - 1 : place.end_line]),
        start_line=start,
        end_line=place.end_line,
        section=place.heading.path[-2] if len(place.heading.path) > 1 else "",
        unread=tuple(name for name, time in times.items() if time is None and values.get(name, "").strip()),
    )
