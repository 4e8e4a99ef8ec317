"""From configuration to a model."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping

from openclaw_memory.completion.openai import OpenAIModel
from openclaw_memory.completion.protocol import ChatModel
from openclaw_memory.config import CompletionConfig
from openclaw_memory.errors import ConfigError


def model_from(config: CompletionConfig, environ: Mapping[str, str] = os.environ) -> ChatModel | None:
    """Make the model that the configuration names; None where it names none. The key comes from the environment alone.

    For a thread: the `openai` package takes most of a second to import.

    Raises: `ConfigError` that names the setting; `MissingPackageError` that names what to install.
    """
    if config.provider is None:
        return None
    if config.provider == "openai":
        assert config.model is not None
        return OpenAIModel(
            model=config.model,
            base_url=config.base_url,
            api_key=environ.get(config.api_key_variable),
            timeout=config.timeout_seconds,
            retries=config.retries,
            max_tokens=config.max_tokens,
        )
    return _of_ones_own(config)


def _of_ones_own(config: CompletionConfig) -> ChatModel:
    place = config.provider or ""
    module_name, _, class_name = place.partition(":")
    where = "completion.provider"
    try:
        made = getattr(importlib.import_module(module_name), class_name)(**config.options)
    except ImportError as error:
        raise ConfigError(
            where, f"{place!r} can't be imported ({error})", "check the module's name and path"
        ) from error
    except AttributeError as error:
        raise ConfigError(where, f"{place!r}: {error}", "check the class's name") from error
    except Exception as error:
        # Foreign code may raise anything, and its user wants to know where.
        raise ConfigError(where, f"{place!r} can't be made ({error!r})", "check completion.options") from error
    if not callable(getattr(made, "complete", None)):
        raise ConfigError(where, f"{place!r} has no complete()", "see openclaw_memory.completion.ChatModel")
    model: ChatModel = made
    return model
