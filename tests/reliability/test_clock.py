"""A clock that is set back, across midnight too: nothing is lost, nothing is twice, writing goes on."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from contracts import MemoryRead, MemoryWrite, UpdateFact
from tests.support import Remembering, remembering

AFTER_MIDNIGHT = datetime(2026, 5, 4, 16, 10, tzinfo=UTC)
"""00:10 on 5 May in Shanghai."""
BEFORE_MIDNIGHT = datetime(2026, 5, 4, 15, 50, tzinfo=UTC)


def say(content: str) -> MemoryWrite:
    return MemoryWrite(type="conversation", content={"role": "user", "content": content}, session_id="s1")


async def history(it: Remembering) -> list[str]:
    context = await it.ask(MemoryRead(query="", session_id="s1", max_tokens=10_000))
    return [message.content for message in context.history]


async def test_clock_set_back_across_midnight(tmp_path: Path) -> None:
    """A message is in the file of the day that the clock showed; files are rewritten in time all the same."""
    async with remembering(tmp_path, now=AFTER_MIDNIGHT) as it:
        await it.ask(say("after"))
        await it.ask(UpdateFact(section="S", key="k", value="one"))
        it.clock.move_to(BEFORE_MIDNIGHT)
        await it.ask(say("before"))
        await it.ask(UpdateFact(section="S", key="k", value="two"))
        it.clock.advance(3)
        await it.flushed()
        assert "\nafter\n" in (it.folder / "conversations/2026-05-05.md").read_text()
        assert "\nbefore\n" in (it.folder / "conversations/2026-05-04.md").read_text()
        # The order is that of the times which the messages carry.
        assert await history(it) == ["before", "after"]
        assert it.memory.status().unflushed == {}
    async with remembering(tmp_path, now=BEFORE_MIDNIGHT) as it:
        assert await history(it) == ["before", "after"]
        await it.ask(say("next"))
        assert await history(it) == ["before", "next", "after"]
        context = await it.ask(MemoryRead(query="", session_id="x", max_tokens=1000))
        assert context.facts == ("S/k: two",)
