"""Any endpoint that speaks OpenAI's embeddings API (extra `openai`), a local server as well as a paid one."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from openclaw_memory.retrieval.embedding.errors import EmbedderUnavailableError, MissingExtraError, TextRefusedError
from openclaw_memory.retrieval.embedding.protocol import Vector

NO_KEY = "no-key"
"""Sent where no key is set: servers of one's own want none, and the client refuses an empty one."""

REFUSED = frozenset({400, 413, 422})
"""Status codes that speak of the texts. All others speak of the server, the key or the address, and may change."""


class OpenAICompatible:
    """Embeddings over HTTP, by the `openai` package: its time-outs, its retries for what passes soon.

    Parameters: `model`, and `query_model` where questions go by another name; `base_url`, None for OpenAI itself;
    `api_key`; `dimensions` to ask for, None for the model's own; `query_prefix` and `passage_prefix`, put before the
    texts (e5 wants `query: ` and `passage: `); `timeout` in seconds for one request; `retries` of one request;
    `batch_size`, texts in one request.

    Raises: `MissingExtraError` from the constructor.
    """

    def __init__(
        self,
        *,
        model: str,
        query_model: str | None,
        base_url: str | None,
        api_key: str | None,
        dimensions: int | None,
        query_prefix: str,
        passage_prefix: str,
        timeout: float,
        retries: int,
        batch_size: int,
    ) -> None:
        try:
            self._package: Any = importlib.import_module("openai")
        except ImportError as error:
            raise MissingExtraError("openai", "openai") from error
        self._client: Any = self._package.AsyncOpenAI(
            api_key=api_key or NO_KEY, base_url=base_url, timeout=timeout, max_retries=retries
        )
        self._model, self._query_model = model, query_model or model
        self._query_prefix, self._passage_prefix = query_prefix, passage_prefix
        self._timeout = timeout
        self.dimensions = dimensions
        self.batch_size = batch_size

    @property
    def name(self) -> str:
        """Name model and passage prefix; the address may change without the model changing."""
        return f"openai/{self._model}" + (f" after {self._passage_prefix!r}" if self._passage_prefix else "")

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Give one vector a text."""
        return await self._ask(self._model, [self._passage_prefix + text for text in texts])

    async def embed_query(self, text: str) -> Vector:
        """Give the vector of a question."""
        return (await self._ask(self._query_model, [self._query_prefix + text]))[0]

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _ask(self, model: str, texts: list[str]) -> list[Vector]:
        package = self._package
        wanted = {} if self.dimensions is None else {"dimensions": self.dimensions}
        try:
            # Floats, since not every server knows base64.
            answer = await self._client.embeddings.create(model=model, input=texts, encoding_format="float", **wanted)
            rows = sorted(answer.data, key=lambda row: row.index)
            vectors = [row.embedding for row in rows]
        except package.APITimeoutError as error:
            raise EmbedderUnavailableError(self.name, f"no answer within {self._timeout:g} s") from error
        except package.APIStatusError as error:
            problem = f"HTTP {error.status_code}: {_first_line(error.message)}"
            if error.status_code in REFUSED:
                raise TextRefusedError(self.name, problem) from error
            raise EmbedderUnavailableError(self.name, problem) from error
        except package.OpenAIError as error:
            cause = f" ({error.__cause__})" if error.__cause__ else ""
            raise EmbedderUnavailableError(self.name, f"{_first_line(str(error))}{cause}") from error
        except (AttributeError, TypeError, ValueError, KeyError) as error:
            # A web page, or JSON of another shape.
            raise EmbedderUnavailableError(self.name, f"the answer holds no embeddings ({error})") from error
        if len(vectors) != len(texts):
            raise EmbedderUnavailableError(self.name, f"{len(vectors)} vectors for {len(texts)} texts")
        return vectors


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:200]
