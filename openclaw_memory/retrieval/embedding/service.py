"""The background that gives every text a vector, and the door for questions. Nobody ever waits for it to write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import anyio

from openclaw_memory.clock import Clock
from openclaw_memory.retrieval.embedding.acquaintance import Acquaintance
from openclaw_memory.retrieval.embedding.checking import CheckedEmbedder
from openclaw_memory.retrieval.embedding.errors import EmbeddingError, TextRefusedError
from openclaw_memory.retrieval.embedding.health import Health
from openclaw_memory.retrieval.embedding.progress import Progress
from openclaw_memory.retrieval.embedding.protocol import Embedder
from openclaw_memory.retrieval.embedding.questions import Questions, QuestionVector, keywords_only
from openclaw_memory.retrieval.embedding.queue import Batch, TextQueue
from openclaw_memory.retrieval.passages import text_id
from openclaw_memory.retrieval.vectors.errors import OtherModelError, VectorsError, VectorsLostError
from openclaw_memory.retrieval.vectors.signs import unit
from openclaw_memory.retrieval.vectors.store import VectorStore

Missing = Callable[[Sequence[bytes]], Sequence[bytes]]
"""Tells which of some texts, by id, have no vector yet."""

Backlog = Callable[[Missing], Iterator[Sequence[str]]]
"""Goes through all texts that have no vector yet, page by page; called and moved on in a thread."""


class Embedding:
    """Keeps vectors in step with texts, by one embedder, in one store.

    Parameters: `backlog`, which gives what has no vector yet, read at the start, after a rebuild and whenever more came
    than could wait; `most_waiting`, texts in the queue; `question_seconds`, how long a question may take.

    `run` is the background; cancel it to end. After a restart only texts without a vector are embedded.
    """

    def __init__(
        self,
        embedder: Embedder,
        store: VectorStore,
        *,
        clock: Clock,
        backlog: Backlog,
        most_waiting: int,
        question_seconds: float,
    ) -> None:
        self._embedder = CheckedEmbedder(embedder)
        self._store = store
        self._backlog = backlog
        self._queue = TextQueue(most_waiting)
        self._health = Health(clock)
        self._acquaintance = Acquaintance(self._embedder, store)
        self._questions = Questions(
            self._embedder, self._acquaintance, self._health, clock, question_seconds, self.report
        )
        self._lost = False
        self._scan: Iterator[Sequence[str]] | None = None
        self._scan_wanted = True
        self._in_hand = 0
        self._done = 0
        self._wake = anyio.Event()
        self._idle = anyio.Event()
        self._version = 0
        self._stored = anyio.Event()

    @property
    def progress(self) -> Progress:
        """Tell how far the background is."""
        refused = self._acquaintance.refused
        return Progress(
            done=self._done,
            waiting=self._queue.waiting + self._in_hand,
            failed=self._queue.failed,
            scanning=self._scanning,
            pause_seconds=self._health.pause_left(),
            last_error=self._health.last_error,
            problem=str(refused) if refused else None,
        )

    @property
    def version(self) -> int:
        """Give a number that grows when vectors were stored, or the model was taken up; 0 before."""
        return self._version

    @property
    def stuck(self) -> bool:
        """Tell whether nothing can be done before the file of vectors was begun anew, or rebuilt for this model."""
        return self._lost or self._acquaintance.refused is not None

    @property
    def _scanning(self) -> bool:
        return self._scan is not None or self._scan_wanted or self._queue.behind

    def offer(self, texts: Iterable[str]) -> None:
        """Take note of texts that want a vector. Costs a hash each; empty ones want none."""
        self._queue.offer((text_id(text), text) for text in texts if text)
        self._awake()

    def report(self, error: VectorsError) -> str:
        """Take note of what went wrong in a search, and give the notice for its answer."""
        if isinstance(error, VectorsLostError):
            self._lost = True
            self._awake()
        return keywords_only(error)

    async def rebuild(self, *, full: bool = False) -> None:
        """Make the configured model the one that is searched, and look through all texts (`rebuild-index`).

        Vectors that this model made before are taken from the cache; `full` makes all of them again.

        Raises: `EmbeddingError` when the embedder does not answer; then nothing has changed. `VectorsError`.
        """
        await self._acquaintance.renew(full=full)
        self._has_stored()
        self._scan, self._scan_wanted = None, True
        self._awake()

    async def caught_up(self) -> None:
        """Wait until every text has a vector or was given up, or nothing can be done before a rebuild."""
        await self._idle.wait()

    async def stored(self, seen: int) -> int:
        """Wait until `version` is another than the one seen; gives it."""
        while self._version == seen:
            await self._stored.wait()
        return self._version

    async def question(self, text: str) -> QuestionVector:
        """Give a question's vector, or the reason why there is none. Raises nothing and never takes long."""
        return await self._questions.vector(text)

    async def alike(self, text: str, others: Sequence[str]) -> list[float] | None:
        """Give the cosine of each of a few texts with another one; None when the embedder does not answer in time."""
        vectors = await self._questions.passages([text, *others])
        if vectors is None:
            return None
        first, *rest = (unit(vector.reshape(1, -1))[0] for vector in vectors)
        return [float(first @ vector) for vector in rest]

    async def run(self) -> None:
        """Embed what waits, for ever."""
        while True:
            await self._health.pause()
            try:
                await self._acquaintance.make()
                if not self._version:
                    self._has_stored()
                batch = await self._next()
            except OtherModelError:
                await self._rest()
            except VectorsLostError:
                await self._renew()
            except (EmbeddingError, VectorsError) as error:
                self._health.failed(error)
            else:
                if batch is None:
                    await self._rest()
                else:
                    await self._embed(batch)

    async def _embed(self, batch: Batch) -> None:
        self._in_hand = len(batch.texts)
        try:
            vectors = await self._embedder.embed_passages(list(batch.texts.values()))
            await anyio.to_thread.run_sync(self._store.put, list(zip(batch.texts, vectors, strict=True)))
        except TextRefusedError as error:
            self._health.last_error = str(error)
            self._queue.refused(batch)
        except VectorsLostError:
            self._queue.put_back(batch)
            await self._renew()
        except VectorsError as error:
            self._health.failed(error)
            self._queue.put_back(batch)
        except EmbeddingError as error:
            if await self._acquaintance.embedder_answers():
                # Nobody else has to pause for a text that the embedder stumbles over.
                self._health.last_error = str(error)
                self._queue.went_wrong(batch)
            else:
                self._health.failed(error)
                self._queue.put_back(batch)
        else:
            self._health.succeeded()
            self._done += len(batch.texts)
            self._has_stored()
        finally:
            self._in_hand = 0

    async def _next(self) -> Batch | None:
        """Give the next texts that have no vector; None when there are none."""
        while True:
            if self._lost:
                raise VectorsLostError("the file of vectors", "was found damaged by a search")
            batch = self._queue.take(self._embedder.batch_size)
            if batch is not None:
                missing = await self._missing(batch.texts)
                if missing:
                    return Batch({wanted: batch.texts[wanted] for wanted in missing}, batch.attempts)
            elif not await self._scan_on():
                return None

    async def _scan_on(self) -> bool:
        """Let the texts of the next page wait; tells whether there may be more."""
        if self._scan is None:
            if not self._scanning:
                return False
            self._scan_wanted = self._queue.behind = False
            self._scan = await anyio.to_thread.run_sync(self._backlog, self._store.missing)
        page = await anyio.to_thread.run_sync(next, self._scan, None)
        if page is None:
            self._scan = None
        else:
            texts = {text_id(text): text for text in page if text}
            self._queue.offer((missing, texts[missing]) for missing in await self._missing(texts))
        return True

    async def _missing(self, texts: Iterable[bytes]) -> list[bytes]:
        return await anyio.to_thread.run_sync(self._store.missing, list(texts))

    async def _renew(self) -> None:
        # Until it has succeeded, which may take some attempts.
        self._lost = True
        try:
            await anyio.to_thread.run_sync(self._store.renew)
        except VectorsError as error:
            self._health.failed(error)
        else:
            self._lost = False
            self._scan, self._scan_wanted = None, True

    async def _rest(self) -> None:
        """Wait for something to do."""
        self._idle.set()
        await self._wake.wait()
        self._wake = anyio.Event()

    def _has_stored(self) -> None:
        self._version += 1
        self._stored.set()
        self._stored = anyio.Event()

    def _awake(self) -> None:
        self._wake.set()
        if self._idle.is_set():
            self._idle = anyio.Event()
