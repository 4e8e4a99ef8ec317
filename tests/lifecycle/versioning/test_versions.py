"""Versions: what is committed, when, and that an old one can be looked at and put back."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import anyio
import anyio.to_thread
import pytest

from contracts import CuratedContent, MemoryRead, MemorySearch, MemoryWrite, MessageContent, NoteContent, UpdateFact
from openclaw_memory import ManualClock
from openclaw_memory.config import VersioningConfig
from openclaw_memory.lifecycle.versioning.errors import GitError, GitMissingError, NoVersionError
from openclaw_memory.lifecycle.versioning.git import Git
from openclaw_memory.lifecycle.versioning.versioner import Versioner
from openclaw_memory.lifecycle.versioning.versions import (
    commit_at,
    content_at,
    difference,
    put_back,
    restored,
    versions_of,
)
from tests.support import Remembering, remembering

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="the program git is not installed")

ZONE = ZoneInfo("Asia/Shanghai")
ON: dict[str, Any] = {"versioning": {"enabled": True, "author_name": "Ada", "author_email": "ada@example.org"}}
FACTS = "facts/user-profile.md"


def git(folder: Path, *words: str) -> str:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", "-c", "user.name=P", "-c", "user.email=p@example.org", *words],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def repository(folder: Path) -> Git:
    return Git(folder, VersioningConfig(enabled=True))


async def fact(room: Remembering, value: str) -> None:
    change = UpdateFact(section="技术栈", key="主要语言", value=value, session_id="s1")
    assert (await room.ask(change)).success


@asynccontextmanager
async def committed(root: Path, *values: str) -> AsyncIterator[Remembering]:
    """A memory with one version of a fact a day."""
    async with remembering(root, heartbeat={"enabled": False}, **ON) as room:
        for value in values:
            await fact(room, value)
            await room.flushed()
            assert room.memory._owner is not None
            assert room.memory._owner._versioner is not None
            await room.memory._owner._versioner.commit()
            room.clock.advance(86_400)
        yield room


async def test_what_is_committed(tmp_path: Path) -> None:
    """Documents of both folders, by the author that is configured; neither journal nor index nor backups."""
    async with remembering(tmp_path, **ON) as room:
        await fact(room, "Go")
        note = MemoryWrite(type="note", content=NoteContent(text="- 海豚"), session_id="s1")
        await room.ask(note)
        said = MessageContent(role="user", content="早")
        await room.ask(MemoryWrite(type="conversation", content=said, session_id="s1"))
    memory, workspace = tmp_path / "memory", tmp_path / "workspace/main"
    assert git(memory, "ls-files").split() == ["conversations/2026-05-04.md", FACTS]
    assert git(workspace, "ls-files").split() == ["memory/2026-05-04.md"]
    assert git(memory, "log", "--format=%an %ae %aI").split("\n")[0] == "Ada ada@example.org 2026-05-04T06:30:00+00:00"
    assert git(memory, "status", "--porcelain") == ""


def commits_of(folder: Path) -> list[str]:
    try:
        return git(folder, "rev-list", "HEAD").split()
    except subprocess.CalledProcessError:
        # There is none yet, or no repository.
        return []


async def test_coalesced_in_the_background(tmp_path: Path) -> None:
    """Changes of half a minute are one commit; what comes later is another."""
    async with remembering(tmp_path, **ON) as room:

        async def passed(seconds: float, commits: int) -> None:
            with anyio.fail_after(30):
                while True:
                    room.clock.advance(seconds)
                    await anyio.sleep(0.02)
                    folder = tmp_path / "memory"
                    if len(await anyio.to_thread.run_sync(commits_of, folder)) == commits:
                        return

        for value in ("Go", "Rust", "Zig"):
            await fact(room, value)
        await passed(10, 1)
        await fact(room, "C")
        await passed(10, 2)


async def test_off_unless_it_is_asked_for(tmp_path: Path) -> None:
    async with remembering(tmp_path) as room:
        await fact(room, "Go")
    assert not (tmp_path / "memory/.git").exists()


async def test_history_difference_and_restore(tmp_path: Path) -> None:
    """A restored version counts as a person's edit: it is read, and what came since is not applied again."""
    async with committed(tmp_path, "Go", "Rust", "Zig") as room:
        repo = repository(room.folder)
        found = versions_of(repo, FACTS)
        assert [one.time for one in found] == [datetime(2026, 5, day, 6, 30, tzinfo=UTC) for day in (6, 5, 4)]
        assert all(one.added for one in found)
        assert "Go" in content_at(repo, FACTS, "2026-05-04", ZONE).decode()
        assert "Rust" in content_at(repo, FACTS, "2026-05-05T15:00", ZONE).decode()
        assert "Zig" in content_at(repo, FACTS, found[0].commit[:10], ZONE).decode()
        shown = difference(repo, FACTS, "2026-05-04", ZONE)
        assert "-- 主要语言: Go" in shown
        assert "+- 主要语言: Zig" in shown
        assert difference(repo, FACTS, None, ZONE) == ""
        place = room.folder / FACTS
        put_back(place, restored(content_at(repo, FACTS, "2026-05-04", ZONE), place.read_bytes()))
        context = await room.ask(MemoryRead(query="主要语言", session_id="s1", max_tokens=500))
        assert context.facts == ("技术栈/主要语言: Go",) or "Go" in context.facts[0]
        await fact(room, "C")
        await room.flushed()
        text = place.read_text()
        assert "主要语言: C" in text
        assert "Zig" not in text
    async with remembering(tmp_path, **ON) as room:
        results = (await room.ask(MemorySearch(query="主要语言", layers=("fact",)))).results
        assert "Zig" not in " ".join(hit.snippet for hit in results if "archive" not in hit.path)


