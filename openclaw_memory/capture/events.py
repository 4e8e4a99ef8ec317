"""From a finding to the event that would store it, and to the words that suggest it."""

from __future__ import annotations

import re

from pydantic import ValidationError

from contracts.content import CuratedContent, FactContent, NoteContent, TaskContent
from contracts.fields import SessionKind
from contracts.limits import MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS
from contracts.patterns import BLANK, CONTROL
from contracts.writing import MemoryWrite, WriteType
from openclaw_memory.capture.reading import has_chinese
from openclaw_memory.capture.verdicts import Finding
from openclaw_memory.retrieval.cutting import snippet

_SAYS = {
    "write": ("已记住：{}", "Remembered: {}"),
    "propose": ("{} — 要记住吗？", "{} — remember this?"),
    "ask": ("{} — 确定吗？要记住吗？", "{} — are you sure? Remember this?"),
}
_NOTHING_NAMED = ("要记住什么？", "What should be remembered?")
_NOT_IN_A_LINE = re.compile(rf"[{CONTROL}{BLANK}]+")

Content = FactContent | TaskContent | NoteContent | CuratedContent


def event_of(finding: Finding, session_id: str, session_kind: SessionKind | None = None) -> MemoryWrite | None:
    """Give the write that stores a finding; None when it has nothing to store.

    What the contract does not take as a fact (a colon in the key) or as a task's title becomes an entry of MEMORY.md
    instead, and a reminder too long for a title keeps all of it as its description: nothing of what was asked for is
    lost.

    Raises: `pydantic.ValidationError` for a session id that the contract refuses.
    """
    if finding.place is None or not finding.text.strip():
        return None
    kind, content = _content_of(finding.text, finding)
    return MemoryWrite(type=kind, content=content, session_id=session_id, session_kind=session_kind, origin="owner")


def suggestion_of(finding: Finding) -> str | None:
    """Say a finding in one line for `suggestions[]`, in its own language; None for `skip`."""
    if finding.verdict == "skip":
        return None
    language = 0 if has_chinese(finding.text or finding.sentence) else 1
    if not finding.text:
        return _NOTHING_NAMED[language]
    place = finding.place
    is_fact = place is not None and place.layer == "fact"
    what = f"{place.section}/{place.key}: {place.value}" if place is not None and is_fact else finding.text
    return _SAYS[finding.verdict][language].format(_in_a_line(what))


def _content_of(text: str, finding: Finding) -> tuple[WriteType, Content]:
    """Give the content of the finding's layer, or an entry of MEMORY.md where its layer can't hold it."""
    place = finding.place
    try:
        if place is not None and place.layer == "task":
            title = snippet(_in_a_line(text), MAX_TITLE_CHARS)
            return "task", TaskContent(title=title, description=None if title == text else text[:MAX_DESCRIPTION_CHARS])
        if place is not None and place.layer == "note":
            return "note", NoteContent(text=text)
        if place is not None and place.layer == "fact" and place.section and place.key and place.value:
            return "fact", FactContent(section=place.section, key=place.key, value=place.value)
    except ValidationError:
        return "memory", CuratedContent(text=text)
    return "memory", CuratedContent(text=text, section=place.section if place is not None else None)


def _in_a_line(text: str) -> str:
    return _NOT_IN_A_LINE.sub(" ", text).strip()
