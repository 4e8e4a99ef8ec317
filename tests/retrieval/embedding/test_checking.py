"""Whatever an embedder answers, only right vectors come through, and only agreed errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from openclaw_memory.retrieval.embedding import EmbedderUnavailableError, TextRefusedError
from openclaw_memory.retrieval.embedding.checking import CheckedEmbedder
from tests.retrieval.embedding.fakes import WordEmbedder


class Answering(WordEmbedder):
    def __init__(self, answer: Any, dimensions: int | None = 3) -> None:
        super().__init__(dimensions=3)
        self.dimensions = dimensions
        self.answer = answer

    async def embed_passages(self, texts: Any) -> Any:
        return self.answer

    async def embed_query(self, text: str) -> Any:
        return self.answer[0]


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (None, EmbedderUnavailableError, "NoneType instead of vectors"),
        ([], EmbedderUnavailableError, "0 vectors for 1 texts"),
        ([[1, 2, 3], [1, 2, 3]], EmbedderUnavailableError, "2 vectors for 1 texts"),
        ([[1, 2]], EmbedderUnavailableError, "2 numbers instead of 3"),
        ([[[1, 2, 3]]], EmbedderUnavailableError, r"shape \(1, 3\)"),
        ([[]], EmbedderUnavailableError, r"shape \(0,\)"),
        ([5.0], EmbedderUnavailableError, r"shape \(\)"),
        (["<html>"], EmbedderUnavailableError, "no vector"),
        ([[1, "x", 3]], EmbedderUnavailableError, "no vector"),
        ([[1, [2], 3]], EmbedderUnavailableError, "no vector"),
        ([[1, float("nan"), 3]], TextRefusedError, "no number"),
        ([[1, float("inf"), 3]], TextRefusedError, "no number"),
        ([[0, 0, 0]], TextRefusedError, "zero"),
    ],
)
async def test_a_wrong_answer_is_told(answer: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        await CheckedEmbedder(Answering(answer)).embed_passages(["text"])


@pytest.mark.parametrize("answer", [[[1, 2, 3]], [(1, 2, 3)], np.array([[1, 2, 3]])])
async def test_lists_tuples_and_arrays_will_do(answer: Any) -> None:
    checked = CheckedEmbedder(Answering(answer))
    assert (await checked.embed_passages(["text"]))[0].tolist() == [1, 2, 3]
    assert (await checked.embed_query("text")).tolist() == [1, 2, 3]


async def test_the_first_answer_tells_the_dimensions() -> None:
    embedder = Answering([[1, 2, 3]], dimensions=None)
    checked = CheckedEmbedder(embedder)
    await checked.embed_passages(["text"])
    embedder.answer = [[1, 2]]
    with pytest.raises(EmbedderUnavailableError, match="2 numbers instead of 3; is it another model now"):
        await checked.embed_passages(["text"])


async def test_foreign_errors_are_told_in_our_words() -> None:
    embedder = WordEmbedder()

    def fault(texts: Any) -> None:
        raise KeyError("gpu")

    embedder.fault = fault
    with pytest.raises(EmbedderUnavailableError, match=r"words: raised KeyError\('gpu'\)"):
        await CheckedEmbedder(embedder).embed_query("text")