async def test_a_file_that_was_removed_comes_back(tmp_path: Path) -> None:
    async with committed(tmp_path, "Go") as room:
        repo, place = repository(room.folder), room.folder / FACTS
        place.unlink()
        put_back(place, restored(content_at(repo, FACTS, None, ZONE), None))
        context = await room.ask(MemoryRead(query="主要语言", session_id="s1", max_tokens=500))
        assert "Go" in context.facts[0]


@pytest.mark.parametrize(
    ("path", "at", "said"),
    [
        (FACTS, "2020-01-01", "the first is of 2026-05-04 14:30"),
        (FACTS, "yesterday", "neither a commit nor a time"),
        (FACTS, "deadbeef00", "no commit deadbeef00"),
        (FACTS, "2026-99-99", "neither a commit nor a time"),
        ("facts/none.md", None, "no version of it was committed"),
        ("../x.md", None, "no version of it was committed"),
    ],
)
async def test_what_there_is_not(tmp_path: Path, path: str, at: str | None, said: str) -> None:
    async with committed(tmp_path, "Go") as room:
        with pytest.raises((NoVersionError, GitError), match=said):
            commit_at(repository(room.folder), path, at, ZONE)


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(NoVersionError, match=r"versioning\.enabled"):
        versions_of(repository(tmp_path), FACTS)


async def test_a_repository_around_it_is_left_alone(tmp_path: Path) -> None:
    """Memory lies in somebody's project: nothing of it gets into that one's commits, and its own are its own."""
    git(tmp_path, "init", "-q")
    (tmp_path / "code.py").write_text("x = 1\n")
    git(tmp_path, "add", "code.py")
    async with remembering(tmp_path / "inner", **ON) as room:
        await fact(room, "Go")
    assert git(tmp_path, "diff", "--cached", "--name-only").split() == ["code.py"]
    assert git(tmp_path / "inner/memory", "ls-files").split() == [FACTS]


async def test_what_a_person_staged_stays_staged(tmp_path: Path) -> None:
    """And their hooks are not run."""
    async with committed(tmp_path, "Go") as room:
        folder = room.folder
        (folder / "own.txt").write_text("mine\n")
        git(folder, "add", "-f", "own.txt")
        hook = folder / ".git/hooks/pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\nexit 1\n")
        hook.chmod(0o755)
        await fact(room, "Rust")
        await room.flushed()
        assert repository(folder).commit("memory: {files}", room.clock.now()) != ()
        assert git(folder, "diff", "--cached", "--name-only").split() == ["own.txt"]


