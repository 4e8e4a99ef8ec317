"""Search by meaning: the embedder, its vectors and what is usual among them, opened and kept beside the index.

Off without a provider. Whatever fails in here, memory goes on with keywords and says so. numpy, and what needs it, is
imported by `open` alone.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from openclaw_memory.clock import Clock
from openclaw_memory.config import EmbeddingConfig, MemoryConfig
from openclaw_memory.errors import ConfigError
from openclaw_memory.retrieval.embedding import EmbedderSettings, EmbeddingError, make_embedder
from openclaw_memory.retrieval.embedding.progress import Progress
from openclaw_memory.retrieval.index import Index
from openclaw_memory.retrieval.passages import embeddable, passage
from openclaw_memory.retrieval.scope import Audience
from openclaw_memory.retrieval.vectors.errors import VectorsError

if TYPE_CHECKING:
    from openclaw_memory.retrieval.embedding.protocol import Embedder, Vector
    from openclaw_memory.retrieval.embedding.service import Embedding
    from openclaw_memory.retrieval.lens import Lens
    from openclaw_memory.retrieval.vectors.blocks import BlockVectors
    from openclaw_memory.retrieval.vectors.store import VectorStore

log = logging.getLogger(__name__)

AGAIN_SECONDS = 10.0
"""How long after a failure the file of vectors is tried again."""

SAMPLE = 4_096
"""Vectors that tell what is usual in a memory."""

GROWTH = 1.25
"""So much larger is a memory when what is usual in it is looked at again."""

PAGE = 4_096
"""Texts that are looked through at a time for those without a vector."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a search by meaning needs to know of a question. Without `vector` keywords must do; `notice` tells why."""

    vector: Vector | None = None
    vectors: BlockVectors | None = None
    lens: Lens | None = None
    notice: str | None = None


@dataclass(frozen=True, slots=True)
class _Opened:
    """Vectors, and the service that makes them."""

    store: VectorStore
    service: Embedding


