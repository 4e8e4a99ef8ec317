"""Summaries of days, weeks and months, as the heartbeat makes them (seed 000 section 2.4)."""

from __future__ import annotations

import errno
import json
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from contracts import HeartbeatTick, JobReport, MemoryRead, MemorySearch, MemoryWrite, MemoryWritten, TaskStateChange
from openclaw_memory.completion import Completion
from openclaw_memory.context.tokens import make_counter
from openclaw_memory.layers.summaries import text_of
from openclaw_memory.lifecycle.summaries.periods import days_ended, months_ended, weeks_ended
from openclaw_memory.markdown.summaries import parse_summary
from openclaw_memory.markdown.summary_items import read_items
from tests.lifecycle.hostile import hostile_answers
from tests.lifecycle.models import said, settings
from tests.support import START, FaultyFiles, Remembering, remembering

DAY = timedelta(days=1)
QUICK = {"index": {"type": "memory"}}
"""Where nothing is searched for."""
DAILY = "summaries/daily/2026-05-04.md"
TALK = (
    ("user", "我们把项目的页面状态由 Redux 换成 Zustand，先迁移用户模块。"),
    ("assistant", "好的，迁移步骤清单已经确定：先安装依赖，再替换组件。"),
    ("user", "我的 Node.js 版本是 v22.11.0，编号 DEC-0054。"),
    ("user", "还要创建 Zustand store 定义模板。"),
)


async def say(it: Remembering, *turns: tuple[str, str], session: str = "s1", **more: Any) -> list[str]:
    keys = []
    for role, text in turns:
        content = {"role": role, "content": text, **more.get("content", {})}
        written = await it.ask(
            MemoryWrite(
                type="conversation",
                content=content,
                session_id=session,
                **{name: value for name, value in more.items() if name != "content"},
            )
        )
        assert written.success, written.message
        keys.append(written.key)
    return keys


async def tick(it: Remembering, name: str = "summaries") -> JobReport | None:
    done = await it.ask(HeartbeatTick(now=it.clock.now()))
    return next((job for job in done.jobs if job.name == name), None)


async def body(it: Remembering, path: str = DAILY) -> str:
    await it.flushed()
    text = (it.folder / path).read_text(encoding="utf-8")
    return text.split("---\n", 2)[2]


def edit(it: Remembering, path: str, before: str, after: str) -> None:
    file = it.folder / path
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8")


def made(it: Remembering) -> list[str]:
    return sorted(str(path.relative_to(it.folder)) for path in (it.folder / "summaries").rglob("*.md"))


# -- what is made ----------------------------------------------------------------------------------------------------


async def test_a_day_in_the_form_of_the_seed(tmp_path: Path) -> None:
    """Title, time, source with its messages, the three sections; each item names the messages that it rests on."""
    async with remembering(tmp_path, ids=True) as it:
        await say(it, *TALK)
        assert await tick(it) == JobReport(name="summaries", outcome="nothing")
        it.clock.move_to(datetime.fromisoformat("2026-05-05T00:05:00+08:00"))
        assert await tick(it) == JobReport(name="summaries", outcome="done", keys=(DAILY,))
        text = await body(it)
    assert text == (
        "# 每日摘要 - 2026-05-04\n\n"
        "> 生成时间: 2026-05-05T00:05:00+08:00\n"
        "> 源文件: conversations/2026-05-04.md (共 4 条消息)\n\n"
        "## 关键对话\n\n"
        "1. 我们把项目的页面状态由 Redux 换成 Zustand，先迁移用户模块。 <!-- from: 2026-05-04#m1 -->\n"
        "   - 助手：迁移步骤清单已经确定：先安装依赖，再替换组件。 <!-- from: 2026-05-04#m2 -->\n\n"
        "## 重要信息\n\n"
        "- 我的 Node.js 版本是 v22.11.0，编号 DEC-0054。 <!-- from: 2026-05-04#m3 -->\n\n"
        "## 待办事项\n\n"
        "- [ ] 还要创建 Zustand store 定义模板。 <!-- from: 2026-05-04#m4 -->\n"
    )


async def test_prompts_and_searches_get_no_addresses(tmp_path: Path) -> None:
    """What an item rests on is for people and for forgetting."""
    async with remembering(tmp_path, ids=True) as it:
        await say(it, *TALK)
        it.clock.advance(86_400)
        await tick(it)
        context = await it.ask(MemoryRead(query="", session_id="s2", max_tokens=2_000))
        found = await it.ask(MemorySearch(query="Zustand 模板", layers=("summary",)))
    assert len(context.summaries) == 1
    assert "- [ ] 还要创建 Zustand store 定义模板。" in context.summaries[0]
    assert "<!--" not in context.summaries[0]
    assert found.results
    assert not any("<!--" in result.snippet for result in found.results)


