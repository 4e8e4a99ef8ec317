"""A newcomer's walk: the wheel, a fresh environment, the commands in the order in which somebody tries them.

The other packages are those that `make test` runs with, so it needs no network; the checkout is not on the path. With
everything from the package index it is `make soak`'s.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

PROJECT = Path(__file__).parent.parent

pytestmark = pytest.mark.timeout(240)

INSTALL_SECONDS = 30.0
IMPORT_SECONDS = 0.3

PROGRAM = """
import asyncio, sys
from bus import Gateway
from contracts import MemoryRead, MemoryWrite
from openclaw_memory import Memory, MemoryConfig

async def main(path, said, question):
    async with Gateway() as gateway:
        await gateway.register(Memory(MemoryConfig.load(path)))
        if said:
            content = {"role": "user", "content": said}
            written = await gateway.bus.request(MemoryWrite(type="conversation", content=content, session_id="first"))
            assert written.success and written.durability == "synced", written
        context = await gateway.bus.request(MemoryRead(query=question, session_id="second", max_tokens=2000))
        assert not context.degraded, context
        print(*context.facts, *context.memory, *(task.title for task in context.tasks), *context.recalled, sep="\\n")

asyncio.run(main(*sys.argv[1:]))
"""
"""What stands in the README, as a program of somebody's own."""


