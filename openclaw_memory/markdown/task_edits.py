"""Changes to one task; only the lines that say something new are touched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, date

from openclaw_memory.markdown.editing import end_of_text, insert_lines, other_items, replace_lines, replace_value
from openclaw_memory.markdown.errors import UnknownTaskError, UnwritableValueError
from openclaw_memory.markdown.items import Item, bullet_beside, canonical, read_item, write_value
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.outline import outline, write_heading
from openclaw_memory.markdown.steps import Step, read_steps, write_steps
from openclaw_memory.markdown.task_blocks import Place, Task, find_places, parse_tasks
from openclaw_memory.markdown.task_words import (
    LABELS,
    PRIORITIES,
    STATES,
    Attribute,
    language_of,
    write_time,
)
from openclaw_memory.markdown.text import end_of, split_lines

ORDER: tuple[Attribute, ...] = ("state", "created", "priority", "due", "completed", "description", "reason", "steps")
_CHANGEABLE = frozenset({"title", *ORDER})


def edit_task(body: str, task_id: str, changes: Mapping[str, object], *, newline: str | None = None) -> str:
    """Change attributes of a task.

    What already has the value keeps its lines as written. An attribute that is new gets a line after those that come
    before it in the seed's order; None takes the line out. Words are written in the language of the task's own labels.

    Args:
        body: The document without its front matter.
        task_id: Its id.
        changes: By the names of `Task`'s attributes, all but `id`; times are in the user's zone.
        newline: Line end for new lines; default that of the heading.

    Raises:
        UnknownTaskError: There is no such task.
        UnwritableValueError: A value would not be read back, or there is no such attribute.
    """
    for name in changes:
        if name not in _CHANGEABLE:
            raise UnwritableValueError("attribute", name, f"a task has {', '.join(sorted(_CHANGEABLE))}")
    current = _task_values(body, task_id)
    for name, value in changes.items():
        if _comparable(value) != _comparable(current[name]):
            body = _with_change(body, task_id, name, value, newline)
    check_written(body, task_id, changes)
    return body


def place_of(body: str, task_id: str) -> Place:
    """Find a task.

    Args:
        body: The document without its front matter.
        task_id: Its id.

    Raises:
        UnknownTaskError: There is no such task.
    """
    for place in find_places(outline(body), split_lines(body)):
        if place.id == task_id:
            return place
    raise UnknownTaskError(task_id)


def _task_values(body: str, task_id: str) -> dict[str, object]:
    """Return the attributes of a task; its times are as the clock in the file shows them."""
    for task in parse_tasks(body, UTC):
        if task.id == task_id:
            return {field.name: getattr(task, field.name) for field in fields(Task)}
    raise UnknownTaskError(task_id)


def _comparable(value: object) -> object:
    """Return a value in the form in which a file keeps it; what is empty is None."""
    if isinstance(value, date):
        return write_time(value)
    if isinstance(value, str):
        return canonical(value) or None
    return tuple(value) or None if isinstance(value, Iterable) else value


def check_written(body: str, task_id: str, wanted: Mapping[str, object]) -> None:
    """Make sure that what was written is read back.

    Args:
        body: The document after the change.
        task_id: Id of the task.
        wanted: The values that it must have, by the names of `Task`'s attributes.

    Raises:
        UnwritableValueError: One of them is read back as something else.
    """
    written = _task_values(body, task_id)
    for name, value in wanted.items():
        if _comparable(written[name]) != _comparable(value):
            raise UnwritableValueError(name, str(value), "it would be read back as something else; use plain lines")


def write_attribute(
    attribute: Attribute, value: object, language: Language, newline: str, bullet: str = "-"
) -> list[str]:
    """Write an attribute, each line with its end.

    Args:
        attribute: Its name.
        value: Its value: a word, a text, a time or steps.
        language: Language of the label.
        newline: Line end to use.
        bullet: The bullet of its list.

    Raises:
        UnwritableValueError: The value is none that this attribute can have.
    """
    label = f"{bullet} {LABELS[language][attribute]}:"
    if attribute == "steps":
        return [label + newline, *write_steps(_steps(value), newline)]
    return write_value(f"{label} ", _word(attribute, value, language), newline)


def write_task_heading(level: int, task_id: str, title: str) -> str:
    """Write the heading of a task, without its line end.

    Args:
        level: Level of the heading.
        task_id: Its id.
        title: One line that is not blank.

    Raises:
        UnwritableValueError: The title is blank or has several lines.
    """
    if not title.strip() or "\n" in title or "\r" in title:
        raise UnwritableValueError("title", title, "a title is one line that is not blank")
    return write_heading(level, f"[{task_id}] {title.strip()}")


def _word(attribute: Attribute, value: object, language: Language) -> str:
    words: Mapping[str, str] = {"state": STATES[language], "priority": PRIORITIES[language]}.get(attribute, {})
    if words:
        if value not in words:
            raise UnwritableValueError(attribute, str(value), f"use one of {', '.join(words)}")
        return words[str(value)]
    return write_time(value) if isinstance(value, date) else str(value)


def _steps(value: object) -> Sequence[Step]:
    steps = tuple(value) if isinstance(value, Iterable) else ()
    for step in steps:
        if not isinstance(step, Step) or "\n" in step.text or not step.text.strip():
            raise UnwritableValueError("step", str(step), "a step is a Step with one line of text")
    return steps


def _with_change(body: str, task_id: str, name: str, value: object, newline: str | None) -> str:
    """Return the body with one attribute changed."""
    lines = split_lines(body)
    place = place_of(body, task_id)
    start, text_start = place.heading.start_line - 1, place.heading.text_line - 1
    newline = newline or end_of(lines[start], "\n")
    if name == "title":
        heading = write_task_heading(place.heading.level, task_id, str(value or "")) + end_of(lines[text_start - 1], "")
        return "".join([*lines[:start], heading, *lines[text_start:]])
    attribute = next(known for known in ORDER if known == name)
    items = dict(place.items)
    item = items.get(attribute)
    if item is None:
        bullet = bullet_beside(place.heading.items[0]) if place.heading.items else "-"
        new = write_attribute(attribute, value, _language(items), newline, bullet)
        return _with_new_attribute(body, place, attribute, new, newline)
    if _comparable(value) is None:
        return replace_lines(body, item.start_line, item.end_line, (), newline)
    if attribute == "steps":
        first, old = lines[item.start_line - 1], lines[item.start_line : item.end_line]
        first += "" if first.endswith("\n") else newline
        new = [first, *write_steps(_steps(value), newline, read_steps(old), item.margin)]
        return replace_lines(body, item.start_line, item.end_line, new, newline)
    language = language_of(item.key or "") or _language(items)
    return replace_value(body, item, _word(attribute, value, language), newline)


def _language(items: Mapping[Attribute, Item]) -> Language:
    """Tell in which language the labels of a task are written."""
    known = [language_of(item.key or "") for item in items.values()]
    return next((language for language in known if language is not None), "zh")


def _with_new_attribute(body: str, place: Place, attribute: Attribute, new: Sequence[str], newline: str) -> str:
    """Insert an attribute where it swallows nothing and nothing swallows it.

    Best after the nearest one that comes before it in the seed's order; else after the last item, else at the end.
    """
    section, items = place.heading, dict(place.items)
    others, value = other_items(outline(body), None), read_item(new, 1).value
    top, end = section.text_line - 1, end_of_text(body, section.text_line, section.end_line)
    nearest = max((items[other].end_line for other in ORDER[: ORDER.index(attribute)] if other in items), default=top)
    last = max((item.end_line for item in section.items), default=top)
    for at, gap in ((nearest, False), (last, False), (end, True)):
        changed = insert_lines(body, at, new, newline=newline, gap=gap)
        written = dict(place_of(changed, place.id).items).get(attribute)
        if written is not None and written.value == value and other_items(outline(changed), written) == others:
            return changed
    raise UnwritableValueError(attribute, value, f"task {place.id} has no place for it; look for an unclosed fence")
