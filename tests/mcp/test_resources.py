"""The files as resources, and the guide as a prompt."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.exceptions import MCPError

from contracts.patterns import PATH_PATTERN
from openclaw_memory.guide import memory_guide
from openclaw_memory.mcp.errors import CallRefusedError
from openclaw_memory.mcp.resources import PAGE, page_of, path_of, uri_of
from tests.mcp.conftest import Served, served
from tests.mcp.test_tools import said

NOTES = Path("workspace") / "main" / "memory"


def note(root: Path, name: str, text: str) -> str:
    """Write a note as a person would, and give its path."""
    path = root / NOTES / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return f"{NOTES}/{name}"


async def listed(it: Served) -> list[str]:
    """List all resources, page by page."""
    names: list[str] = []
    page = await it.client.list_resources()
    while True:
        names += [resource.name for resource in page.resources]
        if page.next_cursor is None:
            return names
        page = await it.client.list_resources(cursor=page.next_cursor)


async def read(it: Served, uri: str) -> str:
    (contents,) = (await it.client.read_resource(uri)).contents
    assert contents.uri == uri
    return contents.text  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_files_are_listed_and_read(tmp_path: Path, mode: str) -> None:
    """What there is, with its type; nothing hidden, nothing empty, nothing that is gone."""
    async with served(tmp_path, mode=mode) as it:
        await it.it.ask(said("hello"))
        path = note(tmp_path, "2026-05-01.md", "the zeppelin\n")
        note(tmp_path, "2026-05-02.md", "")
        gone = note(tmp_path, "2026-05-03.md", "gone")
        assert await listed(it) == ["conversations/2026-05-04.md", path, gone]
        (tmp_path / gone).unlink()
        assert await listed(it) == ["conversations/2026-05-04.md", path]
        resources = (await it.client.list_resources()).resources
        assert {resource.mime_type for resource in resources} == {"text/markdown"}
        assert await read(it, resources[1].uri) == "the zeppelin\n"
        assert "hello" in await read(it, "memory:///conversations/2026-05-04.md")
        template = (await it.client.list_resource_templates()).resource_templates[0]
        assert template.uri_template == "memory:///{+path}"


async def test_long_file_is_read_whole(tmp_path: Path) -> None:
    """However many answers of `memory:get` it takes, byte for byte."""
    text = "".join(f"line {number} {'字' * (number % 150)}\n" for number in range(1, 2_000))
    path = note(tmp_path, "2026-05-01.md", text)
    async with served(tmp_path) as it:
        assert await read(it, uri_of(path)) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x" * 13_000 + "\nend\n", "has a line that is too long"),
        ("word\n" * 21_000, "or 20,000 lines; read it by parts"),
        (f"{'x' * 990}\n" * 1_100, "more than 1,000,000 characters"),
    ],
)
async def test_file_that_is_not_given_whole(tmp_path: Path, text: str, words: str) -> None:
    """Never a part that looks like all of it."""
    path = note(tmp_path, "2026-05-01.md", text)
    async with served(tmp_path) as it:
        with pytest.raises(MCPError, match=words):
            await read(it, uri_of(path))


ELSEWHERE = [
    "memory:///../../etc/passwd",
    "memory:///%2e%2e/%2e%2e/etc/passwd",
    "memory:////etc/passwd",
    "memory://etc/passwd",
    "memory:///.state/idempotency.json",
    "memory:///facts/none.md",
    "memory:///",
    "memory:facts/user-profile.md",
    "file:///etc/passwd",
    "http://[::1/x",
    "",
    "x" * 100_000,
]


async def test_case_33_addresses_that_lead_elsewhere(tmp_path: Path) -> None:
    """Refused in words."""
    async with served(tmp_path) as it:
        for uri in ELSEWHERE:
            with pytest.raises(MCPError) as refused:
                await read(it, uri)
            assert "root:x:0" not in str(refused.value)
            assert 10 < len(str(refused.value)) < 400, uri[:80]


async def test_case_30_group_reads_what_is_shared(tmp_path: Path) -> None:
    """And nothing else, by any address."""
    path = note(tmp_path, "2026-05-01.md", "private")
    shared = tmp_path / "workspace" / "main" / "shared"
    shared.mkdir()
    (shared / "plan.md").write_text("for all\n")
    async with served(tmp_path, "group") as it:
        assert await listed(it) == ["workspace/main/shared/plan.md"]
        assert await read(it, "memory:///workspace/main/shared/plan.md") == "for all\n"
        with pytest.raises(MCPError, match="sessionKind"):
            await read(it, uri_of(path))


@given(st.from_regex(re.compile(PATH_PATTERN), fullmatch=True).filter(lambda path: len(path) < 200))
def test_addresses_round_trip(path: str) -> None:
    """Whatever a file is called."""
    assert path_of(uri_of(path)) == path


@given(st.text(max_size=60) | st.text("memory:/.%", max_size=20).map(lambda text: f"memory:///{text}"))
def test_any_address(uri: str) -> None:
    """A path or a refusal that names the field, never another error."""
    with suppress(CallRefusedError):
        path_of(uri)


@given(st.sets(st.text("abc", min_size=1, max_size=8)), st.text("abc", max_size=8) | st.none())
def test_pages_are_in_order(paths: set[str], after: str | None) -> None:
    """Page after page gives every file once, also from a cursor that names none."""
    page = page_of(list(paths), after)
    assert list(page.paths) == sorted(path for path in paths if after is None or path > after)[:PAGE]


def test_pages_hold_everything() -> None:
    """More files than one page."""
    paths = [f"{number:04}" for number in range(2 * PAGE + 1)]
    seen: list[str] = []
    page = page_of(paths, None)
    seen += page.paths
    while page.more is not None:
        page = page_of(paths, page.more)
        seen += page.paths
    assert seen == paths


async def test_guide(tmp_path: Path) -> None:
    """In the language asked for, with the places where this memory lies."""
    async with served(tmp_path, language="en") as it:
        (prompt,) = (await it.client.list_prompts()).prompts
        assert prompt.name == "memory_guide"
        asked = [argument.name for argument in prompt.arguments or ()]
        assert asked == ["language", "memory_file", "daily_file", "write_tool"]
        folder = tmp_path / "workspace" / "main"
        text = (await it.client.get_prompt("memory_guide")).messages[0].content
        assert text.text == memory_guide(  # type: ignore[union-attr]
            "en", memory_file=str(folder / "MEMORY.md"), daily_file=str(folder / "memory" / "YYYY-MM-DD.md")
        )
        given = {"language": "zh", "memory_file": "M.md", "daily_file": "d.md", "write_tool": "Write"}
        text = (await it.client.get_prompt("memory_guide", given)).messages[0].content
        assert text.text == memory_guide(  # type: ignore[union-attr]
            "zh", memory_file="M.md", daily_file="d.md", write_tool="Write"
        )


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("memory_guid", {}, "there is no prompt 'memory_guid'; there is memory_guide"),
        ("memory_guide", {"lang": "en"}, "lang is no argument of memory_guide; there are language, "),
        ("memory_guide", {"language": "fr"}, "language: 'fr' has no guide"),
        ("memory_guide", {"write_tool": "a`b"}, "write_tool: must be one line"),
    ],
)
async def test_malformed_prompt(tmp_path: Path, name: str, arguments: dict[str, str], words: str) -> None:
    """Refused by name."""
    async with served(tmp_path) as it:
        with pytest.raises(MCPError, match=re.escape(words)):
            await it.client.get_prompt(name, arguments)


async def test_odd_names(tmp_path: Path) -> None:
    """Spaces, percent signs and other scripts come through the address."""
    async with served(tmp_path) as it:
        for name in ("2026-05-01 a b.md", "100%.md", "名字.md", "a#b?c.md"):
            path = note(tmp_path, name, f"{name}\n")
            assert await read(it, uri_of(path)) == f"{name}\n"
            assert quote(name) in uri_of(path)
