"""A memory to move into: its folder, what lies in it, and an import as the command does it."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from bus import EventBus
from openclaw_memory import ManualClock, MemoryConfig
from openclaw_memory.cli.asking import memory_of
from openclaw_memory.moving.exporting import ExportFormat, Wanted, export
from openclaw_memory.moving.importing import Imported, Options, Progress, perform, plan_import
from openclaw_memory.moving.plan import Plan
from openclaw_memory.storage.files import Files, LocalFiles
from tests.support import START

FIXTURES = Path(__file__).parent / "fixtures"
UNTRUSTED = Options()


def home(root: Path, **settings: Any) -> MemoryConfig:
    """A memory's configuration; its folder is there, and empty."""
    usual = {"timezone": "UTC", "language": "en", "watch": False, "heartbeat": {"enabled": False}}
    config = MemoryConfig(root=root, **{**usual, **settings})
    config.memory_folder.mkdir(parents=True, exist_ok=True)
    return config


@asynccontextmanager
async def bus_of(config: MemoryConfig) -> AsyncIterator[tuple[EventBus, bool]]:
    """Memory as a command starts it."""
    async with memory_of(config, counts=False) as (memory, bus):
        yield bus, memory.status().owner is None


def planned(config: MemoryConfig, source: Path, options: Options = UNTRUSTED, files: Files | None = None) -> Plan:
    """What an import would do."""
    return anyio.run(plan_import, config, source, options, files or LocalFiles(), ManualClock(START))


def brought(
    config: MemoryConfig,
    source: Path,
    options: Options = UNTRUSTED,
    progress: Progress = lambda done, total: None,
    files: Files | None = None,
) -> Imported:
    """Import a source."""
    files = files or LocalFiles()
    plan = planned(config, source, options, files)
    return perform(config, plan, options, files, ManualClock(START), partial(bus_of, config), progress)


def exported(config: MemoryConfig, to: Path, form: ExportFormat = "jsonl", **wanted: Any) -> list[str]:
    """Export; gives the lines."""
    anyio.run(partial(export, config, to, form, Wanted(**wanted), LocalFiles(), ManualClock(START), force=True))
    return to.read_text(encoding="utf-8").split("\n") if form == "jsonl" else []


def asked(config: MemoryConfig, payload: Any) -> Any:
    """Ask memory something."""

    async def ask() -> Any:
        async with bus_of(config) as (bus, _):
            return await bus.request(payload, timeout=30)

    return anyio.run(ask)


def with_bus(config: MemoryConfig, do: Callable[[EventBus], Awaitable[Any]]) -> Any:
    """Do something with memory."""

    async def main() -> Any:
        async with bus_of(config) as (bus, _):
            return await do(bus)

    return anyio.run(main)


def tree(folder: Path) -> dict[str, str]:
    """Every file of a folder by its name with the hash of its bytes; what is derived, and locks, left out."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not _derived(path.relative_to(folder).parts)
    }


def _derived(parts: tuple[str, ...]) -> bool:
    return parts[0] == "backups" or any(
        part in (".lock", ".inbox", "index.json") or ".sqlite" in part or part.endswith((".index", ".vectors"))
        for part in parts
    )
