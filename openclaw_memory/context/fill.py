"""Fill a budget with items, each counted once, and remember in which order they went in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf

from openclaw_memory.context.shorten import bounded_count, shorten
from openclaw_memory.context.tokens import TokenCounter

MISFITS = 8
"""After so many items in a row that did not fit, the rest is not tried, where nobody is patient: what is left of the
budget is a crumb."""

PLAIN_EDGE, BLANK_EDGE = 4, 8
"""By so many tokens what an item costs alone may be above what it adds to the whole: its line break joins a mark before
it, or is not there at the end; white space at its ends joins that of its neighbours."""

TRIALS = 32
"""Most trials that fail: each counts the whole."""

REST = 4
"""Rank of what is given back first, when single costs added up to less than the whole."""


NO_HEAD = ("", "")


@dataclass(frozen=True, slots=True)
class Item:
    """A candidate: the part it belongs to, its place in the part, its text as the prompt holds it.

    `head` is a line that is written once for all items with the same head, in front of them. `label` is what a
    shortened text keeps in front (`user: `).
    """

    part: str
    index: int
    text: str
    head: tuple[str, str] = NO_HEAD
    label: str = ""
    place: tuple[str, int] = field(init=False)
    """Its part and its place there, which name it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", (self.part, self.index))


Unit = Sequence[Item]
"""Items that go in together or not at all: what calls tools, and the results that follow."""


def most_words(text: str) -> int:
    """Give a number that the words of a text do not exceed, without looking at it: between two there is a space."""
    return len(text) // 2 + 1


