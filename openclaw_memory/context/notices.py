"""Say in words what was left out."""

from __future__ import annotations

from collections.abc import Mapping

from openclaw_memory.context.recalled import Language

_NAMES: dict[Language, dict[str, str]] = {
    "zh": {
        "facts": "条事实",
        "memory": "条 MEMORY.md 记录",
        "tasks": "个任务",
        "summaries": "篇摘要",
        "notes": "条笔记",
        "recalled": "条召回",
        "history": "条消息",
        "shortened": "处缩短",
    },
    "en": {
        "facts": "facts",
        "memory": "MEMORY.md entries",
        "tasks": "tasks",
        "summaries": "summaries",
        "notes": "notes",
        "recalled": "recalled",
        "history": "messages",
        "shortened": "shortened",
    },
}


def left_out(counts: Mapping[str, int], language: Language) -> str | None:
    """Say how many pieces of each part were left out for the budget; None when all went in."""
    names = _NAMES[language]
    said = [f"{number} {names[part]}" for part, number in counts.items() if number]
    if not said:
        return None
    return f"因预算未放入：{'、'.join(said)}。" if language == "zh" else f"Left out for the budget: {', '.join(said)}."


def joined(*notices: str | None) -> str | None:
    """Join what there is to say."""
    return " ".join(notice for notice in notices if notice) or None
