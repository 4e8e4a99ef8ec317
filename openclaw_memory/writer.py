"""Plan what an event changes, and queue it: one event or a whole batch is one record of the journal, all or nothing."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, Protocol

import anyio
import anyio.to_thread

from contracts import (
    BatchContent,
    CuratedContent,
    FactContent,
    MemoryWrite,
    MemoryWritten,
    MessageContent,
    MessagesContent,
    NoteContent,
    SummaryContent,
    TaskContent,
    TaskStateChange,
    UpdateFact,
)
from contracts.fields import SessionKind
from openclaw_memory.capturing import Captured, capture, earlier_in, is_judged
from openclaw_memory.clock import Clock
from openclaw_memory.config import CaptureConfig, MemoryConfig
from openclaw_memory.context.visibility import Writes, audience, kind_of, policies
from openclaw_memory.discretion import without_secrets
from openclaw_memory.errors import Refused, UnreadableDocumentError
from openclaw_memory.layers import conversations, curated, facts, notes, rotation, state, summary_records, tasks
from openclaw_memory.layers.conversations import Said
from openclaw_memory.layers.day_files import ConversationDocument
from openclaw_memory.layers.parts import FOLDER, next_parts, parts_of
from openclaw_memory.markdown.curated import digest_of, fold
from openclaw_memory.markdown.text import clean
from openclaw_memory.masking.kinds import told
from openclaw_memory.sameness import may_say_the_same
from openclaw_memory.storage.commits import Commit
from openclaw_memory.storage.documents import Draft, NotLoadedError
from openclaw_memory.storage.store import Store
from openclaw_memory.workspace import Copies, workspace_of

log = logging.getLogger(__name__)

Change = MemoryWrite | UpdateFact | TaskStateChange

Alike = Callable[[str, Sequence[str]], Awaitable[Sequence[float] | None]]
"""Gives the cosine of each of some texts with another one; None when meanings can't be compared now."""

MOST_COMPARED = 8
"""Entries of MEMORY.md that a new one is compared with by meaning, newest first: their words let few through."""


class Forgotten(Protocol):
    """What was forgotten, and must not come back by itself."""

    def state(self) -> object:
        """Give what tells whether more was forgotten since it was asked last."""
        ...

    def concerns(self, items: Sequence[Change]) -> bool:
        """Tell whether any of these has to be looked at."""
        ...

    def refuse(self, items: Sequence[Change], *, batch: bool) -> None:
        """Refuse what comes back by itself. May take a while. Raises: `Refused`."""
        ...


@dataclass(frozen=True, slots=True)
class Planned:
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


_NOTHING = Captured()

JUDGED_AT_ONCE = 1_000
"""Characters of a write that are judged on the event loop: one to two milliseconds at most."""


