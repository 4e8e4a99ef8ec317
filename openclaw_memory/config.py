"""Configuration: every default once, with its unit; YAML and environment; keys as existing configurations have them."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Any, Literal, Self, cast
from zoneinfo import ZoneInfo, available_timezones

import tzlocal
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from contracts.fields import SessionKind
from openclaw_memory.errors import ConfigError

ENVIRONMENT_PREFIX = "OPENCLAW_MEMORY_"

_NOT_IN_EFFECT = frozenset(
    {
        "auto_recall",
        "daily_log_days",
        "index",
        "retention_days",
        "search_provider",
        "session",
        "vector_index",
        "window_size",
    }
)
"""Keys of existing configurations that are understood and have no effect in this version."""


class TaskConfig(BaseModel):
    """How long tasks stay where they are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keep_completed_days: int = Field(
        default=7, ge=0, description="Days in active.md after completion; 0 moves at once."
    )


class ConversationConfig(BaseModel):
    """When a day's file is rotated (seed 000 section 5.3)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_messages_per_file: int = Field(default=500, ge=1, description="Messages in one file of a day.")
    max_file_bytes: int = Field(default=5_242_880, ge=1024, description="Bytes of messages in one file of a day.")


class BufferConfig(BaseModel):
    """How long Markdown may lag behind the journal (seed 000 section 5.2)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    flush_interval_seconds: float = Field(default=2.0, gt=0, le=3600, description="Longest lag, in seconds.")
    max_entries_per_file: int = Field(default=50, ge=1, description="Entries of one file that cause a rewrite.")
    max_entries_in_all: int = Field(default=500, ge=1, description="Entries of all files that cause a rewrite of all.")
    journal_limit_bytes: int = Field(default=1_048_576, ge=1024, description="Size at which the journal is shortened.")


