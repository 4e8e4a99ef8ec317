"""Operations that are joined come to what they come to one after the other."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.layers.conversations import ConversationFormat, append_of
from openclaw_memory.layers.day_files import ConversationDocument, Spoken, digest
from openclaw_memory.markdown.messages import Message, format_message
from openclaw_memory.storage.entries import Entry
from openclaw_memory.storage.operations import Operation

DAY = "conversations/2026-05-04.md"
FORMAT = ConversationFormat()
IDS = st.sampled_from("abcdef")


def said(message_id: str, text: str) -> Message:
    return Message(message_id, "s1", "user", datetime(2026, 5, 4, tzinfo=UTC), text)


TEXTS = st.sampled_from(["one", "two\n", "### 2026-05-04T14:30:00Z", "日"])
MESSAGES = st.lists(st.builds(said, IDS, TEXTS), max_size=3)
LATER = st.integers(0, 9).map(lambda number: f"2026-05-04T00:00:0{number}")
APPEND = st.builds(append_of, st.just(DAY), MESSAGES.map(Spoken), LATER, st.sampled_from(["en", "zh"]))
TAKE_OUT = st.builds(
    lambda ids, at: Operation(
        DAY,
        "take_out",
        {"messages": [[one, digest(format_message(said(one, "one"), language="en"))] for one in ids], "at": at},
    ),
    st.lists(IDS, max_size=2),
    LATER,
)
AMEND = st.builds(
    lambda one, at: Operation(
        DAY, "amend", {"changes": [[one, "0-0", f"### 2026-05-04T14:30:00+00:00\n\nedited {one}\n"]], "at": at}
    ),
    IDS,
    LATER,
)
BEGUN = st.sampled_from(["", "Mine, and no line end", "Mine.\n\n### 2026-05-04T14:30:00+00:00\n\nhello"])


def plain(document: ConversationDocument) -> Any:
    """Give a document without the time of its change: where the last adds nothing, that of the one before counts."""
    known = {block.message.id: document.has(block.message.id) for block in document.file.blocks}
    return replace(document, changed_at=None), known


@given(BEGUN, st.lists(APPEND | TAKE_OUT | AMEND, max_size=8))
def test_joined_is_what_one_after_the_other_is(text: str, operations: list[Operation]) -> None:
    """Also of messages that are there already, twice in a row, or told in another language."""
    one = other = FORMAT.parse(DAY, text.encode())
    for operation in operations:
        one = FORMAT.apply(one, operation)
    joined = FORMAT.joined(operations)
    for operation in joined:
        other = FORMAT.apply(other, operation)
    assert plain(one) == plain(other)
    assert FORMAT.render(one)[0] == FORMAT.render(replace(other, changed_at=one.changed_at))[0]
    assert len(joined) <= len(operations)


@given(BEGUN, st.lists(APPEND, max_size=8), st.sets(st.integers(0, 8)))
def test_what_was_added_is_there_when_somebody_looks(text: str, operations: list[Operation], looks: set[int]) -> None:
    """Whenever that is; and a file that is read anew has what is queued added to it once."""
    base = FORMAT.parse(DAY, text.encode())
    entry = Entry(FORMAT)
    entry.rebase(base, None, 0)
    expected = base
    for number, operation in enumerate(operations, 1):
        before, count = entry.ahead
        entry.add(number, operation)
        assert entry.ahead == (before, count + 1)
        expected = FORMAT.apply(expected, operation)
        if number in looks:
            assert plain(entry.planned) == plain(expected)
            assert entry.ahead == (entry.planned, 0)
    anew = FORMAT.parse(DAY, text.encode())
    entry.rebase(anew, None, len(operations))
    assert plain(entry.planned) == plain(expected)
    assert (entry.committed, len(entry.queued)) == (anew, len(operations))


def test_a_burst_of_messages_is_joined() -> None:
    """A table of all blocks is made once, not for each of them."""
    operations = [append_of(DAY, Spoken([said(str(number), "x")]), "2026-05-04", "en") for number in range(100)]
    (joined,) = FORMAT.joined(operations)
    assert [message.id for message in joined.arguments["messages"].messages] == [str(number) for number in range(100)]
    assert FORMAT.joined(operations[:1]) == operations[:1]
