"""`heartbeat` and `summary` as a person and a program see them."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from contracts import MemoryWrite
from openclaw_memory.cli.app import app
from openclaw_memory.storage.files import LocalFiles
from tests.support import START, remembering

LATER = (START + timedelta(days=40)).isoformat()


@pytest.fixture(autouse=True)
def _files_are_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is just saving them."""
    monkeypatch.setattr(LocalFiles, "age", lambda self, stamp: 60.0)


@pytest.fixture
async def root(tmp_path: Path) -> Path:
    """A memory of one day of May 2026, in Shanghai."""
    async with remembering(tmp_path) as it:
        content = {"role": "user", "content": "我们决定采用 Zustand，编号 DEC-0054。"}
        await it.ask(MemoryWrite(type="conversation", content=content, session_id="s1"))
    (tmp_path / "config.yaml").write_text("timezone: Asia/Shanghai\nindex:\n  type: memory\n", encoding="utf-8")
    return tmp_path


def run(root: Path, *words: str) -> Result:
    return CliRunner().invoke(app, [*words, "--root", str(root)], prog_name="openclaw-memory")


async def on_thread(root: Path, *words: str) -> Result:
    import anyio.to_thread

    return await anyio.to_thread.run_sync(run, root, *words)


async def test_heartbeat_does_what_is_due(root: Path) -> None:
    """And says so; a second time nothing is left."""
    done = await on_thread(root, "heartbeat", "--now", LATER)
    assert done.exit_code == 0, done.output
    assert "summaries: done\n  summaries/daily/2026-05-04.md\n" in done.output
    again = await on_thread(root, "heartbeat", "--now", LATER, "--json")
    jobs = {job["name"]: job["outcome"] for job in json.loads(again.output)["jobs"]}
    assert jobs.get("summaries", "nothing") == "nothing"


async def test_summary_is_shown(root: Path) -> None:
    """Without addresses; by day, week or month."""
    await on_thread(root, "heartbeat", "--now", LATER)
    for words in (("daily", "2026-05-04"), ("weekly", "2026-w19"), ("monthly", "2026-05"), ("weekly", "2026-05-06")):
        shown = await on_thread(root, "summary", *words)
        assert shown.exit_code == 0, shown.output
        assert "DEC-0054" in shown.output
        assert "<!--" not in shown.output


async def test_summary_is_made_when_asked(root: Path) -> None:
    """Also of a day whose turn has not come."""
    missing = await on_thread(root, "summary", "daily", "2026-05-04")
    assert (missing.exit_code, missing.output) == (1, "There is no summary summaries/daily/2026-05-04.md.\n")
    made = await on_thread(root, "summary", "daily", "2026-05-04", "--make", "--json")
    assert made.exit_code == 0, made.output
    told = json.loads(made.output)
    assert told["made"] == {"outcome": "done", "keys": ["summaries/daily/2026-05-04.md"], "message": None}
    assert "DEC-0054" in told["text"]
    file = root / "memory/summaries/daily/2026-05-04.md"
    file.write_text(file.read_text(encoding="utf-8").replace("Zustand", "Redux"), encoding="utf-8")
    again = await on_thread(root, "summary", "daily", "2026-05-04", "--make")
    assert "Redux" in again.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("summary", "dayly"), "did you mean 'daily'?"),
        (("summary", "daily", "yesterday"), "'yesterday' is no date; give 2026-05-04, 2026-w18 or 2026-05"),
        (("summary", "weekly", "2026-w60"), "is no date"),
        (("summary", "daily", "../../etc/passwd"), "is no date"),
        (("heartbeat", "--now", "soon"), "must be a time in ISO 8601"),
        (("heartbeat", "--now", "9999-99-99"), "must be a time in ISO 8601"),
    ],
)
async def test_what_makes_no_sense_is_refused(root: Path, words: tuple[str, ...], said: str) -> None:
    """With the reason, and nothing changed."""
    done = await on_thread(root, *words)
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())


async def test_beside_a_running_gateway(root: Path) -> None:
    """Its jobs are its own; what it made is shown."""
    async with remembering(root) as it:
        done = await on_thread(root, "heartbeat", "--now", LATER)
        assert done.exit_code == 1
        assert "which writes the folder" in done.output
        made = await on_thread(root, "summary", "daily", "2026-05-04", "--make")
        assert made.exit_code == 1
        assert it.memory.status().healthy