@dataclass(slots=True)
class _Needs:
    """The documents that planning an event rests on, or adds to."""

    known_facts: list[str]
    archived_tasks: list[str]
    said: dict[int, list[Said]]
    paths: dict[str, None]
    appended: dict[str, None]
    looked_at: dict[str, None]
    curated: str
    copies: Copies
    limits: rotation.Limits
    same: dict[str, str] = field(default_factory=dict)
    """By the folded text of a new entry of MEMORY.md, that of the entry that says the same."""

    @property
    def everything_said(self) -> list[Said]:
        """All messages of the event, in order."""
        return [item for items in self.said.values() for item in items]


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
        self._alike = alike
        self._forgotten = forgotten
        self._config = config
        self._clock = clock
        self._new_id = new_id
        self._zone = config.zone
        self._policies = policies(config.session)
        self._workspace = workspace_of(config)
        self._limits = rotation.Limits(config.conversations.max_messages_per_file, config.conversations.max_file_bytes)
        self._has_judged = False
        self._rotating = anyio.Lock()
        self._tidied: dict[str, object] = {}
        """By day, the table of places of the document that was tidied; one that is read anew has another."""

    async def write(self, change: Change, supplied: Sequence[str] = ()) -> Planned:
        """Plan an event and queue it for the journal.

        Parameters: `supplied`, what memory itself put into the session's last context: said again, it is nothing new.

        Raises: `Refused` with the field and the reason, `UnreadableDocumentError`, `StorageError`, `ClosedError`;
        then nothing was changed.
        """
        kind = self._kind(change)
        items = self._items(change)
        for item in items:
            _check_allowed(item, kind, self._policies[kind].writes)
        now = self._now()
        if not self._config.secrets.mask:
            return await self._write(change, items, kind, now, supplied)
        language = self._config.language
        discreet = await without_secrets(items, language)
        if not discreet.kinds:
            return await self._write(change, items, kind, now, supplied)
        planned = await self._write(_with_items(change, discreet.items), discreet.items, kind, now, supplied)
        words = told(discreet.kinds, language)
        return replace(planned, message=f"{planned.message}; {words}" if planned.message else words)

    async def _write(
        self, change: Change, items: Sequence[Change], kind: SessionKind, now: datetime, supplied: Sequence[str]
    ) -> Planned:
        captured = await self._captured(items, kind, now, self._config.capture, supplied)
        if captured.writes:
            try:
                return await self._queued(change, items, captured, kind, now)
            except (Refused, UnreadableDocumentError) as problem:
                # What was asked for on the way must not cost the message: it is suggested instead.
                log.info("what the message asks for can't be written (%s); it is suggested", problem)
                rules = self._config.capture.model_copy(update={"explicit": False})
                captured = await self._captured(items, kind, now, rules, supplied)
        return await self._queued(change, items, captured, kind, now)

    async def _queued(
        self, change: Change, items: Sequence[Change], captured: Captured, kind: SessionKind, now: datetime
    ) -> Planned:
        every = [*items, *(write for write, _ in captured.writes)] if captured.writes else items
        needs = await self._needs(change, every, kind, now)
        seen = await self._not_forgotten(change, items)
        while True:
            draft = await self._draft(needs, now)
            if self._forgotten is not None and self._forgotten.state() is not seen:
                seen = await self._not_forgotten(change, items)
                continue
            try:
                planned = self._planned(change, every, needs, draft, now)
            except NotLoadedError as missing:
                needs.paths[missing.path] = None
            else:
                if not (captured.writes or captured.suggestions):
                    return planned
                told = [*(words for _, words in captured.writes), *captured.suggestions]
                return replace(planned, suggestions=tuple(dict.fromkeys(told)))

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

    async def _captured(
        self, items: Sequence[Change], kind: SessionKind, now: datetime, rules: CaptureConfig, supplied: Sequence[str]
    ) -> Captured:
        """Judge what the user says in these items.

        What is long, in a thread. A hop into one and back costs as much as a short message does, and the first time the
        patterns are compiled.
        """
        if self._policies[kind].writes != "all" or not (rules.explicit or rules.suggestions):
            return _NOTHING
        judged = [item for item in items if isinstance(item, MemoryWrite) and is_judged(item, now)]
        if not judged:
            return _NOTHING
        today = conversations.day_path(now, self._zone)
        found = []
        for item in judged:
            try:
                draft = await self._store.draft([], known=[today])
            except UnreadableDocumentError:
                earlier: list[str] = []
            else:
                earlier = earlier_in(draft.document(today), item.session_id)
            if self._has_judged and _length(item) <= JUDGED_AT_ONCE:
                found.append(capture(item, earlier, supplied, kind, rules, now))
            else:
                found.append(await anyio.to_thread.run_sync(capture, item, earlier, supplied, kind, rules, now))
                self._has_judged = True
        return Captured(
            tuple(write for one in found for write in one.writes),
            tuple(words for one in found for words in one.suggestions),
        )

    def _planned(self, change: Change, items: Sequence[Change], needs: _Needs, draft: Draft, now: datetime) -> Planned:
        """Plan all items on a draft and commit it; nothing is awaited in here."""
        once = _idempotency(change)
        if once is not None:
            seen = state.known_keys(draft, *once, now)
            if seen is not None:
                return Planned(self._store.commit(draft), tuple(seen), "this idempotencyKey was written before")
        keys: list[str] = []
        messages: list[str] = []
        for number, given in enumerate(items):
            item, replaced = _storable(given)
            try:
                item_keys, message = self._plan(draft, needs, number, item, now)
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
        commit = self._store.commit(draft)
        self._tidied |= {
            day: draft.document(day).places for day in needs.appended if not self._store.is_being_saved(day)
        }
        return Planned(commit, tuple(keys), "; ".join(dict.fromkeys(messages)) or None)

    async def _draft(self, needs: _Needs, now: datetime) -> Draft:
        """Load what planning rests on, with the parts that full files rotate into.

        A day's file that was read anew since it was last tidied may hold an old view of the day: then with all parts.
        """
        draft = await self._loaded(needs)
        if not self._unsure(needs, draft, {}):
            needs.limits = self._limits_of(needs)
            if not rotation.parts_missing(draft, needs.everything_said, needs.limits):
                return draft
        # Many sessions find the same file full at once. One looks for its next part; who waited finds the file rotated,
        # since from the end of this to the commit nothing is awaited.
        async with self._rotating:
            return await self._draft_with_parts(needs, now)

    async def _loaded(self, needs: _Needs) -> Draft:
        return await self._store.draft(
            [path for path in needs.paths if path not in needs.looked_at],
            known=(*needs.appended, *needs.looked_at, *needs.copies.paths),
        )

    async def _draft_with_parts(self, needs: _Needs, now: datetime) -> Draft:
        listed: dict[str, object] = {}
        while True:
            draft = await self._loaded(needs)
            unknown = self._unsure(needs, draft, listed)
            if unknown:
                known = await self._store.scan(FOLDER)
                for day in unknown:
                    listed[day] = draft.document(day).places
                    needs.paths |= dict.fromkeys([day, *await self._store.readable(parts_of(day, known))])
                continue
            needs.limits = self._limits_of(needs)
            for day in listed:
                if not self._store.is_being_saved(day):
                    rotation.plan_tidying(draft, day, now)
            missing = rotation.parts_missing(draft, needs.everything_said, needs.limits)
            if not missing:
                return draft
            known = await self._store.scan(FOLDER)
            for day, count in missing.items():
                # What is moved must be what the file holds, so the day's own file is looked at as well.
                needs.paths |= dict.fromkeys([day, *next_parts(day, {*known, *needs.paths}, count)])

    def _limits_of(self, needs: _Needs) -> rotation.Limits:
        """Give when a day's file is full; never while somebody saves it.

        Of a file that is half saved a message may be cut off, which is no edit of it. And what was not tidied up must
        not be moved: its copies of other parts' messages would come along.
        """
        return rotation.NONE if any(map(self._store.is_being_saved, needs.appended)) else self._limits

    def _unsure(self, needs: _Needs, draft: Draft, listed: Mapping[str, object]) -> list[str]:
        return [day for day in needs.appended if self._may_be_an_old_view(draft.document(day), listed.get(day))]

    def _may_be_an_old_view(self, document: ConversationDocument, listed: object) -> bool:
        """Tell whether a day's file was read anew since it was tidied, or since its parts were listed."""
        places = document.places
        return bool(document.file.blocks) and places is not self._tidied.get(document.path) and places is not listed

    def _now(self) -> datetime:
        """Give the time on the user's clock, to the millisecond as files hold it."""
        now = self._clock.now().astimezone(self._zone)
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    def _kind(self, change: Change) -> SessionKind:
        if change.session_kind is not None:
            return change.session_kind
        return kind_of(change.session_id or "", self._config.default_session_kind)

    def _items(self, change: Change) -> list[Change]:
        if isinstance(change, MemoryWrite) and isinstance(change.content, BatchContent):
            return [item.data for item in change.content.items]
        return [change]

    async def _needs(self, change: Change, items: Sequence[Change], kind: SessionKind, now: datetime) -> _Needs:
        needs = _Needs([], [], {}, {}, {}, {}, "", Copies(self._config, self._workspace), self._limits)
        visibility = None if (audience_here := audience(kind)) == "private" else audience_here
        others: list[object] = []
        for number, item in enumerate(items):
            content = item.content if isinstance(item, MemoryWrite) else item
            if not isinstance(content, (MessageContent, MessagesContent)):
                others.append(content)
                continue
            assert isinstance(item, MemoryWrite)
            needs.said[number] = said = conversations.prepare(
                content.messages if isinstance(content, MessagesContent) else (content,),
                item.session_id,
                now=now,
                zone=self._zone,
                new_id=self._new_id,
                origin=item.origin,
                visibility=visibility,
            )
            for one in said:
                needs.appended[one.path] = None
            await needs.copies.ask(self._store.readable, item.session_id)
        if others:
            await self._needs_of(others, needs, now)
        if isinstance(change, MemoryWrite) and change.idempotency_key is not None:
            needs.paths[state.IDEMPOTENCY] = None
        return needs

    async def _needs_of(self, contents: Sequence[object], needs: _Needs, now: datetime) -> None:
        """Name the documents for whatever is no message."""
        facts_wanted = [content for content in contents if isinstance(content, FactContent | UpdateFact)]
        if facts_wanted:
            if any(content.topic is None for content in facts_wanted):
                # A file that can't be read holds no fact that could be changed; it must not stop the others.
                needs.known_facts = await self._store.looked_through(facts.FOLDER)
                needs.looked_at = dict.fromkeys(needs.known_facts)
            for content in facts_wanted:
                needs.paths.update(dict.fromkeys(facts.documents_for(content.topic, needs.known_facts)))
        if any(isinstance(content, TaskContent | TaskStateChange) for content in contents):
            # An archive that can't be read holds no task that could be changed; the counter keeps its ids apart.
            needs.archived_tasks = await self._store.readable(await self._store.scan(tasks.ARCHIVED))
            needs.paths.update(dict.fromkeys(tasks.documents_for(needs.archived_tasks)))
        for summary in (content for content in contents if isinstance(content, SummaryContent)):
            needs.paths.update(dict.fromkeys(summary_records.documents_for(summary.period, summary.date)))
        if any(isinstance(content, NoteContent) for content in contents):
            needs.paths[notes.note_path(now.date(), self._workspace.notes)] = None
        if any(isinstance(content, CuratedContent) for content in contents):
            needs.curated = await self._curated_path()
            needs.paths.update(dict.fromkeys([needs.curated, state.CURATED]))
            if self._alike is not None:
                needs.same = await self._same(
                    needs.curated, [content.text for content in contents if isinstance(content, CuratedContent)]
                )

    def _plan(
        self, draft: Draft, needs: _Needs, number: int, item: Change, now: datetime
    ) -> tuple[list[str], str | None]:
        """Plan one item; gives its addresses and what is to be said about it."""
        config = self._config
        match item:
            case UpdateFact() as fact:
                return self._plan_fact(draft, needs, fact, now)
            case TaskStateChange(task_id=task_id, new_state=new_state, reason=reason):
                key, changed = tasks.plan_state_change(
                    draft,
                    needs.archived_tasks,
                    task_id,
                    new_state,
                    reason,
                    now=now,
                    zone=self._zone,
                    language=config.language,
                    keep_completed_days=config.tasks.keep_completed_days,
                )
                return [key], None if changed else f"{task_id} is {new_state} already"
            case MemoryWrite(content=MessageContent() | MessagesContent()):
                said = needs.said[number]
                keys = rotation.plan_messages(draft, said, now=now, language=config.language, limits=needs.limits)
                return keys, needs.copies.plan(draft, item.session_id, [one.message for one in said])
            case MemoryWrite(content=FactContent() as fact):
                return self._plan_fact(draft, needs, fact, now)
            case MemoryWrite(content=NoteContent() as note):
                noted = notes.plan_note(
                    draft, note.text, note.title, now=now, zone=self._zone, folder=self._workspace.notes
                )
                return [noted.key], None if noted.changed else "this note is known already"
            case MemoryWrite(content=CuratedContent() as entry):
                return self._plan_entry(draft, needs, entry, now)
            case MemoryWrite(content=TaskContent(task_id=None) as task):
                return [
                    tasks.plan_new_task(
                        draft, needs.archived_tasks, task, now=now, zone=self._zone, language=config.language
                    )
                ], None
            case MemoryWrite(content=TaskContent() as task):
                key, changed = tasks.plan_change(
                    draft, needs.archived_tasks, task, now=now, zone=self._zone, language=config.language
                )
                return [key], None if changed else f"{task.task_id} says so already"
            case MemoryWrite(content=SummaryContent() as summary):
                given = summary_records.plan_given(draft, summary, item.session_id, now=now, language=config.language)
                if not given.changed:
                    return [given.key], "the summary says so already"
                return [given.key], "it stands below what a person wrote" if given.beside else None
        # A batch is taken apart before.
        raise Refused("type", f"{item.type!r} can't be an item of its own")

    async def _curated_path(self) -> str:
        """Give the place of MEMORY.md: where there is one, else where the configuration has it."""
        there = [path for path in self._workspace.curated if await self._store.scan(path)]
        for path in there:
            # As reading does it: a blank file hides nothing that stands in another place.
            if path not in await self._store.readable([path]) or (await self._store.read(path)).body.strip():
                return path
        return there[0] if there else f"{self._workspace.folder}/{self._config.memory_file}"

    async def _same(self, path: str, texts: Sequence[str]) -> dict[str, str]:
        """Find the entries of MEMORY.md that new ones say again; whoever waits for it waits for few texts' vectors."""
        assert self._alike is not None
        if path not in await self._store.readable([path]):
            return {}
        entries = [entry.text for entry in curated.entries_in(await self._store.read(path))][::-1]
        same: dict[str, str] = {}
        for text in texts:
            known = any(fold(entry) == fold(text) for entry in entries)
            near = [] if known else [entry for entry in entries if may_say_the_same(entry, text)][:MOST_COMPARED]
            cosines = await self._alike(text, near) if near else None
            if cosines and (best := max(cosines)) >= self._config.same_meaning:
                same[fold(text)] = fold(near[cosines.index(best)])
        return same

    def _plan_entry(
        self, draft: Draft, needs: _Needs, entry: CuratedContent, now: datetime
    ) -> tuple[list[str], str | None]:
        def similar(text: str, entries: Sequence[str]) -> int | None:
            same = needs.same.get(fold(text))
            return next((place for place, known in enumerate(entries) if fold(known) == same), None)

        plan = curated.plan_entry(
            draft,
            needs.curated,
            entry.text,
            section=entry.section,
            language=self._config.language,
            ours=draft.document(state.CURATED).values.keys(),
            similar=similar if needs.same else None,
        )
        if plan.outcome == "known":
            return [plan.key], "MEMORY.md says so already"
        gone = () if plan.replaced is None else (digest_of(plan.replaced),)
        state.plan_state(draft, state.CURATED, {plan.digest: now.isoformat(timespec="seconds")}, gone)
        if plan.outcome == "beside":
            return [plan.key], "it stands beside an entry that a person wrote, which says the same"
        return [plan.key], None if plan.replaced is None else f"it took the place of {plan.replaced!r}"

    def _plan_fact(
        self, draft: Draft, needs: _Needs, fact: UpdateFact | FactContent, now: datetime
    ) -> tuple[list[str], str | None]:
        plan = facts.plan_fact(
            draft,
            needs.known_facts,
            section=fact.section,
            key=fact.key,
            value=fact.value,
            topic=fact.topic,
            now=now,
            language=self._config.language,
        )
        return [plan.key], None if plan.changed else f"{fact.section}/{fact.key} is known already"


