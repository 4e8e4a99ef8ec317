"""What the tests of forgetting share: things to say, and a look at every byte below a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from contracts import (
    CuratedContent,
    Forget,
    Forgotten,
    MemoryWrite,
    MessageContent,
    NoteContent,
    Selector,
    TaskContent,
    UpdateFact,
)
from tests.support import Remembering

SECRET = "蓝鲸计划"
"""What is to be forgotten."""

KEPT = ("普通项目", "李雷", "午饭吃了面条", "买牛奶", "天气很好", "用户喜欢绿茶", "别的会话", "谈了天气")
"""What `filled` says beside it."""

EVERYWHERE: dict[str, Any] = {"session_files": True, "history_file": True, "daily_log_messages": True}
"""Settings with which messages are kept in four places."""


def said(text: str, session: str = "s1", **more: Any) -> MemoryWrite:
    content = MessageContent(role="user", content=text, **{k: more.pop(k) for k in ("timestamp",) if k in more})
    return MemoryWrite(type="conversation", content=content, session_id=session, **more)


def note(text: str, **more: Any) -> MemoryWrite:
    return MemoryWrite(type="note", content=NoteContent(text=text), session_id="s1", **more)


def entry(text: str, **more: Any) -> MemoryWrite:
    return MemoryWrite(type="memory", content=CuratedContent(text=text), session_id="s1", **more)


def task(title: str, **more: Any) -> MemoryWrite:
    return MemoryWrite(type="task", content=TaskContent(title=title), session_id="s1", **more)


async def filled(memory: Remembering) -> None:
    """Put the secret into every layer, beside something that is to stay."""
    for text in (f"我们下周讨论{SECRET}的预算", "午饭吃了面条", f"{SECRET} starts on Monday"):
        await memory.ask(said(text))
    await memory.ask(said("别的会话", session="s2"))
    for value in (SECRET, "普通项目"):
        await memory.ask(UpdateFact(section="项目", key="代号", value=value))
    await memory.ask(UpdateFact(section="项目", key="负责人", value="李雷"))
    await memory.ask(task(f"准备{SECRET}的材料"))
    await memory.ask(task("买牛奶"))
    await memory.ask(note(f"- {SECRET}启动\n- 天气很好"))
    await memory.ask(entry(f"用户在做{SECRET}"))
    await memory.ask(entry("用户喜欢绿茶"))
    summary = memory.folder / "summaries" / "daily" / "2026-05-03.md"
    summary.write_text(f"# 每日摘要 - 2026-05-03\n\n## 关键对话\n\n- 谈了{SECRET}\n- 谈了天气\n", encoding="utf-8")


async def forget(memory: Remembering, *, dry_run: bool = False, **selector: Any) -> Forgotten:
    answer = await memory.ask(Forget(selector=Selector(**selector), dry_run=dry_run))
    assert isinstance(answer, Forgotten)
    return answer


def holding(folder: Path, text: str) -> list[str]:
    """List the files below a folder whose bytes hold a text."""
    wanted = text.encode()
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [str(path.relative_to(folder)) for path in files if wanted in path.read_bytes()]


def counts(forgotten: Forgotten) -> dict[str, int]:
    return {place.path: place.count for place in forgotten.places}
