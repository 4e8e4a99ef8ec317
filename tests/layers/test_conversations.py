"""A day's file: appended to, never twice, and every byte of a person's kept."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from contracts import MessageContent
from openclaw_memory.layers.conversations import ConversationFormat, blocks, day_path, prepare
from openclaw_memory.layers.day_files import ConversationDocument
from openclaw_memory.storage.operations import Operation

PATH = "conversations/2026-05-04.md"
FORMAT = ConversationFormat()
SHANGHAI = ZoneInfo("Asia/Shanghai")


def append(*messages: tuple[str, str], session: str = "s1") -> Operation:
    items = [
        {"id": id_, "session": session, "role": "user", "time": "2026-05-04T14:30:00+08:00", "content": content}
        for id_, content in messages
    ]
    return Operation(PATH, "append", {"messages": items, "at": "2026-05-04T14:30:01+08:00", "language": "zh"})


def contents(document: ConversationDocument) -> list[tuple[str, str]]:
    return [(block.message.id, block.message.content) for block in document.file.blocks]


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)


@given(st.lists(TEXTS, max_size=6), st.sampled_from(["", "# Title\r\n", "no line end", "﻿---\nx: 1\n---\n"]))
def test_written_and_read_again_is_the_same(texts: list[str], before: str) -> None:
    """For any texts, behind anything that a person had in the file: parse(render(document)) == document."""
    document = FORMAT.parse(PATH, before.encode())
    for number, text in enumerate(texts):
        document = FORMAT.apply(document, append((f"m{number}", text)))
    data, rendered = FORMAT.render(document)
    again = FORMAT.parse(PATH, data)
    assert contents(again) == [(f"m{number}", text) for number, text in enumerate(texts)]
    assert [block.start_line for block in again.file.blocks] == [b.start_line for b in rendered.file.blocks]
    assert FORMAT.version(again) == FORMAT.version(rendered)
    assert FORMAT.render(again)[0] == data


def test_message_with_a_known_id_is_not_written_twice() -> None:
    """Neither when an operation is applied again, nor when half of it was applied."""
    once = FORMAT.apply(FORMAT.new(PATH), append(("m1", "one"), ("m2", "two")))
    assert FORMAT.apply(once, append(("m1", "one"), ("m2", "two"))) is once
    more = FORMAT.apply(once, append(("m2", "two"), ("m3", "three")))
    assert contents(more) == [("m1", "one"), ("m2", "two"), ("m3", "three")]


def test_versions_do_not_see_each_others_messages() -> None:
    """Two documents that grew from one share a table of ids; each knows only its own."""
    base = FORMAT.apply(FORMAT.new(PATH), append(("m1", "one")))
    left = FORMAT.apply(base, append(("m2", "left")))
    right = FORMAT.apply(base, append(("m3", "right")))
    assert (base.has("m2"), left.has("m2"), left.has("m3"), right.has("m3")) == (False, True, False, True)
    assert contents(FORMAT.apply(base, append(("m2", "left")))) == contents(left)


def test_lines_of_pieces_are_lines_of_the_file() -> None:
    """An address leads to the message, also behind front matter that was just added."""
    document = FORMAT.apply(FORMAT.new(PATH), append(("m1", "first\nsecond"), ("m2", "third")))
    data, rendered = FORMAT.render(document)
    lines = data.decode().split("\n")
    for block in blocks(rendered):
        assert "\n".join(lines[block.start_line - 1 : block.end_line]).startswith("### 2026-05-04T14:30:00+08:00")
        assert block.text in "\n".join(lines[block.start_line - 1 : block.end_line])


def test_day_is_that_of_the_users_zone() -> None:
    """16:00 UTC is the next day in Shanghai."""
    assert day_path(datetime(2026, 5, 4, 15, 59, tzinfo=UTC), SHANGHAI) == "conversations/2026-05-04.md"
    assert day_path(datetime(2026, 5, 4, 16, 0, tzinfo=UTC), SHANGHAI) == "conversations/2026-05-05.md"


def test_prepared_message_has_a_time_a_place_and_an_id() -> None:
    """Its own time when it has one; `now` otherwise; ids from the time."""
    now = datetime(2026, 5, 4, 20, tzinfo=UTC)
    given_: list[Any] = [
        MessageContent(role="user", content="old", timestamp=datetime(2026, 1, 2, tzinfo=UTC)),
        MessageContent(role="tool", content="new\x00", metadata={"name": "search", "important": True}),  # type: ignore[arg-type]
    ]
    old, new = prepare(
        given_, "s1", now=now, zone=SHANGHAI, new_id=lambda time: f"at {time:%H:%M}", origin="owner", visibility=None
    )
    assert (old.path, old.message.id, old.replaced) == ("conversations/2026-01-02.md", "at 08:00", 0)
    assert (new.path, new.message.time, new.replaced) == ("conversations/2026-05-05.md", now, 1)
    assert (new.message.name, new.message.important, new.message.origin) == ("search", True, "owner")
