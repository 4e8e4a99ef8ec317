"""Run the jobs that are due, one after the other, and tell what became of them (seed 000 section 5.1)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import anyio

from openclaw_memory.errors import OpenClawMemoryError
from openclaw_memory.lifecycle.jobs import Job, Outcome
from openclaw_memory.lifecycle.leases import HEARTBEAT, last_success, plan_lease, plan_release, plan_success
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.store import Store

log = logging.getLogger(__name__)

NAME = "heartbeat"
"""Under which a tick is reported that no job was asked about."""

RUNNING = Outcome("skipped", message="another heartbeat is running; what is due is done by that one")


class Heartbeat:
    """Runs jobs in their order; a job that fails does not stop the next.

    Parameters: `store`, which keeps when each job last succeeded; `jobs`; `holder`, a name of this opening of the root.
    """

    def __init__(self, store: Store, jobs: Sequence[Job], holder: str) -> None:
        self._store = store
        self._jobs = tuple(jobs)
        self._holder = holder
        self._running: anyio.CancelScope | None = None
        self._closed = False
        self._succeeded: dict[str, datetime] = {}
        """When jobs succeeded since the root was opened; before that the record tells."""
        self.last_tick: datetime | None = None
        """Time of the last tick, whoever sent it."""

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs, in their order."""
        return self._jobs

    async def tick(self, now: datetime) -> list[tuple[str, Outcome]]:
        """Run what is due; gives a report of each job that was. Never raises for what a job does.

        While a tick is running, another one does nothing and says so. What is missed is caught up by the next.
        """
        self.last_tick = now
        if self._running is not None:
            return [(NAME, RUNNING)]
        if self._closed:
            return [(NAME, Outcome("skipped", message="memory is being closed"))]
        reports: list[tuple[str, Outcome]] = []
        with anyio.CancelScope() as scope:
            self._running = scope
            try:
                await self._run(now, reports)
            except OpenClawMemoryError as error:
                reports.append((NAME, Outcome("failed", message=str(error))))
            finally:
                self._running = None
        if scope.cancelled_caught:
            reports.append((NAME, Outcome("failed", message="memory was closed in the middle; the next tick goes on")))
        return reports

    def close(self) -> None:
        """Stop a running tick at its next wait, and take no other: what it has begun is done by a later one."""
        self._closed = True
        if self._running is not None:
            self._running.cancel()

    async def _run(self, now: datetime, reports: list[tuple[str, Outcome]]) -> None:
        values = (await self._store.draft([HEARTBEAT])).document(HEARTBEAT).values
        due = [job for job in self._jobs if job.due(self._last(values, job.name), now)]
        if not due:
            return
        left_behind = None

        def lease(draft: Draft) -> None:
            nonlocal left_behind
            left_behind = plan_lease(draft, self._holder, now)

        await self._keep(lease)
        if left_behind is not None:
            log.info("the heartbeat that began at %s was interrupted; its jobs are looked at again", left_behind.since)
        succeeded = []
        for job in due:
            outcome = await self._outcome(job, now)
            reports.append((job.name, outcome))
            if outcome.outcome in ("done", "nothing"):
                self._succeeded[job.name] = now
                succeeded.append(job.name)

        def end(draft: Draft) -> None:
            for name in succeeded:
                plan_success(draft, name, now)
            plan_release(draft)

        # One record at the end: what a crash before it leaves unsaid is asked again, and finds nothing to do.
        await self._keep(end)

    async def _outcome(self, job: Job, now: datetime) -> Outcome:
        try:
            outcome = await job.run(now)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Not this tick: something that the job waited for. Without an answer its sender would wait in vain.
            outcome = Outcome("failed", message="something that it waited for was cancelled")
        except Exception as error:
            if not isinstance(error, OpenClawMemoryError):
                log.exception("%s failed", job.name)
            outcome = Outcome("failed", message=str(error) or type(error).__name__)
        failed = outcome.outcome == "failed"
        self._store.tell(f"job {job.name}", f"{job.name} failed: {outcome.message}" if failed else None)
        return outcome

    def _last(self, values: Mapping[str, Any], name: str) -> datetime | None:
        return self._succeeded.get(name) or last_success(values, name)

    async def _keep(self, plan: Callable[[Draft], None]) -> None:
        draft = await self._store.draft([HEARTBEAT])
        plan(draft)
        commit = self._store.commit(draft)
        await commit.wait()
        if commit.error is not None:
            raise commit.error