class Meaning:
    """Search by meaning, for one memory.

    Parameters: `config`; `path` of the file of vectors; `index`, which gives the index in use; `clock`; `environ`,
    where the key of an API stands; `owned`, false beside the process that owns the file: then vectors are searched, and
    made by the owner alone.

    `offer` may be called in any thread once it is open; all else belongs to the event loop.
    """

    def __init__(
        self,
        config: EmbeddingConfig,
        path: Path,
        index: Callable[[], Index],
        clock: Clock,
        environ: Mapping[str, str],
        *,
        owned: bool = True,
    ) -> None:
        self._config, self._path, self._index = config, path, index
        self._clock, self._environ, self._owned = clock, environ, owned
        self._opening = anyio.Lock()
        self._embedder: Embedder | None = None
        self._opened: _Opened | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._problem: str | None = "it is not open yet"
        """Why it is not open."""
        self._again = 0.0
        self._lens: Lens | None = None
        self._fitted_to = 0
        """How many vectors there were when the lens was fitted."""
        self._chosen = 0
        """How often another model was chosen: a lens belongs to one."""
        self._looked_at = 0
        """The version of the vectors that was looked at for a lens."""
        self._looked = anyio.Event()

    # -- opening and closing --------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Make the embedder and open its vectors; what fails is told by `progress` and by each answer, not raised."""
        async with self._opening:
            if self._opened is not None or self._clock.monotonic() < self._again:
                return
            self._loop = asyncio.get_running_loop()
            try:
                self._opened = await anyio.to_thread.run_sync(self._made)
            except (ConfigError, EmbeddingError) as error:
                # Nothing that passes by itself: a package or a class that is not there.
                self._failed(error, float("inf"))
            except VectorsError as error:
                self._failed(error, self._clock.monotonic() + AGAIN_SECONDS)
            else:
                self._problem = None

    def _failed(self, error: Exception, again: float) -> None:
        if str(error) != self._problem:
            log.warning("searching by keywords only: %s", error)
        self._problem, self._again = str(error), again

    def _made(self) -> _Opened:
        """Import what takes long, and open what is on the disk; called in a thread."""
        config = self._config
        if self._embedder is None:
            fields = config.model_dump(exclude={"provider", "question_seconds", "most_waiting"})
            self._embedder = make_embedder(EmbedderSettings(config.provider or "", **fields), self._environ)
        from openclaw_memory.retrieval.embedding.service import Embedding
        from openclaw_memory.retrieval.vectors.store import VectorStore

        store = VectorStore(self._path, writable=self._owned)
        service = Embedding(
            self._embedder,
            store,
            clock=self._clock,
            backlog=self._backlog,
            most_waiting=config.most_waiting,
            question_seconds=config.question_seconds,
        )
        return _Opened(store, service)

    async def close(self) -> None:
        """Let go of the vectors and the embedder; whoever runs `run` has ended it before."""
        opened, self._opened = self._opened, None
        self._problem, self._again = "it is closed", float("inf")
        self._looked.set()
        if opened is not None:
            await anyio.to_thread.run_sync(opened.store.close)
        if self._embedder is not None:
            await self._embedder.aclose()

    # -- the background -------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Give every text its vector, for ever."""
        while self._opened is None:
            await self._clock.sleep_until(self._again)
            await self.open()
        async with anyio.create_task_group() as group:
            group.start_soon(self._opened.service.run)
            group.start_soon(self._keep_lens, self._opened)

    def offer(self, texts: Iterable[str]) -> None:
        """Take note of texts (`passages.passage`) that want a vector. Called in any thread."""
        new = list(texts)
        if new and self._loop is not None:
            self._loop.call_soon_threadsafe(self._offer, new)

    def _offer(self, texts: list[str]) -> None:
        # What comes while nothing is open is found by the first look through all texts.
        if self._opened is not None:
            self._opened.service.offer(texts)

    def _backlog(self, missing: Callable[[Sequence[bytes]], Sequence[bytes]]) -> Iterator[list[str]]:
        """Go through what the index holds, and yield the texts that have no vector; moved on in a thread."""
        last = b""
        while ids := self._index().text_ids(last, PAGE):
            last = ids[-1]
            yield [passage(blocks[0]) for blocks in self._index().blocks_of_texts(missing(ids)) if blocks]

    async def caught_up(self) -> None:
        """Wait until every text has a vector or was given up, or nothing can be done."""
        if self._opened is None or not self._owned:
            return
        opened = self._opened
        await opened.service.caught_up()
        while self._looked_at < opened.service.version and self._opened is opened:
            await self._looked.wait()

    async def rebuild(self, *, full: bool = False) -> None:
        """Search the configured model's vectors from now on, whatever was used before (`rebuild-index`).

        Raises: `EmbeddingError` when the embedder does not answer, or is not there; then nothing has changed.
        `VectorsError`. `ConfigError` when its class can't be made.
        """
        await self.open()
        if self._opened is None:
            raise EmbeddingError(self._problem)
        try:
            await self._opened.service.rebuild(full=full)
        finally:
            self._lens = None
            self._chosen += 1

    async def forget(self) -> None:
        """Remove the vectors of texts that no block has any more, from the file as well. Ask when the index is whole.

        Raises: `VectorsError` when that failed; some may be there still.
        """
        if self._opened is not None:
            await anyio.to_thread.run_sync(self._forget, self._opened.store)

    def _forget(self, store: VectorStore) -> None:
        def used(ids: Sequence[bytes]) -> list[bytes]:
            held = self._index().blocks_of_texts(ids)
            return [text_id for text_id, blocks in zip(ids, held, strict=True) if blocks]

        store.sweep(used)
        store.purge()

    async def _keep_lens(self, opened: _Opened) -> None:
        """Look at what is usual in this memory whenever it has grown by a quarter."""
        seen = 0
        while True:
            seen = await opened.service.stored(seen)
            try:
                await self._fit(opened)
            except VectorsError as error:
                opened.service.report(error)
            self._looked_at = seen
            self._looked.set()
            self._looked = anyio.Event()

    async def _fit(self, opened: _Opened) -> None:
        from openclaw_memory.retrieval.lens import LEAST_SAMPLE, Lens

        chosen = self._chosen
        count = await anyio.to_thread.run_sync(opened.store.count)
        if count < LEAST_SAMPLE or (self._lens is not None and count < GROWTH * self._fitted_to):
            return
        rows = await anyio.to_thread.run_sync(opened.store.sample, SAMPLE)
        lens = await anyio.to_thread.run_sync(Lens, rows) if len(rows) >= LEAST_SAMPLE else None
        if chosen == self._chosen:
            self._lens, self._fitted_to = lens, count

    # -- questions ------------------------------------------------------------------------------------------------

    async def question(self, text: str, audiences: Sequence[Audience] = ()) -> Asked:
        """Give what it takes to search by meaning, or the reason why keywords must do. Raises nothing.

        `audiences` tell who asks, where that is somebody who may see few.
        """
        if self._opened is None:
            await self.open()
        opened, chosen = self._opened, self._chosen
        if opened is None:
            return Asked(notice=_keywords_only(self._problem))
        given = await opened.service.question(embeddable(text))
        if given.vector is None:
            if opened.service.stuck:
                await self._reopen_beside_owner(opened, given.notice)
            return Asked(notice=given.notice)
        if not self._owned and self._lens is None:
            try:
                await self._fit(opened)
            except VectorsError as error:
                return await self.report(error)
        if chosen != self._chosen:
            return Asked(notice=_keywords_only("another model was chosen meanwhile"))
        from openclaw_memory.retrieval.vectors.blocks import BlockVectors

        return Asked(given.vector, BlockVectors(opened.store, self._index(), audiences), self._lens)

    async def alike(self, text: str, others: Sequence[str]) -> list[float] | None:
        """Give the cosine of each of a few texts with another one; None when meanings can't be compared now."""
        if self._opened is None:
            await self.open()
        if self._opened is None:
            return None
        return await self._opened.service.alike(embeddable(text), [embeddable(other) for other in others])

    async def report(self, error: VectorsError) -> Asked:
        """Take note of what went wrong in a search, and give what it is to be done with instead."""
        opened = self._opened
        if opened is None:
            return Asked(notice=_keywords_only(error))
        notice = opened.service.report(error)
        await self._reopen_beside_owner(opened, str(error))
        return Asked(notice=notice)

    async def _reopen_beside_owner(self, opened: _Opened, why: str | None) -> None:
        """Begin anew a while after a failure: the owner may have made another file, or chosen another model."""
        if not self._owned and self._opened is opened:
            self._problem, self._again = why, self._clock.monotonic() + AGAIN_SECONDS
            self._opened = self._lens = None
            self._chosen += 1
            await anyio.to_thread.run_sync(opened.store.close)

    @property
    def progress(self) -> Progress:
        """Tell how far the background is, or why there is none."""
        return Progress(problem=self._problem) if self._opened is None else self._opened.service.progress


def _keywords_only(why: object) -> str:
    return f"searched by keywords only: {why}"


def meaning_of(config: MemoryConfig, index: Callable[[], Index], clock: Clock, *, owned: bool = True) -> Meaning | None:
    """Make what searches by meaning, the key of an API from the environment; None when it is off."""
    if config.embedding.provider is None:
        return None
    return Meaning(config.embedding, config.vectors_file, index, clock, os.environ, owned=owned)
