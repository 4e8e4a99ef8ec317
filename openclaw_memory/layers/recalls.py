"""How often pieces of memory were of use: `.state/recalls.json`, by what a piece says, without saying it.

Counted in memory and written now and then, so a crash loses the last minutes of it; nothing rests on it but promotion.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from openclaw_memory.layers.state import plan_state
from openclaw_memory.markdown.curated import fold
from openclaw_memory.retrieval.terms import terms
from openclaw_memory.storage.documents import Draft

RECALLS = ".state/recalls.json"

MOST = 5_000
"""Pieces that are counted; of more, those recalled longest ago are let go."""

MOST_QUESTIONS = 20
MOST_DAYS = 40


@dataclass(frozen=True, slots=True)
class Recall:
    """How often a piece was given in a context, for which questions, on which days of the user's, when last.

    `key` is where it was found last; `questions` are digests.
    """

    key: str
    count: int
    questions: tuple[str, ...]
    days: tuple[date, ...]
    last: datetime


def name_of(text: str) -> str:
    """Give the name of a piece by what it says: it stays when lines are added above it."""
    return hashlib.sha256(fold(text).encode("utf-8", "replace")).hexdigest()[:24]


def question_of(query: str) -> str:
    """Give the name of a question by its terms: asked again with other stop words, it is the same one."""
    return hashlib.sha256(" ".join(sorted(set(terms(query)))).encode("utf-8", "replace")).hexdigest()[:8]


def together(one: Recall | None, other: Recall) -> Recall:
    """Put two counts of the same piece together."""
    if one is None:
        return other
    return Recall(
        key=other.key,
        count=one.count + other.count,
        questions=tuple(dict.fromkeys((*one.questions, *other.questions)))[-MOST_QUESTIONS:],
        days=tuple(sorted({*one.days, *other.days}))[-MOST_DAYS:],
        last=max(one.last, other.last),
    )


def read_recalls(values: Mapping[str, Any]) -> dict[str, Recall]:
    """Read all counts; what nobody can have written is left out."""
    found = {}
    for name, value in values.items():
        try:
            found[name] = Recall(
                str(value["key"]),
                int(value["count"]),
                tuple(map(str, value["questions"])),
                tuple(map(date.fromisoformat, value["days"])),
                datetime.fromisoformat(value["last"]),
            )
        except (KeyError, TypeError, ValueError):
            continue
    return found


def plan_recalls(draft: Draft, new: Mapping[str, Recall]) -> None:
    """Add counts to those that were written before."""
    values = draft.document(RECALLS).values
    held = read_recalls({name: values[name] for name in new if name in values})
    merged = {name: together(held.get(name), recall) for name, recall in new.items()}
    gone: list[str] = []
    if len(values) + len(new) > MOST:
        every = {**read_recalls(values), **merged}
        oldest = sorted(every, key=lambda name: every[name].last)
        gone = oldest[: max(0, len(every) - MOST)] + [name for name in values if name not in every]
    written = {
        name: {
            "key": recall.key,
            "count": recall.count,
            "questions": list(recall.questions),
            "days": [day.isoformat() for day in recall.days],
            "last": recall.last.isoformat(),
        }
        for name, recall in merged.items()
        if name not in gone
    }
    plan_state(draft, RECALLS, written, tuple(gone))


def once(key: str, question: str, day: date, now: datetime) -> Recall:
    """Give the count of a piece that was recalled once."""
    return Recall(key, 1, (question,), (day,), now)
