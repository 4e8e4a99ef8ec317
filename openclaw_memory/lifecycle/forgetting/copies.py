"""Copies of documents, and what is no document: made anew without what was forgotten, or removed. For a thread.

A copy that can be read loses what goes and nothing else. One that can't be read and holds it is removed: nobody could
tell what else of it is worth keeping, and the document that it was made of is there.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import Any

from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.layers.rooms import room_of
from openclaw_memory.layers.state import StateDocument
from openclaw_memory.lifecycle.forgetting.choosing import choose
from openclaw_memory.lifecycle.forgetting.planning import bytes_without
from openclaw_memory.lifecycle.forgetting.records import Scrub, scrubbed_line
from openclaw_memory.lifecycle.forgetting.scanning import Found, Kind, Traces, opened
from openclaw_memory.lifecycle.forgetting.states import pruned_state
from openclaw_memory.lifecycle.forgetting.texts import strings
from openclaw_memory.lifecycle.forgetting.wanted import Wanted
from openclaw_memory.markdown.text import decode, encode, split_lines
from openclaw_memory.storage.durable import remove, write_whole
from openclaw_memory.storage.files import Files


def forget_in(
    found: Found,
    wanted: Wanted,
    traces: Traces,
    scrub: Scrub,
    files: Files,
    zone: tzinfo,
    times: Mapping[str, Any],
) -> int:
    """Make a file that is no document anew without what is wanted; tells how many things went.

    Parameters: `scrub`, which takes it out of operations; `files`; `zone` and `times` as `choose` takes them.

    Raises: `OSError`.
    """
    data = files.read_now(found.place)
    # What nobody can read as what it was is asked line by line.
    damaged = traces.knowing(wanted.known)
    if found.kind is Kind.INBOX:
        # A reply that nobody took, or a write whose writer is gone.
        says = wanted.says if wanted.needle or wanted.known else (lambda text: False)
        if traces.within(data) or _says_json(data, says):
            remove(files, found.place)
            return 1
        return 0
    if found.kind is Kind.LEFT_OVER:
        if not damaged.within(data):
            return 0
        remove(files, found.place)
        return 1
    if found.kind is Kind.JOURNAL_COPY:
        left, count = _records_without(data, damaged, scrub)
    elif (document := _document(found.document, data)) is None:
        left, count = _lines_without(data, damaged)
    else:
        damaged = traces
        left, count = _document_without(document, data, wanted, zone, times)
    if not count and not damaged.within(opened(found, data)):
        return 0
    if not left.strip() or damaged.within(opened(found, left)):
        remove(files, found.place)
        return max(1, count)
    write_whole(files, found.place, left)
    return max(1, count)


def _document(path: str | None, data: bytes) -> Any:
    """Read a copy as the document that it is one of; None when that can't be done."""
    try:
        return None if path is None else room_of(path).format.parse(path, data)
    except (ValueError, UnreadableDocumentError):
        return None


def _document_without(
    document: Any, data: bytes, wanted: Wanted, zone: tzinfo, times: Mapping[str, Any]
) -> tuple[bytes, int]:
    """Give a copy of a document without what is wanted, and how many things went."""
    if isinstance(document, StateDocument):
        kept, changed = pruned_state(document.values, wanted.says)
        return (json.dumps(kept, ensure_ascii=False, indent=1).encode() + b"\n", changed) if changed else (data, 0)
    chosen = choose(document, wanted, zone, times)
    if not chosen.count:
        return data, 0
    return bytes_without(document, chosen, secrets.token_hex(16)), chosen.count


def _records_without(data: bytes, traces: Traces, scrub: Scrub) -> tuple[bytes, int]:
    """Give a copy of a journal without it; lines that can't be understood go when they hold it."""
    kept, count = [], 0
    for line in data.splitlines(keepends=True):
        left = scrubbed_line(line, scrub)
        if left is not None and traces.within(left):
            left = None
        count += left is not line
        kept += [] if left is None else [left]
    return b"".join(kept), count


def _lines_without(data: bytes, traces: Traces) -> tuple[bytes, int]:
    """Give a file without those of its lines that hold it."""
    found = decode(data)
    if found.problem is not None:
        return data, 0
    lines = split_lines(found.text)
    kept = [line for line in lines if not traces.within(line.encode("utf-8", "surrogatepass"))]
    return encode("".join(kept), found.encoding), len(lines) - len(kept)


def _says_json(data: bytes, says: Callable[[str], bool]) -> bool:
    try:
        return strings(json.loads(data), says)
    except (ValueError, RecursionError):
        return False
