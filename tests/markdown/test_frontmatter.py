"""Front matter: split, read, edited by line."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.markdown.errors import UnwritableValueError
from openclaw_memory.markdown.frontmatter import checksum, split
from openclaw_memory.markdown.text import newline_of, split_lines

LINES = st.sampled_from(
    [
        "created: 2026-05-04T08:00:00+08:00",
        "updated: 2026-05-04T18:30:00+08:00  # by hand",
        "'type': conversation",
        "tags:",
        "  - daily",
        "- outer",
        "message_count: 47",
        "title: [[x]]y",
        "path: C:\\Users\\me",
        "# a comment",
        "",
        "note: |",
        "  free: text",
        "checksum: 0123",
        "\ttab",
        "...",
    ]
)
DOCUMENTS = st.builds(
    lambda bom, lines, closing, body, newline: (
        bom + "---" + newline + "".join(line + newline for line in lines) + closing + newline.join(["", body])
    ),
    st.sampled_from(["", "\ufeff"]),
    st.lists(LINES, max_size=8),
    st.sampled_from(["---", "--- ", "----", ""]),
    st.sampled_from(["", "# 标题", "---", "text"]),
    st.sampled_from(["\n", "\r\n"]),
)
TEXTS = DOCUMENTS | st.text(st.sampled_from("-\n\r a:\ufeff"), max_size=20)
STRINGS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
VALUES = STRINGS | st.integers(-(10**17), 10**17) | st.booleans() | st.none() | st.lists(STRINGS, max_size=3)
KEYS = st.sampled_from(["created", "updated", "type", "tags", "message_count", "checksum", "new_key", "title", "note"])


@given(TEXTS)
def test_parts_are_the_document(text: str) -> None:
    """Head and body together are the document, always."""
    found = split(text)
    assert found.head + found.body == text
    assert found.text == text


@given(TEXTS, st.dictionaries(KEYS, VALUES, max_size=3))
def test_fields_are_read_back(text: str, updates: dict[str, object]) -> None:
    """What is set is read back, and the body stays."""
    before = split(text)
    after = before.with_fields(updates)
    assert after.body == (before.body if before.head else before.body.removeprefix("\ufeff")) or not updates
    read = split(after.text)
    assert read == after
    if after.problem is None:
        for key, value in updates.items():
            assert read.fields[key] == value
    for key in before.fields:
        if after.problem is None and before.problem is None and key not in updates:
            assert read.fields[key] == before.fields[key]


@given(TEXTS, st.dictionaries(KEYS, STRINGS, max_size=3))
def test_other_lines_stay(text: str, updates: dict[str, object]) -> None:
    """A line of a key that was not asked for is there afterwards, in the same order."""
    before = split(text)
    after = split_lines(before.with_fields(updates).head)
    position = 0
    for line in split_lines(before.head):
        key = line.split(":")[0].strip("'")
        if ":" not in line or key in updates or line.startswith((" ", "\t", "-")):
            continue
        assert line in after[position:]
        position = after.index(line, position) + 1


@given(DOCUMENTS)
def test_same_values_change_nothing(text: str) -> None:
    """A field that has the value already keeps its line as written."""
    found = split(text)
    if found.head:
        assert found.with_fields(found.fields).text == text


@given(DOCUMENTS)
def test_line_ends_stay(text: str) -> None:
    """A file in CRLF stays one, and one in LF too."""
    newline = newline_of(text)
    after = split(text).with_fields({"updated": "2026-05-05T00:00:00+08:00", "tags": ["a", "b"]})
    assert newline_of(after.text) == newline
    if newline == "\r\n":
        assert all(line.endswith("\r\n") for line in split_lines(after.text)[:-1])


FLOW = st.builds(
    lambda fields, tail, after, newline: (
        f"---{newline}{{{f',{newline}  '.join(fields)}{tail}}}{after}{newline}---{newline}body{newline}"
    ),
    st.lists(
        st.sampled_from(
            [
                "title: x",
                "'type': conversation",
                "tags: [a, b]",
                "updated: 2026-05-04",
                "note:",
                "free",
                "nested: {a: b}",
            ]
        ),
        unique_by=lambda field: field.split(":")[0],
        min_size=1,
    ),
    st.sampled_from(["", ",", " ", "  # a comment\n"]),
    st.sampled_from(["", " ", "  # by hand"]),
    st.sampled_from(["\n", "\r\n"]),
)


@given(FLOW, st.dictionaries(KEYS, VALUES, min_size=1, max_size=3))
def test_front_matter_in_braces_is_edited_within_them(text: str, updates: dict[str, object]) -> None:
    """It stays front matter that YAML accepts, what is set is read back, and nothing else changes."""
    before = split(text)
    assert before.problem is None
    after = before.with_fields(updates)
    assert (after.problem, after.body) == (None, before.body)
    assert after.fields == {**before.fields, **updates}
    assert split(after.text) == after
    assert after.with_fields(updates) == after


def test_front_matter_in_empty_braces_gets_its_fields() -> None:
    """Braces with nothing between them are front matter too."""
    assert split("---\n{}\n---\nbody\n").with_fields({"a": "b", "c": 1}).text == '---\n{a: "b", c: 1}\n---\nbody\n'


def test_checksum_is_of_the_body() -> None:
    """It is the SHA-256 of every byte after the closing line, in the file's encoding."""
    found = split("---\ntype: fact\n---\r\n# 标题\r\n")
    assert found.body == "# 标题\r\n"
    assert checksum(found.body) == hashlib.sha256("# 标题\r\n".encode()).hexdigest()
    assert checksum(found.body, "gb18030") == hashlib.sha256("# 标题\r\n".encode("gb18030")).hexdigest()


