"""Lines of a day's note that tell what was said: read back exactly, whatever stands in them and around them."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.markdown.history_lines import format_entry
from openclaw_memory.markdown.log_lines import in_prompt, is_in_prompt, log_to_add, parse_log, without_log
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.messages import Message
from openclaw_memory.markdown.notes import append_note, find_note
from openclaw_memory.markdown.text import clean

AT = datetime(2026, 5, 4, 14, 30, 5, 123_000, tzinfo=timezone(timedelta(hours=8)))
TRICKY = st.sampled_from(
    ["\n", "\r", "⏎", "␍", "\\", "```", "<!--", "-->", " <!-- id=x -->", "# ", "- 14:30 ", ": ", "用户"]
)
TEXTS = st.lists(st.one_of(TRICKY, st.text(max_size=6)), max_size=8).map(lambda parts: clean("".join(parts))[0])
ROLES = st.sampled_from(["user", "assistant", "system", "tool"])
LANGUAGES: st.SearchStrategy[Language] = st.sampled_from(["zh", "en"])


def said(content: str, number: int = 1, **more: object) -> Message:
    return Message(**{"id": f"m{number}", "session": "s1", "role": "user", "time": AT, "content": content, **more})  # type: ignore[arg-type]


def added(body: str, *messages: Message, language: Language = "zh", newline: str = "\n") -> str:
    return body + log_to_add(body, without_log(body), messages, day="2026-05-04", language=language, newline=newline)[0]


def test_as_it_stands_in_the_file() -> None:
    """A list item that a person can read, with what they need not see in a comment."""
    text = added("", said("我改用 Go 了"), said("3 行\n完成", 2, role="tool", name="run it", origin="untrusted"))
    assert text == (
        "## 2026-05-04\n\n"
        "- 14:30 用户: 我改用 Go 了 <!-- id=m1 at=2026-05-04T14:30:05.123000+08:00 role=user session=s1 -->\n"
        "- 14:30 工具 run it: 3 行⏎完成 <!-- id=m2 at=2026-05-04T14:30:05.123000+08:00 role=tool session=s1 "
        "name=run%20it origin=untrusted -->\n"
    )
    one, two = parse_log(text)
    assert (one.line, one.text, one.time, one.session, one.role) == (3, "我改用 Go 了", AT, "s1", "user")
    assert (two.line, two.text, two.name, two.origin) == (4, "3 行\n完成", "run it", "untrusted")
    assert in_prompt(two, "2026-05-04", "en") == "2026-05-04 14:30 Tool run it: 3 行\n完成"


@given(texts=st.lists(TEXTS, min_size=1, max_size=4), role=ROLES, name=st.none() | TEXTS, language=LANGUAGES, own=TEXTS)
def test_round_trip(texts: list[str], role: str, name: str | None, language: Language, own: str) -> None:
    """What is written is read back, beside whatever a person wrote, of which every byte stays."""
    messages = [said(text, number, role=role, name=name) for number, text in enumerate(texts)]
    before = len(parse_log(own))
    text = added(own, *messages, language=language)
    assert text.startswith(own)
    read = parse_log(text)[before:]
    assert [(one.id, one.text, one.time, one.role) for one in read] == [
        (message.id, message.content, AT, role) for message in messages
    ]
    assert [text.split("\n")[one.line - 1].count(f"id={one.id} ") for one in read] == [1] * len(read)
    left = without_log(text)
    assert (left.count("\n"), parse_log(left)) == (text.count("\n"), ())
    for one in read:
        assert is_in_prompt(in_prompt(one, "2026-05-04", language)) or name


@given(own=TEXTS, note=st.text("ab \n`", min_size=1).filter(str.strip), newline=st.sampled_from(["\n", "\r\n"]))
def test_entries_and_lines_stand_side_by_side(own: str, note: str, newline: str) -> None:
    """A note that is added to a log, and a log to a note, change nothing that was there before."""
    log = added(own, said("one"), newline=newline)
    both = append_note(log, time(14, 31), "t", note, day="2026-05-04", newline=newline)
    assert both.startswith(log)
    entry = find_note(both, time(14, 31), "t", note)
    assert entry is not None
    assert both.split("\n")[entry.start_line - 1].startswith("### 14:31")
    again = added(both, said("two", 2), newline=newline)
    assert again.startswith(both)
    assert append_note(again, time(14, 31), "t", note, day="2026-05-04", newline=newline) == again
    assert [one.text for one in parse_log(again)][-2:] == ["one", "two"]


def test_a_last_line_left_open() -> None:
    """An editor may leave out the last line end; neither a line nor a heading is glued to it."""
    text = added("", said("one")).removesuffix("\n")
    assert added(text, said("two", 2)).startswith(f"{text}\n- 14:30 用户: two")
    assert f"{text}\n\n### 14:31 — t\n" in append_note(text, time(14, 31), "t", "x", day="2026-05-04", newline="\n")
    assert append_note(text, time(14, 30), "", "", day="2026-05-04", newline="\n").startswith(text)


def test_what_was_left_open_is_closed() -> None:
    """A fence or a comment at the end would swallow the lines for whoever looks at the note rendered."""
    assert "```\ncode\n```\n\n- 14:30" in added("```\ncode\n", said("one"))
    assert "<!-- x\n-->\n\n- 14:30" in added("<!-- x\n", said("one"))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("* 9:05 用户: x <!-- id=m1 -->", None),
        ("* 09:05 用户: x <!-- id=m1 -->", "x"),
        ("  - 09:05 改写的话 <!-- id=m1 role=user -->\r", "改写的话"),
        ("- 09:05 Ann: x <!-- id=m1 role=other at=never -->", "x"),
        ("- 09:05 x <!-- note -->", None),
        ("-  09:05   x <!-- id=m1 -->", "x"),
        ("- 09:05  <!-- id=m1 -->", ""),
        ("- 09:05 <!-- id=m1 -->", None),
        ("- 09:05 x <!-- id= -->", None),
        ("09:05 x <!-- id=m1 -->", None),
    ],
)
def test_what_a_person_made_of_it(line: str, text: str | None) -> None:
    """A line that keeps its mark is still that message's; without one it is the person's own."""
    read = parse_log(f"{line}\n")
    assert [one.text for one in read] == ([] if text is None else [text])
    assert all(one.time is None for one in read)


def test_a_line_of_spaces_is_passed_over_at_once() -> None:
    """It is no line of ours; trying every way to read it as one would take minutes."""
    assert [one.text for one in parse_log(f"- 09:05{' ' * 500_000}x\n- 09:05 x <!-- id=m1 -->\n")] == ["x"]


def test_lines_of_history_are_as_before() -> None:
    """Both say the same of a message."""
    assert format_entry(said("a\\\nb", time=AT.astimezone(UTC)), "\n") == (
        "[2026-05-04 06:30:05.123000+00:00] user: a\\\\⏎b <!-- id=m1 role=user session=s1 -->\n"
    )
