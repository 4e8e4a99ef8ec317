"""An import brings what is new, once; it shows it before, backs up before, and can be taken back while it runs."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from bus import EventBus
from contracts import Forget, MemorySearch, MemoryWrite, UpdateFact
from openclaw_memory import MemoryConfig
from openclaw_memory.moving.backup import SUMS, restore_backup, verify_backup
from openclaw_memory.moving.errors import BackupError, SourceError, StoppedError
from openclaw_memory.moving.importing import Options
from openclaw_memory.storage.files import LocalFiles
from tests.moving.homes import FIXTURES, asked, brought, exported, home, planned, tree, with_bus
from tests.support import FaultyFiles

SOURCES = ["openclaw", "nanobot", "project", "basic-memory", "chatgpt", "claude"]


def chats(path: Path, texts: list[str], identity: str = "c1", hour: int = 10) -> Path:
    """A Claude export of one chat, a message a second."""
    said = [
        {"sender": "human", "text": text, "created_at": f"2026-01-10T{hour:02}:{number // 60:02}:{number % 60:02}Z"}
        for number, text in enumerate(texts)
    ]
    path.write_text(json.dumps([{"uuid": identity, "name": "", "created_at": None, "chat_messages": said}]))
    return path


def written(path: Path, text: str) -> None:
    """A file that a person saved some time ago: one that was saved this second is not written over."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (1_700_000_000, 1_700_000_000))


def found(config: MemoryConfig, query: str) -> list[str]:
    return [hit.snippet for hit in asked(config, MemorySearch(query=query)).results]


def texts_in(config: MemoryConfig, to: Path) -> list[str]:
    """All messages, in the order of the files."""
    lines = [json.loads(line) for line in exported(config, to) if line]
    return [one["text"] for one in lines if one["kind"] == "piece" and one["layer"] == "conversation"]


@pytest.mark.parametrize(
    ("source", "mode"),
    [*((source, "four_layer") for source in SOURCES), ("openclaw", "four_tier"), ("nanobot", "history")],
)
def test_second_run_changes_nothing(tmp_path: Path, source: str, mode: str) -> None:
    """Not a byte, for every format; whatever is remembered of the first run is not needed for it."""
    config = home(tmp_path, mode=mode)
    assert planned(config, FIXTURES / source).changes_anything
    brought(config, FIXTURES / source)
    before = tree(tmp_path)
    # As it is more than seven days later, when no idempotency key is known any more.
    (config.memory_folder / ".state/idempotency.json").unlink(missing_ok=True)
    plan = planned(config, FIXTURES / source)
    assert not plan.changes_anything
    assert not plan.new
    assert plan.known.total() > 0
    after = tree(tmp_path)
    assert {path for path in before if before[path] != after.get(path)} <= {"memory/.state/idempotency.json"}
    assert after.keys() <= before.keys()


def test_what_was_imported_is_found(tmp_path: Path) -> None:
    """Messages, notes, entries; each with its own time; a group's stays the group's."""
    config = home(tmp_path)
    brought(config, FIXTURES / "openclaw")
    brought(config, FIXTURES / "chatgpt")
    assert "noted" not in found(config, "Fresnel lens")[0]
    assert any("seat 61" in text for text in found(config, "train to Uppsala"))
    assert any("Never use tabs" in text for text in found(config, "tabs"))
    (kite,) = [
        hit for hit in asked(config, MemorySearch(query="spar for a delta kite")).results if "spar" in hit.snippet
    ]
    assert kite.time is not None
    assert kite.time.isoformat() == "2026-01-05T10:00:01.250000+00:00"
    ropes = asked(config, MemorySearch(query="bring the ropes", session_id="x", session_kind="group"))
    assert ropes.results == ()
    group = "0b9d2f6e-2222-4c8b-9d5e-000000000002"
    assert asked(config, MemorySearch(query="ropes", session_id=group, session_kind="group")).results
    assert not asked(config, MemorySearch(query="Fresnel", session_id=group, session_kind="group")).results


