"""What writing messages takes: appending, and moving what a full file holds into the day's next part.

Planned like any write, so all of it is one record of the journal: after a crash a message is in the day's file or in
its part, never in both and never in none (seed 000 section 5.3).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from openclaw_memory.layers.conversations import Said, append_of
from openclaw_memory.layers.day_files import ConversationDocument, MovedText, NamedBlocks, Spoken, digest, same
from openclaw_memory.layers.documents import tags_of
from openclaw_memory.layers.parts import parts_of
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.messages import Message
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.operations import Operation

_HEADER_BYTES = 400
"""Room for the two lines above a message's content, and for what is escaped in it; reckoned rather too high."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many messages one file may hold, and how many bytes. A person's own text before them does not count."""

    messages: int
    size: int

    def exceeded(self) -> Limits:
        """Give those of a file that is being rotated: a quarter more, for what comes until that is done."""
        return Limits(self.messages + self.messages // 4, self.size + self.size // 4)


NONE = Limits(sys.maxsize, sys.maxsize)
"""Nothing is rotated."""


def parts_missing(draft: Draft, said: Sequence[Said], limits: Limits) -> dict[str, int]:
    """Count, by day, the new parts that writing these messages takes beyond those that the draft has."""
    if len(said) == 1 and has_room(draft.document(said[0].path), said[0].message.content, limits):
        return {}
    missing = {}
    for day, messages in _by_day(said).items():
        wanted = len(_runs(draft.document(day), messages, limits)) - 1
        if wanted and (lacking := wanted - len(_free_parts(draft, day))) > 0:
            missing[day] = lacking
    return missing


def plan_messages(
    draft: Draft, said: Sequence[Said], *, now: datetime, language: Language, limits: Limits
) -> list[str]:
    """Append messages to their days, in order, and rotate files that are full; gives their keys.

    Where the draft lacks a part to rotate into (see `parts_missing`) the file grows beyond its limits.
    """
    at = now.isoformat(timespec="seconds")
    for day, messages in _by_day(said).items():
        for number, run in enumerate(_runs(draft.document(day), messages, limits)):
            if number:
                _rotate(draft, day, at)
            if run:
                draft.apply(append_of(day, Spoken(run), at, language))
    return [f"{item.path}#{item.message.id}" for item in said]


def plan_tidying(draft: Draft, day: str, now: datetime) -> None:
    """Take out of a day's file what an editor that held an old view of it saved again (fault 12).

    Copies that say the same go. An edited one takes the place of the text that its part holds.
    """
    parts = parts_of(day, draft.planned)
    copies: list[list[str]] = []
    edits: dict[str, list[list[str]]] = {}
    for block in draft.document(day).file.blocks if parts else ():
        message_id = block.message.id
        for part in parts:
            if (moved := draft.document(part).block_of(message_id)) is None:
                continue
            copies.append([message_id, digest(block.raw)])
            if not same(moved.raw, block.raw):
                edits.setdefault(part, []).append([message_id, digest(moved.raw), block.raw])
            break
    at = now.isoformat(timespec="seconds")
    for part, changes in edits.items():
        draft.apply(Operation(part, "amend", {"changes": changes, "at": at}))
    if copies:
        draft.apply(Operation(day, "take_out", {"messages": copies, "at": at}))


def _rotate(draft: Draft, day: str, at: str) -> None:
    part = next(iter(_free_parts(draft, day)), None)
    if part is None:
        return
    document: ConversationDocument = draft.document(day)
    text, moved = MovedText(document), NamedBlocks(document.file.blocks)
    draft.apply(Operation(part, "adopt", {"text": text, "tags": list(tags_of(document.front)), "at": at}))
    draft.apply(Operation(day, "take_out", {"messages": moved, "at": at}))


def _free_parts(draft: Draft, day: str) -> list[str]:
    """List the parts of a day that the draft has, that are blank, and that no filled one comes after."""
    free: list[str] = []
    for part in parts_of(day, draft.planned):
        free = [*free, part] if draft.document(part).blank else []
    return free


def _runs(document: ConversationDocument, messages: Sequence[Message], limits: Limits) -> list[list[Message]]:
    """Split messages into runs with a rotation between each two; the first goes to what the file holds already."""
    runs: list[list[Message]] = [[]]
    count, size = len(document.file.blocks), document.size
    for message in messages:
        added = size_of(message.content)
        if count and (count >= limits.messages or size + added > limits.size):
            runs.append([])
            count, size = 0, 0
        runs[-1].append(message)
        count, size = count + 1, size + added
    return runs


def has_room(document: ConversationDocument, content: str, limits: Limits) -> bool:
    """Tell whether a file takes one more message with this content."""
    return is_room(len(document.file.blocks), document.size, size_of(content), limits)


def is_room(count: int, size: int, added: int, limits: Limits) -> bool:
    """Tell whether a file with so many messages and bytes takes one more of so many; one without any takes every one.

    `added` as `size_of` reckons it.
    """
    return count == 0 or (count < limits.messages and size + added <= limits.size)


def size_of(content: str) -> int:
    """Reckon how many bytes a message with this content takes in a file."""
    # Half of a character, which is never written, counts as the whole of one.
    return (len(content) if content.isascii() else len(content.encode("utf-8", "surrogatepass"))) + _HEADER_BYTES


def _by_day(said: Iterable[Said]) -> dict[str, list[Message]]:
    by_day: dict[str, list[Message]] = {}
    for item in said:
        by_day.setdefault(item.path, []).append(item.message)
    return by_day
