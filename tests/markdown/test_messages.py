"""Messages: what is written is read back exactly, and what a person did to the file is read sensibly."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_memory.markdown.errors import UnwritableValueError
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.messages import Message, append_message, format_message, parse_messages
from openclaw_memory.markdown.text import clean, split_lines

SHANGHAI = timezone(timedelta(hours=8))
NOON = datetime(2026, 5, 4, 12, 0, tzinfo=SHANGHAI)
PIECES = st.sampled_from(
    [
        "\n",
        "\r",
        "\r\n",
        "\\",
        "### 2026-05-04T14:30:00+08:00",
        "### 2026-05-04 14:30",
        " <!-- id=x role=user -->",
        "**User**:",
        "---",
        "```",
        "<!--",
        "-->",
        " ",
        "\u2028",
        "\x0b",
        "a",
        "中",
        "👨‍👩‍👧",
    ]
)
CONTENTS = st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=30).map(lambda text: clean(text)[0])
WORDS = st.text(max_size=12).map(lambda text: clean(text)[0]) | st.sampled_from(
    ["--", "-->", "a=b", "%41", "x y", "搜索"]
)
MESSAGES = st.builds(
    Message,
    id=WORDS.filter(bool),
    session=WORDS,
    role=st.sampled_from(["user", "assistant", "system", "tool"]),
    time=st.datetimes(timezones=st.integers(-86399, 86399).map(lambda seconds: timezone(timedelta(seconds=seconds)))),
    content=CONTENTS,
    name=st.none() | WORDS,
    origin=st.none() | WORDS,
    important=st.booleans(),
    visibility=st.none() | WORDS,
    kind=st.none() | WORDS,
)
LANGUAGES = st.sampled_from(["zh", "en"])
NEWLINES = st.sampled_from(["\n", "\r\n"])


def message(content: str, **fields: str) -> Message:
    """Make a message of which only some things matter."""
    return Message("m1", "s1", "user", NOON, content)._replace(**fields)  # type: ignore[arg-type]


def contents(body: str) -> list[str]:
    """Read only the contents."""
    return [block.message.content for block in parse_messages(body).blocks]


@given(st.lists(MESSAGES, max_size=4), LANGUAGES, NEWLINES)
def test_what_is_written_is_read_back(messages: list[Message], language: Language, newline: str) -> None:
    """Any messages, whatever their text, are read back equal, in LF and CRLF files."""
    top = f"# 2026-05-04{newline}{newline}"
    body = top + "".join(format_message(one, language=language, newline=newline) for one in messages)
    read = parse_messages(body)
    assert read.preamble == top
    assert [block.message for block in read.blocks] == messages
    assert [block.message.time.utcoffset() for block in read.blocks] == [one.time.utcoffset() for one in messages]


@given(CONTENTS)
def test_blocks_are_the_body(body: str) -> None:
    """Preamble and raw blocks together are the body, and lines are counted as an editor counts them."""
    read = parse_messages(body)
    assert read.preamble + "".join(block.raw for block in read.blocks) == body
    lines = split_lines(body)
    for block in read.blocks:
        assert "".join(lines[block.start_line - 1 : block.end_line]) == block.raw


@given(st.lists(MESSAGES, max_size=3), MESSAGES, st.sampled_from(["", "text", "text\n"]), NEWLINES)
@settings(max_examples=40)
def test_appending_leaves_the_rest(messages: list[Message], new: Message, end: str, newline: str) -> None:
    """A message put at the end changes no byte before it, also where an editor left the last line open."""
    body = "".join(format_message(one, language="en", newline=newline) for one in messages) + end
    after = append_message(body, new, language="zh", newline=newline)
    assert after.startswith(body)
    assert parse_messages(after).blocks[-1].message == new
    assert [block.message for block in parse_messages(after).blocks[:-1]] == [
        block.message for block in parse_messages(body).blocks
    ]


@given(st.lists(MESSAGES, max_size=3))
def test_a_file_converted_to_crlf_reads_the_same(messages: list[Message]) -> None:
    """An editor that converts the whole file changes no content, but for carriage returns of its own."""
    plain = [one._replace(content=one.content.replace("\r", "")) for one in messages]
    body = "".join(format_message(one, language="zh") for one in plain)
    assert [block.message for block in parse_messages(body.replace("\n", "\r\n")).blocks] == plain


@given(st.text("ab\n\r", max_size=20))
def test_crlf_content_survives_conversion_both_ways(text: str) -> None:
    """Content that came in CRLF stays so, whatever an editor makes of the file."""
    content = text.replace("\r", "").replace("\n", "\r\n")
    body = format_message(message(content), language="zh")
    assert contents(body) == contents(body.replace("\n", "\r\n")) == [content]


@given(st.lists(PIECES, max_size=8).map("".join))
def test_a_lone_carriage_return_starts_no_message(text: str) -> None:
    """An editor that makes line ends of lone carriage returns makes no new messages of content."""
    body = format_message(message(text), language="zh")
    converted = body.replace("\r\n", "\n").replace("\r", "\n")
    assert len(parse_messages(converted).blocks) == 1


@given(st.lists(MESSAGES, min_size=2, max_size=4), st.data())
@settings(max_examples=40)
def test_a_deleted_block_leaves_the_others(messages: list[Message], data: st.DataObject) -> None:
    """When a person deletes a message, the others stay as they are."""
    blocks = [format_message(one, language="zh") for one in messages]
    at = data.draw(st.integers(0, len(blocks) - 1))
    left = parse_messages("".join(blocks[:at] + blocks[at + 1 :])).blocks
    assert [block.message for block in left] == messages[:at] + messages[at + 1 :]


@given(CONTENTS, st.integers(0, 3), st.integers(0, 3))
def test_blank_lines_in_the_file_mean_nothing(content: str, above: int, below: int) -> None:
    """Blank lines that a person adds around a message do not change it; nor does a missing last line end."""
    body = format_message(message(content.replace("\r", "")), language="zh")
    edited = body.replace("**用户**:\n", "**用户**:\n" + "\n" * above, 1) + "\n" * below
    assert contents(edited) == contents(body)
    assert contents(body.rstrip("\n")) == contents(body)


@given(MESSAGES)
def test_the_comment_is_one_by_any_reader(one: Message) -> None:
    """Nothing in a header ends its comment or makes it one that strict readers refuse."""
    header = format_message(one, language="zh").split("\n")[0]
    _, comment = header.split("<!-- ", 1)
    assert comment.endswith(" -->")
    assert "--" not in comment.removesuffix(" -->")
    assert ">" not in comment.removesuffix(" -->")


def test_an_edited_message_keeps_its_identity() -> None:
    """New words under the same header are the same message with other content."""
    body = format_message(message("我用 Java\n\n"), language="zh").replace("Java", "Go")
    (block,) = parse_messages(body).blocks
    assert block.message == message("我用 Go\n\n")


def test_ids_of_messages_without_one_are_stable_and_distinct() -> None:
    """The same text gives the same ids, and equal messages are told apart."""
    body = "### 2026-05-04T14:30:00+08:00\n**用户**:\n\n好\n\n" * 3
    ids = [block.message.id for block in parse_messages(body).blocks]
    assert len(set(ids)) == 3
    assert ids == [block.message.id for block in parse_messages(body).blocks]
    assert ids[0] == parse_messages("# top\n" + body).blocks[0].message.id


@pytest.mark.parametrize("language", ["zh", "en"])
def test_layout_of_a_block(language: Language) -> None:
    """A block is laid out as the seed shows it, with its identity in a comment."""
    label = {"zh": "用户", "en": "User"}[language]
    assert format_message(message("content"), language=language) == (
        f"### 2026-05-04T12:00:00+08:00 <!-- id=m1 session=s1 role=user -->\n**{label}**:\n\ncontent\n\n"
    )


def test_time_without_offset_is_refused() -> None:
    """A time that says no zone would be read as none."""
    with pytest.raises(UnwritableValueError, match="offset"):
        format_message(Message("a", "s", "user", NOON.replace(tzinfo=None), "x"), language="zh")


def test_time_keeps_its_fraction() -> None:
    """Microseconds and offset are kept as given."""
    exact = datetime(2026, 5, 4, 1, 2, 3, 45, tzinfo=UTC)
    body = format_message(Message("a", "s", "user", exact, "x"), language="zh")
    assert parse_messages(body).blocks[0].message.time == exact


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "\n### " * 100_000,
        "\\" * 1_000_000 + "### 2026-05-04T14:30",
        "### 2026-05-04T14:30:00+08:00 <!-- " + "a " * 500_000,
        "### 2026-05-04T14:30:00+08:00" + " " * 1_000_000 + "x",
        "### 2026-05-04T14:30:00+08:00\n**User" + "*" * 1_000_000,
    ],
    ids=["one line", "many hashes", "backslashes", "open comment", "spaces", "open label"],
)
def test_time_to_read_grows_with_length_only(text: str) -> None:
    """Hostile text costs no more than its length: a million characters are read well within a second."""
    began = time.perf_counter()
    body = format_message(message(text), language="zh")
    assert contents(body) == [text]
    parse_messages(text)
    assert time.perf_counter() - began < 1.0


def test_absurd_counts_are_ignored() -> None:
    """A header that asks for a billion line breaks gets none."""
    body = format_message(message("x\n"), language="zh").replace("after=1", "after=999999999999")
    assert contents(body) == ["x"]


def test_messages_cases(messages_case: object) -> None:
    """Files of people and of the seed are read as expected."""
    given_text, expected = messages_case.given, messages_case.expected  # type: ignore[attr-defined]
    shown = []
    for block in parse_messages(given_text).blocks:
        one = block.message
        extras = [
            f"{name}={value}" for name in ("name", "origin", "visibility", "kind") if (value := getattr(one, name))
        ]
        extras += ["important"] if one.important else []
        lines = f"{block.start_line}-{block.end_line}"
        identity = one.id if "id=" in block.raw else "derived"
        shown.append(
            " | ".join(
                [lines, identity, one.session or "-", one.role, one.time.isoformat(), repr(one.content), *extras]
            )
        )
    assert "".join(f"{line}\n" for line in shown) == expected
