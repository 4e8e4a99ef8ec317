"""MEMORY.md: one line an entry; what a person wrote stays byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.markdown.curated import (
    MAX_ENTRY_CHARS,
    add_entry,
    digest_of,
    fold,
    one_line,
    parse_curated,
    replace_entry,
    section_title,
)
from openclaw_memory.markdown.errors import UnwritableValueError
from openclaw_memory.markdown.text import split_lines


def add(body: str, text: str, section: str = "偏好", beside: str | None = None, newline: str = "\n") -> str:
    return add_entry(body, section, text, beside=beside, language="zh", newline=newline).body


def texts(body: str) -> list[tuple[str, str]]:
    return [(entry.section, entry.text) for entry in parse_curated(body)]


def test_a_new_file() -> None:
    """A title, and the section of the entry."""
    body = add("", "回答要短")
    assert body == "# 长期记忆\n\n## 偏好\n\n- 回答要短\n"
    body = add(body, "Uses pnpm", "项目上下文")
    assert body == "# 长期记忆\n\n## 偏好\n\n- 回答要短\n\n## 项目上下文\n\n- Uses pnpm\n"
    assert add(body, "先说结论") == body.replace("- 回答要短\n", "- 回答要短\n- 先说结论\n")


@pytest.mark.parametrize("name", ["偏好", "Preferences", "preferences", "PREFERENCES", "**偏好**"])
@pytest.mark.parametrize("heading", ["## 偏好", "# Preferences", "### preferences ###"])
def test_a_section_in_either_language(name: str, heading: str) -> None:
    """What the file has is used, whatever the configured language."""
    assert texts(add(f"{heading}\n- a\n", "b", name)) == [
        (parse_curated(f"{heading}\n- a\n")[0].section, "a"),
        (
            parse_curated(f"{heading}\n- a\n")[0].section,
            "b",
        ),
    ]


def test_titles_of_sections() -> None:
    """The three of seed 002 in the configured language, others as they are, and a default."""
    assert section_title("about the user", "zh") == "关于用户"
    assert section_title("项目上下文", "en") == "Project context"
    assert section_title("Contacts", "zh") == "Contacts"
    assert section_title(None, "en") == "Project context"


@pytest.mark.parametrize("same", ["回答要短", "回答要短。", "  回答要短 ", "回答要短！"])
def test_the_same_is_not_added_again(same: str) -> None:
    """Wherever it stands; case, width, white space and the full stop do not count."""
    body = add("## 别处\n\n1. 回答要短\n", "other")
    assert add(body, one_line(same), "关于用户") is body
    assert fold("ＡＢＣ  x.") == fold("abc x")


def test_beside_another_entry() -> None:
    """Right below it, with its bullet, in whatever section it is."""
    body = "## A\n* one\n* two\n\n## 偏好\n\n- three\n"
    assert add(body, "one, too", beside=digest_of("one")) == body.replace("* one\n", "* one\n* one, too\n")
    assert texts(add(body, "x", beside="nothing"))[-1] == ("偏好", "x")


def test_an_entry_is_replaced_in_its_place() -> None:
    """Its bullet stays, and every other byte."""
    body = "# T\r\n\r\n* [x] uses Python\r\n  and more\r\n* b\r\nlast"
    old = parse_curated(body)[0]
    edit = replace_entry(body, old.digest, "uses Go", newline="\r\n")
    assert edit is not None
    assert edit.body == "# T\r\n\r\n* [x] uses Go\r\n* b\r\nlast"
    assert edit.digest == digest_of("uses Go")
    assert replace_entry(body, "nothing", "uses Go", newline="\r\n") is None
    again = replace_entry(edit.body, old.digest, "uses Go", newline="\r\n")
    assert again is not None
    assert not again.changed


def test_digests_stay_when_others_come_and_go() -> None:
    """And equal entries are told apart."""
    body = "- a\n- b\n- a\n"
    first, second, third = (entry.digest for entry in parse_curated(body))
    assert third == f"{first}-2"
    assert parse_curated("## X\n- new\n- b\n")[1].digest == second


def test_what_is_no_entry_is_refused() -> None:
    """With the limit and what to do."""
    with pytest.raises(UnwritableValueError, match="blank"):
        one_line(" \n. ")
    with pytest.raises(UnwritableValueError, match=f"{MAX_ENTRY_CHARS:,}"):
        one_line("x" * (MAX_ENTRY_CHARS + 1))
    assert one_line("- a\n  b") == "a b"


LINES = st.sampled_from(
    [
        "# Memory",
        "## 偏好",
        "## Preferences",
        "- a",
        "* b",
        "+ c",
        "1. d",
        "  - nested",
        "  more",
        "text",
        "```",
        "~~~",
        "<!--",
        "-->",
        "",
        "- [ ] e",
        "- ",
        "-",
        "---",
        "> - f",
        "    - code",
        "- ```",
        "偏好\n==",
        "- <!--",
        "| a |",
        "\t- g",
    ]
)
BODIES = st.lists(LINES, max_size=12).map("\n".join)
ENTRIES = st.one_of(
    st.sampled_from(
        ["x", "# x", "> x", "1. x", "[ ] x", "``` x", "<!-- x", "key: x", "- - x", "---", "* * *", "a", "=="]
    ),
    st.text(min_size=1, max_size=20),
)


@given(BODIES, ENTRIES, st.sampled_from(["偏好", "别的", ""]), st.sampled_from(["\n", "\r\n"]))
def test_added_entries_are_read_back_and_every_line_stays(body: str, text: str, section: str, newline: str) -> None:
    """Or the entry is refused."""
    body = body.replace("\n", newline)
    try:
        line = one_line(text)
        edit = add_entry(body, section, line, beside=None, language="zh", newline=newline)
    except UnwritableValueError:
        return
    assert any(fold(entry.text) == fold(line) and entry.digest == edit.digest for entry in parse_curated(edit.body))
    others = [entry for entry in texts(edit.body) if fold(entry[1]) != fold(line)]
    assert others == [entry for entry in texts(body) if fold(entry[1]) != fold(line)]
    left = iter(split_lines(edit.body))
    for old in split_lines(body):
        assert any(old.rstrip("\r\n") == new.rstrip("\r\n") for new in left), "a line of the person's is gone"
    assert add_entry(edit.body, section, line, beside=None, language="zh", newline=newline).body is edit.body


@given(BODIES, st.integers(0, 5), ENTRIES)
def test_replacing_changes_one_entry_only(body: str, which: int, text: str) -> None:
    """All the others are as they were."""
    known = parse_curated(body)
    try:
        line = one_line(text)
        edit = replace_entry(body, known[which].digest, line, newline="\n") if which < len(known) else None
    except UnwritableValueError:
        return
    if edit is None or not edit.changed:
        return
    after = texts(edit.body)
    before = texts(body)
    assert after[:which] + after[which + 1 :] == before[:which] + before[which + 1 :]
    assert after[which] == (before[which][0], line)


@given(st.text(max_size=200))
def test_any_body_is_read(body: str) -> None:
    for entry in parse_curated(body):
        assert entry.text
        assert entry.start_line <= entry.end_line
