"""The items of a summary: talks with their points, what matters, what is to be done; each names what it rests on.

As seed 000 section 2.4 lays them out. What an item rests on stands in a comment behind it, which a person sees in the
file and a model never: `<!-- from: 2026-05-04#01JV... -->`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote

from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.outline import write_heading
from openclaw_memory.markdown.summaries import parse_summary
from openclaw_memory.markdown.text import split_lines

Part = Literal["talks", "facts", "todos"]

SECTIONS: Mapping[Language, Mapping[Part, str]] = {
    "zh": {"talks": "关键对话", "facts": "重要信息", "todos": "待办事项"},
    "en": {"talks": "Key conversations", "facts": "Important information", "todos": "To-dos"},
}

_PARTS: Mapping[str, Part] = {title.casefold(): part for titles in SECTIONS.values() for part, title in titles.items()}
_FROM = re.compile(r"[ \t]*<!-- from: ?([^>\n]*?) ?-->")
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[([ xX])\][ \t]+)?(.*)")
_POSES = re.compile(r"\\*(?:[#>+*|-](?:\s|$|[#>-])|\d{1,9}[.)](?:\s|$)|\[[ xX]\]|={3,}|`{3}|~{3})")
"""What would make an item something else at its beginning: a heading, a quotation, an item, a box, a fence. One more
backslash before it keeps it a text, whatever number it has already."""
_SAFE = "-._~:@"


@dataclass(frozen=True, slots=True)
class SummaryItem:
    """One item: `text` in one line, the addresses that it rests on (`2026-05-04#<id>`), the points below it.

    `done` is for things to be done.
    """

    text: str
    sources: tuple[str, ...] = ()
    points: tuple[SummaryItem, ...] = ()
    done: bool = False


@dataclass(frozen=True, slots=True)
class SummaryItems:
    """All items of a summary, by part, in order."""

    talks: tuple[SummaryItem, ...] = ()
    facts: tuple[SummaryItem, ...] = ()
    todos: tuple[SummaryItem, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.talks or self.facts or self.todos)


def write_items(items: SummaryItems, *, language: Language) -> str:
    """Write the sections of a summary; a part without items is left out."""
    titles = SECTIONS[language]
    blocks: list[str] = []
    if items.talks:
        blocks.append(write_heading(2, titles["talks"]))
        for number, talk in enumerate(items.talks, 1):
            indent = " " * (len(str(number)) + 2)
            lines = [f"{number}. {_line(talk)}", *(f"{indent}- {_line(point)}" for point in talk.points)]
            blocks.append("\n".join(lines))
    if items.facts:
        blocks += [write_heading(2, titles["facts"]), "\n".join(f"- {_line(item)}" for item in items.facts)]
    if items.todos:
        lines = [f"- [{'x' if item.done else ' '}] {_line(item)}" for item in items.todos]
        blocks += [write_heading(2, titles["todos"]), "\n".join(lines)]
    return "\n\n".join(blocks)


def read_items(body: str) -> SummaryItems:
    """Read the items of a summary, also those of one that a person wrote: what is in no list is a talk a paragraph.

    Parameters: `body`, the document without its front matter.
    """
    found: dict[Part, list[SummaryItem]] = {"talks": [], "facts": [], "todos": []}
    for title, text in parse_summary(body).sections:
        part = _PARTS.get(title.strip().casefold(), "talks")
        found[part] += _items(text)
    if not any(found.values()):
        found["talks"] = _items("\n".join(_without_head(body)))
    return SummaryItems(*(tuple(found[part]) for part in ("talks", "facts", "todos")))


def without_sources(text: str) -> str:
    """Leave out the comments that say what items rest on."""
    return _FROM.sub("", text)


def sources_in(line: str) -> tuple[str, ...]:
    """Give the addresses that a line rests on."""
    return tuple(unquote(one) for match in _FROM.finditer(line) for one in match[1].split() if one)


def _line(item: SummaryItem) -> str:
    text = " ".join(item.text.replace("<!--", "<!- -").replace("-->", "-- >").split())
    text = f"\\{text}" if _POSES.match(text) else text
    if not item.sources:
        return text
    return f"{text} <!-- from: {' '.join(_address(one) for one in item.sources)} -->"


def _address(source: str) -> str:
    day, _, rest = source.partition("#")
    # A double hyphen would end the comment for some readers.
    return f"{day}#{quote(rest, safe=_SAFE).replace('--', '-%2D')}"


def _items(text: str) -> list[SummaryItem]:
    items: list[SummaryItem] = []
    for raw in split_lines(text):
        line = raw.rstrip("\r\n")
        if not without_sources(line).strip() or line.lstrip().startswith("#"):
            continue
        match = _ITEM.fullmatch(line)
        sources = sources_in(line)
        if match is None:
            # A paragraph, or the second line of an item that a person wrapped.
            words = _unescaped(without_sources(line).strip())
            if items and raw[:1] in " \t":
                items[-1] = _longer(items[-1], words, sources)
            else:
                items.append(SummaryItem(words, sources))
            continue
        item = SummaryItem(_unescaped(without_sources(match[3]).strip()), sources, done=(match[2] or " ") in "xX")
        if match[1] and items:
            last = items[-1]
            items[-1] = SummaryItem(last.text, last.sources, (*last.points, item), last.done)
        else:
            items.append(item)
    return items


def _longer(item: SummaryItem, words: str, sources: Sequence[str]) -> SummaryItem:
    return SummaryItem(f"{item.text} {words}", (*item.sources, *sources), item.points, item.done)


def _unescaped(text: str) -> str:
    return text[1:] if text.startswith("\\") and _POSES.match(text[1:]) else text


def _without_head(body: str) -> list[str]:
    """Give the lines of a body that are neither title nor say when it was made and from what."""
    return [line for line in body.replace("\r\n", "\n").split("\n") if not line.startswith((">", "#"))]
