"""Two-layer memory: the agent edits MEMORY.md and the day's note with its own file tool, and the next read sees it.

`mode: two_layer` is a page of settings; the guide tells the model where the files lie and when to write (seed 002).
"""

import asyncio
import tempfile
from datetime import datetime
from pathlib import Path

from bus import Gateway
from contracts import MemoryRead
from openclaw_memory import Memory, MemoryConfig
from openclaw_memory.guide import memory_context_of, memory_guide


def write_file(path: Path, text: str) -> None:
    """Be the file tool that the agent has anyway."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


async def main(root: Path) -> None:
    """Let the agent remember two things in files, and give them back without a restart."""
    config = MemoryConfig(root=root, mode="two_layer", language="en")
    async with Gateway() as gateway:
        await gateway.register(Memory(config))
        print("into the system prompt:", memory_guide("en").strip().splitlines()[0])
        write_file(
            config.workspace_folder / "memory/MEMORY.md", "# Memory\n\n## Preferences\n\n- Answers in Go, never Java\n"
        )
        today = datetime.now(config.zone).date()
        write_file(config.workspace_folder / f"memory/{today}.md", "### 09:30 — Release\n\n- v2 goes out on Friday\n")
        context = await gateway.bus.request(MemoryRead(query="", session_id="monday", max_tokens=1000))
        print(memory_context_of(context, today))


if __name__ == "__main__":
    folder = Path(tempfile.mkdtemp(prefix="openclaw-memory-"))
    asyncio.run(main(folder))
    print("the files:", folder)
