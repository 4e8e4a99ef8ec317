"""Renew the table of docs/configuration.md from the configuration itself: `python -m tests.config_page`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from openclaw_memory.config import MemoryConfig

PAGE = Path(__file__).parent.parent / "docs/configuration.md"
_TABLE = re.compile(r"SETTINGS\n|\| setting \|.*?\n(?=\n)", re.DOTALL)


def table() -> str:
    """Write every setting with its default and what it means."""
    rows = [f"| `{name}` | `{default}` | {words} |" for name, default, words in _settings(MemoryConfig, "")]
    return "\n".join(["| setting | default | |", "|---|---|---|", *rows, ""])


def page() -> str:
    """Give the page with its table renewed."""
    return _TABLE.sub(lambda _: table(), PAGE.read_text(encoding="utf-8"), count=1)


def _settings(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, str, str]]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _settings(field.annotation, f"{prefix}{name}.")
        elif name != "not_in_effect":
            # No factory of ours looks at the other fields.
            default = field.get_default(call_default_factory=True, validated_data={})
            shown = "unset" if default is None else str(default) or '""'
            yield f"{prefix}{name}", shown.lower() if isinstance(default, bool) else shown, field.description or ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
