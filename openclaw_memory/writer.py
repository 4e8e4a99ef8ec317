"""Plan what an event changes, and queue it: one event or a whole batch is one record of the journal, all or nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple

import anyio.to_thread

from contracts import BatchContent, MemoryWrite, MemoryWritten, MessageContent
from contracts.fields import SessionKind
from openclaw_memory.capturing import Captured
from openclaw_memory.clock import Clock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.visibility import kind_of, policies
from openclaw_memory.discretion import without_secrets
from openclaw_memory.errors import Refused, UnreadableDocumentError
from openclaw_memory.events import Change
from openclaw_memory.layers import endings, rotation, state
from openclaw_memory.masking.kinds import told
from openclaw_memory.storage.commits import Commit
from openclaw_memory.storage.documents import Draft, NotLoadedError
from openclaw_memory.storage.store import Store
from openclaw_memory.writing.apart import TRIES, takes_long
from openclaw_memory.writing.at_once import AtOnce
from openclaw_memory.writing.changes import check_allowed, idempotency, items_of, storable, with_items
from openclaw_memory.writing.drafting import Drafting
from openclaw_memory.writing.entries import Alike
from openclaw_memory.writing.forgotten import Forgotten
from openclaw_memory.writing.judging import Judging
from openclaw_memory.writing.naming import Naming
from openclaw_memory.writing.needs import Needs
from openclaw_memory.writing.planning import plan_item

log = logging.getLogger(__name__)


# A tuple: every write waits until one is made.
class Planned(NamedTuple):
    """An event on its way to the disk: its addresses, and what the reply says beside them."""

    commit: Commit
    keys: tuple[str, ...]
    message: str | None
    suggestions: tuple[str, ...] = ()

    def written(self, durability: str) -> MemoryWritten:
        """Give the reply, once the commit has succeeded. `durability` is the configuration's."""
        return MemoryWritten(
            key=self.keys[0],
            success=True,
            degraded=False,
            keys=self.keys,
            message=self.message,
            suggestions=self.suggestions,
            durability="synced" if durability == "always" else "buffered",
        )


