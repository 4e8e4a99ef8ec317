"""Settings of what each kind of session loads."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator


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