@pytest.mark.parametrize(("mine", "origin"), [(False, "origin=untrusted"), (True, "origin=owner")])
def test_origin(tmp_path: Path, mine: bool, origin: str) -> None:
    """Untrusted unless the person says that it is theirs; then each has who spoke."""
    config = home(tmp_path)
    brought(config, FIXTURES / "chatgpt", Options(trusted=mine))
    text = (config.memory_folder / "conversations/2026-01-05.md").read_text()
    assert origin in text
    assert ("origin=agent" in text) is mine


def test_imported_words_ask_for_nothing(tmp_path: Path) -> None:
    """Nobody says them now: no entry, no fact comes of them."""
    config = home(tmp_path)
    brought(config, chats(tmp_path / "c.json", ["remember that I only fly kites on Sundays"]), Options(trusted=True))
    assert not (config.workspace_folder / "MEMORY.md").exists()
    assert not list((config.memory_folder / "facts").glob("*.md"))


def test_edited_since_is_not_imported_again(tmp_path: Path) -> None:
    """A person corrected a message; the source's text does not come back beside it."""
    config = home(tmp_path)
    source = chats(tmp_path / "c.json", ["the harbour opens at nine", "thanks"])
    brought(config, source)
    day = config.memory_folder / "conversations/2026-01-10.md"
    day.write_text(day.read_text().replace("opens at nine", "opens at ten"))
    assert not planned(config, source).changes_anything
    assert planned(config, chats(tmp_path / "d.json", ["x", "thanks", "more"])).new["conversation"] == 1


def test_grown_source_brings_what_is_new(tmp_path: Path) -> None:
    """A later export of the same chats: the new messages alone."""
    config = home(tmp_path)
    brought(config, chats(tmp_path / "c.json", [f"m{number}" for number in range(450)]))
    done = brought(config, chats(tmp_path / "d.json", [f"m{number}" for number in range(460)]))
    assert done.written.counts == {"conversation": 10}
    assert texts_in(config, tmp_path / "out.jsonl") == [f"m{number}" for number in range(460)]


def test_rotated_days_are_looked_through(tmp_path: Path) -> None:
    """More messages than one file holds."""
    config = home(tmp_path, conversations={"max_messages_per_file": 50})
    source = chats(tmp_path / "c.json", [f"m{number}" for number in range(320)])
    brought(config, source)
    assert (config.memory_folder / "conversations/2026-01-10-002.md").exists()
    assert planned(config, source).known == {"conversation": 320}


def test_what_is_not_flushed_is_known(tmp_path: Path) -> None:
    """What lies in the journal of somebody who runs counts as there."""
    config = home(tmp_path)
    source = chats(tmp_path / "c.json", ["in the journal"])
    brought(config, source)

    async def beside(bus: EventBus) -> Any:
        from openclaw_memory import ManualClock
        from openclaw_memory.moving.importing import plan_import
        from tests.support import START

        later = chats(tmp_path / "d.json", ["in the journal", "and this"])
        content = {"messages": [{"role": "user", "content": "and this", "timestamp": "2026-01-10T10:00:01Z"}]}
        await bus.request(MemoryWrite(type="conversation", content=content, session_id="claude-c1"), timeout=5)
        return await plan_import(config, later, Options(), LocalFiles(), ManualClock(START))

    plan = with_bus(config, beside)
    assert (plan.known["conversation"], plan.new["conversation"]) == (2, 0)


