"""Whether the vectors that are kept are the embedder's own (case 24)."""

from __future__ import annotations

import anyio

from openclaw_memory.retrieval.embedding.checking import Checked, CheckedEmbedder
from openclaw_memory.retrieval.embedding.errors import EmbeddingError
from openclaw_memory.retrieval.embedding.protocol import Model
from openclaw_memory.retrieval.vectors.errors import OtherModelError
from openclaw_memory.retrieval.vectors.store import VectorStore

PROBE = "The ferry leaves at nine. 渡轮九点开。"
"""Its vector tells a model from another that goes by the same name. Changing it makes all vectors foreign."""


class Acquaintance:
    """Asks the embedder once for the vector of a fixed text, and the store whether it knows that one."""

    def __init__(self, embedder: CheckedEmbedder, store: VectorStore) -> None:
        self._embedder, self._store = embedder, store
        self._asking = anyio.Lock()
        self._made = False
        self.refused: OtherModelError | None = None
        """Why nothing is done before a rebuild."""

    async def make(self) -> None:
        """Let the store use the embedder's vectors; nothing when it does.

        Raises: `OtherModelError` when they are another model's; `EmbeddingError`, `VectorsError`: try again later.
        """
        if self._made:
            return
        async with self._asking:
            # Another may have come first while we waited.
            if self.refused:
                raise self.refused
            probe = await self._probe()
            try:
                await anyio.to_thread.run_sync(self._store.use, self._model(probe), probe)
            except OtherModelError as error:
                self.refused = error
                raise
            self._made = True

    async def renew(self, *, full: bool) -> None:
        """Let the store use the embedder's vectors whatever it used before; `full` throws away all that are kept.

        Raises: `EmbeddingError`, before anything has changed; `VectorsError`.
        """
        async with self._asking:
            probe = await self._probe()
            if full:
                await anyio.to_thread.run_sync(self._store.renew)
            await anyio.to_thread.run_sync(self._store.choose, self._model(probe), probe)
            self._made, self.refused = True, None

    async def embedder_answers(self) -> bool:
        """Tell whether the embedder works, by a text that it has taken before."""
        try:
            await self._probe()
        except EmbeddingError:
            return False
        return True

    async def _probe(self) -> Checked:
        return (await self._embedder.embed_passages([PROBE]))[0]

    def _model(self, probe: Checked) -> Model:
        return Model(self._embedder.name, len(probe))
