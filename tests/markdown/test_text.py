"""Characters, lines, encodings."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.markdown.text import clean, decode, encode, newline_of, split_lines

ANY_TEXT = st.text(st.characters(), max_size=60) | st.text("a\r\n\x0b\x0c\x1c\x85\u2028\ud83d\ude00\x00", max_size=30)
CHINESE = "今天把旧的相册从 Nikon 转换到 Archive，先转换旅行照片。\n"


@given(ANY_TEXT)
def test_cleaned_text_can_be_stored(text: str) -> None:
    """No NUL and no lone surrogate is left, and cleaning again finds nothing."""
    cleaned, _ = clean(text)
    assert "\x00" not in cleaned
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert clean(cleaned) == (cleaned, 0)


@given(ANY_TEXT)
def test_the_line_end_that_prevails(text: str) -> None:
    """As counting each of them tells."""
    windows = text.count("\r\n")
    assert newline_of(text) == ("\r\n" if windows > text.count("\n") - windows else "\n")


def test_replaced_characters_are_counted() -> None:
    """Each lost character counts; a pair of surrogates is one character and not lost."""
    assert clean("a\x00b\ud800") == ("a\ufffdb\ufffd", 2)
    assert clean("\ud83d\ude00") == ("😀", 0)
    assert clean("👨‍👩‍👧") == ("👨‍👩‍👧", 0)


@given(ANY_TEXT)
def test_lines_join_to_the_text(text: str) -> None:
    """Nothing is lost by splitting, and only a line feed ends a line."""
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all(line.endswith("\n") for line in lines[:-1])
    assert all("\n" not in line[:-1] for line in lines)
    assert "" not in lines


@pytest.mark.parametrize(
    ("text", "newline"),
    [
        ("", "\n"),
        ("a", "\n"),
        ("a\n", "\n"),
        ("a\r\n", "\r\n"),
        ("a\r\nb\n", "\n"),
        ("a\r\nb\r\nc\n", "\r\n"),
        ("\r", "\n"),
    ],
)
def test_prevailing_newline(text: str, newline: str) -> None:
    """The more frequent line end prevails, `\\n` when even."""
    assert newline_of(text) == newline


@given(st.binary(max_size=40) | st.text(max_size=20).map(lambda text: ("中文" + text).encode("gb18030", "ignore")))
def test_decoding_without_problem_loses_no_byte(data: bytes) -> None:
    """What is decoded without a problem is encoded to the same bytes."""
    decoded = decode(data)
    if decoded.problem is None:
        assert encode(decoded.text, decoded.encoding) == data


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40))
def test_utf8_and_utf16_are_read(text: str) -> None:
    """UTF-8 with or without BOM, and UTF-16 with one, are text whatever they hold."""
    for data in (text.encode("utf-8"), codecs.BOM_UTF8 + text.encode("utf-8")):
        decoded = decode(data)
        assert (decoded.encoding, decoded.problem) == ("utf-8", None)
        assert decoded.text.removeprefix("\ufeff") == text.removeprefix("\ufeff")
    for encoding, bom in (("utf-16-le", codecs.BOM_UTF16_LE), ("utf-16-be", codecs.BOM_UTF16_BE)):
        decoded = decode(bom + text.encode(encoding))
        assert (decoded.text, decoded.encoding, decoded.problem) == ("\ufeff" + text, encoding, None)


def test_gb18030_is_an_edit() -> None:
    """A file that an editor saved as GB18030 is read, also with an emoji in it."""
    for text in (CHINESE, CHINESE * 50, "# 用户档案\n- 姓名: 李青 😀\n"):
        assert decode(text.encode("gb18030")) == decode(text.encode("gb18030"))
        assert decode(text.encode("gb18030")).text == text
        assert decode(text.encode("gb18030")).problem is None


@pytest.mark.parametrize("at", range(1, 60, 3))
def test_utf8_cut_off_or_damaged_is_damage(at: int) -> None:
    """A byte missing from UTF-8 is no other encoding, and the readable rest comes with the problem."""
    data = (CHINESE * 2).encode("utf-8")
    broken = data[:at] + b"\xff" + data[at:]
    decoded = decode(broken)
    assert decoded.encoding == "utf-8"
    assert decoded.problem is not None
    assert "offset" in decoded.problem
    assert "旅行照片" in decoded.text
    without = decode(data[:at] + data[at + 1 :])
    assert (without.encoding, without.problem is None) == ("utf-8", data[at] < 0x80)
    cut = decode("今天".encode()[:-1])
    assert cut.problem is not None
    assert cut.text.startswith("今")


def test_damaged_letters_with_accents_are_not_taken_for_chinese() -> None:
    """Where most of the text is intact UTF-8, the rest is damage, though all of it could be GB18030."""
    data = "é é é ".encode() + b"\xe9\xa1x"
    assert data.decode("gb18030")
    decoded = decode(data)
    assert (decoded.encoding, decoded.text) == ("utf-8", "é é é \ufffdx")
    assert decoded.problem is not None


@pytest.mark.parametrize("data", [b"\x00" * 4096, b"\x89PNG\r\n\x1a\n\x00\x00", bytes(range(256)), b"\xff\xfea"])
def test_what_is_no_text_is_damage(data: bytes) -> None:
    """Zeroes that a file system leaves after a crash, and binary data, are named as a problem."""
    assert decode(data).problem is not None
