"""Facts: read from lists, changed without touching anything else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.markdown.errors import UnwritableValueError
from openclaw_memory.markdown.facts import (
    new_fact_body,
    parse_facts,
    remove_fact,
    set_fact,
    touch_updated_line,
)
from openclaw_memory.markdown.items import canonical, matching
from openclaw_memory.markdown.text import newline_of, split_lines

LINES = st.sampled_from(
    [
        "# 用户档案",
        "> 最后更新: 2026-05-03T14:30:00+08:00",
        "## 基本信息",
        "## 技术栈",
        "### 技术栈",
        "技术栈",
        "-----",
        "- 姓名: 李青",
        "- **语言**：Go",
        "* 语言: Rust",
        "+ key: value",
        "- [ ] todo: x",
        "1. 语言: no",
        "  - nested: x",
        "  continued",
        "    deep",
        "\tkey: tab",
        "- ",
        "-",
        "```",
        "~~~",
        "<!-- open",
        "-->",
        "<div>",
        "",
        "",
        "text",
        "===",
        "| a | b |",
        "- 语言:",
        "  ```",
        "> - 语言: quoted",
        "[a]: http://b",
        "-\t语言: tab",
    ]
)
BODIES = st.builds(
    lambda lines, newline, end: newline.join(lines) + (newline if end else ""),
    st.lists(LINES, max_size=14),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
PLAIN = st.text("ab中文 #*_`.-[](){}<>|~=+!&\\'\"/1", min_size=1, max_size=8)
NAMES = st.sampled_from(["语言", "技术栈", "新", "key", "C #", "*bold*", "- x", "1. y"]) | PLAIN.map(str.strip).filter(
    bool
)
VALUE_LINES = st.sampled_from(
    [
        "Go",
        "- a",
        "  - b",
        "```",
        "~~~",
        "<!--",
        "<div>",
        "# x",
        "---",
        "===",
        "",
        " ",
        "    code",
        "\ttab",
        "> q",
        "k: v",
        "：",
        "1. z",
    ]
)
VALUES = (st.lists(VALUE_LINES, max_size=5).map("\n".join) | st.text("a\r\n\u2028 :-", max_size=8)).filter(str.strip)


def edited(body: str, section: str, key: str, value: str) -> str | None:
    """Set a fact; None where it is refused."""
    try:
        return set_fact(body, section, key, value, newline=newline_of(body)).body
    except UnwritableValueError:
        return None


@given(BODIES, NAMES, NAMES, VALUES)
def test_a_value_is_read_back(body: str, section: str, key: str, value: str) -> None:
    """What is set is read back, and setting it again changes nothing."""
    after = edited(body, section, key, value)
    if after is not None:
        found = [
            fact.value
            for fact in parse_facts(after)
            if (matching(fact.section), matching(fact.key)) == (matching(section), matching(key))
        ]
        assert found[0] == canonical(value)
        again = set_fact(after, section, key, value, newline="\n")
        assert (again.body, again.changed, again.old) == (after, False, canonical(value))


@given(BODIES, st.sampled_from(["语言", "新", "key"]), VALUES)
def test_plain_names_are_never_refused(body: str, key: str, value: str) -> None:
    """Whatever a person left in the file, unclosed fences and comments included, a fact finds its place."""
    assert edited(body, "技术栈", key, value) is not None


@given(BODIES, NAMES, NAMES, VALUES)
def test_only_lines_of_the_value_change(body: str, section: str, key: str, value: str) -> None:
    """All other lines stay, byte for byte and in order, and so do all other facts."""
    before = parse_facts(body)
    after = edited(body, section, key, value)
    if after is None:
        return
    edit = set_fact(body, section, key, value, newline=newline_of(body))
    lines, changed = split_lines(body), split_lines(after)
    if edit.old is None:
        head = 0
        while head < len(lines) and lines[head] == changed[head]:
            head += 1
        tail = lines[head:]
        completed = head == len(lines) - 1 and changed[head] == lines[head] + newline_of(body)
        assert not tail or completed or changed[-len(tail) :] == tail
        assert len(parse_facts(after)) == len(before) + 1
    else:
        target = next(
            fact
            for fact in before
            if (matching(fact.section), matching(fact.key)) == (matching(section), matching(key))
        )
        above, below = lines[: target.start_line - 1], lines[target.end_line :]
        assert changed[: len(above)] == above
        assert not below or changed[-len(below) :] == below
        assert [fact.value for fact in parse_facts(after) if fact.start_line < target.start_line] == [
            fact.value for fact in before if fact.start_line < target.start_line
        ]
        assert len(parse_facts(after)) == len(before)


@given(BODIES, st.sampled_from(["语言", "新"]), VALUES)
def test_crlf_stays(body: str, key: str, value: str) -> None:
    """In a file with CRLF line ends every line still ends so after an edit."""
    crlf = body.replace("\r\n", "\n").replace("\n", "\r\n")
    after = set_fact(crlf, "技术栈", key, value, newline="\r\n").body
    assert all(line.endswith("\r\n") for line in split_lines(after)[:-1])


@given(BODIES, VALUES)
def test_an_added_fact_can_be_removed(body: str, value: str) -> None:
    """Removing what was added takes its lines out and leaves every fact."""
    before = [(fact.section, fact.key, fact.value) for fact in parse_facts(body)]
    added = set_fact(body, "技术栈", "新", value, newline="\n")
    removed = remove_fact(added.body, "技术栈", "新")
    assert (removed.old, removed.changed) == (canonical(value), True)
    assert [(fact.section, fact.key, fact.value) for fact in parse_facts(removed.body)] == before
    assert remove_fact(removed.body, "技术栈", "新").changed is False


def test_only_the_same_key_of_the_same_section_changes() -> None:
    """A neighbour with a similar name, or the same key elsewhere, is another fact."""
    body = "## A\n- 语言: x\n- 语言偏好: y\n\n## B\n- 语言: z\n"
    edit = set_fact(body, "B", "语言", "w", newline="\n")
    assert edit.body == body.replace("z", "w")
    assert edit.old == "z"


@pytest.mark.parametrize("value", ["", " \n\r\n "])
def test_blank_value_is_refused(value: str) -> None:
    """A fact without a value says nothing."""
    with pytest.raises(UnwritableValueError, match="blank"):
        set_fact("", "a", "b", value, newline="\n")


@pytest.mark.parametrize("key", ["a: b", "a\nb", "", "a：b"])
def test_key_that_would_be_read_as_another_is_refused(key: str) -> None:
    """A key with a colon or a line break cannot be found again."""
    with pytest.raises(UnwritableValueError, match="key"):
        set_fact("## s\n", "s", key, "v", newline="\n")


def test_updated_line_is_kept_in_step() -> None:
    """Only the value changes, in either language; a file without the line gets none."""
    assert touch_updated_line(new_fact_body("用户档案", "zh"), "T") == "# 用户档案\n\n> 最后更新: T\n"
    assert touch_updated_line("# P\r\n\r\n> Last updated: old\r\n", "T") == "# P\r\n\r\n> Last updated: T\r\n"
    for untouched in ("# P\n\n## A\n> 最后更新: old\n", "", "```\n> 最后更新: old\n```\n"):
        assert touch_updated_line(untouched, "T") == untouched


def test_facts_cases(facts_case: object) -> None:
    """Lists of people are read as expected."""
    given_text, expected = facts_case.given, facts_case.expected  # type: ignore[attr-defined]
    shown = [
        f"{fact.start_line}-{fact.end_line} | {fact.section} | {fact.key} | {fact.value!r}"
        for fact in parse_facts(given_text)
    ]
    assert "".join(f"{line}\n" for line in shown) == expected


def test_fact_edit_cases(fact_edits_case: object) -> None:
    """An edit, named in the title as `section / key = value`, gives the expected file."""
    given_text, expected = fact_edits_case.given, fact_edits_case.expected  # type: ignore[attr-defined]
    command = fact_edits_case.title.split("`")[1]  # type: ignore[attr-defined]
    place, _, value = command.partition(" = ")
    section, _, key = place.partition(" / ")
    newline = newline_of(given_text)
    if value:
        assert set_fact(given_text, section, key, value.replace("\\n", "\n"), newline=newline).body == expected
    else:
        assert remove_fact(given_text, section, key).body == expected
