"""How texts are cut into terms."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from snowballstemmer.english_stemmer import EnglishStemmer

from openclaw_memory.retrieval.stopwords import STOP_WORDS
from openclaw_memory.retrieval.terms import _identifier_terms, is_identifier, query_terms, terms

FIXTURE = (Path(__file__).parent / "fixtures" / "terms.md").read_text(encoding="utf-8")
CASES = re.findall(r"^## (.+)\n(.+)\n--\n(.+)$", FIXTURE, re.MULTILINE)


def test_every_case_of_the_file_is_read() -> None:
    """No case of the fixture is lost to a slip of form."""
    assert len(CASES) == FIXTURE.count("\n## ") == 23


@pytest.mark.parametrize(("title", "text", "expected"), CASES, ids=[case[0] for case in CASES])
def test_terms_of(title: str, text: str, expected: str) -> None:
    """A text gives the terms that the case file names."""
    found = set(terms(text))
    wanted = {term for term in expected.split() if not term.startswith("!")}
    assert wanted <= found
    assert not {term[1:] for term in expected.split() if term.startswith("!")} & found


@given(st.text())
@settings(deadline=None)
def test_whatever_stands_in_a_text_can_be_asked_for(text: str) -> None:
    """Every term that a question gives is a term of the text that says the same."""
    assert set(query_terms(text)) <= set(terms(text))


@given(st.text(alphabet="的了是在一二三四五猫狗日本あア안녕", min_size=2))
@settings(deadline=None)
def test_substring_of_a_run_is_found(text: str) -> None:
    """Any two characters of a text without spaces have a term in common with it."""
    held = set(terms(text))
    assert all(set(query_terms(text[at : at + 2])) & held for at in range(len(text) - 1))


@pytest.mark.parametrize(
    "query", ["", " \n\t", '"', "*", "(", "NOT", "AND OR", "😀", "👩‍👩‍👧", "——", "…？！", "\u200d\ufe0f"]
)
def test_question_without_words(query: str) -> None:
    """Punctuation, emoji, white space and bare search syntax ask for nothing."""
    assert query_terms(query) == []


def test_stop_words_leave_a_question_unless_alone() -> None:
    """Stop words are dropped beside other words, and kept where there are no others."""
    assert query_terms("what is the plan") == ["plan"]
    assert query_terms("not") == ["not"]
    assert "什么" not in query_terms("什么颜色")
    assert query_terms("的") == ["的"]


def test_question_names_each_term_once() -> None:
    """Repeating a word in a question does not weigh it."""
    assert query_terms("Go go GO") == ["go"]


@pytest.mark.parametrize(
    ("term", "expected"), [("dec-0054", True), ("c#", True), ("5432", True), ("go", False), ("7", False)]
)
def test_identifier(term: str, expected: bool) -> None:
    """Names with digits or joints are identifiers; words and single digits are not."""
    assert is_identifier(term) is expected


SUFFIXES = """
s sses ies ied us ss ed eed ing edly eedly ingly bb y anci enci ogi li bli abli alli fulli lessli ousli entli aliti
biliti iviti tional ational alism ation ization izer ator iveness fulness ousness ogist icate ative alize iciti ical ful
ness al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize sion tion e l ll
"""


@given(
    st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=7),
    st.lists(st.sampled_from(SUFFIXES.split()), max_size=2),
)
@settings(deadline=None, max_examples=500)
def test_words_are_stemmed_as_by_snowball(beginning: str, suffixes: list[str]) -> None:
    """Words whose ending tells that the stemmer leaves them alone are indeed left alone by it."""
    word = "".join([beginning, *suffixes])
    stemmed = word if len(word) < 3 or word in STOP_WORDS else EnglishStemmer().stemWord(word)
    assert terms(word) == [stemmed]


@given(st.text("abyzABYZ", min_size=1))
@settings(deadline=None)
def test_word_in_one_piece_is_cut_like_any_other(word: str) -> None:
    """The short way for plain words gives what the way for identifiers gives."""
    assert tuple(terms(word)) == _identifier_terms(word)


def test_long_address_is_found_by_its_parts() -> None:
    """The words of an address of any length are stemmed and found like others; only the whole is not kept."""
    address = "https://example.com/" + "running/paintings-" * 20 + "v2"
    assert set(query_terms("running paintings example v2")) - {"v2"} <= set(terms(address))


def test_long_line_is_cut_in_linear_time() -> None:
    """A megabyte without a space, of any kind, is cut without a regex catastrophe."""
    for piece in ("a-", "a.b_", "好", "1,", "+#", "Aa"):
        assert len(terms(piece * 20_000)) <= 80_000