async def test_days_become_weeks_and_weeks_months(tmp_path: Path) -> None:
    """After the ISO week has ended, after the month's last week has: a week belongs to the month of its Thursday."""
    async with remembering(tmp_path) as it:
        it.clock.move_to(datetime.fromisoformat("2026-04-27T12:00:00+08:00"))
        seen: dict[str, str] = {}
        for number in range(43):
            await say(it, ("user", f"第 {number} 天，我买了 {number} 号的书，编号 BOOK-{number:03}。"))
            report = await tick(it)
            day = it.clock.now().date().isoformat()
            seen |= dict.fromkeys(report.keys if report else (), day)
            it.clock.advance(86_400)
        assert seen["summaries/daily/2026-04-27.md"] == "2026-04-28"
        assert seen["summaries/weekly/2026-w18.md"] == "2026-05-04"
        # Thursday is 30 April: the week that reaches into May is April's.
        assert seen["summaries/monthly/2026-04.md"] == "2026-05-04"
        assert seen["summaries/weekly/2026-w22.md"] == "2026-06-01"
        assert seen["summaries/monthly/2026-05.md"] == "2026-06-01"
        week, month = await body(it, "summaries/weekly/2026-w19.md"), await body(it, "summaries/monthly/2026-05.md")
    assert parse_summary(week).sources[0] == "summaries/daily/2026-05-04.md (共 1 条消息)"
    assert len(parse_summary(week).sources) == 7
    assert "BOOK-007" in week
    assert parse_summary(month).sources == tuple(
        f"summaries/weekly/2026-w{number}.md (共 7 条消息)" for number in (19, 20, 21, 22)
    )
    assert any("BOOK-0" in item.text for item in read_items(month).facts + read_items(month).talks)


async def test_each_summary_exists_once_case_28(tmp_path: Path) -> None:
    """Sixty heartbeats in a minute, none for three days, a restart: each summary is made once."""
    keys: list[str] = []
    async with remembering(tmp_path) as it:
        for _ in range(3):
            await say(it, *TALK)
            it.clock.advance(86_400)
        it.clock.advance(2 * 86_400)
        for _ in range(60):
            report = await tick(it)
            keys += report.keys if report else ()
            it.clock.advance(1)
    async with remembering(tmp_path, now=START + 6 * DAY) as it:
        report = await tick(it)
        keys += report.keys if report else ()
    assert keys == [f"summaries/daily/2026-05-0{day}.md" for day in (4, 5, 6)]


async def test_old_days_are_not_read_again(tmp_path: Path) -> None:
    """A start reads only what changed; so does the job, which compares the states of the files."""
    async with remembering(tmp_path) as it:
        for _ in range(5):
            await say(it, *TALK)
            it.clock.advance(86_400)
            await tick(it)
    for _ in range(2):
        async with remembering(tmp_path, now=START + 10 * DAY) as it:
            report = await tick(it)
            if report is not None:
                assert report.outcome in ("nothing", "done")
            catalog = it.memory._owner._catalog  # type: ignore[union-attr]
            paths = catalog.paths("conversations")
            read = [path for path in paths if catalog.document(path) is not None]
        assert len(paths) == 5
    assert read == []


async def test_tokens_are_kept(tmp_path: Path) -> None:
    """500, 800 and 1,000 tokens, however much was said (seed 000 section 2.4)."""
    count = make_counter().count
    async with remembering(tmp_path, conversations={"max_messages_per_file": 40}, **QUICK) as it:
        for day in range(35):
            messages = [
                {
                    "role": "user" if n % 2 else "assistant",
                    "content": f"我们决定了第 {day}-{n} 件事，用 PART-{day}{n} 来做，版本 v{day}.{n}。" * 2,
                }
                for n in range(60)
            ]
            await it.ask(MemoryWrite(type="conversation", content={"messages": messages}, session_id="s"))
            it.clock.advance(86_400)
        await tick(it)
        catalog = it.memory._owner._catalog  # type: ignore[union-attr]
        sizes = {
            kind: [count(text_of(document)) for document in catalog.documents(f"summaries/{kind}")]
            for kind in ("daily", "weekly", "monthly")
        }
        daily = await body(it)
    assert [len(sizes[kind]) for kind in ("daily", "weekly", "monthly")] == [35, 5, 1]
    assert 400 < min(sizes["daily"]) <= max(sizes["daily"]) <= 500
    assert 600 < max(sizes["weekly"]) <= 800
    # Three tenths are kept free for tasks that were completed in it, which come a month later.
    assert 500 < max(sizes["monthly"]) <= 700
    # The parts of a day are named one by one, with what each gave.
    assert parse_summary(daily).sources == (
        "conversations/2026-05-04-001.md (共 40 条消息)",
        "conversations/2026-05-04.md (共 20 条消息)",
    )


