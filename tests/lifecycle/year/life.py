"""A year of somebody's life, day by day, with all that befalls a memory in it; and what should be there afterwards."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from bus import Gateway
from contracts import (
    CuratedContent,
    Forget,
    HeartbeatTick,
    MemoryCompact,
    MemoryRead,
    MemoryWrite,
    MessageContent,
    NoteContent,
    Selector,
    TaskContent,
    TaskStateChange,
    UpdateFact,
    prompt_text,
)
from openclaw_memory import ManualClock, Memory, MemoryConfig
from openclaw_memory.context.tokens import make_counter
from openclaw_memory.storage.files import OpenFile
from tests.lifecycle.year.model import PROVIDER
from tests.lifecycle.year.talk import Talk, secret
from tests.lifecycle.year.tasks import Table, Task
from tests.support import Fault, FaultyFiles, Remembering, no_space

ZONE = ZoneInfo("Europe/Berlin")
FIRST = date(2026, 7, 1)
"""In the middle of a year; 2026 has 53 ISO weeks, and the clocks change on 2026-10-25 and 2027-03-28."""
DAYS = 365
RETENTION_DAYS = 90
CLOCKS_CHANGE = {date(2026, 10, 25), date(2027, 3, 28)}

TWO_TICKS, SIXTY_TICKS, CLOCK_BACK, FULL_DISK = 30, 31, 75, 214
"""FULL_DISK is the night in which January is rolled up."""
NO_TICKS = frozenset(range(60, 63))
SILENT = frozenset(range(230, 237))
"""Nothing is said in these days, and no tick comes."""
EDITED, REMOVED = 50, 80
"""On these days a person edits, or removes, the summary of the day before."""
LATE = {90: 87, 290: 150}
"""On these days something is said of an earlier one; the second of those is in the archive by then."""
FORGETTING = 181
FORGOTTEN = "夜莺计划"
FORGOTTEN_TASK = 171
FORGOTTEN_DAYS = (12, 33, 98, 150, 178)
FIRST_EDIT, BIG_EDIT = 5, 305
"""On the first a person begins MEMORY.md; on the second they write more into it than is ever loaded of it."""
LAST_WORDS = frozenset(range(7, DAYS, 10)) - SILENT
"""On these days something is said right after files were rewritten: a crash then finds it in the journal alone."""
CITIES = {0: "柏林", 100: "上海", 200: "里斯本", 300: "京都"}
"""Where the user lives, from which day on."""

How = Literal["closed", "killed"]


class QuickFiles(FaultyFiles):
    """The real disk without waiting for it: nobody cuts the power in these tests."""

    def sync_folder(self, path: Path) -> None:
        self._check("sync_folder", path)

    def create(self, path: Path, mode: int = 0o600) -> OpenFile:
        return _Unsynced(super().create(path, mode))

    def open_append(self, path: Path) -> OpenFile:
        return _Unsynced(super().open_append(path))


class _Unsynced:
    def __init__(self, inner: OpenFile) -> None:
        self._inner = inner

    def sync(self) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@dataclass(frozen=True, slots=True)
class Said:
    """A message that was acknowledged: the day that it belongs to, its session, its text."""

    day: date
    session: str
    text: str


class Life:
    """Lives through the days, and keeps count of what should be there.

    Parameters: `folder`, where roots are made; `turns`, what is said in between; `restarts`, how memory ends on which
    days, after what is said and before the night: a new one goes on, after `killed` with what a crash left; `days`, how
    many.
    """

    def __init__(self, folder: Path, turns: list[str], restarts: Mapping[int, How], days: int = DAYS) -> None:
        self._folder = folder
        self._talk = Talk(turns)
        self._restarts = dict(restarts)
        self._days = days
        self._roots = itertools.count()
        self.root = folder / f"root{next(self._roots)}"
        self._now = at(FIRST, 8)
        self._ids = itertools.count(1)
        self.count = make_counter().count
        self.model: dict[str, int] = {}
        self.jobs: Counter[tuple[str, str]] = Counter()
        self.files = QuickFiles()
        self.said: dict[str, Said] = {}
        self.gone: set[str] = set()
        """Ids of messages that were forgotten."""
        self.table = Table(ZONE)
        self._task_of: dict[int, str] = {}
        """Ids of tasks by the day on which they were made."""
        self.own_lines: list[str] = []
        """What the person wrote into MEMORY.md, in order."""
        self.secrets: list[str] = []
        self.edited: bytes | None = None
        self.forgotten = False

    @property
    def memory_file(self) -> Path:
        """MEMORY.md, where mode `history` has it."""
        return self.root / "workspace/main/memory/MEMORY.md"

    @property
    def memory_folder(self) -> Path:
        """Folder of the four layers."""
        return self.root / "memory"

    async def run(self, check: Callable[[Life, Remembering], Awaitable[None]]) -> None:
        """Live through all days; `check` is called after the first tick of each month."""
        steps = itertools.product(range(self._days), (self._day, self._night))
        step = next(steps, None)
        while step is not None:
            async with self._opened() as it:
                while step is not None:
                    number, live = step
                    await live(it, number)
                    step = next(steps, None)
                    if live == self._night and (FIRST + timedelta(days=number + 1)).day == 1 and number not in NO_TICKS:
                        await it.flushed()
                        await check(self, it)
                    how = self._restarts.pop(number, None) if live == self._day else None
                    self._now = it.clock.now()
                    if how == "killed":
                        copy = self._folder / f"root{next(self._roots)}"
                        it.crashed_copy(copy)
                        self.root = copy
                    if how is not None:
                        break

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Remembering]:
        clock = ManualClock(self._now)
        config = MemoryConfig.model_validate(
            {
                "root": self.root,
                "mode": "history",
                "timezone": str(ZONE),
                "watch": False,
                "heartbeat": {"enabled": False},
                "index": {"type": "memory"},
                "retention_days": RETENTION_DAYS,
                "promotion": {"automatic": True},
                "completion": {"provider": PROVIDER, "options": {"counts": self.model}},
            }
        )
        memory = Memory(config, clock=clock, files=self.files, new_id=lambda when: f"m{next(self._ids)}")
        async with Gateway() as gateway:
            await gateway.register(memory)
            yield Remembering(memory, gateway, clock)

    # -- a day --------------------------------------------------------------------------------------------------

    async def _day(self, it: Remembering, number: int) -> None:
        if number in SILENT:
            return
        day = FIRST + timedelta(days=number)
        session = "s2" if number % 3 == 2 else "s1"
        if day in CLOCKS_CHANGE:
            for fold in (0, 1):
                it.clock.move_to(max(it.clock.now(), at(day, 2, 30, fold)))
                await self._say(it, "user", f"半夜 2:30 说的第 {fold} 句，NR-{number}{fold}", session)
        it.clock.move_to(at(day, 20, 30))
        texts = self._talk.of(number, 2 if number % 6 else 4)
        content = {
            "messages": [
                {"role": "assistant" if place % 2 else "user", "content": text} for place, text in enumerate(texts)
            ]
        }
        written = await self._done(it, MemoryWrite(type="conversation", content=content, session_id=session))
        for key, text in zip(written.keys, texts, strict=True):
            self.said[key.rpartition("#")[2]] = Said(day, session, text)
        await self._tasks(it, number)
        await self._once(it, number, day)
        if number % 30 == 5:
            await self._edits_memory(it, number)
        if number == EDITED:
            await it.flushed()
            path = self._summary_of(day - timedelta(days=1))
            self.edited = path.read_bytes() + "\n- 手写：这一天我记得很清楚\n".encode()
            path.write_bytes(self.edited)
        if number == REMOVED:
            await it.flushed()
            self._summary_of(day - timedelta(days=1)).unlink()
        if number in LAST_WORDS:
            await it.flushed()
            # Acknowledged, and in no document's file yet.
            await self._say(it, "user", f"第 {number} 天的最后一句，NR-{number}", session)

    async def _once(self, it: Remembering, number: int, day: date) -> None:
        """What happens now and then."""
        if number % 40 == 39:
            await self._say(it, "user", f"GRP-{number} 是群里的事", "agent:main:group:g")
        if number % 10 == 1:
            text = f"客户 KD-{number} 喜欢早上八点开会"
            await self._done(it, MemoryWrite(type="note", content=NoteContent(text=text), session_id="s1"))
        if number % 30 == 11:
            text = f"每月第 {number} 天对账"
            await self._done(it, MemoryWrite(type="memory", content=CuratedContent(text=text), session_id="s1"))
        if number % 60 == 10:
            self.secrets.append(secret(number))
            await self._say(it, "user", f"记一下 OPENAI_API_KEY={self.secrets[-1]}", "s1")
            text = f"- key 换成了 {self.secrets[-1]}"
            await self._done(it, MemoryWrite(type="note", content=NoteContent(text=text), session_id="s1"))
        if number in CITIES:
            await self._done(it, UpdateFact(section="基本信息", key="城市", value=CITIES[number]))
        if number in FORGOTTEN_DAYS:
            await self._say(it, "user", f"{FORGOTTEN} 的预算定为 {number}00 欧元", "s1")
        if number in LATE:
            await self._say(it, "user", f"补记：NR-{number} 那天定下来了", "s1", FIRST + timedelta(days=LATE[number]))
        if number % 50 == 20:
            done = await it.ask(MemoryCompact(session_id="s1"))
            assert done.kept >= 4
        if number == FORGETTING:
            await self._forgets(it)

    async def _tasks(self, it: Remembering, number: int) -> None:
        """Make a task a week, of four kinds; the first kind is completed the next day, the third begun."""
        kind = number // 7 % 4
        if number % 7 == 3:
            due = FIRST + timedelta(days=number + 60) if kind == 3 else None
            words = f"任务 {number}" + (f"（{FORGOTTEN}）" if number == FORGOTTEN_TASK else "")
            content = TaskContent(title=words, due=due)
            written = await self._done(it, MemoryWrite(type="task", content=content, session_id="s1"))
            self._task_of[number] = written.key.rpartition("#")[2]
            # An id is never given twice, also when a task is gone.
            assert self._task_of[number] == f"OPEN-{len(self._task_of):03}"
            self.table.tasks[self._task_of[number]] = Task(it.clock.now(), due)
        if number % 7 == 4 and kind in (0, 2) and number - 1 in self._task_of:
            state: Literal["completed", "in_progress"] = "completed" if kind == 0 else "in_progress"
            name = self._task_of[number - 1]
            await self._done(it, TaskStateChange(task_id=name, new_state=state))
            self.table.tasks[name].state = state
            self.table.tasks[name].completed = it.clock.now() if kind == 0 else None
            self.table.changed(it.clock.now())

    async def _edits_memory(self, it: Remembering, number: int) -> None:
        """Have the person write into MEMORY.md with an editor."""
        await it.flushed()
        lines = [f"- 我自己写的第 {number} 天"]
        if number == FIRST_EDIT:
            lines = [
                "# 关于我",
                "",
                *lines,
                "",
                f"一段话，不是列表：{FORGOTTEN} 不归我管。",
                "",
                "写在这里的我自己会改。",
            ]
        if number == BIG_EDIT:
            lines += [f"- 长长的清单第 {place} 项：窗边的书架上放着第 {place} 本相册" for place in range(120)]
        self.own_lines += [line for line in lines if line]
        self.memory_file.parent.mkdir(parents=True, exist_ok=True)
        before = self.memory_file.read_text(encoding="utf-8") if self.memory_file.exists() else ""
        self.memory_file.write_text(before + "\n".join(lines) + "\n", encoding="utf-8")

    async def _forgets(self, it: Remembering) -> None:
        """Forget something for good; what comes back by itself is refused afterwards."""
        selector = Selector(text=FORGOTTEN)
        done = await it.ask(Forget(selector=selector))
        assert done.verified, done.notice
        # Each is in its day's file and in HISTORY.md at least.
        assert done.total > 2 * len(FORGOTTEN_DAYS)
        self.gone |= {name for name, one in self.said.items() if FORGOTTEN in one.text}
        del self.table.tasks[self._task_of[FORGOTTEN_TASK]]
        self.own_lines = [line for line in self.own_lines if FORGOTTEN not in line]
        self.forgotten = True
        content = MessageContent(role="assistant", content=f"我想起 {FORGOTTEN} 了")
        again = MemoryWrite(type="conversation", content=content, session_id="s1", origin="agent")
        assert not (await it.ask(again)).success

    # -- a night ------------------------------------------------------------------------------------------------

    async def _night(self, it: Remembering, number: int) -> None:
        if number in SILENT:
            return
        if number % 4 == 0:
            await self._reads(it, number)
        if number in NO_TICKS:
            return
        night = FIRST + timedelta(days=number + 1)
        it.clock.move_to(at(night, 0, 5))
        if number == FULL_DISK:
            await self._on_a_full_disk(it, no_space("append"))
        elif number == TWO_TICKS:
            now = it.clock.now()
            both = await asyncio.gather(it.ask(HeartbeatTick(now=now)), it.ask(HeartbeatTick(now=now)))
            assert sorted([job.outcome for job in done.jobs if job.name == "heartbeat"] for done in both) == [
                [],
                ["skipped"],
            ]
            self.table.tick(now)
        else:
            await self.tick(it)
        if number == SIXTY_TICKS:
            for _ in range(60):
                it.clock.advance(1)
                assert not await self.tick(it) & {"done", "failed"}
        if number == CLOCK_BACK:
            it.clock.move_to(at(night, 0, 5) - timedelta(hours=1))
            await self.tick(it)
            await self._say(it, "user", "时钟拨回以后说的，NR-7575", "s1")
            it.clock.move_to(at(night, 0, 10))
            await self.tick(it)

    async def tick(self, it: Remembering) -> set[str]:
        """Tick; gives how jobs ended. A model that fails is all that may fail."""
        now = it.clock.now()
        done = await it.ask(HeartbeatTick(now=now))
        for job in done.jobs:
            self.jobs[job.name, job.outcome] += 1
            assert job.outcome in ("done", "nothing") or job.name == "consolidation", job
        self.table.tick(now)
        return {job.outcome for job in done.jobs if job.name not in ("consolidation", "recall_counts", "promotion")}

    async def _on_a_full_disk(self, it: Remembering, fault: Fault) -> None:
        """Have the disk refuse everything during a tick; the next one does what that one could not."""
        before, self.files.fault = self.files.fault, fault
        done = await it.ask(HeartbeatTick(now=it.clock.now()))
        self.files.fault = before
        assert "failed" in {job.outcome for job in done.jobs}
        it.clock.advance(300)
        await self.tick(it)

    async def _reads(self, it: Remembering, number: int) -> None:
        """Ask for contexts of several sizes; none is larger than it may be (seed 000 section 3.2)."""
        customer = f"KD-{number // 10 * 10 + 1}"
        query = f"客户 {customer} 什么时候开会" if number % 8 else f"when does {customer} like meetings"
        budget = (150, 6_000, 2_500, 40, 800)[number // 4 % 5]
        context = await it.ask(MemoryRead(query=query, session_id="s1", max_tokens=budget))
        assert not context.degraded, context.notice
        assert self.count(prompt_text(context)) <= budget
        assert self.count("\n".join(context.memory)) <= it.memory.config.memory_tokens

    # -- small things -------------------------------------------------------------------------------------------

    def _summary_of(self, day: date) -> Path:
        return self.memory_folder / f"summaries/daily/{day}.md"

    async def _done(self, it: Remembering, wish: Any) -> Any:
        written = await it.ask(wish)
        assert written.success, written.message
        return written

    async def _say(self, it: Remembering, role: Any, text: str, session: str, day: date | None = None) -> None:
        when = None if day is None else at(day, 18)
        content = MessageContent(role=role, content=text, timestamp=when)
        written = await self._done(it, MemoryWrite(type="conversation", content=content, session_id=session))
        today = day or it.clock.now().astimezone(ZONE).date()
        self.said[written.key.rpartition("#")[2]] = Said(today, session, text)


def at(day: date, hour: int, minute: int = 0, fold: int = 0) -> datetime:
    """Give a time of the user's."""
    return datetime.combine(day, time(hour, minute), ZONE).replace(fold=fold)
