"""The model of crashes itself: what may be found of a file whose writes were synced one by one."""

from __future__ import annotations

from pathlib import Path

from tests.reliability.crashes import crash_states
from tests.reliability.disk import SimulatedDisk, State

FILE = Path("/disk/a.log")


def found(*steps: tuple[str, bytes]) -> set[bytes]:
    """Give what may be found in a file after some steps, each a way to write and what is written."""
    disk = SimulatedDisk(FILE.parent)
    file = disk.open_append(FILE)
    disk.sync_folder(FILE.parent)
    for way, data in steps:
        getattr(file, way)(data)
    disk.tell("done")
    states = crash_states(State(), disk.steps, disk.state)
    return {crash.state.files().get("a.log", b"") for crash in states if "done" in crash.told}


def test_what_is_synced_is_there() -> None:
    assert found(("append_synced", b"AA"), ("append_synced", b"BB")) == {b"AABB"}


def test_what_is_synced_alone_may_stand_behind_nothing() -> None:
    """A sync of just some bytes makes the file long enough for them; what stands before them may be lost or torn."""
    assert found(("append", b"AA"), ("append_synced", b"BB")) == {b"AABB", b"\0\0BB", b"A\0BB"}


def test_behind_it_everything_may_be_lost() -> None:
    states = found(("append", b"AA"), ("append_synced", b"BB"), ("append", b"CC"))
    assert {b"AABB", b"AABBCC", b"\0\0BB", b"\0\0BBC", b"AABB\0\0"} <= states
    assert all(state[2:4] == b"BB" for state in states)
