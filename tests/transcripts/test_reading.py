"""Sessions are read, whatever their files hold: ours, the real OpenClaw's, torn ones, large ones."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.transcripts.lines import MAX_LINE_BYTES, joined, split
from openclaw_memory.transcripts.reading import lines_backwards, read_newest, read_transcript
from openclaw_memory.transcripts.values import SessionMessage, ToolCall, Transcript
from openclaw_memory.transcripts.writing import format_line
from tests.transcripts.support import jsonl, message


def said(transcript: Transcript) -> list[str]:
    return [f"{one.role}: {one.text}" for one in transcript.messages]


# -- our own lines ---------------------------------------------------------------------------------------------------


def test_the_form_of_the_seed() -> None:
    """Seed 003 section 26.2.1: role, content, timestamp; a tool has a name and a result."""
    read = read_transcript(
        jsonl(
            {"role": "user", "content": "看一下这份报表", "timestamp": "2026-05-04T09:00:00Z"},
            {"role": "assistant", "content": "好", "timestamp": "2026-05-04T09:00:02Z"},
            {"role": "tool", "name": "read_file", "result": "a,b\n1,2", "timestamp": "2026-05-04T09:00:05Z"},
        )
    )
    assert said(read) == ["user: 看一下这份报表", "assistant: 好", "tool: a,b\n1,2"]
    assert read.messages[2].name == "read_file"
    assert read.messages[0].time == datetime(2026, 5, 4, 9, tzinfo=UTC)
    assert read.problems == ()
    assert read.complete


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
MESSAGES = st.builds(
    SessionMessage,
    id=st.uuids().map(str),
    role=st.sampled_from(["assistant", "system", "tool", "user"]),
    text=TEXT.filter(lambda text: "untrusted" not in text and not text.startswith("[")),
    time=st.none() | st.datetimes(timezones=st.just(UTC)),
    name=st.none() | TEXT.filter(bool),
    calls=st.lists(st.builds(ToolCall, id=TEXT, name=TEXT, arguments=TEXT), max_size=2).map(tuple),
    call_id=st.none() | TEXT.filter(bool),
    origin=st.none() | TEXT.filter(bool),
    important=st.booleans(),
    visibility=st.none() | TEXT.filter(bool),
)


@given(st.lists(MESSAGES, max_size=8))
def test_written_and_read_again_is_the_same(messages: list[SessionMessage]) -> None:
    """read(format(x)) == x."""
    read = read_transcript(b"".join(map(format_line, messages)))
    assert list(read.messages) == messages
    assert read.problems == ()


# -- the real OpenClaw's ---------------------------------------------------------------------------------------------

HEADER = {"type": "session", "version": 3, "id": "abc", "timestamp": "2026-05-04T06:00:00Z", "cwd": "/x"}


def test_the_current_branch_is_the_path_from_the_last_entry() -> None:
    """What stands on another branch was taken back."""
    read = read_transcript(
        jsonl(
            HEADER,
            message("1", None, "user", "one"),
            message("2", "1", "assistant", "first answer"),
            message("3", "2", "user", "off the track"),
            message("4", "1", "assistant", "second answer"),
            {"type": "label", "id": "5", "parentId": "4", "targetId": "1", "label": "here"},
            message("6", "5", "user", "on"),
        )
    )
    assert said(read) == ["user: one", "assistant: second answer", "user: on"]
    assert read.problems == ()


def test_a_leaf_names_where_the_branch_ends() -> None:
    """The pointer was moved back, and nothing was said since."""
    lines = [message("1", None, "user", "one"), message("2", "1", "assistant", "two")]
    assert said(read_transcript(jsonl(*lines, {"type": "leaf", "id": "3", "targetId": "1"}))) == ["user: one"]
    assert said(read_transcript(jsonl(*lines, {"type": "leaf", "id": "3", "targetId": None}))) == []


def compacted_session(first_kept: str | None) -> bytes:
    return jsonl(
        HEADER,
        message("1", None, "user", "old"),
        message("2", "1", "assistant", "old answer"),
        message("3", "2", "user", "kept"),
        message("4", "3", "assistant", "kept answer"),
        {"type": "compaction", "id": "5", "parentId": "4", "summary": "they spoke", "firstKeptEntryId": first_kept},
        message("6", "5", "user", "new"),
    )


def test_a_compaction_stands_for_what_was_before_it() -> None:
    """The summary, what it kept, and what came after it; all that was said when it is asked for."""
    read = read_transcript(compacted_session("3"))
    assert said(read) == ["system: they spoke", "user: kept", "assistant: kept answer", "user: new"]
    assert [one.summary for one in read.messages] == [True, False, False, False]
    whole = read_transcript(compacted_session("3"), compacted=False)
    assert said(whole) == ["user: old", "assistant: old answer", "user: kept", "assistant: kept answer", "user: new"]


@pytest.mark.parametrize("first_kept", [None, "nowhere", "6"])
def test_a_compaction_that_kept_nothing(first_kept: str | None) -> None:
    assert said(read_transcript(compacted_session(first_kept))) == ["system: they spoke", "user: new"]


def test_only_the_last_compaction_counts() -> None:
    """One inside of what another kept says nothing."""
    read = read_transcript(
        jsonl(
            message("1", None, "user", "a"),
            {"type": "compaction", "id": "2", "parentId": "1", "summary": "first", "firstKeptEntryId": "1"},
            message("3", "2", "user", "b"),
            {"type": "compaction", "id": "4", "parentId": "3", "summary": "second", "firstKeptEntryId": "1"},
            message("5", "4", "user", "c"),
        )
    )
    assert said(read) == ["system: second", "user: a", "user: b", "user: c"]


def test_parts_of_a_content() -> None:
    """Text, calls and results of tools in each of the forms; thoughts are not said, images are named."""
    read = read_transcript(
        jsonl(
            message("1", None, "user", [{"type": "text", "text": "look"}, {"type": "image", "mimeType": "image/png"}]),
            message(
                "2",
                "1",
                "assistant",
                [
                    {"type": "thinking", "thinking": "hm"},
                    {"type": "text", "text": "I look"},
                    {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "x"}},
                    {"type": "tool_use", "id": "c2", "name": "ls", "input": {}},
                ],
            ),
            message("3", "2", "toolResult", [{"type": "text", "text": "3 lines"}], toolCallId="c1", toolName="read"),
            message("4", "3", "user", [{"type": "tool_result", "tool_use_id": "c2", "content": "a b"}]),
            message("5", "4", "bashExecution", None, command="date", output="Monday"),
            message("6", "5", "bashExecution", None, command="env", output="K=V", excludeFromContext=True),
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c3", "function": {"name": "f", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "c3", "content": "done"},
        )
    )
    assert said(read) == [
        "user: look\n[image/png]",
        "assistant: I look",
        "tool: 3 lines",
        "tool: a b",
        "tool: date\nMonday",
        "assistant: ",
        "tool: done",
    ]
    assert read.messages[1].calls == (ToolCall("c1", "read", '{"path": "x"}'), ToolCall("c2", "ls", "{}"))
    assert [one.call_id for one in read.messages] == [None, None, "c1", "c2", None, None, "c3"]
    assert read.messages[2].name == "read"
    assert read.messages[3].id == "4.1"
    assert read.messages[5].calls == (ToolCall("c3", "f", "{}"),)


def test_words_beside_a_result_are_kept() -> None:
    """A message may hold both; the result was there first."""
    parts = [{"type": "tool_result", "tool_use_id": "c", "content": "a"}, {"type": "text", "text": "and now?"}]
    read = read_transcript(jsonl(message("1", None, "user", parts)))
    assert said(read) == ["tool: a", "user: and now?"]
    assert [one.id for one in read.messages] == ["1.1", "1"]


def test_what_no_file_can_hold_is_replaced() -> None:
    """JSON may name half a character, or NUL (fault 6)."""
    line = rb'{"role": "user", "content": "a\ud800b\u0000", "name": "\udfff", "id": "\udfff"}' + b"\n"
    (one,) = read_transcript(line).messages
    assert (one.text, one.name, one.id) == ("a\ufffdb\ufffd", "\ufffd", "\ufffd")


def test_the_envelope_is_taken_off_a_users_words_only() -> None:
    """An assistant that quotes it wrote it itself."""
    wrapped = 'Sender (untrusted metadata):\n```json\n{"label": "Mei"}\n```\n\nhello'
    read = read_transcript(jsonl(message("1", None, "user", wrapped), message("2", "1", "assistant", wrapped)))
    assert [one.text for one in read.messages] == ["hello", wrapped]


def test_times_in_both_forms() -> None:
    """The message's own, in milliseconds, before that of its line."""
    read = read_transcript(
        jsonl(message("1", None, "user", "a", timestamp=1_777_876_200_000), message("2", "1", "user", "b"))
    )
    assert [one.time for one in read.messages] == [datetime(2026, 5, 4, 6, 30, tzinfo=UTC)] * 2
    odd = [float("nan"), 1e30, -1e30, "soon", True, [], "2026-13-01T00:00:00Z"]
    read = read_transcript(jsonl(*({"role": "user", "content": "x", "timestamp": time} for time in odd)))
    assert [one.time for one in read.messages] == [None] * len(odd)