def _with_items(change: Change, items: Sequence[Change]) -> Change:
    """Put other items into an event: what stands for its content afterwards must not hold what they no longer do."""
    if not isinstance(change, MemoryWrite) or not isinstance(change.content, BatchContent):
        return items[0]
    inner = zip(change.content.items, items, strict=True)
    new = tuple(given.model_copy(update={"data": item}) for given, item in inner)
    return change.model_copy(update={"content": change.content.model_copy(update={"items": new})})


def _length(item: MemoryWrite) -> int:
    content = item.content
    messages = content.messages if isinstance(content, MessagesContent) else (content,)
    return sum(len(message.content) for message in messages if isinstance(message, MessageContent))


def _idempotency(change: Change) -> tuple[str, str] | None:
    """Give the key under which a write is remembered, which is its session's own, and what stands for its content."""
    if not isinstance(change, MemoryWrite) or change.idempotency_key is None:
        return None
    content = repr(_undated(change.model_dump(exclude={"idempotency_key"})))
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{change.session_id} {change.idempotency_key}", digest


def _undated(value: Any) -> Any:
    """Leave out when messages were said: who hands them in again, or on for somebody else, may date them anew."""
    if isinstance(value, dict):
        return {name: _undated(inner) for name, inner in value.items() if name != "timestamp"}
    if isinstance(value, list | tuple):
        return [_undated(inner) for inner in value]
    return value


