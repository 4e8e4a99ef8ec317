"""Forget, from the first look to the last: choose, take out in one record, clean up what is left of it, look again."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from contracts import Forget, Forgotten, ForgottenPlace, Selector
from openclaw_memory.catalog import Catalog
from openclaw_memory.clock import Clock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.errors import OpenClawMemoryError, Refused, UnreadableDocumentError
from openclaw_memory.events import Change
from openclaw_memory.indexing import Indexing
from openclaw_memory.layers.rooms import room_of
from openclaw_memory.layers.state import StateDocument
from openclaw_memory.lifecycle.forgetting import histories
from openclaw_memory.lifecycle.forgetting.cleaning import NOTICE, TOLD, Cleaning
from openclaw_memory.lifecycle.forgetting.plan import Plan, planned
from openclaw_memory.lifecycle.forgetting.planning import is_blank
from openclaw_memory.lifecycle.forgetting.reach import EDITABLE, Reach, is_backup
from openclaw_memory.lifecycle.forgetting.scanning import Traces
from openclaw_memory.lifecycle.forgetting.texts import Needle
from openclaw_memory.lifecycle.forgetting.tombstones import (
    FORGOTTEN,
    Tombstones,
    comes_by_itself,
    refuse_forgotten,
)
from openclaw_memory.lifecycle.forgetting.wanted import Wanted, wanted_of
from openclaw_memory.meaning import Meaning
from openclaw_memory.storage.files import Files
from openclaw_memory.storage.store import Store

log = logging.getLogger(__name__)


ATTEMPTS = 20
"""How often a plan is made anew because somebody wrote in between."""

AGAIN_SECONDS = 60.0
"""How long until it is tried again to finish what the disk refused."""

MUCH = 0.25
"""A share of memory so large is told before it goes."""


class Forgetter:
    """Removes things for good, one request after the other.

    Parameters: `config`; `store`, `catalog`, `indexing` and `meaning` of the same documents; `files`; `clock`.
    """

    def __init__(
        self,
        config: MemoryConfig,
        store: Store,
        catalog: Catalog,
        indexing: Indexing,
        meaning: Meaning | None,
        files: Files,
        clock: Clock,
    ) -> None:
        self._store, self._catalog, self._clock = store, catalog, clock
        self._zone = config.zone
        self._reach = Reach(config, store, catalog, files)
        self._cleaning = Cleaning(config, self._reach, store, catalog, indexing, meaning, files, clock)
        self._one_at_a_time = anyio.Lock()
        self.tombstones = Tombstones({})
        """What was forgotten, as the newest committed state has it."""

    # -- what others ask ----------------------------------------------------------------------------------------

    def changed(self, path: str, document: Any) -> None:
        """Take note of the state of what was forgotten."""
        if path == FORGOTTEN and isinstance(document, StateDocument):
            self.tombstones = Tombstones(document.values)

    async def open(self) -> None:
        """Read what was forgotten, and finish what was interrupted before anybody is answered."""
        try:
            self.changed(FORGOTTEN, await self._store.read(FORGOTTEN))
        except UnreadableDocumentError as error:
            self._store.tell(NOTICE, f"{error}; what was forgotten is not known again until it can be read")
            return
        await self._try_to_finish()

    async def run(self) -> None:
        """Try again what the disk refused, until cancelled."""
        while True:
            await self._clock.sleep_until(self._clock.monotonic() + AGAIN_SECONDS)
            await self._try_to_finish()

    async def _try_to_finish(self) -> None:
        try:
            left = await self.finish()
        except OpenClawMemoryError as error:
            log.warning("a forgetting can't be finished now: %s", error)
            self._store.tell(NOTICE, f"a forgetting is not finished ({error}); it is tried again")
            return
        if left:
            log.warning("of a forgetting that was interrupted this is left: %s", "; ".join(left))
            if self.tombstones.open is None:
                self._store.tell(NOTICE, f"a forgetting was finished, but for this: {'; '.join(left)}")

    def state(self) -> object:
        """Give what tells whether more was forgotten since it was asked last."""
        return self.tombstones

    def concerns(self, items: Sequence[Change]) -> bool:
        """Tell whether any of these has to be looked at: comparing takes a while."""
        return bool(self.tombstones) and any(map(comes_by_itself, items))

    def refuse(self, items: Sequence[Change], *, batch: bool) -> None:
        """Refuse what was forgotten and comes back by itself. Raises: `Refused`."""
        refuse_forgotten(items, self.tombstones, batch=batch)

    async def forget(self, forget: Forget, *, but: Collection[Path] = ()) -> Forgotten:
        """Forget what is asked for, or tell what would be forgotten; answered when it is done and looked through.

        Parameters: `but`, files that are not looked into: the one in which the request itself was handed in.

        Raises: `OpenClawMemoryError` when the disk refuses; what was begun is finished later.
        """
        async with self._one_at_a_time:
            try:
                wanted = await self._wanted(forget.selector)
            except Refused as refusal:
                return Forgotten(dry_run=forget.dry_run, places=(), total=0, verified=False, notice=str(refusal))
            if forget.dry_run:
                return await self._told(wanted, but)
            return await self._forget(wanted, forget.selector, but)

    async def finish(self) -> list[str] | None:
        """Finish what a crash or a refusing disk has interrupted; None when there is nothing to be finished.

        What was asked for is not known any more, only what it was about. The documents do not hold it: that was one
        record. Everything else is gone through for what the tombstones tell. Gives what is left, in words.
        """
        async with self._one_at_a_time:
            left = self.tombstones.open
            if left is None:
                return None
            log.warning("a forgetting was interrupted; it is finished now")
            await self._reach.look()
            wanted = Wanted(known=self.tombstones.since_then(left.at).known, ids=left.ids)
            problems: list[str] = []
            blank = [path for path in await self._store.readable(left.paths) if is_blank(await self._store.read(path))]
            plan = Plan(wanted, {}, blank=blank)
            traces = Traces(None, left.ids)
            await self._cleaning.clean_up(plan, left.paths, traces, (), problems)
            still = await self._reach.holding(traces.knowing(wanted.known), (), problems, EDITABLE)
            problems += [f"it may still stand in {_named([one.path for one in still])}"] if still else []
            return problems

    # -- the way of a request -----------------------------------------------------------------------------------

    async def _wanted(self, selector: Selector) -> Wanted:
        await self._reach.look()
        known = set(await self._reach.documents())
        return wanted_of(selector, known.__contains__)

    async def _forget(self, wanted: Wanted, selector: Selector, but: Collection[Path]) -> Forgotten:
        problems: list[str] = []
        plan = await self._commit(wanted, await self._reach.candidates(wanted, problems), wanted.needle)
        traces = Traces(wanted.needle, plan.ids)
        changed = [*plan.chosen, *plan.states]
        counts = plan.counts + await self._cleaning.clean_up(plan, changed, traces, but, problems)
        verified = await self._verified(plan.asked, traces, but, problems)
        places = tuple(ForgottenPlace(path=path, count=count) for path, count in sorted(counts.items()))
        total = sum(counts.values())
        if not total:
            problems.insert(0, "nothing was found, and nothing was forgotten")
        else:
            touched = [self._reach.places.of(path) for path in counts]
            text = selector.text
            history = await anyio.to_thread.run_sync(histories.notice_of, self._reach.roots().values(), touched, text)
            problems += [history] if history else []
        notice = "; ".join(dict.fromkeys(problems)) or None
        return Forgotten(dry_run=False, places=places, total=total, verified=verified, notice=notice)

    async def _told(self, wanted: Wanted, but: Collection[Path]) -> Forgotten:
        """Tell what would be forgotten."""
        problems: list[str] = []
        paths = await self._reach.candidates(wanted, problems)
        draft, _ = await self._reach.draft(paths)
        plan = await anyio.to_thread.run_sync(planned, draft, wanted, None, self._clock.now(), self._zone)
        counts = plan.counts
        traces = Traces(wanted.needle, plan.ids)
        for found in await self._reach.holding(traces, but, problems, EDITABLE) if traces else ():
            if not is_backup(found.path):
                counts[found.path] += 1
        total = sum(counts.values())
        problems += [plan.told_along] if plan.told_along else []
        if not total:
            problems.insert(0, "nothing was found")
        elif (share := await self._share(plan)) > MUCH:
            problems.insert(0, f"this is {share:.0%} of all that is remembered")
        places = tuple(ForgottenPlace(path=path, count=count) for path, count in sorted(counts.items()))
        notice = "; ".join(dict.fromkeys(problems)) or None
        return Forgotten(dry_run=True, places=places, total=total, verified=False, notice=notice)

    async def _share(self, plan: Plan) -> float:
        """Tell how much of all that is remembered would go."""
        await anyio.to_thread.run_sync(self._catalog.feed)
        pieces = len(self._catalog.index)
        return sum(one.count for one in plan.chosen.values()) / pieces if pieces else 0.0

    async def _commit(self, wanted: Wanted, paths: Iterable[str], needle: Needle | None) -> Plan:
        """Take out of all documents what is wanted, in one record, and note that it is not finished."""
        paths = list(paths)
        async with self._store.held():
            for _ in range(ATTEMPTS):
                await self._store.settled()
                # What was written since it was looked for is looked at as well.
                lately = [path for path in self._store.active if room_of(path).name != "state"]
                readable = await self._store.readable(dict.fromkeys([*paths, *lately]))
                draft, _states = await self._reach.draft(readable, holds=True)
                plan = await anyio.to_thread.run_sync(planned, draft, wanted, needle, self._clock.now(), self._zone)
                if not self._store.is_current(draft):
                    continue
                commit = self._store.commit(draft)
                await commit.wait()
                if commit.error is not None:
                    raise commit.error
                return plan
        raise Refused("selector", "memory is being written too busily to be forgotten in now; ask again")

    async def _verified(self, wanted: Wanted, traces: Traces, but: Collection[Path], problems: list[str]) -> bool:
        """Look through every byte once more, and choose once more: is anything left?"""
        troubles: list[str] = []
        draft, _ = await self._reach.draft(await self._reach.candidates(wanted, troubles))
        again = await anyio.to_thread.run_sync(planned, draft, wanted, None, self._clock.now(), self._zone)
        left = dict.fromkeys(again.chosen)
        if traces:
            left.update(dict.fromkeys(found.path for found in await self._reach.holding(traces, but, troubles)))
        if left:
            troubles.append(
                f"it still stands in {_named(list(left))}: in the name of something, in words that every file has, or "
                "in a file that is no memory; look there"
            )
        problems += troubles
        return not troubles


def _named(paths: list[str]) -> str:
    return ", ".join(paths[:TOLD]) + (f" and {len(paths) - TOLD} more" if len(paths) > TOLD else "")


def failed(dry_run: bool, error: Exception) -> Forgotten:
    """Give the reply for what could not be done."""
    later = "" if isinstance(error, Refused) else "; what was begun is finished later, and is to be asked for again"
    reason = str(error) if isinstance(error, OpenClawMemoryError) else f"{type(error).__name__}: {error}"
    return Forgotten(dry_run=dry_run, places=(), total=0, verified=False, notice=f"{reason}{later}")
