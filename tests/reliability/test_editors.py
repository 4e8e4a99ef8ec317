"""Programs that people edit with, for real: what they save is kept, and so is what memory writes at the same time."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from contracts import MemoryRead, MemorySearch, MemoryWrite, UpdateFact
from openclaw_memory.storage.files import LocalFiles
from tests.support import Remembering, remembering

PROFILE = "facts/user-profile.md"
SECONDS_LATER = 2.0
"""How much later an edit is judged that was saved in place: one of this second may not be finished."""

Edit = Callable[[Path], None]


class LaterFiles(LocalFiles):
    """The real disk, and a clock of it that a test moves: how old a file is decides whether it is written over."""

    seconds = 0.0

    def age(self, stamp: Any) -> float:
        return super().age(stamp) + self.seconds


def run(*command: str, where: Path, given: str | None = None) -> None:
    program = command[0]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    environment = {**os.environ, "HOME": str(where), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    done = subprocess.run(
        command, cwd=where, env=environment, input=given, capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


def vim(backupcopy: str) -> Edit:
    """Save as vim does with this setting: `no` renames the file and writes a new one, `yes` writes in place."""

    def edit(path: Path) -> None:
        script = f":set backup backupcopy={backupcopy}\n:%s/: Go$/: Rust/\n:x\n"
        run("vim", "-u", "NONE", "-es", str(path), where=path.parent, given=script)

    return edit


def sed(path: Path) -> None:
    run("sed", "-i", "s/: Go$/: Rust/", str(path), where=path.parent)


def perl(path: Path) -> None:
    run("perl", "-i", "-pe", "s/: Go$/: Rust/", str(path), where=path.parent)


def moved_over(path: Path) -> None:
    other = path.with_name("draft.txt")
    other.write_text(path.read_text().replace(": Go\n", ": Rust\n"))
    run("mv", str(other), str(path), where=path.parent)


def written_slowly(path: Path) -> None:
    """Empty the file, and write it in two writes."""
    text = path.read_text().replace(": Go\n", ": Rust\n")
    with path.open("w") as file:
        file.write(text[: len(text) // 2])
        file.flush()
        file.write(text[len(text) // 2 :])


EDITS = {
    "vim backupcopy=yes": vim("yes"),
    "vim backupcopy=no": vim("no"),
    "sed -i": sed,
    "perl -i": perl,
    "mv": moved_over,
    "in place": written_slowly,
}


async def facts(it: Remembering) -> list[str]:
    context = await it.ask(MemoryRead(query="", session_id="x", max_tokens=1000))
    return sorted(context.facts)


@pytest.mark.parametrize("flushed", [True, False], ids=["at rest", "while a write waits"])
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
async def test_edit_is_kept_and_seen(tmp_path: Path, edit: Edit, flushed: bool) -> None:
    """A read sees it at once; a write that waits, and the next one, come beside it; a restart changes nothing."""
    files = LaterFiles()
    async with remembering(tmp_path, files=files) as it:
        await it.ask(UpdateFact(section="S", key="language", value="Go"))
        await it.flushed()
        if not flushed:
            await it.ask(UpdateFact(section="S", key="waiting", value="one"))
        edit(it.folder / PROFILE)
        expected = ["S/language: Rust", *([] if flushed else ["S/waiting: one"])]
        assert await facts(it) == expected
        await it.ask(UpdateFact(section="S", key="next", value="two"))
        files.seconds = SECONDS_LATER
        it.clock.advance(SECONDS_LATER)
        await it.flushed()
        expected = sorted([*expected, "S/next: two"])
        assert await facts(it) == expected
        text = (it.folder / PROFILE).read_text()
        assert text.count("- language: Rust\n") == text.count("- next: two\n") == 1
        assert ": Go" not in text
        names = [path.name for path in (it.folder / "facts").iterdir()]
        assert [name for name in names if ".corrupt-" in name or name.endswith(".tmp")] == []
    async with remembering(tmp_path, files=files) as it:
        assert await facts(it) == expected


async def test_editor_that_stops_in_the_middle_of_a_save(tmp_path: Path) -> None:
    """A file is emptied, read, half written, flushed meanwhile, and finished: the flush waits, and both are there."""
    files = LaterFiles()
    async with remembering(tmp_path, files=files) as it:
        await it.ask(UpdateFact(section="S", key="language", value="Go"))
        await it.flushed()
        path = it.folder / PROFILE
        text = path.read_text().replace(": Go\n", ": Rust\n")
        await it.ask(UpdateFact(section="S", key="waiting", value="one"))
        with path.open("w") as file:
            await it.flushed()
            file.write(text[: len(text) // 2])
            file.flush()
            await it.flushed()
            assert path.read_text() == text[: len(text) // 2]
            file.write(text[len(text) // 2 :])
        files.seconds = SECONDS_LATER
        it.clock.advance(SECONDS_LATER)
        await it.flushed()
        assert await facts(it) == ["S/language: Rust", "S/waiting: one"]
        assert "- waiting: one\n" in path.read_text()


async def test_file_that_is_away_for_a_moment_is_not_forgotten(tmp_path: Path) -> None:
    """An editor takes the file away and writes it anew: in between nobody believes that it is gone."""
    files = LaterFiles()
    async with remembering(tmp_path, files=files) as it:
        await it.ask(UpdateFact(section="S", key="language", value="Go"))
        await it.flushed()
        path = it.folder / PROFILE
        text = path.read_text()
        path.unlink()
        assert await facts(it) == ["S/language: Go"]
        await it.ask(UpdateFact(section="S", key="language", value="Rust"))
        await it.flushed()
        assert not path.exists()
        path.write_text(text)
        files.seconds = SECONDS_LATER
        it.clock.advance(SECONDS_LATER)
        await it.flushed()
        assert await facts(it) == ["S/language: Rust"]
        path.unlink()
        files.seconds += SECONDS_LATER
        assert await facts(it) == []


def git(where: Path, *command: str) -> None:
    identity = ("-c", "user.name=A Person", "-c", "user.email=person@example.invalid")
    run("git", *identity, *command, where=where)


@pytest.mark.parametrize("way", ["checkout", "stash"])
async def test_git_changes_the_whole_tree(tmp_path: Path, way: str) -> None:
    """A branch is checked out, or changes are stashed: memory is what the files say, and what is written stays."""
    files = LaterFiles()
    async with remembering(tmp_path, files=files) as it:
        for number in range(5):
            await it.ask(UpdateFact(section="S", key="language", value="Go", topic=f"topic-{number}"))
        await it.flushed()
        git(it.folder, "init", "-q", "-b", "main")
        git(it.folder, "add", "facts/*.md")
        git(it.folder, "commit", "-q", "-m", "as it was")
        if way == "checkout":
            git(it.folder, "checkout", "-q", "-b", "other")
        for number in range(5):
            sed(it.folder / f"facts/topic-{number}.md")
        assert len(await found(it, "Rust")) == 5
        if way == "checkout":
            git(it.folder, "commit", "-q", "-a", "-m", "edited")
            git(it.folder, "checkout", "-q", "main")
        else:
            git(it.folder, "stash", "-q")
        assert (len(await found(it, "Rust")), len(await found(it, "Go"))) == (0, 5)
        await it.ask(UpdateFact(section="S", key="next", value="two", topic="topic-3"))
        files.seconds = SECONDS_LATER
        it.clock.advance(SECONDS_LATER)
        await it.flushed()
        text = (it.folder / "facts/topic-3.md").read_text()
        assert "- language: Go\n" in text
        assert "- next: two\n" in text
        assert [path.name for path in it.folder.rglob("*") if ".corrupt-" in path.name] == []


async def found(it: Remembering, query: str) -> list[str]:
    results = (await it.ask(MemorySearch(query=query, max_results=50))).results
    return [result.path for result in results if query in result.snippet]


@pytest.mark.parametrize(
    "edit", [sed, vim("yes"), vim("no")], ids=["sed -i", "vim backupcopy=yes", "vim backupcopy=no"]
)
async def test_watching_makes_an_edit_visible_within_two_seconds(tmp_path: Path, edit: Edit) -> None:
    """Nobody reads: the watcher alone tells the index, two seconds after the save at the latest (real time)."""
    async with remembering(tmp_path, files=LaterFiles(), watch=True) as it:
        await it.ask(UpdateFact(section="S", key="language", value="Go"))
        await it.flushed()
        owner = it.memory._owner
        assert owner is not None
        seen, watching = anyio.Event(), anyio.Event()
        changed = owner._store._shelf._changed

        def tell(name: str, before: Any, after: Any) -> None:
            changed(name, before, after)
            body = getattr(after, "body", "")
            if "Rust" in body:
                seen.set()
            if "probe" in body:
                watching.set()

        owner._store._shelf._changed = tell
        probe = it.folder / "facts/probe.md"
        with anyio.fail_after(20):
            # Watching begins some time after the start.
            while not watching.is_set():
                probe.write_text("# probe\n\n- a: probe\n")
                with anyio.move_on_after(0.2):
                    await watching.wait()
        edit(it.folder / PROFILE)
        begun = time.monotonic()
        with anyio.fail_after(20):
            await seen.wait()
        seconds = time.monotonic() - begun
        print(f"seen after {seconds:.2f} s")
        assert seconds < 2.0


async def test_half_saved_old_view_of_a_rotated_day_replaces_nothing(tmp_path: Path) -> None:
    """The day was rotated; an editor saves its old view in two writes, and a message is written in between."""
    files = LaterFiles()
    async with remembering(tmp_path, files=files, conversations={"max_messages_per_file": 3}) as it:
        for number in range(3):
            await it.ask(said(f"whole text {number}"))
        await it.flushed()
        day = it.folder / "conversations/2026-05-04.md"
        view = day.read_text()
        await it.ask(said("next"))
        await it.flushed()
        with day.open("w") as file:
            file.write(view[: view.index("text 2")])
            file.flush()
            it.clock.advance(1)
            await it.ask(MemoryRead(query="", session_id="s1", max_tokens=1000))
            file.write(view[view.index("text 2") :])
        await it.ask(said("last"))
        files.seconds = SECONDS_LATER
        it.clock.advance(SECONDS_LATER)
        await it.flushed()
        texts = "".join(path.read_text() for path in (it.folder / "conversations").glob("*.md"))
        assert [texts.count(f"\nwhole text {number}\n") for number in range(3)] == [1, 1, 1]


def said(content: str) -> MemoryWrite:
    return MemoryWrite(type="conversation", content={"role": "user", "content": content}, session_id="s1")


async def test_day_that_is_being_saved_is_not_rotated(tmp_path: Path) -> None:
    """An old view holds messages that lie in a part already: moved on before it was tidied up, they would be twice."""
    small = {"conversations": {"max_messages_per_file": 3}}
    async with remembering(tmp_path, **small) as it:
        for number in range(3):
            await it.ask(said(f"whole text {number}"))
        await it.flushed()
        day = it.folder / "conversations/2026-05-04.md"
        view = day.read_text()
        await it.ask(said("next"))
    files = LaterFiles()
    async with remembering(tmp_path, files=files, **small) as it:
        await it.ask(MemoryRead(query="", session_id="s1", max_tokens=1000))
        day.write_text(view.replace("whole text 1", "whole text 1, edited"))
        it.clock.advance(1)
        await it.ask(MemoryRead(query="", session_id="s1", max_tokens=1000))
        await it.ask(said("while it is young"))
        files.seconds = SECONDS_LATER
        it.clock.advance(SECONDS_LATER)
        await it.ask(said("later"))
        await it.flushed()
        texts = "".join(path.read_text() for path in (it.folder / "conversations").glob("*.md"))
        expected = ("whole text 0", "whole text 1, edited", "while it is young", "later")
        assert [texts.count(f"\n{text}\n") for text in expected] == [1, 1, 1, 1]
