"""Take what was forgotten out of operations that are still needed: those of a file that can't be written now. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from operator import is_
from typing import Any

from openclaw_memory.layers.cutting import CUT
from openclaw_memory.lifecycle.forgetting.texts import folded, strings
from openclaw_memory.lifecycle.forgetting.wanted import Wanted
from openclaw_memory.markdown.history_lines import parse_history
from openclaw_memory.markdown.messages import parse_messages
from openclaw_memory.storage.operations import MadeLater, Operation, decode, encode

_WITHOUT_CONTENT = frozenset({CUT, "take_out"})

Scrub = Callable[[Operation], Operation | None]


def scrub_of(wanted: Wanted, ids: Collection[str], texts: Mapping[str, Collection[str]]) -> Scrub:
    """Make what takes forgotten things out of an operation.

    Parameters: `ids` of messages; `texts`, what was taken out of each document.
    """
    plain = {path: {folded(text) for text in given} for path, given in texts.items()}

    def scrub(operation: Operation) -> Operation | None:
        if operation.kind in _WITHOUT_CONTENT:
            return operation
        arguments = dict(operation.arguments)
        gone = plain.get(operation.path, set())

        def says(text: str) -> bool:
            return wanted.says(text) or (bool(text) and folded(text) in gone)

        if isinstance(given := arguments.get("messages"), list | MadeLater):
            kept = [item for item in given if item.get("id") not in ids and not strings(_said(item), says)]
            if len(kept) == len(given):
                return operation
            return operation._replace(arguments={**arguments, "messages": kept}) if kept else None
        if isinstance(entries := arguments.get("entries"), list):
            # Lines of HISTORY.md on their way into the file of their month.
            still = [entry for entry in entries if entry[0] not in ids and not any(map(says, _texts(entry[1])))]
            if len(still) == len(entries):
                return operation
            return operation._replace(arguments={**arguments, "entries": still}) if still else None
        if operation.kind == "adopt":
            blocks = parse_messages(str(arguments["text"])).blocks
            left = [block.raw for block in blocks if block.message.id not in ids and not says(block.message.content)]
            if len(left) == len(blocks):
                return operation
            return operation._replace(arguments={**arguments, "text": "".join(left)}) if left else None
        return None if strings(arguments, says) else operation

    return scrub


def scrubbed_line(line: bytes, scrub: Scrub) -> bytes | None:
    """Give a line of the journal without what was forgotten; None when nothing of it is left."""
    record = decode(line)
    if record is None or not record.operations:
        return line
    kept = [left for operation in record.operations if (left := scrub(operation)) is not None]
    if len(kept) == len(record.operations) and all(map(is_, kept, record.operations)):
        return line
    if not (kept or record.intents or record.flushed):
        return None
    return encode(replace(record, operations=tuple(kept)))


def _texts(raw: str) -> list[str]:
    """Give what the lines of a history say."""
    return [entry.text for entry in parse_history(raw)[1]]


def _said(item: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a message says, without the words that hold it together."""
    return {name: item[name] for name in ("content", "text", "name", "calls") if name in item}