async def test_odd_names(tmp_path: Path) -> None:
    """Names with spaces, quotes, stars and Chinese are names."""
    (tmp_path / "a b").mkdir()
    names = ["a b/c d.md", "it's.md", 'say "x".md', "[x].md", "笔记*.md", ":(top)x.md"]
    for name in names:
        (tmp_path / name).write_text(name)
    repo = repository(tmp_path)
    assert sorted(repo.commit("{files}", datetime(2026, 5, 4, tzinfo=UTC))) == sorted(names)
    assert content_at(repo, ":(top)x.md", None, ZONE) == b":(top)x.md"
    assert [one.added for one in versions_of(repo, "[x].md")] == [1]
    assert repo.commit("{files}", datetime(2026, 5, 4, tzinfo=UTC)) == ()


async def told_of(folder: Path, **config: Any) -> tuple[bool, dict[str, str | None]]:
    told: dict[str, str | None] = {}

    async def nothing() -> None:
        return

    settings = VersioningConfig(enabled=True, **config)
    clock = ManualClock(datetime(2026, 5, 4, tzinfo=UTC))
    versioner = Versioner([Git(folder, settings)], settings, clock, nothing, told.__setitem__)
    return await versioner.commit(), told


async def test_git_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said plainly, and nothing else is different."""
    (tmp_path / "a.md").write_text("x")
    monkeypatch.setenv("PATH", str(tmp_path))
    done, told = await told_of(tmp_path)
    assert not done
    assert "git is not installed" in str(told["versioning"])
    with pytest.raises(GitMissingError):
        Git(tmp_path, VersioningConfig()).read("status")


async def test_git_refuses_or_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that somebody holds, a program that never ends: told, tried again later, never raised."""
    (tmp_path / "a.md").write_text("x")
    assert (await told_of(tmp_path))[0]
    (tmp_path / "a.md").write_text("y")
    (tmp_path / ".git/index.lock").touch()
    done, told = await told_of(tmp_path)
    assert (done, "index.lock" in str(told["versioning"])) == (False, True)
    fake = tmp_path / "bin/git"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nexec sleep 30\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    done, told = await told_of(tmp_path, timeout_seconds=0.2)
    assert (done, "longer than 0.2 seconds" in str(told["versioning"])) == (False, True)


async def test_a_persons_project_keeps_its_own_files(tmp_path: Path) -> None:
    """The workspace is a repository with code and texts: memory commits its documents, and tells which git ignores."""
    workspace = tmp_path / "workspace/main"
    for name in ("README.md", "docs/guide.md", "notes.md", "memories/plan.txt", "shared/team.md", "proj.py"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("first\n")
    git(workspace, "init", "-q")
    git(workspace, "add", "README.md", "docs", "proj.py")
    git(workspace, "commit", "-qm", "mine")
    (workspace / "README.md").write_text("half written\n")
    (workspace / "docs/guide.md").unlink()
    (workspace / ".gitignore").write_text("MEMORY.md\n")
    async with remembering(tmp_path, heartbeat={"enabled": False}, **ON) as room:
        note = MemoryWrite(type="note", content=NoteContent(text="- 海豚"), session_id="s1")
        entry = MemoryWrite(type="memory", content=CuratedContent(text="likes tea"), session_id="s1")
        assert (await room.ask(note)).success
        assert (await room.ask(entry)).success
        await room.flushed()
        assert room.memory._owner is not None
        assert room.memory._owner._versioner is not None
        assert await room.memory._owner._versioner.commit()
        notice = room.memory.status().notices["versioning"]
    committed = git(workspace, "log", "--format=", "--name-only", "--author=Ada").split()
    assert sorted(committed) == ["memories/plan.txt", "memory/2026-05-04.md", "shared/team.md"]
    left = git(workspace, "status", "--porcelain").splitlines()
    assert left == [" M README.md", " D docs/guide.md", "?? .gitignore", "?? notes.md"]
    assert "MEMORY.md has no versions" in notice
    assert "git check-ignore" in notice
