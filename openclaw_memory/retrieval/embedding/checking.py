"""The gate between embedders, which may answer anything, and everything that relies on vectors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from openclaw_memory.retrieval.embedding.errors import EmbedderUnavailableError, EmbeddingError, TextRefusedError
from openclaw_memory.retrieval.embedding.protocol import Embedder, Vector

Checked = NDArray[np.float32]
Answer = TypeVar("Answer")


class CheckedEmbedder:
    """An embedder whose answers are right in number, size and kind, and which raises only what is agreed.

    The size is the embedder's own, else that of its first answer.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name = embedder.name
        self.batch_size = max(1, embedder.batch_size)
        self.dimensions = embedder.dimensions

    async def embed_passages(self, texts: Sequence[str]) -> list[Checked]:
        """Give one vector a text.

        Raises: `TextRefusedError`, `EmbedderUnavailableError`.
        """
        vectors = await self._asked(lambda: self._embedder.embed_passages(texts))
        try:
            number = len(vectors)
        except TypeError:
            raise EmbedderUnavailableError(self.name, f"gave {type(vectors).__name__} instead of vectors") from None
        if number != len(texts):
            raise EmbedderUnavailableError(self.name, f"gave {number} vectors for {len(texts)} texts")
        return [self._checked(vector) for vector in vectors]

    async def embed_query(self, text: str) -> Checked:
        """Give the vector of a question.

        Raises: `TextRefusedError`, `EmbedderUnavailableError`.
        """
        return self._checked(await self._asked(lambda: self._embedder.embed_query(text)))

    async def aclose(self) -> None:
        """Close the embedder."""
        await self._embedder.aclose()

    async def _asked(self, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        try:
            return await ask()
        except EmbeddingError:
            raise
        except Exception as error:
            # Foreign code: whatever it raises must not end the background work or a read.
            raise EmbedderUnavailableError(self.name, f"raised {error!r}") from error

    def _checked(self, vector: Vector) -> Checked:
        try:
            row = np.asarray(vector, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise EmbedderUnavailableError(self.name, f"gave what is no vector ({error})") from error
        if row.ndim != 1 or not row.size:
            raise EmbedderUnavailableError(self.name, f"gave an array of shape {row.shape} instead of a vector")
        if self.dimensions is None:
            self.dimensions = len(row)
        if len(row) != self.dimensions:
            problem = f"gave a vector of {len(row)} numbers instead of {self.dimensions}; is it another model now?"
            raise EmbedderUnavailableError(self.name, problem)
        if not np.isfinite(row).all():
            raise TextRefusedError(self.name, "its vector holds what is no number")
        if not row.any():
            raise TextRefusedError(self.name, "its vector is zero")
        return row
