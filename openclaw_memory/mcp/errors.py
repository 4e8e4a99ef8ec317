"""What can go wrong with the MCP server, in one flat room."""

from __future__ import annotations

from openclaw_memory.errors import OpenClawMemoryError


class McpMissingError(OpenClawMemoryError, ImportError):
    """Raised when the server is asked for and the `mcp` package is not installed."""

    def __init__(self) -> None:
        super().__init__("the `mcp` package is not installed; install openclaw-memory[mcp]")


class NotLoopbackError(OpenClawMemoryError, ValueError):
    """Raised when the server is to listen where other machines could reach it."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"host: {host!r} is no address of this machine alone; whoever reaches the server reads and changes the "
            "memory without a password, so use 127.0.0.1, ::1 or localhost, and a tunnel (ssh -L) from elsewhere"
        )
        self.host = host


class CallRefusedError(OpenClawMemoryError):
    """Raised when a call can't be done as it was made. The text is what the model gets to read."""
