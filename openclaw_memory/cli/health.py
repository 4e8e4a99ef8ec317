"""Look at a memory folder as a whole, without a lock and without a change, and judge what is wrong with it."""

from __future__ import annotations

import os
import shlex
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from openclaw_memory.cli.noted import entries_of, stale_notes
from openclaw_memory.cli.words import say
from openclaw_memory.config import MemoryConfig
from openclaw_memory.findings import Code, Report
from openclaw_memory.layers.rooms import ROOMS
from openclaw_memory.retrieval.engines.errors import IndexFaultError
from openclaw_memory.retrieval.engines.opening import open_persistent
from openclaw_memory.retrieval.engines.places import Places
from openclaw_memory.retrieval.status import IndexStatus
from openclaw_memory.verify import verify_on_disk

LITTLE_SPACE = 100_000_000
"""Bytes free on the disk below which a person is told."""


@dataclass(frozen=True, slots=True)
class Part:
    """One layer, or another part of the folder: how many files it has, and their bytes in all."""

    name: str
    files: int
    size: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong, in words; `command` mends it, or tells more; None where it takes a person.

    `degrades`: answers may lack something until it is mended.
    """

    words: str
    command: str | None
    degrades: bool = False


@dataclass(frozen=True, slots=True)
class Health:
    """A memory folder at one moment.

    `stale` are notes whose day is past, by address. `index` is None where there is none, or it can't be opened.
    """

    config: MemoryConfig
    report: Report
    parts: tuple[Part, ...]
    entries: int
    stale: Mapping[str, str]
    index: IndexStatus | None
    index_problem: str | None
    free: int
    total: int
    writable: bool


def look(config: MemoryConfig, now: datetime) -> Health:
    """Look at everything. For a thread, or a program that does nothing else."""
    folder = config.memory_folder
    index, problem = _index(config)
    usage = shutil.disk_usage(folder)
    return Health(
        config,
        verify_on_disk(folder),
        tuple(_parts(config)),
        entries_of(config),
        stale_notes(config, now),
        index,
        problem,
        usage.free,
        usage.total,
        os.access(folder, os.W_OK | os.X_OK),
    )


def problems_of(health: Health, where: Sequence[str] = ()) -> list[Problem]:
    """Judge what is wrong, worst first. Pure.

    Parameters: `where`, the options that name the folder, for the commands that mend it.
    """

    def command(*words: str) -> str:
        return shlex.join(["openclaw-memory", *words, *where])

    found = []
    if not health.writable:
        found.append(Problem(say("{folder} can't be written", folder=health.config.memory_folder), None, degrades=True))
    if health.free < LITTLE_SPACE:
        free = f"{health.free / 1e6:,.0f} MB"
        found.append(Problem(say("only {free} are free on the disk", free=free), None, degrades=True))
    counted = Counter((one.code, one.remedy) for one in health.report.findings if one.attention)
    for (code, remedy), count in sorted(counted.items()):
        words = say("{count} × {code}", count=count, code=code.value)
        degrades = code in (Code.UNREADABLE, Code.DAMAGED)
        found.append(Problem(words, command("repair") if remedy == "repair" else command("verify"), degrades))
    if health.index_problem is not None:
        words = say("the index: {problem}", problem=health.index_problem)
        found.append(Problem(words, command("rebuild-index", "--full"), degrades=True))
    if health.config.not_in_effect:
        names = ", ".join(health.config.not_in_effect)
        found.append(Problem(say("settings without effect in this version: {names}", names=names), None))
    return found


def _index(config: MemoryConfig) -> tuple[IndexStatus | None, str | None]:
    file, engine = config.index_file, config.index.type
    if file is None or engine == "memory" or not file.exists():
        return None, None
    try:
        index = open_persistent(Places(file.parent, file.stem), engine, writable=False)
    except IndexFaultError as error:
        return None, str(error)
    try:
        told = index.status()
    except IndexFaultError as error:
        return None, str(error)
    finally:
        index.close()
    return replace(told, problem=None), told.problem


def _parts(config: MemoryConfig) -> list[Part]:
    """Measure the layers, the workspace, and what is derived."""
    memory, workspace = config.memory_folder, config.workspace_folder
    layers = {
        room.name: [path for folder in room.folders for path in _files(memory / folder)]
        for room in ROOMS
        if room.name != "state"
    }
    places = [(name, [path for path in paths if path.suffix == ".md"]) for name, paths in layers.items()]
    places += [("backup", [path for paths in layers.values() for path in paths if path.suffix != ".md"])]
    places += [("workspace", _files(workspace, deep=True))]
    if config.session_files:
        places += [("sessions", _files(config.agents_folder, deep=True))]
    places += [("journal", _files(memory / ".journal", hidden=True)), ("state", _files(memory / ".state", hidden=True))]
    if config.index_file is not None:
        stem = config.index_file.stem
        beside = [path for path in _files(config.index_file.parent) if path.name.split(".")[0] == stem.split(".")[0]]
        places += [("index", [*beside, *_files(config.index_file.with_suffix(".index"), deep=True)])]
    return [Part(name, len(paths), sum(map(_size, paths))) for name, paths in places]


def _files(folder: Path, *, deep: bool = False, hidden: bool = False) -> list[Path]:
    """List the files of a folder; none where it can't be listed, which `verify` tells."""
    try:
        found = sorted(folder.rglob("*") if deep else folder.iterdir())
    except OSError:
        return []
    return [path for path in found if (hidden or not path.name.startswith(".")) and path.is_file()]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        # It is gone by now.
        return 0


def as_json(health: Health, problems: Sequence[Problem]) -> dict[str, Any]:
    """Give it as JSON values; the shape is told in docs/cli.md."""
    config, report, index = health.config, health.report, health.index
    owner = report.owner
    return {
        "root": str(config.root),
        "memory": str(config.memory_folder),
        "workspace": str(config.workspace_folder),
        "mode": config.mode,
        "agent": config.agent_id,
        "owner": None if owner is None else {"name": owner.name, "running": owner.running},
        "parts": [{"name": part.name, "files": part.files, "bytes": part.size} for part in health.parts],
        "documents": report.documents,
        "intact": report.intact,
        "memory_entries": health.entries,
        "stale_notes": [{"key": key, "text": text} for key, text in health.stale.items()],
        "index": None if index is None else {"engine": index.engine, "pieces": index.blocks, "files": index.files},
        "disk": {"free": health.free, "total": health.total, "writable": health.writable},
        "degraded": any(problem.degrades for problem in problems),
        "problems": [{"words": one.words, "command": one.command, "degrades": one.degrades} for one in problems],
    }