class Writer:
    """Turns the events that change memory into operations.

    Parameters: `store`; `config`; `clock`; `new_id`, which makes the id of a message from its time;
    `forgotten`, what must not come back by itself; `alike`, which compares meanings, where there is an embedder.
    """

    def __init__(
        self,
        store: Store,
        config: MemoryConfig,
        clock: Clock,
        new_id: Callable[[datetime], str],
        forgotten: Forgotten | None = None,
        alike: Alike | None = None,
    ) -> None:
        self._store = store
        self._forgotten = forgotten
        self._config = config
        self._clock = clock
        limits = rotation.Limits(config.conversations.max_messages_per_file, config.conversations.max_file_bytes)
        self._naming = Naming(store, config, new_id, limits, alike)
        self._drafting = Drafting(store, limits)
        self._judging = Judging(store, config)
        self._at_once = AtOnce(store, config, new_id, self._drafting, self._judging, forgotten)
        self._zone = config.zone
        self._policies = policies(config.session)

    async def write(self, change: Change, supplied: Sequence[str] = ()) -> Planned:
        """Plan an event and queue it for the journal.

        Parameters: `supplied`, what memory itself put into the session's last context: said again, it is nothing new.

        Raises: `Refused` with the field and the reason, `UnreadableDocumentError`, `StorageError`, `ClosedError`;
        then nothing was changed.
        """
        return self.write_at_once(change, supplied) or await self.write_waiting(change, supplied)

    def write_at_once(self, change: Change, supplied: Sequence[str] = ()) -> Planned | None:
        """Do the same with an event for which nothing need be waited for; None, and nothing done, for any other."""
        if not isinstance(change, MemoryWrite) or not isinstance(change.content, MessageContent):
            return None
        kind = self._kind(change)
        check_allowed(change, kind, self._policies[kind].writes)
        written = self._at_once.write(change, change.content, kind, self._now(), supplied)
        if written is None:
            return None
        commit, key, suggestions = written
        return Planned(commit, (key,), None, suggestions)

    async def write_waiting(self, change: Change, supplied: Sequence[str] = ()) -> Planned:
        """Do the same with any event."""
        kind = self._kind(change)
        items = items_of(change)
        for item in items:
            check_allowed(item, kind, self._policies[kind].writes)
        now = self._now()
        if not self._config.secrets.mask:
            return await self._write(change, items, kind, now, supplied)
        language = self._config.language
        discreet = await without_secrets(items, language)
        if not discreet.kinds:
            return await self._write(change, items, kind, now, supplied)
        planned = await self._write(with_items(change, discreet.items), discreet.items, kind, now, supplied)
        words = told(discreet.kinds, language)
        return planned._replace(message=f"{planned.message}; {words}" if planned.message else words)

    async def _write(
        self, change: Change, items: Sequence[Change], kind: SessionKind, now: datetime, supplied: Sequence[str]
    ) -> Planned:
        captured = await self._judging.captured(items, kind, now, self._config.capture, supplied)
        if captured.writes:
            try:
                return await self._queued(change, items, captured, kind, now)
            except (Refused, UnreadableDocumentError) as problem:
                # What was asked for on the way must not cost the message: it is suggested instead.
                log.info("what the message asks for can't be written (%s); it is suggested", problem)
                rules = self._config.capture.model_copy(update={"explicit": False})
                captured = await self._judging.captured(items, kind, now, rules, supplied)
        return await self._queued(change, items, captured, kind, now)

    async def _queued(
        self, change: Change, items: Sequence[Change], captured: Captured, kind: SessionKind, now: datetime
    ) -> Planned:
        every = [*items, *(write for write, _ in captured.writes)] if captured.writes else items
        needs = await self._naming.needs(change, every, kind, now)
        seen = await self._not_forgotten(change, items)
        tries = 0
        while True:
            draft = await self._drafting.draft(needs, now)
            if self._forgotten is not None and self._forgotten.state() is not seen:
                seen = await self._not_forgotten(change, items)
                continue
            apart = tries < TRIES and takes_long(every, draft)
            try:
                if apart:
                    tries += 1
                    plan = partial(self._plan, change, every, needs, draft, now)
                    keys, message = await anyio.to_thread.run_sync(plan)
                    if not await self._store.still_holds(draft):
                        continue
                    if self._forgotten is not None and self._forgotten.state() is not seen:
                        continue
                else:
                    keys, message = self._plan(change, every, needs, draft, now)
            except NotLoadedError as missing:
                needs.paths[missing.path] = None
            else:
                commit = self._store.commit(draft)
                self._drafting.committed(needs, draft)
                told = [*(words for _, words in captured.writes), *captured.suggestions]
                return Planned(commit, tuple(keys), message, tuple(dict.fromkeys(told)))

    async def _not_forgotten(self, change: Change, items: Sequence[Change]) -> object:
        """See to it that nothing comes back by itself that was forgotten; gives the state that this was asked of.

        Raises: `Refused`.
        """
        forgotten = self._forgotten
        if forgotten is None:
            return None
        state = forgotten.state()
        if forgotten.concerns(items):
            batch = isinstance(change, MemoryWrite) and isinstance(change.content, BatchContent)
            await anyio.to_thread.run_sync(partial(forgotten.refuse, items, batch=batch))
        return state

    def _plan(
        self, change: Change, items: Sequence[Change], needs: Needs, draft: Draft, now: datetime
    ) -> tuple[Sequence[str], str | None]:
        """Plan all items on a draft; gives their addresses, and what is to be said of them.

        Nothing is awaited in here, and nothing changed but the draft: it may be called in a thread.
        """
        once = idempotency(change)
        if once is not None:
            seen = state.known_keys(draft, *once, now)
            if seen is not None:
                return seen, "this idempotencyKey was written before"
        keys: list[str] = []
        messages: list[str] = []
        for number, given in enumerate(items):
            item, replaced = storable(given)
            try:
                item_keys, message = plan_item(draft, needs, number, item, now, self._config)
            except Refused as refusal:
                if isinstance(change, MemoryWrite) and isinstance(change.content, BatchContent):
                    where = f"content.items[{number}].{refusal.field}"
                    raise Refused(where, f"{refusal.reason}; nothing of the batch was written") from refusal
                raise
            keys += item_keys
            replaced += sum(said.replaced for said in needs.said.get(number, ()))
            if replaced:
                messages.append(f"{replaced} characters that no text file can hold became U+FFFD")
            messages += [message] if message else []
        if once is not None:
            state.plan_known_key(draft, *once, keys, now)
            assert isinstance(change, MemoryWrite)
            if (ending := endings.ending_of(change.idempotency_key)) is not None:
                endings.plan_ending(draft, change.session_id, ending)
        return keys, "; ".join(dict.fromkeys(messages)) or None

    def _now(self) -> datetime:
        """Give the time on the user's clock, to the millisecond as files hold it."""
        now = self._clock.now().astimezone(self._zone)
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    def _kind(self, change: Change) -> SessionKind:
        if change.session_kind is not None:
            return change.session_kind
        return kind_of(change.session_id or "", self._config.default_session_kind)
