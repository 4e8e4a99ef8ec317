"""Ask memory the questions that go with a dialogue, and see which piece answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from bus import EventBus
from contracts import MemoryContext, MemoryRead, MemorySearch, SearchResult
from contracts.prompt import prompt_parts
from examples.sample import Question
from examples.scene import shared_words

SEARCHED = 50
"""Hits among which the answer's own is looked for."""
LAYERS = {"facts": "fact", "tasks": "task", "summaries": "summary", "memory": "memory", "notes": "note"}
"""Layer that a part of the context comes from, where it has no addresses of its own."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a context: which part it is of, its text, its address where it has one, and why it came."""

    part: str
    text: str
    where: str = ""
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """A question and the piece of the context that answers it; None where nothing that came back does."""

    question: Question
    piece: Piece | None
    context: MemoryContext


async def ask(bus: EventBus, question: Question, *, session_id: str, max_tokens: int) -> Answered:
    """Ask memory as a Brain would, with a budget of `max_tokens`, and add how the search came to the answer."""
    read = MemoryRead(query=question.text, session_id=session_id, max_tokens=max_tokens)
    context = await bus.request(read, timeout=5.0)
    piece = answering_piece(context, question)
    if piece is not None:
        search = MemorySearch(query=question.text, session_id=session_id, max_results=SEARCHED, explain=True)
        piece = explained(piece, question, (await bus.request(search, timeout=5.0)).results)
    return Answered(question, piece, context)


def answering_piece(context: MemoryContext, question: Question) -> Piece | None:
    """Find the piece that answers best: all that the answer needs, most words of the question, little else."""
    able = [piece for piece in pieces(context) if all(text in piece.text for text in question.expect)]

    def worth(piece: Piece) -> tuple[int, int]:
        return len(shared_words(question.text, piece.text)), -len(piece.text)

    return max(able, key=worth, default=None)


def explained(piece: Piece, question: Question, results: Sequence[SearchResult]) -> Piece:
    """Add to a piece why it came: the steps of the search that found it, and the words that it shares."""
    words = shared_words(question.text, piece.text)
    common = (f"words in common: {' '.join(words)}",) if words else ()
    found = next((result for result in results if _found(piece, question, result)), None)
    if found is None:
        return replace(piece, steps=common)
    where = piece.where or f"{found.path}:{found.start_line}"
    return replace(piece, where=where, steps=(f"score {found.score:.2f}", *found.steps, *common))


def pieces(context: MemoryContext) -> Iterator[Piece]:
    """Give every piece of a context with the part that it is of; recalled ones with their address."""
    for part, texts in prompt_parts(context).items():
        cited = context.citations if part == "recalled" else ()
        for text, citation in zip_longest(texts, cited[: len(texts)]):
            where = f"{citation.path}:{citation.start_line}-{citation.end_line}" if citation else ""
            yield Piece(part, text, where)


def _found(piece: Piece, question: Question, result: SearchResult) -> bool:
    """Tell whether a hit of the search is what stands in the piece."""
    if not all(text in result.snippet for text in question.expect):
        return False
    if piece.where:
        path, _, lines = piece.where.rpartition(":")
        first, _, last = lines.partition("-")
        return result.path == path and int(first) <= result.start_line <= int(last)
    return result.layer == LAYERS.get(piece.part)
