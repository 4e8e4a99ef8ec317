"""What a piece must have to become an entry of MEMORY.md: gates, each with what it asks and what there is. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo

from openclaw_memory.capture import doubts
from openclaw_memory.capture.judge import judge
from openclaw_memory.capture.places import place_of
from openclaw_memory.capture.reading import has_chinese
from openclaw_memory.capture.verdicts import Finding
from openclaw_memory.config import PromotionConfig
from openclaw_memory.layers.recalls import Recall
from openclaw_memory.lifecycle.promotion.likeness import Known, alike
from openclaw_memory.markdown.curated import SECTIONS
from openclaw_memory.masking.kinds import PLACEHOLDER_BEGINS
from openclaw_memory.retrieval.terms import terms

WEIGHTS = {"recalls": 0.30, "questions": 0.25, "days": 0.20, "recent": 0.15, "stated": 0.10}
"""Shares of a score, which is between 0 and 1."""

HALF_LIFE_DAYS = 14.0

MAX_CHARS = 300
"""A longer piece is a story, not an entry."""

LEAST_TERMS = 2


@dataclass(frozen=True, slots=True)
class Gate:
    """One thing that is asked of a candidate: what it has, what it needs, in words for a person."""

    name: str
    passed: bool
    has: str
    needs: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of memory that was recalled: its name, what it says, where it stands, its counts."""

    name: str
    text: str
    key: str
    recall: Recall


@dataclass(frozen=True, slots=True)
class Candidate:
    """A piece with its score, where it would stand, and the gates in their order."""

    piece: Piece
    section: str
    text: str
    score: float
    parts: tuple[tuple[str, float], ...]
    gates: tuple[Gate, ...]

    @property
    def passes(self) -> bool:
        """Tell whether it passes all gates."""
        return all(gate.passed for gate in self.gates)


def may_pass(name: str, recall: Recall, known: Known, rules: PromotionConfig, now: datetime) -> bool:
    """Tell whether a piece passes the gates that need no look at what it says. Pure."""
    return (
        recall.count >= rules.least_recalls
        and len(recall.questions) >= rules.least_questions
        and len(recall.days) >= rules.least_days
        and (now - recall.last).total_seconds() <= rules.most_days_ago * 86_400
        and name not in known.promoted
    )


def candidate(piece: Piece, known: Known, rules: PromotionConfig, now: datetime, zone: tzinfo) -> Candidate:
    """Judge a piece."""
    recall = piece.recall
    text = entry_text(piece.text)
    finding = _stated(text)
    age = max(0.0, (now - recall.last).total_seconds() / 86_400)
    parts = {
        "recalls": min(1.0, recall.count / (2 * rules.least_recalls)),
        "questions": min(1.0, len(recall.questions) / (2 * rules.least_questions)),
        "days": min(1.0, len(recall.days) / (2 * rules.least_days)),
        "recent": 0.5 ** (age / HALF_LIFE_DAYS),
        "stated": 1.0 if finding is not None else 0.4,
    }
    score = sum(WEIGHTS[name] * value for name, value in parts.items())
    place = place_of(text, "no_statement" if finding is None else finding.rule)
    section = place.section if place.layer == "memory" and place.section else _section(text, place.layer)
    last = recall.last.astimezone(zone).date().isoformat()
    like = alike(text, known)
    gates = (
        _least("recalls", recall.count, rules.least_recalls),
        _least("questions", len(recall.questions), rules.least_questions),
        _least("days", len(recall.days), rules.least_days),
        Gate("last recall", age <= rules.most_days_ago, last, f"within {rules.most_days_ago} days"),
        Gate("score", score >= rules.least_score, f"{score:.2f}", f"{rules.least_score:.2f}"),
        Gate("lasting", place.layer not in ("note", "task"), _yes(place.layer not in ("note", "task")), "not of a day"),
        Gate("statement", not doubts.is_question(text), _yes(not doubts.is_question(text)), "no question"),
        Gate("length", _fits(text), f"{len(text)} characters", f"{LEAST_TERMS} words to {MAX_CHARS} characters"),
        Gate("whole", not _is_masked(text), _yes(not _is_masked(text)), "no secret was taken out of it"),
        Gate("new", like is None, "new" if like is None else f"like {like!r}", "nothing like it in MEMORY.md"),
        Gate(
            "first time",
            piece.name not in known.promoted,
            _yes(piece.name not in known.promoted),
            "not promoted before",
        ),
    )
    return Candidate(piece, section, text, score, tuple(parts.items()), gates)


def entry_text(text: str) -> str:
    """Give a piece as one line."""
    line = " ".join(text.split())
    return line.removeprefix("- ").removeprefix("* ")


def _section(text: str, layer: str) -> str:
    """Give the section of what has none: what would be a fact is about the user, the rest is the project's context."""
    return SECTIONS["zh" if has_chinese(text) else "en"][0 if layer == "fact" else 2]


def _stated(text: str) -> Finding | None:
    return next((one for one in judge(text).findings if one.verdict in ("write", "propose")), None)


def _least(name: str, has: int, needs: int) -> Gate:
    return Gate(name, has >= needs, str(has), f"at least {needs}")


def _fits(text: str) -> bool:
    return len(text) <= MAX_CHARS and len(set(terms(text))) >= LEAST_TERMS


def _is_masked(text: str) -> bool:
    """Tell whether a secret was taken out of a text: what is left of it says nothing worth keeping."""
    return any(begins in text for begins in PLACEHOLDER_BEGINS)


def _yes(passed: bool) -> str:
    return "yes" if passed else "no"