# -- damage ----------------------------------------------------------------------------------------------------------


def test_a_torn_last_line_survives_and_nothing_is_glued_to_it() -> None:
    """It is told, kept byte for byte, and the next line stands by itself."""
    whole = jsonl({"role": "user", "content": "one"}, {"role": "user", "content": "two"})
    next_line = jsonl({"role": "user", "content": "three"})
    for cut in range(len(whole) + 1):
        torn = whole[:cut]
        later = torn + joined(torn[-1:], next_line)
        assert later.startswith(torn)
        texts = [one.text for one in read_transcript(later).messages]
        assert texts[-1] == "three"
        assert len(texts) >= 1 + torn.count(b"\n")


def test_odd_lines_are_told_and_the_others_read() -> None:
    """JSON of another kind, no JSON, other bytes: each with its place."""
    odd = [b"{\n", b"[1]\n", b"\xff\xfe\x00\n", b"null\n", b'{"a": 1}\n', b"\n", b"[" * 100_000 + b"\n"]
    odd += [jsonl({"type": "other", "x": 1}), jsonl({"type": "message", "message": 3}), b"9" * 5_000 + b"\n"]
    data = jsonl({"role": "user", "content": "a"}, *odd, {"role": "user", "content": "b"})
    read = read_transcript(data)
    assert said(read) == ["user: a", "user: b"]
    assert len(read.problems) == len(odd) - 1  # a blank line is no problem
    places = [
        offset for offset, raw in [(line.offset, line.raw) for line in split(data)] if raw in odd and raw != b"\n"
    ]
    assert [problem.offset for problem in read.problems] == places


