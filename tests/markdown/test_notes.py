"""Daily notes: entries are added, and every byte before them stays."""

from __future__ import annotations

from datetime import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.markdown.errors import UnwritableValueError
from openclaw_memory.markdown.fences import closing_line, fenced_lines
from openclaw_memory.markdown.notes import (
    MAX_PARSED_CHARS,
    append_note,
    append_plain,
    canonical_note,
    find_note,
    parse_notes,
)
from openclaw_memory.markdown.outline import outline

DAY = "2026-05-04"
NINE = time(9, 15)


def add(body: str, text: str, when: time = NINE, title: str = "", newline: str = "\n") -> str:
    return append_note(body, when, title, text, day=DAY, newline=newline)


def entries(body: str) -> list[tuple[str, str, str]]:
    return [(f"{entry.time:%H:%M}", entry.title, entry.text) for entry in parse_notes(body)]


def test_the_form_of_the_seed() -> None:
    """Seed 003 section 26.3.1: the day as heading, the time and a title for each entry."""
    body = add("", "读了新的排期。", time(9, 15), "排期")
    body = add(body, "- 第一步\n- 第二步", time(14, 30))
    assert body == "## 2026-05-04\n\n### 09:15 — 排期\n读了新的排期。\n\n### 14:30\n- 第一步\n- 第二步\n"
    assert entries(body) == [("09:15", "排期", "读了新的排期。"), ("14:30", "", "- 第一步\n- 第二步")]


def test_entries_that_a_person_wrote() -> None:
    """Any level, several dashes, one digit for the hour; a heading of their level or above ends them."""
    body = "# Monday\nintro\n## 9:05 - up early\ncoffee\n#### 10:30：work\nlong\n### no time\nin work\n## Ideas\nx\n"
    assert entries(body) == [
        ("09:05", "up early", "coffee"),
        ("10:30", "work", "long"),
    ]
    assert entries("### 25:00 x\n### 9:75 x\n### 12:345\n") == []


def test_a_heading_in_a_fence_is_no_entry() -> None:
    """Fault 3, for notes."""
    assert entries("### 09:15\n```\n### 10:00 — no\n```\n") == [("09:15", "", "```\n### 10:00 — no\n```")]


def test_what_is_there_already_is_not_added_again() -> None:
    """A journal is applied again after a crash."""
    once = add("", "one", title="a")
    assert add(once, "one", title="a") is once
    assert add(once, "one", title="b") != once
    assert add(once, "one", time(9, 16), "a") != once
    later = add(add(once, "two", title="b"), "three", time(10, 0))
    assert add(later, "one", title="a") is later


@pytest.mark.parametrize(
    "open_end",
    [
        "```python\nx = 1",
        "~~~\nx",
        "````\n```",
        "<!-- note to self",
        "<pre>\nx",
        "<?php",
        "<![CDATA[ x",
        "- ```\n  x",
        "> ```",
        # A carriage return within a line is a space to the parser.
        "\r```\nx",
        "\r<!-- note",
    ],
)
def test_what_was_left_open_is_closed_and_swallows_nothing(open_end: str) -> None:
    """In a person's text, and in one of ours."""
    for before in (f"# Mine\n\n{open_end}", add("", open_end, time(8, 0))):
        body = add(before, "later")
        assert body.startswith(before)
        assert entries(body)[-1] == ("09:15", "", "later")


def test_a_mark_at_the_beginning_hides_no_fence_that_was_left_open() -> None:
    """Of a text that begins with a byte order mark."""
    assert entries(add("\ufeff```\nx", "later")) == [("09:15", "", "later")]


def test_a_text_with_headings_is_read_back_as_one_entry() -> None:
    """They get a backslash, those in a fence do not, and lose it on reading."""
    text = "# Plan\n\\## sub\n#### small\n#### 10:00 lunch\n```\n# a comment\n```\nTitle\n==="
    body = add("", text)
    assert "\\# Plan\n\\\\## sub\n#### small\n\\#### 10:00 lunch\n```\n# a comment\n```\n" in body
    assert entries(body) == [("09:15", "", text)]


