"""MEMORY.md: one line an entry, in sections; or an index of linked files (seed 002, seed 003 section 26.4.2).

An entry is a list item at the top level. Whatever else a person wrote there stays where it is.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from openclaw_memory.markdown.editing import end_of_text, insert_lines, places_at_end, replace_lines
from openclaw_memory.markdown.errors import UnwritableValueError
from openclaw_memory.markdown.items import Item, bullet_beside, matching
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.outline import Outline, Section, outline, write_heading
from openclaw_memory.markdown.text import split_lines, without_end

MAX_ENTRY_CHARS = 2_000
"""Longest entry: MEMORY.md is read whole at every start, and should hold 2,000 to 4,000 tokens (seed 003 26.9)."""

TITLES: Mapping[Language, str] = {"zh": "长期记忆", "en": "Long-term memory"}
SECTIONS: Mapping[Language, tuple[str, str, str]] = {
    "zh": ("关于用户", "偏好", "项目上下文"),
    "en": ("About the user", "Preferences", "Project context"),
}
"""The three sections of seed 002; a name in either language means the same section."""

_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+(?=\S)")
_ENDS = " \t.。!！;；"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: its section's title, its text in one line, and its lines, from 1, both ends included.

    `digest` is its name within the file. It follows from the text, so it stays when other entries come, go or move;
    the second of two equal entries ends in `-2`.
    """

    section: str
    text: str
    digest: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class CuratedEdit:
    """A body after an edit, with the digest of the entry that it was about."""

    body: str
    digest: str
    changed: bool


def parse_curated(body: str) -> tuple[Entry, ...]:
    """Read all entries, in the order of the file.

    Parameters: `body`, the document without front matter.
    """
    return _entries(outline(body))


