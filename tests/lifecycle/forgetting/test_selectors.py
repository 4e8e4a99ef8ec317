"""Each way to name what is to be forgotten, and what stays."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from contracts import MemorySearch, UpdateFact
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
from tests.memory_folder import states
from tests.support import START, remembering

ROOM = "workspace/main"


async def test_topic_takes_the_file_with_its_archive(tmp_path: Path) -> None:
    async with remembering(tmp_path) as memory:
        for value in ("甲", "乙"):
            await memory.ask(UpdateFact(section="S", key="k", value=f"值{value}", topic="project-x"))
        await memory.ask(UpdateFact(section="S", key="k", value="别的", topic="other"))
        await memory.flushed()
        forgotten = await forget(memory, topic="project-x")
        assert forgotten.verified, forgotten.notice
        assert set(counts(forgotten)) == {"facts/project-x.md", "facts/archive/project-x.md"}
        assert not list((memory.folder / "facts").rglob("project-x*"))
        assert holding(tmp_path, "值甲") + holding(tmp_path, "值乙") + holding(tmp_path, "project-x") == []
        assert holding(tmp_path, "别的")
        written = await memory.ask(UpdateFact(section="S", key="k", value="值丙", topic="project-x"))
        assert written.success
        await memory.flushed()
        assert (memory.folder / "facts" / "project-x.md").is_file()


async def test_section_and_key_take_the_fact_with_its_earlier_values(tmp_path: Path) -> None:
    async with remembering(tmp_path) as memory:
        for value in ("甲值", "乙值"):
            await memory.ask(UpdateFact(section="项目", key="代号", value=value))
            await memory.ask(UpdateFact(section="人", key="代号", value=f"他的{value}"))
        await memory.flushed()
        forgotten = await forget(memory, section="项目", key="代号")
        assert forgotten.verified, forgotten.notice
        assert counts(forgotten) == {"facts/user-profile.md": 1, "facts/archive/user-profile.md": 1}
        facts = (memory.folder / "facts" / "user-profile.md").read_text(encoding="utf-8")
        assert "他的乙值" in facts
        assert "- 代号: 乙值" not in facts
        assert "项目/代号" not in (memory.folder / ".state" / "fact-times.json").read_text(encoding="utf-8")


async def test_a_task_by_its_id(tmp_path: Path) -> None:
    async with remembering(tmp_path) as memory:
        await memory.ask(task("要忘的事"))
        await memory.ask(task("要做的事"))
        forgotten = await forget(memory, task_id="OPEN-001")
        assert forgotten.verified, forgotten.notice
        assert counts(forgotten) == {"tasks/active.md": 1}
        assert holding(tmp_path, "要忘的事") == []
        # Its number is not given again.
        assert (await memory.ask(task("新的事"))).key == "tasks/active.md#OPEN-003"


async def test_a_session_in_all_places_that_it_is_kept_in(tmp_path: Path) -> None:
    async with remembering(tmp_path, **EVERYWHERE) as memory:
        await memory.ask(said("第一个会话的话", session="s1"))
        await memory.ask(said("第二个会话的话", session="s2", idempotency_key="k"))
        await memory.flushed()
        forgotten = await forget(memory, session_id="s2")
        assert forgotten.verified, forgotten.notice
        assert counts(forgotten) == {
            "conversations/2026-05-04.md": 1,
            f"{ROOM}/memory/HISTORY.md": 1,
            f"{ROOM}/memory/2026-05-04.md": 1,
            "agents/main/sessions/s2.jsonl": 1,
        }
        assert not (tmp_path / "agents/main/sessions/s2.jsonl").exists()
        assert holding(tmp_path, "第二个会话的话") + holding(tmp_path, "s2 k") == []
        assert holding(tmp_path, "第一个会话的话")


async def test_a_time_span_takes_what_lies_wholly_within_it(tmp_path: Path) -> None:
    async with remembering(tmp_path, **EVERYWHERE) as memory:
        for days in (3, 1):
            at = START - timedelta(days=days)
            await memory.ask(said(f"{days}天前说的", timestamp=at))
        await memory.ask(UpdateFact(section="S", key="k", value="今天学的"))
        await memory.ask(note("今天记的"))
        await memory.ask(entry("今天写的"))
        memory.clock.advance(3600)
        await memory.ask(UpdateFact(section="S", key="后来", value="后来学的"))
        await memory.ask(note("后来记的"))
        forgotten = await forget(memory, before=START - timedelta(days=2))
        assert forgotten.verified, forgotten.notice
        assert holding(tmp_path, "3天前说的") == []
        await memory.flushed()
        assert holding(tmp_path, "1天前说的")
        forgotten = await forget(memory, after=START - timedelta(minutes=1), before=START + timedelta(minutes=30))
        assert forgotten.verified, forgotten.notice
        assert holding(tmp_path, "今天学的") + holding(tmp_path, "今天记的") == []
        for kept in ("1天前说的", "后来学的", "后来记的"):
            assert holding(tmp_path, kept), kept


async def test_a_path_takes_the_file_and_the_copies_of_its_messages(tmp_path: Path) -> None:
    async with remembering(tmp_path, **EVERYWHERE) as memory:
        await memory.ask(said("今天说的"))
        await memory.ask(said("昨天说的", timestamp=START - timedelta(days=1)))
        await memory.flushed()
        forgotten = await forget(memory, path="conversations/2026-05-03.md")
        assert forgotten.verified, forgotten.notice
        assert holding(tmp_path, "昨天说的") == []
        assert not (memory.folder / "conversations" / "2026-05-03.md").exists()
        assert holding(tmp_path, "今天说的")
        assert (await forget(memory, path="memory/conversations/2026-05-04.md")).total == 4


@pytest.mark.parametrize(
    ("selector", "reason"),
    [
        ({"text": "我"}, "selector.text: '我' has 1 letters or digits, at least 2 are needed"),
        ({"text": "——。"}, "selector.text: '——。' has 0 letters or digits"),
        ({"path": "index.json"}, "selector.path: index.json is no document of memory"),
        ({"path": "config.yaml"}, "is no document of memory"),
    ],
)
async def test_what_is_refused_and_why(tmp_path: Path, selector: dict[str, Any], reason: str) -> None:
    async with remembering(tmp_path) as memory:
        await filled(memory)
        forgotten = await forget(memory, **selector)
        assert (forgotten.total, forgotten.verified) == (0, False)
        assert reason in (forgotten.notice or "")


async def test_a_dry_run_tells_what_would_go_and_changes_nothing(tmp_path: Path) -> None:
    async with remembering(tmp_path, **EVERYWHERE) as memory:
        await filled(memory)
        await memory.flushed()
        await memory.ask(MemorySearch(query="x"))
        before = {
            path: state for path, state in states(memory.folder).items() if path.endswith((".md", ".json", ".log"))
        }
        told = await forget(memory, text=SECRET, dry_run=True)
        after = {
            path: state for path, state in states(memory.folder).items() if path.endswith((".md", ".json", ".log"))
        }
        assert before == after
        assert told.dry_run
        done = await forget(memory, text=SECRET)
        assert counts(done) == counts(told)


async def test_a_text_that_is_most_of_memory_is_told_as_that(tmp_path: Path) -> None:
    async with remembering(tmp_path) as memory:
        for number in range(4):
            await memory.ask(said(f"今天第{number}句"))
        told = await forget(memory, text="今天", dry_run=True)
        assert told.notice == "this is 100% of all that is remembered"


async def test_matching_is_folded_and_goes_over_lines(tmp_path: Path) -> None:
    async with remembering(tmp_path) as memory:
        await memory.ask(said("ＰＲＯＪＥＣＴ   Ｘ is on"))
        await memory.ask(said("the project\nx again, and\n### 2026-05-04T10:00 <!-- x -->\nproject x"))
        await memory.ask(UpdateFact(section="S", key="k", value="first line\nabout Project\nX and more"))
        await memory.ask(said("projects of others"))
        forgotten = await forget(memory, text="Project X")
        assert forgotten.verified, forgotten.notice
        assert counts(forgotten) == {"conversations/2026-05-04.md": 2, "facts/user-profile.md": 1}
        assert holding(tmp_path, "projects of others")


async def test_what_a_person_wrote_by_hand_goes_too(tmp_path: Path) -> None:
    """Paragraphs, a section by its heading, front matter, text before the first message; and nothing around them."""
    async with remembering(tmp_path) as memory:
        await filled(memory)
        await memory.flushed()
        facts = memory.folder / "facts" / "notes.md"
        facts.write_text(
            f"---\ntype: fact\nowner: {SECRET}\ncolour: red\n---\n# 笔记\n\n一段话\n\n## 关于{SECRET}\n\n"
            f"- 谁: 韩梅梅\n\n一段关于{SECRET}的话\n换行\n\n## 别的\n\n- 什么: 留着\n",
            encoding="utf-8",
        )
        own = tmp_path / "workspace" / "main" / "MEMORY.md"
        own.write_bytes(own.read_bytes() + f"\r\n随手写的{SECRET}\r\n\r\n随手写的别的\r\n".encode())
        forgotten = await forget(memory, text=SECRET)
        assert forgotten.verified, forgotten.notice
        left = facts.read_text(encoding="utf-8")
        assert "colour: red" in left
        assert "韩梅梅" not in left
        for kept in ("一段话", "## 别的", "- 什么: 留着"):
            assert kept in left
        assert "随手写的别的" in own.read_text(encoding="utf-8")
        for kept in KEPT:
            assert holding(tmp_path, kept), kept


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "America/New_York"])
@pytest.mark.parametrize(
    "path",
    [
        f"{ROOM}/memory/0001-01-01.md",
        f"{ROOM}/memory/9999-12-31.md",
        "memory/summaries/daily/0001-01-01.md",
        "memory/summaries/monthly/9999-12.md",
    ],
)
async def test_a_file_of_the_first_day_or_the_last_stops_nothing(tmp_path: Path, zone: str, path: str) -> None:
    """Such a day has no time in UTC; what is to be forgotten goes from there and from everywhere else."""
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(f"{SECRET}\n\n天气很好\n\n### 23:59\n{SECRET}\n", encoding="utf-8")
    async with remembering(tmp_path, timezone=zone) as memory:
        await memory.ask(said(SECRET))
        forgotten = await forget(memory, text=SECRET)
        assert forgotten.verified, forgotten.notice
        assert counts(forgotten)[path.removeprefix("memory/")] == 2
        assert holding(tmp_path, SECRET) == []
        assert "天气很好" in (tmp_path / path).read_text(encoding="utf-8")


async def test_a_line_of_dashes_is_read_at_once(tmp_path: Path) -> None:
    """Below a line with a bar it could be the rule of a table; trying every way to read it as one took years."""
    path = tmp_path / ROOM / "memory/2026-05-03.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"a | b\n{'-' * 200}x|\n\n{SECRET}\n", encoding="utf-8")
    async with remembering(tmp_path) as memory:
        forgotten = await forget(memory, text=SECRET)
        assert forgotten.verified, forgotten.notice
        assert path.read_text(encoding="utf-8").startswith(f"a | b\n{'-' * 200}x|\n")


async def test_a_file_in_another_encoding_stays_in_it(tmp_path: Path) -> None:
    async with remembering(tmp_path) as memory:
        notes = tmp_path / "workspace" / "main" / "memory"
        notes.mkdir(parents=True, exist_ok=True)
        (notes / "2026-05-01.md").write_bytes(f"- {SECRET}\n- 别的\n".encode("utf-16"))
        forgotten = await forget(memory, text=SECRET)
        assert forgotten.verified, forgotten.notice
        assert "别的" in (notes / "2026-05-01.md").read_bytes().decode("utf-16")
        assert SECRET.encode("utf-16-le") not in (notes / "2026-05-01.md").read_bytes()


@pytest.mark.parametrize("field", ["topic", "session_id", "path", "task_id"])
@pytest.mark.parametrize(
    "name", ["../x", "/etc/passwd", "a/../../x", "..", "a\\\\..\\\\b", "x\\0y", "~/x", ".hidden/x"]
)
async def test_case_33_no_selector_leads_out_of_the_root(tmp_path: Path, field: str, name: str) -> None:
    """Refused where it is made, or it finds nothing; nothing outside is read or changed."""
    outside = tmp_path / "x.md"
    outside.write_text("- outside\n", encoding="utf-8")
    async with remembering(tmp_path / "root") as memory:
        await memory.ask(said("inside"))
        try:
            forgotten = await forget(memory, **{field: name})
        except ValidationError:
            pass
        else:
            assert forgotten.total == 0
    assert outside.read_text(encoding="utf-8") == "- outside\n"


async def test_case_33_a_link_that_leads_out_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(f"- {SECRET}\n", encoding="utf-8")
    async with remembering(tmp_path / "root") as memory:
        await filled(memory)
        await memory.flushed()
        notes = tmp_path / "root" / "workspace" / "main" / "memory"
        (notes / "2026-05-02.md").symlink_to(outside)
        forgotten = await forget(memory, text=SECRET)
        assert not forgotten.verified
        assert "2026-05-02.md" in (forgotten.notice or "")
    assert outside.read_text(encoding="utf-8") == f"- {SECRET}\n"
