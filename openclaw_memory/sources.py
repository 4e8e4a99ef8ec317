"""Where settings come from: a YAML file and the environment, as plain values that nobody has judged yet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from openclaw_memory.errors import ConfigError

ENVIRONMENT_PREFIX = "OPENCLAW_MEMORY_"


def read_settings(path: Path) -> dict[str, Any]:
    """Read the settings of memory from a YAML file.

    Raises: `ConfigError`, which names the file.
    """
    return section_of(read_file(path))


def read_file(path: Path) -> dict[str, Any]:
    """Read a YAML file of `key: value` lines.

    Raises: `ConfigError`, which names the file.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(str(path), f"can't be read ({error})", "check the path and its permissions") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # YAML's own values can be wrong too (`2026-99-99`), and brackets can be too many.
        raise ConfigError(str(path), f"is not YAML ({error})", "mend it or remove it") from error
    if content is not None and not isinstance(content, dict):
        raise ConfigError(str(path), "holds no `key: value` lines", "write one setting a line")
    return dict(content or {})


def section_of(content: Mapping[str, Any]) -> dict[str, Any]:
    """Give the `memory:` section of a file where it has one, else all of it.

    The rest of such a file is other people's: the Gateway's, the Brain's. A section whose lines are all comments says
    nothing.
    """
    section = content.get("memory", content)
    if section is None:
        return {}
    return dict(section) if isinstance(section, Mapping) else dict(content)


def settings_in(environ: Mapping[str, str]) -> dict[str, Any]:
    """Give what the environment sets: `OPENCLAW_MEMORY_TIMEZONE`, `OPENCLAW_MEMORY_TASKS__KEEP_COMPLETED_DAYS`."""
    settings: dict[str, Any] = {}
    for name, value in environ.items():
        if name.startswith(ENVIRONMENT_PREFIX):
            *outer, key = name.removeprefix(ENVIRONMENT_PREFIX).lower().split("__")
            place = settings
            for part in outer:
                inner = place.get(part)
                place[part] = place = inner if isinstance(inner, dict) else {}
            place[key] = value
    return settings


def merged(*sources: Mapping[str, Any]) -> dict[str, Any]:
    """Put sources together, key by key; the later one has the last word."""
    result: dict[str, Any] = {}
    for source in sources:
        for key, value in source.items():
            before = result.get(key)
            both = isinstance(before, dict) and isinstance(value, Mapping)
            result[key] = merged(before, value) if both and isinstance(before, dict) else value
    return result
