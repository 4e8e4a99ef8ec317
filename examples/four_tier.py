"""Four tiers: MEMORY.md, daily notes, sessions in JSONL, and the index; a session begins and ends (seed 003).

A private session loads MEMORY.md and the notes of today and yesterday; a group's loads neither.
"""

import asyncio
import tempfile
from pathlib import Path

from bus import Gateway
from contracts import MemoryContext, MemoryWrite, SessionEnded, SessionStarted
from openclaw_memory import Memory, MemoryConfig


def show(who: str, context: MemoryContext) -> None:
    """Print what a session was given to begin with."""
    print(f"{who}: MEMORY.md {list(context.memory)}, notes {list(context.notes)}")


async def main(root: Path) -> None:
    """Hold a conversation, end it, and begin two others: one's own and a group's."""
    config = MemoryConfig(root=root, mode="four_tier", language="en")
    async with Gateway() as gateway:
        memory = Memory(config)
        await gateway.register(memory)
        bus = gateway.bus

        async def write(kind: str, session: str, **content: object) -> str:
            written = await bus.request(MemoryWrite(type=kind, content=content, session_id=session))
            assert written.success, written.message
            return written.key

        print("entry:", await write("memory", "agent:main:main", text="The staging server is called otter"))
        await write("conversation", "agent:main:main", role="user", content="We decided to ship v2 on Friday.")
        await write("conversation", "agent:main:main", role="assistant", content="Noted: v2 on Friday.")
        ended = await bus.request(SessionEnded(session_id="agent:main:main"))
        print("key points:", ended.key)
        show("private", await bus.request(SessionStarted(session_id="agent:main:main")))
        show("group  ", await bus.request(SessionStarted(session_id="agent:main:slack:group:g1")))
        await memory.flush()
    list_sessions(root)


def list_sessions(root: Path) -> None:
    """Print the files of the sessions."""
    for path in sorted(root.rglob("*.jsonl")):
        print(path.relative_to(root), len(path.read_text(encoding="utf-8").splitlines()), "lines")


if __name__ == "__main__":
    folder = Path(tempfile.mkdtemp(prefix="openclaw-memory-"))
    asyncio.run(main(folder))
    print("the files:", folder)