# -- whose it is -----------------------------------------------------------------------------------------------------


async def test_a_summary_is_made_for_one_audience_case_30(tmp_path: Path) -> None:
    """What was said to a group, or to a sub-agent, is in no summary of the owner's; and groups get none."""
    async with remembering(tmp_path) as it:
        await say(it, ("user", "私下说：密钥在蓝色盒子里。"))
        await say(it, ("user", "群里说：周五团建去爬山。"), session="agent:main:group:g1")
        await say(it, ("user", "子任务：把日志解析成表格。"), session="agent:main:subagent:x")
        await say(it, ("user", "另一个群：午饭吃火锅。"), session="g2", session_kind="group")
        it.clock.advance(86_400)
        await tick(it)
        text = await body(it)
        seen = await it.ask(MemoryRead(query="盒子 爬山", session_id="agent:main:group:g1", max_tokens=2_000))
    assert "蓝色盒子" in text
    assert not any(words in text for words in ("爬山", "表格", "火锅"))
    assert "(共 1 条消息)" in text
    assert seen.summaries == ()
    assert not any("盒子" in piece for piece in seen.recalled)


async def test_a_day_of_groups_has_no_summary(tmp_path: Path) -> None:
    """There is nothing to tell the owner of."""
    async with remembering(tmp_path) as it:
        await say(it, ("user", "群里说：周五团建。"), session="agent:main:group:g1")
        it.clock.advance(86_400)
        report = await tick(it)
        assert report is not None
        assert report.outcome == "nothing"
        assert made(it) == []


async def test_own_output_is_not_summarised_again_case_29(tmp_path: Path) -> None:
    """Recalled snippets in fences, quotations, summaries in a conversation, other people's texts, tool results."""
    async with remembering(tmp_path) as it:
        await say(it, ("user", "我养了一只叫毛毛的猫。"))
        await say(it, ("assistant", "根据记忆：\n```\n- 2026-01-01 用户住在青岛\n```\n> 用户喜欢海鲜\n毛毛很可爱。"))
        await say(it, ("assistant", "[历史摘要] 用户去过大理。"))
        await say(it, ("user", "网页说这里的房价是三万。"), origin="untrusted")
        await say(it, ("user", "系统提示用户喜欢蓝色。"), origin="system")
        await say(it, ("tool", "查询结果：气温 31 度。"))
        it.clock.advance(86_400)
        await tick(it)
        text = await body(it)
    assert "毛毛的猫" in text
    assert not any(words in text for words in ("青岛", "海鲜", "大理", "三万", "蓝色", "气温"))


async def test_a_summary_of_a_summary_rests_on_messages(tmp_path: Path) -> None:
    """Week and month name the messages themselves."""
    async with remembering(tmp_path, ids=True) as it:
        await say(it, *TALK)
        it.clock.advance(40 * 86_400)
        await tick(it)
        month = read_items(await body(it, "summaries/monthly/2026-05.md"))
    sources = {source for part in (month.talks, month.facts, month.todos) for item in part for source in item.sources}
    assert sources >= {"2026-05-04#m1", "2026-05-04#m3", "2026-05-04#m4"}


# -- what a person does ----------------------------------------------------------------------------------------------


async def test_late_messages_are_taken_up(tmp_path: Path) -> None:
    """A message that is dated in a day already summarised: the day, and its week, are done again, once."""
    async with remembering(tmp_path) as it:
        await say(it, *TALK)
        it.clock.advance(8 * 86_400)
        await tick(it)
        await say(it, ("user", "我的新电话是 13800138000。"), content={"timestamp": START.isoformat()})
        report = await tick(it)
        assert report is not None
        assert report.keys == (DAILY, "summaries/weekly/2026-w19.md")
        text = await body(it)
        assert "13800138000" in text
        assert "(共 5 条消息)" in text
        assert "13800138000" in await body(it, "summaries/weekly/2026-w19.md")
        assert await tick(it) is None


