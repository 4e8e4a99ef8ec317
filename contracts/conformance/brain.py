"""Checks of a Brain: every event it publishes is valid, and no reply of Memory's stops its conversation.

What a Brain thinks is its own business, so the contract asks for little. A Brain under test is a plugin that also has
`turn(message, session_id)`, which plays one turn of the user's: it asks `memory:read` before it reasons, writes what
was said by `memory:write` afterwards, and returns when both are done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any, Protocol

from pydantic import ValidationError

from bus import Event, EventBus, Gateway, HandlerFailed, Payload, Plugin, PluginStartError, PluginStopError, Request
from contracts import (
    EVENTS,
    MemoryContext,
    MemoryRead,
    MemoryWrite,
    MemoryWritten,
    MessageContent,
    MessagesContent,
)
from contracts.conformance.check import Check
from contracts.conformance.generated import generated_payloads
from contracts.conformance.golden import golden_envelopes, payload_of
from contracts.conformance.probe import expect
from contracts.errors import CheckFailedError
from contracts.schema import schema_of

TURNS = ("你好，我改用 Go 了", "Remind me to renew the certificate by June 1st.", "```\n---\n### x\n``` 👩‍👩‍👧")
SESSION = "conformance"

EMPTY = MemoryContext(facts=(), tasks=(), summaries=(), degraded=False)
DEGRADED = MemoryContext(facts=(), tasks=(), summaries=(), degraded=True, notice="memory is unavailable")
DONE = MemoryWritten(key="conversations/2026-05-04.md#1", success=True, degraded=False, durability="synced")
FAILED = MemoryWritten(key="", success=False, degraded=True, message="no space left on device")
REFUSED = MemoryWritten(key="", success=False, degraded=False, message="a sandbox session writes nothing")


class Brain(Plugin, Protocol):
    """What a Brain under test looks like."""

    async def turn(self, message: str, session_id: str) -> None:
        """Play one turn of the user's; return when it is over."""


class StandIn:
    """Answers in Memory's place: reads by the contexts given, in turn; writes by one reply; others by a golden one."""

    name = "conformance: memory"

    def __init__(self, contexts: Iterator[MemoryContext], written: MemoryWritten) -> None:
        self._contexts = contexts
        self._written = written
        self._golden = {type(payload): payload for payload in map(payload_of, golden_envelopes().values())}
        self._bus: EventBus | None = None

    async def start(self, bus: EventBus) -> None:
        """Answer every request of the contract."""
        self._bus = bus
        asked = [model for model in EVENTS if issubclass(model, Request)]
        bus.subscribe(asked, self._answer, name=self.name, answers=True)

    async def stop(self) -> None:
        """Nothing is held."""

    async def _answer(self, event: Event[Any]) -> None:
        assert self._bus is not None
        await self._bus.reply(event, self._reply_to(event.data))

    def _reply_to(self, request: Request[Any]) -> Payload:
        if request.reply_type is MemoryContext:
            return next(self._contexts)
        return self._written if request.reply_type is MemoryWritten else self._golden[request.reply_type]


async def _play(
    factory: Callable[[], Brain], memory: StandIn | None, turns: tuple[str, ...], patience: float
) -> list[Payload]:
    """Let the Brain play the turns and return what it published of memory's events, in order."""
    published: list[Payload] = []
    faults: list[HandlerFailed] = []

    async def observe(event: Event[Any]) -> None:
        published.append(event.data)

    async def fault(event: Event[HandlerFailed]) -> None:
        faults.append(event.data)

    bus = EventBus("conformance")
    bus.register(*EVENTS)
    bus.subscribe([model for model in EVENTS if issubclass(model, Request)], observe, name="conformance: observer")
    bus.subscribe(HandlerFailed, fault, name="conformance: faults")
    try:
        async with Gateway(bus, drain_timeout=patience) as gateway:
            if memory is not None:
                await gateway.register(memory)
            brain = _made(factory)
            await gateway.register(brain)
            for message in turns:
                await _one_turn(brain, message, patience)
            await bus.drain(patience)
    except (PluginStartError, PluginStopError) as error:
        raise CheckFailedError(str(error)) from error
    if faults:
        raise CheckFailedError(f"{faults[0].handler!r} raised into the bus: {faults[0].error_type}: {faults[0].error}")
    return published


