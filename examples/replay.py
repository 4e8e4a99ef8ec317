"""Play a dialogue through a Gateway: a Brain whose model says what the dialogue says next."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from statistics import median

from bus import Gateway
from examples.brain import AgentReply, AgentThink, Answer, Brain, asked_in
from examples.dialogue import Dialogue, Exchange, exchanges
from examples.errors import ScriptOutOfStepError
from openclaw_memory.clock import ManualClock
from openclaw_memory.context import Prompt

DEFAULT_MAX_TOKENS = 2_000
"""Budget that the replay gives memory for each context, in tokens."""


class ScriptedModel:
    """A model that answers with the dialogue's next turn, whatever the prompt holds before the question."""

    def __init__(self, script: Iterable[Exchange]) -> None:
        self._script = iter(script)

    async def answer(self, prompt: Prompt) -> Answer:
        """Give the next reply. Raises `ScriptOutOfStepError` where the prompt asks something else."""
        exchange = next(self._script, None)
        expected = exchange.message.content if exchange and exchange.message else None
        asked = asked_in(prompt)
        if exchange is None or asked != expected:
            raise ScriptOutOfStepError(expected, asked)
        notes = tuple(note for turn in exchange.turns for note in turn.notes)
        if exchange.reply is None:
            return Answer(None, exchange.time, notes)
        return Answer(exchange.reply.content, exchange.reply.time, notes)


@dataclass(frozen=True, slots=True)
class ReplayedExchange:
    """An exchange and what the agent made of it."""

    exchange: Exchange
    reply: AgentReply

    @property
    def tokens(self) -> int:
        """Give the tokens of the context, as memory counted them; 0 where there was none."""
        report = self.reply.context.tokens if self.reply.context else None
        return report.used if report else 0


Watch = Callable[[ReplayedExchange], Awaitable[None]]
"""Called after each exchange; the replay waits for it."""


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """What became of a dialogue."""

    exchanges: tuple[ReplayedExchange, ...]

    @property
    def turns(self) -> int:
        """Count the turns that were played."""
        return sum(len(replayed.exchange.turns) for replayed in self.exchanges)

    @property
    def recalled(self) -> int:
        """Count the exchanges for which something was recalled."""
        return sum(bool(replayed.reply.context and replayed.reply.context.recalled) for replayed in self.exchanges)

    @property
    def most_tokens(self) -> int:
        """Give the tokens of the largest context."""
        return max((replayed.tokens for replayed in self.exchanges), default=0)

    @property
    def recall_milliseconds(self) -> float:
        """Give the median time that memory took for a context."""
        return median([replayed.reply.recall_seconds for replayed in self.exchanges] or [0.0]) * 1_000

    @property
    def trouble(self) -> tuple[str, ...]:
        """Give all that memory refused or could not do."""
        return tuple(text for replayed in self.exchanges for text in replayed.reply.trouble)


async def replay(
    gateway: Gateway,
    dialogue: Dialogue,
    *,
    clock: ManualClock,
    max_tokens: int = DEFAULT_MAX_TOKENS,
    watch: Watch | None = None,
) -> ReplayReport:
    """Play a dialogue against the Memory that `gateway` has, and tell what happened.

    `clock` is Memory's; it is moved to the time of each exchange, so that recency and days are those of the dialogue.
    `max_tokens` is the budget in tokens for each context. Registers a Brain with the gateway: once a gateway.
    """
    script = tuple(exchanges(dialogue.turns))
    await gateway.register(Brain(ScriptedModel(script), max_tokens=max_tokens))
    played: list[ReplayedExchange] = []
    for exchange in script:
        clock.move_to(exchange.time)
        content = exchange.message.content if exchange.message else None
        think = AgentThink(session_id=exchange.session, time=exchange.time, content=content)
        replayed = ReplayedExchange(exchange, await gateway.bus.request(think, timeout=None))
        played.append(replayed)
        if watch is not None:
            await watch(replayed)
    return ReplayReport(tuple(played))
