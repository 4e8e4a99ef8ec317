"""Facts: `- key: value` in sections, a file a topic; replaced values are archived with their dates (seed 000 2.2)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from openclaw_memory.errors import Refused
from openclaw_memory.layers.documents import BodyFormat, MarkdownDocument, tags_of
from openclaw_memory.layers.pieces import free_text
from openclaw_memory.layers.state import FACT_TIMES, plan_state
from openclaw_memory.markdown.errors import UnwritableValueError
from openclaw_memory.markdown.fact_files import new_fact_body, touch_updated_line
from openclaw_memory.markdown.facts import Fact, parse_facts, set_fact, values_in
from openclaw_memory.markdown.items import canonical, matching
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.operations import Operation

FOLDER = "facts"
ARCHIVE = "facts/archive"
PROFILE = f"{FOLDER}/user-profile.md"
ESSENTIAL = (PROFILE, f"{FOLDER}/preferences.md")
"""Profile and preferences: their facts are in every context, whatever the query."""

_TITLES = {
    "zh": {"user-profile": "用户档案", "preferences": "偏好设置"},
    "en": {"user-profile": "User profile", "preferences": "Preferences"},
}
_BESIDE = {"zh": "未采用", "en": "not applied"}
"""Marks a value that met another one that a person had written meanwhile."""

_ARCHIVED_KEY = re.compile(r"(?P<key>.+) \((?P<since>\S+) → (?P<until>\S+)\)(?: #\d+)?")
_ARCHIVE_TITLE = {"zh": "{title}：已被取代的值", "en": "{title}: values that were replaced"}


@dataclass(frozen=True, slots=True)
class FactPlan:
    """Where a fact is now; `old` is the value that it replaced, `changed` whether anything changed."""

    key: str
    old: str | None
    changed: bool


def archive_path(path: str) -> str:
    """Give the file that holds the replaced values of a fact file."""
    return f"{ARCHIVE}/{path.rpartition('/')[2]}"


def topic_path(topic: str) -> str:
    """Give the file of a topic."""
    return f"{FOLDER}/{topic}.md"


def documents_for(topic: str | None, known: Sequence[str]) -> list[str]:
    """List the documents that planning a fact needs. `known` are the fact files that exist and can be read."""
    return [*([topic_path(topic)] if topic is not None else dict.fromkeys([PROFILE, *known])), FACT_TIMES]


def choose_path(draft: Draft, topic: str | None, known: Sequence[str], section: str, key: str) -> str:
    """Choose the file of a fact: the topic's; else the one that has it; else the one with its section; else profile."""
    if topic is not None:
        return topic_path(topic)
    with_section = None
    for path in sorted({PROFILE, *known}, key=lambda path: (path not in ESSENTIAL, path)):
        values = values_in(draft.document(path).body)
        if values.of(section, key) is not None:
            return path
        if with_section is None and values.has_section(section):
            with_section = path
    return with_section or PROFILE


def plan_fact(
    draft: Draft,
    known: Sequence[str],
    *,
    section: str,
    key: str,
    value: str,
    topic: str | None,
    now: datetime,
    language: str,
) -> FactPlan:
    """Set one value; the one before it goes into the archive with the time from which and until which it held.

    Raises: `Refused` when the section or key would not be read back.
    """
    path = choose_path(draft, topic, known, section, key)
    at = now.isoformat(timespec="seconds")
    address = f"{path}#{section}/{key}"
    old = values_in(draft.document(path).body).of(section, key)
    arguments = {"section": section, "key": key, "value": value, "old": old, "at": at, "language": language}
    try:
        changed = draft.apply(Operation(path, "set", {**arguments, "title": _title(path, language)}))
    except UnwritableValueError as error:
        raise Refused(error.field, error.reason) from error
    if not changed:
        return FactPlan(address, old, changed=False)
    if old is not None:
        held = draft.document(FACT_TIMES).values.get(_time_key(path, section, key))
        # A person may have changed the value since; from when theirs holds nobody knows.
        since = held["since"] if isinstance(held, dict) and held.get("value") == _digest(old) else "?"
        archive = archive_path(path)
        title = _ARCHIVE_TITLE[language].format(title=_title(path, language))
        place = _free_key(draft.document(archive), section, f"{key} ({since} → {at})", old)
        draft.apply(Operation(archive, "set", {**arguments, "key": place, "value": old, "old": None, "title": title}))
    plan_state(draft, FACT_TIMES, {_time_key(path, section, key): {"since": at, "value": _digest(value)}})
    return FactPlan(address, old, changed=True)


def facts_in(document: MarkdownDocument) -> tuple[Fact, ...]:
    """Read the facts of a document, once."""
    return document.once("facts", lambda: parse_facts(document.body))


