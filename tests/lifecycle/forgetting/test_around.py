"""Forgetting among everything else: other processes, other programs' files, a disk that refuses, writes meanwhile."""

from __future__ import annotations

import asyncio
import errno
import json
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from contracts import Forget, MemorySearch, Selector
from openclaw_memory.layers import history_shards
from openclaw_memory.storage.files import LocalFiles
from openclaw_memory.storage.inbox import Inbox
from tests import meanings
from tests.lifecycle.forgetting.world import (
    EVERYWHERE,
    KEPT,
    SECRET,
    counts,
    entry,
    filled,
    forget,
    holding,
    note,
    said,
)
from tests.support import FaultyFiles, Remembering, remembering
from tests.test_processes import passing


async def test_a_guest_hands_it_to_the_owner(tmp_path: Path) -> None:
    """The owner of the folder does it, and its receipt comes back; the wish itself is no trace."""
    async with remembering(tmp_path) as owner, remembering(tmp_path) as guest:
        await filled(owner)
        wish = guest.ask(Forget(selector=Selector(text=SECRET)))
        forgotten = await passing(wish, owner.clock, guest.clock)
        assert forgotten.verified, forgotten.notice
        assert counts(forgotten)["conversations/2026-05-04.md"] == 2
        assert holding(tmp_path, SECRET) == []
        results = await guest.ask(MemorySearch(query=SECRET))
        assert not any(SECRET in result.snippet for result in results.results)


async def test_a_guest_whose_owner_does_not_answer_says_so(tmp_path: Path) -> None:
    """It is handed in and done by the next owner."""
    async with remembering(tmp_path) as memory:
        await filled(memory)
    inbox = Inbox(tmp_path / "memory", LocalFiles())
    wish = Forget(selector=Selector(text=SECRET))
    inbox.hand_in(
        "01", {"type": wish.event_type, "data": wish.model_dump(mode="json", by_alias=True, exclude_none=True)}
    )
    async with remembering(tmp_path) as memory:
        assert (await forget(memory, text="从未说过")).total == 0
        assert holding(tmp_path, SECRET) == []
    assert inbox.reply("01")["verified"]


async def test_what_openclaw_itself_writes_keeps_its_tree(tmp_path: Path) -> None:
    """Its lines stay, with what they say taken out; other lines are not touched."""
    folder = tmp_path / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    header = {"type": "session", "version": 3, "id": "abc", "timestamp": "2026-05-04T06:00:00Z", "cwd": "/x"}
    one = {"type": "message", "id": "a1", "parentId": None, "timestamp": "2026-05-04T06:00:01Z"}
    two = {"type": "message", "id": "a2", "parentId": "a1", "timestamp": "2026-05-04T06:00:02Z"}
    lines = [
        header,
        {**one, "message": {"role": "user", "content": [{"type": "text", "text": f"about {SECRET}"}]}},
        {**two, "message": {"role": "assistant", "content": [{"type": "text", "text": "fine"}]}},
    ]
    file = folder / "abc.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    async with remembering(tmp_path, **EVERYWHERE) as memory:
        forgotten = await forget(memory, text=SECRET)
        assert forgotten.verified, forgotten.notice
        assert counts(forgotten) == {"agents/main/sessions/abc.jsonl": 1}
        left = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        assert [line.get("id") for line in left] == ["abc", "a1", "a2"]
        assert left[1]["message"]["content"] == [{"type": "text", "text": "[forgotten]"}]
        assert left[2] == lines[2]


async def test_writes_meanwhile_are_all_there(tmp_path: Path) -> None:
    """Whatever is said while something is forgotten is kept."""
    async with remembering(tmp_path, **EVERYWHERE) as memory:
        await filled(memory)
        wish = asyncio.ensure_future(forget(memory, text=SECRET))
        for number in range(60):
            assert (await memory.ask(said(f"第{number}句别的话"))).success
        assert (await wish).total
        await memory.flushed()
        assert (await forget(memory, text=SECRET)).total == 0
        text = (memory.folder / "conversations" / "2026-05-04.md").read_text(encoding="utf-8")
        assert all(f"第{number}句别的话\n" in text for number in range(60))
        assert holding(tmp_path, SECRET) == []


async def test_a_file_that_cant_be_read_is_told_and_its_journal_loses_it(tmp_path: Path) -> None:
    """What waits in the journal for such a file loses what is forgotten, and nothing else."""
    files = FaultyFiles()
    async with remembering(tmp_path, files=files) as memory:
        await filled(memory)
        await memory.flushed()
        files.fault = lambda operation, path: (
            errno.EACCES if operation == "exchange" and path.name == "2026-05-04.md" else None
        )
        await memory.ask(said("等着写的话"))
        forgotten = await forget(memory, text=SECRET)
        assert not forgotten.verified
        assert "conversations/2026-05-04.md" in (forgotten.notice or "")
        assert "forgetting" in memory.memory.status().notices
        files.fault = lambda operation, path: None
        # In the background, some time later.
        memory.clock.advance(61)
        for _ in range(200):
            await asyncio.sleep(0.01)
            if "forgetting" not in memory.memory.status().notices:
                break
        assert holding(tmp_path, SECRET) == []
        assert holding(tmp_path, "等着写的话")


