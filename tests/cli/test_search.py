"""Finding things, and looking after the index, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from openclaw_memory.retrieval.engines import open_index
from tests.cli.test_commands import run, run_in_thread
from tests.memory_folder import TALK, remembered
from tests.support import remembering


async def test_hits_have_addresses(tmp_path: Path) -> None:
    """Path and lines, score, layer, and the text; exit code 0."""
    await remembered(tmp_path)
    shown = await run_in_thread("search", "hello", "--root", tmp_path)
    assert shown.exit_code == 0, shown.output
    first, text = shown.output.splitlines()[:2]
    assert first.startswith(f"{TALK}#L")
    assert "1.00" in first
    assert "hello" in text


async def test_json_is_the_results_event(tmp_path: Path) -> None:
    """The same shape as `memory:results`, in camelCase."""
    await remembered(tmp_path)
    shown = await run_in_thread("search", "hello", "--root", tmp_path, "--json", "--max", 1)
    told = json.loads(shown.output)
    assert len(told["results"]) == 1
    assert {"path", "startLine", "endLine", "score", "snippet", "layer", "time"} <= told["results"][0].keys()


async def test_nothing_found(tmp_path: Path) -> None:
    """Said in words, with exit code 1."""
    await remembered(tmp_path)
    shown = await run_in_thread("search", "zeppelin", "--root", tmp_path)
    assert (shown.exit_code, shown.output) == (1, "Nothing was found.\n")


async def test_steps_are_shown(tmp_path: Path) -> None:
    """`debug-search -v` tells how the score came about; without it there are no steps."""
    await remembered(tmp_path)
    shown = await run_in_thread("debug-search", "hello", "-v", "--root", tmp_path)
    assert "      keywords " in shown.output
    assert "keywords " not in (await run_in_thread("debug-search", "hello", "--root", tmp_path)).output


def test_unknown_layer_is_answered_with_what_was_meant(tmp_path: Path) -> None:
    """A mistyped word costs exit code 2 and a hint."""
    (tmp_path / "memory").mkdir()
    shown = run("search", "hello", "--layer", "facts", "--root", tmp_path)
    assert shown.exit_code == 2
    assert "did you mean 'fact'?" in shown.output


@pytest.mark.parametrize("full", [[], ["--full"]])
async def test_rebuilt_index_finds_the_same(tmp_path: Path, full: list[str]) -> None:
    """From its rows or from the files."""
    await remembered(tmp_path)
    before = (await run_in_thread("search", "hello", "--root", tmp_path)).output
    rebuilt = await run_in_thread("rebuild-index", *full, "--root", tmp_path, "--json")
    told = json.loads(rebuilt.output)
    assert (rebuilt.exit_code, told["problem"], told["engine"]) == (0, None, "tantivy")
    assert told["blocks"] > 0
    assert (await run_in_thread("search", "hello", "--root", tmp_path)).output == before


async def test_status_of_the_index(tmp_path: Path) -> None:
    """What it holds, by layer; all well."""
    await remembered(tmp_path)
    shown = await run_in_thread("index", "status", "--root", tmp_path)
    assert shown.exit_code == 0
    assert "  conversation   1\n" in shown.output
    assert shown.output.endswith("The index is well.\n")


async def test_beside_an_owner(tmp_path: Path) -> None:
    """A search sees what the Gateway was told a moment ago; its index is its own to make anew."""
    await remembered(tmp_path)
    async with remembering(tmp_path) as owner:
        from tests.test_processes import say

        await owner.ask(say("the zeppelin lands at noon"))
        assert "zeppelin lands" in (await run_in_thread("search", "zeppelin", "--root", tmp_path)).output
        refused = await run_in_thread("rebuild-index", "--root", tmp_path)
        assert refused.exit_code == 1
        assert "in use by" in refused.output


async def test_damaged_index_is_made_anew(tmp_path: Path) -> None:
    """Whatever lies in its place: what was remembered is found."""
    memory = await remembered(tmp_path)
    before = (await run_in_thread("search", "hello", "--root", tmp_path)).output
    (memory / "main.sqlite").write_bytes(b"no database")
    assert (await run_in_thread("search", "hello", "--root", tmp_path)).output == before
    index = open_index(memory, "main")
    assert index.problem is None
    index.close()
