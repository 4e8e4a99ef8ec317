"""What is chosen of the material: the order of worth, and the context that comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from itertools import islice

from contracts.prompt import prompt_parts, task_text
from contracts.reading import HistoryMessage, MemoryContext, PartTokens, TokenReport
from openclaw_memory.context.budget import divide
from openclaw_memory.context.fill import Filler, Item
from openclaw_memory.context.material import Line, Material
from openclaw_memory.context.notices import joined, left_out
from openclaw_memory.context.recalled import Language, group_of, line_of, pieces_of
from openclaw_memory.context.tokens import TokenCounter
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.index import Hit

LAST_ROUND = 2
"""Messages that make a round: what was said and what was answered."""

LEAST_SHORTENED = 32
"""The message before the last is not shortened to fewer tokens than these: a crumb says nothing."""

MOST_OF_ONE_PART = 0.6
"""The most that the last round, or the profile, takes of the budget as long as others want it too."""
MOST_OF_TASKS = 0.4
MOST_OF_LATEST_SUMMARY = 0.2
LITTLE = 256
"""Up to so many tokens no such limit holds: when little is left the order of worth alone decides."""


class Choice:
    """The candidates of each part in order of worth, and what was taken of them."""

    def __init__(
        self, material: Material, max_tokens: int, counter: TokenCounter, tz: tzinfo | None, language: Language
    ) -> None:
        self.filler = Filler(max_tokens, counter)
        self._material = material
        self._max = max_tokens
        self._counter = counter
        self._tz = tz
        self._language = language
        self._plan = divide(max_tokens)
        self._facts = _lines("facts", material.facts)
        self._memory = _lines("memory", material.memory)
        self._notes = _lines("notes", material.notes)[::-1]
        self._summaries = _lines("summaries", material.summaries)[::-1]
        self._tasks = [Item("tasks", index, task_text(task)) for index, task in enumerate(material.tasks)]
        messages = [_message(index, message) for index, message in enumerate(material.history)][::-1]
        self._messages, self._last = messages, messages[:LAST_ROUND]
        self._marked = [item for item in messages if material.history[item.index].key in material.important]
        hits: dict[tuple[str, int], Hit] = {}
        for hit in material.recalled:
            hits.setdefault(hit.block.identity, hit)
        self._hits = list(hits.values())

    def fill_by_worth(self) -> None:
        """Take what is worth most, then each part within its share, then what the rest of the budget allows."""
        filler, plan = self.filler, self._plan
        most, most_tasks, most_summary = (
            max(LITTLE, int(self._max * share)) for share in (MOST_OF_ONE_PART, MOST_OF_TASKS, MOST_OF_LATEST_SUMMARY)
        )
        for item in self._last:
            room = most - filler.used("history")
            if item is self._last[0] or room >= LEAST_SHORTENED:
                filler.take_shortened(item, room)
            else:
                filler.take([item], room)
        filler.take([item for item in self._facts if self._material.facts[item.index].essential], most)
        filler.take(self._tasks, most_tasks)
        for item in self._summaries[:1]:
            filler.take_shortened(item, most_summary)
        filler.take([*self._facts, *self._memory], plan["facts"] - filler.used("facts", "memory"))
        filler.take([*self._notes, *self._summaries], plan["summaries"] - filler.used("summaries", "notes"))
        spare = filler.left - (plan["recalled"] if self._hits else 0)
        history = min(spare + filler.used("history"), plan["history"])
        filler.take(self._marked, (history - filler.used("history")) // 2)
        filler.take(self._messages, history - filler.used("history"), in_a_row=True)
        self.fill_rest()

    def fill_rest(self) -> None:
        """Give what is left to recalled pieces, then to older history, then to whatever else was left out."""
        filler = self.filler
        filler.take(self._recalled(), filler.left)
        if filler.used("recalled") == 0:
            for item in islice(self._recalled(), 1):
                filler.take_shortened(item, filler.left)
        again = {self._hits[index].block.key for part, index in filler.taken if part == "recalled"}
        messages = [item for item in self._messages if self._material.history[item.index].key not in again]
        filler.take(messages, filler.left, in_a_row=True)
        filler.take([*self._tasks, *self._facts, *self._memory, *self._summaries, *self._notes], filler.left)
        for item in list(filler.shortened.values()):
            filler.take_shortened(item, self._max)

    def _recalled(self) -> Iterator[Item]:
        """Give the hits that no other part says already, best first; made as they are asked for, most never are."""
        said = self._said_keys()
        for index, hit in enumerate(self._hits):
            if not _is_said(hit.block, said):
                yield Item("recalled", index, line_of(hit.block, self._language), group_of(hit.block, self._tz))

    def has_more(self) -> bool:
        """Tell whether something was left out or shortened."""
        return bool(self.filler.shortened) or any(self._left_out().values())

    def context(self) -> MemoryContext:
        """Make the context of what was taken so far."""
        material, taken = self._material, self.filler.taken
        of: dict[str, list[int]] = {}
        for part, index in sorted(taken):
            of.setdefault(part, []).append(index)
        texts: dict[str, tuple[str, ...]] = {
            part: tuple(taken[part, index] for index in indices) for part, indices in of.items()
        }
        hits = [self._hits[index] for index in of.get("recalled", ())]
        lines = {self._hits[index].block.identity: taken["recalled", index] for index in of.get("recalled", ())}
        pieces = pieces_of(hits, lines, self._tz)
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
        taken = self.filler.taken
        offered: Mapping[str, list[Item]] = {
            "facts": self._facts,
            "memory": self._memory,
            "tasks": self._tasks,
            "summaries": self._summaries,
            "notes": self._notes,
        }
        counts = {part: sum((item.part, item.index) not in taken for item in items) for part, items in offered.items()}
        in_recalled = {self._hits[index].block.key for part, index in taken if part == "recalled"}
        said = self._said_keys()
        counts["recalled"] = sum(
            ("recalled", index) not in taken and not _is_said(hit.block, said) for index, hit in enumerate(self._hits)
        )
        counts["history"] = sum(
            ("history", index) not in taken and message.key not in in_recalled
            for index, message in enumerate(self._material.history)
        )
        return counts

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


def _lines(part: str, lines: tuple[Line, ...]) -> list[Item]:
    return [Item(part, index, line.text) for index, line in enumerate(lines) if line.text]


def _is_said(block: Block, said: set[str]) -> bool:
    # A whole file may have been said (a summary), one address, or a task by its id.
    return block.key in said or block.path in said or (block.layer == "task" and block.key.rpartition("#")[2] in said)


def _message(index: int, message: HistoryMessage) -> Item:
    label = f"{message.role}: "
    return Item("history", index, label + message.content, label=label)


def _said(message: HistoryMessage, text: str) -> HistoryMessage:
    content = text.removeprefix(f"{message.role}: ")
    return message if content == message.content else message.model_copy(update={"content": content})