LINES = st.sampled_from(
    [
        "text",
        "# a",
        "## b",
        "### 10:00 — c",
        "\\### 10:00",
        "\\\\# x",
        "#### d",
        "#### 11:00",
        "- item",
        "  # in item",
        "    # code",
        "```",
        "~~~",
        "````py",
        "<!--",
        "-->",
        "<pre>",
        "</pre>",
        "<div>",
        "> # q",
        "===",
        "---",
        "",
        "  ",
        "1. one",
        "\t# tab",
        "#",
        "##",
        "###",
        "`x`",
        "[a]: b",
        "| a |",
        "\\",
        "&amp;",
        "# é\r",
        "a\u2028# b",
        "\x0c# f",
    ]
)
TEXTS = st.lists(LINES, min_size=1, max_size=8).map("\n".join).filter(str.strip)
TITLES = st.sampled_from(["", "a", "— dash", "- minus", ":30", "10:00", "end #", "#", "x  y", "é"])


@given(TEXTS, TEXTS, TITLES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_appending_keeps_every_byte_and_is_read_back(
    before: str, text: str, title: str, newline: str, ends: bool
) -> None:
    """For anything that a person had in the file, and anything that is added."""
    body = before.replace("\n", newline) + (newline if ends else "")
    try:
        changed = add(body, text, title=title, newline=newline)
    except UnwritableValueError:
        pytest.fail("these are all texts that an entry can hold")
    assert changed.startswith(body)
    found = find_note(changed, NINE, title, text)
    assert found is not None
    if changed is not body:
        # Read as a whole, and not from the last entry on only: it is one more, and all others stand where they did.
        earlier = [entry.start_line for entry in parse_notes(body)]
        assert [entry.start_line for entry in parse_notes(changed)] == [*earlier, found.start_line]
    assert add(changed, text, title=title, newline=newline) is changed
    again = add(changed, "the next one", time(23, 59), newline=newline)
    assert again.startswith(changed)
    assert entries(again)[-1] == ("23:59", "", "the next one")


@given(st.text(max_size=60).filter(str.strip), st.text(max_size=30))
def test_any_text_is_read_back(text: str, before: str) -> None:
    """White space at the ends, carriage returns, and a backslash before `#` more or less do not count."""
    changed = add(before, text)
    assert changed.startswith(before)
    assert find_note(changed, NINE, "", text) is not None


@given(TEXTS)
def test_a_closing_line_closes(text: str) -> None:
    """A heading after it and an empty line is a heading; where nothing is open there is none."""
    line = closing_line(text)
    closed = f"{text}\n{line}\n\n" if line else f"{text}\n\n"
    assert outline(closed + "# probe\n").headings[-1].title == "probe"
    if line:
        assert [heading.title for heading in outline(f"{text}\n\n# probe\n").headings][-1:] != ["probe"]


def test_lines_of_fences() -> None:
    """Also of one in a list, and of one that nobody closed."""
    assert fenced_lines("a\n```\nb\n```\nc\n- ~~~\n  d\n") == {2, 3, 4, 6, 7}
    assert fenced_lines("no fence") == frozenset()


def test_a_very_long_note_is_added_to_without_being_parsed() -> None:
    """From its last entry on; its lines count from the top all the same."""
    filler = "### 08:00 — long\n" + "word word\n" * (MAX_PARSED_CHARS // 10) + "\n### 08:30\nlast\n"
    changed = add(filler, "new")
    assert changed == filler + "\n### 09:15\nnew\n"
    assert add(changed, "new") is changed
    found = find_note(changed, NINE, "", "new")
    assert found is not None
    assert changed.split("\n")[found.start_line - 1] == "### 09:15"


def test_a_long_entry_is_read_back() -> None:
    """Also one that is longer than what is looked at otherwise, and one behind a person's long text without entries."""
    long = "word " * (MAX_PARSED_CHARS // 5) + "\n\n- end"
    body = add("words\n\n" * (MAX_PARSED_CHARS // 7 + 1), long)
    found = find_note(body, NINE, "", long)
    assert found is not None
    assert found.text == long
    assert add(body, long) is body


def test_plain_text_is_added_once() -> None:
    """For what can't be an entry beside what a body holds."""
    once = append_plain("a", "b\r\nc", "\r\n")
    assert once == "a\r\n\r\nb\r\nc\r\n"
    assert append_plain(once, "b\nc", "\r\n") is once


def test_canonical_text() -> None:
    assert canonical_note("  a\r\n\r\n") == "a"
    assert canonical_note("```\nx") == "```\nx\n```"