def _made(factory: Callable[[], Brain]) -> Brain:
    try:
        return factory()
    except Exception as error:
        raise CheckFailedError(f"the factory raised {type(error).__name__}: {error}") from error


async def _one_turn(brain: Brain, message: str, patience: float) -> None:
    try:
        async with asyncio.timeout(patience):
            await brain.turn(message, SESSION)
    except TimeoutError:
        raise CheckFailedError(f"the turn {message!r} was not over within {patience:g} s") from None
    except Exception as error:
        raise CheckFailedError(f"the turn {message!r} raised {type(error).__name__}: {error}") from error


def _judge_turns(published: list[Payload], turns: tuple[str, ...]) -> None:
    for payload in published:
        try:
            type(payload).model_validate(payload.model_dump(mode="json", by_alias=True))
        except ValidationError as error:
            raise CheckFailedError(f"{payload.event_type} is not valid on the wire: {error}") from error
    reads = [position for position, payload in enumerate(published) if isinstance(payload, MemoryRead)]
    expect(len(reads) >= len(turns), f"{len(turns)} turns were played, but memory:read was asked {len(reads)} times")
    expect(all(published[each].session_id == SESSION for each in reads), "memory:read does not name the turn's session")  # type: ignore[attr-defined]
    said = [(position, text) for position, payload in enumerate(published) for text in _user_texts(payload)]
    for turn, message in enumerate(turns):
        places = [position for position, text in said if text == message]
        expect(bool(places), f"the user said {message!r}, but no memory:write of a conversation says so")
        expect(reads[turn] < places[0], f"memory:read of the turn {message!r} must come before its memory:write")


def _user_texts(payload: Payload) -> list[str]:
    if not isinstance(payload, MemoryWrite):
        return []
    content = payload.content
    messages = content.messages if isinstance(content, MessagesContent) else (content,)
    return [each.content for each in messages if isinstance(each, MessageContent) and each.role == "user"]


def checks(patience: float, examples: int) -> tuple[Check[Callable[[], Brain]], ...]:
    """Give the checks of a Brain.

    Args:
        patience: Seconds that each turn may take.
        examples: Generated contexts; 0 leaves that check out.
    """

    def playing(
        contexts: Callable[[], list[MemoryContext]], written: MemoryWritten
    ) -> Callable[[Callable[[], Brain]], Any]:
        async def run(factory: Callable[[], Brain]) -> None:
            given = contexts()
            turns = TURNS * -(-len(given) // len(TURNS))
            published = await _play(factory, StandIn(cycle(given), written), turns, patience)
            _judge_turns(published, TURNS)

        return run

    async def alone(factory: Callable[[], Brain]) -> None:
        await _play(factory, None, TURNS, patience)

    def golden() -> list[MemoryContext]:
        return [each for each in map(payload_of, golden_envelopes().values()) if isinstance(each, MemoryContext)]

    def generated() -> list[MemoryContext]:
        return [MemoryContext.model_validate(data) for data in generated_payloads(schema_of(MemoryContext), examples)]

    several = [
        Check("brain: reads before it reasons, writes what was said afterwards", playing(golden, DONE)),
        Check("brain: goes on with an empty memory", playing(lambda: [EMPTY], DONE)),
        Check("brain: goes on with a degraded memory", playing(lambda: [DEGRADED], FAILED)),
        Check("brain: goes on when its writes are refused", playing(golden, REFUSED)),
        Check("brain: goes on without any Memory", alone),
    ]
    if examples:
        several.append(Check(f"brain: goes on with {examples} generated contexts", playing(generated, DONE)))
    return tuple(several)
