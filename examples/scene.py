"""What the demo shows of a moment, as a value; how one moment follows from the one before. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest

from contracts import MemoryContext, TokenReport
from examples.dialogue import Dialogue, FactStated, Turn
from examples.notes import KnownTask
from examples.replay import ReplayedExchange
from openclaw_memory.retrieval.terms import fold, query_terms, terms

KEPT_TURNS = 12
"""How many of the last turns a moment keeps; more than any screen shows."""
SHOWN_TERMS = 4
"""How many of the words that brought a piece back are shown."""


@dataclass(frozen=True, slots=True)
class Found:
    """A recalled piece: its text, where it lies, from when it is, and which words of the question it holds."""

    text: str
    where: str
    day: str
    score: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FactNow:
    """A fact as it stands; `before` is the value that it replaced, `fresh` says that it changed just now."""

    section: str
    key: str
    value: str
    before: str | None
    fresh: bool


@dataclass(frozen=True, slots=True)
class Scene:
    """A moment of the replay."""

    turns: int
    played: int = 0
    now: datetime | None = None
    session: str = ""
    said: tuple[Turn, ...] = ()
    found: tuple[Found, ...] = ()
    tokens: TokenReport | None = None
    recall_seconds: float = 0.0
    facts: tuple[FactNow, ...] = ()
    tasks: tuple[KnownTask, ...] = ()
    notices: tuple[str, ...] = ()


def opening(dialogue: Dialogue) -> Scene:
    """Give the moment before the first word."""
    return Scene(turns=len(dialogue.turns))


def moments(scene: Scene, replayed: ReplayedExchange) -> Iterator[Scene]:
    """Give the moments of an exchange: the question with what was recalled for it, then the answer and what changed."""
    for turn in replayed.exchange.turns:
        scene = replace(
            scene,
            played=scene.played + 1,
            now=turn.time,
            session=turn.session,
            said=(*scene.said, turn)[-KEPT_TURNS:],
            facts=tuple(replace(fact, fresh=False) for fact in scene.facts),
        )
        if turn is replayed.exchange.turns[0]:
            scene = _with_context(scene, replayed)
        if turn is replayed.exchange.turns[-1]:
            notes = [note for said in replayed.exchange.turns for note in said.notes if isinstance(note, FactStated)]
            for note in notes:
                scene = replace(scene, facts=with_fact(scene.facts, note))
            scene = replace(scene, tasks=replayed.reply.tasks, notices=replayed.reply.trouble)
        yield scene


def with_fact(facts: tuple[FactNow, ...], note: FactStated) -> tuple[FactNow, ...]:
    """Put a fact at the end of what is known, with the value that it replaces."""
    old = next((fact for fact in facts if (fact.section, fact.key) == (note.section, note.key)), None)
    if old is not None and old.value == note.value:
        return facts
    new = FactNow(note.section, note.key, note.value, old.value if old else None, fresh=True)
    return (*(fact for fact in facts if fact is not old), new)


def found_in(context: MemoryContext, query: str) -> tuple[Found, ...]:
    """Give the recalled pieces of a context, each with its address and the words that it shares with the question."""
    return tuple(
        Found(
            text,
            f"{citation.path}:{citation.start_line}" if citation else "",
            citation.time.date().isoformat() if citation and citation.time else "",
            citation.score if citation else 0.0,
            shared_words(query, text),
        )
        for text, citation in zip_longest(context.recalled, context.citations[: len(context.recalled)])
    )


def shared_words(query: str, text: str) -> tuple[str, ...]:
    """Give the words that a question and a piece share, as the piece writes them, the longest first.

    What is part of a longer one is left out, and single characters where there is something longer.
    """
    held = set(terms(text))
    shared = _joined([word for word in query_terms(query) if word in held], fold(text))
    kept: list[str] = []
    for word in sorted(shared, key=lambda word: -len(word)):
        if not any(word in longer for longer in kept) and (len(word) > 1 or not kept):
            kept.append(word)
    return tuple(_as_written(word, text) for word in kept[:SHOWN_TERMS])


def _joined(words: list[str], text: str) -> list[str]:
    """Join Chinese pairs that overlap in the text: 大麦 and 麦茶 were one word, 大麦茶."""
    joined: list[str] = []
    for word in words:
        last = joined[-1] if joined else ""
        if len(word) > 1 and not word.isascii() and last[1:].endswith(word[0]) and last + word[1:] in text:
            joined[-1] = last + word[1:]
        else:
            joined.append(word)
    return joined


def _as_written(stem: str, text: str) -> str:
    """Find the word that was cut to `stem`; the stem itself where the text spells it in another way."""
    match = re.search(rf"(?<![a-z0-9]){re.escape(stem)}[a-z]*", text, re.IGNORECASE)
    return match.group().lower() if match else stem


def _with_context(scene: Scene, replayed: ReplayedExchange) -> Scene:
    """Show what memory gave for the question."""
    context = replayed.reply.context
    message = replayed.exchange.message
    found = found_in(context, message.content) if context and message else ()
    return replace(
        scene,
        found=found,
        tokens=context.tokens if context else None,
        recall_seconds=replayed.reply.recall_seconds,
    )
