"""The words of closed sets, which the events share and the command line offers; nothing has to be loaded for them."""

from __future__ import annotations

from typing import Literal

SessionKind = Literal["primary", "sub", "group", "sandbox"]
Role = Literal["user", "assistant", "system", "tool"]
Origin = Literal["owner", "agent", "untrusted", "system"]
TaskState = Literal["pending", "in_progress", "completed", "expired"]
Priority = Literal["high", "medium", "low"]
Layer = Literal["conversation", "fact", "task", "summary", "memory", "note", "history"]
Durability = Literal["synced", "buffered"]
Period = Literal["daily", "weekly", "monthly"]
