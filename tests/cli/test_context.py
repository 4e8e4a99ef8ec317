"""`openclaw-memory context`: what the Brain would get, and how its budget was spent."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from contracts import MemoryContext, PartTokens, TokenReport
from contracts.prompt import prompt_text
from openclaw_memory.cli.budget import BudgetBar, budget_lines
from openclaw_memory.context import make_counter
from tests.cli.test_commands import run, run_in_thread
from tests.memory_folder import remembered


async def test_context_is_shown_as_it_goes_into_the_prompt(tmp_path: Path) -> None:
    """Facts as items, what was recalled fenced under its origin; exit code 0."""
    await remembered(tmp_path)
    shown = await run_in_thread("context", "hello", "--root", tmp_path)
    assert shown.exit_code == 0, shown.output
    assert "\n```\n" in shown.output
    assert "hello" in shown.output


async def test_json_is_the_context_event(tmp_path: Path) -> None:
    """The same shape as `memory:context`, within the budget."""
    await remembered(tmp_path)
    shown = await run_in_thread("context", "hello", "--root", tmp_path, "--json", "--max-tokens", 30)
    context = MemoryContext.model_validate(json.loads(shown.output))
    assert context.tokens is not None
    assert context.tokens.max == 30
    assert make_counter().count(prompt_text(context)) == context.tokens.used <= 30


async def test_budget_is_drawn(tmp_path: Path) -> None:
    """A line a part, with what was planned and what was used; nothing of the memories."""
    await remembered(tmp_path)
    shown = await run_in_thread("context", "hello", "--root", tmp_path, "--max-tokens", 1_000, "--budget")
    lines = {line.split()[0]: line.split() for line in shown.output.splitlines() if line.split()}
    assert lines["history"][1] == "600"
    assert lines["recalled"][1] == "200"
    assert "hello" not in shown.output


async def test_a_group_gets_nothing_private(tmp_path: Path) -> None:
    """The session's kind counts here too; where there is nothing, exit code 1."""
    await remembered(tmp_path)
    group = ["--root", tmp_path, "--session", "agent:main:x:group:g1"]
    shown = await run_in_thread("context", "hello", *group)
    assert (shown.exit_code, shown.output.splitlines()[0]) == (1, "Memory has nothing for this session.")


@pytest.mark.parametrize("budget", ["0", "-3", "many"])
def test_budget_that_is_none_is_a_usage_error(tmp_path: Path, budget: str) -> None:
    """The option is named, exit code 2."""
    (tmp_path / "memory").mkdir()
    shown = run("context", "hello", "--root", tmp_path, "--max-tokens", budget)
    assert shown.exit_code == 2
    assert "--max-tokens" in shown.output


PARTS = ("facts", "memory", "tasks", "summaries", "notes", "recalled", "history")


@given(
    st.integers(1, 10_000_000),
    st.lists(st.tuples(st.integers(0, 6_000_000), st.integers(0, 10_000_000)), min_size=7, max_size=7),
    st.integers(80, 200),
)
@settings(deadline=None)
def test_any_budget_can_be_drawn(most: int, figures: list[tuple[int, int]], width: int) -> None:
    """A line a part whatever the figures; no line is longer than the screen."""
    parts = tuple(
        PartTokens(name=name, planned=planned, used=used) for name, (planned, used) in zip(PARTS, figures, strict=True)
    )
    report = TokenReport(max=most, used=min(most, sum(used for _, used in figures)), encoding="e", parts=parts)
    console = Console(file=StringIO(), width=width, force_terminal=True, color_system=None)
    console.print(*budget_lines(report), sep="\n")
    console.print(BudgetBar(None))
    drawn = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert [line.split()[0] for line in drawn if line.split() and line.split()[0] in PARTS] == list(PARTS)
    assert all(len(line) <= width for line in drawn)
