"""HISTORY.md: a line a message, found with grep, read back exactly."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.markdown.history_lines import format_entry, parse_history
from openclaw_memory.markdown.messages import Message

AT = datetime(2026, 5, 4, 14, 30, 5, tzinfo=timezone(timedelta(hours=8)))


def entry(content: str, **more: str) -> Message:
    return Message(**{"id": "01JV", "session": "s1", "role": "user", "time": AT, "content": content, **more})  # type: ignore[arg-type]


def test_one_line_with_its_time_and_speaker() -> None:
    """So that grep shows all of it."""
    assert format_entry(entry("我改用\nGo 了"), "\n") == (
        "[2026-05-04 14:30:05+08:00] user: 我改用⏎Go 了 <!-- id=01JV role=user session=s1 -->\n"
    )
    assert format_entry(entry("3 lines", role="tool", name="read_file"), "\r\n") == (
        "[2026-05-04 14:30:05+08:00] tool read_file: 3 lines <!-- id=01JV role=tool session=s1 name=read_file -->\r\n"
    )


CONTENTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40),
    st.text("\\⏎␍\n\r n", max_size=12),
    st.sampled_from(["<!-- id=x -->", "a <!-- id=x role=user -->", "[2026-05-04 10:00] x", "user: x", " x ", ""]),
)
WORDS = st.none() | st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=10)


@given(st.lists(st.tuples(CONTENTS, WORDS, WORDS), max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_written_and_read_again_is_the_same(said: list[tuple[str, str | None, str | None]], newline: str) -> None:
    """Any content, name and visibility; each takes one line."""
    messages = [
        Message(f"m{n}", "s:1", "tool" if name else "user", AT, content, name, visibility=visible)
        for n, (content, name, visible) in enumerate(said)
    ]
    text = "".join(format_entry(message, newline) for message in messages)
    assert text.count("\n") == len(messages)
    preamble, entries = parse_history(text)
    assert preamble == ""
    read = [
        Message(e.id, e.session or "", e.role or "user", e.time or AT, e.text, e.name, visibility=e.visibility)
        for e in entries
    ]
    assert read == messages
    assert [e.start_line for e in entries] == list(range(1, len(entries) + 1))


def test_lines_of_other_programs() -> None:
    """A time in brackets begins an entry, what follows belongs to it, and marks in it mean nothing."""
    text = "# History\n\n[2026-02-15 10:00] talked about ⏎ trains\nand tickets\n\n[2026-02-15 11:00]\n[not a time] x\n"
    preamble, (first, second) = parse_history(text)
    assert preamble == "# History\n\n"
    assert (first.text, first.start_line, first.end_line) == ("talked about ⏎ trains\nand tickets", 3, 5)
    assert first.time == datetime(2026, 2, 15, 10)  # noqa: DTZ001 - the file names no offset
    assert second.text == "\n[not a time] x"
    assert first.role is None
    assert parse_history(text)[1][0].id == first.id
    assert first.id != second.id


def test_equal_entries_are_told_apart() -> None:
    ids = [one.id for one in parse_history("[2026-02-15 10:00] x\n" * 3)[1]]
    assert len(set(ids)) == 3


@pytest.mark.parametrize("changed", ["user: other words", "Mei: other words", "other words"])
def test_a_line_that_a_person_edited(changed: str) -> None:
    """Its new words count; it keeps its identity."""
    line = format_entry(entry("words"), "\n").replace("user: words", changed)
    _, (read,) = parse_history(line)
    assert (read.id, read.text) == ("01JV", "other words")


@given(
    st.text(max_size=100)
    | st.lists(st.sampled_from(["[2026-05-04 10:00]", " <!-- id=", "-->", "\n", "x"])).map("".join)
)
def test_any_text_is_read_without_an_error(text: str) -> None:
    """And its parts together are the text."""
    preamble, entries = parse_history(text)
    assert preamble + "".join(one.raw for one in entries) == text
    assert all(one.time is None or one.time.year for one in entries)


def test_a_time_that_is_none() -> None:
    assert parse_history("[2026-99-99 10:00] x\n")[1][0].time is None
    assert AT.astimezone(UTC) == parse_history(format_entry(entry("x"), "\n"))[1][0].time