def test_forgotten_stays_forgotten(tmp_path: Path) -> None:
    """A message, a note and an entry that were forgotten do not come back with the next import; the others do."""
    config = home(tmp_path)
    words = "the combination of the old safe is in the green folder"
    source = chats(tmp_path / "c.json", ["hello there", words, "bye then"])
    brought(config, source)
    workspace = tmp_path / "other"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "MEMORY.md").write_text(f"- {words}\n- tea, not coffee\n")
    (workspace / "memory/2026-01-10.md").write_text(f"- {words}\n")
    (workspace / "memory/2026-01-11.md").write_text("- something else\n")
    written(config.workspace_folder / "MEMORY.md", "- ours\n")
    brought(config, workspace)
    assert asked(config, Forget(selector={"text": words})).total >= 3
    again = planned(config, workspace)
    assert again.new == {}
    assert [remark.where for remark in again.left_out] == ["memory/2026-01-10.md", "MEMORY.md, line 1"]
    done = brought(config, chats(tmp_path / "d.json", ["hello there", words, "bye then", "new"]))
    assert done.written.counts == {"conversation": 1}
    assert "it was forgotten on" in done.written.refused[0].words
    assert words not in "".join(texts_in(config, tmp_path / "out.jsonl"))


def test_files_that_say_something_else_stand_beside(tmp_path: Path) -> None:
    """Ours is untouched; theirs has a name of its own that tells the day; a second run knows it."""
    config = home(tmp_path)
    notes = config.workspace_folder / "memory"
    written(notes / "2026-04-18.md", "- our own note\n")
    written(config.workspace_folder / "MEMORY.md", "# Ours\n\n## Decisions\n\n- 周报每周五下午发出\n")
    plan = planned(config, FIXTURES / "openclaw")
    (conflict,) = plan.conflicts
    assert (conflict.address, conflict.ours, conflict.outcome) == (
        "workspace/main/memory/2026-04-18.md",
        "- our own note",
        "both are kept",
    )
    assert conflict.theirs.startswith("# 2026-04-18")
    brought(config, FIXTURES / "openclaw")
    assert (notes / "2026-04-18.md").read_text() == "- our own note\n"
    (other,) = notes.glob("2026-04-18-imported-*.md")
    assert other.read_bytes() == (FIXTURES / "openclaw/workspace/memory/2026-04-18.md").read_bytes()
    memory = (config.workspace_folder / "MEMORY.md").read_text()
    assert memory.count("周报每周五下午发出") == 1
    assert "- The lighthouse project uses PostgreSQL, not MySQL" in memory
    # What OpenClaw wrote behind an entry when it promoted it is none of the entry.
    assert "- Deploys happen on Tuesdays only\n" in memory
    assert not planned(config, FIXTURES / "openclaw").changes_anything


def test_a_note_that_went_on_is_not_doubled(tmp_path: Path) -> None:
    """The file was imported; the agent has added to it since."""
    config = home(tmp_path)
    brought(config, FIXTURES / "openclaw")
    note = config.workspace_folder / "memory/2026-04-18.md"
    note.write_text(note.read_text() + "\n- and more\n")
    assert not planned(config, FIXTURES / "openclaw").changes_anything


def test_secrets_in_files_are_masked(tmp_path: Path) -> None:
    """In what comes from elsewhere, as in everything that is written."""
    config = home(tmp_path)
    token = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    source = tmp_path / "w"
    (source / "memory").mkdir(parents=True)
    (source / "memory/2026-01-01.md").write_text(f"- token: {token}\n")
    brought(config, source)
    assert token not in (config.workspace_folder / "memory/2026-01-01.md").read_text()
    assert not planned(config, source).changes_anything


def test_secrets_in_messages_are_masked_and_known(tmp_path: Path) -> None:
    """What is stored is not what the source says, and is known all the same."""
    config = home(tmp_path)
    token = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    source = chats(tmp_path / "c.json", [f"my token is {token}", "ok"])
    brought(config, source)
    assert token not in "".join(texts_in(config, tmp_path / "out.jsonl"))
    assert not planned(config, source).changes_anything


def test_a_day_that_can_not_be_read_costs_itself(tmp_path: Path) -> None:
    """Its messages are told by their place; those of other days are imported; the file stays as it is."""
    config = home(tmp_path)
    day = config.memory_folder / "conversations/2026-01-05.md"
    day.parent.mkdir()
    day.write_bytes(b"\x00\xff no text")
    plan = planned(config, FIXTURES / "chatgpt")
    assert len(plan.problems) == 6
    assert "can't be read" in plan.problems[0].words
    assert brought(config, FIXTURES / "chatgpt").written.counts == {"conversation": 1}
    assert day.read_bytes() == b"\x00\xff no text"


