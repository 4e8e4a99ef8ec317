"""The file-memory tool that Anthropic's models use (`memory_20250818`), over the files of the workspace.

`FileMemory.handle` takes a command and gives the text of its result. `anthropic_tool` has the same as the classes that
the `anthropic` package takes (extra `anthropic`).
"""

from openclaw_memory.filetool.memory import FileMemory, Reply

__all__ = ["FileMemory", "Reply"]
