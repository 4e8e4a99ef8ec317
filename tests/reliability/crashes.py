"""Every state that a crash may leave, from the record of a simulated disk.

At any step the power may fail. What was synced is there. Of what was not:

- each change of names in a folder is there or not, alone and in any order (a rename or exchange is one change; of a
  file or folder that moves between two folders to a name that is free, the old name goes only where the new one is);
- the data of each file is there, not there, cut off, or NULs where it should be: file systems that allocate late
  write the length first; also before bytes of it that were synced alone.

That is more than ext4, XFS or Btrfs do with their ordered journals, and all that POSIX rules out.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tests.reliability.disk import Named, State, Step, Synced, Told, Written

MOST_FREE = 6
"""So many changes of names are lost in every combination; of more the likely ones are taken."""
MOST_DATA = 64
"""Combinations of file data for one choice of names."""

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Crash:
    """A state, after how many steps of the record it may be found, and what people had been told by then."""

    state: State
    step: int
    told: frozenset[str]


def crash_states(begin: State, steps: Sequence[Step], end: State, since: int = 0) -> list[Crash]:
    """List all different states; each with the last step after which it is possible, when most had been told.

    `end`, the state after all steps, tells the times of files and which inodes are folders. Crashes before the step
    `since` are left out.
    """
    found: dict[Key, Crash] = {}
    synced, pending = begin.copy(), list[Step]()
    told = frozenset[str]()
    for number, step in enumerate([None, *steps]):
        if isinstance(step, Told):
            told |= {step.what}
        elif isinstance(step, Synced):
            pending = _sync(synced, pending, step)
        elif step is not None:
            pending.append(step)
        if number < since:
            continue
        for state in _possible(synced, pending):
            state.times, state.folders = end.times, end.folders
            found[_key(state)] = Crash(state, number, told)
    return list(found.values())


def _sync(synced: State, pending: list[Step], sync: Synced) -> list[Step]:
    if sync.only is not None:
        return _sync_only(synced, pending, sync.only)
    rest = []
    needed = [step.needs for step in pending if isinstance(step, Named) and sync.folder and step.folder == sync.inode]
    for step in pending:
        if (isinstance(step, Named) and sync.folder and (step.folder == sync.inode or _is_one_of(step, needed))) or (
            isinstance(step, Written) and not sync.folder and step.inode == sync.inode
        ):
            synced.apply(step)
        else:
            rest.append(step)
    return rest


def _sync_only(synced: State, pending: list[Step], written: Written) -> list[Step]:
    """Put one write on the disk. What was written before it to the same file may still be lost, and is NULs then."""
    if any(isinstance(step, Written) and step.inode == written.inode and step is not written for step in pending):
        return [replace(step, synced=True) if step is written else step for step in pending]  # type: ignore[type-var]
    synced.apply(written)
    return [step for step in pending if step is not written]


def _possible(synced: State, pending: Sequence[Step]) -> Iterator[State]:
    changes = [step for step in pending if isinstance(step, Named)]
    writes: dict[int, list[Written]] = {}
    for step in pending:
        if isinstance(step, Written):
            writes.setdefault(step.inode, []).append(step)
    for chosen in _subsets(changes):
        if any(
            change.needs is not None and _is_one_of(change.needs, changes) and not _is_one_of(change.needs, chosen)
            for change in chosen
        ):
            continue
        state = synced.copy()
        for change in chosen:
            state.apply(change)
        named = set(state.names.values())
        unsure = [inode for inode in writes if inode in named]
        choices = (_data_choices(writes[inode]) for inode in unsure)
        for data in itertools.islice(itertools.product(*choices), MOST_DATA):
            possible = State(state.names, dict(synced.data))
            for inode, added in zip(unsure, data, strict=True):
                possible.data[inode] = possible.data.get(inode, b"") + added
            yield possible


def _is_one_of(step: Step, steps: Iterable[Step | None]) -> bool:
    """Tell whether it is the very step: another may do the same."""
    return any(step is other for other in steps)


def _subsets(changes: Sequence[Named]) -> Iterable[tuple[Named, ...]]:
    count = len(changes)
    if count <= MOST_FREE:
        return (tuple(itertools.compress(changes, chosen)) for chosen in itertools.product((True, False), repeat=count))
    # In order, in reverse order, each alone, all but one.
    some = {frozenset(range(end)) for end in range(count + 1)} | {frozenset(range(end, count)) for end in range(count)}
    some |= {frozenset({one}) for one in range(count)} | {frozenset(range(count)) - {one} for one in range(count)}
    return [tuple(changes[index] for index in sorted(chosen)) for chosen in sorted(some, key=sorted)]


def _data_choices(writes: Sequence[Written]) -> list[bytes]:
    """Give what may be found of writes to a file; behind the last of them that is on the disk nothing is cut off."""
    fixed = max((number for number, write in enumerate(writes, 1) if write.synced), default=0)
    before = [write.data for write in writes[:fixed]]
    lost = [data if write.synced else b"\0" * len(data) for data, write in zip(before, writes, strict=False)]
    halves = [[*before[:one], _half(before[one]), *before[one + 1 :]] for one in range(fixed) if not writes[one].synced]
    begins = [before, lost, *halves, *([*before[:one], lost[one], *before[one + 1 :]] for one in range(fixed))]
    ends = _unsynced_choices([write.data for write in writes[fixed:]])
    return list(dict.fromkeys(b"".join(begin) + end for begin in begins for end in ends))


def _half(data: bytes) -> bytes:
    return data[: len(data) // 2] + b"\0" * (len(data) - len(data) // 2)


def _unsynced_choices(writes: Sequence[bytes]) -> list[bytes]:
    """Give what may be found of unsynced data: all, nothing, cut off, NULs, and each write alone lost to NULs."""
    whole = b"".join(writes)
    nothing = [b"\0" * len(data) for data in writes]
    choices = [whole, b"", whole[: len(whole) // 2], whole[:-1], b"\0" * len(whole)]
    choices.append(whole[: len(whole) // 2] + b"\0" * (len(whole) - len(whole) // 2))
    choices.append(b"\0" * (len(whole) // 2) + whole[len(whole) // 2 :])
    if len(writes) > 1:
        choices += [b"".join([*writes[:one], nothing[one], *writes[one + 1 :]]) for one in range(len(writes))]
    return list(dict.fromkeys(choices))


def _key(state: State) -> Key:
    named = sorted(state.names.items())
    return (tuple(named), tuple(state.data.get(inode) for _, inode in named))