@pytest.mark.parametrize("flushed", [True, False])
async def test_what_a_person_wrote_stays(tmp_path: Path, flushed: bool) -> None:
    """An edited summary is not done again, whatever comes late; the next longer one is made of it."""
    async with remembering(tmp_path) as it:
        await say(it, *TALK)
        it.clock.advance(86_400)
        await tick(it)
        await it.flushed()
        edit(it, DAILY, "先迁移用户模块", "先迁移支付模块")
        await say(it, ("user", "补充：订单号 A-77。"), content={"timestamp": START.isoformat()})
        if flushed:
            await it.flushed()
        for _ in range(2):
            report = await tick(it)
            assert report is None or DAILY not in report.keys
            it.clock.advance(7 * 86_400)
        assert "先迁移支付模块" in await body(it)
        assert "A-77" not in await body(it)
        assert "支付模块" in await body(it, "summaries/weekly/2026-w19.md")


async def test_a_removed_summary_does_not_come_back(tmp_path: Path) -> None:
    """A person took it away."""
    async with remembering(tmp_path) as it:
        await say(it, *TALK)
        it.clock.advance(86_400)
        await tick(it)
        await it.flushed()
        (it.folder / DAILY).unlink()
        it.clock.advance(86_400)
        await tick(it)
        await it.flushed()
        assert made(it) == []


async def test_a_summary_that_a_person_wrote_first_stays(tmp_path: Path) -> None:
    """Also one in a form of their own; the week is made of it."""
    async with remembering(tmp_path) as it:
        await say(it, *TALK)
        file = it.folder / DAILY
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("今天和王芳谈妥了合同，编号 HT-2026-9。\n", encoding="utf-8")
        it.clock.advance(8 * 86_400)
        report = await tick(it)
        assert report is not None
        assert report.keys == ("summaries/weekly/2026-w19.md",)
        assert file.read_text(encoding="utf-8") == "今天和王芳谈妥了合同，编号 HT-2026-9。\n"
        assert "HT-2026-9" in await body(it, "summaries/weekly/2026-w19.md")


class EditsMeanwhile:
    """A model that is slow: a person edits the file while it thinks."""

    def __init__(self, do: Any, answer: str) -> None:
        self._do, self._answer = do, answer

    def __call__(self, messages: Any) -> Completion:
        self._do()
        return said(self._answer)


ANSWER = json.dumps(
    {
        "talks": [
            {
                "text": "商量页面状态由 Redux 换成 Zustand",
                "from": [1, 2],
                "points": [{"text": "先迁移用户模块", "from": [1]}],
            }
        ],
        "facts": [{"text": "Node.js 版本是 v22.11.0", "from": [3]}],
        "todos": [{"text": "创建 Zustand store 定义模板", "from": [4], "done": False}],
    },
    ensure_ascii=False,
)


async def test_a_file_that_is_written_while_it_is_summarised(tmp_path: Path) -> None:
    """What the person wrote meanwhile stays."""
    file = tmp_path / "memory" / DAILY

    def write() -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("我自己写的。\n", encoding="utf-8")

    async with remembering(tmp_path, **settings([EditsMeanwhile(write, ANSWER)])) as it:
        await say(it, *TALK)
        it.clock.advance(86_400)
        report = await tick(it)
        assert report is not None
        assert report.keys == ()
        await it.flushed()
        assert file.read_text(encoding="utf-8") == "我自己写的。\n"


# -- by a model ------------------------------------------------------------------------------------------------------


async def test_a_model_makes_it(tmp_path: Path) -> None:
    """What it says is checked, numbered messages become addresses, and the cost is told."""
    asked: list[Any] = []
    config = settings([said(f"```json\n{ANSWER}\n```")], asked)
    config["completion"] |= {"price_per_million_in": 1.0, "price_per_million_out": 2.0}
    async with remembering(tmp_path, ids=True, **config) as it:
        await say(it, *TALK)
        it.clock.advance(86_400)
        report = await tick(it)
        assert report is not None
        assert report.outcome == "done"
        assert report.message == "1 request to the model, 100 tokens in and 20 out, cost 0.0001"
        text = await body(it)
    assert (
        "1. 商量页面状态由 Redux 换成 Zustand <!-- from: 2026-05-04#m1 2026-05-04#m2 -->\n   - 先迁移用户模块" in text
    )
    assert "- Node.js 版本是 v22.11.0 <!-- from: 2026-05-04#m3 -->" in text
    records = json.loads(asked[0][1]["content"])["records"]
    assert [record["n"] for record in records] == [1, 2, 3, 4]