def fold(text: str) -> str:
    """Give the form in which entries are compared: NFKC, case folded, white space and the full stop do not count."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split()).rstrip(_ENDS)


def digest_of(text: str) -> str:
    """Give the name of an entry: the first 8 hexadecimal digits of the SHA-256 of its folded text."""
    return hashlib.sha256(fold(text).encode("utf-8", "replace")).hexdigest()[:8]


def one_line(text: str) -> str:
    """Give a text as an entry holds it: one line, without the bullet that its writer may have put before it.

    Raises: `UnwritableValueError` when it is blank or too long.
    """
    line = " ".join(text.split())
    line = _BULLET.sub("", line, count=1) if _BULLET.match(line) else line
    if not fold(line):
        raise UnwritableValueError("text", text, "it is blank; leave the entry out")
    if len(line) > MAX_ENTRY_CHARS:
        raise UnwritableValueError(
            "text",
            text,
            f"{len(line):,} characters, an entry of MEMORY.md has at most {MAX_ENTRY_CHARS:,}; write a note instead",
        )
    return line


def section_title(name: str | None, language: Language) -> str:
    """Give the title of the section that a name means, for a file that has none of it yet.

    The three sections have the title of the `language`; any other name is its own. None is the project's context.
    """
    if name is None:
        return SECTIONS[language][2]
    place = _place(name)
    return name if place is None else SECTIONS[language][place]


def add_entry(
    body: str, section: str, text: str, *, beside: str | None, language: Language, newline: str
) -> CuratedEdit:
    """Add an entry at the end of its section; nothing changes when one that says the same is there already.

    Parameters: `body`, the document without front matter, or "" for a new one; `section`, compared by
    `items.matching`, in either language; `text`, as `one_line` gives it; `beside`, the digest of an entry to stand
    below, wherever it is; `newline`, the line end of the file.

    Raises: `UnwritableValueError` when the entry would not be read back.
    """
    found = outline(body)
    known = _entries(found)
    if same := next((entry for entry in known if fold(entry.text) == fold(text)), None):
        return CuratedEdit(body, same.digest, changed=False)
    base = body or f"{write_heading(1, TITLES[language])}{newline}"
    for changed in _with_entry(base, found if body else outline(base), section, text, beside, language, newline):
        again = _entries(outline(changed))
        new = [entry for entry in again if entry.text == text]
        if len(new) == 1 and _texts(again, without=new[0]) == _texts(known):
            return CuratedEdit(changed, new[0].digest, changed=True)
    raise UnwritableValueError("text", text, "it would be read back as something else; write it as a plain sentence")


def replace_entry(body: str, old: str, text: str, *, newline: str) -> CuratedEdit | None:
    """Put a text in the place of the entry with the digest `old`; None when there is no such entry.

    Where another entry says the same as the new text already, nothing changes.

    Raises: `UnwritableValueError` when the entry would not be read back.
    """
    found = outline(body)
    known = _entries(found)
    if same := next((entry for entry in known if fold(entry.text) == fold(text)), None):
        return CuratedEdit(body, same.digest, changed=False)
    entry = next((entry for entry in known if entry.digest == old), None)
    if entry is None:
        return None
    first = without_end(split_lines(body)[entry.start_line - 1]).removesuffix("\r")
    begin = re.match(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?", first)
    line = f"{begin[0] if begin else '- '}{text}{newline}"
    changed = replace_lines(body, entry.start_line, entry.end_line, [line], newline)
    again = _entries(outline(changed))
    new = [other for other in again if other.text == text]
    if len(new) != 1 or _texts(again, without=new[0]) != _texts(known, without=entry):
        raise UnwritableValueError(
            "text", text, "it would be read back as something else; write it as a plain sentence"
        )
    return CuratedEdit(changed, new[0].digest, changed=True)


def remove_entries(body: str, digests: Collection[str], *, newline: str) -> str:
    """Take the entries with these digests out; nothing else is touched, and unknown ones are passed over.

    Where the lines that are left would be read as other entries than before, an entry stays.
    """
    for digest in digests:
        known = parse_curated(body)
        entry = next((one for one in known if one.digest == digest), None)
        if entry is None:
            continue
        changed = replace_lines(body, entry.start_line, entry.end_line, [], newline)
        if _texts(parse_curated(changed)) == _texts(known, without=entry):
            body = changed
    return body


def _entries(found: Outline) -> tuple[Entry, ...]:
    seen: dict[str, int] = {}
    entries = []
    for section in found.sections:
        for item in section.items:
            text = " ".join(item.text.split())
            if not text:
                continue
            digest = digest_of(text)
            seen[digest] = count = seen.get(digest, 0) + 1
            name = digest if count == 1 else f"{digest}-{count}"
            entries.append(Entry(section.title, text, name, item.start_line, item.end_line))
    return tuple(entries)


def _texts(entries: tuple[Entry, ...], without: Entry | None = None) -> list[tuple[str, str]]:
    return [(entry.section, entry.text) for entry in entries if entry is not without]


def _place(name: str) -> int | None:
    """Tell which of the three sections a name means."""
    wanted = matching(name)
    for names in SECTIONS.values():
        for place, known in enumerate(names):
            if matching(known) == wanted:
                return place
    return None


def _means(section: Section, name: str) -> bool:
    """Tell whether a section of the file is the one that is asked for, in whatever language."""
    place = _place(name)
    if place is not None and section.level > 0:
        return any(matching(names[place]) == matching(section.title) for names in SECTIONS.values())
    return matching(section.title) == matching(name)


def _with_entry(
    body: str, found: Outline, section: str, text: str, beside: str | None, language: Language, newline: str
) -> Iterator[str]:
    """Yield the bodies that may hold the entry, best first."""
    items = {item.start_line: item for part in found.sections for item in part.items}
    neighbour = next((entry for entry in _entries(found) if entry.digest == beside), None)
    if neighbour is not None:
        yield _below(body, items[neighbour.start_line], text, newline)
    line = f"- {text}{newline}"
    same = [part for part in found.sections if _means(part, section)]
    for part in same:
        if part.items:
            yield _below(body, part.items[-1], text, newline)
    for part in same:
        at = end_of_text(body, part.text_line, part.end_line)
        yield insert_lines(body, at, [line], newline=newline, gap=True)
        yield insert_lines(body, part.text_line - 1, [line], newline=newline, gap=True)
    heading = [write_heading(2, section_title(section, language)) + newline, newline, line]
    for at in places_at_end(body, found):
        yield insert_lines(body, at, heading, newline=newline, gap=True)


def _below(body: str, item: Item, text: str, newline: str) -> str:
    return insert_lines(body, item.end_line, [f"{bullet_beside(item)} {text}{newline}"], newline=newline)