def test_a_branch_goes_on_over_a_damaged_parent() -> None:
    """One lost line does not hide all that was said before it."""
    lines = [message(str(n), str(n - 1) if n else None, "user", f"m{n}") for n in range(5)]
    read = read_transcript(jsonl(*lines[:2], b'{"type": "mess\n', *lines[3:]))
    assert said(read) == ["user: m0", "user: m1", "user: m3", "user: m4"]
    assert any("'2'" in problem.reason for problem in read.problems)


def test_parents_that_name_each_other_in_a_circle_end() -> None:
    """A parent is always looked for further up."""
    data = jsonl(message("a", "b", "user", "1"), message("b", "a", "user", "2"), message("c", "gone", "user", "3"))
    read = read_transcript(data)
    assert said(read) == ["user: 1", "user: 2", "user: 3"]
    assert len(read.problems) == 2
    again = read_transcript(data * 3)
    assert len(again.messages) < 10


def test_a_file_whose_parents_are_all_missing_takes_no_square_of_time() -> None:
    """10,000 gaps; walking anew for each would take a minute."""
    data = jsonl(*(message(str(n), f"no{n}", "user", f"m{n}") for n in range(10_000)))
    assert len(read_transcript(data).messages) == 10_000


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "type", "id"]), inner),
    max_leaves=5,
)
KEYS = ["type", "id", "parentId", "role", "content", "message", "timestamp", "summary", "firstKeptEntryId", "result"]
KEYS += ["targetId", "toolCalls", "name", "important", "customType"]
WORDS = st.sampled_from(["message", "session", "compaction", "leaf", "user", "tool", "1", "2", "text", "toolCall"])
LINES = st.dictionaries(st.sampled_from(KEYS), WORDS | VALUES).map(lambda value: json.dumps(value).encode() + b"\n")