async def test_a_full_disk_leaves_it_to_be_finished(tmp_path: Path) -> None:
    """The reply says that it is not done; the next start does it."""
    files = FaultyFiles()
    async with remembering(tmp_path, files=files) as memory:
        await filled(memory)
        await memory.flushed()
        done = 0

        def full(operation: str, path: Path) -> int | None:
            nonlocal done
            done += operation == "create"
            return errno.ENOSPC if operation == "create" and done > 3 else None

        files.fault = full
        forgotten = await forget(memory, text=SECRET)
        assert not forgotten.verified
        assert forgotten.notice
        files.fault = lambda operation, path: None
    async with remembering(tmp_path):
        assert holding(tmp_path, SECRET) == []
    for kept in KEPT:
        assert holding(tmp_path, kept), kept


async def test_a_month_of_history_that_is_compressed(tmp_path: Path) -> None:
    """Shards are opened, and compressed again without it."""
    async with remembering(tmp_path, **EVERYWHERE) as memory:
        await memory.ask(said("别的"))
        await memory.flushed()
        folder = tmp_path / "workspace" / "main" / "memory"
        lines = (
            f"[2026-04-01 10:00:00+08:00] user: 说{SECRET} <!-- id=A role=user session=s -->\n"
            "[2026-04-02 10:00:00+08:00] user: 四月别的 <!-- id=B role=user session=s -->\n"
        )
        shard = folder / "HISTORY-2026-04.md.zst"
        shard.write_bytes(history_shards.compressed(lines.encode()))
        forgotten = await forget(memory, text=SECRET)
        assert forgotten.verified, forgotten.notice
        assert counts(forgotten) == {"workspace/main/memory/HISTORY-2026-04.md.zst": 1}
        left = history_shards.opened("", shard.read_bytes(), 10_000).decode()
        assert left == lines.splitlines(keepends=True)[1]
        assert (await forget(memory, text=SECRET)).total == 0


async def test_vectors_of_what_is_forgotten_go(tmp_path: Path) -> None:
    """The file of vectors is made anew without them; others stay."""
    embedding = {"provider": meanings.PLACE}
    async with remembering(tmp_path, embedding=embedding) as memory:
        await memory.ask(said("the puppy barks"))
        await memory.ask(said("an automobile passes"))
        await memory.memory.caught_up()
        assert vectors_in(memory) == 2
        forgotten = await forget(memory, text="puppy")
        assert forgotten.verified, forgotten.notice
        assert vectors_in(memory) == 1
        results = await memory.ask(MemorySearch(query="vehicle"))
        assert "automobile" in results.results[0].snippet
    async with remembering(tmp_path) as memory:
        # Nobody uses them now, and nobody could take single ones out.
        await forget(memory, text="automobile")
        assert not list(memory.folder.glob("*.vectors*"))


def vectors_in(memory: Remembering) -> int:
    owner = memory.memory._owner
    assert owner is not None
    assert owner.meaning is not None
    assert owner.meaning._opened is not None
    return owner.meaning._opened.store.count()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
async def test_a_git_history_that_holds_it_is_told(tmp_path: Path) -> None:
    """Files are clean; the notice says where it is still, and how to purge it there."""
    async with remembering(tmp_path) as memory:
        await filled(memory)
        await memory.flushed()
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
        for words in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "all"]):
            await asyncio.to_thread(subprocess.run, ["git", "-C", str(tmp_path), *words], check=True)
        forgotten = await forget(memory, text=SECRET)
        assert forgotten.verified
        assert f"the git history of {tmp_path} holds it still" in (forgotten.notice or "")
        assert "git filter-repo" in (forgotten.notice or "")
        await memory.ask(said("没有进过版本库的话"))
        forgotten = await forget(memory, text="没有进过版本库的话")
        assert "holds it still" not in (forgotten.notice or "")


async def test_a_file_that_is_no_memory_is_told_and_left_alone(tmp_path: Path) -> None:
    async with remembering(tmp_path) as memory:
        await filled(memory)
        stranger = tmp_path / "workspace" / "main" / "plan.txt"
        stranger.write_text(f"{SECRET}\n", encoding="utf-8")
        forgotten = await forget(memory, text=SECRET)
        assert not forgotten.verified
        assert "it still stands in workspace/main/plan.txt" in (forgotten.notice or "")
        assert SECRET in stranger.read_text(encoding="utf-8")


async def test_what_a_model_keeps_itself_goes_too(tmp_path: Path) -> None:
    """Files of the file-memory tool, of any name."""
    async with remembering(tmp_path) as memory:
        folder = tmp_path / "workspace" / "main" / "memories"
        folder.mkdir(parents=True)
        (folder / "todo.txt").write_text(f"{SECRET}\n\nother\n", encoding="utf-8")
        forgotten = await forget(memory, text=SECRET)
        assert forgotten.verified, forgotten.notice
        assert (folder / "todo.txt").read_text(encoding="utf-8").strip() == "other"


