"""Case 34: what is forgotten is gone from everything that is kept, the receipt proves it, and it does not come back."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from contracts import BatchContent, MemoryRead, MemorySearch, MemoryWrite, MessageContent, MessagesContent, UpdateFact
from openclaw_memory.storage.files import LocalFiles, Stamp
from openclaw_memory.storage.store import Store
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
    task,
)
from tests.support import START, FaultyFiles, copied_in_use, remembering


@pytest.mark.parametrize("engine", ["tantivy", "sqlite"])
async def test_case_34_forgotten_text_is_gone_from_every_file(tmp_path: Path, engine: str) -> None:
    """No file, backup, damaged copy, journal, index or reply holds it; everything else is still there."""
    settings: dict[str, Any] = {"index": {"type": engine}, **EVERYWHERE}
    async with remembering(tmp_path, **settings) as memory:
        await filled(memory)
        await memory.flushed()
        await memory.ask(said(f"又说起{SECRET}"))
        await memory.ask(MemorySearch(query="预算"))
        day = memory.folder / "conversations" / "2026-05-04.md"
        (day.parent / f"{day.name}.corrupt-20260504T000000").write_bytes(day.read_bytes()[:-3])
        done = memory.folder / ".inbox" / "done"
        done.mkdir(parents=True, exist_ok=True)
        (done / "01.json").write_text(f'{{"message": "{SECRET}"}}', encoding="utf-8")

        forgotten = await forget(memory, text=SECRET)

        assert holding(tmp_path, SECRET) == []
        assert forgotten.notice is None
        assert forgotten.verified
        found = counts(forgotten)
        assert sum(found.values()) == forgotten.total
        assert found["conversations/2026-05-04.md"] == 3
        assert found["conversations/2026-05-04.md.corrupt-20260504T000000"] > 0
        assert found["workspace/main/memory/HISTORY.md"] == 3
        assert found["agents/main/sessions/s1.jsonl"] == 3
        for path in ("facts/archive/user-profile.md", "tasks/active.md", "summaries/daily/2026-05-03.md"):
            assert found[path] == 1
        results = await memory.ask(MemorySearch(query=SECRET))
        assert not any(SECRET in result.snippet for result in results.results)
        context = await memory.ask(MemoryRead(query="项目", session_id="s1", max_tokens=4000))
        assert SECRET not in context.model_dump_json()
        await memory.flushed()
        for kept in KEPT:
            assert holding(tmp_path, kept), kept
    assert holding(tmp_path, SECRET) == []
    async with remembering(tmp_path, **settings) as memory:
        results = await memory.ask(MemorySearch(query=f"{SECRET} 预算"))
        assert not any(SECRET in result.snippet for result in results.results)
        results = await memory.ask(MemorySearch(query="面条"))
        assert any("面条" in result.snippet for result in results.results)


async def test_case_34_what_somebody_wrote_into_the_list_of_files_goes(tmp_path: Path) -> None:
    """`index.json` takes over what it told of files that did not change; then nothing of that is."""

    class Settled(FaultyFiles):
        def age(self, stamp: Stamp) -> float:
            return 60.0

    async with remembering(tmp_path, files=Settled()) as memory:
        await memory.ask(said("天气很好"))
    path = tmp_path / "memory" / "index.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["files"][0]["checksum"] = SECRET
    path.write_text(json.dumps(manifest, ensure_ascii=False), encoding="utf-8")
    async with remembering(tmp_path, files=Settled()) as memory:
        assert SECRET in path.read_text(encoding="utf-8")
        await memory.ask(UpdateFact(section="S", key="k", value=SECRET))
        await forget(memory, text=SECRET)
        assert holding(tmp_path, SECRET) == []
    assert holding(tmp_path, SECRET) == []


MOST_CRASHES = 12
"""So many of the moments are tried, evenly spread."""


class Snapshots(FaultyFiles):
    """The real disk; before each change a copy of the folder is kept, as a crash right then would leave it."""

    def __init__(self, root: Path, copies: Path) -> None:
        super().__init__()
        self._root, self._copies, self.count, self.recording = root, copies, 0, False
        self._one_at_a_time = threading.Lock()

    def _check(self, operation: str, path: Path) -> None:
        super()._check(operation, path)
        if self.recording and operation in ("create", "append", "rename", "rename_new", "exchange", "remove"):
            with self._one_at_a_time:
                copied_in_use(self._root, self._copies / str(self.count), index=False)
                self.count += 1


async def test_case_34_a_crash_at_any_moment_leaves_it_asked_for_or_finished(tmp_path: Path) -> None:
    """After the next start either everything is as before the request, or all of it is gone; nothing else is lost."""
    root, copies = tmp_path / "root", tmp_path / "copies"
    copies.mkdir()
    files = Snapshots(root, copies)
    settings: dict[str, Any] = {"index": {"type": "memory"}, **EVERYWHERE}
    async with remembering(root, files=files, **settings) as memory:
        await filled(memory)
        await memory.flushed()
        await memory.ask(said(f"又说起{SECRET}"))
        files.recording = True
        await forget(memory, text=SECRET)
        files.recording = False
    assert files.count > 20
    before = after = 0
    for number in range(0, files.count, max(1, files.count // MOST_CRASHES)):
        crashed = copies / str(number)
        async with remembering(crashed, **settings):
            pass
        left = holding(crashed, SECRET)
        documents = [path for path in left if path.endswith((".md", ".jsonl"))]
        before, after = before + bool(documents), after + (not left)
        assert not left or documents, (number, left)
        for kept in KEPT:
            assert holding(crashed, kept), (number, kept)
    assert before > 0
    assert after > 0


async def test_case_34_it_does_not_come_back_by_itself(tmp_path: Path) -> None:
    """What a program hands in again is refused by name, also within a batch, also after a restart."""
    async with remembering(tmp_path) as memory:
        await filled(memory)
        await forget(memory, text=SECRET)
    async with remembering(tmp_path) as memory:
        for way in (
            said(f"我们下周讨论{SECRET}的预算", origin="system"),
            said(f"想起{SECRET}了", timestamp=START - timedelta(days=3)),
            note(f"- 别的\n- {SECRET}启动", origin="untrusted"),
            entry(f"用户在做{SECRET}", origin="agent"),
            task(f"准备{SECRET}的材料", origin="system"),
            UpdateFact(section="项目", key="代号", value=SECRET, origin="agent"),
        ):
            written = await memory.ask(way)
            assert not written.success
            assert "forgotten on 2026-05-04" in written.message, written.message
        many = MessagesContent(
            messages=(
                MessageContent(role="user", content="别的", timestamp=START - timedelta(days=9)),
                MessageContent(role="user", content=SECRET, timestamp=START - timedelta(days=9)),
            )
        )
        written = await memory.ask(MemoryWrite(type="conversation", content=many, session_id="s1"))
        assert written.message.startswith("content.messages[1].content: it was forgotten")
        items = [{"event": "memory:write", "data": said(SECRET, origin="system").model_dump(by_alias=True)}]
        batch = BatchContent.model_validate({"items": items})
        written = await memory.ask(MemoryWrite(type="batch", content=batch, session_id="s1"))
        assert written.message.startswith("content.items[0].content.content: it was forgotten")
        assert holding(tmp_path, SECRET) == []


async def test_case_34_the_owner_may_say_it_again(tmp_path: Path) -> None:
    """What the owner says anew is a wish to have it again; other imports are taken as ever."""
    async with remembering(tmp_path) as memory:
        await filled(memory)
        await forget(memory, text=SECRET)
        assert (await memory.ask(said("别的事情", origin="system"))).success
        assert (await memory.ask(said(f"{SECRET}又开始了", timestamp=START + timedelta(seconds=5)))).success
        assert (await memory.ask(said(f"{SECRET}恢复了"))).success
        await memory.flushed()
        assert holding(tmp_path, SECRET)
        # And it can be forgotten again.
        assert (await forget(memory, text=SECRET)).verified
        assert holding(tmp_path, SECRET) == []


async def test_what_was_said_again_survives_the_end_of_another_forgetting(tmp_path: Path) -> None:
    """A crash in the middle of one forgetting brings no older one back over what the owner has said since."""
    root, crashed = tmp_path / "root", tmp_path / "crashed"
    async with remembering(root) as memory:
        await filled(memory)
        await forget(memory, text=SECRET)
        memory.clock.advance(60)
        await memory.ask(said(f"{SECRET}恢复了"))
        memory.clock.advance(60)
        purge = Store.purge

        async def crash(self: Store, *arguments: Any) -> None:
            await self.flush()
            copied_in_use(root, crashed)
            await purge(self, *arguments)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Store, "purge", crash)
            await forget(memory, text="面条")
    assert '"open"' in (crashed / "memory" / ".state" / "forgotten.json").read_text(encoding="utf-8")
    async with remembering(crashed) as memory:
        assert holding(crashed, "面条") == []
        assert holding(crashed, f"{SECRET}恢复了")
        assert '"open"' not in (crashed / "memory" / ".state" / "forgotten.json").read_text(encoding="utf-8")


async def test_case_34_nothing_found_is_no_success(tmp_path: Path) -> None:
    async with remembering(tmp_path) as memory:
        await filled(memory)
        forgotten = await forget(memory, text="从未说过的话")
        assert (forgotten.total, forgotten.places) == (0, ())
        assert forgotten.notice == "nothing was found, and nothing was forgotten"
        # What was never there leaves no tombstone: it is not known to be wanted gone.
        assert (await memory.ask(said("从未说过的话", origin="system"))).success


async def test_the_state_of_what_was_forgotten_holds_none_of_it(tmp_path: Path) -> None:
    """Tombstones are keyed hashes; with another key the same text has another name."""
    states = []
    for name in ("one", "other"):
        async with remembering(tmp_path / name, files=LocalFiles()) as memory:
            await memory.ask(said(f"我们下周讨论{SECRET}的预算"))
            await forget(memory, text=SECRET)
        states.append((tmp_path / name / "memory" / ".state" / "forgotten.json").read_text(encoding="utf-8"))
    assert SECRET not in "".join(states)
    assert '"open"' not in "".join(states)
    marks = [{line.strip() for line in state.splitlines() if ":" in line} for state in states]
    assert marks[0].isdisjoint(marks[1])
