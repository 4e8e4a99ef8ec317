"""The folder is shared: with a memory that searches it, with people who edit in it, with other programs that write."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from contracts import Forget, MemoryGet, MemoryRead, MemorySearch
from openclaw_memory import MemoryConfig
from openclaw_memory.filetool import FileMemory
from openclaw_memory.filetool.folder import Folder
from openclaw_memory.layers import agent_files
from openclaw_memory.storage.files import Stamp
from tests.filetool.conftest import fill, held, tool_of
from tests.filetool.test_model import QuickFiles
from tests.support import FaultyFiles, Remembering, no_space, remembering


async def found(it: Remembering, query: str, **more: object) -> list[str]:
    """Search, and give the paths of the hits."""
    results = await it.ask(MemorySearch(query=query, **more))  # type: ignore[arg-type]
    assert not results.degraded, results.notice
    return [hit.path for hit in results.results]


@pytest.mark.parametrize("name", ["n.md", "n.txt", "n.xml", "n", "a/b/c/d/n.json", "字.md"])
async def test_search_finds_what_was_written(tmp_path: Path, name: str) -> None:
    """Whatever the name ends in and however deep it lies, as soon as the command is answered; edits, moves too."""
    async with remembering(tmp_path) as it:
        tool, path = FileMemory(it.memory.config, files=FaultyFiles()), f"workspace/main/memories/{name}"
        await tool.handle({"command": "create", "path": f"/memories/{name}", "file_text": "the zeppelin lands\n"})
        assert await found(it, "zeppelin") == [path]
        document = await it.ask(MemoryGet(path=path))
        assert document.text == "the zeppelin lands\n"
        await tool.handle(
            {"command": "str_replace", "path": f"/memories/{name}", "old_str": "zeppelin", "new_str": "walrus"}
        )
        assert await found(it, "zeppelin") == []
        assert await found(it, "walrus") == [path]
        await tool.handle({"command": "rename", "old_path": f"/memories/{name}", "new_path": "/memories/moved.md"})
        assert await found(it, "walrus") == ["workspace/main/memories/moved.md"]
        await tool.handle({"command": "delete", "path": "/memories/moved.md"})
        assert await found(it, "walrus") == []


async def test_forgetting_reaches_them(tmp_path: Path) -> None:
    """By what they say, whatever their names end in, and by their path."""
    async with remembering(tmp_path) as it:
        tool = FileMemory(it.memory.config, files=FaultyFiles())
        for name, text in {"n.md": "- keep\n- the zeppelin lands\n", "n.txt": "keep\n\nthe zeppelin lands\n"}.items():
            await tool.handle({"command": "create", "path": f"/memories/{name}", "file_text": text})
        forgotten = await it.ask(Forget.model_validate({"selector": {"text": "zeppelin lands"}}))
        assert (forgotten.total, forgotten.verified) == (2, True)
        await it.flushed()
        assert [text.strip() for text in held(tool.folder).values()] == ["- keep", "keep"]
        forgotten = await it.ask(Forget.model_validate({"selector": {"path": "workspace/main/memories/n.txt"}}))
        assert forgotten.verified
        await it.flushed()
        assert await tool.handle({"command": "view", "path": "/memories/n.txt"}) == (
            "The path /memories/n.txt does not exist. Please provide a valid path."
        )


async def test_case_31_secrets_are_not_stored(tmp_path: Path) -> None:
    """Masked in every text that a command brings, and said; what a person wrote in the file is left alone."""
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA2bC4"
    for masks in (True, False):
        config = MemoryConfig(root=tmp_path / str(masks), language="en", secrets={"mask": masks})
        tool = FileMemory(config, files=FaultyFiles())
        fill(tool.folder, {"mine.md": f"{secret}\n"})
        replies = [
            await tool.handle({"command": "create", "path": "/memories/n.md", "file_text": f"one {secret}\n"}),
            await tool.handle(
                {"command": "str_replace", "path": "/memories/n.md", "old_str": "one", "new_str": f"two {secret}"}
            ),
            await tool.handle(
                {"command": "insert", "path": "/memories/n.md", "insert_line": 1, "insert_text": f"three {secret}"}
            ),
        ]
        stored = held(tool.folder)
        assert (secret in stored["n.md"]) is not masks
        assert stored["n.md"].count("[masked: ") == (3 if masks else 0)
        assert all(("not stored, since it is secret" in reply) is masks for reply in replies)
        assert stored["mine.md"] == f"{secret}\n"


async def test_files_that_are_no_text_trouble_nobody(tmp_path: Path) -> None:
    """A picture among the files is no reason to call memory degraded, however large."""
    async with remembering(tmp_path) as it:
        folder = FileMemory(it.memory.config).folder
        fill(folder, {"n.md": "the zeppelin lands"})
        (folder / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
        (folder / "b.bin").write_bytes(b"\0" * (agent_files.MAX_BYTES + 1))
        assert await found(it, "zeppelin") == ["workspace/main/memories/n.md"]


async def test_nothing_is_written_but_the_files(tmp_path: Path) -> None:
    """No front matter, no backup, nothing hidden: in a workspace of the real OpenClaw there are the files, no more."""
    async with remembering(tmp_path) as it:
        tool = FileMemory(it.memory.config, files=FaultyFiles())
        await tool.handle({"command": "create", "path": "/memories/n.md", "file_text": "one"})
        await tool.handle({"command": "insert", "path": "/memories/n.md", "insert_line": 0, "insert_text": "two"})
        await found(it, "one")
    assert held(tmp_path / "workspace" / "main" / "memories") == {"n.md": "two\none"}


async def test_case_30_groups_do_not_see_them(tmp_path: Path) -> None:
    """Neither by search, nor by path, nor in a context; nor does a model that works for a group have the tool."""
    async with remembering(tmp_path) as it:
        tool = FileMemory(it.memory.config, files=FaultyFiles())
        await tool.handle({"command": "create", "path": "/memories/n.md", "file_text": "the zeppelin lands"})
        assert await found(it, "zeppelin", session_id="g1", session_kind="group") == []
        document = await it.ask(MemoryGet(path="workspace/main/memories/n.md", session_kind="group"))
        assert document.text == ""
        context = await it.ask(MemoryRead(query="zeppelin", session_id="g", session_kind="group", max_tokens=4000))
        assert "zeppelin" not in str(context)
    for kind in ("group", "sub"):
        theirs = tool_of(tmp_path, session_kind=kind)
        assert await theirs.handle({"command": "view", "path": "/memories/n.md"}) == (
            f"Error: /memories is private; a {kind} session does not see it"
        )


async def test_sandbox_may_only_look(tmp_path: Path) -> None:
    """As it may with all that is private."""
    fill(tool_of(tmp_path).folder, {"n.md": "x"})
    tool = tool_of(tmp_path, session_kind="sandbox")
    assert "\tx" in await tool.handle({"command": "view", "path": "/memories/n.md"})
    refused = await tool.run({"command": "delete", "path": "/memories/n.md"})
    assert refused.text == "Error: a sandbox session may view /memories, and change nothing in it"
    assert held(tool.folder) == {"n.md": "x"}


class Saved(FaultyFiles):
    """The disk, on which a person saves a file at the very moment before a command exchanges it."""

    def __init__(self, path: Path, texts: list[str]) -> None:
        super().__init__()
        self._path, self._texts = path, texts
        self._puts_back = False

    def exchange(self, one: Path, other: Path) -> bool:
        if self._texts and not self._puts_back:
            new = self._path.with_name("editor~")
            new.write_text(self._texts.pop(0))
            new.replace(self._path)
            self._puts_back = True
        else:
            self._puts_back = False
        return super().exchange(one, other)


async def test_person_who_saves_at_the_same_moment(tmp_path: Path) -> None:
    """Both changes are there."""
    path = tool_of(tmp_path).folder / "n.md"
    fill(path.parent, {"n.md": "one\ntwo\n"})
    tool = tool_of(tmp_path, Saved(path, ["one\ntwo\nby hand\n"]))
    reply = await tool.run({"command": "str_replace", "path": "/memories/n.md", "old_str": "one", "new_str": "1"})
    assert not reply.is_error
    assert held(tool.folder) == {"n.md": "1\ntwo\nby hand\n"}


async def test_person_who_saves_again_and_again(tmp_path: Path) -> None:
    """The command gives way, and says so."""
    path = tool_of(tmp_path).folder / "n.md"
    fill(path.parent, {"n.md": "one\n"})
    tool = tool_of(tmp_path, Saved(path, [f"one\n{number}\n" for number in range(9)]))
    reply = await tool.run({"command": "str_replace", "path": "/memories/n.md", "old_str": "one", "new_str": "1"})
    assert reply.is_error
    assert "is being changed by somebody else; try again" in reply.text
    assert held(tool.folder) == {"n.md": "one\n4\n"}


async def test_file_that_may_still_be_being_saved(tmp_path: Path) -> None:
    """An editor that saves in place gets the second it may need; a command's own file is not waited for."""
    pauses: list[float] = []

    class Young(QuickFiles):
        def age(self, stamp: Stamp) -> float:
            return 0.25 + sum(pauses)

    folder = Folder(tmp_path, Young(), pauses.append)
    fill(tmp_path, {"n.md": "one"})
    folder.change(("n.md",), lambda text: text + " two")
    assert pauses == [0.75]
    pauses.clear()
    folder.change(("n.md",), lambda text: text + " three")
    assert pauses == []
    assert held(tmp_path) == {"n.md": "one two three"}


