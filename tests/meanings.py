"""An embedder of one's own for tests: some words mean the same, all others mean something of their own."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from openclaw_memory.retrieval.embedding import EmbedderUnavailableError, Vector

MEAN_THE_SAME = {"puppy": "dog", "terrier": "dog", "automobile": "car", "vehicle": "car"}
PLACE = f"{__name__}:Concepts"


class Concepts:
    """Each word is a direction, a text the sum of its words'.

    Parameters: `name` and `size`, of the model; `broken`, a file that, as long as it is there, makes it fail; `record`,
    a file that gets a line for every passage.
    """

    batch_size = 8

    def __init__(
        self, name: str = "concepts", size: int = 48, broken: str | None = None, record: str | None = None
    ) -> None:
        self.name, self.dimensions = name, size
        self._broken = Path(broken) if broken else None
        self._record = Path(record) if record else None

    def _vector(self, text: str) -> list[float]:
        if self._broken is not None and self._broken.exists():
            raise EmbedderUnavailableError(self.name, "is out of order in /private/place")
        total = np.full(self.dimensions, 0.01)
        for word in text.lower().replace("?", " ").split():
            named = f"{self.name} {MEAN_THE_SAME.get(word, word)}"
            seed = int.from_bytes(blake2b(named.encode(), digest_size=8).digest())
            total += np.random.default_rng(seed).normal(size=self.dimensions)
        return [float(number) for number in total]

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        vectors: list[Vector] = [self._vector(text) for text in texts]
        if self._record is not None:
            with self._record.open("a", encoding="utf-8") as file:
                file.writelines(f"{text!r}\n" for text in texts)
        return vectors

    async def embed_query(self, text: str) -> Vector:
        return self._vector(text)

    async def aclose(self) -> None:
        pass
