"""The jobs that keep the files of tasks short (seed 000 section 2.3). Each task is moved in one record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from openclaw_memory.layers import task_upkeep, tasks
from openclaw_memory.layers.state import TASKS
from openclaw_memory.layers.task_upkeep import Upkeep
from openclaw_memory.lifecycle.jobs import Outcome, another_day, another_week
from openclaw_memory.lifecycle.tools import Tools
from openclaw_memory.storage.documents import Draft


class TaskCleanup:
    """Daily: what is pending for more than 14 days expires, what was completed 30 days ago goes into its summary."""

    name = "task_cleanup"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def due(self, last: datetime | None, now: datetime) -> bool:
        """Tell whether it is another day."""
        return another_day(last, now, self._tools.config.zone)

    async def run(self, now: datetime) -> Outcome:
        """Mark and move; what is marked or moved already stays as it is."""
        zone, language = self._tools.config.zone, self._tools.config.language
        count = self._tools.counter.count
        room = task_upkeep.room_for_tasks(self._tools.config.summaries.monthly_tokens)
        base = [tasks.ACTIVE, tasks.COMPLETED, TASKS]
        completed = (await self._tools.store.draft(base)).document(tasks.COMPLETED)
        more = task_upkeep.documents_for_months(completed, now, zone)

        def doubled(draft: Draft, stuck: Collection[str]) -> Upkeep:
            return task_upkeep.plan_doubled(draft, base[:2], zone)

        def dates(draft: Draft, stuck: Collection[str]) -> Upkeep:
            return task_upkeep.plan_dates(draft, now, zone, language, stuck)

        def expiry(draft: Draft, stuck: Collection[str]) -> Upkeep:
            return task_upkeep.plan_expiry(draft, now, zone, language, stuck)

        def into_summaries(draft: Draft, stuck: Collection[str]) -> Upkeep:
            return task_upkeep.plan_into_summaries(draft, now, zone, language, count, room, stuck)

        plans: list[tuple[Sequence[str], Plan]] = [(base, doubled), (base, dates), (base, expiry)]
        return await _done(self._tools, [*plans, ([*base, *more], into_summaries)] if more else plans)


class TaskArchive:
    """Weekly: what is pending for more than 30 days goes into `tasks/archived/`."""

    name = "task_archive"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def due(self, last: datetime | None, now: datetime) -> bool:
        """Tell whether it is another ISO week."""
        return another_week(last, now, self._tools.config.zone)

    async def run(self, now: datetime) -> Outcome:
        """Move; what is moved already is not there any more."""
        zone, language = self._tools.config.zone, self._tools.config.language
        target = tasks.archive_path(now.astimezone(zone).date())
        paths = [tasks.ACTIVE, tasks.COMPLETED, TASKS, target]

        def doubled(draft: Draft, stuck: Collection[str]) -> Upkeep:
            return task_upkeep.plan_doubled(draft, [tasks.ACTIVE], zone)

        def archive(draft: Draft, stuck: Collection[str]) -> Upkeep:
            return task_upkeep.plan_archive(draft, now, zone, language, stuck)

        return await _done(self._tools, [(paths, doubled), (paths, archive)])


Plan = Callable[[Draft, Collection[str]], Upkeep]
"""Plans one step on a draft, but for tasks at addresses that are stuck; nothing when all is done."""


async def _done(tools: Tools, plans: Sequence[tuple[Sequence[str], Plan]]) -> Outcome:
    """Take each plan again and again until it finds nothing more; each step is a record, whole or not at all.

    A step that brings nothing new would come for ever, so it is the last one of its plan.
    """
    done = Upkeep()
    for paths, plan in plans:
        while True:
            draft = await tools.store.draft(paths)
            step = plan(draft, done.problems)
            commit = tools.store.commit(draft)
            await commit.wait()
            if commit.error is not None:
                raise commit.error
            is_new = not (step.problems.keys() <= done.problems.keys() and set(step.keys) <= set(done.keys))
            done = done.and_also(step)
            if not is_new:
                break
    message = "; ".join(done.problems.values()) or None
    keys = tuple(dict.fromkeys(done.keys))
    return Outcome("done", keys, message) if keys else Outcome("nothing", (), message)
