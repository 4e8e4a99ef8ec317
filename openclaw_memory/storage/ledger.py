"""Drafts on their way to the journal, and what becomes of their documents when it is decided."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from openclaw_memory.clock import Clock
from openclaw_memory.errors import ClosedError, OpenClawMemoryError, StorageError, UnstorableError
from openclaw_memory.storage.commits import Commit
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.journal import Failure, Journal
from openclaw_memory.storage.operations import Flush, Operation, Record, json_of_operation
from openclaw_memory.storage.shelf import Shelf

log = logging.getLogger(__name__)

MOST_IN_A_RECORD = 64
"""Drafts that share a record at most: the event loop writes it down in one go."""


class Ledger:
    """The commits that are not decided yet, between `begin` and `end`.

    Parameters: `shelf`, with the documents; `clock`; `added`, called with the documents that got entries to be written;
    `trouble`, called with `journal` and the reason when it can't be written, and with None when it can again.
    """

    def __init__(
        self,
        shelf: Shelf,
        clock: Clock,
        added: Callable[[Iterable[str]], None],
        trouble: Callable[[str, str | None], None],
    ) -> None:
        self._shelf = shelf
        self._clock = clock
        self._added = added
        self._trouble = trouble
        self.position = 0
        """The last one that was given to a record."""
        self.drafts = 0
        """How many drafts are in commits that are not decided."""
        self._commits: dict[int, Commit] = {}
        self._open: Commit | None = None
        """The commit that further drafts may join: its record is not with the journal yet."""
        self._journal: Journal | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def begin(self, journal: Journal) -> None:
        """Accept drafts for a journal, in the event loop that runs."""
        self._journal, self._loop = journal, asyncio.get_running_loop()

    def end(self) -> None:
        """Accept no more drafts."""
        self._journal = None

    @property
    def undecided(self) -> Iterable[int]:
        """Positions of records that are neither durable nor have failed."""
        return self._commits.keys()

    async def settled(self) -> None:
        """Return when every commit made so far is decided."""
        for commit in list(self._commits.values()):
            await commit.wait()

    def commit(self, draft: Draft) -> Commit:
        """Queue a draft for the journal; its documents are what the next draft is planned on.

        Raises: `ClosedError`.
        """
        if self._journal is None:
            raise ClosedError("the store")
        if not draft.operations:
            return self._nothing_to_do()
        entries = self._shelf.entries
        stale = [path for path in draft.changed if entries[path].planned is not draft.planned[path]]
        if stale:
            raise RuntimeError(f"a draft was kept while {stale} changed; plan and commit without awaiting in between")
        try:
            # At once, while the processor has all of it at hand: later that takes three times as long.
            operations = [json_of_operation(operation) for operation in draft.operations]
        except Exception as error:
            log.exception("a change can't be written down")
            return self._refused(UnstorableError(error))
        commit = self._open or self._begun()
        commit.add(draft.changed, operations)
        for operation in draft.operations:
            entries[operation.path].queued.append((commit.position, operation))
        for path, document in draft.changed.items():
            entries[path].planned = document
        self._shelf.active |= draft.changed.keys()
        return self._added_to(commit)

    def add(self, operation: Operation) -> Commit:
        """Queue one operation, which needs no draft: it is applied to its document when somebody looks at that.

        Raises: `ClosedError`.
        """
        if self._journal is None:
            raise ClosedError("the store")
        try:
            text = json_of_operation(operation)
        except Exception as error:
            log.exception("a change can't be written down")
            return self._refused(UnstorableError(error))
        commit = self._open or self._begun()
        commit.add((operation.path,), (text,))
        self._shelf.entries[operation.path].add(commit.position, operation)
        self._shelf.active.add(operation.path)
        return self._added_to(commit)

    def _begun(self) -> Commit:
        assert self._loop is not None
        commit = self._open = self._next()
        # What else is planned before the event loop comes to this goes into the same record: a burst costs one.
        self._loop.call_soon(self._submit, commit)
        return commit

    def _added_to(self, commit: Commit) -> Commit:
        self.drafts += 1
        if commit.drafts >= MOST_IN_A_RECORD:
            self._submit(commit)
        return commit

    def _next(self) -> Commit:
        self.position += 1
        commit = self._commits[self.position] = Commit(self.position)
        return commit

    def _submit(self, commit: Commit | None) -> None:
        """Hand a record over to the journal, once; nothing more goes into it."""
        if commit is None or commit is not self._open:
            return
        self._open = None
        try:
            commit.documents = {path: self._shelf.entries[path].planned for path in commit.paths}
        except Exception as error:
            # What was added to a document can't be: nothing of the record is kept, and nobody waits for ever.
            log.exception("a change can't be made")
            self._take_back(commit, UnstorableError(error))
            return
        if self._journal is not None:
            self._journal.submit_operations(commit.position, commit.operations)

    def _take_back(self, commit: Commit, problem: OpenClawMemoryError) -> None:
        """Undo the commit that was made last, of which the journal knows nothing."""
        del self._commits[commit.position]
        self.drafts -= commit.drafts
        self._shelf.withdraw(commit.paths, commit.position)
        commit.settle(problem)

    def submit_open(self) -> None:
        """Hand over what further drafts could still have joined."""
        self._submit(self._open)

    def _refused(self, problem: OpenClawMemoryError) -> Commit:
        """Give the commit of a draft of which nothing was kept."""
        commit = Commit(self.position)
        commit.settle(problem)
        return commit

    def _nothing_to_do(self) -> Commit:
        """Give a commit without operations: nothing to make durable, but its answer may rest on what is on its way."""
        commit = Commit(self.position)
        last = next(reversed(self._commits), None)
        if last is None:
            commit.settle(None)
        else:
            self._commits[last].call_when_settled(lambda earlier: commit.settle(earlier.error))
        return commit

    def record(self, intents: tuple[Flush, ...], flushed: tuple[Flush, ...]) -> Commit:
        """Queue a record of rewritten files, after every draft that was planned before.

        Raises: `ClosedError`.
        """
        if self._journal is None:
            raise ClosedError("the store")
        # Positions lie in the journal in order.
        self.submit_open()
        commit = self._next()
        try:
            self._journal.submit(Record(self.position, intents=intents, flushed=flushed))
        except BaseException:
            del self._commits[commit.position]
            raise
        return commit

    def settled_in_thread(self, positions: Sequence[int], error: Failure | None) -> None:
        """Hear from the journal's thread that records are durable, or why they are not."""
        assert self._loop is not None
        # The loop may be gone when a program ends without closing; then nobody is left to be told.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._settle, positions, error)

    def _settle(self, positions: Sequence[int], error: Failure | None) -> None:
        if error is not None and not positions:
            self._trouble("journal", str(_problem(error)))
            return
        if error is not None:
            # A batch that was taken before the failure was undone fails late; its commits are decided already.
            if any(position in self._commits for position in positions):
                self._undo(error)
            return
        settled = [commit for position in positions if (commit := self._commits.pop(position, None)) is not None]
        latest = {path: commit for commit in settled for path in commit.documents}
        for path, commit in latest.items():
            try:
                self._promote(path, commit)
            except Exception:
                # It is durable all the same, and so is what shares its record.
                log.exception("%s is written down, and readers could not be told", path)
        for commit in settled:
            self.drafts -= commit.drafts
            commit.settle(None)
        if latest:
            self._added(latest)
        self._trouble("journal", None)

    def _promote(self, path: str, commit: Commit) -> None:
        """Make what was planned with `commit` the committed document."""
        entry = self._shelf.entries[path]
        done = [item for item in entry.queued if item[0] <= commit.position]
        del entry.queued[: len(done)]
        if not entry.unflushed:
            entry.since = self._clock.monotonic()
        entry.unflushed += done
        if entry.base is None:
            return
        before = entry.committed
        if not entry.queued:
            entry.committed = entry.planned
        elif entry.rebased >= commit.position:
            # A person's edit came in between; the operations were applied to the new base, one by one.
            entry.committed = entry.apply(before, done)
        else:
            entry.committed = entry.format.flushed(commit.documents[path], entry.base)
        self._shelf.changed(path, before, entry.committed)

    def _undo(self, error: Failure) -> None:
        """Fail everything that is planned and not durable: it was planned on records that are lost."""
        failed, self._commits = self._commits, {}
        self._open, self.drafts = None, 0
        for entry in self._shelf.entries.values():
            entry.queued.clear()
            entry.planned = entry.committed
        if self._journal is not None:
            self._journal.resume(self.position)
        problem = _problem(error)
        self._trouble("journal", str(problem))
        for commit in failed.values():
            commit.settle(problem)


def _problem(error: Failure) -> OpenClawMemoryError:
    return error if isinstance(error, OpenClawMemoryError) else StorageError("writing the journal", error)
