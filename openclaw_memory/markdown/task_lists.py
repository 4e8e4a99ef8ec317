"""A file of tasks as a whole: its beginning, and tasks that come and go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC

from openclaw_memory.markdown.editing import end_of_text, insert_lines, places_at_end
from openclaw_memory.markdown.errors import UnknownTaskError, UnwritableValueError
from openclaw_memory.markdown.fact_files import new_fact_body
from openclaw_memory.markdown.items import matching
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.outline import outline, write_heading
from openclaw_memory.markdown.task_blocks import Task, find_places, parse_tasks
from openclaw_memory.markdown.task_edits import ORDER, check_written, place_of, write_attribute, write_task_heading
from openclaw_memory.markdown.task_words import LIST_TITLES
from openclaw_memory.markdown.text import split_lines, without_end


def new_task_body(title: str, language: Language, newline: str = "\n") -> str:
    """Return the beginning of a new file of tasks.

    Args:
        title: Heading of the file.
        language: Language of the labels.
        newline: Line end to use.
    """
    top = new_fact_body(title, language, newline)
    return top + newline + write_heading(2, LIST_TITLES[language]) + newline


def append_task(body: str, task: Task, *, language: Language, newline: str) -> str:
    """Put a task at the end of the list of tasks.

    Args:
        body: The document without its front matter.
        task: Its times are in the user's zone and written to the minute.
        language: Language of the labels.
        newline: Line end of the file.

    Raises:
        UnwritableValueError: The title, description, reason or a step would not be read back.
    """
    lines = [write_task_heading(3, task.id, task.title) + newline]
    for attribute in ORDER:
        value = getattr(task, attribute)
        if value not in (None, "", ()):
            lines += write_attribute(attribute, value, language, newline)
    changed = insert_task(body, "".join(lines), newline=newline)
    check_written(changed, task.id, {field.name: getattr(task, field.name) for field in fields(Task)})
    return changed


def insert_task(body: str, raw: str, *, newline: str) -> str:
    """Put the raw lines of a task at the end of the list of tasks, as when it moves from another file.

    Args:
        body: The document without its front matter.
        raw: `TaskBlock.raw`; its lines get the line end of this file.
        newline: Line end of the file.

    Raises:
        UnwritableValueError: There is no place where the task would be found again.
    """
    block = [without_end(line) + newline for line in split_lines(raw)]
    before, moved = _texts(body), _text(raw)
    candidates = [insert_lines(body, at, block, newline=newline, gap=True) for at in _places_in_list(body)]
    for text_below in (False, True):  # before a fence that nobody closed, it may have text of others below it
        for changed in candidates:
            after = _texts(changed)
            new = [text for text in after if text == moved or (text_below and text.startswith(f"{moved}\n"))]
            if new and sorted(after) == sorted([*before, new[0]]):
                return changed
    raise UnwritableValueError("task", raw, "its lines would not be read back as one task; look for an unclosed fence")


def remove_task(body: str, task_id: str, raw: str | None = None) -> tuple[str, str]:
    """Take a task out, with the blank lines after it.

    Args:
        body: The document without its front matter.
        task_id: Its id.
        raw: Its lines, where a task with the same id may stand before it.

    Returns:
        The body, and the raw lines of the task.

    Raises:
        UnknownTaskError: There is no such task.
    """
    lines = split_lines(body)
    start, end = _lines_of(body, task_id, raw)
    found = "".join(lines[start:end])
    while end < len(lines) and not lines[end].strip():
        end += 1
    if end == len(lines):
        start = end_of_text(body, 1, start)
    return "".join([*lines[:start], *lines[end:]]), found


def same_lines(one: str, other: str) -> bool:
    """Tell whether two tasks are written alike, whatever the line ends of their files.

    Args:
        one: `TaskBlock.raw` of one.
        other: That of the other.
    """
    return _text(one) == _text(other)


def _lines_of(body: str, task_id: str, raw: str | None) -> tuple[int, int]:
    """Return where a task begins, and the end of its last line that is not blank."""
    if raw is None:
        place = place_of(body, task_id)
        return place.heading.start_line - 1, place.end_line
    for task in parse_tasks(body, UTC):
        if task.id == task_id and same_lines(task.raw, raw):
            return task.start_line - 1, task.end_line
    raise UnknownTaskError(task_id)


def _texts(body: str) -> list[str]:
    """Return the raw lines of all tasks with one kind of line end, to see that an insertion changed none."""
    return [_text(task.raw) for task in parse_tasks(body, UTC)]


def _text(raw: str) -> str:
    return raw.replace("\r\n", "\n").strip()


def _places_in_list(body: str) -> Iterator[int]:
    """Yield where a task can be put, best first, as numbers of lines before it.

    At the end of the section of tasks; where there is none, after the last task; where there is none, at the end.
    """
    found = outline(body)
    titles = {matching(title) for title in LIST_TITLES.values()}
    for index, section in enumerate(found.sections):
        if matching(section.title) in titles:
            last = section
            for below in found.sections[index + 1 :]:
                if below.level <= section.level:
                    break
                last = below
            yield end_of_text(body, section.text_line, last.end_line)
            yield section.text_line - 1
    tasks = find_places(found, split_lines(body))
    if tasks:
        yield tasks[-1].end_line
    yield from places_at_end(body, found)