async def test_texts_that_were_kept_before_a_change_of_memory_md(tmp_path: Path) -> None:
    """The text before, kept for taking a change back, loses it as well; the change can still be taken back."""
    async with remembering(tmp_path) as memory:
        await memory.ask(entry(f"用户在做{SECRET}"))
        await memory.ask(entry("用户喜欢绿茶"))
        state = memory.folder / ".state" / "memory-revisions.json"
        body = f"# 长期记忆\n\n## 项目上下文\n\n- 用户在做{SECRET}\n- 用户喜欢绿茶\n"
        kept = {"path": "workspace/main/MEMORY.md", "by": "promotion", "at": "2026-05-01T00:00:00+00:00"}
        lines = [["项目上下文", f"用户在做{SECRET}"], ["项目上下文", "用户住在杭州"]]
        state.write_text(
            json.dumps({"000001": {**kept, "before": body, "added": [], "removed": lines}}, ensure_ascii=False),
            encoding="utf-8",
        )
        forgotten = await forget(memory, text=SECRET)
        assert forgotten.verified, forgotten.notice
        left = json.loads(state.read_text(encoding="utf-8"))["000001"]
        assert left["before"] == body.replace(f"- 用户在做{SECRET}\n", "")
        assert left["removed"] == lines[1:]


async def test_a_summary_names_messages_that_go_and_loses_those_items(tmp_path: Path) -> None:
    """An item that rests on a message of the session that is forgotten goes, whatever words it uses."""
    async with remembering(tmp_path) as memory:
        key = (await memory.ask(said("秘密会话里说的", session="s9"))).key
        await memory.ask(said("别的", session="s1"))
        day, _, id_ = key.partition("#")
        name = day.rpartition("/")[2].removesuffix(".md")
        summary = memory.folder / "summaries" / "daily" / "2026-05-04.md"
        summary.write_text(
            f"# 每日摘要 - 2026-05-04\n\n## 重要信息\n\n- 换一种说法 <!-- from: {name}#{id_} -->\n- 留着的一条\n",
            encoding="utf-8",
        )
        forgotten = await forget(memory, session_id="s9")
        assert forgotten.verified, forgotten.notice
        left = summary.read_text(encoding="utf-8")
        assert "换一种说法" not in left
        assert "留着的一条" in left


async def test_the_index_of_an_agent_of_another_name_goes(tmp_path: Path) -> None:
    """It is derived, nobody has it open, and nobody could take single texts out of it."""
    async with remembering(tmp_path, agent_id="old") as memory:
        await memory.ask(said(f"{SECRET}开始"))
    assert (tmp_path / "memory" / "old.sqlite").exists()
    async with remembering(tmp_path) as memory:
        forgotten = await forget(memory, text=SECRET)
        assert forgotten.verified, forgotten.notice
        assert holding(tmp_path, SECRET) == []


async def test_what_was_published_before_it_goes_too(tmp_path: Path) -> None:
    """Also where nobody has waited for the replies."""
    async with remembering(tmp_path, **EVERYWHERE) as memory:
        for number in range(50):
            await memory.bus.publish(said(f"{SECRET}{number}", session=f"s{number % 7}"))
        forgotten = await forget(memory, text=SECRET)
        assert counts(forgotten)["conversations/2026-05-04.md"] == 50
        await memory.flushed()
        assert holding(tmp_path, SECRET) == []


async def test_two_wishes_at_once(tmp_path: Path) -> None:
    async with remembering(tmp_path) as memory:
        await filled(memory)
        one, other = await asyncio.gather(forget(memory, text=SECRET), forget(memory, text="李雷"))
        assert one.verified, one.notice
        assert other.verified, other.notice
        assert holding(tmp_path, SECRET) + holding(tmp_path, "李雷") == []


async def test_an_editor_that_saves_an_old_view_brings_nothing_back_unasked(tmp_path: Path) -> None:
    """Who had the day's file open, and saves it, saves it without what was forgotten since."""
    async with remembering(tmp_path) as memory:
        await filled(memory)
        await memory.flushed()
        day = memory.folder / "conversations" / "2026-05-04.md"
        old_view = day.read_bytes()
        await memory.ask(said("后来的话"))
        await forget(memory, text=SECRET)
        day.write_bytes(old_view)
        await memory.ask(said("再后来的话"))
        await memory.flushed()
        text = day.read_text(encoding="utf-8")
        assert SECRET not in text
        assert "后来的话" in text
        assert "午饭吃了面条" in text


async def test_notes_lose_one_item_and_keep_the_rest(tmp_path: Path) -> None:
    async with remembering(tmp_path, now=datetime(2026, 5, 4, 6, 30, tzinfo=UTC)) as memory:
        await memory.ask(note(f"- 一\n- {SECRET}\n- 三"))
        await forget(memory, text=SECRET)
        await memory.flushed()
        text = (tmp_path / "workspace" / "main" / "memory" / "2026-05-04.md").read_text(encoding="utf-8")
        assert "- 一\n- 三\n" in text
