"""Read what a model answered: whatever it is not exactly what was asked for, with a reason, is not used."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from openclaw_memory.markdown.summary_items import SummaryItem, SummaryItems
from openclaw_memory.markdown.text import clean
from openclaw_memory.retrieval.terms import fold, is_identifier, terms

MOST_ITEMS = 100
MAX_ITEM_CHARS = 600
MAX_ANSWER_CHARS = 100_000

_FENCED = re.compile(r"```[a-zA-Z]*[ \t]*\n(.*?)\n?```", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_PAGE = re.compile(r"<\s*(?:!doctype|html|body|script|iframe)\b", re.IGNORECASE)


class NotUsableError(Exception):
    """Raised when an answer is not what was asked for; its text says why."""


@dataclass(frozen=True, slots=True)
class Line:
    """What a model was shown under a number: text, and the addresses that it rests on."""

    text: str
    sources: tuple[str, ...]


def items_in(answer: str, lines: Sequence[Line], also_known: Iterable[str] = ()) -> SummaryItems:
    """Read the items of a summary out of an answer.

    An item that names a number or an identifier that nobody said is left out: what a model makes up must not become a
    memory.

    Parameters: `lines`, what it was shown, numbered from 1; `also_known`, texts whose numbers it may use too.

    Raises: `NotUsableError`.
    """
    parts = _parts(answer)
    known = frozenset(term for text in (*(line.text for line in lines), *also_known) for term in terms(text))
    reading = _Reading(lines, known)
    talks = tuple(reading.talk(one, "talks") for one in parts["talks"])
    facts = tuple(reading.item(one, "facts") for one in parts["facts"])
    todos = tuple(reading.item(one, "todos", boxed=True) for one in parts["todos"])
    items = SummaryItems(*(tuple(one for one in part if one is not None) for part in (talks, facts, todos)))
    if not items:
        raise NotUsableError("it holds no item" if not reading.made_up else "nothing in it rests on what was said")
    if reading.made_up > reading.taken:
        raise NotUsableError(f"{reading.made_up} of its items name numbers or names that nobody said")
    return items


def _parts(answer: str) -> dict[str, list[Any]]:
    text = answer.strip()
    if not text:
        raise NotUsableError("it is empty")
    if len(text) > MAX_ANSWER_CHARS:
        raise NotUsableError(f"it has {len(text):,} characters")
    fenced = _FENCED.findall(text)
    if len(fenced) == 1:
        text = fenced[0].strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotUsableError("it is no JSON") from error
    if not isinstance(value, dict):
        raise NotUsableError(f"it is a JSON {type(value).__name__}, not an object")
    parts = {name: value.get(name, []) for name in ("talks", "facts", "todos")}
    if not any(name in value for name in parts):
        raise NotUsableError("it has none of talks, facts, todos")
    for name, part in parts.items():
        if not isinstance(part, list):
            raise NotUsableError(f"{name} is no list")
        if len(part) > MOST_ITEMS:
            raise NotUsableError(f"{name} has {len(part)} items")
    return parts


class _Reading:
    """Reads items, and counts those that were left out."""

    def __init__(self, lines: Sequence[Line], known: frozenset[str]) -> None:
        self._lines = lines
        self._known = known
        self._seen: set[str] = set()
        self.taken = 0
        self.made_up = 0

    def talk(self, value: Any, place: str) -> SummaryItem | None:
        item = self.item(value, place)
        points = value.get("points", [])
        if not isinstance(points, list) or len(points) > MOST_ITEMS:
            raise NotUsableError("points is no list of a few items")
        read = tuple(point for one in points if (point := self.item(one, "points")) is not None)
        if item is None:
            return None
        return SummaryItem(item.text, item.sources, read)

    def item(self, value: Any, place: str, *, boxed: bool = False) -> SummaryItem | None:
        if not isinstance(value, dict):
            raise NotUsableError(f"an item of {place} is no object")
        text, numbers, done = value.get("text"), value.get("from"), value.get("done", False)
        if not isinstance(text, str):
            raise NotUsableError(f"the text of an item of {place} is no string")
        if not isinstance(done, bool):
            raise NotUsableError(f"done of an item of {place} is neither true nor false")
        text = " ".join(_CONTROL.sub(" ", clean(text)[0]).split())
        if len(text) > MAX_ITEM_CHARS:
            raise NotUsableError(f"an item of {place} has {len(text):,} characters")
        if _PAGE.search(text):
            raise NotUsableError(f"an item of {place} is a web page")
        sources = self._sources(numbers, place)
        if fold(text) in self._seen or not any(char.isalnum() for char in text):
            return None
        if not self._rests_on_what_was_said(text):
            self.made_up += 1
            return None
        self._seen.add(fold(text))
        self.taken += 1
        return SummaryItem(text, sources, done=done and boxed)

    def _sources(self, numbers: Any, place: str) -> tuple[str, ...]:
        if not isinstance(numbers, list) or not numbers:
            raise NotUsableError(f"an item of {place} does not tell what it rests on")
        if not all(
            isinstance(one, int) and not isinstance(one, bool) and 1 <= one <= len(self._lines) for one in numbers
        ):
            raise NotUsableError(f"an item of {place} rests on what it was not shown")
        return tuple(dict.fromkeys(source for one in numbers for source in self._lines[one - 1].sources))

    def _rests_on_what_was_said(self, text: str) -> bool:
        return all(term in self._known for term in terms(text) if is_identifier(term) or term.isdigit())
