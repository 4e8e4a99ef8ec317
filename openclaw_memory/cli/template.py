"""The `config.yaml` that `init` makes: every setting with its default, as comments, from the configuration itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

import yaml
from pydantic import BaseModel

from openclaw_memory.config import MemoryConfig

WIDTH = 110
_SEED = re.compile(r" \(seed[^)]*\)|, in the shape of seed [\d.]+ section [\d.]*\d")
"""Where a rule comes from is nothing to whom it is set."""

LEFT_OUT = "not_in_effect"

HEAD = """\
# Settings of memory, for the program that holds it (`MemoryConfig.load`) and for the command line.
# A line that is commented out shows the default. To change it, take its `# ` away, and that of the section around it.
memory:
"""


def config_text(given: Mapping[str, Any]) -> str:
    """Write a configuration file. Pure.

    Parameters: `given`, settings that are to be in effect, by key; all others are comments.
    """
    return HEAD + "".join(f"{line}\n" for line in _lines(MemoryConfig, given, "  ", commented=False))


def _lines(model: type[BaseModel], given: Mapping[str, Any], indent: str, *, commented: bool) -> Iterator[str]:
    for name, field in model.model_fields.items():
        if name == LEFT_OUT:
            continue
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            first = _SEED.sub("", (inner.__doc__ or "").split("\n")[0])
            yield from (f"{indent}# {line}" for line in wrap(first, WIDTH))
            yield f"{indent}{'' if commented else '# '}{name}:"
            yield from (
                f"{indent}{'' if commented else '# '}{line}" for line in _lines(inner, {}, "  ", commented=True)
            )
            continue
        yield from (f"{indent}# {line}" for line in wrap(field.description or "", WIDTH))
        is_given = name in given
        value = given[name] if is_given else field.get_default(call_default_factory=True, validated_data={})
        yield f"{indent}{'' if is_given or commented else '# '}{name}: {_value(value)}"


def _value(value: Any) -> str:
    plain = str(value) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value
    text = yaml.safe_dump(plain, default_flow_style=True, allow_unicode=True, width=10_000)
    return text.removesuffix("...\n").strip()