def _free_key(archive: MarkdownDocument, section: str, key: str, value: str) -> str:
    """Give a key under which nothing else is archived: a value may change several times within a second."""
    number, free = 1, key
    while (found := values_in(archive.body).of(section, free)) is not None and found != value:
        number += 1
        free = f"{key} #{number}"
    return free


def _digest(value: str) -> str:
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:16]


def _time_key(path: str, section: str, key: str) -> str:
    return f"{path}#{matching(section)}/{matching(key)}"


def _title(path: str, language: str) -> str:
    topic = path.rpartition("/")[2].removesuffix(".md")
    return _TITLES[language].get(topic, topic)


def _set(body: str, arguments: Mapping[str, Any], newline: str) -> str:
    base = body or new_fact_body(arguments["title"], arguments["language"], newline)
    key = arguments["key"]
    if _collision(body, arguments) is not None:
        # A person wrote something else here meanwhile. Their line stays; ours stands beside it.
        key = f"{key} ({_BESIDE[arguments['language']]} {arguments['at']})"
    edit = set_fact(base, arguments["section"], key, arguments["value"], newline=newline)
    return touch_updated_line(edit.body, arguments["at"]) if edit.changed else body


def _collision(body: str, arguments: Mapping[str, Any]) -> str | None:
    found = values_in(body).of(arguments["section"], arguments["key"])
    if found in (None, arguments["old"], canonical(arguments["value"])):
        return None
    place = f"{arguments['section']}/{arguments['key']}"
    return f"{place}: {found!r} by hand and {arguments['value']!r} collide; both are kept"


FORMAT = BodyFormat("fact", {"set": _set}, {"set": _collision})


@dataclass(frozen=True, slots=True)
class FactLine:
    """A fact as the Brain sees it: `section/key: value`, with its address."""

    path: str
    section: str
    name: str
    value: str

    @property
    def key(self) -> str:
        """Its address."""
        return f"{self.path}#{self.section}/{self.name}"

    @property
    def text(self) -> str:
        """What goes into the prompt."""
        return f"{self.section}/{self.name}: {self.value}" if self.section else f"{self.name}: {self.value}"

    @property
    def essential(self) -> bool:
        """Whether it comes whatever the query."""
        return self.path in ESSENTIAL


def fact_lines(document: MarkdownDocument) -> list[FactLine]:
    """Give the current facts of a file."""
    return [FactLine(document.path, fact.section, fact.key, fact.value) for fact in facts_in(document)]


def blocks(document: MarkdownDocument) -> list[Block]:
    """Give the facts of a file, and what else stands in it, as addressable pieces."""
    return document.once("blocks", lambda: _blocks(document))


def _blocks(document: MarkdownDocument) -> list[Block]:
    facts = facts_in(document)
    start = document.body_start - 1
    keyed = [
        Block(
            key=f"{document.path}#{fact.section}/{fact.key}",
            layer="fact",
            path=document.path,
            start_line=start + fact.start_line,
            end_line=start + fact.end_line,
            text=f"{fact.key}: {fact.value}",
            time=None,
            section=fact.section or None,
            tags=tags_of(document.front),
        )
        for fact in facts
    ]
    taken = {line for fact in facts for line in range(fact.start_line, fact.end_line + 1)}
    return keyed + free_text(document, "fact", time=None, taken=taken)


def lines_as_of(
    lines: Sequence[FactLine], archive: MarkdownDocument | None, times: Mapping[str, Any], as_of: datetime
) -> list[FactLine]:
    """Give facts as they were at a time: what was learned later is left out, what it replaced is back.

    `times` are those of `state.FACT_TIMES`; a fact without a time there is taken to have been known always.
    """
    then = []
    for line in lines:
        known = times.get(_time_key(line.path, line.section, line.name))
        if known is None or datetime.fromisoformat(known["since"]) <= as_of:
            then.append(line)
            continue
        old = None if archive is None else _archived(archive, line.section, line.name, as_of)
        if old is not None:
            then.append(replace(line, value=old))
    return then


def _archived(archive: MarkdownDocument, section: str, key: str, as_of: datetime) -> str | None:
    for fact in facts_in(archive):
        match = _ARCHIVED_KEY.fullmatch(fact.key)
        if match is None or (matching(fact.section), matching(match["key"])) != (matching(section), matching(key)):
            continue
        try:
            began = match["since"] == "?" or datetime.fromisoformat(match["since"]) <= as_of
            ended = datetime.fromisoformat(match["until"]) <= as_of
        except ValueError:
            continue
        if began and not ended:
            return fact.value
    return None
