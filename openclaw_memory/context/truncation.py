"""What is dropped first when a context is too long (seed 000 section 3.3). Pure.

Each rule takes the context as it is left and gives it with one thing less, or None when there is nothing that it may
drop. `STEPS` is the seed's order: a rule is used until it gives None, then the next one. Facts, MEMORY.md and tasks are
never dropped here; a caller for whom they alone are too much is told so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from contracts.prompt import prompt_text
from contracts.reading import HistoryMessage, MemoryContext
from openclaw_memory.context.tokens import TokenCounter
from openclaw_memory.context.turns import units_of, units_with

KEPT_IN_FRONT = 2
"""Messages that began the session: they say what it is about, and go only with the last rule."""
PAIR = 2
"""Messages that are dropped at once: what was said and what was answered."""
LEAST_FOR_PAIRS = 4
"""With so many messages or fewer, no pair is dropped any more."""
LAST_ROUND = 2
"""Messages that are left in any case."""


Unit = tuple[int, ...]
"""Places of messages that must not be parted: what calls tools, and the results that follow it."""


@dataclass(frozen=True, slots=True)
class Remains:
    """The places that are left of a context's lists, oldest first.

    `recalled` holds the pieces that may be dropped, those of other sessions.
    """

    summaries: tuple[int, ...]
    notes: tuple[int, ...]
    history: tuple[Unit, ...]
    recalled: tuple[int, ...]


Rule = Callable[[Remains], Remains | None]


def drop_oldest_summary(left: Remains) -> Remains | None:
    """Drop the oldest summary while more than one is left."""
    return replace(left, summaries=left.summaries[1:]) if len(left.summaries) > 1 else None


def drop_oldest_note(left: Remains) -> Remains | None:
    """Drop the oldest entry of the daily notes while more than one is left: they are days as well, told at length."""
    return replace(left, notes=left.notes[1:]) if len(left.notes) > 1 else None


def drop_oldest_pair(left: Remains) -> Remains | None:
    """Drop the oldest two messages after the first two, while more than four are left.

    What calls tools goes together with its results, so more than two may go at once; the last group stays.
    """
    units = left.history
    if units_with(units, LEAST_FOR_PAIRS + 1) is None:
        return None
    front = units_with(units, KEPT_IN_FRONT) or 0
    droppable = units[front:-1]
    dropped = units_with(droppable, PAIR) or len(droppable)
    return replace(left, history=units[:front] + units[front + dropped :]) if dropped else None


def drop_recalled(left: Remains) -> Remains | None:
    """Drop what was recalled of other sessions, all of it."""
    return replace(left, recalled=()) if left.recalled else None


def keep_last_round(left: Remains) -> Remains | None:
    """Leave the last two messages of the history, with the call when one of them is its result."""
    kept = units_with(left.history[::-1], LAST_ROUND)
    if kept is None or kept == len(left.history):
        return None
    return replace(left, history=left.history[-kept:])


STEPS: tuple[Rule, ...] = (drop_oldest_summary, drop_oldest_note, drop_oldest_pair, drop_recalled, keep_last_round)


def remains_of(left: Remains) -> Iterator[Remains]:
    """Give what is left after each further step, the most first; the last is the least that the seed allows."""
    yield left
    for rule in STEPS:
        while (less := rule(left)) is not None:
            left = less
            yield left


def truncate(
    context: MemoryContext,
    limit: int,
    counter: TokenCounter,
    *,
    own_session: frozenset[int] = frozenset(),
) -> tuple[MemoryContext, bool]:
    """Drop what the seed drops first, until the context has at most `limit` tokens, counted on its `prompt_text`.

    Gives the context and whether it fits: facts, MEMORY.md, tasks, the latest summary and the last round are not
    dropped, whatever they cost. Each step leaves less than the one before, so the first that fits is found by halves.

    Parameters: `limit`, tokens; `own_session`, the places in `recalled` of pieces of this session, which stay.
    """
    whole = Remains(
        summaries=tuple(range(len(context.summaries))),
        notes=tuple(range(len(context.notes))),
        history=tuple(tuple(unit) for unit in units_of([message.role for message in context.history])),
        recalled=tuple(place for place in range(len(context.recalled)) if place not in own_session),
    )
    steps = list(remains_of(whole))
    low, high = 0, len(steps) - 1
    while low < high:
        middle = (low + high) // 2
        if counter.count(prompt_text(_left_of(context, steps[middle], own_session))) <= limit:
            high = middle
        else:
            low = middle + 1
    left = _left_of(context, steps[low], own_session)
    if low:
        left = left.model_copy(update={"truncated": True})
    return left, counter.count(prompt_text(left)) <= limit


def _left_of(context: MemoryContext, left: Remains, own_session: frozenset[int]) -> MemoryContext:
    recalled = sorted({*left.recalled, *(place for place in own_session if 0 <= place < len(context.recalled))})
    history: tuple[HistoryMessage, ...] = tuple(context.history[place] for unit in left.history for place in unit)
    return context.model_copy(
        update={
            "summaries": tuple(context.summaries[place] for place in left.summaries),
            "notes": tuple(context.notes[place] for place in left.notes),
            "history": history,
            "recalled": tuple(context.recalled[place] for place in recalled),
            "citations": tuple(context.citations[place] for place in recalled if place < len(context.citations)),
        }
    )