@given(st.lists(LINES | st.binary(max_size=30), max_size=10).map(b"".join), st.booleans())
def test_any_bytes_are_read_without_an_error(data: bytes, compacted: bool) -> None:
    """And the lines together are the bytes."""
    assert b"".join(line.raw for line in split(data)) == data
    for one in read_transcript(data, compacted=compacted).messages:
        one.text.encode()


# -- large files -----------------------------------------------------------------------------------------------------


@given(st.lists(LINES | st.binary(max_size=30), max_size=10).map(b"".join), st.integers(1, 40))
def test_backwards_the_lines_are_the_same(data: bytes, chunk: int) -> None:
    """However much is read at once."""
    lines = lines_backwards(lambda start, length: data[start : start + length], len(data), chunk)
    assert list(lines)[::-1] == split(data)


def counted(data: bytes) -> tuple[Any, list[int]]:
    """Give a way to read ranges that notes how much was read."""
    read: list[int] = []

    def read_range(start: int, length: int) -> bytes:
        read.append(length)
        return data[start : start + length]

    return read_range, read


def test_of_a_large_file_only_the_end_is_read() -> None:
    """50 MB, the newest ten messages: less than 1 % of it."""
    line = jsonl({"role": "user", "content": "x" * 1_000})
    data = line * (50_000_000 // len(line)) + jsonl(*({"role": "user", "content": f"m{n}"} for n in range(10)))
    read_range, read = counted(data)
    newest = read_newest(read_range, len(data), 10)
    assert said(newest) == [f"user: m{n}" for n in range(10)]
    assert not newest.complete
    assert sum(read) < len(data) / 100


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 6, 100])
def test_the_newest_are_the_last_of_all(most: int) -> None:
    """A result never comes without the message that called for it."""
    data = jsonl(
        message("1", None, "user", "a"),
        message("2", "1", "assistant", [{"type": "toolCall", "id": "c", "name": "f", "arguments": {}}]),
        message("3", "2", "toolResult", "r", toolCallId="c"),
        message("4", "3", "toolResult", "s", toolCallId="d"),
        message("5", "4", "assistant", "b"),
    )
    everything = read_transcript(data)
    newest = read_newest(lambda start, length: data[start : start + length], len(data), most)
    assert newest.messages == everything.messages[-len(newest.messages) :]
    assert len(newest.messages) >= min(most, 5)
    assert newest.messages[0].role != "tool"
    assert newest.complete is (most > 5)


def test_a_line_that_is_too_long_is_told_and_the_others_read() -> None:
    """Not held in memory when it is read from the end."""
    data = jsonl({"role": "user", "content": "a"}) + b"x" * (MAX_LINE_BYTES + 7) + b"\n"
    data += jsonl({"role": "user", "content": "b"})
    held = [len(line.raw) for line in lines_backwards(lambda start, length: data[start : start + length], len(data))]
    assert max(held) <= MAX_LINE_BYTES
    newest = read_newest(lambda start, length: data[start : start + length], len(data), 10)
    for read in (newest, read_transcript(data)):
        assert said(read) == ["user: a", "user: b"]
        assert [f"{MAX_LINE_BYTES:,}" in problem.reason for problem in read.problems] == [True]