def test_session_that_no_file_can_have_costs_itself(tmp_path: Path) -> None:
    """A name that is a device on Windows; the other sessions are imported."""
    config = home(tmp_path / "home", mode="four_tier")
    sessions = tmp_path / "w/sessions"
    sessions.mkdir(parents=True)
    for name in ("con", "fine"):
        (sessions / f"{name}.jsonl").write_text(
            json.dumps({"role": "user", "content": f"said in {name}", "timestamp": "2026-01-05T10:00:00Z"})
        )
    done = brought(config, tmp_path / "w")
    assert done.written.counts == {"conversation": 1}
    assert "device on Windows" in done.written.refused[0].words


def test_facts_of_an_export_and_what_collides(tmp_path: Path) -> None:
    """Both values are shown; ours is kept, unless the person wants theirs."""
    there, here = home(tmp_path / "there"), home(tmp_path / "here")

    def told(value: str, **more: str) -> Any:
        async def tell(bus: EventBus) -> None:
            for key, said in {"editor": value, **more}.items():
                await bus.request(UpdateFact(section="Tools", key=key, value=said), timeout=5)

        return tell

    with_bus(there, told("helix", shell="fish"))
    with_bus(here, told("vim"))
    source = tmp_path / "out.jsonl"
    exported(there, source)
    (conflict,) = planned(here, source).conflicts
    assert (conflict.ours, conflict.theirs, conflict.outcome) == ("vim", "helix", "ours is kept")
    brought(here, source)
    facts = (here.memory_folder / "facts/user-profile.md").read_text()
    assert "editor: vim" in facts
    assert "shell: fish" in facts
    brought(here, source, Options(take_theirs=True))
    assert "editor: helix" in (here.memory_folder / "facts/user-profile.md").read_text()
    assert "vim" in (here.memory_folder / "facts/archive/user-profile.md").read_text()
    assert not planned(here, source, Options(take_theirs=True)).changes_anything


def test_open_tasks_of_an_export(tmp_path: Path) -> None:
    """A task that we do not have gets an id of ours, and its state."""
    there, here = home(tmp_path / "there"), home(tmp_path / "here")

    def task(title: str) -> Any:
        async def add(bus: EventBus) -> None:
            content = {"title": title, "steps": [{"text": "first", "done": True}]}
            reply = await bus.request(MemoryWrite(type="task", content=content, session_id="s"), timeout=5)
            from contracts import TaskStateChange

            await bus.request(TaskStateChange(task_id=reply.key.partition("#")[2], new_state="in_progress"), timeout=5)

        return add

    with_bus(there, task("paint the boat"))
    with_bus(here, task("mend the net"))
    exported(there, tmp_path / "out.jsonl")
    brought(here, tmp_path / "out.jsonl")
    tasks = (here.memory_folder / "tasks/active.md").read_text()
    assert "[OPEN-002] paint the boat" in tasks.replace("\\", "")
    assert not planned(here, tmp_path / "out.jsonl").changes_anything


# -- stopped ---------------------------------------------------------------------------------------------------------


def lived_in(root: Path) -> MemoryConfig:
    """A memory with something of every kind."""
    config = home(root)
    written(config.workspace_folder / "MEMORY.md", "- ours\n")
    written(config.workspace_folder / "memory/2026-04-18.md", "- our own note\n")
    brought(config, chats(root / "first.json", ["said before"], "c0", hour=9))
    with_bus(config, lambda bus: bus.request(UpdateFact(section="S", key="k", value="v"), timeout=5))
    return config


