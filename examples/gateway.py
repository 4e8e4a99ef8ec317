"""The smallest Gateway with a memory: write something, ask for it, print what came back."""

import asyncio
import tempfile
from pathlib import Path

from bus import Gateway
from contracts import MemoryRead, MemoryWrite
from openclaw_memory import Memory, MemoryConfig


async def main(root: Path) -> None:
    """Remember a message under `root`, then recall it from another session."""
    async with Gateway() as gateway:
        await gateway.register(Memory(MemoryConfig(root=root)))
        said = {"role": "user", "content": "我改用 Go 了, TypeScript starts too slowly."}
        written = await gateway.bus.request(MemoryWrite(type="conversation", content=said, session_id="monday"))
        print("stored at:", written.key)
        context = await gateway.bus.request(
            MemoryRead(query="还用 TypeScript 吗？", session_id="tuesday", max_tokens=1000)
        )
        print("recalled: ", *context.recalled)


if __name__ == "__main__":
    folder = Path(tempfile.mkdtemp(prefix="openclaw-memory-"))
    asyncio.run(main(folder))
    print("the files:", folder)
