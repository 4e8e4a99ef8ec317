"""What is loaded of MEMORY.md keeps within its budget; the rest is found by search (seed 003 section 26.7)."""

from __future__ import annotations

from pathlib import Path

from contracts import MemoryRead
from tests.support import remembering


async def test_memory_keeps_within_its_budget(tmp_path: Path) -> None:
    """From the top, whole pieces; what is left out is told, and recalled when it is asked for."""
    folder = tmp_path / "workspace/main"
    folder.mkdir(parents=True)
    lines = [f"- 第{number}条记着第{number}号仓库的钥匙" for number in range(300)]
    (folder / "MEMORY.md").write_text("\n".join(lines) + "\n")
    async with remembering(tmp_path, memory_tokens=500) as room:
        context = await room.ask(MemoryRead(query="", session_id="s1", max_tokens=20_000))
        counter = room.memory._counter
        assert counter is not None
        loaded = "\n".join(context.memory)
        assert 400 < counter.count(loaded) <= 500
        assert loaded.startswith(lines[0])
        assert "memory_tokens: 500" in context.notice
        context = await room.ask(MemoryRead(query="第277号仓库", session_id="s1", max_tokens=20_000))
        assert any("第277号仓库" in piece for piece in context.recalled)
    async with remembering(tmp_path) as room:
        context = await room.ask(MemoryRead(query="", session_id="s1", max_tokens=1_000_000))
        assert counter.count("\n".join(context.memory)) <= 4_000