@pytest.mark.parametrize("after", [0, 200, 600])
def test_interrupted_leaves_everything_as_it_was(tmp_path: Path, after: int) -> None:
    """Ctrl-C after any number of items: every file, byte for byte; and the next run brings everything."""
    config = lived_in(tmp_path)
    source = chats(tmp_path / "c.json", [f"m{number}" for number in range(900)])
    before = tree(tmp_path)

    def pressed(done: int, total: int) -> None:
        if done > after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="everything is as it was before"):
        brought(config, source, progress=pressed)
    assert tree(tmp_path) == before
    assert found(config, "m1") == []
    assert brought(config, source).written.counts == {"conversation": 900}
    assert texts_in(config, tmp_path / "out.jsonl") == ["said before", *(f"m{number}" for number in range(900))]


def test_interrupted_while_files_are_placed(tmp_path: Path) -> None:
    """Those that were made already go again."""
    config = lived_in(tmp_path)
    before = tree(tmp_path)

    class Interrupted(LocalFiles):
        def rename_new(self, source: Path, target: Path) -> None:
            super().rename_new(source, target)
            if target.name == "contacts.md":
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="everything is as it was before"):
        brought(config, FIXTURES / "openclaw", files=Interrupted())
    assert tree(tmp_path) == before


@pytest.mark.parametrize("operation", ["rename_new", "append"])
def test_full_disk_leaves_everything_as_it_was(tmp_path: Path, operation: str) -> None:
    """The reason is told, and what was done about it."""
    config = lived_in(tmp_path)
    before = tree(tmp_path)
    files = FaultyFiles(lambda done, path: errno.ENOSPC if done == operation and "charts" in path.name else None)
    with pytest.raises(StoppedError, match=r"No space left on device.*everything is as it was before"):
        brought(config, FIXTURES / "openclaw", files=files)
    assert tree(tmp_path) == before


def test_a_backup_that_is_not_good_stops_before_anything(tmp_path: Path) -> None:
    """What was copied is read again."""
    config = lived_in(tmp_path)
    before = tree(tmp_path)

    class Rotten(LocalFiles):
        def read_now(self, path: Path) -> bytes:
            data = super().read_now(path)
            return data + b"x" if "before-import" in str(path) and path.name == "MEMORY.md" else data

    with pytest.raises(BackupError, match=r"MEMORY\.md is not what was copied"):
        brought(config, FIXTURES / "chatgpt", files=Rotten())
    assert tree(tmp_path) == before


def test_backup_brings_everything_back(tmp_path: Path) -> None:
    """Also long after the import; its sums are those that `sha256sum -c` reads."""
    config = lived_in(tmp_path)
    before = tree(tmp_path)
    done = brought(config, FIXTURES / "openclaw")
    sums = verify_backup(done.backup, LocalFiles())
    assert len(sums) == done.backed_up
    assert (done.backup / SUMS).read_text().split("\n")[0].count("  ") == 1
    restore_backup(config, done.backup, LocalFiles())
    changed = {path for path, digest in tree(tmp_path).items() if before.get(path) != digest}
    # Files of a person's folder are not removed: they may be somebody's own by now.
    assert all(path.startswith("workspace/main/memory/") for path in changed)


def test_backups_forget_as_well(tmp_path: Path) -> None:
    """What is forgotten later goes from what was backed up before an import; the rest of that stays."""
    config = home(tmp_path)
    words = "the spare key lies under the third flowerpot"
    brought(config, chats(tmp_path / "c.json", ["good morning to you all", words]))
    backup = brought(config, FIXTURES / "claude").backup
    copy = backup / "memory/conversations/2026-01-10.md"
    assert words in copy.read_text()
    forgotten = asked(config, Forget(selector={"text": words}))
    assert forgotten.notice is None
    assert forgotten.verified
    assert "good morning to you all" in copy.read_text()
    (tmp_path / "c.json").unlink()
    left = [path for path in tmp_path.rglob("*") if path.is_file() and words.encode() in path.read_bytes()]
    assert left == []


def test_own_folder_is_no_source(tmp_path: Path) -> None:
    """It works in place."""
    config = lived_in(tmp_path)
    for folder in (config.root, config.memory_folder, config.workspace_folder):
        with pytest.raises(SourceError, match="own folder"):
            planned(config, folder)
