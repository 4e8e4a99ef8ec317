"""What is embedded, and under which address."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.retrieval import Block
from openclaw_memory.retrieval.embedding import passage, text_id
from openclaw_memory.retrieval.passages import MOST_CHARACTERS


def make(text: str) -> Block:
    return Block("k", "conversation", "p", 1, 1, text, None)


@given(text=st.text(st.characters()))
def test_a_passage_can_be_sent_anywhere(text: str) -> None:
    sent = passage(make(text))
    sent.encode("utf-8")
    assert "\0" not in sent
    assert sent == sent.strip()
    assert text_id(sent) == text_id(passage(make(text)))


@pytest.mark.parametrize("text", ["", "  \n\t", "\0"])
def test_nothing_to_embed_is_empty(text: str) -> None:
    assert passage(make(text)) == ""


def test_a_long_text_is_embedded_by_its_beginning() -> None:
    assert passage(make("字" * 5_000_000)) == "字" * MOST_CHARACTERS


def test_moving_a_block_leaves_its_address(block: Callable[..., Block]) -> None:
    before, after = block("same", "a#1", path="a"), block("same", "a#1", path="a-001", start_line=9)
    assert text_id(passage(before)) == text_id(passage(after)) != text_id(passage(block("other")))
