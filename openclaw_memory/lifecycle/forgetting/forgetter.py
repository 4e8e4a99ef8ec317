"""Forget, from the first look to the last: choose, take out in one record, clean up what is left of it, look again."""

from __future__ import annotations

import logging
import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from contracts import Forget, Forgotten, ForgottenPlace, Selector
from openclaw_memory.catalog import Catalog
from openclaw_memory.clock import Clock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.errors import OpenClawMemoryError, Refused, UnreadableDocumentError
from openclaw_memory.indexing import Indexing
from openclaw_memory.layers import facts, history_shards, sessions
from openclaw_memory.layers.parts import FOLDER as CONVERSATIONS
from openclaw_memory.layers.rooms import room_of
from openclaw_memory.layers.state import FACT_TIMES, TASKS, StateDocument
from openclaw_memory.layers.summary_records import SUMMARIES
from openclaw_memory.lifecycle.forgetting import copies, histories, scanning
from openclaw_memory.lifecycle.forgetting.choosing import Chosen, choose
from openclaw_memory.lifecycle.forgetting.planning import is_blank, operations_of
from openclaw_memory.lifecycle.forgetting.records import scrub_of, scrubbed_line
from openclaw_memory.lifecycle.forgetting.scanning import Kind, Traces
from openclaw_memory.lifecycle.forgetting.states import plan_state_without, plan_summaries
from openclaw_memory.lifecycle.forgetting.texts import Needle
from openclaw_memory.lifecycle.forgetting.tombstones import (
    FORGOTTEN,
    Tombstones,
    Write,
    comes_by_itself,
    plan_finished,
    plan_tombstones,
    refuse_forgotten,
)
from openclaw_memory.lifecycle.forgetting.wanted import Wanted, wanted_of
from openclaw_memory.lifecycle.leases import HEARTBEAT
from openclaw_memory.manifest import write_manifest
from openclaw_memory.meaning import Meaning
from openclaw_memory.retrieval.engines.errors import IndexFaultError
from openclaw_memory.retrieval.vectors.errors import VectorsError
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.durable import remove
from openclaw_memory.storage.files import Files
from openclaw_memory.storage.places import Places
from openclaw_memory.storage.store import Store
from openclaw_memory.workspace import areas, elsewhere, workspace_of

log = logging.getLogger(__name__)

ATTEMPTS = 20
"""How often a plan is made anew because somebody wrote in between."""

AGAIN_SECONDS = 60.0
"""How long until it is tried again to finish what the disk refused."""

MUCH = 0.25
"""A share of memory so large is told before it goes."""

BACKUPS = "backups"
"""Folder of the root with what was there before imports."""

TOLD = 5
"""Files that a notice names, at most."""

NOTICE = "forgetting"
"""Under which `status` tells of a forgetting that is not finished."""

_WITHOUT_WORDS = frozenset({FORGOTTEN, TASKS, HEARTBEAT})
"""State in which nobody's words stand: counters, names of jobs, hashes."""

_EDITABLE = (Kind.COPY, Kind.JOURNAL_COPY, Kind.INBOX, Kind.LEFT_OVER)


