"""What a block can be chosen by besides its words, as terms of a second field; and a scope as a question over them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.scope import Audience, Scope
from openclaw_memory.retrieval.terms import fold


@dataclass(frozen=True, slots=True)
class All:
    """Every one of these has to hold."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Any:
    """At least one of these has to hold."""

    parts: tuple[Condition, ...]


Condition = str | All | Any
"""A mark that a block has to bear, or a combination of them."""


def marks_of(block: Block) -> list[str]:
    """Give the marks of a block: its layer, visibility, session and tags."""
    marks = [_mark("l", block.layer), _mark("v", block.visibility)]
    if block.session is not None:
        marks.append(_mark("s", block.session))
    return marks + [_mark("t", fold(tag)) for tag in dict.fromkeys(block.tags)]


def condition_of(scope: Scope) -> Condition | None:
    """Turn a scope into a condition over marks; None when it asks for none. `until` is no mark and not in it."""
    parts = [
        _any("l", scope.layers),
        _any("t", (fold(tag) for tag in scope.tags)),
        _audiences(scope.audiences),
    ]
    return _all(parts)


def _audiences(audiences: tuple[Audience, ...]) -> Condition | None:
    ways = [_all([_any("v", one.visibilities), _any("s", one.sessions), _any("l", one.layers)]) for one in audiences]
    named = [way for way in ways if way is not None]
    # An audience that asks for nothing admits everyone.
    if len(named) < len(ways) or not named:
        return None
    return named[0] if len(named) == 1 else Any(tuple(named))


def _all(parts: Iterable[Condition | None]) -> Condition | None:
    asked = [part for part in parts if part is not None]
    if len(asked) < 2:
        return asked[0] if asked else None
    return All(tuple(asked))


def _any(kind: str, names: Iterable[str]) -> Condition | None:
    marks = [_mark(kind, name) for name in sorted(set(names))]
    if len(marks) < 2:
        return marks[0] if marks else None
    return Any(tuple(marks))


@lru_cache(maxsize=4_096)
def _mark(kind: str, name: str) -> str:
    # A digest, since names may hold spaces and capitals, which mean something to the engines.
    return kind + blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
