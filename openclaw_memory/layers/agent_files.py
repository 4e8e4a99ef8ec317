"""Files that a model keeps itself, with the file-memory tool: `memories/` of a workspace, `/memories` for the model.

They are searched, and forgotten, like notes. Else memory only reads them: the tool writes as a person's editor would,
whole files in one step, so a process that has no part in the memory folder may write them too.
"""

from __future__ import annotations

from datetime import tzinfo

from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.layers import notes
from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.layers.pieces import free_text
from openclaw_memory.layers.plain import MAX_BYTES, PlainFormat
from openclaw_memory.markdown.text import decode
from openclaw_memory.retrieval.blocks import Block

FOLDER = "memories"
"""Where a workspace has them."""

_LOOKED_AT = 8_192
"""How many bytes of a large file tell whether it is a text."""


class AgentFileFormat(PlainFormat):
    """Format of any file: what is no text (a picture, an archive) is a document without any, and no trouble."""

    def parse(self, path: str, data: bytes) -> MarkdownDocument:
        if len(data) > MAX_BYTES and b"\0" in data[:_LOOKED_AT]:
            return self.new(path)
        try:
            return super().parse(path, data)
        except UnreadableDocumentError as problem:
            if problem.is_whole or decode(data).problem is None:
                raise
            return self.new(path)


FORMAT = AgentFileFormat({}, {})


def blocks(document: MarkdownDocument, zone: tzinfo) -> list[Block]:
    """Give the pieces of a file: those of a note for Markdown, else its paragraphs."""
    if document.path.endswith(".md"):
        return notes.blocks(document, zone)
    return free_text(document, "note", time=None)
