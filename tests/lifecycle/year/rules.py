"""What must hold at each month's end, a rule of the seeds each."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import date, timedelta
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from contracts import MemoryRead, MemorySearch, SessionStarted, prompt_text
from openclaw_memory.layers.history_shards import opened
from openclaw_memory.layers.revisions import revisions
from openclaw_memory.layers.summaries import month_of_week, period_of
from openclaw_memory.lifecycle.summaries.periods import messages_told
from openclaw_memory.markdown.log_lines import parse_log
from openclaw_memory.markdown.messages import Message, MessageBlock, parse_messages
from openclaw_memory.markdown.summaries import parse_summary
from openclaw_memory.markdown.summary_items import SummaryItem, read_items, without_sources
from openclaw_memory.markdown.task_blocks import parse_tasks
from tests.lifecycle.year.life import (
    CITIES,
    EDITED,
    FIRST,
    FORGOTTEN,
    REMOVED,
    RETENTION_DAYS,
    ZONE,
    Life,
    at,
)
from tests.support import Remembering

BUDGETS = {"daily": 500, "weekly": 800, "monthly": 1_000}
"""Tokens, seed 000 section 2.4."""
_ID = re.compile(r"<!-- id=(\S+) ")


async def holds(life: Life, it: Remembering) -> None:
    """See to it that every rule holds now."""
    today = it.clock.now().astimezone(ZONE).date()
    each_summary_once(life, today)
    summaries_keep_to_their_tokens(life)
    summaries_name_what_they_rest_on(life, today)
    messages_are_in_one_place(life, today)
    history_is_complete_and_in_months(life, today)
    notes_tell_what_was_said(life)
    tasks_are_where_the_table_puts_them(life)
    what_a_person_wrote_stays(life)
    files_stay_small(life)
    nothing_is_left_of_secrets_and_forgotten(life)
    await facts_are_superseded(life, it, today)
    await contexts_keep_to_their_budget(life, it)
    await groups_see_nothing(life, it)


def each_summary_once(life: Life, today: date) -> None:
    """Seed 000 section 2.4, case 28: each day, week, month that is over has one, a week in its Thursday's month."""
    removed, edited = FIRST + timedelta(days=REMOVED - 1), FIRST + timedelta(days=EDITED - 1)
    days = sorted({one.day for name, one in life.said.items() if one.day < today and one.session in ("s1", "s2")})
    if today > removed + timedelta(days=1):
        days.remove(removed)
    weeks = sorted({day - timedelta(days=day.weekday()) for day in days if today - day >= timedelta(days=1)})
    weeks = [monday for monday in weeks if monday + timedelta(days=7) <= today]
    this_week = today - timedelta(days=today.weekday())
    months = sorted({month_of_week(monday) for monday in weeks} - {month_of_week(this_week)})
    assert _names(life, "daily") == [day.isoformat() for day in days]
    assert _names(life, "weekly") == ["{}-w{:02}".format(*monday.isocalendar()) for monday in weeks]
    ended = [f"{month:%Y-%m}" for month in months]
    # A later month may have been begun by its completed tasks before its last week is over.
    assert [name for name in _names(life, "monthly") if name <= max(ended, default="")] == ended
    if life.edited is not None:
        assert (life.memory_folder / f"summaries/daily/{edited}.md").read_bytes() == life.edited


def summaries_keep_to_their_tokens(life: Life) -> None:
    """Seed 000 section 2.4: 500, 800, 1,000 tokens; what a person added is theirs."""
    edited = (FIRST + timedelta(days=EDITED - 1)).isoformat()
    for kind, most in BUDGETS.items():
        for path in _summaries(life, kind):
            if path.stem != edited:
                assert life.count(without_sources(_body(path)).strip()) <= most, path


def summaries_name_what_they_rest_on(life: Life, today: date) -> None:
    """Seed 000 section 2.4: source files with their numbers of messages; behind each item, messages that were said."""
    of_day: Counter[date] = Counter(
        one.day for name, one in life.said.items() if one.session in ("s1", "s2") and name not in life.gone
    )
    edited = FIRST + timedelta(days=EDITED - 1)
    for kind in BUDGETS:
        for path in _summaries(life, kind):
            body = _body(path)
            period = period_of(path.name)
            assert period is not None
            sources = parse_summary(body).sources
            if kind == "daily" and period.first != edited:
                assert messages_told(sources) == of_day[period.first], path
                assert all("conversations/" in source for source in sources)
            if kind == "weekly":
                week = [period.first + timedelta(days=number) for number in range(7)]
                there = [day for day in week if (life.memory_folder / f"summaries/daily/{day}.md").exists()]
                assert [source.partition(" ")[0] for source in sources] == [
                    f"summaries/daily/{day}.md" for day in there
                ], path
            for item in _items(body):
                if item.text.startswith("手写"):
                    # A person wrote it into a summary; it rests on nothing else.
                    continue
                assert item.sources, (path, item)
                for source in item.sources:
                    day, _, name = source.partition("#")
                    assert name in life.said, (path, item)
                    assert name not in life.gone, (path, item)
                    assert life.said[name].day.isoformat() == day, (path, item)
                    assert period.first <= life.said[name].day <= period.last or kind == "monthly"
                    # Case 30: what was said in a group is in no summary; case 29: nor what memory said.
                    assert life.said[name].session in ("s1", "s2")


