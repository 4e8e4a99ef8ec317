"""The workspace end to end: daily notes, MEMORY.md and what it links to, written and read by events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bus import Event, PluginStartError
from contracts import MemoryContext, MemoryRead, MemorySearch, MemoryWrite, MemoryWritten
from openclaw_memory import ManualClock, MemoryConfig
from openclaw_memory.repair import repair
from openclaw_memory.workspace import elsewhere
from tests.memory_folder import content
from tests.support import START, FaultyFiles, Remembering, remembering


def note(text: str, title: str | None = None, **more: Any) -> MemoryWrite:
    return MemoryWrite(type="note", content={"text": text, "title": title}, session_id="s1", **more)


def entry(text: str, section: str | None = None, **more: Any) -> MemoryWrite:
    return MemoryWrite(type="memory", content={"text": text, "section": section}, session_id="s1", **more)


async def read(it: Remembering, query: str = "", **more: Any) -> MemoryContext:
    context = await it.ask(MemoryRead(**{"query": query, "session_id": "s1", "max_tokens": 4_000, **more}))
    assert isinstance(context, MemoryContext)
    return context


async def found(it: Remembering, query: str, **more: Any) -> list[str]:
    results = await it.ask(MemorySearch(query=query, **more))
    return [result.path for result in results.results]


def put(root: Path, files: dict[str, str]) -> Path:
    """Write files of a person into the workspace."""
    work = root / "workspace/main"
    for name, text in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text, encoding="utf-8")
    return work


# -- writing ----------------------------------------------------------------------------------------------------


async def test_note_and_entry_are_written_and_come_back(tmp_path: Path) -> None:
    """Acknowledged, read before any flush, found by search, in the files after it, and nothing beside them."""
    async with remembering(tmp_path, language="en") as it:
        noted = await it.ask(note("The parser is done, tests are left.", "Parser"))
        kept = await it.ask(entry("Answers should be short", "Preferences"))
        assert (noted.success, noted.durability, kept.success) == (True, "synced", True)
        assert noted.key.startswith("workspace/main/memory/2026-05-04.md#L")
        assert kept.key.startswith("workspace/main/MEMORY.md#")
        context = await read(it)
        assert "\n".join(context.notes) == ("## 2026-05-04\n### 14:30 — Parser\nThe parser is done, tests are left.")
        assert "\n".join(context.memory) == "# Long-term memory\n## Preferences\n- Answers should be short"
        assert await found(it, "parser tests") == ["workspace/main/memory/2026-05-04.md"]
        assert await found(it, "short answers") == ["workspace/main/MEMORY.md"]
        await it.flushed()
    assert content(tmp_path / "workspace").keys() == {"main/MEMORY.md", "main/memory/2026-05-04.md"}
    async with remembering(tmp_path, language="en") as it:
        assert await read(it) == context
        assert it.memory.status().healthy


async def test_nothing_is_kept_twice(tmp_path: Path) -> None:
    """The same entry in other words' clothes, and the same note of the same minute, are known already."""
    async with remembering(tmp_path) as it:
        first = await it.ask(entry("Deploys on Fridays"))
        again = await it.ask(entry("- deploys on  fridays."))
        assert (again.success, again.key, "already" in again.message) == (True, first.key, True)
        await it.ask(note("x"))
        assert "known already" in (await it.ask(note("x"))).message
        await it.flushed()
    assert (tmp_path / "workspace/main/MEMORY.md").read_text().count("riday") == 1


async def test_an_answer_that_changed_nothing_is_published_too(tmp_path: Path) -> None:
    """Who listens, or asked in JSON, gets it like any other."""
    heard: list[str] = []

    async def hear(event: Event[MemoryWritten]) -> None:
        heard.append(event.data.key)

    async with remembering(tmp_path) as it:
        it.bus.subscribe(MemoryWritten, hear)
        keys = [(await it.ask(entry("the same"))).key for _ in range(3)]
        await it.bus.drain(5)
    assert heard == keys


