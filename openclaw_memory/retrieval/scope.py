"""What part of memory a search is about, as a value that an index can apply inside its own query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from openclaw_memory.retrieval.blocks import Block, sequence_of
from openclaw_memory.retrieval.terms import fold

NOTHING: frozenset[str] = frozenset()
PRIVATE = "private"
"""What nobody marked otherwise."""


@dataclass(frozen=True, slots=True)
class Audience:
    """One way to be admitted: all that is named has to fit; an empty set asks for nothing."""

    visibilities: frozenset[str] = NOTHING
    sessions: frozenset[str] = NOTHING
    layers: frozenset[str] = NOTHING

    def admits(self, block: Block) -> bool:
        """Tell whether a block fits."""
        return (
            (not self.visibilities or block.visibility in self.visibilities)
            and (not self.sessions or block.session in self.sessions)
            and (not self.layers or block.layer in self.layers)
        )


@dataclass(frozen=True, slots=True)
class Scope:
    """Which blocks a search may give: any of `layers`, any of `tags`, any of `audiences`, nothing said after `until`.

    What is empty or None asks for nothing. Tags compare folded. A block without a time is never too late.
    """

    layers: frozenset[str] = NOTHING
    tags: frozenset[str] = NOTHING
    audiences: tuple[Audience, ...] = ()
    until: datetime | None = None

    def admits(self, block: Block) -> bool:
        """Tell whether a block lies within; the same as an index's own query, for those that have none."""
        if self.layers and block.layer not in self.layers:
            return False
        if self.tags and not {fold(tag) for tag in self.tags} & {fold(tag) for tag in block.tags}:
            return False
        if self.until is not None and block.time is not None and block.time > self.until:
            return False
        return not self.audiences or any(audience.admits(block) for audience in self.audiences)


def narrow(audiences: Iterable[Audience]) -> bool:
    """Tell whether what these admit can be listed without looking at everything (`Index.within`)."""
    return all(audience.sessions or marked(audience) for audience in audiences)


def marked(audience: Audience) -> bool:
    """Tell whether an audience admits only what somebody marked for others."""
    return bool(audience.visibilities) and PRIVATE not in audience.visibilities


def listed(audience: Audience, block: Block) -> bool:
    """Tell whether a block is on the list of an audience: of a session's own, only messages are."""
    return audience.admits(block) and (marked(audience) or sequence_of(block) is not None)


EVERYTHING = Scope()
