"""What can go wrong with the file-memory tool, in one flat room. The texts are for the model that gave the command."""

from __future__ import annotations

from openclaw_memory.errors import OpenClawMemoryError


class CommandRefusedError(OpenClawMemoryError):
    """Raised when a command can't be done; nothing was changed. The text is what the model gets to read."""


class AnthropicMissingError(OpenClawMemoryError, ImportError):
    """Raised when the tool classes of the `anthropic` package are asked for and it is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "the `anthropic` package is not installed; install openclaw-memory[anthropic], "
            "or use FileMemory.handle, which needs no package"
        )
