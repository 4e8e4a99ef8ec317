"""What jobs work with: the documents, the clock, a model where there is one."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import anyio
import anyio.to_thread

from openclaw_memory.catalog import Catalog
from openclaw_memory.clock import Clock
from openclaw_memory.completion import ChatModel, model_from
from openclaw_memory.config import CompletionConfig, MemoryConfig
from openclaw_memory.context.tokens import TokenCounter
from openclaw_memory.errors import StaleMaterialError
from openclaw_memory.storage.store import Store

log = logging.getLogger(__name__)


class Models:
    """Gives the configured model, made when it is first asked for: its package takes most of a second to import.

    Parameters: `config`; `environ`, where the key stands; `given`, a model to be used instead, for tests.
    """

    def __init__(
        self, config: CompletionConfig, environ: Mapping[str, str] = os.environ, given: ChatModel | None = None
    ) -> None:
        self._config = config
        self._environ = environ
        self._made = given
        self._making = anyio.Lock()

    @property
    def configured(self) -> bool:
        """Whether there is one at all."""
        return self._made is not None or self._config.provider is not None

    async def model(self) -> ChatModel | None:
        """Give the model; None where none is configured.

        Raises: `ConfigError`, `MissingPackageError`.
        """
        if not self.configured:
            return None
        async with self._making:
            if self._made is None:
                self._made = await anyio.to_thread.run_sync(model_from, self._config, self._environ)
            return self._made

    async def aclose(self) -> None:
        """Close the connections of a model that has any."""
        close = getattr(self._made, "aclose", None)
        try:
            if close is not None:
                await close()
        except Exception:
            # Foreign code may raise anything; what is to be closed after it must be.
            log.exception("the model's connections could not be closed")


@dataclass(frozen=True, slots=True)
class Tools:
    """What the owner of a root hands to its jobs.

    `new_id` makes message ids from times. `forgotten` gives an object that is another one as soon as something more was
    forgotten.
    """

    config: MemoryConfig
    store: Store
    catalog: Catalog
    clock: Clock
    counter: TokenCounter
    models: Models
    new_id: Callable[[datetime], str] = field(repr=False)
    forgotten: Callable[[], object] = field(repr=False)

    def refuse_stale(self, forgotten: object) -> None:
        """Refuse to write down what was made of material that something was forgotten of since.

        Asked when the draft is there and nothing is awaited any more before it is committed.

        Parameters: `forgotten`, as it was before the material was read.

        Raises: `StaleMaterialError`.
        """
        if self.forgotten() is not forgotten:
            raise StaleMaterialError