@pytest.mark.parametrize("kind", ["sub", "group", "sandbox"])
@pytest.mark.parametrize("write", [note, entry])
async def test_only_primary_sessions_write_them(tmp_path: Path, kind: str, write: Any) -> None:
    """Others are refused by the field's name, and nothing is made on the disk."""
    async with remembering(tmp_path) as it:
        refused: MemoryWritten = await it.ask(write("x", session_kind=kind))
        assert (refused.success, refused.degraded) == (False, False)
        assert (refused.message or "").startswith("sessionKind: ")
        await it.flushed()
    assert content(tmp_path / "workspace") == {}


async def test_batch_over_both_folders_is_all_or_nothing(tmp_path: Path) -> None:
    """A message, a fact, a note and an entry in one record; one that is refused takes the others with it."""
    good = [
        {"event": "memory:write", "data": note("noted").model_dump(by_alias=True)},
        {"event": "memory:write", "data": entry("remembered").model_dump(by_alias=True)},
        {"event": "memory:update_fact", "data": {"section": "S", "key": "k", "value": "v"}},
    ]
    bad = {"event": "memory:write", "data": entry("x" * 3_000).model_dump(by_alias=True)}
    async with remembering(tmp_path / "a") as it:
        refused = await it.ask(MemoryWrite(type="batch", content={"items": [*good, bad]}, session_id="s1"))
        assert not refused.success
        assert refused.message.startswith("content.items[3].text: ")
        assert (await read(it)).notes == ()
        written = await it.ask(MemoryWrite(type="batch", content={"items": good}, session_id="s1"))
        assert [key.partition("#")[0] for key in written.keys] == [
            "workspace/main/memory/2026-05-04.md",
            "workspace/main/MEMORY.md",
            "facts/user-profile.md",
        ]
        crashed = it.crashed_copy(tmp_path / "b")
    async with remembering(crashed) as it:
        context = await read(it)
        assert ("noted" in context.notes[0], "remembered" in context.memory[0], context.facts) == (
            True,
            True,
            ("S/k: v",),
        )


async def test_memory_file_where_it_is_and_where_it_is_wanted(tmp_path: Path) -> None:
    """An existing MEMORY.md is used wherever it lies; a new one is made where the configuration says."""
    put(tmp_path / "a", {"memory/MEMORY.md": "# mine\n\n- by hand\n"})
    async with remembering(tmp_path / "a") as it:
        assert (await it.ask(entry("new"))).key.startswith("workspace/main/memory/MEMORY.md#")
        await it.flushed()
    assert content(tmp_path / "a/workspace").keys() == {"main/memory/MEMORY.md"}
    async with remembering(tmp_path / "b", mode="two_layer") as it:
        assert (await it.ask(entry("new"))).key.startswith("workspace/main/memory/MEMORY.md#")
        # Also before the first one is in a file.
        assert (await it.ask(entry("another"))).key.startswith("workspace/main/memory/MEMORY.md#")


async def test_hand_edits_are_seen_at_the_next_read(tmp_path: Path) -> None:
    """The agent's own file tool writes, and the next read has it without a restart; old words are found no more."""
    work = put(tmp_path, {"memory/MEMORY.md": "- likes tea\n"})
    async with remembering(tmp_path, mode="two_layer") as it:
        assert await found(it, "tea") == ["workspace/main/memory/MEMORY.md"]
        (work / "memory/MEMORY.md").write_text("- likes cocoa, and plenty of it\n")
        (work / "memory/2026-05-04.md").write_text("# 2026-05-04\n\n- [ ] buy lamps\n")
        context = await read(it)
        assert context.memory == ("- likes cocoa, and plenty of it",)
        assert "buy lamps" in context.notes[0]
        assert (await found(it, "tea"), await found(it, "cocoa")) == ([], ["workspace/main/memory/MEMORY.md"])
        (work / "memory/MEMORY.md").unlink()
        assert (await read(it)).memory == ()
        assert await found(it, "cocoa") == []


# -- loading ----------------------------------------------------------------------------------------------------


