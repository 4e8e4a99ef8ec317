"""What a compaction would drop, and what it would tell of it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import anyio
import anyio.to_thread

from openclaw_memory.lifecycle.compaction.cut import first_kept, threshold, unit_start
from openclaw_memory.lifecycle.tools import Tools
from openclaw_memory.reader import Reader
from openclaw_memory.retrieval.blocks import Block

log = logging.getLogger(__name__)

LEAST_FREED = 1
"""Tokens that a compaction must free."""

MODEL_SECONDS = 20.0
"""How long a model may take: the session waits for it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a compaction would do: the summary, the points for the day's log, the first message that stays."""

    text: str
    points: tuple[str, ...]
    first: int
    kept: int


class Planner:
    """Decides what is dropped of a session.

    Parameters: `tools` of the root's owner; `reader` of the same documents, which knows what the day's log says.
    """

    def __init__(self, tools: Tools, reader: Reader) -> None:
        self._tools = tools
        self._reader = reader
        self._config = tools.config

    def tokens(self, messages: Sequence[Block]) -> list[int]:
        """Count the tokens of messages. For a thread."""
        return [self._tools.counter.count(message.text) for message in messages]

    async def plan(self, messages: Sequence[Block], new: int, window: int | None) -> Plan | str:
        """Choose what is dropped and what is told of it; gives the reason, in words, when nothing can be dropped.

        Where the summary would be longer than it may be, so much less is dropped.

        Parameters: `messages` of the session, oldest first; `new`, the place of the first one that was not summed up
        before; `window` of the model, tokens, None where it is not known.
        """
        rules = self._config.compaction
        roles = [message.role or "user" for message in messages]
        tokens = await anyio.to_thread.run_sync(self.tokens, messages)
        room = None if window is None else threshold(window, rules)
        first = new + first_kept(roles[new:], tokens[new:], rules, room=room)
        if first <= new:
            kept = len(messages) - new
            return f"sessionId: all {kept} messages are among those that stay as they are, so nothing was dropped"
        told = await self._told_by_model(messages[:first])
        while first > new:
            plan = await anyio.to_thread.run_sync(self._told, messages, new, first, told)
            if plan is not None:
                if sum(tokens[new:first]) - self._tools.counter.count(plan.text) < LEAST_FREED:
                    return "sessionId: a summary would be as long as what it stands for, so nothing was dropped"
                return plan
            # Half as much names half as many things.
            first = unit_start(roles, new + (first - new) // 2)
            told = None
        return (
            "compaction.summary_tokens: the names and open questions of what would be dropped do not fit into "
            f"{rules.summary_tokens:,} tokens, so nothing was dropped; set it higher"
        )

    async def _told_by_model(self, messages: Sequence[Block]) -> str | None:
        """Have a model tell what was said; None where there is none, or it does not say anything of use."""
        from openclaw_memory.lifecycle.compaction.asking import asked

        try:
            model = await self._tools.models.model()
            if model is None:
                return None
            with anyio.move_on_after(MODEL_SECONDS):
                return await asked(
                    model,
                    _trusted(messages),
                    language=self._config.language,
                    counter=self._tools.counter,
                    most_tokens=self._config.completion.max_input_tokens,
                )
            log.warning("the model took longer than %g s to sum up a session", MODEL_SECONDS)
        except Exception as error:
            # Whatever a model does, sentences can be chosen without it.
            log.warning("the model could not sum up a session", exc_info=error)
        return None

    def _told(self, messages: Sequence[Block], new: int, first: int, by_model: str | None) -> Plan | None:
        """Write the summary of the messages before `first`; None when it would be too long. For a thread."""
        # Imported when the first session is compacted: their patterns take a while to be compiled.
        from openclaw_memory.capture.points import key_points
        from openclaw_memory.lifecycle.compaction.telling import main_sentences, summary

        earlier, dropped = _trusted(messages[:new]), _trusted(messages[new:first])
        every = [*earlier, *dropped]
        language = self._config.language
        text = summary(
            every,
            sentences=[by_model] if by_model is not None else main_sentences(every),
            new=len(earlier),
            kept=messages[first:],
            language=language,
            counter=self._tools.counter,
            limit=self._config.compaction.summary_tokens,
        )
        if text is None:
            return None
        said = [(block.role or "", block.text) for block in dropped]
        points = key_points(said, known=self._reader.noted(), language=language)
        return Plan(text, tuple(points), first, len(messages) - first)


def _trusted(messages: Sequence[Block]) -> list[Block]:
    """Leave out what came from outside unasked: a summary is memory's own word, and must not hand it on as that."""
    return [block for block in messages if block.origin != "untrusted"]
