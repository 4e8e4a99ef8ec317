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
    messages: Sequence[tuple[str, str]], *, told: int = 0, known: Collection[str] = (), language: Language = "zh"
) -> list[str]:
    """Choose what of a session is worth a line, without a model.

    Decisions, things to do, preferences, and what else the user stated or asked to be remembered, as `judge` finds
    them; where there is nothing of the kind, the first thing that the user said and the last thing that was said.

    Parameters: `messages`, role and text, oldest first; `told`, how many of them were there when this was asked last,
    so that what they come to is not given again; `known`, lines that are in the log already, which are not given
    again; `language` of the labels. Pure; never raises.
    """
    said = [
        (role, text, place >= told)
        for place, (role, text) in enumerate(messages)
        if role in ("user", "assistant") and text.strip()
    ]
    if not said:
        return []
    labels, seen = _LABELS[language], {fold(line) for line in known}
    points = [(f"{_label(finding, labels)}{_line(finding.text)}", is_new) for finding, is_new in _findings(said)]
    if not points:
        first, first_is_new = next(((text, is_new) for role, text, is_new in said if role == "user"), said[0][1:])
        _, last, last_is_new = said[-1]
        points = [(f"{labels['first']}{_line(first)}", first_is_new), (f"{labels['last']}{_line(last)}", last_is_new)]
        points = points[: 1 if last == first else 2]
    fresh = {fold(point): point for point, is_new in points if is_new and fold(point) not in seen}
    return list(fresh.values())[-MOST_POINTS:]


def _findings(said: Sequence[tuple[str, str, bool]]) -> Iterator[tuple[Finding, bool]]:
    """Give what is to be remembered, and whether it was said since."""
    earlier: list[str] = []
    for role, text, is_new in said:
        if role != "user":
            continue
        for finding in judge(text, earlier=earlier).findings:
            if finding.verdict in ("write", "propose") and finding.text.strip():
                yield finding, is_new
        earlier.append(text)


def _label(finding: Finding, labels: dict[str, str]) -> str:
    if finding.place is not None and finding.place.layer == "task":
        return labels["task"]
    if finding.rule == "decision":
        return labels["decision"]
    return labels["preference"] if finding.rule in _PREFERENCES else ""


def _line(text: str) -> str:
    return snippet(" ".join(text.split()), MAX_POINT_CHARS)
