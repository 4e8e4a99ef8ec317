"""Headings, sections, items."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.markdown.items import bare, canonical, matching, read_item, split_key, write_value
from openclaw_memory.markdown.outline import outline, write_heading
from openclaw_memory.markdown.text import split_lines

PIECES = st.sampled_from(
    [
        "\n",
        "\r",
        "\r\n",
        "# ",
        "## ",
        "- ",
        "1. ",
        "a: b",
        "---",
        "```",
        "<!--",
        "  ",
        "\t",
        "> ",
        "中",
        "\ufeff",
        "\x0b",
        "\u2028",
    ]
)
TEXTS = st.lists(PIECES, max_size=14).map("".join) | st.text(max_size=20)
TITLES = st.text("ab #\\`*[]()-=中", min_size=1, max_size=10).map(str.strip).filter(bool)


@given(TEXTS)
def test_sections_are_the_body(text: str) -> None:
    """Sections follow each other without gaps, and each item lies within its own."""
    found = outline(text)
    lines = split_lines(text)
    expected = 1
    for section in found.sections:
        assert section.start_line == expected
        assert section.start_line <= section.text_line <= section.end_line + 1
        for item in section.items:
            assert section.text_line <= item.start_line <= item.end_line <= section.end_line
            assert lines[item.end_line - 1].strip() or item.start_line == item.end_line
        expected = section.end_line + 1
    assert not lines or expected == len(lines) + 1
    assert len(found.headings) == sum(section.level > 0 for section in found.sections)


@given(TITLES, st.integers(1, 6))
def test_headings_are_read_back(title: str, level: int) -> None:
    """Any title of one line is read back from its heading, also one that ends in `#`."""
    (heading,) = outline(write_heading(level, title) + "\n").headings
    assert (heading.level, heading.title, heading.line) == (level, title, 1)


@given(
    st.text("ab中\n -#`:*\t\\", min_size=1, max_size=16).filter(str.strip),
    st.sampled_from(["- k: ", "* **k**： ", "- [ ] k: "]),
)
def test_values_are_read_back(value: str, prefix: str) -> None:
    """A value of any lines is read back from its item."""
    lines = write_value(prefix, value, "\n")
    item = read_item(lines, 1)
    assert (item.key, item.value) == ("k", canonical(value))
    (found,) = outline("".join(lines)).sections[0].items
    assert found == item


@given(st.text(max_size=20))
def test_names_match_themselves(name: str) -> None:
    """The form for comparing is stable and takes nothing but emphasis, case and width away."""
    assert matching(matching(name)) == matching(name) or bare(matching(name)) != matching(name)
    assert matching(f" **{name}** ") == matching(name) or not bare(name)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("姓名: 李青", "姓名"),
        ("姓名：李青", "姓名"),
        ("姓名:李青", "姓名"),
        ("时间:14:30", "时间"),
        ("name:李青", "name"),
        ("**key**: v", "key"),
        ("**key:** v", "key"),
        ("**key：** v", "key"),
        ("`key`: v", "key"),
        ("key:", "key"),
        ("https://example.com", None),
        ("14:30 standup", None),
        ("C:/Users", None),
        ("C:\\Users", None),
        ("no colon", None),
        (": v", None),
        ("", None),
        ("see https://a.b: good", "see https://a.b"),
    ],
)
def test_keys(text: str, key: str | None) -> None:
    """A key ends at a colon that people mean as one."""
    found = split_key(text)
    assert (found[0] if found else None) == key


@pytest.mark.parametrize(
    ("one", "other"), [("ＡＢＣ", "abc"), ("**技术栈**", "技术栈"), (" `Key` ", "KEY"), ("Straße", "STRASSE")]
)
def test_names_that_are_the_same(one: str, other: str) -> None:
    """Width, case, emphasis and white space around a name make no difference."""
    assert matching(one) == matching(other)


@pytest.mark.parametrize(
    "text", ["x" * 1_000_000, "- " * 2_000, "> " * 2_000, "- a: " + ":" * 200_000, "[" * 20_000, "*" * 20_000]
)
def test_time_to_read_grows_with_length_only(text: str) -> None:
    """Long lines and deep nesting are read well within a second."""
    began = time.perf_counter()
    outline(text)
    assert time.perf_counter() - began < 1.0


def test_outline_cases(outline_case: object) -> None:
    """Documents of people have the expected sections and items."""
    given_text, expected = outline_case.given, outline_case.expected  # type: ignore[attr-defined]
    found = outline(given_text)
    shown = [f"title: {found.title}"]
    for section in found.sections:
        shown.append(
            f"{section.start_line}-{section.end_line} {'#' * section.level} {' / '.join(section.path)}".rstrip()
        )
        for item in section.items:
            box = {None: "", True: "[x] ", False: "[ ] "}[item.checked]
            shown.append(f"  {item.start_line}-{item.end_line} {box}{item.key} = {item.value!r}")
    assert "\n".join(shown) + "\n" == expected
