"""What an event leaves behind when it is answered."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from contracts import MemoryWrite, MessageContent
from tests.support import remembering


@pytest.mark.parametrize("writes", [1, 3])
async def test_an_answered_write_leaves_nothing_to_the_garbage_collector(tmp_path: Path, writes: int) -> None:
    """Objects that know each other are freed by the collector alone, which then runs ten times as often."""
    async with remembering(tmp_path) as it:

        def write(number: int) -> MemoryWrite:
            said = MessageContent(role="user", content=f"the ferry leaves at {number}")
            return MemoryWrite(type="conversation", content=said, session_id="s")

        await it.ask(write(0))
        gc.collect()
        gc.disable()
        try:
            freed = []
            for number in range(writes):
                payload = write(number)
                freed.append(weakref.ref(payload))
                assert (await it.ask(payload)).success
                del payload
            # The worker of the lane lets go of its event when it takes the next, or rests.
            await it.bus.drain()
            assert [one() for one in freed] == [None] * writes
        finally:
            gc.enable()
