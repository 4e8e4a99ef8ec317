"""The words of task files, in both languages: all are understood, one set is written (seed 000 section 2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, tzinfo
from typing import Literal

from openclaw_memory.markdown.items import matching
from openclaw_memory.markdown.message_header import Language

State = Literal["pending", "in_progress", "completed", "expired"]
Priority = Literal["high", "medium", "low"]
Attribute = Literal["state", "created", "priority", "due", "completed", "description", "reason", "steps"]

LABELS: Mapping[Language, Mapping[Attribute, str]] = {
    "zh": {
        "state": "状态",
        "created": "创建",
        "priority": "优先级",
        "due": "截止",
        "completed": "完成",
        "description": "描述",
        "reason": "原因",
        "steps": "步骤",
    },
    "en": {
        "state": "State",
        "created": "Created",
        "priority": "Priority",
        "due": "Due",
        "completed": "Completed",
        "description": "Description",
        "reason": "Reason",
        "steps": "Steps",
    },
}
STATES: Mapping[Language, Mapping[str, str]] = {
    "zh": {"pending": "待处理", "in_progress": "进行中", "completed": "已完成", "expired": "已过期"},
    "en": {"pending": "pending", "in_progress": "in progress", "completed": "completed", "expired": "expired"},
}
PRIORITIES: Mapping[Language, Mapping[str, str]] = {
    "zh": {"high": "高", "medium": "中", "low": "低"},
    "en": {"high": "high", "medium": "medium", "low": "low"},
}
LIST_TITLES: Mapping[Language, str] = {"zh": "任务列表", "en": "Task list"}

_ATTRIBUTES: Mapping[str, Attribute] = {
    **{matching(label): attribute for labels in LABELS.values() for attribute, label in labels.items()},
    "创建时间": "created",
    "截止日期": "due",
    "截止时间": "due",
    "完成时间": "completed",
    "status": "state",
}
_STATES: Mapping[str, State] = {
    "待处理": "pending",
    "pending": "pending",
    "进行中": "in_progress",
    "in progress": "in_progress",
    "已完成": "completed",
    "completed": "completed",
    "已过期": "expired",
    "expired": "expired",
    "in_progress": "in_progress",
    "in-progress": "in_progress",
    "完成": "completed",
    "done": "completed",
    "过期": "expired",
    "todo": "pending",
}
_PRIORITIES: Mapping[str, Priority] = {
    "高": "high",
    "high": "high",
    "中": "medium",
    "medium": "medium",
    "低": "low",
    "low": "low",
}


def attribute_of(label: str) -> Attribute | None:
    """Tell which attribute a label names; None for one that is not ours."""
    return _ATTRIBUTES.get(matching(label))


def language_of(label: str) -> Language | None:
    """Tell in which language a label is written; None for one that is not ours."""
    if attribute_of(label) is None:
        return None
    return "en" if matching(label).isascii() else "zh"


def read_state(word: str) -> State:
    """Read a state; a word that is not known says that the task is still to be done."""
    return _STATES.get(matching(word), "pending")


def read_priority(word: str) -> Priority:
    """Read a priority; a word that is not known is the middle one."""
    return _PRIORITIES.get(matching(word), "medium")


def read_time(text: str, tz: tzinfo) -> datetime | None:
    """Read a time such as `2026-05-03 14:30`, or one with an offset; None where it is no time.

    Args:
        text: The value of an attribute.
        tz: The user's zone, for times without an offset.
    """
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=tz)


def read_day_or_time(text: str, tz: tzinfo) -> date | datetime | None:
    """Read a day such as `2026-05-10`, or a time; None where it is neither.

    Args:
        text: The value of an attribute.
        tz: The user's zone, for times without an offset.
    """
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return read_time(text, tz)


def write_time(time: date) -> str:
    """Write a day, or a time to the minute as its own clock shows it (callers put it into the user's zone)."""
    if isinstance(time, datetime):
        return time.replace(tzinfo=None).isoformat(" ", "minutes")
    return time.isoformat()
