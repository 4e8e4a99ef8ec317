"""An honest Brain of a few lines, and wrong ones that each depart from the contract in one way."""

from __future__ import annotations

import asyncio

from bus import BusError, EventBus
from contracts import MemoryContext, MemoryRead, MemoryWrite


class HonestBrain:
    """Echoes the user. Goes on without its memory, since a fault in memory never stops a conversation."""

    name = "toy-brain"

    async def start(self, bus: EventBus) -> None:
        """Keep the bus."""
        self.bus = bus

    async def stop(self) -> None:
        """Nothing is held."""

    async def turn(self, message: str, session_id: str) -> None:
        """Read, think, write."""
        context = await self.recall(message, session_id)
        await self.remember(message, self.think(message, context), session_id)

    async def recall(self, message: str, session_id: str) -> MemoryContext | None:
        """Ask for what is known."""
        try:
            return await self.bus.request(MemoryRead(query=message, session_id=session_id, max_tokens=1000), timeout=1)
        except BusError:
            return None

    def think(self, message: str, context: MemoryContext | None) -> str:
        """Make the reply."""
        known = "" if context is None or context.degraded else f" ({len(context.recalled)} memories)"
        return f"You said: {message}{known}"

    async def remember(self, message: str, reply: str, session_id: str) -> None:
        """Write the round down; a refusal is no reason to stop."""
        messages = [{"role": "user", "content": message}, {"role": "assistant", "content": reply}]
        try:
            await self.bus.request(
                MemoryWrite(type="conversation", content={"messages": messages}, session_id=session_id), timeout=1
            )
        except BusError:
            return


class NeedsMemory(HonestBrain):
    """Stops where nobody answers."""

    async def recall(self, message: str, session_id: str) -> MemoryContext | None:
        return await self.bus.request(MemoryRead(query=message, session_id=session_id, max_tokens=1000), timeout=1)


class BelievesEverything(HonestBrain):
    """Takes for granted that something was recalled."""

    def think(self, message: str, context: MemoryContext | None) -> str:
        return context.recalled[0] if context else message


class NeverReads(HonestBrain):
    """Reasons without its memory."""

    async def recall(self, message: str, session_id: str) -> MemoryContext | None:
        return None


class NeverWrites(HonestBrain):
    """Keeps what was said to itself."""

    async def remember(self, message: str, reply: str, session_id: str) -> None:
        return


class WritesBeforeItReads(HonestBrain):
    """Remembers first."""

    async def turn(self, message: str, session_id: str) -> None:
        await self.remember(message, message, session_id)
        await self.recall(message, session_id)


class MixesSessions(HonestBrain):
    """Reads for all users at once."""

    async def recall(self, message: str, session_id: str) -> MemoryContext | None:
        return await super().recall(message, "everybody")


class PublishesInvalid(HonestBrain):
    """Goes round the validation."""

    async def turn(self, message: str, session_id: str) -> None:
        await super().turn(message, session_id)
        await self.bus.publish(MemoryRead.model_construct(query=message, session_id=session_id, max_tokens=-1))


class Hangs(HonestBrain):
    """Thinks for ever."""

    async def turn(self, message: str, session_id: str) -> None:
        await asyncio.Event().wait()