class Filler:
    """Takes units until the budget is used up. Costs are those of each item alone, with its line break.

    Parameters: `budget`, in tokens; `counter`; `count`, which counts the whole of what was taken so far.
    """

    def __init__(self, budget: int, counter: TokenCounter, count: Callable[[], int]) -> None:
        # What every count alone has too much, such as the reserve of an estimate: the whole has it once.
        self._surplus = max(0, 2 * counter.count("a\n") - counter.count("a\na\n"))
        self.left = budget - self._surplus
        self._budget = budget
        self._counter = counter
        self._count = count
        self._trials = TRIALS
        self._costs: dict[tuple[str, int], int] = {}
        self._heads: Counter[tuple[str, str]] = Counter()
        self._head_costs: dict[tuple[str, str], int] = {}
        self._items: dict[tuple[str, int], tuple[int, Unit]] = {}
        """Rank and unit of each item that was taken."""
        self.taken: dict[tuple[str, int], str] = {}
        """Texts that went in, by part and place, in the order in which they were taken."""
        self.shortened: dict[tuple[str, int], Item] = {}
        self.version = 0
        """Goes up with every change of what was taken."""
        self._refused: set[tuple[str, int]] = set()
        """What was given back: it does not come again."""

    def used(self, *parts: str) -> int:
        """Give the tokens taken for these parts."""
        return sum(self._costs[place] for place in self.taken if place[0] in parts)

    def has(self, unit: Unit) -> bool:
        """Tell whether a unit went in."""
        return unit[0].place in self.taken

    def cost(self, unit: Unit) -> int:
        """Give what the items of a unit cost as they are, with the heads that are not there yet."""
        whole = 0
        for item in unit:
            cost = self._costs.get(item.place)
            if cost is None:
                count = bounded_count(item.text + "\n", self._budget, self._counter)
                self._costs[item.place] = cost = max(1, count - self._surplus)
            whole += cost if item.head is NO_HEAD else cost + self._head_cost(item)
        return whole

    def take(
        self,
        units: Iterable[Unit],
        cap: float = inf,
        *,
        rank: int = REST,
        in_a_row: bool = False,
        patient: bool = False,
    ) -> None:
        """Take what fits into `cap` tokens and the budget, in the order given; what is taken already is passed over.

        A unit that does not fit is passed over too, or with `in_a_row` ends the taking: no holes. With `patient` every
        unit is tried.
        """
        misfits, taken, refused = 0, self.taken, self._refused
        for unit in units:
            if cap < 0 or self.left < 0:
                return
            place = unit[0].place
            if place in taken or place in refused:
                continue
            cost = self.cost(unit) if self._may_fit(unit) else inf
            if cost <= cap and (cost <= self.left or self._proves_to_fit(unit, cost, rank)):
                if place not in taken:
                    self._put(unit, [item.text for item in unit], rank)
                cap -= cost
                misfits = 0
                continue
            misfits += 1
            if in_a_row or (misfits >= MISFITS and not patient):
                return

    def take_shortened(self, unit: Unit, cap: float = inf, *, rank: int = REST) -> None:
        """Take a unit, or as much of the beginnings of its items as fits into `cap` tokens and the budget.

        Short items of a unit stay whole, the others share what these leave.
        """
        if self.has(unit) or unit[0].place in self._refused:
            return
        self.take([unit], cap, rank=rank)
        if self.has(unit):
            return
        room, texts = int(min(cap, self.left)), dict[tuple[str, int], str]()
        waiting = sorted(unit, key=lambda item: self.cost([item]))
        for number, item in enumerate(waiting):
            text = self._shortened(item, room // (len(waiting) - number))
            if text is None:
                return
            texts[item.place] = text
            room -= self._cost_of(item, text)
        self._put(unit, [texts[item.place] for item in unit], rank)

    def grow(self) -> None:
        """Give what is left to the items that were shortened."""
        for item in list(self.shortened.values()):
            place, text, cost = item.place, self.taken[item.place], self._costs[item.place]
            self._heads[item.head] -= 1
            longer = self._shortened(item, self.left + cost)
            if longer is not None and len(longer) > len(text):
                # It keeps its place in the order, and what it had: that it grew must cost nobody anything.
                self.taken[place], self._costs[place] = longer, self._cost_of(item, longer)
                real = self._count()
                if real > self._budget:
                    self.taken[place], self._costs[place] = text, cost
                else:
                    self.correct(real)
                    self.version += 1
                    if longer == item.text:
                        del self.shortened[place]
            self._heads[item.head] += 1

    def is_right(self, real: int) -> bool:
        """Tell whether what is left was reckoned so nearly that what did not fit does not fit now either."""
        return not self.shortened and self._budget - real - self.left <= PLAIN_EDGE

    def correct(self, real: int) -> None:
        """Replace the sum of single costs by the real count of the whole."""
        self.left = self._budget - real

    def drop(self, excess: int) -> None:
        """Give back what is worth least, of that what was taken last, until at least `excess` tokens are free."""
        freed = 0
        while self.taken and freed < excess:
            ranks = {place: self._items[place][0] for place in reversed(self.taken)}
            _, unit = self._items[max(ranks, key=ranks.__getitem__)]
            freed += self._remove(unit)
            self._refused.add(unit[0].place)

    def _may_fit(self, unit: Unit) -> bool:
        """Tell whether a unit is worth counting: each word is a token at least, and words are counted sooner."""
        if unit[0].place in self._costs:
            return True
        room = self.left + BLANK_EDGE + self._surplus
        # Most texts need not be cut to see that they may fit.
        if sum([most_words(item.text) for item in unit]) <= room:
            return True
        return sum([len(item.text.split()) for item in unit]) <= room

    def _proves_to_fit(self, unit: Unit, cost: float, rank: int) -> bool:
        """Tell whether a unit that costs a little more alone than is left fits all the same; if so, it went in."""
        above = cost - self.left - self._surplus
        if above > BLANK_EDGE or not self._trials:
            return False
        if above > PLAIN_EDGE and all(item.text == item.text.strip() for item in unit):
            return False
        self._put(unit, [item.text for item in unit], rank)
        real = self._count()
        if real > self._budget:
            self._trials -= 1
            self._remove(unit)
            self.version -= 2
            return False
        self.correct(real)
        return True

    def _shortened(self, item: Item, room: int) -> str | None:
        """Give as much of the beginning of an item as costs up to `room` tokens, its head included."""
        head = f"{item.head[1]}\n" if item.head[1] else ""
        label = head + item.label
        body = shorten(item.text[len(item.label) :], room + self._surplus, self._counter, label, "\n")
        return None if body is None else item.label + body

    def _cost_of(self, item: Item, text: str) -> int:
        return max(1, self._counter.count(f"{text}\n") - self._surplus) + self._head_cost(item)

    def _head_cost(self, item: Item) -> int:
        if not item.head[1] or self._heads[item.head]:
            return 0
        cost = self._head_costs.get(item.head)
        if cost is None:
            cost = self._head_costs[item.head] = max(1, self._counter.count(item.head[1] + "\n") - self._surplus)
        return cost

    def _put(self, unit: Unit, texts: Sequence[str], rank: int) -> None:
        self.version += 1
        for item, text in zip(unit, texts, strict=True):
            cost = self.cost([item]) if text == item.text else self._cost_of(item, text)
            self.taken[item.place] = text
            self._costs[item.place] = cost
            self._items[item.place] = (rank, unit)
            self._heads[item.head] += 1
            self.left -= cost
            if text != item.text:
                self.shortened[item.place] = item

    def _remove(self, unit: Unit) -> int:
        freed = 0
        self.version += 1
        for item in unit:
            del self.taken[item.place]
            del self._items[item.place]
            self.shortened.pop(item.place, None)
            self._heads[item.head] -= 1
            freed += self._costs.pop(item.place)
        self.left += freed
        return freed
