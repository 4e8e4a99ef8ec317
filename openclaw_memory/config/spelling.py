"""Keys as they may be written: in camelCase, as existing configurations have them, or nearly right."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from openclaw_memory.config.finding import EMBEDDERS

_NOT_IN_EFFECT = frozenset(
    {
        "auto_recall",
        "search_provider",
    }
)
"""Keys of existing configurations that are understood and have no effect in this version."""


def spelled(data: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Spell keys in snake_case, translate those of existing configurations, and name unknown ones.

    Parameters: `data`, settings as they were read; `model`, which knows all of them.

    Raises: `ValueError` for an unknown key.
    """
    return _spelled(data, model, "", model)


def _spelled(data: dict[str, Any], model: type[BaseModel], prefix: str, whole: type[BaseModel]) -> dict[str, Any]:
    """Do so for the keys after a prefix, in the part of the whole that has them."""
    result: dict[str, Any] = {}
    ignored: list[str] = []
    embedding: dict[str, Any] | None = None
    for given, value in data.items():
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", str(given)).lower()
        name = {"primary_path": "memory_path"}.get(name, name)
        field = model.model_fields.get(name)
        if field is not None and name != "not_in_effect":
            nested = field.annotation
            if isinstance(value, dict) and isinstance(nested, type) and issubclass(nested, BaseModel):
                value = _spelled(value, nested, f"{prefix}{name}.", whole)
            result[name] = value
        elif not prefix and name == "primary":
            if value != "file":
                raise ValueError(f"primary: {value!r} is not offered; memory is kept in files (`primary: file`)")
        elif not prefix and name == "vector_index":
            embedding = _from_vector_index(value)
        elif not prefix and name in _NOT_IN_EFFECT:
            ignored.append(name)
        else:
            raise ValueError(f"{prefix}{given} is no known key{hint(prefix + name, _known_keys(whole))}")
    if embedding is not None and result.setdefault("embedding", embedding) is not embedding:
        raise ValueError("vector_index and embedding are both given; put into embedding what is meant")
    if ignored and not prefix:
        result["not_in_effect"] = tuple(ignored)
    return result


def _from_vector_index(value: Any) -> dict[str, Any] | None:
    """Give what `vector_index` of seed 000 section 8.4 means, as settings of `embedding`; None when it is off."""
    keys = ("enabled", "provider", "model")
    if not isinstance(value, dict) or not set(value) <= set(keys):
        raise ValueError(f"vector_index: {value!r} is not understood; it has the keys {', '.join(keys)}")
    try:
        # As YAML or the environment spell it.
        enabled = TypeAdapter(bool).validate_python(value.get("enabled", False))
    except ValidationError as error:
        raise ValueError(f"vector_index.enabled: {value['enabled']!r} is neither true nor false") from error
    if not enabled:
        return None
    if value.get("provider") is None:
        raise ValueError(f"vector_index.provider is not set; use one of {', '.join(EMBEDDERS)}")
    return {key: value[key] for key in keys[1:] if key in value}


def _known_keys(whole: type[BaseModel]) -> list[str]:
    """List every key in full, those inside others included."""
    keys = [*_NOT_IN_EFFECT, "vector_index", *_keys_of(whole, "")]
    return [key for key in keys if key != "not_in_effect"]


def _keys_of(model: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _keys_of(inner, f"{prefix}{name}.")
        yield f"{prefix}{name}"


def hint(name: str, known: Any) -> str:
    """Ask whether the nearest of the known names was meant; nothing when none is near."""
    known = list(known)
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if not nearest:
        # `flushInterval` means `buffer.flush_interval_seconds`.
        nearest = [key for key in known if name.rpartition(".")[2] in key]
    return f"; did you mean {nearest[0]!r}?" if nearest else ""