async def test_notes_of_the_last_days_newest_worth_most(tmp_path: Path) -> None:
    """`dailyLogDays`: today and yesterday, slugged and nested ones too, oldest first; the newest are worth most."""
    put(
        tmp_path,
        {
            "memory/2026-05-04.md": "- of today\n",
            "memory/2026-05-03.md": "- of yesterday\n",
            "memory/trips/2026-05-03-oslo.md": "- of Oslo\n",
            "memory/2026-05-02.md": "- too old\n",
            "memory/2026-05-05.md": "- of tomorrow\n",
            "memory/topics.md": "- undated\n",
        },
    )
    async with remembering(tmp_path) as it:
        assert (await read(it)).notes == (
            "## 2026-05-03\n- of yesterday",
            "## 2026-05-03\n- of Oslo",
            "## 2026-05-04\n- of today",
        )
        assert (await read(it, max_tokens=20)).notes == ("## 2026-05-04\n- of today",)
        assert await found(it, "undated") == ["workspace/main/memory/topics.md"]
        assert await found(it, "old") == ["workspace/main/memory/2026-05-02.md"]
        early = await read(it, as_of="2026-05-03T23:00:00+08:00")
        assert early.notes == ("## 2026-05-02\n- too old",)
    async with remembering(tmp_path, daily_log_days=0) as it:
        assert (await read(it)).notes == ()


async def test_index_of_linked_files(tmp_path: Path) -> None:
    """MEMORY.md names files: they are loaded and found; one that it no longer names is neither, after a restart too."""
    work = put(
        tmp_path,
        {
            "MEMORY.md": "# Index\n\n- [user](user.md) — who\n- [team](more/team.md)\n- [out](../../out.md)\n",
            "user.md": "- plays the cello\n",
            "more/team.md": "- led by Ines\n",
            "AGENTS.md": "- instructions of somebody else\n",
        },
    )
    (tmp_path / "out.md").write_text("- outside\n")
    async with remembering(tmp_path) as it:
        assert (await read(it)).memory[-2:] == ("- plays the cello", "- led by Ines")
        assert await found(it, "cello") == ["workspace/main/user.md"]
        assert await found(it, "instructions outside") == []
        (work / "user.md").write_text("- plays the oboe now\n")
        assert await found(it, "oboe") == ["workspace/main/user.md"]
        (work / "MEMORY.md").write_text("- [team](more/team.md)\n")
        assert (await read(it)).memory[-1:] == ("- led by Ines",)
        assert (await found(it, "oboe"), await found(it, "Ines")) == ([], ["workspace/main/more/team.md"])
    (work / "MEMORY.md").write_text("# nothing here\n\n- empty\n")
    async with remembering(tmp_path) as it:
        assert await found(it, "Ines oboe") == []
        (work / "MEMORY.md").write_text("- [u](user.md) and [t](more/team.md)\n")
        assert sorted(await found(it, "Ines oboe")) == ["workspace/main/more/team.md", "workspace/main/user.md"]


async def test_links_out_of_the_workspace_are_not_followed(tmp_path: Path) -> None:
    """A symbolic link on the way leads nowhere, and so does one from `shared/` into what is private."""
    work = put(
        tmp_path, {"MEMORY.md": "- [x](x.md)\n- [y](deep/y.md)\n- [fine](fine.md)\n", "fine.md": "- fine sands\n"}
    )
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/y.md").write_text("- secret sands\n")
    (work / "x.md").symlink_to(tmp_path / "secret/y.md")
    (work / "deep").symlink_to(tmp_path / "secret")
    (work / "shared").mkdir()
    (work / "shared/z.md").symlink_to(work / "fine.md")
    async with remembering(tmp_path) as it:
        context = await read(it)
        assert context.memory[-1] == "- fine sands"
        assert context.degraded
        assert await found(it, "sands") == ["workspace/main/fine.md"]
        assert await found(it, "sands", session_id="g", session_kind="group") == []


