"""Choose what of a document goes. Pure: a document and what is wanted in, what is to be cut out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any

from openclaw_memory.layers import facts, sessions
from openclaw_memory.layers.cutting import Run
from openclaw_memory.layers.day_files import ConversationDocument, digest
from openclaw_memory.layers.documents import REQUIRED, MarkdownDocument
from openclaw_memory.layers.history import HistoryDocument
from openclaw_memory.layers.parts import day_of
from openclaw_memory.layers.rooms import room_of
from openclaw_memory.layers.sessions import SessionDocument
from openclaw_memory.lifecycle.forgetting.redacting import redacted
from openclaw_memory.lifecycle.forgetting.units import Unit, heading_lines, lines_as_said, units_of
from openclaw_memory.lifecycle.forgetting.wanted import LONG_ID_CHARS, Wanted
from openclaw_memory.markdown.curated import digest_of
from openclaw_memory.markdown.frontmatter import FrontMatter
from openclaw_memory.markdown.items import matching
from openclaw_memory.markdown.text import split_lines
from openclaw_memory.transcripts.entries import Entry, is_others, read_entry
from openclaw_memory.transcripts.ids import session_of
from openclaw_memory.transcripts.lines import Line

_ARCHIVED_KEY = re.compile(r"(?P<key>.+) \((?P<since>\S+) → (?P<until>\S+)\)(?: #\d+)?")
_WORD = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]*")
_OURS = (*REQUIRED, "message_count", "token_estimate")


@dataclass(slots=True)
class Chosen:
    """What of one document goes.

    `runs` are lines of its body, `head` lines of its front matter, `messages` ids and digests of a day's messages,
    `lines` those of a session's file by number, each with what takes its place, if anything. `count` is how many things
    these are, `texts` what they say, `dated` when messages were said, `ids` the messages among them, `keys` their
    addresses, `facts` section and key, `values` what those were, `digests` the names of entries of MEMORY.md,
    `along` lines that do not hold the text and belong to what does.
    """

    runs: list[Run] = field(default_factory=list)
    head: list[Run] = field(default_factory=list)
    messages: list[tuple[str, str]] = field(default_factory=list)
    lines: dict[int, str | None] = field(default_factory=dict)
    count: int = 0
    texts: list[str] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    facts: set[tuple[str, str]] = field(default_factory=set)
    values: set[str] = field(default_factory=set)
    digests: set[str] = field(default_factory=set)
    dated: list[tuple[str, datetime]] = field(default_factory=list)
    along: list[int] = field(default_factory=list)

    def add(self, text: str, key: str | None = None) -> None:
        """Count one more."""
        self.count += 1
        self.texts.append(text)
        if key is not None:
            self.keys.add(key)


def choose(document: Any, wanted: Wanted, zone: tzinfo, times: Mapping[str, Any]) -> Chosen:
    """Choose what of a document goes.

    Parameters: `zone`, the user's; `times`, since when facts hold (`.state/fact-times.json`).
    """
    if isinstance(document, ConversationDocument):
        return _of_day(document, wanted)
    if isinstance(document, HistoryDocument):
        return _of_history(document, wanted, zone)
    if isinstance(document, SessionDocument):
        return _of_session(document, wanted)
    assert isinstance(document, MarkdownDocument)
    return _of_markdown(document, wanted, zone, times)


# -- messages --------------------------------------------------------------------------------------------------------


def _wants_message(
    wanted: Wanted, path: str, id_: str, session: str | None, time: datetime | None, *texts: str | None
) -> bool:
    return (
        wanted.is_all_of(path)
        or id_ in wanted.ids
        or (wanted.session is not None and session == wanted.session)
        or wanted.is_within(time, time)
        or wanted.says(*texts)
    )


def _of_day(document: ConversationDocument, wanted: Wanted) -> Chosen:
    chosen = Chosen()
    day = day_of(document.path)
    for block in document.file.blocks:
        said = block.message
        if _wants_message(wanted, document.path, said.id, said.session, said.time, said.content, said.name):
            chosen.messages.append((said.id, digest(block.raw)))
            chosen.ids.add(said.id)
            chosen.add(said.content, f"{day}#{said.id}")
            chosen.dated.append((said.content, said.time))
    _around(chosen, document.file.preamble, document.front, document.path, wanted)
    return chosen


def _of_history(document: HistoryDocument, wanted: Wanted, zone: tzinfo) -> Chosen:
    chosen = Chosen()
    for entry in document.entries:
        time = entry.time
        if time is not None and time.utcoffset() is None:
            time = time.replace(tzinfo=zone)
        if _wants_message(wanted, document.path, entry.id, entry.session, time, entry.text, entry.name):
            chosen.runs.append((entry.start_line, entry.end_line))
            chosen.ids.add(entry.id)
            chosen.add(entry.text, f"{document.path}#{entry.id}")
    lines = split_lines(document.preamble)
    for number in _plain_lines(lines, document.path, wanted):
        chosen.runs.append((number, number))
        chosen.add(lines[number - 1].strip())
    return chosen


def _of_session(document: SessionDocument, wanted: Wanted) -> Chosen:
    chosen = Chosen()
    session = session_of(document.path)
    others = any(map(is_others, document.lines))
    all_of_it = wanted.is_all_of(document.path) or wanted.session == session
    for number, line in enumerate(document.lines):
        if not line.raw.strip():
            continue
        if all_of_it:
            chosen.lines[number] = None
            chosen.add(line.raw.decode("utf-8", "replace").strip())
            continue
        entry = read_entry(line)
        said = entry.messages if isinstance(entry, Entry) else ()
        texts = [text for message in said for text in (sessions.searchable(message), message.name) if text]
        if not isinstance(entry, Entry) and (line.problem is not None or others):
            texts.append(line.raw.decode("utf-8", "replace"))
        wants = wanted.says(*texts) or any(wanted.is_within(message.time, message.time) for message in said)
        if others:
            left = _left_of(line, wanted)
            if not wants or left == _as_is(line):
                continue
            chosen.lines[number] = left
        elif wants or any(message.id in wanted.ids for message in said):
            chosen.lines[number] = None
            chosen.ids.update(message.id for message in said)
        else:
            continue
        chosen.add("\n".join(texts), *(f"{document.path}#{message.id}" for message in said[:1]))
    return chosen


def _left_of(line: Line, wanted: Wanted) -> str | None:
    """Give what stays of a line in a file that the real OpenClaw writes: its place in the tree, not what it says."""
    if line.value is None:
        return None
    return redacted(line.value, None if wanted.needle is None else wanted.needle.within)


def _as_is(line: Line) -> str | None:
    """Give a line as `redacted` writes one that says nothing to be taken out."""
    return None if line.value is None else redacted(line.value, lambda text: False)


# -- Markdown --------------------------------------------------------------------------------------------------------


def _of_markdown(document: MarkdownDocument, wanted: Wanted, zone: tzinfo, times: Mapping[str, Any]) -> Chosen:
    chosen = Chosen()
    lines = lines_as_said(document)
    hits = wanted.needle.lines(lines) if wanted.needle is not None else set()
    if wanted.known is not None:
        hits |= {number for number, line in enumerate(lines, start=1) if wanted.known(line)}
    room = room_of(document.path).name
    headings = heading_lines(document)
    for unit in units_of(document, zone):
        if _wants_unit(document, unit, wanted, hits, headings, lines, times):
            chosen.runs.append((unit.start, unit.end))
            if unit.message is not None:
                chosen.ids.add(unit.message)
                chosen.add(unit.text, f"{document.path}#{unit.message}")
            elif unit.key is None:
                chosen.add(unit.text, None if unit.task is None else f"{document.path}#{unit.task}")
            else:
                chosen.add(said_as_fact(unit), f"{document.path}#{unit.section}/{unit.key}")
                chosen.values.add(unit.text)
                chosen.facts.add((matching(unit.section or ""), matching(unit.key)))
            if room == "memory":
                chosen.digests.add(digest_of(" ".join(unit.text.split())))
    chosen.runs = _outermost(chosen.runs)
    if wanted.needle is not None and room != "task":
        gone = (number for start, end in chosen.runs for number in range(start, end + 1))
        chosen.along = [number for number in gone if number not in hits and lines[number - 1].strip()]
    _in_head(chosen, document.front, document.path, wanted)
    return chosen


def _wants_unit(
    document: MarkdownDocument,
    unit: Unit,
    wanted: Wanted,
    hits: set[int],
    headings: Mapping[int, int],
    lines: list[str],
    times: Mapping[str, Any],
) -> bool:
    path = document.path
    if wanted.is_all_of(path) or unit.message in wanted.ids:
        return True
    if wanted.session is not None and unit.session == wanted.session:
        return True
    end = unit.end if unit.task is not None else headings.get(unit.start, unit.end)
    if any(number in hits and number not in unit.silent for number in range(unit.start, end + 1)):
        return True
    if wanted.known is not None and wanted.known(unit.text if unit.key is None else said_as_fact(unit)):
        return True
    if unit.task is not None and unit.task == wanted.task:
        return True
    if unit.key is not None and unit.section is not None and _wants_fact(path, unit, wanted, times):
        return True
    if unit.start not in headings and wanted.is_within(unit.since, unit.until):
        return True
    ids = {id_ for id_ in wanted.ids if len(id_) >= LONG_ID_CHARS}
    own = (lines[number - 1] for number in range(unit.start, end + 1) if number not in unit.silent)
    return bool(ids) and not ids.isdisjoint(_WORD.findall("".join(own)))


def said_as_fact(unit: Unit) -> str:
    """Give a fact in the form in which one that is written again is compared: without the dates of the archive."""
    archived = _ARCHIVED_KEY.fullmatch(unit.key or "")
    return fact_text(unit.section or "", archived["key"] if archived else unit.key or "", unit.text)


def fact_text(section: str, key: str, value: str) -> str:
    """Say a fact in one line."""
    return f"{matching(section)}/{matching(key)}: {value}"


def _wants_fact(path: str, unit: Unit, wanted: Wanted, times: Mapping[str, Any]) -> bool:
    section, key = matching(unit.section or ""), matching(unit.key or "")
    if not path.startswith(f"{facts.ARCHIVE}/"):
        if (section, key) == (wanted.section, wanted.key):
            return True
        known = times.get(f"{path}#{section}/{key}")
        since = _moment(known.get("since")) if isinstance(known, dict) else None
        return wanted.is_within(since, since)
    archived = _ARCHIVED_KEY.fullmatch(unit.key or "")
    if archived is None:
        return False
    key, until = matching(archived["key"]), _moment(archived["until"])
    if (section, key) == (wanted.section, wanted.key) or (path, section, key) in wanted.archived:
        return True
    return wanted.is_within(_moment(archived["since"]) or until, until)


def _moment(written: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(written)
    except (TypeError, ValueError):
        return None
    return found if found.utcoffset() is not None else None


def _outermost(runs: Iterable[Run]) -> list[Run]:
    """Leave out runs that lie within others."""
    kept: list[Run] = []
    for start, end in sorted(runs, key=lambda run: (run[0], -run[1])):
        if not kept or end > kept[-1][1]:
            kept.append((start, end))
    return kept


def _around(chosen: Chosen, preamble: str, front: FrontMatter, path: str, wanted: Wanted) -> None:
    """Choose what a person wrote before the first message, and in the front matter."""
    lines = split_lines(preamble)
    for number in _plain_lines(lines, path, wanted):
        chosen.runs.append((number, number))
        chosen.add(lines[number - 1].strip())
    _in_head(chosen, front, path, wanted)


def _plain_lines(lines: list[str], path: str, wanted: Wanted) -> list[int]:
    if wanted.is_all_of(path):
        return [number for number, line in enumerate(lines, start=1) if line.strip()]
    hits = wanted.needle.lines(lines) if wanted.needle is not None else set()
    known = wanted.known or (lambda text: False)
    return [number for number, line in enumerate(lines, start=1) if line.strip() and (number in hits or known(line))]


def _in_head(chosen: Chosen, front: FrontMatter, path: str, wanted: Wanted) -> None:
    """Choose lines of the front matter that a person wrote: not those that every document has."""
    lines = split_lines(front.head)
    wants = set(_plain_lines(lines, path, wanted))
    for number, line in enumerate(lines, start=1):
        name = line.partition(":")[0].strip(" \ufeff")
        if number in wants and name not in _OURS and not name.startswith("---"):
            chosen.head.append((number, number))
            chosen.add(line.strip())