def _storable(item: Change) -> tuple[Change, int]:
    """Replace what no file can hold in free texts (messages have been seen to); gives how much was replaced."""
    match item:
        case UpdateFact(value=text):
            cleaned, replaced = clean(text)
            return item.model_copy(update={"value": cleaned}), replaced
        case TaskStateChange(reason=str() as text):
            cleaned, replaced = clean(text)
            return item.model_copy(update={"reason": cleaned}), replaced
        case MemoryWrite(content=FactContent(value=text) as content):
            cleaned, replaced = clean(text)
            return item.model_copy(update={"content": content.model_copy(update={"value": cleaned})}), replaced
        case MemoryWrite(
            content=NoteContent(text=text) | CuratedContent(text=text) | SummaryContent(text=text) as content
        ):
            cleaned, replaced = clean(text)
            return item.model_copy(update={"content": content.model_copy(update={"text": cleaned})}), replaced
        case MemoryWrite(content=TaskContent(description=str() as text) as content):
            cleaned, replaced = clean(text)
            return item.model_copy(update={"content": content.model_copy(update={"description": cleaned})}), replaced
    return item, 0


def _check_allowed(item: Change, kind: SessionKind, writes: Writes) -> None:
    """Refuse what this kind of session may not change (docs/sessions.md)."""
    if writes == "none":
        raise Refused("sessionKind", f"a {kind} session only reads; write from a primary session")
    own = isinstance(item, MemoryWrite) and isinstance(item.content, MessageContent | MessagesContent)
    if writes == "own" and not own:
        raise Refused(
            "sessionKind", f"a {kind} session only adds to its own conversation; write from a primary session"
        )
