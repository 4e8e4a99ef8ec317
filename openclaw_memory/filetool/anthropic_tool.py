"""The file-memory tool as the `anthropic` package takes it: for `tool_runner`, synchronous and asynchronous."""

from __future__ import annotations

from typing import Any, cast

from openclaw_memory.filetool.errors import AnthropicMissingError
from openclaw_memory.filetool.memory import FileMemory, Reply

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    from anthropic.types.beta import (
        BetaMemoryTool20250818Command,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )
except ImportError as error:
    raise AnthropicMissingError from error


class FileMemoryTool(BetaAbstractMemoryTool):
    """Put it into `tools` of `client.beta.messages.tool_runner`.

    Parameters: `memory`, whose files the model gets.
    """

    def __init__(self, memory: FileMemory) -> None:
        super().__init__()
        self._memory = memory

    def call(self, input: object) -> str:
        """Do a command as the model wrote it, whatever that is. Raises: `ToolError`, whose text the model is told."""
        return _result(self._memory.run_now(cast(Any, input)))

    def execute(self, command: BetaMemoryTool20250818Command) -> str:
        """Do a command. Raises: `ToolError`."""
        return self.call(command.to_dict())

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return self.execute(command)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return self.execute(command)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return self.execute(command)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return self.execute(command)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return self.execute(command)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return self.execute(command)


class AsyncFileMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for `AsyncAnthropic`; nothing waits for the disk on the event loop."""

    def __init__(self, memory: FileMemory) -> None:
        super().__init__()
        self._memory = memory

    async def call(self, input: object) -> str:
        """Do a command as the model wrote it. Raises: `ToolError`, of which the model is told the text."""
        return _result(await self._memory.run(cast(Any, input)))

    async def execute(self, command: BetaMemoryTool20250818Command) -> str:
        """Do a command. Raises: `ToolError`."""
        return await self.call(command.to_dict())

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return await self.execute(command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return await self.execute(command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return await self.execute(command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return await self.execute(command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return await self.execute(command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return await self.execute(command)


def _result(reply: Reply) -> str:
    if reply.is_error:
        raise ToolError(reply.text)
    return reply.text