def test_number_of_letters_never_matters() -> None:
    """Front matter of any size and depth is answered, if only line by line."""
    deep = split(f"---\ntype: fact\nx: {'[' * 1500}\n---\nbody\n")
    assert deep.problem is not None
    assert deep.fields["type"] == "fact"
    assert deep.body == "body\n"
    bomb = split("---\na: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\ntype: fact\n---\nbody\n")
    assert bomb.problem is not None
    assert bomb.fields["type"] == "fact"
    long = split(f"---\ntype: fact\nx: {'y' * 100_000}\n---\nbody\n")
    assert long.problem is not None
    assert long.fields["type"] == "fact"
    assert long.with_fields({"type": "task"}).fields["type"] == "task"


@pytest.mark.parametrize("value", [1.5, object(), 10**18, [["nested"]], {"a": 1}])
def test_value_of_another_kind_is_refused(value: object) -> None:
    """What would not be read back is refused by the name of its field."""
    with pytest.raises(UnwritableValueError, match="weight"):
        split("---\na: b\n---\n").with_fields({"weight": value})


@pytest.mark.parametrize("key", ["", "a: b", " a", "- a", "#a", "a\nb"])
def test_key_that_is_no_word_is_refused(key: str) -> None:
    """A key that would be read as something else is refused."""
    with pytest.raises(UnwritableValueError, match="key"):
        split("---\na: b\n---\n").with_fields({key: "x"})


def test_frontmatter_cases(frontmatter_case: object) -> None:
    """Documents of people are read as expected."""
    given_text, expected = frontmatter_case.given, frontmatter_case.expected  # type: ignore[attr-defined]
    found = split(given_text)
    shown = [f"{key} = {value!r}" for key, value in found.fields.items()]
    shown += [f"problem: {found.problem}"] if found.problem else []
    assert "\n".join([*shown, f"body = {found.body!r}"]) + "\n" == expected


def test_frontmatter_edit_cases(frontmatter_edits_case: object) -> None:
    """Setting `updated` and `tags` changes just these."""
    given_text, expected = frontmatter_edits_case.given, frontmatter_edits_case.expected  # type: ignore[attr-defined]
    assert (
        split(given_text).with_fields({"updated": "2026-06-01T00:00:00+08:00", "tags": ["a", "b: c"]}).text == expected
    )
