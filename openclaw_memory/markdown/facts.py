"""Facts: `- key: value` in a section of a Markdown document (seed 000 section 2.2).

An edit replaces the lines of one value and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from openclaw_memory.markdown.editing import (
    end_of_text,
    insert_lines,
    other_items,
    places_at_end,
    replace_lines,
    replace_value,
)
from openclaw_memory.markdown.errors import UnwritableValueError
from openclaw_memory.markdown.fact_files import new_fact_body, touch_updated_line
from openclaw_memory.markdown.items import Item, bullet_beside, canonical, matching, write_value
from openclaw_memory.markdown.outline import READ_BEFORE, Outline, Section, outline, write_heading
from openclaw_memory.markdown.text import newline_of

__all__ = [
    "Fact",
    "FactEdit",
    "Values",
    "new_fact_body",
    "parse_facts",
    "remove_fact",
    "set_fact",
    "touch_updated_line",
    "values_in",
]


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact, with the title of its section and its lines, counted from 1, both ends included."""

    section: str
    key: str
    value: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class FactEdit:
    """A body after an edit; `old` is the value before it, None where there was none."""

    body: str
    old: str | None
    changed: bool


@dataclass(frozen=True, slots=True)
class Values:
    """The facts of a body by name, as names are compared: `values` by section and key, and the `sections` with any."""

    values: Mapping[tuple[str, str], str]
    sections: frozenset[str]

    def of(self, section: str, key: str) -> str | None:
        """Give the value of a fact, of the first where there are several; None where there is none."""
        return self.values.get((matching(section), matching(key)))

    def has_section(self, section: str) -> bool:
        """Tell whether there is any fact in a section."""
        return matching(section) in self.sections


@lru_cache(maxsize=READ_BEFORE)
def values_in(body: str) -> Values:
    """Read the values of all facts, to look some up.

    Args:
        body: The document without its front matter.
    """
    values: dict[tuple[str, str], str] = {}
    for section in outline(body).sections:
        title = matching(section.title)
        for item in section.items:
            if item.key is not None:
                values.setdefault((title, matching(item.key)), item.value)
    return Values(values, frozenset(section for section, _ in values))


@lru_cache(maxsize=READ_BEFORE)
def parse_facts(body: str) -> tuple[Fact, ...]:
    """Read all facts, in the order of the file.

    Args:
        body: The document without its front matter.
    """
    return tuple(
        Fact(section.title, item.key, item.value, item.start_line, item.end_line)
        for section in outline(body).sections
        for item in section.items
        if item.key is not None
    )


def set_fact(body: str, section: str, key: str, value: str, *, newline: str) -> FactEdit:
    """Give a fact its value.

    Of several sections with this title, the first that has the key is changed; where none has it, the fact is added to
    the first one; where there is no such section, it is added at the end of the body.

    Args:
        body: The document without its front matter.
        section: Title of a heading of any level; compared by `items.matching`.
        key: Compared likewise; one line without a colon.
        value: Any text that is not blank; `items.canonical` is what is kept.
        newline: Line end of the file.

    Raises:
        UnwritableValueError: The key or value would not be read back.
    """
    value = canonical(value)
    if not value:
        raise UnwritableValueError("value", value, "it is blank; remove the fact instead")
    found = outline(body)
    item = _find(found, section, key)
    if item is not None and item.value == value:
        return FactEdit(body, value, changed=False)
    for changed in _changed(body, found, item, section, key, value, newline):
        written = outline(changed)
        new = _find(written, section, key)
        if new is not None and new.value == value and other_items(written, new) == other_items(found, item):
            return FactEdit(changed, item.value if item else None, changed=True)
    raise UnwritableValueError("key", key, "it would be read back as something else; use a plain name without a colon")


def remove_fact(body: str, section: str, key: str) -> FactEdit:
    """Take the lines of a fact out; where there is no such fact, nothing changes.

    Args:
        body: The document without its front matter.
        section: Title of its section.
        key: Its key.
    """
    item = _find(outline(body), section, key)
    if item is None:
        return FactEdit(body, None, changed=False)
    kept = replace_lines(body, item.start_line, item.end_line, (), newline_of(body))
    return FactEdit(kept, item.value, changed=True)


def _find(found: Outline, section: str, key: str) -> Item | None:
    """Return the first item with this key in the sections with this title."""
    wanted = matching(key)
    for candidate in _titled(found, section):
        for item in candidate.items:
            if item.key is not None and matching(item.key) == wanted:
                return item
    return None


def _titled(found: Outline, title: str) -> list[Section]:
    wanted = matching(title)
    return [section for section in found.sections if matching(section.title) == wanted]


def _changed(
    body: str, found: Outline, item: Item | None, section: str, key: str, value: str, newline: str
) -> Iterator[str]:
    """Yield the bodies that may hold the fact, best first."""
    if item is not None:
        yield replace_value(body, item, value, newline)
        return
    fact = write_value(f"- {key}: ", value, newline)
    same_title = _titled(found, section)
    if same_title:
        first = same_title[0]
        if first.items:
            beside = write_value(f"{bullet_beside(first.items[-1])} {key}: ", value, newline)
            yield insert_lines(body, first.items[-1].end_line, beside, newline=newline)
        at = end_of_text(body, first.text_line, first.end_line)
        yield insert_lines(body, at, fact, newline=newline, gap=True)
        yield insert_lines(body, first.text_line - 1, fact, newline=newline, gap=True)
    if section:
        fact = [write_heading(2, section) + newline, newline, *fact]
    places = places_at_end(body, found)
    for new in (fact, [*fact, newline, f"<!-- -->{newline}"]):  # the comment parts an item from an indented fence below
        for at in places:
            yield insert_lines(body, at, new, newline=newline, gap=True)
