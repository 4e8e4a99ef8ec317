"""What is done to a memory before the power fails: one to three operations of every kind, each from an empty disk."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from pathlib import Path

from contracts import MemoryWrite
from openclaw_memory.storage.durable import BACKUP_SUFFIX
from openclaw_memory.storage.flusher import REST_SECONDS
from openclaw_memory.storage.journal import SyncMode
from tests.reliability.harness import DAY, PART, PROFILE, ROOT, SHORT, Run, Workload, batch, fact, say, task

ONCE = hashlib.sha256(b"once-1").hexdigest()
"""What is kept of an idempotency key."""


@dataclass(frozen=True, slots=True)
class Case:
    """A workload, with the settings that it runs under. `mode` other than `always` promises less until the close."""

    work: Workload
    journal_limit: int = 1 << 20
    mode: SyncMode = "always"
    folder_left: bool = False
    """Whether a process was killed just after it had made the first folder."""
    damage: bool = False
    """Whether each file is also damaged after each crash: backup and journal must hold it between them."""

    per_file: int = 500
    """So many messages fill a day's file, and the next one rotates it."""

    def __str__(self) -> str:
        more = {"short": self.journal_limit == SHORT, "damage": self.damage, "folder_left": self.folder_left}
        return "-".join([self.work.__name__, *(name for name, given in more.items() if given)])


async def message(run: Run) -> None:
    await run.write(say("hello-1"), r"hello-1\n")


async def messages_together(run: Run) -> None:
    """Three records, of which the last two share a sync."""
    await run.write(say("hello-1"), r"hello-1\n")
    with run.journal.held():
        await run.start(say("hello-2"), r"hello-2\n")
        await run.start(fact("k", "value-3"), r"- k: value-3\n")
    await run.acknowledged()


async def fact_replaced(run: Run) -> None:
    """The old value moves into the archive: two documents and a state file, or none of them."""
    await run.write(fact("k", "value-1"), r": value-1\n")
    await run.flush()
    await run.write(fact("k", "value-2"), r"- k: value-2\n", r"→ \S+\): value-1\n")
    await run.flush()


async def value_archived_and_closed(run: Run) -> None:
    """The same, and everything is let go of at the close. The archive lies in a folder that has no other within."""
    await fact_replaced(run)
    await run.store.close()


async def task_made(run: Run) -> None:
    await run.write(task("buy-1"), r"\] buy-1")
    await run.write(task("buy-2"), r"\[OPEN-002\] buy-2")
    await run.flush()


async def batch_whole(run: Run) -> None:
    """A message, a fact and a task in one event."""
    await run.write(fact("k", "value-0"), r": value-0\n")
    await run.flush()
    await run.write(
        batch(
            ("memory:write", {"type": "conversation", "content": {"role": "user", "content": "hello-1"}}),
            ("memory:update_fact", {"section": "S", "key": "k", "value": "value-1"}),
            ("memory:write", {"type": "task", "content": {"title": "buy-1"}}),
        ),
        r"hello-1\n",
        r"- k: value-1\n",
        r"→ \S+\): value-0\n",
        r"\] buy-1",
    )
    await run.flush()


async def key_remembered(run: Run) -> None:
    await run.write(say("hello-1", idempotency_key="once-1"), r"hello-1\n", rf'"s1 {ONCE}":')
    await run.flush()


async def flushed_and_shortened(run: Run) -> None:
    """Three rewrites of one file, and the journal lets go of what file and backup hold."""
    for number in (1, 2, 3):
        await run.write(say(f"hello-{number}"), rf"hello-{number}\n")
        await run.flush()


async def one_of_two_flushed(run: Run) -> None:
    """The journal is shortened while it still holds the only copy of the other document's operations."""
    await run.write(say("hello-1"), r"hello-1\n")
    await run.write(fact("k", "value-2"), r"- k: value-2\n")
    await run.flush([DAY])


async def backup_settled(run: Run) -> None:
    """After some rest the backup is brought up to date, and the journal holds nothing any more."""
    for number in (1, 2):
        await run.write(say(f"hello-{number}"), rf"hello-{number}\n")
        await run.flush()
    background = asyncio.create_task(run.store.run())
    await asyncio.sleep(0)
    run.clock.advance(REST_SECONDS)
    for _ in range(50):
        await asyncio.sleep(0)
    background.cancel()
    await asyncio.wait([background])
    assert run.text(DAY + BACKUP_SUFFIX) == run.text(DAY)
    await run.shortened()
    await run.write(say("hello-3"), r"hello-3\n")


async def closed(run: Run) -> None:
    """Everything is flushed, the backups are settled, the journal is emptied, the stamps are written."""
    for number in (1, 2):
        await run.write(say(f"hello-{number}"), rf"hello-{number}\n")
        await run.flush()
    await run.write(say("hello-3"), r"hello-3\n")
    await run.store.close()


