"""The proof itself: run a workload, take every crash state, reopen each, and say what is not as promised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from openclaw_memory.layers.rooms import FOLDERS
from tests.reliability.crashes import Crash, crash_states
from tests.reliability.disk import ROOT as ROOT_INODE
from tests.reliability.disk import Named, SimulatedDisk, State, Step
from tests.reliability.harness import DISK, ROOT, Deed, backups, documents, occurrences, running, set_aside
from tests.reliability.workloads import Case


@dataclass(slots=True)
class Recorded:
    """A workload that was run: where it began, its steps, and what was done in it."""

    begin: State
    steps: list[Step]
    end: State
    deeds: dict[str, Deed] = field(default_factory=dict)
    told: frozenset[str] = frozenset()
    """What people had been told before it began."""


async def record(case: Case, heeds_sync: Callable[[], bool] = lambda: True) -> Recorded:
    """Run a workload on an empty disk."""
    disk = SimulatedDisk(DISK, heeds_sync=heeds_sync)
    if case.folder_left:
        disk.make_folder(ROOT.parent)
    settings = {"journal_limit": case.journal_limit, "mode": case.mode, "per_file": case.per_file}
    async with running(disk, **settings, close=False) as run:
        await case.work(run)
        recorded = Recorded(State(), list(disk.steps), disk.state.copy(), run.deeds)
        if run.store._journal is not None:
            run.journal.close()
    return recorded


async def record_restart(recorded: Recorded, crash: Crash) -> Recorded:
    """Start on what a crash left, and close; versions that were written before stay versions that were written."""
    disk = SimulatedDisk(DISK, crash.state)
    async with running(disk, first_id=100, journal_limit=1):
        pass
    return Recorded(crash.state, list(disk.steps), disk.state.copy(), recorded.deeds, crash.told)


async def record_after_kill(recorded: Recorded, after: int, heeds_sync: Callable[[], bool] = lambda: True) -> Recorded:
    """Go on after the process was killed, and not the machine: what was not synced is still to be seen, for now."""
    state = recorded.begin.copy()
    state.times, state.folders = recorded.end.times, recorded.end.folders
    for step in recorded.steps[:after]:
        state.apply(step)
    disk = SimulatedDisk(DISK, state, steps=recorded.steps[:after], heeds_sync=heeds_sync)
    async with running(disk, first_id=100, journal_limit=1):
        pass
    return Recorded(recorded.begin, list(disk.steps), disk.state.copy(), recorded.deeds)


def crashes(recorded: Recorded, since: int = 0) -> list[Crash]:
    """List the crash states of a recorded workload."""
    return [
        Crash(crash.state, crash.step, crash.told | recorded.told)
        for crash in crash_states(recorded.begin, recorded.steps, recorded.end, since)
    ]


def versions(recorded: Recorded) -> dict[str, set[bytes]]:
    """Give, by path, the contents that documents and backups had under their names at any time."""
    state = recorded.begin.copy()
    folders = {inode: f"{path}/" for path, inode in recorded.end.paths(recorded.end.folders).items()} | {ROOT_INODE: ""}
    seen = {path: {data} for path, data in state.files().items()}
    for step in recorded.steps:
        state.apply(step)
        if isinstance(step, Named):
            for name, inode in step.names.items():
                if inode is not None and inode not in recorded.end.folders:
                    seen.setdefault(folders[step.folder] + name, set()).add(state.data.get(inode, b""))
    return seen


async def faults(recorded: Recorded, crash: Crash, written: dict[str, set[bytes]]) -> list[str]:
    """Reopen a crash state; say what is not as promised."""
    found = [
        f"{path} is no version that was written: {data!r}"
        for path, data in crash.state.files().items()
        if _is_document(path) and data not in written.get(path, ())
    ]
    disk = SimulatedDisk(DISK, crash.state)
    try:
        async with running(disk, first_id=100):
            opened = disk.state.files()
            found += _missing(recorded.deeds, crash.told, opened, "after the start")
        closed = disk.state.files()
        found += _missing(recorded.deeds, crash.told, closed, "after the close")
    except Exception as error:  # noqa: BLE001 - whatever it is, the start must not fail
        found.append(f"start failed: {error!r}")
    return found


def _missing(deeds: dict[str, Deed], told: frozenset[str], files: dict[str, bytes], when: str) -> list[str]:
    texts = [data.decode(errors="replace") for data in documents(files).values()]
    aside = [data.decode(errors="replace") for data in set_aside(files).values()]
    found = []
    for name, deed in deeds.items():
        counts = occurrences(deed, texts)
        if set(counts) == {0} and deed.by_hand:
            counts = occurrences(deed, aside)
        if set(counts) == {1} or (set(counts) == {0} and name not in told):
            continue
        standing = "acknowledged" if name in told else "not acknowledged"
        found.append(f"{when}: {name!r}, {standing}, is there {counts} times")
    return found


def _is_document(path: str) -> bool:
    name = path.rpartition("/")[2]
    return ("/.journal/" not in path) and not name.endswith(".tmp")


def damaged(crash: Crash) -> Iterator[Crash]:
    """Give a crash state with each document in turn turned into NULs, its time and inode as they were."""
    for (_, name), inode in crash.state.names.items():
        if name.endswith(".md") and not name.startswith(".") and crash.state.data.get(inode):
            state = crash.state.copy()
            # A file of its own, should the inode have a second name.
            state.data[inode] = b"\0" * len(state.data[inode])
            yield replace(crash, state=state)


async def lost_to_damage(recorded: Recorded, crash: Crash) -> list[str]:
    """Damage each file after a crash; say what neither the start restores nor backup and journal hold."""
    found = []
    for case in damaged(crash):
        disk = SimulatedDisk(DISK, case.state)
        async with running(disk, first_id=100) as run:
            await run.store.look(FOLDERS)
            unreadable = run.store.problems()
        files = disk.state.files()
        held = [data.decode() for path, data in documents(files).items() if path not in unreadable]
        held += [data.decode() for path, data in backups(files).items() if path in unreadable]
        held += [data.decode() for data in set_aside(files).values()]
        if unreadable:
            # In JSON a text ends with a quote where in the document it ends with its line.
            held += [data.decode().replace('"', "\n") for path, data in files.items() if path.endswith(".log")]
        found += [
            f"after damage: {name!r}, acknowledged, is lost; unreadable: {unreadable}"
            for name in sorted(case.told)
            if 0 in occurrences(recorded.deeds[name], held)
        ]
    return found


async def check(recorded: Recorded, damage: bool = False, *, since: int = 0) -> tuple[int, list[str]]:
    """Reopen every crash state possible at the step `since` or later, with `damage` also with each file damaged.

    Gives how many states there are, and the first faults found.
    """
    written = versions(recorded)
    states = crashes(recorded, since)
    for crash in states:
        if damage and (found := await lost_to_damage(recorded, crash)):
            return len(states), [f"crash after step {crash.step}: {fault}" for fault in found] + describe(
                recorded.steps[: crash.step], crash
            )
        if found := await faults(recorded, crash, written):
            return len(states), [f"crash after step {crash.step}: {fault}" for fault in found] + describe(
                recorded.steps[: crash.step], crash
            )
    return len(states), []


def describe(steps: Sequence[Step], crash: Crash) -> list[str]:
    """Show the last steps before a crash and the files that it left, for a person to follow."""
    return [f"  step: {step}"[:300] for step in steps[-12:]] + [
        f"  file {path}: {data!r}"[:600] for path, data in sorted(crash.state.files().items())
    ]
