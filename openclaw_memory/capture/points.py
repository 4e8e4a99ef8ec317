"""What a session comes to, told by rules from its messages: for the day's log at its end (seed 003 section 26.3.3)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from openclaw_memory.capture.judge import judge
from openclaw_memory.capture.reading import fold
from openclaw_memory.capture.verdicts import Finding
from openclaw_memory.retrieval.cutting import snippet

MOST_POINTS = 10
"""So many points of a session are kept; of more, the last ones."""

MAX_POINT_CHARS = 300

Language = Literal["zh", "en"]

_LABELS: dict[Language, dict[str, str]] = {
    "zh": {"decision": "决定：", "task": "待办：", "preference": "偏好：", "first": "问：", "last": "末："},
    "en": {
        "decision": "Decided: ",
        "task": "To do: ",
        "preference": "Preference: ",
        "first": "Asked: ",
        "last": "Last: ",
    },
}
_PREFERENCES = ("preference", "standing_wish", "repeated_correction")


def key_points(
    messages: Sequence[tuple[str, str]], *, known: Collection[str] = (), language: Language = "zh"
) -> list[str]:
    """Choose what of a session is worth a line, without a model.

    Decisions, things to do, preferences, and what else the user stated or asked to be remembered, as `judge` finds
    them; where there is nothing of the kind, the first thing that the user said and the last thing that was said.

    Parameters: `messages`, role and text, oldest first; `known`, lines that are in the log already, which are not given
    again; `language` of the labels. Pure; never raises.
    """
    said = [(role, text) for role, text in messages if role in ("user", "assistant") and text.strip()]
    if not said:
        return []
    labels, seen = _LABELS[language], {fold(line) for line in known}
    points = [f"{_label(finding, labels)}{_line(finding.text)}" for finding in _findings(said)]
    if not points:
        first = next((text for role, text in said if role == "user"), said[0][1])
        points = [f"{labels['first']}{_line(first)}", f"{labels['last']}{_line(said[-1][1])}"]
        points = points[: 1 if said[-1][1] == first else 2]
    fresh = {fold(point): point for point in points if fold(point) not in seen}
    return list(fresh.values())[-MOST_POINTS:]


def _findings(said: Sequence[tuple[str, str]]) -> Iterator[Finding]:
    earlier: list[str] = []
    for role, text in said:
        if role != "user":
            continue
        for finding in judge(text, earlier=earlier).findings:
            if finding.verdict in ("write", "propose") and finding.text.strip():
                yield finding
        earlier.append(text)


def _label(finding: Finding, labels: dict[str, str]) -> str:
    if finding.place is not None and finding.place.layer == "task":
        return labels["task"]
    if finding.rule == "decision":
        return labels["decision"]
    return labels["preference"] if finding.rule in _PREFERENCES else ""


def _line(text: str) -> str:
    return snippet(" ".join(text.split()), MAX_POINT_CHARS)
