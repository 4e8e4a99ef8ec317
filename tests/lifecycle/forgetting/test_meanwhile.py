"""What is forgotten while something else goes on stays forgotten: a job with a model, a conversation, a crash."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from contracts import HeartbeatTick, MemoryCompact, MemoryCompacted
from openclaw_memory.completion import Completion
from openclaw_memory.layers import history_shards
from openclaw_memory.lifecycle.forgetting.copies import forget_in
from openclaw_memory.lifecycle.forgetting.records import scrub_of
from openclaw_memory.lifecycle.forgetting.scanning import Found as FoundFile
from openclaw_memory.lifecycle.forgetting.scanning import Traces, kind_of
from openclaw_memory.lifecycle.forgetting.wanted import Wanted
from openclaw_memory.storage.files import LocalFiles
from tests.lifecycle.forgetting.world import EVERYWHERE, SECRET, forget, holding, said
from tests.lifecycle.models import saved
from tests.support import Remembering, remembering


class Waiting:
    """A model that is asked, and answers when it is told to, with what it read.

    Parameters: `asked`, set when it is asked; `go`, for which it waits; `answer`.
    """

    def __init__(self, asked: asyncio.Event, go: asyncio.Event, answer: Completion) -> None:
        self._asked, self._go, self._answer = asked, go, answer

    async def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int | None = None,
    ) -> Completion:
        self._asked.set()
        await self._go.wait()
        return self._answer


async def tick(memory: Remembering) -> None:
    await memory.ask(HeartbeatTick(now=memory.clock.now()))


@pytest.mark.parametrize("job", ["consolidation", "compaction", "summary"])
async def test_a_model_does_not_bring_back_what_was_forgotten_while_it_thought(tmp_path: Path, job: str) -> None:
    """Whatever it makes of what it read before is not written, then or later."""
    asked, go = asyncio.Event(), asyncio.Event()
    answer = saved(f"[2026-05-04 14:30] 用户选定了{SECRET}。", f"# 长期记忆\n\n- 用户在做{SECRET}\n")
    if job != "consolidation":
        answer = Completion(f"我们选定了{SECRET}。大家都同意。", (), 1, 1)
    provider = "tests.lifecycle.forgetting.test_meanwhile:Waiting"
    model = {"provider": provider, "options": {"asked": asked, "go": go, "answer": answer}}
    more = {"summaries": {"enabled": False}, "window_size": 20} if job == "consolidation" else {}
    async with remembering(tmp_path, completion=model, **EVERYWHERE, **more) as memory:
        for number in range(30):
            await memory.ask(said(f"决定{number}:我们选定了{SECRET}第{number}版,因为它最快"))
        if job == "summary":
            memory.clock.advance(24 * 3600)
        making = memory.ask(MemoryCompact(session_id="s1")) if job == "compaction" else tick(memory)
        made = asyncio.ensure_future(making)
        await asyncio.wait_for(asked.wait(), 20)
        forgotten = await forget(memory, text=SECRET)
        assert forgotten.total
        assert forgotten.verified, forgotten.notice
        go.set()
        answered = await made
        assert job != "compaction" or isinstance(answered, MemoryCompacted)
        memory.clock.advance(24 * 3600)
        await tick(memory)
        await memory.flushed()
        assert holding(tmp_path, SECRET) == []
    assert holding(tmp_path, SECRET) == []


async def test_a_conversation_that_goes_on_leaves_no_backup_with_it(tmp_path: Path) -> None:
    """Writes wait while files and backups are brought up to date, and the receipt says that all is done."""
    async with remembering(tmp_path) as memory:
        for number in range(50):
            await memory.ask(said(f"第{number}句"))
        await memory.ask(said(f"说说{SECRET}"))
        await memory.flushed()
        wish = asyncio.ensure_future(forget(memory, text=SECRET))
        count = 0
        while not wish.done():
            assert (await memory.ask(said(f"后来{count}", session="s9"))).success
            count += 1
        forgotten = await wish
        assert count
        assert forgotten.verified, forgotten.notice
        assert forgotten.notice is None
        assert holding(tmp_path, SECRET) == []
        assert json.loads((memory.folder / ".state" / "forgotten.json").read_text()).get("open") is None


async def test_a_history_that_cant_be_decompressed_is_told_and_nothing_is_claimed(tmp_path: Path) -> None:
    """Its beginning can be read by others still."""
    folder = tmp_path / "workspace" / "main" / "memory"
    folder.mkdir(parents=True)
    plain = f"[2026-03-02 10:00] {SECRET}\n".encode() + os.urandom(3000).hex().encode()
    shard = folder / f"HISTORY-2026-03{history_shards.SUFFIX}"
    shard.write_bytes(history_shards.compressed(plain)[:-500])
    async with remembering(tmp_path, **EVERYWHERE) as memory:
        await memory.ask(said(f"说说{SECRET}"))
        forgotten = await forget(memory, text=SECRET)
        assert forgotten.total == 4
        assert not forgotten.verified
        assert shard.name in (forgotten.notice or "")


@pytest.mark.parametrize("name", [".journal/0000000001.log.corrupt-1", "conversations/2026-05-04.md.corrupt-1"])
def test_after_a_crash_a_damaged_copy_loses_what_only_the_tombstones_know(tmp_path: Path, name: str) -> None:
    """The text that was asked for is not there any more; each line and what is quoted in it is compared."""
    kind, document = kind_of(name, lambda path: False)
    place = tmp_path / "copy"
    operation = {"section": "项目", "key": "代号", "value": "白鲸", "old": None}
    gone = f'81b63440 {{"operations":[["facts/x.md","set",{json.dumps(operation)}]]}}\n'.encode()
    kept = b"81b63440 the rest of another record\n"
    place.write_bytes(gone + kept + (b"" if document is None else b"\xff\xfe\x00\n"))
    wanted = Wanted(known=lambda text: text == "项目/代号: 白鲸")
    found = FoundFile(place, name, kind, document)
    traces, scrub = Traces(None, ()), scrub_of(wanted, (), {})
    assert forget_in(found, wanted, traces, scrub, LocalFiles(), UTC, {})
    assert not place.exists() or b"\\u767d\\u9cb8" not in place.read_bytes()
    if document is None:
        assert place.read_bytes() == kept


async def test_items_rows_and_what_they_belong_to(tmp_path: Path) -> None:
    """An item within an item and a row go by themselves; what belongs to a line that goes is told before it does."""
    folder = tmp_path / "workspace" / "main"
    folder.mkdir(parents=True)
    text = (
        "# M\n\n## 家人\n\n- 老婆\n  - 喜欢鲸鱼\n    - 尤其白鲸\n  - 对花生过敏\n- 鲸鱼\n  - 很大\n- 儿子\n\n"
        "| 名 | 地址 |\n|---|---|\n| 甲 | 1 |\n| 鲸鱼 | 2 |\n| 乙 | 3 |\n\n第一行\n鲸鱼在此\n第三行\n"
    )
    (folder / "MEMORY.md").write_text(text, encoding="utf-8")
    async with remembering(tmp_path) as memory:
        told = await forget(memory, text="鲸鱼", dry_run=True)
        assert "4 of workspace/main/MEMORY.md (below the front matter: 7, 10, 19, 21)" in (told.notice or "")
        forgotten = await forget(memory, text="鲸鱼")
        assert forgotten.verified, forgotten.notice
        assert told.total == forgotten.total == 4
        assert (folder / "MEMORY.md").read_text(encoding="utf-8").rstrip() == (
            "# M\n\n## 家人\n\n- 老婆\n  - 对花生过敏\n- 儿子\n\n| 名 | 地址 |\n|---|---|\n| 甲 | 1 |\n| 乙 | 3 |"
        )


async def test_what_names_the_columns_of_a_table_stands_for_all_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "workspace" / "main"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# M\n\n| 鲸鱼 | 地址 |\n|---|---|\n| 甲 | 1 |\n\n别的\n", encoding="utf-8")
    async with remembering(tmp_path) as memory:
        assert (await forget(memory, text="鲸鱼")).total == 1
        assert (folder / "MEMORY.md").read_text(encoding="utf-8").split() == ["#", "M", "别的"]
