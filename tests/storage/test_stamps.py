"""What a run leaves is told from what became of it since, however many runs ago that was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from openclaw_memory.findings import Code
from openclaw_memory.storage.files import LocalFiles
from openclaw_memory.storage.stamps import NAME
from openclaw_memory.verify import verify_on_disk
from tests.memory_folder import FACTS, FOLDERS, NOTES, damage, opened, remembered


@pytest.fixture(autouse=True)
def _files_are_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LocalFiles, "age", lambda self, stamp: 60.0)


@pytest.mark.parametrize("runs", [0, 1, 3])
async def test_damage_is_told_from_an_edit_after_runs_that_needed_nothing(tmp_path: Path, runs: int) -> None:
    """A later run that leaves a file at rest remembers how it was left; damage is restored, not adopted."""
    memory = await remembered(tmp_path)
    whole = (memory / NOTES).read_bytes()
    for _ in range(runs):
        store = opened(memory)
        await store.open(FOLDERS)
        await store.close()
    damage(memory / NOTES, whole[:-4])
    assert [(one.path, one.code) for one in verify_on_disk(memory).findings] == [(NOTES, Code.DAMAGED)]
    store = opened(memory)
    await store.open(FOLDERS)
    await store.look(FOLDERS)
    await store.close()
    assert (memory / NOTES).read_bytes() == whole


async def test_edited_and_removed_files_are_forgotten(tmp_path: Path) -> None:
    """An edit stays one, and a file that is gone is not remembered for ever."""
    memory = await remembered(tmp_path)
    (memory / NOTES).unlink()
    with (memory / FACTS).open("a") as file:
        file.write("- tea: green\n")
    store = opened(memory)
    await store.open(FOLDERS)
    await store.close()
    assert NOTES not in json.loads((memory / NAME).read_text())
    assert [(one.path, one.code) for one in verify_on_disk(memory).findings if one.path == FACTS] == [
        (FACTS, Code.CHECKSUM_MISMATCH)
    ]