def messages_are_in_one_place(life: Life, today: date) -> None:
    """Seed 000 sections 2.1 and 5.1, `retention_days`: each message once, in its day's file or in the archive."""
    live = {path.name for path in (life.memory_folder / "conversations").glob("*.md")}
    archive = {path.name for path in (life.memory_folder / "conversations/archive").glob("*.md")}
    assert not live & archive
    assert all((today - date.fromisoformat(name[:10])).days <= RETENTION_DAYS for name in live)
    assert all((today - date.fromisoformat(name[:10])).days > RETENTION_DAYS for name in archive)
    found: dict[str, Message] = {}
    for path in sorted((life.memory_folder / "conversations").rglob("*.md")):
        for block in _messages(path):
            message = block.message
            assert message.id not in found, message
            assert message.time.astimezone(ZONE).date().isoformat() == path.name[:10], message
            found[message.id] = message
    assert life.said.keys() - life.gone <= found.keys()
    assert not life.gone & found.keys()
    for name, one in life.said.items():
        if name in found and "OPENAI_API_KEY" not in one.text:
            assert found[name].content == one.text


def history_is_complete_and_in_months(life: Life, today: date) -> None:
    """Seed 004 sections 2.2 and 4.3: every message once; months that are over are compressed files of their own."""
    folder = life.root / "workspace/main/memory"
    seen: Counter[str] = Counter()
    for path in sorted(folder.glob("HISTORY*")):
        if path.name.endswith(".corrupt") or ".backup" in path.name:
            continue
        data = path.read_bytes() if path.suffix == ".md" else opened(path.name, path.read_bytes(), 1 << 30)
        month = path.name[8:15] if path.suffix == ".zst" else f"{today:%Y-%m}"
        for line in data.decode("utf-8").split("\n"):
            if match := _ID.search(line):
                seen[match[1]] += 1
                assert line[1:8] in (month, f"{today - timedelta(days=1):%Y-%m}"), (path, line)
    assert set(seen.values()) == {1}
    private = {name for name, one in life.said.items() if one.session in ("s1", "s2") and name not in life.gone}
    assert private <= seen.keys()
    assert not life.gone & seen.keys()
    ended = {f"{one.day:%Y-%m}" for name, one in life.said.items() if name not in life.gone} - {f"{today:%Y-%m}"}
    assert {path.name[8:15] for path in folder.glob("HISTORY-*.zst")} == ended


def notes_tell_what_was_said(life: Life) -> None:
    """Seed 004 section 2.2: what is said goes into its day's log as well, a group's words do not; each message once."""
    told = {
        (path.stem, line.id)
        for path in (life.root / "workspace/main/memory").glob("????-??-??.md")
        for line in parse_log(path.read_text(encoding="utf-8"))
    }
    assert len({name for _, name in told}) == len(told)
    private = {(str(one.day), name) for name, one in life.said.items() if one.session in ("s1", "s2")}
    assert {(day, name) for day, name in private if name not in life.gone} <= told
    assert not (life.gone | life.said.keys() - {name for _, name in private}) & {name for _, name in told}


def tasks_are_where_the_table_puts_them(life: Life) -> None:
    """Seed 000 section 2.3: 7, 14, 30 and 30 days, each with its trigger; each task is in one place."""
    folder = life.memory_folder / "tasks"
    there: dict[str, tuple[str, str]] = {}
    for path in sorted(folder.rglob("*.md")):
        name = str(path.relative_to(life.memory_folder))
        for task in parse_tasks(path.read_text(encoding="utf-8"), ZONE):
            assert task.id not in there, task
            there[task.id] = (name, task.state)
    assert there == {name: (task.path, task.state) for name, task in life.table.tasks.items()}
    for name, task in life.table.tasks.items():
        if task.completed is not None and "archived" in task.path:
            # "After 30 days into summaries": a line of it in its month's.
            month = life.memory_folder / f"summaries/monthly/{task.completed.astimezone(ZONE):%Y-%m}.md"
            assert f"[{name}]" in month.read_text(encoding="utf-8")


def what_a_person_wrote_stays(life: Life) -> None:
    """Promise 4, seed 002: whatever models, promotion and consolidation do, each line is there, in its order."""
    if life.own_lines:
        lines = life.memory_file.read_text(encoding="utf-8").split("\n")
        assert [line for line in lines if line in life.own_lines] == life.own_lines


