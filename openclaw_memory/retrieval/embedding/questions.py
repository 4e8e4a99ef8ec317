"""The vectors of questions, and of a few texts that somebody waits for: soon, or not at all and with the reason."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from openclaw_memory.clock import Clock
from openclaw_memory.retrieval.embedding.acquaintance import Acquaintance
from openclaw_memory.retrieval.embedding.checking import Checked, CheckedEmbedder
from openclaw_memory.retrieval.embedding.errors import EmbedderUnavailableError, EmbeddingError, TextRefusedError
from openclaw_memory.retrieval.embedding.health import Health
from openclaw_memory.retrieval.vectors.errors import OtherModelError, VectorsError

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class QuestionVector:
    """The vector of a question; None when keywords must do, with the reason in `notice`."""

    vector: Checked | None
    notice: str | None


class Questions:
    """Embeds questions within some seconds, and not at all while the embedder pauses.

    Parameters: `seconds` that one may take; `report`, told of faults of the store, which gives the notice.
    """

    def __init__(
        self,
        embedder: CheckedEmbedder,
        acquaintance: Acquaintance,
        health: Health,
        clock: Clock,
        seconds: float,
        report: Callable[[VectorsError], str],
    ) -> None:
        self._embedder, self._acquaintance, self._health = embedder, acquaintance, health
        self._clock, self._seconds, self._report = clock, seconds, report

    async def vector(self, text: str) -> QuestionVector:
        """Give a question's vector, or the reason why there is none. Raises nothing; white space is no question."""
        if not text.strip():
            return QuestionVector(None, None)
        if self._health.pause_left():
            return QuestionVector(None, keywords_only(self._health.last_error))
        try:
            vector = await self._in_time(lambda: self._embedder.embed_query(text))
        except (TextRefusedError, OtherModelError) as error:
            return QuestionVector(None, keywords_only(error))
        except VectorsError as error:
            return QuestionVector(None, self._report(error))
        except EmbeddingError as error:
            self._health.failed(error)
            return QuestionVector(None, keywords_only(error))
        self._health.succeeded()
        return QuestionVector(vector, None)

    async def passages(self, texts: Sequence[str]) -> list[Checked] | None:
        """Give the vectors of texts that are compared with each other; None when there are none in time."""
        if self._health.pause_left():
            return None
        try:
            vectors = await self._in_time(lambda: self._embedder.embed_passages(texts))
        except (TextRefusedError, OtherModelError):
            return None
        except VectorsError as error:
            self._report(error)
            return None
        except EmbeddingError as error:
            self._health.failed(error)
            return None
        self._health.succeeded()
        return vectors

    async def _in_time(self, embed: Callable[[], Awaitable[Answer]]) -> Answer:
        try:
            async with asyncio.timeout(None) as limit:
                alarm = asyncio.ensure_future(self._ring(limit))
                try:
                    await self._acquaintance.make()
                    return await embed()
                finally:
                    alarm.cancel()
        except TimeoutError:
            raise EmbedderUnavailableError(self._embedder.name, f"no answer within {self._seconds:g} s") from None

    async def _ring(self, limit: asyncio.Timeout) -> None:
        # By the clock that was passed in, which asyncio's own time-outs know nothing of.
        await self._clock.sleep_until(self._clock.monotonic() + self._seconds)
        limit.reschedule(asyncio.get_running_loop().time())


def keywords_only(why: object) -> str:
    """Give the notice of an answer that meaning had no part in."""
    return f"searched by keywords only: {why}"