async def test_old_periods_cost_nothing(tmp_path: Path) -> None:
    """A first start over years of files asks the model about the last month only."""
    asked: list[Any] = []
    async with remembering(tmp_path, **settings([said(ANSWER)], asked)) as it:
        await say(it, *TALK)
        it.clock.advance(200 * 86_400)
        report = await tick(it)
        assert report is not None
        assert len(report.keys) == 3
    assert asked == []


async def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    """Rules make the summary, and the report says what to mend."""
    async with remembering(tmp_path, completion={"provider": "no.such.module:Model"}, **QUICK) as it:
        await say(it, *TALK)
        it.clock.advance(86_400)
        report = await tick(it)
        assert report is not None
        assert report.keys == (DAILY,)
        assert "completion.provider" in (report.message or "")


HOSTILE = hostile_answers()


def test_there_are_enough_hostile_answers() -> None:
    """At least forty kinds, each told apart by name."""
    assert len({one.name for one in HOSTILE}) == len(HOSTILE) >= 40


async def test_rules_take_the_place_of_hostile_answers_case_26(tmp_path: Path) -> None:
    """Whatever a model answers, the day has a whole summary, made once, of what was said and nothing else."""
    answers = [one.value for one in HOSTILE]
    async with remembering(tmp_path, summaries={"model_days": 1}, **settings(answers), **QUICK) as it:
        for hostile in HOSTILE:
            day = it.clock.now().date().isoformat()
            await say(it, *TALK)
            it.clock.advance(86_400)
            report = await tick(it)
            path = f"summaries/daily/{day}.md"
            assert report is not None
            assert (hostile.name, report.keys[:1]) == (hostile.name, (path,))
            assert "made by rules" in (report.message or ""), hostile.name
            items = read_items(it.memory._owner._catalog.document(path).body)  # type: ignore[union-attr]
            assert [item.text for item in items.facts] == ["我的 Node.js 版本是 v22.11.0，编号 DEC-0054。"]
        await it.flushed()
        state = json.loads((it.folder / ".state/summaries.json").read_text())
    assert {record["by"] for record in state.values()} == {"rules"}


# -- trouble ---------------------------------------------------------------------------------------------------------


async def test_a_disk_that_is_full_in_the_middle(tmp_path: Path) -> None:
    """Nothing is half done: what failed is done by the next tick, once."""
    files = FaultyFiles()
    async with remembering(tmp_path, files=files) as it:
        await say(it, *TALK)
        it.clock.advance(40 * 86_400)
        await it.flushed()
        written = 0

        def full(operation: str, path: Path) -> int | None:
            nonlocal written
            if operation == "append" and path.parent.name == ".journal":
                written += 1
                # The lease and the day succeed, the week does not.
                return errno.ENOSPC if written > 2 else None
            return None

        files.fault = full
        report = await tick(it)
        files.fault = lambda operation, path: None
        keys = [] if report is None else list(report.keys)
        it.clock.advance(60)
        for _ in range(2):
            report = await tick(it)
            keys += report.keys if report else ()
        expected = [DAILY, "summaries/weekly/2026-w19.md", "summaries/monthly/2026-05.md"]
        assert sorted(set(keys)) == sorted(expected)
        await it.flushed()
        assert made(it) == sorted(expected)


async def test_an_unreadable_summary_costs_itself(tmp_path: Path) -> None:
    """It is left as it is, told, and the other days have theirs."""
    async with remembering(tmp_path) as it:
        await say(it, *TALK)
        it.clock.advance(86_400)
        await say(it, *TALK)
        file = it.folder / DAILY
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"\x00\xff\xfe\x80" * 50)
        it.clock.advance(86_400)
        report = await tick(it)
        assert report is not None
        assert report.outcome == "failed"
        assert report.keys == ("summaries/daily/2026-05-05.md",)
        assert file.read_bytes() == b"\x00\xff\xfe\x80" * 50


# -- summaries that are handed in ------------------------------------------------------------------------------------


async def give(it: Remembering, text: str, **more: Any) -> MemoryWritten:
    content = {"period": "daily", "date": "2026-05-04", "text": text}
    written: MemoryWritten = await it.ask(MemoryWrite(type="summary", content=content, session_id="s1", **more))
    return written