class MemoryConfig(BaseModel):
    """Everything that can be set. `MemoryConfig(root=...)` needs nothing else."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    root: Path = Field(default=Path("~/.openclaw"), description="Folder of everything.")
    memory_path: Path | None = Field(default=None, description="Folder of the four layers; default `<root>/memory`.")
    mode: Literal["four_layer"] = Field(default="four_layer", description="Preset: which files are kept.")
    language: Literal["zh", "en"] = Field(default="zh", description="Language of labels in files and of notices.")
    timezone: str | None = Field(default=None, description="IANA name of the user's time zone; default the system's.")
    default_session_kind: SessionKind = Field(
        default="primary", description="Kind of a session that neither the event nor its id tells."
    )
    encoding: Literal["cl100k_base", "o200k_base"] = Field(
        default="cl100k_base", description="Encoding that tokens are counted with."
    )
    recency: Literal["steps", "exponential", "half_life", "off"] = Field(
        default="off", description="How much newer memories are preferred."
    )
    history_messages: int = Field(default=10, ge=2, le=1000, description="Recent messages of the session in a context.")
    summary_days: int = Field(default=3, ge=1, le=366, description="Days whose summaries go into a context.")
    recall_candidates: int = Field(default=200, ge=1, le=1000, description="Hits considered for one context.")
    durability: Literal["always", "interval", "never"] = Field(
        default="always",
        description="When a write is on the disk: before its reply, at most a second later, or when the system likes.",
    )
    watch: bool = Field(default=True, description="Whether edits of the files are taken up before anybody reads.")
    conversations: ConversationConfig = ConversationConfig()
    buffer: BufferConfig = BufferConfig()
    tasks: TaskConfig = TaskConfig()
    not_in_effect: tuple[str, ...] = Field(
        default=(), description="Keys that were given, are understood, and have no effect in this version."
    )

    @model_validator(mode="before")
    @classmethod
    def _spelling(cls, data: Any) -> Any:
        return _normalised(data, cls, "") if isinstance(data, dict) else data

    @field_validator("recency", mode="before")
    @classmethod
    def _off(cls, value: Any) -> Any:
        # YAML reads a bare `off` as false.
        return "off" if value is False else value

    @field_validator("root", "memory_path")
    @classmethod
    def _home(cls, path: Path | None) -> Path | None:
        return None if path is None else path.expanduser().absolute()

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, name: str | None) -> str | None:
        if name is not None:
            try:
                ZoneInfo(name)
            except (ValueError, OSError) as error:
                # `ZoneInfoNotFoundError` is a `KeyError`, which is none of these.
                raise ValueError(f"{name!r} is no IANA time zone") from error
            except KeyError:
                # Listing all zones walks a folder tree, so only for the hint.
                raise ValueError(f"{name!r} is no IANA time zone{_hint(name, available_timezones())}") from None
        return name

    @property
    def memory_folder(self) -> Path:
        """Folder of the four layers."""
        return self.memory_path or self.root / "memory"

    @property
    def zone(self) -> tzinfo:
        """The user's time zone."""
        # tzlocal is annotated with a class that its own stubs do not call a tzinfo on every platform.
        return ZoneInfo(self.timezone) if self.timezone else cast(tzinfo, tzlocal.get_localzone())

    @classmethod
    def load(cls, path: Path | str, environ: Mapping[str, str] = os.environ) -> Self:
        """Read a YAML file, then let the environment (`OPENCLAW_MEMORY_TIMEZONE` and so on) have the last word.

        The settings are the file's `memory:` section where it has one, else the whole file.

        Raises: `ConfigError`, which names the file, the key, and the nearest known one.
        """
        path = Path(path)
        try:
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
        except yaml.YAMLError as error:
            raise ConfigError(str(path), f"is not YAML ({error})", "mend it or remove it") from error
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(str(path), f"can't be read ({error})", "check the path and its permissions") from error
        if content is not None and not isinstance(content, dict):
            raise ConfigError(str(path), "holds no `key: value` lines", "write one setting a line")
        settings = dict(content or {})
        if isinstance(settings.get("memory"), dict):
            # The rest of the file is other people's: the Gateway's, the Brain's.
            settings = dict(settings["memory"])
        for name, value in environ.items():
            if name.startswith(ENVIRONMENT_PREFIX):
                *outer, key = name.removeprefix(ENVIRONMENT_PREFIX).lower().split("__")
                place = settings
                for part in outer:
                    inner = place.get(part)
                    place[part] = place = dict(inner) if isinstance(inner, dict) else {}
                place[key] = value
        try:
            return cls.model_validate(settings)
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(str(part) for part in fault['loc']) or 'settings'}: {fault['msg']}"
                for fault in error.errors()
            )
            raise ConfigError(str(path), problems, "correct these keys") from error


def _normalised(data: dict[str, Any], model: type[BaseModel], prefix: str) -> dict[str, Any]:
    """Spell keys in snake_case, translate those of existing configurations, and name unknown ones."""
    result: dict[str, Any] = {}
    ignored: list[str] = []
    for given, value in data.items():
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", str(given)).lower()
        name = {"primary_path": "memory_path"}.get(name, name)
        field = model.model_fields.get(name)
        if field is not None and name != "not_in_effect":
            nested = field.annotation
            if isinstance(value, dict) and isinstance(nested, type) and issubclass(nested, BaseModel):
                value = _normalised(value, nested, f"{prefix}{name}.")
            result[name] = value
        elif not prefix and name == "primary":
            if value != "file":
                raise ValueError(f"primary: {value!r} is not offered; memory is kept in files (`primary: file`)")
        elif not prefix and name in _NOT_IN_EFFECT:
            ignored.append(name)
        else:
            raise ValueError(f"{prefix}{given} is no known key{_hint(prefix + name, _known_keys())}")
    if ignored and not prefix:
        result["not_in_effect"] = tuple(ignored)
    return result


def _known_keys() -> list[str]:
    """List every key in full, those inside others included."""
    keys = [*_NOT_IN_EFFECT]
    for name, field in MemoryConfig.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            keys += [f"{name}.{key}" for key in inner.model_fields]
        keys.append(name)
    return [key for key in keys if key != "not_in_effect"]


def _hint(name: str, known: Any) -> str:
    known = list(known)
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if not nearest:
        # `flushInterval` means `buffer.flush_interval_seconds`.
        nearest = [key for key in known if name.rpartition(".")[2] in key]
    return f"; did you mean {nearest[0]!r}?" if nearest else ""