def test_several_writers_at_once(tmp_path: Path) -> None:
    """Four programs add a hundred lines; a hundred are there."""

    def add(name: str) -> None:
        tool = tool_of(tmp_path, QuickFiles())
        for number in range(25):
            command = {
                "command": "insert",
                "path": "/memories/n.md",
                "insert_line": 0,
                "insert_text": f"{name}{number}",
            }
            replies.append(tool.run_now(command).is_error)

    replies: list[bool] = []
    fill(tool_of(tmp_path).folder, {"n.md": ""})
    threads = [threading.Thread(target=add, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = held(tool_of(tmp_path).folder)["n.md"].split()
    assert (len(replies), any(replies)) == (100, False)
    assert sorted(lines) == sorted(f"{name}{number}" for name in "abcd" for number in range(25))


def test_writer_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not waited for for ever."""
    monkeypatch.setattr("openclaw_memory.filetool.turn.LOCK_SECONDS", 0.0)
    tool = tool_of(tmp_path)
    fill(tool.folder, {"n.md": "x"})
    with Folder(tool.folder, QuickFiles()).writing():
        reply = tool.run_now({"command": "delete", "path": "/memories/n.md"})
        assert "another program is writing the memory files" in reply.text
        assert "\tx" in tool.run_now({"command": "view", "path": "/memories/n.md"}).text
    assert not tool.run_now({"command": "delete", "path": "/memories/n.md"}).is_error


@pytest.mark.parametrize("operation", ["create", "append", "sync", "exchange"])
async def test_full_disk(tmp_path: Path, operation: str) -> None:
    """The old file is whole, no temporary one is left, and the model is told."""
    fill(tool_of(tmp_path).folder, {"n.md": "one\n"})
    tool = tool_of(tmp_path, FaultyFiles(no_space(operation)))
    reply = await tool.run({"command": "insert", "path": "/memories/n.md", "insert_line": 0, "insert_text": "x"})
    assert reply.is_error
    assert reply.text == f"Error: the disk refuses ({os.strerror(errno.ENOSPC)}); view the path to see how it is now"
    assert held(tool.folder) == {"n.md": "one\n"}


async def test_new_file_that_is_taken_for_a_left_over_one(tmp_path: Path) -> None:
    """A memory that starts cleans up after crashes; a command at work at that moment does its work all the same."""

    class Cleaned(FaultyFiles):
        cleaned = 0

        def rename_new(self, source: Path, target: Path) -> None:
            if not self.cleaned:
                self.cleaned += 1
                source.unlink()
            super().rename_new(source, target)

    tool = tool_of(tmp_path, Cleaned())
    reply = await tool.run({"command": "create", "path": "/memories/n.md", "file_text": "x"})
    assert reply.text == "File created successfully at: /memories/n.md"
    assert held(tool.folder) == {"n.md": "x"}


@pytest.mark.parametrize("name", ["n.md", "n.txt", "n"])
async def test_save_that_a_crash_displaced(tmp_path: Path, name: str) -> None:
    """For a moment a hidden file may hold what a person has just saved, whatever its name ends in: it is kept."""
    folder = tool_of(tmp_path).folder
    fill(folder, {name: "one\n", f".{name}.0123456789ab.tmp": "one\nby hand\n"})
    async with remembering(tmp_path) as it:
        (told,) = it.memory.status().notices.values()
        assert f"somebody's save of workspace/main/memories/{name}" in told
    assert held(folder) == {name: "one\n"}
    kept = [text for path, text in held(tmp_path / "memory").items() if ".recovered-" in path]
    assert kept == ["one\nby hand\n"]


async def test_deletion_that_a_crash_interrupted(tmp_path: Path) -> None:
    """The folder is gone for everybody from the first step on; the next command that writes removes the rest."""
    tool = tool_of(tmp_path)
    fill(tool.folder, {".deleted-0123456789ab/n.md": "x", "m.md": "y"})
    assert "n.md" not in await tool.handle({"command": "view", "path": "/memories"})
    await tool.handle({"command": "create", "path": "/memories/k.md", "file_text": "z"})
    assert held(tool.folder) == {"k.md": "z", "m.md": "y"}


async def test_names_are_durable(tmp_path: Path) -> None:
    """Each folder in which a name appears or goes is synced before the answer."""
    files = FaultyFiles()
    tool = tool_of(tmp_path, files)

    async def synced(command: dict[str, str]) -> set[str]:
        files.calls.clear()
        assert not (await tool.run(command)).is_error
        return {name for operation, name in files.calls if operation == "sync_folder"}

    assert {"memories", "a"} <= await synced({"command": "create", "path": "/memories/a/n.md", "file_text": "x"})
    assert {"a", "b"} <= await synced(
        {"command": "rename", "old_path": "/memories/a/n.md", "new_path": "/memories/b/n.md"}
    )
    assert "b" in await synced({"command": "delete", "path": "/memories/b/n.md"})
    assert "memories" in await synced({"command": "delete", "path": "/memories/b"})
