"""The kinds of field that the events share, in one place: limits, names, values and the words of closed sets."""

from __future__ import annotations

from typing import Literal

from contracts.limits import (
    MAX_BATCH_ITEMS,
    MAX_CONTENT_CHARS,
    MAX_NAME_CHARS,
    MAX_QUERY_CHARS,
    MAX_STEPS,
    MAX_TAGS,
    MAX_TOKENS,
)
from contracts.names import FactKey, IdempotencyKey, RelativePath, Section, SessionId, Tag, TaskId, Title, Topic
from contracts.values import (
    Day,
    Description,
    Due,
    FactValue,
    Flag,
    ForgetText,
    HitCount,
    LineCount,
    LineNumber,
    MessageCount,
    PlaceCount,
    Query,
    Reason,
    SaidText,
    Score,
    Several,
    Text,
    Timestamp,
    TokenBudget,
    Tokens,
)

SessionKind = Literal["primary", "sub", "group", "sandbox"]
Role = Literal["user", "assistant", "system", "tool"]
Origin = Literal["owner", "agent", "untrusted", "system"]
TaskState = Literal["pending", "in_progress", "completed", "expired"]
Priority = Literal["high", "medium", "low"]
Layer = Literal["conversation", "fact", "task", "summary", "memory", "note", "history"]
Durability = Literal["synced", "buffered"]
Period = Literal["daily", "weekly", "monthly"]

__all__ = [
    "MAX_BATCH_ITEMS",
    "MAX_CONTENT_CHARS",
    "MAX_NAME_CHARS",
    "MAX_QUERY_CHARS",
    "MAX_STEPS",
    "MAX_TAGS",
    "MAX_TOKENS",
    "Day",
    "Description",
    "Due",
    "Durability",
    "FactKey",
    "FactValue",
    "Flag",
    "ForgetText",
    "HitCount",
    "IdempotencyKey",
    "Layer",
    "LineCount",
    "LineNumber",
    "MessageCount",
    "Origin",
    "Period",
    "PlaceCount",
    "Priority",
    "Query",
    "Reason",
    "RelativePath",
    "Role",
    "SaidText",
    "Score",
    "Section",
    "SessionId",
    "SessionKind",
    "Several",
    "Tag",
    "TaskId",
    "TaskState",
    "Text",
    "Timestamp",
    "Title",
    "TokenBudget",
    "Tokens",
    "Topic",
]
