"""The Brain of the examples passes the conformance kit."""

from __future__ import annotations

from datetime import UTC, datetime

from bus import EventBus
from contracts.conformance import verify_brain
from examples.brain import AgentThink, Answer, Brain
from openclaw_memory.context import Prompt

NOW = datetime(2026, 5, 4, tzinfo=UTC)


class Echo:
    """A model that always says the same."""

    async def answer(self, prompt: Prompt) -> Answer:
        """Answer."""
        return Answer("好的", NOW)


class TurningBrain(Brain):
    """The Brain with the one method more that the kit drives it by."""

    def __init__(self) -> None:
        super().__init__(Echo(), max_tokens=2000)

    async def start(self, bus: EventBus) -> None:
        """Keep the bus for the turns."""
        self.outside = bus
        await super().start(bus)

    async def turn(self, message: str, session_id: str) -> None:
        """Say something to the Brain and wait for its reply."""
        await self.outside.request(AgentThink(session_id=session_id, time=NOW, content=message))


async def test_example_brain_conforms() -> None:
    """With any memory, and without one."""
    report = await verify_brain(TurningBrain, examples=6)
    assert report.passed, report.table()