async def edited(run: Run) -> None:
    """A person adds a line between a flush and the next."""
    await run.write(fact("k", "value-1"), r"- k: value-1\n")
    await run.flush()
    run.edit(PROFILE, lambda text: text + "- mine: by-hand-1\n", r"- mine: by-hand-1\n")
    await run.write(fact("l", "value-2"), r"- l: value-2\n")
    await run.flush()


async def edited_just_now(run: Run) -> None:
    """A person saves in the moment between our look and the exchange: what they saved is put back."""
    await run.write(fact("k", "value-1"), r"- k: value-1\n")
    await run.flush()
    await run.write(fact("l", "value-2"), r"- l: value-2\n")
    usual = run.disk.before_step

    def person(step: str, path: Path) -> None:
        usual(step, path)
        if step in ("exchange", "rename") and path == ROOT / PROFILE:
            run.disk.before_step = usual
            run.edit(PROFILE, lambda text: text + "- mine: by-hand-1\n", r"- mine: by-hand-1\n")

    run.disk.before_step = person
    await run.flush()
    assert run.disk.before_step is usual
    await run.flush()


async def buffered(run: Run) -> None:
    """With `interval` an acknowledgement promises nothing before the close, which syncs what is left."""
    with run.promising_nothing():
        await run.write(say("hello-1"), r"hello-1\n")
        await run.flush()
        await run.write(say("hello-2"), r"hello-2\n")
    # Not the store: a close that rewrites the files would sync the record for its own sake.
    await run.journal_closed()
    for deed in run.deeds:
        run.disk.tell(deed)


async def buffered_batch(run: Run) -> None:
    """A rewrite of one of two files syncs the record of both: all of a batch is there, or none of it."""
    with run.promising_nothing():
        await run.write(
            batch(
                ("memory:write", {"type": "conversation", "content": {"role": "user", "content": "hello-1"}}),
                ("memory:update_fact", {"section": "S", "key": "k", "value": "value-2"}),
            ),
            r"hello-1\n",
            r"- k: value-2\n",
        )
        await run.flush([PROFILE])


async def rotated(run: Run) -> None:
    """A full file moves into the day's first part: two files are rewritten for one record."""
    await run.write(say("hello-1"), r"hello-1\n")
    await run.flush()
    await run.write(say("hello-2"), r"hello-2\n")
    await run.flush()


async def rotated_before_any_flush(run: Run) -> None:
    """What is moved was never in a file: the journal alone holds it, in two records and in the rotation's."""
    await run.write(say("hello-1"), r"hello-1\n")
    await run.write(say("hello-2"), r"hello-2\n")
    await run.flush()


async def rotated_and_one_flushed(run: Run) -> None:
    """The day's file is rewritten, without what moved, and its part is not there yet."""
    await run.write(say("hello-1"), r"hello-1\n")
    await run.flush()
    await run.write(say("hello-2"), r"hello-2\n")
    await run.flush([DAY])


async def rotated_and_the_other_flushed(run: Run) -> None:
    """The part is written, and the day's file still holds what moved."""
    await run.write(say("hello-1"), r"hello-1\n")
    await run.flush()
    await run.write(say("hello-2"), r"hello-2\n")
    await run.flush([PART])


async def rotated_twice_at_once(run: Run) -> None:
    """Three messages in one event fill two parts."""
    content = {"messages": [{"role": "user", "content": f"hello-{number}"} for number in (1, 2, 3)]}
    event = MemoryWrite.model_validate({"type": "conversation", "content": content, "sessionId": "s1"})
    await run.write(event, r"hello-1\n", r"hello-2\n", r"hello-3\n")
    await run.flush()


async def rotated_and_closed(run: Run) -> None:
    """Everything is flushed, and the backups of both files are settled."""
    await rotated(run)
    await run.store.close()


CASES = (
    Case(message),
    Case(message, folder_left=True),
    Case(messages_together),
    Case(fact_replaced),
    Case(fact_replaced, SHORT),
    Case(task_made, SHORT),
    Case(batch_whole),
    Case(batch_whole, SHORT),
    Case(key_remembered, SHORT),
    Case(flushed_and_shortened),
    Case(flushed_and_shortened, SHORT),
    Case(one_of_two_flushed, SHORT),
    Case(closed, damage=True),
    Case(backup_settled, SHORT, damage=True),
    Case(buffered, mode="interval"),
    Case(buffered_batch, mode="interval"),
    Case(buffered_batch, mode="never"),
    Case(edited, SHORT),
    Case(edited_just_now),
    Case(edited_just_now, SHORT),
    Case(rotated, per_file=1),
    Case(rotated, SHORT, per_file=1),
    Case(rotated_before_any_flush, SHORT, per_file=1),
    Case(rotated_and_one_flushed, SHORT, per_file=1),
    Case(rotated_and_the_other_flushed, SHORT, per_file=1),
    Case(rotated_twice_at_once, SHORT, per_file=1),
    Case(rotated_and_closed, SHORT, per_file=1, damage=True),
)
