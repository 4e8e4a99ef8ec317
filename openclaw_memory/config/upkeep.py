"""Settings of what goes on in the course of time: the heartbeat, its jobs, and the model that they ask."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator


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