async def test_the_agent_writes_a_summary(tmp_path: Path) -> None:
    """It gets the seed's head; ours gives way to it, and stays away from it."""
    async with remembering(tmp_path) as it:
        await say(it, *TALK)
        it.clock.advance(86_400)
        await tick(it)
        written = await give(it, "# 每日摘要 - 2026-05-04\n\n## 关键对话\n\n1. 我写的摘要\n")
        assert (written.success, written.key, written.message) == (True, DAILY, None)
        assert (await give(it, "## 关键对话\n\n1. 我写的摘要")).message == "the summary says so already"
        await say(it, ("user", "迟到的消息 B-1。"), content={"timestamp": START.isoformat()})
        await tick(it)
        text = await body(it)
        assert text.startswith(
            "# 每日摘要 - 2026-05-04\n\n> 生成时间: 2026-05-05T14:30:00+08:00\n> 源文件: memory:write (s1)\n"
        )
        assert text.endswith("## 关键对话\n\n1. 我写的摘要\n")
        assert text.count("# 每日摘要") == 1
        assert "B-1" not in text
        await give(it, "## 关键对话\n\n1. 改过的摘要")
        assert "我写的" not in await body(it)


async def test_beside_what_a_person_wrote(tmp_path: Path) -> None:
    """Theirs stays, what was acknowledged stands below it."""
    async with remembering(tmp_path) as it:
        file = it.folder / DAILY
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("# 我的一天\n\n很好。\n", encoding="utf-8")
        written = await give(it, "1. 机器写的")
        assert written.message == "it stands below what a person wrote"
        text = await body(it)
        assert text.startswith("# 我的一天\n\n很好。\n")
        assert "1. 机器写的" in text


@pytest.mark.parametrize(("period", "day", "path"), [
    ("weekly", "2027-01-01", "summaries/weekly/2026-w53.md"),
    ("monthly", "2026-02-10", "summaries/monthly/2026-02.md"),
])  # fmt: skip
async def test_a_week_and_a_month_by_any_of_their_days(tmp_path: Path, period: str, day: str, path: str) -> None:
    """The year of a week is the ISO year."""
    async with remembering(tmp_path) as it:
        content = {"period": period, "date": day, "text": "写好的。"}
        written = await it.ask(MemoryWrite(type="summary", content=content, session_id="s1"))
        assert written.key == path


async def test_a_group_may_not_write_one(tmp_path: Path) -> None:
    """Summaries are the owner's."""
    async with remembering(tmp_path) as it:
        written = await give(it, "1. 群里写的", session_kind="group")
        assert not written.success
        assert "sessionKind" in (written.message or "")


# -- periods ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("today", "expected"),
    [("2026-05-04", []), ("2026-05-05", ["2026-05-04"]), ("2030-01-01", ["2026-05-04", "2026-05-05"])],
)
def test_days_that_have_ended(today: str, expected: Sequence[str]) -> None:
    """Parts of a day together, in order; other files are none of our business."""
    paths = [
        "conversations/2026-05-04.md",
        "conversations/2026-05-04-002.md",
        "conversations/2026-05-04-001.md",
        "conversations/2026-05-05.md",
        "conversations/2026-13-01.md",
        "conversations/notes.md",
    ]
    found = days_ended(paths, date.fromisoformat(today))
    assert [day.isoformat() for day in found] == list(expected)
    if found:
        assert found[date(2026, 5, 4)] == [paths[2], paths[1], paths[0]]


def test_weeks_and_months_at_the_ends_of_the_calendar() -> None:
    """Nobody lives then, but files may have such names."""
    days = ["summaries/daily/0001-01-01.md", "summaries/daily/9999-12-31.md", "summaries/daily/2026-12-31.md"]
    assert date(2026, 12, 28) in weeks_ended(days, date.max)
    weeks = ["summaries/weekly/0001-w01.md", "summaries/weekly/9999-w52.md", "summaries/weekly/2026-w53.md"]
    assert months_ended(weeks, date(2027, 1, 4))[date(2026, 12, 1)] == ["summaries/weekly/2026-w53.md"]


async def test_unknown_tasks_are_none_of_its_business(tmp_path: Path) -> None:
    """A change that is refused leaves no trace in any summary."""
    async with remembering(tmp_path) as it:
        written = await it.ask(TaskStateChange(task_id="OPEN-999", new_state="completed"))
        assert not written.success
        it.clock.advance(40 * 86_400)
        await tick(it)
        assert made(it) == []
