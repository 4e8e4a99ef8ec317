"""The configuration of a command, and where each of its values came from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import typer
from pydantic import BaseModel

from openclaw_memory.cli.paths import no_such
from openclaw_memory.config import MemoryConfig, normalised, preset_of
from openclaw_memory.errors import ConfigError
from openclaw_memory.sources import ENVIRONMENT_PREFIX, merged, read_file, read_settings, section_of, settings_in

NAME = "config.yaml"
"""Configuration that lies in the root and is read where no other is named."""

Origin = Literal["default", "preset", "file", "environment", "option"]


@dataclass(frozen=True, slots=True)
class Setting:
    """One value in effect, with its key in full (`buffer.max_entries_in_all`), and who set it."""

    key: str
    value: Any
    origin: Origin


@dataclass(frozen=True, slots=True)
class Sources:
    """What was said, weakest first. `path`: the file of `file`, None where there is none."""

    path: Path | None
    file: Mapping[str, Any]
    environment: Mapping[str, Any]
    options: Mapping[str, Any]

    def config(self) -> MemoryConfig:
        """Put everything together.

        Raises: `ConfigError`.
        """
        where = str(self.path) if self.path is not None else "environment"
        try:
            normalised(self.environment)
        except ValueError as error:
            # Not the file's fault.
            raise ConfigError("environment", str(error), f"correct the variable {ENVIRONMENT_PREFIX}...") from error
        return MemoryConfig.from_settings(merged(self.file, self.environment, self.options), where)

    def settings(self) -> list[Setting]:
        """List every value in effect, in the order of docs/configuration.md.

        Raises: `ConfigError`.
        """
        config = self.config()
        said: list[tuple[Origin, Mapping[str, Any]]] = [
            ("option", normalised(self.options)),
            ("environment", normalised(self.environment)),
            ("file", normalised(self.file)),
            ("preset", preset_of(config.mode)),
        ]
        return [Setting(key, value, _origin(key, said)) for key, value in _values(config, "")]


def sources_of(root: Path | None, config: Path | None, workspace: Path | None, agent: str | None) -> Sources:
    """Find what sets the configuration of a command: `--config`, or the `config.yaml` of the root, where it has one.

    Raises: `typer.BadParameter` when options contradict each other or name what is not there; `ConfigError`.
    """
    if root is not None and config is not None:
        raise typer.BadParameter("give --root or --config, not both")
    environment = settings_in(os.environ)
    options: dict[str, Any] = {}
    if workspace is not None:
        options["workspace_path"] = str(workspace.expanduser().absolute())
    if agent is not None:
        options["agent_id"] = agent
    if config is not None:
        path = config.expanduser().absolute()
        if not path.is_file():
            raise typer.BadParameter(no_such(path, files=True), param_hint="--config")
        return Sources(path, read_settings(path), environment, options)
    if root is not None:
        options["root"] = str(root)
    named = root if root is not None else Path(environment.get("root") or MemoryConfig.model_fields["root"].default)
    folder = named.expanduser().absolute()
    path = folder / NAME
    content = read_file(path) if path.is_file() else {}
    if not _is_ours(content):
        return Sources(None, {}, environment, options)
    file = section_of(content)
    if "root" in file and Path(str(file["root"])).expanduser().absolute().resolve() != folder.resolve():
        problem = f"it lies in {folder}, and says root: {file['root']}"
        raise ConfigError(str(path), problem, "correct the line, or name the file with --config")
    return Sources(path, file, environment, options)


def _is_ours(content: Mapping[str, Any]) -> bool:
    """Tell whether a file speaks of memory: a Gateway's own `config.yaml` in the same place has none of the keys."""
    return "memory" in content or any(map(_is_key, content))


def _is_key(name: Any) -> bool:
    try:
        normalised({name: None})
    except ValueError:
        # Keys of existing configurations, which are looked into at once.
        return name in ("primary", "vector_index", "vectorIndex")
    return True


def _values(model: BaseModel, prefix: str) -> Iterator[tuple[str, Any]]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from _values(value, f"{prefix}{name}.")
        elif name != "not_in_effect":
            yield f"{prefix}{name}", value


def _origin(key: str, said: list[tuple[Origin, Mapping[str, Any]]]) -> Origin:
    for origin, settings in said:
        place: Any = settings
        for part in key.split("."):
            place = place.get(part) if isinstance(place, Mapping) and part in place else _NOTHING
        if place is not _NOTHING:
            return origin
    return "default"


_NOTHING = object()
