"""A disk that is really full: replies say so, what was acknowledged stays, and writing goes on when there is room."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import json
import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from bus import Gateway
from contracts import MemoryWrite
from openclaw_memory import Memory, MemoryConfig
from openclaw_memory.context.tokens import EstimateCounter
from tests.reliability.test_kills import FORKS

Full = Callable[[Path], AbstractContextManager[None]]
"""Leaves little room within a folder, and makes room at the end."""

_NEW_USER, _NEW_MOUNTS = 0x10000000, 0x00020000


@contextmanager
def little_room_in_files(root: Path) -> Iterator[None]:
    """Let no file grow beyond 64 KiB (`RLIMIT_FSIZE`)."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, most))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


@contextmanager
def little_room_on_disk(root: Path) -> Iterator[None]:
    """Take away all but 96 KiB of a file system of 1 MiB; it is this process's own."""
    filler = root / "filler"
    with filler.open("wb") as file:
        free = os.statvfs(root).f_bavail * os.statvfs(root).f_frsize
        file.write(b"x" * (free - 98_304))
    yield
    filler.unlink()


def mount_own_disk(root: Path) -> None:
    """Give this process, which must have one thread, a file system of its own at `root`. Raises: `OSError`."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_NEW_USER | _NEW_MOUNTS) != 0:
        raise OSError(ctypes.get_errno(), "no user namespace of one's own")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    if libc.mount(b"tmpfs", os.fsencode(root), b"tmpfs", 0, b"size=1m") != 0:
        raise OSError(ctypes.get_errno(), "no file system of one's own")


async def fill_up(root: Path, full: Full) -> dict[str, Any]:
    """Write until nothing fits, make room, write again, start anew; tell what was answered and what is there."""
    acknowledged, refusals = [], []
    with_room = f"message {'x' * 2000}"

    async def write(gateway: Gateway, number: int) -> None:
        content = {"role": "user", "content": f"mark-{number}-end {with_room}"}
        reply = await gateway.bus.request(
            MemoryWrite(type="conversation", content=content, session_id="s1"), timeout=30
        )
        if reply.success:
            acknowledged.append(number)
        else:
            refusals.append(reply.message)

    (root / "home").mkdir()
    async with Gateway() as gateway:
        await gateway.register(_memory(root / "home"))
        with full(root):
            for number in range(200):
                await write(gateway, number)
                if len(refusals) == 3:
                    break
        for number in range(1_000, 1_003):
            await write(gateway, number)
    async with Gateway() as gateway:
        memory = _memory(root / "home")
        await gateway.register(memory)
        unreadable = dict(memory.status().unreadable)
    text = "".join(path.read_text() for path in sorted((root / "home").rglob("conversations/*.md")))
    counts = {number: text.count(f"mark-{number}-end") for number in acknowledged}
    return {"counts": counts, "refusals": refusals, "unreadable": unreadable}


def _memory(root: Path) -> Memory:
    buffer = {"max_entries_per_file": 5, "journal_limit_bytes": 8192}
    config = MemoryConfig(root=root, timezone="Asia/Shanghai", buffer=buffer)
    return Memory(config, counter=EstimateCounter())


def _in_child(root: Path, full: Full, prepare: Callable[[Path], None]) -> dict[str, Any]:
    """Do it in a process of its own: limits and mounts end with it."""
    listen, told = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(listen)
        answer: dict[str, Any]
        try:
            prepare(root)
        except OSError as error:
            answer = {"skip": f"{error.strerror} ({errno.errorcode.get(error.errno or 0)})"}
        else:
            try:
                answer = asyncio.run(fill_up(root, full))
            except BaseException as error:  # noqa: BLE001 - the parent must hear of it
                answer = {"failed": repr(error)}
        with os.fdopen(told, "w") as pipe:
            json.dump(answer, pipe)
        os._exit(0)
    os.close(told)
    with os.fdopen(listen) as pipe:
        answer = json.load(pipe)
    os.waitpid(child, 0)
    return answer


@FORKS
@pytest.mark.parametrize(
    ("full", "prepare", "word"),
    [
        pytest.param(little_room_in_files, lambda root: None, "File too large", id="file size limit"),
        pytest.param(little_room_on_disk, mount_own_disk, "No space left", id="full file system"),
    ],
)
def test_full_disk_loses_nothing(tmp_path: Path, full: Full, prepare: Callable[[Path], None], word: str) -> None:
    """Fill it up for real."""
    answer = _in_child(tmp_path, full, prepare)
    if "skip" in answer:
        pytest.skip(f"this system allows {answer['skip']}")
    assert "failed" not in answer, answer
    assert answer["refusals"], "it never was full"
    assert all(word in refusal for refusal in answer["refusals"]), answer["refusals"]
    counts = answer["counts"]
    assert set(counts.values()) == {1}, f"lost or twice: {counts}"
    assert {"1000", "1001", "1002"} <= counts.keys(), "writing does not go on when there is room"
    assert answer["unreadable"] == {}