@dataclass(slots=True)
class _Plan:
    """What goes, by document. `asked`: what was wanted and what follows from it; `times`: since when facts held."""

    asked: Wanted
    times: Mapping[str, Any]
    chosen: dict[str, Chosen] = field(default_factory=dict)
    states: dict[str, int] = field(default_factory=dict)
    blank: list[str] = field(default_factory=list)

    @property
    def counts(self) -> Counter[str]:
        return Counter({path: one.count for path, one in self.chosen.items()}) + Counter(self.states)

    @property
    def ids(self) -> set[str]:
        return {id_ for one in self.chosen.values() for id_ in one.ids}


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
        self._config, self._store, self._catalog = config, store, catalog
        self._indexing, self._meaning, self._files, self._clock = indexing, meaning, files, clock
        self._zone = config.zone
        self._places = Places(config.memory_folder, elsewhere(config))
        self._one_at_a_time = anyio.Lock()
        self._planning: anyio.Event | None = None
        self.tombstones = Tombstones({})
        """What was forgotten, as the newest committed state has it."""

    # -- what others ask ----------------------------------------------------------------------------------------

    def changed(self, path: str, document: Any) -> None:
        """Take note of the state of what was forgotten."""
        if path == FORGOTTEN and isinstance(document, StateDocument):
            self.tombstones = Tombstones(document.values)

    async def ready(self) -> None:
        """Wait while it is being planned what goes: a write in between would have it planned again."""
        while self._planning is not None:
            await self._planning.wait()

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
            log.warning("a forgetting was finished, but for this: %s", "; ".join(left))

    def state(self) -> object:
        """Give what tells whether more was forgotten since it was asked last."""
        return self.tombstones

    def concerns(self, items: Sequence[Write]) -> bool:
        """Tell whether any of these has to be looked at: comparing takes a while."""
        return bool(self.tombstones) and any(map(comes_by_itself, items))

    def refuse(self, items: Sequence[Write], *, batch: bool) -> None:
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
            await self._look()
            wanted = Wanted(known=self.tombstones.since_then(left.at).known, ids=left.ids)
            problems: list[str] = []
            blank = [path for path in await self._store.readable(left.paths) if is_blank(await self._store.read(path))]
            plan = _Plan(wanted, {}, blank=blank)
            await self._clean_up(plan, left.paths, Traces(None, left.ids), (), problems)
            return problems

    # -- the way of a request -----------------------------------------------------------------------------------

    async def _wanted(self, selector: Selector) -> Wanted:
        await self._look()
        known = set(await self._documents())
        return wanted_of(selector, known.__contains__)

    async def _forget(self, wanted: Wanted, selector: Selector, but: Collection[Path]) -> Forgotten:
        problems: list[str] = []
        plan = await self._commit(wanted, await self._candidates(wanted, problems), wanted.needle)
        traces = Traces(wanted.needle, plan.ids)
        counts = plan.counts + await self._clean_up(plan, plan.chosen, traces, but, problems)
        verified = await self._verified(plan.asked, traces, but, problems)
        places = tuple(ForgottenPlace(path=path, count=count) for path, count in sorted(counts.items()))
        total = sum(counts.values())
        if not total:
            problems.insert(0, "nothing was found, and nothing was forgotten")
        else:
            touched = [self._places.of(path) for path in counts]
            text = selector.text
            history = await anyio.to_thread.run_sync(histories.notice_of, self._roots().values(), touched, text)
            problems += [history] if history else []
        notice = "; ".join(dict.fromkeys(problems)) or None
        return Forgotten(dry_run=False, places=places, total=total, verified=verified, notice=notice)

    async def _told(self, wanted: Wanted, but: Collection[Path]) -> Forgotten:
        """Tell what would be forgotten."""
        problems: list[str] = []
        paths = await self._candidates(wanted, problems)
        draft, _ = await self._draft(paths)
        plan = await anyio.to_thread.run_sync(self._planned, draft, wanted, None)
        counts = plan.counts
        traces = Traces(wanted.needle, plan.ids)
        for found in await self._holding(traces, but, problems, _EDITABLE) if traces else ():
            if not _is_backup(found.path):
                counts[found.path] += 1
        total = sum(counts.values())
        if not total:
            problems.insert(0, "nothing was found")
        elif (share := await self._share(plan)) > MUCH:
            problems.insert(0, f"this is {share:.0%} of all that is remembered")
        places = tuple(ForgottenPlace(path=path, count=count) for path, count in sorted(counts.items()))
        notice = "; ".join(dict.fromkeys(problems)) or None
        return Forgotten(dry_run=True, places=places, total=total, verified=False, notice=notice)

    async def _share(self, plan: _Plan) -> float:
        """Tell how much of all that is remembered would go."""
        await anyio.to_thread.run_sync(self._catalog.feed)
        pieces = len(self._catalog.index)
        return sum(one.count for one in plan.chosen.values()) / pieces if pieces else 0.0

    # -- choosing -----------------------------------------------------------------------------------------------

    async def _look(self) -> None:
        await self._store.look(self._areas())

    def _areas(self) -> tuple[str, ...]:
        workspace = workspace_of(self._config)
        return tuple(dict.fromkeys([*areas(self._config), workspace.session_area]))

    async def _documents(self) -> list[str]:
        """List every document that can be read, also those that MEMORY.md links to."""
        found: dict[str, None] = {}
        for area in self._areas():
            found.update(dict.fromkeys(await self._store.scan(area)))
        folder = workspace_of(self._config).folder
        found.update(dict.fromkeys(self._catalog.paths(f"{folder}/**/*.md")))
        return list(found)

    async def _candidates(self, wanted: Wanted, problems: list[str]) -> list[str]:
        """List the documents that may hold what is wanted; those at rest only where their bytes do."""
        documents = await self._documents()
        asked: Needle | None = wanted.needle
        if asked is None and wanted.session is not None:
            asked = Needle.of(wanted.session)
        resting = [
            path
            for path in documents
            if asked is not None and self._catalog.document(path) is None and room_of(path).name != "state"
        ]
        if asked is not None and resting:
            holding = set(await anyio.to_thread.run_sync(self._resting, resting, asked))
            holding |= {path for path in resting if wanted.session and path.startswith(f"{sessions.FOLDER}/")}
            documents = [path for path in documents if path not in resting or path in holding]
        readable = await self._store.readable(documents)
        left = [path for path in documents if path not in readable]
        problems += [f"{path} can't be read, so it is left as it is" for path in left]
        return readable

    def _resting(self, paths: Iterable[str], asked: Needle) -> list[str]:
        found = []
        for path in paths:
            try:
                place = self._places.of(path)
                holds = asked.in_bytes(scanning.data_of(scanning.Found(place, path, Kind.DOCUMENT), self._files))
            except OSError:
                # Whoever loads it tells.
                holds = True
            if holds or asked.within(path):
                found.append(path)
        return found

    async def _draft(self, paths: Iterable[str]) -> tuple[Draft, list[str]]:
        states = [path for path in await self._store.scan(".state") if path != FORGOTTEN]
        states = await self._store.readable(dict.fromkeys([*states, FACT_TIMES, SUMMARIES]))
        wanted = dict.fromkeys([*paths, *states, FORGOTTEN])
        return await self._store.draft([], known=wanted), states

    async def _commit(self, wanted: Wanted, paths: Iterable[str], needle: Needle | None) -> _Plan:
        """Take out of all documents what is wanted, in one record, and note that it is not finished."""
        paths = list(paths)
        before = self._planning
        self._planning = mine = anyio.Event()
        try:
            for _ in range(ATTEMPTS):
                await self._store.settled()
                draft, _states = await self._draft(await self._store.readable(paths))
                plan = await anyio.to_thread.run_sync(self._planned, draft, wanted, needle)
                if not self._store.is_current(draft):
                    continue
                commit = self._store.commit(draft)
                await commit.wait()
                if commit.error is not None:
                    raise commit.error
                return plan
        finally:
            self._planning = before
            mine.set()
        raise Refused("selector", "memory is being written too busily to be forgotten in now; ask again")

    def _planned(self, draft: Draft, wanted: Wanted, needle: Needle | None) -> _Plan:
        """Choose and plan on a draft; in a thread, since it may be all of memory."""
        times = draft.document(FACT_TIMES).values
        states = [path for path in draft.planned if isinstance(draft.planned[path], StateDocument)]
        documents = {path: one for path, one in draft.planned.items() if path not in states}
        asked = wanted
        plan, now = _Plan(asked, times), self._clock.now()
        while True:
            plan.chosen = {}
            for path, document in documents.items():
                chosen = choose(document, asked, self._zone, times)
                if chosen.count or chosen.lines:
                    plan.chosen[path] = chosen
            more = asked.with_more(
                plan.ids,
                {
                    (facts.archive_path(path), section, key)
                    for path, one in plan.chosen.items()
                    if path.startswith(f"{facts.FOLDER}/") and not path.startswith(f"{facts.ARCHIVE}/")
                    for section, key in one.facts
                },
            )
            if (more.ids, more.archived) == (asked.ids, asked.archived):
                break
            plan.asked = asked = more
        for path, chosen in plan.chosen.items():
            for operation in operations_of(documents[path], chosen, secrets.token_hex(16), now):
                draft.apply(operation)
            if is_blank(draft.document(path)):
                plan.blank.append(path)
        plan_summaries(draft, documents, plan.chosen)
        others = [path for path in states if path not in _WITHOUT_WORDS]
        plan.states = plan_state_without(draft, plan.chosen, asked, others, self._zone)
        if plan.chosen or plan.states:
            plan_tombstones(draft, plan.chosen, needle, now, plan.ids)
        return plan

    # -- cleaning up --------------------------------------------------------------------------------------------

    async def _clean_up(
        self, plan: _Plan, paths: Iterable[str], traces: Traces, but: Collection[Path], problems: list[str]
    ) -> Counter[str]:
        """Take what is gone from the documents out of everything else; tells how many copies held it, by file."""
        paths = list(paths)
        texts = {path: [*one.texts, *one.values] for path, one in plan.chosen.items()}
        wanted = plan.asked
        scrub = scrub_of(wanted, wanted.ids, texts)
        counts: Counter[str] = Counter()
        held = await self._copies(plan.asked, traces, but, problems)
        backups = [found.document for found in held if found.document is not None and _is_backup(found.path)]
        await self._store.purge(scrub, partial(scrubbed_line, scrub=scrub), [*backups, *paths])
        for path in plan.blank:
            if not await self._store.discard(path):
                log.info("%s is in use again; it stays", path)
        for found in held:
            if _is_backup(found.path) and self._catalog.document(found.document or "") is not None:
                # It was brought up to date.
                continue
            try:
                counts[found.path] += await anyio.to_thread.run_sync(
                    copies.forget_in, found, wanted, traces, scrub, self._files, self._zone, plan.times
                )
            except FileNotFoundError:
                # A backup that went with its document, or a reply that was taken.
                continue
            except OSError as error:
                problems.append(f"{found.path} can't be made anew ({error.strerror or error})")
        await self._index(plan, traces, but, problems)
        await write_manifest(self._config.memory_folder, self._files, self._clock)
        lagging = self._store.lagging(paths)
        problems += [f"{path} can't be written now; it is done as soon as it can" for path in lagging[:TOLD]]
        if not lagging:
            draft = await self._store.draft([FORGOTTEN])
            plan_finished(draft)
            await self._store.commit(draft).wait()
            await self._store.settle([FORGOTTEN])
        self._store.tell(NOTICE, "a forgetting is not finished; it is gone on with" if lagging else None)
        return +counts

    async def _copies(
        self, wanted: Wanted, traces: Traces, but: Collection[Path], problems: list[str]
    ) -> list[scanning.Found]:
        """List what is no document and may hold it: by its bytes where those tell, else every copy."""
        if traces and wanted.known is None:
            return await self._holding(traces, but, problems, _EDITABLE)

        def every() -> list[scanning.Found]:
            found = scanning.every_file(self._roots(), self._files, self._is_document, problems)
            return [one for one in found if one.kind in _EDITABLE and one.place not in but]

        return await anyio.to_thread.run_sync(every)

    async def _index(self, plan: _Plan, traces: Traces, but: Collection[Path], problems: list[str]) -> None:
        try:
            await self._indexing.rebuild(full=False)
        except IndexFaultError as error:
            problems.append(f"the index may hold it still: {error}; `openclaw-memory rebuild-index` makes it anew")
        if self._meaning is not None:
            try:
                await self._meaning.forget()
            except VectorsError as error:
                problems.append(f"vectors may be left: {error}; `openclaw-memory rebuild-index --full` makes them anew")
        elif plan.chosen:
            await anyio.to_thread.run_sync(self._remove_vectors)
        if traces:
            for found in await self._holding(traces, [*but, *self._in_use()], problems, (Kind.INDEX,)):
                # Of another agent's name, or another engine, used before: derived, and made anew when it is wanted.
                await anyio.to_thread.run_sync(remove, self._files, found.place)

    def _remove_vectors(self) -> None:
        """Remove vectors that nobody uses now: they can be made again, and nobody could take single ones out."""
        file = self._config.vectors_file
        remove(self._files, *(file.with_name(file.name + ending) for ending in ("", "-wal", "-shm", "-journal")))

    def _in_use(self) -> list[Path]:
        """List the files of the index and the vectors that are in use; folders stand for what is in them."""
        files = [self._config.vectors_file, *([self._config.index_file] if self._config.index_file else [])]
        beside = [file.with_name(file.name + ending) for file in files for ending in ("", "-wal", "-shm", "-journal")]
        return [*beside, *(file.with_suffix(".index") for file in files[1:])]

    # -- the proof ----------------------------------------------------------------------------------------------

    async def _verified(self, wanted: Wanted, traces: Traces, but: Collection[Path], problems: list[str]) -> bool:
        """Look through every byte once more, and choose once more: is anything left?"""
        troubles: list[str] = []
        draft, _ = await self._draft(await self._candidates(wanted, troubles))
        again = await anyio.to_thread.run_sync(self._planned, draft, wanted, None)
        left = dict.fromkeys(again.chosen)
        if traces:
            left.update(dict.fromkeys(found.path for found in await self._holding(traces, but, troubles)))
        if left:
            named = ", ".join(list(left)[:TOLD]) + (f" and {len(left) - TOLD} more" if len(left) > TOLD else "")
            troubles.append(
                f"it still stands in {named}: in the name of something, in words that every file has, or in a file "
                "that is no memory; look there"
            )
        problems += troubles
        return not troubles

    async def _holding(
        self, traces: Traces, but: Collection[Path], problems: list[str], kinds: Collection[Kind] = tuple(Kind)
    ) -> list[scanning.Found]:
        """List the files of some kinds that hold what is looked for; `but` are files and folders that are left out."""
        left_out = frozenset(but)

        def look() -> list[scanning.Found]:
            files = scanning.every_file(self._roots(), self._files, self._is_document, problems)
            chosen = (
                one for one in files if one.kind in kinds and left_out.isdisjoint([one.place, *one.place.parents])
            )
            return scanning.holding(chosen, self._files, traces, problems)

        return await anyio.to_thread.run_sync(look)

    def _roots(self) -> Mapping[str, Path]:
        config, workspace = self._config, workspace_of(self._config)
        roots = {"": config.memory_folder, workspace.folder: config.workspace_folder}
        roots[workspace.sessions] = self._places.of(workspace.sessions)
        if config.index_file is not None and config.index_file.parent != config.memory_folder:
            roots["index"] = config.index_file.parent
        roots[BACKUPS] = config.root / BACKUPS
        return roots

    def _is_document(self, path: str) -> bool:
        try:
            room = room_of(path)
        except ValueError:
            return False
        if room.name == "state":
            return path.count("/") == 1 and path.endswith(".json")
        if path.endswith(history_shards.SUFFIX):
            return True
        if path.startswith(CONVERSATIONS) or room.name in ("fact", "task", "summary"):
            return path.endswith(".md")
        return self._catalog.knows(path) or path.startswith(sessions.FOLDER)


def _is_backup(path: str) -> bool:
    return path.endswith(".backup") and not path.startswith(f"{BACKUPS}/")


def failed(dry_run: bool, error: Exception) -> Forgotten:
    """Give the reply for what could not be done."""
    later = "" if isinstance(error, Refused) else "; what was begun is finished later, and is to be asked for again"
    reason = str(error) if isinstance(error, OpenClawMemoryError) else f"{type(error).__name__}: {error}"
    return Forgotten(dry_run=dry_run, places=(), total=0, verified=False, notice=f"{reason}{later}")
