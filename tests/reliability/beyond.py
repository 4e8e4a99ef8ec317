"""What is written beside the store, and what must be true of it after any crash: each gives the first faults it finds.

`heeds_sync` is asked at each sync whether it is done or only pretended.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from openclaw_memory import ManualClock, MemoryConfig
from openclaw_memory.cli import init
from openclaw_memory.filetool import FileMemory
from openclaw_memory.filetool import folder as folder_module
from openclaw_memory.longterm.files import FileStore
from openclaw_memory.moving import exporting
from openclaw_memory.moving.backup import make_backup, restore_backup, verify_backup
from openclaw_memory.moving.errors import BackupError
from openclaw_memory.moving.plan import Placement
from openclaw_memory.moving.writing import place, take_away
from openclaw_memory.storage import files as files_module
from openclaw_memory.storage.durable import make_folders, write_whole
from openclaw_memory.storage.files import LocalFiles
from openclaw_memory.storage.places import Places
from tests.reliability.crashes import Crash, crash_states
from tests.reliability.disk import SimulatedDisk, State
from tests.reliability.harness import CONFIG, DISK, ROOT
from tests.reliability.mirror import Mirror, contents, lay_out
from tests.support import START

HeedsSync = Callable[[], bool]
MEMORIES = "workspace/main/memories/"
EXPORTED = {"memory/facts/user-profile.md": b"# User\n\n## S\n- k: value\n", "memory/tasks/pending.md": b"# Tasks\n"}


def done() -> bool:
    """Do every sync."""
    return True


@contextmanager
def folder(files: Mapping[str, bytes] | None = None) -> Iterator[Path]:
    """Make a folder on the real disk, with files."""
    with tempfile.TemporaryDirectory() as name:
        base = Path(name) / "disk"
        base.mkdir()
        for path, data in (files or {}).items():
            (base / path).parent.mkdir(parents=True, exist_ok=True)
            (base / path).write_bytes(data)
        yield base


def laid_out(crashes: Iterable[Crash], base: Path) -> Iterator[tuple[Crash, Path]]:
    """Give each crash state in a folder of its own."""
    for number, crash in enumerate(crashes):
        laid = lay_out(crash.state, base.parent / f"crash {number}")
        try:
            yield crash, laid
        finally:
            shutil.rmtree(laid)


# -- the file tool ---------------------------------------------------------------------------------------------------

NOTES = {"a.md": b"one\ntwo\n", "f/b.md": b"three\n", "f/g/c.md": b"four\n"}
COMMANDS: dict[str, tuple[dict[str, Any], dict[str, bytes | None]]] = {
    "create": ({"command": "create", "path": "/memories/n/new.md", "file_text": "new\n"}, {"n/new.md": b"new\n"}),
    "str_replace": (
        {"command": "str_replace", "path": "/memories/f/b.md", "old_str": "three", "new_str": "3"},
        {"f/b.md": b"3\n"},
    ),
    "insert": (
        {"command": "insert", "path": "/memories/a.md", "insert_line": 1, "insert_text": "half\n"},
        {"a.md": b"one\nhalf\ntwo\n"},
    ),
    "delete a file": ({"command": "delete", "path": "/memories/f/b.md"}, {"f/b.md": None}),
    "delete a folder": ({"command": "delete", "path": "/memories/f"}, {"f/b.md": None, "f/g/c.md": None}),
    "delete a folder in another": ({"command": "delete", "path": "/memories/f/g"}, {"f/g/c.md": None}),
    "rename a file": (
        {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/f/a.md"},
        {"a.md": None, "f/a.md": NOTES["a.md"]},
    ),
    "rename a folder": (
        {"command": "rename", "old_path": "/memories/f/g", "new_path": "/memories/h"},
        {"f/g/c.md": None, "h/c.md": NOTES["f/g/c.md"]},
    ),
}
"""Commands, and which files are others afterwards; None for one that is gone."""


async def commanded(name: str, heeds_sync: HeedsSync = done) -> list[str]:
    """Do a command of the file tool: before its answer it is done or not, afterwards done, and the next ones work.

    Until it is answered what is renamed may be found under both names.
    """
    command, changed = COMMANDS[name]
    after = {path: data for path, data in {**NOTES, **changed}.items() if data is not None}
    both = {**NOTES, **after} if command["command"] == "rename" else after
    gone = [data for path, data in NOTES.items() if data not in after.values() and command["command"] == "delete"]
    faults = []
    with folder({MEMORIES + path: data for path, data in NOTES.items()}) as base, pytest.MonkeyPatch.context() as patch:
        mirror = Mirror(base, heeds_sync)
        patch.setattr(folder_module, "shutil", SimpleNamespace(rmtree=mirror.rmtree))
        reply = await FileMemory(MemoryConfig(root=base), files=mirror).run(command)
        assert not reply.is_error, reply.text
        mirror.disk.tell("answered")
        crashes = mirror.crashes()
        patch.undo()
        for crash, laid in laid_out(crashes, base):
            files = contents(laid / MEMORIES)
            shown = {path: data for path, data in files.items() if not path.startswith(".") and "/." not in path}
            if shown not in ([after] if "answered" in crash.told else [dict(NOTES), after, both]):
                faults.append(f"{sorted(crash.told)}: {files}")
            if "answered" in crash.told and any(data in files.values() for data in gone):
                faults.append(f"back, hidden: {files}")
            faults += await _goes_on(laid, shown)
            if faults:
                break
    return faults


async def _goes_on(base: Path, shown: Mapping[str, bytes]) -> list[str]:
    """Whatever a crash has left over, everything that is shown can be deleted, and files can be made."""
    tool = FileMemory(MemoryConfig(root=base), files=Mirror(base))
    commands = [{"command": "delete", "path": f"/memories/{top}"} for top in sorted({p.split("/")[0] for p in shown})]
    commands.append({"command": "create", "path": "/memories/later.md", "file_text": "later\n"})
    replies = [await tool.run(command) for command in commands]
    return [f"afterwards: {reply.text}" for reply in replies if reply.is_error]


# -- init ------------------------------------------------------------------------------------------------------------


async def initialised(heeds_sync: HeedsSync = done) -> list[str]:
    """Make a memory folder: the configuration is there whole or not at all, and whoever was told finds it."""
    with folder() as base:
        mirror = Mirror(base, heeds_sync)
        _init(base, mirror)
        return _init_faults(mirror.crashes(), base)


async def initialised_again(heeds_sync: HeedsSync = done) -> list[str]:
    """Kill it after each step and run it again: nothing that the first has left is taken for durable."""
    faults = []
    with folder() as base:
        first = Mirror(base)
        _init(base, first)
        steps = first.disk.steps[:-1]
        for after in range(1, len(steps)):
            left = base.parent / f"left {after}"
            again = Mirror.after_kill(left, first.begin, steps[:after], first.disk.state, heeds_sync)
            _init(left, again)
            faults += _init_faults(again.crashes(len(again.disk.steps)), left)
            shutil.rmtree(left)
    return faults


def _init(base: Path, mirror: Mirror) -> None:
    config = MemoryConfig(root=base / "home/openclaw")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files_module, "LocalFiles", lambda: mirror)
        init.make(config, config.root / "config.yaml", {"language": "en"})
    mirror.disk.tell("made")


def _init_faults(crashes: Iterable[Crash], base: Path) -> list[str]:
    whole = (base / "home/openclaw/config.yaml").read_bytes()
    wanted = {path.relative_to(base).as_posix() for path in base.rglob("*") if path.is_dir()}
    faults = []
    for crash in crashes:
        found = crash.state.files().get("home/openclaw/config.yaml")
        if found not in ([whole] if "made" in crash.told else [None, whole]):
            faults.append(f"{sorted(crash.told)}: config.yaml is {found!r}")
        if "made" in crash.told and (lost := wanted - crash.state.paths(crash.state.folders).keys()):
            faults.append(f"told of, and lost: {lost}")
    return faults


# -- exports, backups, imports ---------------------------------------------------------------------------------------


async def exported_lines(heeds_sync: HeedsSync = done) -> list[str]:
    """Export to a file, also over an older one: told, it is whole; before, the older one is there, or nothing."""
    return [
        fault for before in ({}, {"out/all.jsonl": b"older"}) for fault in await _exported_lines(before, heeds_sync)
    ]


async def _exported_lines(before: dict[str, bytes], heeds_sync: HeedsSync) -> list[str]:
    with folder({**EXPORTED, **before}) as base:
        mirror = Mirror(base, heeds_sync)
        await _export(base, base / "out/all.jsonl", "jsonl", mirror)
        whole = (base / "out/all.jsonl").read_bytes()
        assert b"value" in whole
        faults = []
        for crash in mirror.crashes():
            found = crash.state.files().get("out/all.jsonl")
            if found not in ([whole] if "exported" in crash.told else [before.get("out/all.jsonl"), whole]):
                faults.append(f"{sorted(crash.told)}: {found!r}")
        return faults


async def exported_files(heeds_sync: HeedsSync = done) -> list[str]:
    """Export to a folder, also over an older one: it is whole or not there, and the older one until it is.

    Whatever a crash has left over, it can be exported again.
    """
    older = {"out/all/older.md": b"older"}
    return [fault for before in ({}, older) for fault in await _exported_files(before, heeds_sync)]


async def _exported_files(before: dict[str, bytes], heeds_sync: HeedsSync) -> list[str]:
    faults = []
    with folder({**EXPORTED, **before}) as base, pytest.MonkeyPatch.context() as patch:
        mirror = Mirror(base, heeds_sync)
        patch.setattr(exporting, "shutil", SimpleNamespace(rmtree=mirror.rmtree))
        await _export(base, base / "out/all", "markdown", mirror)
        crashes = mirror.crashes()
        patch.undo()
        whole = contents(base / "out/all")
        assert whole.keys() == EXPORTED.keys()
        older = {"older.md": b"older"} if before else {}
        for crash, laid in laid_out(crashes, base):
            found = contents(laid / "out/all")
            if found not in ([whole] if "exported" in crash.told else [whole, older, {}]):
                faults.append(f"{sorted(crash.told)}: {found}")
            if older not in (found, contents(laid / "out/.all.before")) and found != whole:
                faults.append(f"neither the old nor the new: {contents(laid)}")
            await _export(laid, laid / "out/all", "markdown", LocalFiles())
            if contents(laid / "out") != {f"all/{path}": data for path, data in whole.items()}:
                faults.append(f"exported again: {contents(laid / 'out')}")
            if faults:
                break
    return faults


async def _export(base: Path, to: Path, form: exporting.ExportFormat, files: LocalFiles) -> None:
    config = MemoryConfig(root=base, timezone="UTC")
    await exporting.export(config, to, form, exporting.Wanted(), files, ManualClock(START), force=True)
    if isinstance(files, Mirror):
        files.disk.tell("exported")


async def backed_up_and_restored(heeds_sync: HeedsSync = done) -> list[str]:
    """Copy everything before an import, and put it back: told, the copy is whole; told again, all is as it was."""
    disk = SimulatedDisk(DISK, heeds_sync=lambda: True)
    kept, new, copy = ROOT / "facts/kept.md", ROOT / "tasks/new.md", ROOT.parent / "backups/copy"
    make_folders(disk, kept.parent)
    make_folders(disk, new.parent)
    write_whole(disk, kept, b"before")
    disk.heeds_sync = heeds_sync
    make_backup(CONFIG, copy, disk)
    disk.tell("copied")
    write_whole(disk, kept, b"imported")
    write_whole(disk, new, b"imported")
    restore_backup(CONFIG, copy, disk)
    disk.tell("restored")
    faults = []
    for crash in crash_states(State(), disk.steps, disk.state):
        after = SimulatedDisk(DISK, crash.state)
        if "copied" in crash.told:
            try:
                verify_backup(copy, after)
            except BackupError as error:
                faults.append(str(error))
        found = [crash.state.files().get(path.relative_to(DISK).as_posix()) for path in (kept, new)]
        if "restored" in crash.told and found != [b"before", None]:
            faults.append(f"restored: {found}")
    return faults


async def put_and_taken_away(heeds_sync: HeedsSync = done) -> list[str]:
    """Put files of an import into their places and take them away again: told, they are there whole, or gone."""
    disk = SimulatedDisk(DISK, heeds_sync=heeds_sync)
    placements = [Placement(f"summaries/daily/2026-05-0{day}.md", b"imported\n", "summary", "x") for day in (1, 2)]
    places = Places(ROOT, {})
    assert place(placements, places, disk) == []
    disk.tell("placed")
    assert take_away(placements, places, disk) == []
    disk.tell("away")
    faults = []
    for crash in crash_states(State(), disk.steps, disk.state):
        held = crash.state.files()
        found = [held.get(places.of(one.path).relative_to(DISK).as_posix()) for one in placements]
        if {*found} - {None, b"imported\n"}:
            faults.append(f"torn: {found}")
        if "away" in crash.told and any(found):
            faults.append(f"back: {found}")
    return faults


async def placed(heeds_sync: HeedsSync = done) -> list[str]:
    """Put a file of an import into its place: told, it is there."""
    disk = SimulatedDisk(DISK, heeds_sync=heeds_sync)
    place([Placement("summaries/daily/2026-05-01.md", b"imported\n", "summary", "x")], Places(ROOT, {}), disk)
    disk.tell("placed")
    return [
        f"lost: {crash.state.files()}"
        for crash in crash_states(State(), disk.steps, disk.state)
        if "placed" in crash.told and b"imported\n" not in crash.state.files().values()
    ]


# -- long-term memory for Brains that have nothing else -------------------------------------------------------------


async def appended(heeds_sync: HeedsSync = done) -> list[str]:
    """Add to HISTORY.md: told, an entry is there once; whatever a crash has left, entries can be added and read."""
    disk = SimulatedDisk(DISK, heeds_sync=heeds_sync)
    store = FileStore(DISK / "w", disk)
    for text in ("first", "second"):
        await store.append(text, START)
        disk.tell(text)
    faults = []
    for crash in crash_states(State(), disk.steps, disk.state):
        after = FileStore(DISK / "w", SimulatedDisk(DISK, crash.state))
        try:
            await after.append("later", START + timedelta(hours=1))
            found = [item.text for item in await after.history()]
        except Exception as error:  # noqa: BLE001 - whatever it is, it must not fail
            faults.append(f"{sorted(crash.told)}: {error!r}")
            continue
        faults += [f"{text}, told, is there {found.count(text)} times" for text in crash.told if found.count(text) != 1]
        faults += [] if found[-1:] == ["later"] else [f"what was added afterwards is not read: {found}"]
    return faults


PROOFS: dict[str, Callable[[HeedsSync], Any]] = {
    **{f"file tool: {name}": partial(commanded, name) for name in COMMANDS},
    "init": initialised,
    "init again": initialised_again,
    "export lines": exported_lines,
    "export files": exported_files,
    "backup": backed_up_and_restored,
    "take away": put_and_taken_away,
    "placed": placed,
    "append to HISTORY.md": appended,
}
