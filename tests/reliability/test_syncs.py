"""No sync is there for nothing, and none is missing: without any single one of them the proof fails."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from openclaw_memory.storage.durable import make_folders, remove, replace, write_whole
from openclaw_memory.storage.inbox import Inbox
from openclaw_memory.storage.journal import Journal
from openclaw_memory.storage.operations import Operation, Record
from tests.reliability.beyond import (
    backed_up_and_restored,
    commanded,
    exported_files,
    exported_lines,
    initialised,
    put_and_taken_away,
)
from tests.reliability.crashes import crash_states
from tests.reliability.disk import SimulatedDisk, State
from tests.reliability.harness import DISK, SHORT, punctual  # noqa: F401 - a fixture for every test here
from tests.reliability.proof import check, record, record_after_kill
from tests.reliability.sites import Site, site_here, sites_in_source
from tests.reliability.upkeep import HANDED_IN, faults_of
from tests.reliability.workloads import (
    Case,
    buffered,
    buffered_batch,
    closed,
    edited_just_now,
    flushed_and_shortened,
    message,
    one_of_two_flushed,
    rotated_and_closed,
    value_archived_and_closed,
)

SITES = sites_in_source()
KNOWN = {place: site for site, place in SITES.items()}

Proof = Callable[[Callable[[], bool]], Awaitable[list[str]]]


def case(case: Case) -> Proof:
    """Enumerate the crash states of a workload."""

    async def proof(heeds_sync: Callable[[], bool]) -> list[str]:
        _, faults = await check(await record(case, heeds_sync), case.damage)
        return faults

    return proof


async def killed(heeds_sync: Callable[[], bool]) -> list[str]:
    """Kill at each step, start and close with the sync taken out, cut the power, damage each file."""
    first = await record(Case(value_archived_and_closed))
    for after in range(len(first.steps)):
        again = await record_after_kill(first, after, heeds_sync)
        _, faults = await check(again, damage=True, since=len(again.steps))
        if faults:
            return faults
    return []


async def handed_in(heeds_sync: Callable[[], bool]) -> list[str]:
    """Hand in an event and answer it: one of the two is there after any crash, and both are whole."""
    disk = SimulatedDisk(DISK, heeds_sync=heeds_sync)
    inbox = Inbox(DISK, disk)
    inbox.hand_in("1", {"type": "event"})
    disk.tell("handed in")
    inbox.answer("1", {"type": "reply"})
    faults = []
    for crash in crash_states(State(), disk.steps, disk.state):
        after = Inbox(DISK, SimulatedDisk(DISK, crash.state))
        try:
            waiting = [after.event(name) for name in after.waiting()]
            reply = after.reply("1")
        except ValueError as error:
            faults.append(f"torn: {error}")
            continue
        if "handed in" in crash.told and not waiting and reply is None:
            faults.append("lost")
    return faults


async def backed_up_elsewhere(heeds_sync: Callable[[], bool]) -> list[str]:
    """Replace a file whose backup lies in another folder: file and backup together hold both versions after any crash.

    The journal lets go of what they hold once `replace` has returned.
    """
    disk = SimulatedDisk(DISK, heeds_sync=heeds_sync)
    path, backup = DISK / "workspace/MEMORY.md", DISK / "state/kept/MEMORY.md.backup"
    make_folders(disk, path.parent)
    make_folders(disk, backup.parent)
    first = write_whole(disk, path, b"first")
    disk.tell("first")
    replace(disk, path, b"second", first, keep_backup=True, backup=backup)
    disk.tell("second")
    faults = []
    for crash in crash_states(State(), disk.steps, disk.state):
        held = crash.state.files()
        kept = [held.get(place.relative_to(DISK).as_posix()) for place in (path, backup)]
        if "second" in crash.told and kept != [b"second", b"first"]:
            faults.append(f"lost: {kept}")
        elif "first" in crash.told and b"first" not in kept and not any(data == b"first" for data in held.values()):
            faults.append(f"lost: {held}")
    return faults


async def kept_forgotten(heeds_sync: Callable[[], bool]) -> list[str]:
    """Forget what another process had handed in: it is not handed in once more by a crash."""
    return (await faults_of(HANDED_IN, heeds_sync))[1]


async def removed(heeds_sync: Callable[[], bool]) -> list[str]:
    """Remove a file for good: no crash brings it back."""
    disk = SimulatedDisk(DISK, heeds_sync=heeds_sync)
    path = DISK / "memory/facts/x.md"
    make_folders(disk, path.parent)
    write_whole(disk, path, b"forgotten")
    remove(disk, path)
    disk.tell("removed")
    crashes = crash_states(State(), disk.steps, disk.state)
    return [
        "back"
        for crash in crashes
        if "removed" in crash.told and path.relative_to(DISK).as_posix() in crash.state.files()
    ]


async def rewritten(heeds_sync: Callable[[], bool]) -> list[str]:
    """Begin the journal anew without a line: no crash brings back a file that holds it."""
    disk = SimulatedDisk(DISK, heeds_sync=heeds_sync)
    journal = Journal(DISK / "journal", disk, 0, lambda positions, error: None)
    journal.start(())
    journal.submit(Record(1, operations=(Operation("x.md", "set", {"value": "forgotten"}),)))
    done = threading.Event()
    journal.rewrite(lambda line: None, lambda error: done.set())
    assert done.wait(10)
    disk.tell("rewritten")
    journal.close()
    crashes = crash_states(State(), disk.steps, disk.state)
    return [
        "back"
        for crash in crashes
        if "rewritten" in crash.told and any(b"forgotten" in data for data in crash.state.files().values())
    ]


SHOWN_BY: dict[Site, Proof] = {
    Site("storage.durable", "make_folders", 0): case(Case(message, folder_left=True)),
    Site("storage.durable", "make_folders", 1): case(Case(message)),
    Site("storage.durable", "open_log"): case(Case(message)),
    Site("storage.durable", "write_whole"): case(Case(closed, damage=True)),
    Site("storage.durable", "replace", 0): case(Case(flushed_and_shortened, SHORT)),
    Site("storage.durable", "replace", 1): backed_up_elsewhere,
    Site("storage.durable", "_put_back"): case(Case(edited_just_now)),
    Site("storage.durable", "_write_temporary"): case(Case(flushed_and_shortened, SHORT)),
    Site("storage.journal", "_write", 0): case(Case(message)),
    Site("storage.journal", "_write", 1): case(Case(buffered_batch, mode="interval")),
    Site("storage.journal", "_begin"): case(Case(one_of_two_flushed, SHORT)),
    Site("storage.durable", "remove"): removed,
    Site("storage.journal", "_rewrite"): rewritten,
    Site("storage.journal", "_sync_late"): case(Case(buffered, mode="interval")),
    Site("storage.starting", "take_root"): killed,
    Site("cli.init", "make", 0): initialised,
    Site("cli.init", "make", 1): initialised,
    Site("filetool.folder", "delete", 0): partial(commanded, "delete a folder in another"),
    Site("filetool.folder", "delete", 1): partial(commanded, "delete a file"),
    Site("filetool.folder", "rename"): partial(commanded, "rename a file"),
    Site("filetool.folder", "_finish_deleting"): partial(commanded, "delete a folder in another"),
    Site("moving.backup", "restore_backup"): backed_up_and_restored,
    Site("moving.exporting", "_copy"): exported_files,
    Site("moving.exporting", "_write_files", 0): exported_files,
    Site("moving.exporting", "_write_files", 1): exported_files,
    Site("moving.exporting", "_write_lines", 0): exported_lines,
    Site("moving.exporting", "_write_lines", 1): exported_lines,
    Site("moving.writing", "take_away"): put_and_taken_away,
    Site("storage.inbox", "keep_taken"): kept_forgotten,
    Site("storage.inbox", "_put", 0): handed_in,
    Site("storage.inbox", "_put", 1): handed_in,
}
"""Each sync with the workload that is lost, or torn, without it."""


ROTATION = case(Case(rotated_and_closed, SHORT, per_file=1, damage=True))
ROTATION_RESTS_ON = (
    Site("storage.durable", "make_folders", 1),
    Site("storage.durable", "open_log"),
    Site("storage.durable", "write_whole"),
    Site("storage.durable", "replace", 0),
    Site("storage.durable", "_write_temporary"),
    Site("storage.journal", "_write"),
    Site("storage.journal", "_begin"),
)
"""Syncs without which a rotation loses something, or tears it; the others it either does not come by or repeats."""


def test_every_sync_of_the_code_is_taken_out() -> None:
    """A sync that is added to the code needs a workload that shows what it is for."""
    assert SITES.keys() <= SHOWN_BY.keys()


async def test_inbox_loses_nothing() -> None:
    """With all syncs done, what was handed in is there or answered after any crash."""
    assert await handed_in(lambda: True) == []


@pytest.mark.parametrize("site", sorted(SITES), ids=str)
async def test_taken_out_sync_is_missed(site: Site) -> None:
    """Pretend one sync: some crash state breaks a promise. Done, the same workload breaks none (see crash states)."""
    await _is_missed(site, SHOWN_BY[site])


@pytest.mark.parametrize("site", ROTATION_RESTS_ON, ids=str)
async def test_taken_out_sync_is_missed_by_a_rotation(site: Site) -> None:
    """The same, with two files that are rewritten for one record."""
    await _is_missed(site, ROTATION)


async def _is_missed(site: Site, proof: Proof) -> None:
    pretended = 0

    def heeds_sync() -> bool:
        nonlocal pretended
        here = site_here(KNOWN)
        assert here is not None, "a sync that the source does not show"
        pretended += here == site
        return here != site

    faults = await proof(heeds_sync)
    assert pretended, f"the workload does not come by {site}"
    assert faults, f"{site} syncs for nothing, or the model of crashes is too weak to see what for"
