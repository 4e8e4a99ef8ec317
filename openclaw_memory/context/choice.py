"""What is chosen of the material: the order of worth, and the context that comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from itertools import islice

from contracts.prompt import prompt_parts, task_text
from contracts.reading import HistoryMessage, MemoryContext, PartTokens, TokenReport
from openclaw_memory.context.budget import divide
from openclaw_memory.context.fill import Filler, Item, Unit
from openclaw_memory.context.material import Line, Material
from openclaw_memory.context.notices import joined, left_out
from openclaw_memory.context.recalled import Language, group_of, line_of, pieces_of, texts_of
from openclaw_memory.context.tokens import TokenCounter
from openclaw_memory.context.turns import units_of, units_with
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.index import Hit

LAST_ROUND = 2
"""Messages that make a round: what was said and what was answered."""

LEAST_SHORTENED = 32
"""The message before the last is not shortened to fewer tokens than these: a crumb says nothing."""

MOST_OF_LAST_ROUND = 0.6
"""The most that the last round takes of the budget when it must be shortened anyway."""
MOST_OF_LATEST_SUMMARY = 0.2
"""The same for the latest summary."""
LITTLE = 256
"""Up to so many tokens no such limit holds, and nothing is shared: the order of worth alone decides."""

PARTS = ("facts", "memory", "tasks", "summaries", "notes", "recalled", "history")
ROUND, PROFILE, TASKS, SUMMARY = range(4)
"""Ranks of what is worth most; each goes in as a whole before anything that is worth less."""


class Choice:
    """The candidates of each part in order of worth, and what was taken of them."""

    def __init__(
        self, material: Material, max_tokens: int, counter: TokenCounter, tz: tzinfo | None, language: Language
    ) -> None:
        self.filler = Filler(max_tokens, counter, self.count)
        self._material = material
        self._max = max_tokens
        self._counter = counter
        self._tz = tz
        self._language = language
        self._plan = divide(max_tokens)
        self._facts = _lines("facts", material.facts)
        self._profile = [unit for unit in self._facts if material.facts[unit[0].index].essential]
        self._memory = _lines("memory", material.memory)
        noted = _lines("notes", material.notes)[::-1]
        self._logged = [unit for unit in noted if material.notes[unit[0].index].said]
        self._notes = [unit for unit in noted if not material.notes[unit[0].index].said] if self._logged else noted
        self._summaries = _lines("summaries", material.summaries)[::-1]
        self._tasks: list[Unit] = [
            (Item("tasks", index, task_text(task)),) for index, task in enumerate(material.tasks)
        ]
        self._units = _units(material.history)[::-1]
        self._last = self._units[: units_with(self._units, LAST_ROUND) or len(self._units)]
        self._marked = [
            unit for unit in self._units if any(material.history[item.index].key in material.important for item in unit)
        ]
        hits: dict[tuple[str, int], Hit] = {}
        for hit in material.recalled:
            hits.setdefault(hit.block.identity, hit)
        self._hits = list(hits.values())
        self._recalled_units: dict[int, Unit] = {}
        lines = (self._facts, self._memory, self._notes, self._logged, self._summaries, self._tasks)
        self._offered = sum(map(len, lines)) + len(material.history) + len(self._hits)

    def count(self) -> int:
        """Count the one string that the budget is about: `prompt_text` of the context of what was taken so far."""
        of, taken = self._by_part(), self.filler.taken
        pieces = [taken[part, index] for part in PARTS if part != "recalled" for index in of.get(part, ())]
        if "recalled" in of:
            before = sum(len(of.get(part, ())) for part in PARTS[: PARTS.index("recalled")])
            pieces[before:before] = texts_of(*self._hits_taken(of), self._tz)
        return self._counter.count("\n".join(pieces))

    def fill_by_worth(self) -> None:
        """Take what is worth most, then each part within its share, then what the rest of the budget allows."""
        filler, plan = self.filler, self._plan
        self._take_round()
        self._take_all(self._profile, PROFILE)
        self._take_all(self._tasks, TASKS)
        for unit in self._summaries[:1]:
            self._take_all([unit], SUMMARY)
            filler.take_shortened(unit, self._most(MOST_OF_LATEST_SUMMARY), rank=SUMMARY)
        if filler.left >= LITTLE:
            filler.take([*self._facts, *self._memory], plan["facts"] - filler.used("facts", "memory"))
            older = [*self._notes, *self._summaries, *self._logged]
            filler.take(older, plan["summaries"] - filler.used("summaries", "notes"))
            spare = filler.left - (plan["recalled"] if self._hits else 0)
            history = min(spare + filler.used("history"), plan["history"])
            filler.take(self._marked, (history - filler.used("history")) // 2)
            filler.take(self._units, history - filler.used("history"), in_a_row=True)
        self.fill_rest()

    def fill_rest(self) -> None:
        """Give what is left to recalled pieces, then to older history, then to whatever else was left out."""
        filler = self.filler
        for rank, units in ((ROUND, self._last), (PROFILE, self._profile), (TASKS, self._tasks)):
            filler.take(units, rank=rank, patient=True)
        filler.take(self._recalled(), patient=True)
        if filler.used("recalled") == 0:
            for unit in islice(self._recalled(), 1):
                filler.take_shortened(unit)
        filler.take(self._not_recalled(self._units), in_a_row=True)
        filler.take(self._not_recalled([*self._facts, *self._memory, *self._summaries, *self._notes, *self._logged]))
        filler.grow()

    def _take_round(self) -> None:
        """Take the last round whole where it fits, else the newest unit's beginning and some of the one before."""
        filler = self.filler
        for place, unit in enumerate(self._last):
            most = self._most(MOST_OF_LAST_ROUND) - filler.used("history")
            self._take_all([unit], ROUND)
            if filler.has(unit):
                continue
            if place == 0 and self._max > LITTLE:
                # What was asked is worth a part of what a long answer gets.
                most -= min(most // 4, sum(filler.cost(other) for other in self._last[1:]))
            if place == 0 or most >= LEAST_SHORTENED:
                filler.take_shortened(unit, most, rank=ROUND)

    def _take_all(self, units: Sequence[Unit], rank: int) -> None:
        """Take every unit that fits; while some do not, the whole is counted, which may leave room for more."""
        filler, before = self.filler, -1
        filler.take(units, rank=rank, patient=True)
        while before < (now := sum(map(filler.has, units))) < len(units):
            before = now
            filler.correct(self.count())
            if filler.left < 0:
                # Rarely a whole costs more than its pieces.
                filler.drop(-filler.left)
                filler.correct(self.count())
            filler.take(units, rank=rank, patient=True)

    def _most(self, share: float) -> int:
        return max(min(LITTLE, self._max), int(self._max * share))

    def _recalled(self) -> Iterator[Unit]:
        """Give the hits that no other part says already, best first; made as they are asked for, most never are."""
        said = self._said_keys()
        for index, hit in enumerate(self._hits):
            if not _is_said(hit.block, said):
                if index not in self._recalled_units:
                    text, group = line_of(hit.block, self._language), group_of(hit.block, self._tz)
                    self._recalled_units[index] = (Item("recalled", index, text, group),)
                yield self._recalled_units[index]

    def _not_recalled(self, units: Sequence[Unit]) -> Iterator[Unit]:
        """Leave out what was recalled: nothing is said twice."""
        again = self._recalled_keys()
        for unit in units:
            if not any(self._key(item) in again for item in unit):
                yield unit

    def _recalled_keys(self) -> set[str]:
        return {self._hits[index].block.key for part, index in self.filler.taken if part == "recalled"} - {""}

    def _key(self, item: Item) -> str:
        key: str = getattr(self._material, item.part)[item.index].key
        return key

    def has_more(self) -> bool:
        """Tell whether something was left out or shortened, or is said elsewhere."""
        return bool(self.filler.shortened) or len(self.filler.taken) < self._offered

    def context(self) -> MemoryContext:
        """Make the context of what was taken so far."""
        material, taken, of = self._material, self.filler.taken, self._by_part()
        texts: dict[str, tuple[str, ...]] = {
            part: tuple(taken[part, index] for index in indices) for part, indices in of.items()
        }
        pieces = pieces_of(*self._hits_taken(of), self._tz)
        return MemoryContext(
            facts=texts.get("facts", ()),
            memory=texts.get("memory", ()),
            tasks=tuple(material.tasks[index] for index in of.get("tasks", ())),
            summaries=texts.get("summaries", ()),
            notes=texts.get("notes", ()),
            recalled=tuple(piece.text for piece in pieces),
            citations=tuple(piece.citation for piece in pieces),
            history=tuple(_said(material.history[index], taken["history", index]) for index in of.get("history", ())),
            degraded=material.degraded,
        )

    def _by_part(self) -> dict[str, list[int]]:
        """Give the places of what was taken, by part, in the order of the material."""
        of: dict[str, list[int]] = {}
        for part, index in sorted(self.filler.taken):
            of.setdefault(part, []).append(index)
        return of

    def _hits_taken(self, of: Mapping[str, list[int]]) -> tuple[list[Hit], dict[tuple[str, int], str]]:
        """Give the hits that were taken, best first, and their texts by their identity."""
        taken = {index: self._hits[index] for index in of.get("recalled", ())}
        lines = {hit.block.identity: self.filler.taken["recalled", index] for index, hit in taken.items()}
        return list(taken.values()), lines

    def finished(self, context: MemoryContext, real: int) -> MemoryContext:
        """Add how the budget was spent and what was left out."""
        counts = self._left_out()
        counts["shortened"] = len(self.filler.shortened)
        used = {name: self._counter.count("\n".join(texts)) for name, texts in prompt_parts(context).items()}
        report = TokenReport(
            max=self._max,
            used=real,
            encoding=self._counter.encoding,
            parts=tuple(
                PartTokens(name=name, planned=self._plan.get(name, 0), used=number) for name, number in used.items()
            ),
        )
        return context.model_copy(
            update={
                "tokens": report,
                "truncated": any(counts.values()),
                "notice": joined(self._material.notice, left_out(counts, self._language)),
            }
        )

    def _left_out(self) -> dict[str, int]:
        """Count what is said nowhere, by part."""
        filler, again, said = self.filler, self._recalled_keys(), self._said_keys()
        offered: Mapping[str, Sequence[Unit]] = {
            "facts": self._facts,
            "memory": self._memory,
            "summaries": self._summaries,
            "notes": [*self._notes, *self._logged],
            "history": self._units,
        }
        counts = {
            part: sum(
                item.place not in filler.taken and self._key(item) not in again for unit in units for item in unit
            )
            for part, units in offered.items()
        }
        counts["tasks"] = sum(not filler.has(unit) for unit in self._tasks)
        counts["recalled"] = sum(
            ("recalled", index) not in filler.taken and not _is_said(hit.block, said)
            for index, hit in enumerate(self._hits)
        )
        return {part: counts[part] for part in PARTS}

    def _said_keys(self) -> set[str]:
        """Give the addresses of what other parts than `recalled` say already."""
        material = self._material
        keys: set[str] = set()
        for part, index in self.filler.taken:
            if part == "history":
                keys.add(material.history[index].key)
            elif part == "tasks":
                keys.add(material.tasks[index].id)
            elif part != "recalled":
                keys.add(getattr(material, part)[index].key)
        return keys - {""}


def _lines(part: str, lines: tuple[Line, ...]) -> list[Unit]:
    return [(Item(part, index, line.text),) for index, line in enumerate(lines) if line.text]


def _units(history: Sequence[HistoryMessage]) -> list[Unit]:
    """Give the messages in units, oldest first: no tool's result is parted from what called it."""
    items = [_message(index, message) for index, message in enumerate(history)]
    return [tuple(items[place] for place in unit) for unit in units_of([message.role for message in history])]


def _is_said(block: Block, said: set[str]) -> bool:
    # A whole file may have been said (a summary), one address, or a task by its id.
    return block.key in said or block.path in said or (block.layer == "task" and block.key.rpartition("#")[2] in said)


def _message(index: int, message: HistoryMessage) -> Item:
    label = f"{message.role}: "
    return Item("history", index, label + message.content, label=label)


def _said(message: HistoryMessage, text: str) -> HistoryMessage:
    content = text.removeprefix(f"{message.role}: ")
    return message if content == message.content else message.model_copy(update={"content": content})