@dataclass(frozen=True)
class Newcomer:
    """An environment of one's own, with a home that nothing was in before."""

    environment: Path
    home: Path

    def run(self, *words: str, code: int = 0) -> str:
        """Type a command."""
        return self._done([str(self.environment / "bin/openclaw-memory"), *words], code)

    def python(self, *words: str) -> str:
        return self._done([str(self.environment / "bin/python"), "-W", "error", *words], 0)

    @property
    def variables(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}

    def _done(self, words: list[str], code: int) -> str:
        done = subprocess.run(words, cwd=self.home, env=self.variables, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel as a release does."""
    folder = tmp_path_factory.mktemp("wheel")
    build = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(PROJECT)]
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *build], check=True)
    (built,) = folder.glob("*.whl")
    return built


def environment(folder: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder


def pip(environment: Path, *words: str) -> None:
    """Install into an environment with the pip of this one."""
    python = str(environment / "bin/python")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--python", python]
    subprocess.run([*command, "install", *words], check=True)


@pytest.fixture(scope="module")
def newcomer(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Newcomer:
    folder = environment(tmp_path_factory.mktemp("newcomer") / "venv")
    pip(folder, "--no-deps", "--no-index", str(wheel))
    # The other packages are those of the tests. Of files like this one that lie there, none is looked into: so the
    # checkout, which one of them names, is not on the path.
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    home = tmp_path_factory.mktemp("home")
    return Newcomer(folder, home)


def test_what_the_wheel_holds(wheel: Path) -> None:
    """Our three packages with their data and their types; no tests, examples or benchmarks."""
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {
        "bus",
        "contracts",
        "openclaw_memory",
    }
    for needed in ("bus/py.typed", "contracts/py.typed", "openclaw_memory/py.typed", "openclaw_memory/guides/zh.md"):
        assert needed in names
    assert "contracts/asyncapi.yaml" in names
    assert any(name.startswith("contracts/schemas/") for name in names)
    files = [name.split("/")[-1] for name in names]
    assert not [name for name in files if name.startswith(("test_", "conftest")) or name.endswith((".pyc", ".orig"))]
    in_checkout = {str(path.relative_to(PROJECT)) for path in (PROJECT / "openclaw_memory").rglob("*.py")}
    assert in_checkout <= set(names)


def test_walk(newcomer: Newcomer) -> None:
    """Make a memory, tell it three things, ask, start again, ask again, look whether all is well."""
    where = newcomer.python("-c", "import openclaw_memory; print(openclaw_memory.__file__)")
    assert where.startswith(str(newcomer.environment))
    assert "Commands:" in newcomer.run("--help")
    no_memory = newcomer.run("search", "x", code=2)
    assert no_memory == ""
    assert "made" in newcomer.run("init")

    newcomer.run("remember", "I only deploy on Tuesdays")
    newcomer.run("fact", "set", "技术栈", "主要语言", "Go")
    newcomer.run("task", "add", "water the plants")
    assert "Tuesdays" in newcomer.run("search", "when do I deploy?")
    assert newcomer.run("fact", "get", "技术栈", "主要语言") == "Go\n"
    assert "water the plants" in newcomer.run("task", "list")

    config = str(newcomer.home / ".openclaw/config.yaml")
    first = newcomer.python("-c", PROGRAM, config, "The dentist is on Friday at nine", "when is the dentist?")
    again = newcomer.python("-c", PROGRAM, config, "", "when is the dentist?")
    for told in (first, again):
        assert "The dentist is on Friday at nine" in told
        assert "I only deploy on Tuesdays" in told
        assert "主要语言: Go" in told
        assert "water the plants" in told
    assert "dentist" in newcomer.run("search", "dentist")
    assert "nothing needs attention" in newcomer.run("verify")
    status = json.loads(newcomer.run("status", "--json"))
    assert status["problems"] == []
    assert status["root"] == str(newcomer.home / ".openclaw")


async def test_served_by_mcp(newcomer: Newcomer) -> None:
    """A client of the SDK's own starts the command, remembers and asks; the terminal finds it afterwards."""
    newcomer.run("init")
    command = StdioServerParameters(
        command=str(newcomer.environment / "bin/openclaw-memory"), args=["mcp"], env=newcomer.variables
    )
    async with Client(command) as client:
        await client.call_tool("remember", {"text": "The walrus sleeps until nine"})
        found = await client.call_tool("memory_search", {"query": "walrus"})
    assert "The walrus sleeps until nine" in str(found)
    assert "walrus" in newcomer.run("search", "walrus")


def test_forgotten(newcomer: Newcomer) -> None:
    """What is to be forgotten is asked for, goes, and is found no more; the rest is well."""
    newcomer.run("init")
    newcomer.run("remember", "The zeppelin is called Iris")
    assert "Iris" in newcomer.run("search", "zeppelin")
    newcomer.run("forget", "zeppelin", "--dry-run")
    newcomer.run("forget", "zeppelin", "--yes")
    newcomer.run("search", "zeppelin", code=1)
    newcomer.run("verify")
    left = [path for path in (newcomer.home / ".openclaw").rglob("*") if path.is_file()]
    assert not [path for path in left if b"zeppelin" in path.read_bytes()]
    newcomer.run("forget", "zeppelin", "--yes", code=1)


def test_demo(newcomer: Newcomer) -> None:
    """From the package alone; it leaves nothing behind."""
    before = set(newcomer.home.iterdir())
    shown = newcomer.run("demo")
    assert shown.count("? when do I meet Mei?") == 2
    assert shown.count("Dinner with Mei on Friday at seven") >= 3
    assert "memory/conversations/2026-05-04.md" in shown
    assert set(newcomer.home.iterdir()) == before


@pytest.mark.soak
def test_walk_from_the_package_index(wheel: Path, tmp_path: Path) -> None:
    """Everything that a newcomer's pip fetches: installed in time, imported in time, and the same walk."""
    folder = environment(tmp_path / "venv")
    begun = time.monotonic()
    pip(folder, str(wheel))
    seconds = time.monotonic() - begun
    newcomer = Newcomer(folder, tmp_path)
    code = "import time; begun = time.process_time(); import openclaw_memory; print(time.process_time() - begun)"
    imported = min(float(newcomer.python("-c", code)) for _ in range(5))
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    print(f"installed in {seconds:.1f} s, {size / 1e6:.0f} MB; imported in {imported * 1000:.0f} ms of processor time")
    assert imported < IMPORT_SECONDS
    assert seconds < INSTALL_SECONDS
    test_walk(newcomer)
