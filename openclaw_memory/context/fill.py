"""Fill a budget with items, each counted once, and remember in which order they went in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from openclaw_memory.context.shorten import bounded_count, shorten
from openclaw_memory.context.tokens import TokenCounter

MISFITS = 8
"""After so many items in a row that did not fit, the rest is not tried: what is left of the budget is a crumb."""


@dataclass(frozen=True, slots=True)
class Item:
    """A candidate: the part it belongs to, its place in the part, its text as the prompt holds it.

    `head` is a line that is written once for all items with the same head, in front of them. `label` is what a
    shortened text keeps in front (`user: `).
    """

    part: str
    index: int
    text: str
    head: tuple[str, str] = ("", "")
    label: str = ""


class Filler:
    """Takes items until the budget is used up. Costs are those of each item alone, with its line break."""

    def __init__(self, budget: int, counter: TokenCounter) -> None:
        self.left = budget
        self._budget = budget
        self._counter = counter
        self._costs: dict[tuple[str, int], int] = {}
        self._heads: set[tuple[str, str]] = set()
        self.taken: dict[tuple[str, int], str] = {}
        """Texts that went in, by part and place, in the order in which they were taken."""
        self.shortened: dict[tuple[str, int], Item] = {}

    def used(self, *parts: str) -> int:
        """Give the tokens taken for these parts."""
        return sum(self._costs[place] for place in self.taken if place[0] in parts)

    def take(self, items: Iterable[Item], cap: int, *, in_a_row: bool = False) -> None:
        """Take what fits into `cap` tokens and the budget, in the order given; what is taken already is passed over.

        An item that does not fit is passed over too, or with `in_a_row` ends the taking: no holes.
        """
        room, misfits = min(cap, self.left), 0
        for item in items:
            place = (item.part, item.index)
            if place in self.taken:
                continue
            cost = self._cost(item)
            if cost <= room:
                self._put(item, item.text, cost)
                room -= cost
                misfits = 0
                continue
            misfits += 1
            if in_a_row or misfits >= MISFITS:
                return

    def take_shortened(self, item: Item, cap: int) -> None:
        """Take an item, or as much of its beginning as fits into `cap` tokens and the budget."""
        place = (item.part, item.index)
        before = self.taken.get(place)
        room = min(cap, self.left + (self._costs[place] if before is not None else 0))
        head = f"{item.head[1]}\n" if item.head[1] else ""
        body = shorten(item.text[len(item.label) :], room, self._counter, head + item.label, "\n")
        if body is None or (before is not None and len(body) <= len(before) - len(item.label)):
            return
        if before is not None:
            # It keeps its place in the order: a message that grew is not given back first.
            self.left += self._costs[place]
            self.shortened.pop(place, None)
        text = item.label + body
        self._costs[place] = self._counter.count(f"{head}{text}\n")
        self._put(item, text, self._costs[place])
        if text != item.text:
            self.shortened[place] = item

    def correct(self, real: int) -> None:
        """Replace the sum of single costs by the real count of the whole."""
        self.left = self._budget - real

    def drop(self, excess: int) -> None:
        """Give back the items taken last until at least `excess` tokens are free."""
        freed = 0
        while self.taken and freed < excess:
            freed += self._remove(next(reversed(self.taken)))

    def _cost(self, item: Item) -> int:
        place = (item.part, item.index)
        if place not in self._costs:
            self._costs[place] = bounded_count(item.text + "\n", self._budget, self._counter)
        cost = self._costs[place]
        if item.head[1] and item.head not in self._heads:
            cost += self._counter.count(item.head[1] + "\n")
        return cost

    def _put(self, item: Item, text: str, cost: int) -> None:
        place = (item.part, item.index)
        self.taken[place] = text
        self._costs[place] = cost
        self._heads.add(item.head)
        self.left -= cost

    def _remove(self, place: tuple[str, int]) -> int:
        del self.taken[place]
        self.shortened.pop(place, None)
        self.left += self._costs[place]
        return self._costs[place]