def files_stay_small(life: Life) -> None:
    """Seed 000 section 5.3 and seed 004: at most 500 messages a file; texts before a change are the last 20."""
    for path in life.memory_folder.glob("conversations/**/*.md"):
        assert len(_messages(path)) <= 500
    kept = life.memory_folder / ".state/memory-revisions.json"
    if kept.exists():
        assert len(revisions(json.loads(kept.read_bytes()))) <= 20
    # A year of this talk was measured at 1.1 MB.
    assert sum(path.stat().st_size for path in life.root.rglob("*.md")) < 2_000_000


def nothing_is_left_of_secrets_and_forgotten(life: Life) -> None:
    """Cases 31 and 34: no file holds a key that was said, nor, once it was asked for, what is to be forgotten."""
    needles = [key.encode() for key in life.secrets] + ([FORGOTTEN.encode()] if life.forgotten else [])
    for path in life.root.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            data += opened(path.name, data, 1 << 30) if path.suffix == ".zst" else b""
            assert not [needle for needle in needles if needle in data], path
            assert not life.forgotten or FORGOTTEN.encode("unicode-escape") not in data, path
    for day in range(10, 365, 60):
        path = next(life.memory_folder.glob(f"conversations/**/{FIRST + timedelta(days=day)}.md"), None)
        assert path is None or "OPENAI_API_KEY=[已隐去" in path.read_text(encoding="utf-8")


async def facts_are_superseded(life: Life, it: Remembering, today: date) -> None:
    """Seed 000 section 2.2, DESIGN section 5: one current value, others dated; `asOf` answers what was true."""
    since = [(FIRST + timedelta(days=day), city) for day, city in CITIES.items() if FIRST + timedelta(days=day) < today]
    for number, (first, city) in enumerate(since):
        asked = at(first, 20, 30) + timedelta(days=15)
        context = await it.ask(MemoryRead(query="住在哪个城市", session_id="s1", max_tokens=2_000, as_of=asked))
        told = [line for line in context.facts if "城市" in line]
        assert told, context.facts
        assert city in told[0], (asked, told)
        assert not [other for place, (_, other) in enumerate(since) if place != number and other in told[0]]
    text = (life.memory_folder / "facts/user-profile.md").read_text(encoding="utf-8")
    assert [city for _, city in since if city in text] == [since[-1][1]]
    archive = life.memory_folder / "facts/archive/user-profile.md"
    if len(since) > 1:
        old = archive.read_text(encoding="utf-8")
        for (first, city), (until, _) in pairwise(since):
            line = next(line for line in old.split("\n") if city in line)
            assert first.isoformat() in line
            assert until.isoformat() in line


async def contexts_keep_to_their_budget(life: Life, it: Remembering) -> None:
    """Promise 7: never more than `maxTokens`; of MEMORY.md at most 4 K tokens (seed 003 section 26.4.4)."""
    for budget in (1, 100, 1_000, 20_000):
        context = await it.ask(MemoryRead(query="任务 合同 NR-", session_id="s1", max_tokens=budget))
        assert life.count(prompt_text(context)) <= budget
        assert not context.degraded, context.notice
        assert life.count("\n".join(context.memory)) <= 4_000
    started = await it.ask(SessionStarted(session_id="s1"))
    assert life.count(prompt_text(started)) <= it.memory.config.session_start_tokens
    # Case 22: what was said in the first days is found, archived or not.
    found = await it.ask(MemorySearch(query="NR-7", max_results=5))
    assert any("NR-7" in hit.snippet for hit in found.results)


async def groups_see_nothing(life: Life, it: Remembering) -> None:
    """Case 30: a group has its own conversation alone, and no summary of it is made."""
    read = MemoryRead(query="城市 客户 合同 任务", session_id="agent:main:group:g", max_tokens=4_000)
    context = await it.ask(read)
    seen = (context.facts, context.tasks, context.summaries, context.notes, context.memory)
    assert not any(seen), seen
    private = [cited for cited in context.citations if "GRP-" not in life.said[cited.key.rpartition("#")[2]].text]
    assert not private
    for path in life.memory_folder.glob("summaries/*/*.md"):
        assert "GRP-" not in path.read_text(encoding="utf-8")


def _summaries(life: Life, kind: str) -> list[Path]:
    return sorted((life.memory_folder / f"summaries/{kind}").glob("*.md"))


def _names(life: Life, kind: str) -> list[str]:
    return [path.stem for path in _summaries(life, kind)]


def _body(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n---\n")[2]


def _messages(path: Path) -> tuple[MessageBlock, ...]:
    return _parsed(_body(path)).blocks


_parsed = lru_cache(maxsize=1_000)(parse_messages)
"""Most files are as they were a month before."""


@lru_cache(maxsize=1_000)
def _items(body: str) -> list[SummaryItem]:
    """Give all items, points too, but for the tasks of a month, whose source is the archive."""
    items = read_items(body)
    found = [one for part in (items.talks, items.facts, items.todos) for one in part]
    found += [point for one in items.talks for point in one.points]
    return [one for one in found if one.sources or not one.text.startswith("[OPEN-")]
