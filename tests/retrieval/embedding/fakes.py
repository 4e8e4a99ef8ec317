"""An embedder without a model: each word has a random direction of its own, a text is the sum of its words'."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b

import anyio
import numpy as np

from openclaw_memory.retrieval.embedding import Vector

Fault = Callable[[Sequence[str]], None]


class WordEmbedder:
    """Deterministic; says what it was asked, fails as `fault` says, and waits while `gate` is closed."""

    batch_size = 4

    def __init__(self, name: str = "words", dimensions: int = 32, *, told: bool = True) -> None:
        self.name = name
        self.size = dimensions
        self.dimensions = dimensions if told else None
        self.passages: list[str] = []
        self.questions: list[str] = []
        self.fault: Fault = lambda texts: None
        self.gate = anyio.Event()
        self.gate.set()
        self.closed = False

    def vector(self, text: str) -> list[float]:
        total = np.zeros(self.size)
        for word in text.split():
            seed = int.from_bytes(blake2b(f"{self.name} {word}".encode(), digest_size=8).digest())
            total += np.random.default_rng(seed).normal(size=self.size)
        return [float(number) for number in total]

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        await self.gate.wait()
        self.fault(texts)
        self.passages += texts
        return [self.vector(text) for text in texts]

    async def embed_query(self, text: str) -> Vector:
        await self.gate.wait()
        self.fault([text])
        self.questions.append(text)
        return self.vector(text)

    async def aclose(self) -> None:
        self.closed = True
