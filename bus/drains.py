"""Waiting until nothing moves any more."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from bus.errors import DrainInHandlerError
from bus.reports import DrainReport, Ledger, Mark
from bus.routes import Routes
from bus.subscription import Subscription
from bus.worker import Worker


class Drains:
    """Who waits for the subscriptions of one bus to come to rest."""

    __slots__ = ("_ledger", "_routes", "_waiters", "leaving")

    def __init__(self, routes: Routes, ledger: Ledger) -> None:
        self._routes = routes
        self._ledger = ledger
        self._waiters: list[tuple[asyncio.Future[None], Sequence[Subscription] | None]] = []
        self.leaving: dict[Subscription, None] = {}
        """Subscriptions that are closed and whose last handlers still run."""

    def mark(self) -> Mark:
        """Return the counts as they are now."""
        crews = [subscription.crew for subscription in self._all()]
        return Mark(
            handled=self._ledger.handled + sum(crew.handled for crew in crews),
            failed=self._ledger.failed + sum(crew.failed for crew in crews),
            drops=Counter(self._ledger.drops),
        )

    async def wait(self, which: Sequence[Subscription] | None, seconds: float | None) -> DrainReport:
        """Wait until the subscriptions in `which` (None: all, also those made meanwhile) are quiet."""
        start = self.mark()
        if self._busy(which):
            waiter = asyncio.get_running_loop().create_future()
            entry = (waiter, which)
            self._waiters.append(entry)
            try:
                await asyncio.wait([waiter], timeout=seconds)
            finally:
                self._waiters.remove(entry)
        return start.report(self.mark(), stuck=tuple(sub.name for sub in self._busy(which)))

    def came_to_rest(self, subscription: Subscription) -> None:
        """Look whether that was the last of somebody's wait."""
        if subscription in self.leaving and not subscription.crew.workers:
            del self.leaving[subscription]
            self._ledger.handled += subscription.crew.handled
            self._ledger.failed += subscription.crew.failed
        for waiter, which in self._waiters:
            if not waiter.done() and not self._busy(which):
                waiter.set_result(None)

    @staticmethod
    def refuse_inside(worker: Worker | None, action: str, subscription: Subscription | None = None) -> None:
        """Raise DrainInHandlerError when a handler is about to wait for itself."""
        if worker is not None and subscription in (None, worker.subscription):
            raise DrainInHandlerError(action, worker.subscription.name)

    def tasks(self) -> list[asyncio.Task[None]]:
        """Return the tasks of all workers."""
        return [task for subscription in self._all() for task in subscription.crew.tasks()]

    def _all(self) -> list[Subscription]:
        return [*self._routes.subscriptions, *self.leaving]

    def _busy(self, which: Sequence[Subscription] | None) -> list[Subscription]:
        return [
            subscription for subscription in (self._all() if which is None else which) if not subscription.is_quiet()
        ]
