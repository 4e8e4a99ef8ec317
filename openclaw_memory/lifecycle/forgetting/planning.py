"""Turn what was chosen into operations: content leaves the documents, and nothing that speaks of it stays behind."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from openclaw_memory.layers import history_shards
from openclaw_memory.layers.cutting import CUT, cut_lines, cuts_of
from openclaw_memory.layers.day_files import ConversationDocument
from openclaw_memory.layers.documents import MarkdownDocument, cut_front
from openclaw_memory.layers.history import HistoryDocument
from openclaw_memory.layers.sessions import SessionDocument, mark_of
from openclaw_memory.lifecycle.forgetting.choosing import Chosen
from openclaw_memory.markdown.text import encode
from openclaw_memory.storage.operations import Operation


def operations_of(document: Any, chosen: Chosen, salt: str, now: datetime) -> list[Operation]:
    """Give the operations that take what was chosen out of a document. They hold none of it."""
    path, at = document.path, now.isoformat(timespec="seconds")
    operations = []
    if isinstance(document, SessionDocument):
        lines = [[mark_of(document.lines[number], salt), left] for number, left in sorted(chosen.lines.items())]
        return [Operation(path, CUT, {"salt": salt, "lines": lines, "at": at})] if lines else []
    if isinstance(document, ConversationDocument) and chosen.messages:
        operations.append(
            Operation(path, "take_out", {"messages": [list(named) for named in chosen.messages], "at": at})
        )
    if chosen.runs or chosen.head:
        body, head = _texts(document)
        cuts = {"salt": salt, "cuts": cuts_of(body, chosen.runs, salt), "head": cuts_of(head, chosen.head, salt)}
        operations.append(Operation(path, CUT, {**cuts, "at": at}))
    return operations


def _texts(document: Any) -> tuple[str, str]:
    """Give the texts that runs of lines are counted in: body and head."""
    if isinstance(document, ConversationDocument):
        return document.file.preamble, document.front.head
    if isinstance(document, HistoryDocument):
        return document.text, ""
    assert isinstance(document, MarkdownDocument)
    return document.body, document.front.head


def bytes_without(document: Any, chosen: Chosen, salt: str) -> bytes:
    """Give the bytes of a copy of a document without what was chosen, every other byte as it is."""
    if isinstance(document, SessionDocument):
        kept = []
        for number, line in enumerate(document.lines):
            left = chosen.lines.get(number, line.raw)
            if left is not None:
                kept.append(left.encode() + b"\n" if isinstance(left, str) else left)
        return b"".join(kept)
    body, head = _texts(document)
    arguments = {"salt": salt, "cuts": cuts_of(body, chosen.runs, salt), "head": cuts_of(head, chosen.head, salt)}
    if isinstance(document, HistoryDocument):
        left = encode(cut_lines(body, arguments["cuts"], salt), document.encoding)
        return history_shards.compressed(left) if document.path.endswith(history_shards.SUFFIX) else left
    if isinstance(document, ConversationDocument):
        left_head = cut_lines(head, arguments["head"], salt)
        gone = {id_ for id_, _ in chosen.messages}
        blocks = "".join(block.raw for block in document.file.blocks if block.message.id not in gone)
        return encode(left_head + cut_lines(body, arguments["cuts"], salt) + blocks, document.encoding)
    return encode(cut_front(document.front, arguments).text, document.encoding)


def is_blank(document: Any) -> bool:
    """Tell whether a document says nothing any more, so that its file may go."""
    if isinstance(document, ConversationDocument):
        return not document.file.blocks and not document.file.preamble.strip()
    if isinstance(document, SessionDocument):
        return not any(line.raw.strip() for line in document.lines)
    if isinstance(document, HistoryDocument):
        return not document.text.strip()
    return isinstance(document, MarkdownDocument) and not document.body.strip()
