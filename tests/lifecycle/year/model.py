"""A language model that is right most of the time: what it answers follows from what it is asked, in whichever life."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from openclaw_memory.completion import Completion
from tests.lifecycle.hostile import hostile_answers
from tests.lifecycle.models import said, saved

PROVIDER = "tests.lifecycle.year.model:Unsteady"


class Unsteady:
    """Every third request is answered from `hostile.yaml`; of the others, some would drop half of MEMORY.md.

    Parameters: `counts`, in which it counts what it did: `hostile`, `summary`, `saved`, `dropped`, `told`.
    """

    def __init__(self, counts: dict[str, int]) -> None:
        self._counts = counts
        self._hostile = hostile_answers()

    async def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int | None = None,
    ) -> Completion:
        asked = str(messages[-1]["content"])
        number = int(hashlib.sha256(json.dumps([dict(one) for one in messages]).encode()).hexdigest(), 16)
        if number % 3 == 0:
            self._count("hostile")
            value = self._hostile[number // 3 % len(self._hostile)].value
            if isinstance(value, BaseException):
                raise value
            return value  # type: ignore[no-any-return]
        if tools:
            return self._saves(str(messages[1]["content"]), number)
        if asked.startswith("{"):
            return self._sums_up(json.loads(asked)["records"], number)
        self._count("told")
        return said("谈了一些事。定了几件事。还有些没做。")

    def _count(self, what: str) -> None:
        self._counts[what] = self._counts.get(what, 0) + 1

    def _saves(self, asked: str, number: int) -> Completion:
        """Add a line to HISTORY.md and an entry to MEMORY.md; now and then leave out half of that."""
        memory, talk = asked.split("\n## 要整理的对话\n", 1)
        lines = memory.split("\n")[1:]
        first = talk.split("\n", 1)[0]
        if number % 5 == 0:
            self._count("dropped")
            lines = lines[: len(lines) // 2]
        else:
            self._count("saved")
        lines.append(f"- 第 {number % 100_000} 条：{first[:100]}")
        return saved(f"{first[:18]} 整理：{first[19:150]}", "\n".join(lines))

    def _sums_up(self, records: Sequence[Mapping[str, Any]], number: int) -> Completion:
        """Repeat the first records, more of them than there is room for."""
        self._count("summary")
        facts = [{"text": one["text"][:400], "from": [one["n"]]} for one in records[: 3 + number % 40]]
        return said(json.dumps({"talks": [], "facts": facts, "todos": []}, ensure_ascii=False))
