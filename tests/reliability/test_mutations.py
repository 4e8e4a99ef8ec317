"""Files that are broken in hundreds of ways: the start never fails, others are not touched, nothing is overwritten."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from openclaw_memory.layers.rooms import FOLDERS
from tests.reliability.disk import SimulatedDisk, State
from tests.reliability.harness import (
    DISK,
    batch,
    documents,
    fact,
    punctual,  # noqa: F401 - a fixture for every test here
    running,
    say,
    task,
)

MUTATIONS = 300
SOAK_MUTATIONS = 4_000
Mutation = Callable[[bytes, random.Random], bytes]


def flipped_bits(data: bytes, chance: random.Random) -> bytes:
    broken = bytearray(data)
    for _ in range(chance.choice([1, 1, 8])):
        broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
    return bytes(broken)


def cut_off(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def nuls(data: bytes, chance: random.Random) -> bytes:
    begin = chance.randrange(len(data))
    end = chance.randrange(begin, len(data)) + 1
    return data[:begin] + b"\0" * (end - begin) + data[end:]


def swapped_lines(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def doubled(data: bytes, chance: random.Random) -> bytes:
    begin = chance.randrange(len(data))
    return data + data[begin:]


def noise(data: bytes, chance: random.Random) -> bytes:
    return chance.randbytes(len(data))


MUTATION_KINDS: tuple[Mutation, ...] = (flipped_bits, cut_off, nuls, swapped_lines, doubled, noise)


async def _memory(*, close: bool) -> State:
    """Give a disk with something in each layer, after a close or after a crash with the last writes in the journal."""
    disk = SimulatedDisk(DISK)
    async with running(disk, close=False) as run:
        for number in range(3):
            await run.write(say(f"hello-{number}"), "x")
            await run.write(fact(f"k{number}", "value", topic="user-profile"), "x")
            await run.write(task(f"buy-{number}"), "x")
            await run.flush()
        await run.write(fact("k0", "other"), "x")
        await run.flush()
        await run.write(
            batch(
                ("memory:write", {"type": "conversation", "content": {"role": "user", "content": "last"}}),
                ("memory:update_fact", {"section": "S", "key": "last", "value": "one"}),
            ),
            "x",
        )
        if close:
            await run.store.close()
        else:
            await run.journal_closed()
    return disk.state


@pytest.mark.parametrize("close", [True, False], ids=["after a close", "after a crash"])
async def test_broken_file_harms_no_other(close: bool) -> None:
    """Break one file of the folder, start, read everything, write to every layer, close."""
    await _mutate(close, MUTATIONS // 2, _seed())


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("close", [True, False], ids=["after a close", "after a crash"])
async def test_broken_files_for_long(close: bool) -> None:
    """The same for minutes."""
    await _mutate(close, SOAK_MUTATIONS, _seed())


def _seed() -> int:
    return int(os.environ.get("RELIABILITY_SEED", random.randrange(1_000_000)))


async def _mutate(close: bool, times: int, seed: int) -> None:
    print(f"seed {seed}; run it again: RELIABILITY_SEED={seed}")
    whole = await _memory(close=close)
    disk = SimulatedDisk(DISK, whole)
    async with running(disk):
        unbroken = documents(disk.state.files())
    paths = {path: inode for path, inode in sorted(whole.paths().items()) if whole.data.get(inode)}
    for number in range(times):
        chance = random.Random(f"{seed} {number}")
        path, mutation = chance.choice(list(paths)), chance.choice(MUTATION_KINDS)
        broken = whole.copy()
        broken.data[paths[path]] = mutation(whole.data[paths[path]], chance)
        if chance.random() < 0.5:
            # Somebody wrote it, as opposed to a disk that forgot: the time is another one.
            broken.times[paths[path]] += 1_000
        await _check(broken, unbroken, path, f"seed {seed}, number {number}: {mutation.__name__} of {path}")


async def _check(broken: State, unbroken: dict[str, bytes], path: str, what: str) -> None:
    disk = SimulatedDisk(DISK, broken)
    mutated = broken.files()[path]
    try:
        async with running(disk, first_id=100) as run:
            await run.store.look(FOLDERS)
            unreadable = run.store.problems()
            after = disk.state.files()
            for other, data in unbroken.items():
                if not path.endswith(other) and ".journal" not in path:
                    assert documents(after)[other] == data, f"{what}: {other} is another"
            if path.endswith(".md") and mutated:
                kept = mutated in after.values() or _extends(after[path], mutated)
                assert kept, f"{what}: {mutated!r} is overwritten by {after[path]!r}"
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(f"{what}: the start or the close failed: {error!r}") from error
    assert set(unreadable) <= {Path(path).relative_to("home/memory").as_posix()} or ".journal" in path, (
        f"{what}: unreadable {unreadable}"
    )


def _extends(data: bytes, earlier: bytes) -> bool:
    """Tell whether every line of the earlier text but those that each flush renews is still there."""
    renewed = (b"checksum:", b"updated:", b"message_count:", b"> ")
    return all(line in data for line in earlier.split(b"\n") if not line.startswith(renewed))
