"""Settings of what is written: conversations, tasks, the buffer, what is captured and masked, versions."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class TaskConfig(BaseModel):
    """How long tasks stay where they are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keep_completed_days: int = Field(
        default=7, ge=0, description="Days in active.md after completion; 0 moves at once."
    )


class ConversationConfig(BaseModel):
    """When a day's file is rotated (seed 000 section 5.3). It takes up to a quarter more while that is done."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_messages_per_file: int = Field(
        default=500,
        ge=1,
        description="Messages that fill a file of a day. While it is rotated it takes up to a quarter more.",
    )
    max_file_bytes: int = Field(default=5_242_880, ge=1024, description="Bytes of messages that fill it, likewise.")


class BufferConfig(BaseModel):
    """How long Markdown may lag behind the journal (seed 000 section 5.2)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    flush_interval_seconds: float = Field(default=2.0, gt=0, le=3600, description="Longest lag, in seconds.")
    max_entries_per_file: int = Field(default=50, ge=1, description="Entries of one file that cause a rewrite.")
    max_entries_in_all: int = Field(default=500, ge=1, description="Entries of all files that cause a rewrite of all.")
    journal_limit_bytes: int = Field(default=1_048_576, ge=1024, description="Size at which the journal is shortened.")


class SecretsConfig(BaseModel):
    """Passwords and keys in what is said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mask: bool = Field(default=True, description="Whether they are masked before anything is stored.")


class CaptureConfig(BaseModel):
    """What is done about messages that ask to be remembered (seed 002, seed 004 section 2.2)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    explicit: bool = Field(default=True, description="Whether what the user asks to be remembered is written at once.")
    suggestions: bool = Field(default=True, description="Whether replies say what else might be worth remembering.")


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