async def test_a_piece_is_said_once(tmp_path: Path) -> None:
    """What a note or MEMORY.md says already is not recalled once more."""
    put(tmp_path, {"MEMORY.md": "- the cello stands in Oslo\n", "memory/2026-05-04.md": "- the cello was tuned\n"})
    async with remembering(tmp_path) as it:
        context = await read(it, "cello")
        assert (len(context.memory), len(context.notes), context.recalled) == (1, 1, ())
        group = await read(it, "cello", session_id="g", session_kind="group")
        assert (group.memory, group.notes, group.recalled) == ((), (), ())


@pytest.mark.parametrize("bad", ["large", "binary", "folder", "unreadable"])
@pytest.mark.parametrize("name", ["MEMORY.md", "memory/2026-05-04.md"])
async def test_one_bad_file_costs_itself(tmp_path: Path, name: str, bad: str) -> None:
    """50 MB, binary, a directory of that name: the rest of the context comes, with a notice that names the file."""
    work = put(tmp_path, {"MEMORY.md": "- m\n", "memory/2026-05-04.md": "- n\n", "memory/2026-05-03.md": "- before\n"})
    path = work / name
    path.unlink()
    if bad == "folder":
        path.mkdir()
    elif bad == "large":
        with path.open("wb") as file:
            file.truncate(52_428_800)
    else:
        path.write_bytes(b"\0\xff\xfe\x80binary" * 50 if bad == "binary" else b"x")
        path.chmod(0o600 if bad == "binary" else 0)
    async with remembering(tmp_path) as it:
        context = await read(it)
        if bad == "unreadable" and not context.degraded:
            pytest.skip("the superuser may read everything")
        assert context.degraded
        assert f"workspace/main/{name}" in (context.notice or "")
        assert any("before" in line for line in context.notes)
        other = await it.ask(entry("z") if name != "MEMORY.md" else note("z"))
        assert other.success
        refused = await it.ask(entry("z") if name == "MEMORY.md" else note("z"))
        assert (refused.success, name in (refused.message or "")) == (False, True)


async def test_two_memories_on_one_workspace(tmp_path: Path) -> None:
    """The second is refused in words, and the first goes on; when that ends, it may begin."""
    (tmp_path / "link").symlink_to(tmp_path / "work")
    async with remembering(tmp_path / "a", workspace_path=tmp_path / "work") as it:
        with pytest.raises(PluginStartError, match="in use by another memory"):
            async with remembering(tmp_path / "b", workspace_path=tmp_path / "link"):
                pass
        assert (await it.ask(note("still here"))).success
    async with remembering(tmp_path / "b", workspace_path=tmp_path / "link") as it:
        assert "still here" in (await read(it)).notes[0]


async def test_a_guest_reads_the_workspace(tmp_path: Path) -> None:
    """Beside the owner, what is in the journal alone is seen as well."""
    async with remembering(tmp_path) as owner, remembering(tmp_path) as guest:
        await owner.ask(note("journal only"))
        assert "journal only" in (await read(guest)).notes[0]
        await owner.flushed()
        await owner.ask(entry("a second one"))
        context = await read(guest)
        assert (len(context.notes), "a second one" in context.memory[-1]) == (1, True)


def test_shared_stands_for_itself(tmp_path: Path) -> None:
    """Its place comes before the workspace's, so that it has bounds of its own."""
    assert list(elsewhere(MemoryConfig(root=tmp_path))) == ["workspace/main/shared", "workspace/main", "agents"]


async def test_repair_writes_what_waits_into_the_workspace(tmp_path: Path) -> None:
    """The journal's changes of MEMORY.md go to where it lies, and nowhere else."""
    async with remembering(tmp_path / "a") as it:
        await it.ask(entry("kept"))
        crashed = it.crashed_copy(tmp_path / "b")
    config = MemoryConfig(root=crashed, timezone="Asia/Shanghai")
    result = await repair(config, FaultyFiles(), ManualClock(START))
    assert result.attention == 0
    assert [action.path for action in result.actions if action.done] == [
        ".state/curated.json",
        "workspace/main/MEMORY.md",
    ]
    assert "kept" in (crashed / "workspace/main/MEMORY.md").read_text(encoding="utf-8")
    assert not (crashed / "memory/workspace").exists()
