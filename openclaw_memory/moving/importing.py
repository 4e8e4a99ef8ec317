"""Import: read a source, tell what it would bring, back everything up, write, and undo that when it is stopped."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread

from bus import BusError, EventBus
from contracts.fields import Origin
from openclaw_memory.clock import Clock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.errors import OpenClawMemoryError
from openclaw_memory.lifecycle.forgetting.tombstones import FORGOTTEN, Tombstones
from openclaw_memory.masking.mask import mask
from openclaw_memory.moving.backup import backup_folder, make_backup, restore_backup
from openclaw_memory.moving.comparing import Rules, compare
from openclaw_memory.moving.errors import SourceError, StoppedError
from openclaw_memory.moving.found import FoundMessage, Remark
from openclaw_memory.moving.held import read_held
from openclaw_memory.moving.naming import wanted_days, wanted_paths
from openclaw_memory.moving.plan import Plan
from openclaw_memory.moving.recognising import Format, read_source
from openclaw_memory.moving.source import Source, open_source
from openclaw_memory.moving.writing import Written, place, take_away, write_events
from openclaw_memory.storage.files import Files
from openclaw_memory.storage.lockowner import find_owner
from openclaw_memory.storage.places import Places
from openclaw_memory.workspace import elsewhere, locks, workspace_of

OpenBus = Callable[[], AbstractAsyncContextManager[tuple[EventBus, bool]]]
"""Starts memory; gives its bus, and whether it is the one that writes the folder."""

Progress = Callable[[int, int], None]
"""Called with how many items are written, of how many."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a person wants a source to be taken.

    `format`: None where its shape tells. `trusted`: the messages are the owner's and the agent's own; else they are
    marked as untrusted, and stay marked wherever they are recalled. `take_theirs`: the source's facts replace ours.
    """

    format: Format | None = None
    trusted: bool = False
    take_theirs: bool = False

    def origin(self, message: FoundMessage) -> Origin | None:
        """Give who a message is from; one of an export of ours is from whom that says."""
        if message.id is not None or message.origin is not None:
            return message.origin
        if not self.trusted:
            return "untrusted"
        return "owner" if message.role == "user" else "agent"


@dataclass(slots=True)
class Imported:
    """What an import has done; `backup` is where everything lies as it was before."""

    backup: Path
    backed_up: int
    written: Written = field(default_factory=Written)
    taken: list[Remark] = field(default_factory=list)


async def plan_import(config: MemoryConfig, path: Path, options: Options, files: Files, clock: Clock) -> Plan:
    """Read a source and tell what importing it would do; nothing is changed.

    Raises: `SourceError`.
    """
    source = await anyio.to_thread.run_sync(_opened, config, path)
    found = await anyio.to_thread.run_sync(read_source, source, config.zone, options.format)
    rooms = workspace_of(config)
    held = await read_held(config, files, clock, days=wanted_days(found, config.zone), paths=wanted_paths(found, rooms))
    tombstones = Tombstones(await anyio.to_thread.run_sync(_forgotten, config, files))

    def masked(text: str) -> tuple[str, int]:
        if not config.secrets.mask:
            return text, 0
        done = mask(text, config.language)
        return done.text, len(done.kinds)

    rules = Rules(rooms, config.zone, config.language, masked, tombstones.since, options.take_theirs)
    plan = await anyio.to_thread.run_sync(compare, found, held, rules)
    if held.owned:
        # What somebody who runs has counted and noted is his to write.
        plan.placements = [one for one in plan.placements if one.layer != "state"]
        plan.new.pop("state", None)
    return plan


def _opened(config: MemoryConfig, path: Path) -> Source:
    for folder in (config.root, config.memory_folder, config.workspace_folder):
        if path.resolve() == folder.resolve():
            raise SourceError(str(path), "it is this memory's own folder", "nothing has to be imported")
    return open_source(path)


def _forgotten(config: MemoryConfig, files: Files) -> dict[str, object]:
    try:
        values = json.loads(files.read_now(config.memory_folder / FORGOTTEN))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise SourceError(
            FORGOTTEN, f"what was forgotten can't be read ({error})", "mend it with `openclaw-memory repair` first"
        ) from error
    return values if isinstance(values, dict) else {}


def perform(
    config: MemoryConfig,
    plan: Plan,
    options: Options,
    files: Files,
    clock: Clock,
    open_bus: OpenBus,
    progress: Progress = lambda done, total: None,
) -> Imported:
    """Back everything up, then write a plan. Waits for the disk; for who has no event loop.

    Raises: `BackupError`, before anything is written; `StoppedError`, with what was done about what was written.
    `KeyboardInterrupt` has the same in its text.
    """
    backup = backup_folder(config, clock.now(), files)
    imported = Imported(backup, make_backup(config, backup, files))
    places = Places(config.memory_folder, elsewhere(config))
    attempt = _Attempt()
    total = len(plan.messages) + len(plan.entries) + len(plan.facts) + len(plan.tasks)

    def written(count: int) -> None:
        attempt.done += count
        progress(attempt.done, total)

    async def send() -> None:
        async with open_bus() as (bus, is_owner):
            attempt.begun, attempt.is_owner = True, is_owner
            await write_events(bus, plan, imported.written, options.origin, written)

    try:
        imported.taken = place(plan.placements, places, files)
        if plan.writes_events:
            anyio.run(send)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_undone(config, plan, places, backup, attempt, files)) from None
    except (OpenClawMemoryError, BusError, OSError) as error:
        state = _undone(config, plan, places, backup, attempt, files)
        problem = error.problem if isinstance(error, StoppedError) else str(error)
        raise StoppedError(problem, state) from error
    taken = {remark.where for remark in imported.taken}
    for placement in plan.placements:
        if placement.where not in taken:
            imported.written.add(placement.layer, placement.count)
    return imported


@dataclass(slots=True)
class _Attempt:
    begun: bool = False
    is_owner: bool = True
    done: int = 0


def _undone(config: MemoryConfig, plan: Plan, places: Places, backup: Path, attempt: _Attempt, files: Files) -> str:
    """Undo what an import has written; gives in words how memory is now."""
    with _uninterrupted():
        try:
            return _undo(config, plan, places, backup, attempt, files)
        except (OpenClawMemoryError, OSError) as error:
            return f"undoing it failed ({error}); everything lies as it was in {backup}"


def _undo(config: MemoryConfig, plan: Plan, places: Places, backup: Path, attempt: _Attempt, files: Files) -> str:
    if attempt.begun and not attempt.is_owner:
        # What the Gateway has written is its own by now, among what was said to it meanwhile.
        left = take_away(plan.placements, places, files)
        stays = f"{attempt.done} items that the running Gateway has written stay, and what was on its way to it"
        return f"{stays}; run the import again to finish it, nothing is written twice" + (
            f" ({', '.join(left)} stays as well)" if left else ""
        )
    if attempt.begun:
        owner = find_owner(config.memory_folder, files)
        if owner is not None:
            return f"{owner.name} has taken the folder meanwhile; run the import again to finish it"
        held = locks(config)
        held.acquire()
        try:
            left = take_away(plan.placements, places, files)
            restore_backup(config, backup, files)
        finally:
            held.release()
    else:
        take_away(plan.placements, places, files)
    return "everything is as it was before"


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Finish what undoes an import, also when Ctrl-C is pressed again."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
