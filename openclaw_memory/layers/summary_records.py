"""Which summaries we wrote, and from what: `.state/summaries.json`. Whatever it does not know is a person's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from types import MappingProxyType
from typing import Any, Literal

from contracts import SummaryContent
from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.layers.state import plan_state
from openclaw_memory.layers.summaries import date_of, path_of
from openclaw_memory.layers.summary_edits import digest_of
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.outline import outline
from openclaw_memory.markdown.summaries import Period, format_summary
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.operations import Operation

SUMMARIES = ".state/summaries.json"

Author = Literal["rules", "model", "agent"]
Verdict = Literal["make", "same", "edited", "given", "removed"]
Stamp = tuple[int, int, str]
"""Size in bytes, time in ns and checksum of a file."""


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of a summary that was written here.

    `digest` names its body as we wrote it, None where there was nothing worth writing; `by` whom it was made, `content`
    names what it was made from, `stamps` the files of that, by path, as they were then.
    """

    digest: str | None
    by: Author
    content: str
    stamps: Mapping[str, Stamp] = field(default_factory=lambda: MappingProxyType({}))


def record_in(values: Mapping[str, Any], path: str) -> Record | None:
    """Read what is known of a summary; None where that is nothing, or was broken by hand."""
    kept = values.get(path)
    try:
        stamps = {name: (int(one[0]), int(one[1]), str(one[2])) for name, one in dict(kept["stamps"]).items()}  # type: ignore[index]
        return Record(kept["digest"], kept["by"], kept["content"], stamps)  # type: ignore[index]
    except (TypeError, KeyError, ValueError, IndexError):
        return None


def plan_record(draft: Draft, path: str, record: Record) -> None:
    """Remember what a summary was made from; in the same draft as the summary."""
    values = {
        "digest": record.digest,
        "by": record.by,
        "content": record.content,
        "stamps": {name: list(stamp) for name, stamp in record.stamps.items()},
    }
    plan_state(draft, SUMMARIES, {path: values})


def judge(record: Record | None, body: str, content: str) -> Verdict:
    """Tell what becomes of a summary that could be made of `content`. Pure.

    `make` it; it is the `same`; a person `edited` or `removed` it; it was `given` by the agent, who saw more.
    """
    digest = digest_of(body)
    if record is None:
        return "make" if digest is None else "edited"
    if record.digest is not None and digest is None:
        return "removed"
    if digest != record.digest:
        return "edited"
    if record.by == "agent":
        return "given"
    return "same" if record.content == content else "make"


@dataclass(frozen=True, slots=True)
class GivenPlan:
    """Where a summary that was handed in stands; `beside`: below what a person had written."""

    key: str
    changed: bool
    beside: bool


def plan_given(draft: Draft, content: SummaryContent, session: str, *, now: datetime, language: Language) -> GivenPlan:
    """Write a summary that the agent made. It takes the place of ours, and stands below what a person wrote.

    Parameters: `draft`, with the summary (`path_of`) and `SUMMARIES` loaded; `now` in the user's zone.
    """
    path = path_of(content.period, content.date)
    document: MarkdownDocument = draft.document(path)
    record = record_in(draft.document(SUMMARIES).values, path)
    at = now.isoformat(timespec="seconds")
    given = _without_title(content.text.replace("\r\n", "\n").strip("\n"))
    text = format_summary(
        content.period,
        date_of(content.period, content.date),
        given,
        generated=at,
        sources=[f"memory:write ({session})"],
        language=language,
    )
    ours = record is not None and record.digest == digest_of(document.body)
    if given.strip() and given.strip() in document.body.replace("\r\n", "\n"):
        return GivenPlan(path, changed=False, beside=False)
    arguments = {
        "text": text,
        "given": given,
        "old": record.digest if ours and record is not None else None,
        "at": at,
        "language": language,
    }
    draft.apply(Operation(path, "put", arguments))
    written = digest_of(draft.document(path).body)
    beside = written != digest_of(text)
    if not beside:
        plan_record(draft, path, Record(written, "agent", ""))
    return GivenPlan(path, changed=True, beside=beside)


def documents_for(period: Period, day: date) -> list[str]:
    """List the documents that planning a summary needs."""
    return [path_of(period, day), SUMMARIES]


def _without_title(text: str) -> str:
    """Take off a title that the text brings along: the file has one already."""
    found = outline(text)
    first = found.sections[0] if found.sections and found.sections[0].level else None
    if first is None or first.level != 1 or first.start_line != 1:
        return text
    return "\n".join(text.split("\n")[first.text_line - 1 :]).strip("\n") or text
