"""The whole way: a Memory on a folder, everything written and read over the bus."""

from __future__ import annotations

import tempfile
from itertools import groupby
from pathlib import Path

from benchmarks.recall.datasets import Question, Store
from benchmarks.recall.measure import Row, measure_contexts
from bus import Gateway
from contracts import MemoryContext, MemoryRead, MemoryWrite
from contracts.prompt import prompt_text
from openclaw_memory import Memory, MemoryConfig

MESSAGES_A_WRITE = 100
TIMEOUT_SECONDS = 60


async def through_memory(name: str, store: Store, embedder: str | None = None) -> Row:
    """Write a store by `memory:write`, then ask by `memory:read` with `asOf` at the time of each question.

    With `embedder`, the `embedding.provider`, meaning is searched too, once every memory has its vector.

    Raises: `RuntimeError` when a write is refused, or an answer was not what was to be measured.
    """
    with tempfile.TemporaryDirectory() as folder:
        async with Gateway() as gateway:
            settings = {"timezone": "UTC", "language": "en", "watch": False, "embedding": {"provider": embedder}}
            memory = Memory(MemoryConfig(root=Path(folder), **settings))
            await gateway.register(memory)
            for session, blocks in groupby(store.blocks, key=lambda block: block.session or "session"):
                said = [{"role": one.role, "content": one.text, "timestamp": one.time} for one in blocks]
                for start in range(0, len(said), MESSAGES_A_WRITE):
                    some = {"messages": said[start : start + MESSAGES_A_WRITE]}
                    write = MemoryWrite(type="conversation", content=some, session_id=session)
                    written = await gateway.bus.request(write, timeout=TIMEOUT_SECONDS)
                    if not written.success:
                        raise RuntimeError(f"{store.name}: {written.message}")
            await memory.caught_up()

            async def context(question: Question, budget: int) -> str:
                read = MemoryRead(query=question.text, session_id="questions", max_tokens=budget, as_of=question.asked)
                given = await gateway.bus.request(read, timeout=TIMEOUT_SECONDS)
                assert isinstance(given, MemoryContext)
                if given.degraded or (given.notice and "keywords" in given.notice):
                    raise RuntimeError(f"{store.name}: {given.notice}")
                return prompt_text(given)

            return await measure_contexts(name, store, context)
