"""A memory with the server before it, in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client

from contracts.fields import SessionKind
from openclaw_memory.mcp.caller import Caller
from openclaw_memory.mcp.server import server_of
from tests.support import Remembering, remembering


class Served:
    """A memory, and a client of its server."""

    def __init__(self, it: Remembering, client: Client) -> None:
        self.it, self.client = it, client

    async def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool, and give its text; an error fails the test."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result
        return text_of(result)

    async def refused(self, tool: str, **arguments: Any) -> str:
        """Call a tool that refuses, and give its words."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result
        return text_of(result)


def text_of(result: Any) -> str:
    assert [content.type for content in result.content] == ["text"]
    return str(result.content[0].text)


@asynccontextmanager
async def served(
    root: Path, kind: SessionKind = "primary", mode: str = "auto", **settings: Any
) -> AsyncIterator[Served]:
    async with remembering(root, **settings) as it:
        server = server_of(it.bus, it.memory.documents, it.memory.config, Caller("mcp", kind))
        async with Client(server, mode=mode) as client:
            yield Served(it, client)
