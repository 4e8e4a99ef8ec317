"""What is exported is everything, as it is; imported into an empty home it is the same again."""

from __future__ import annotations

import json
import os
import tempfile
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bus import EventBus
from contracts import MemorySearch, MemoryWrite, UpdateFact
from openclaw_memory.markdown.text import clean
from openclaw_memory.moving.errors import DestinationError
from openclaw_memory.storage.files import LocalFiles
from tests.moving.homes import FIXTURES, asked, brought, exported, home, planned, tree, with_bus

DAY = datetime(2026, 5, 4, tzinfo=UTC)

texts = st.one_of(
    st.text(min_size=1, max_size=60).filter(lambda text: text.strip()),
    st.sampled_from(
        [
            "### 2026-05-04T14:30:00+08:00 <!-- id=x role=user -->",
            "---\nchecksum: 0\n---\n",
            "```\nnever closed",
            "a\r\nb\r\n",
            "trailing\n\n\n",
            "\u2028 and \x0b and \x85",
            "\ud800 alone",
            "👩‍👩‍👧 家庭",
            "<!-- open",
        ]
    ),
)
moments = st.integers(0, 3 * 86_400).map(lambda seconds: DAY + timedelta(seconds=seconds))
lines = st.from_regex(r"[a-z][a-z ]{0,8}[a-z]", fullmatch=True)

messages = st.builds(
    lambda role, text, time, name, important, session, kind, origin: MemoryWrite(
        type="conversation",
        content={
            "role": role,
            "content": text,
            "timestamp": time,
            "metadata": {"important": important, **({"name": name} if name else {})},
        },
        session_id=session,
        session_kind=kind,
        origin=origin,
    ),
    st.sampled_from(["user", "assistant", "system", "tool"]),
    texts,
    moments,
    st.one_of(st.none(), lines),
    st.booleans(),
    st.sampled_from(["s1", "agent:main:main", "会话"]),
    st.sampled_from(["primary", "group"]),
    st.sampled_from([None, "owner", "agent", "untrusted", "system"]),
)
facts = st.builds(lambda section, key, value: UpdateFact(section=section, key=key, value=value), lines, lines, lines)
entries = st.builds(lambda text: MemoryWrite(type="memory", content={"text": text}, session_id="s1"), lines)
tasks = st.builds(
    lambda title, description: MemoryWrite(
        type="task", content={"title": title, "description": description, "due": "2026-06-01"}, session_id="s1"
    ),
    lines,
    lines,
)
summaries = st.builds(
    lambda text: MemoryWrite(
        type="summary", content={"period": "daily", "date": "2026-05-04", "text": text}, session_id="s1"
    ),
    lines,
)
notes = st.builds(lambda text: MemoryWrite(type="note", content={"text": text}, session_id="s1"), lines)
stores = st.lists(st.one_of(messages, messages, facts, entries, tasks, summaries, notes), min_size=1, max_size=12)
files = st.dictionaries(
    st.sampled_from(["memory/2026-05-01-x.md", "memory/deep/n.md", "memories/a.bin", "MEMORY.md", "shared/for all.md"]),
    st.one_of(st.binary(max_size=40), texts.map(lambda text: clean(text)[0].encode())),
    max_size=3,
)


# Each example starts memory four times: looking for the smallest failing one would take longer than reading it.
@settings(max_examples=12, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])
@given(stores, files, st.sampled_from(["four_layer", "four_tier", "history"]))
def test_round_trip(writes: list[Any], placed: dict[str, bytes], mode: str) -> None:
    """Any store, odd texts and a person's files included: the same lines again, every byte of every file."""
    with tempfile.TemporaryDirectory() as folder:
        there = home(Path(folder, "there"), mode=mode)
        here = home(Path(folder, "here"), mode=mode, workspace_id="other")
        for name, data in placed.items():
            place = there.workspace_folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)

        async def write(bus: EventBus) -> None:
            for change in writes:
                await bus.request(change, timeout=10)

        with_bus(there, write)
        first = exported(there, Path(folder, "first.jsonl"))
        if planned(here, Path(folder, "first.jsonl")).changes_anything:
            brought(here, Path(folder, "first.jsonl"))
        second = exported(here, Path(folder, "second.jsonl"))
        assert [line.replace("workspace/other/", "workspace/main/") for line in second] == first
        assert not planned(here, Path(folder, "first.jsonl")).changes_anything
        for path in there.memory_folder.rglob("*.md"):
            assert (here.memory_folder / path.relative_to(there.memory_folder)).read_bytes() == path.read_bytes()


def test_export_into_a_memory_that_has_something(tmp_path: Path) -> None:
    """Days of both are put together; nothing of ours is touched, and a second run changes nothing."""
    there, here = home(tmp_path / "there"), home(tmp_path / "here")
    brought(there, FIXTURES / "openclaw")
    brought(here, FIXTURES / "claude")

    async def say(bus: EventBus) -> None:
        content = {"role": "user", "content": "on the same day", "timestamp": "2026-04-18T08:00:03+00:00"}
        await bus.request(MemoryWrite(type="conversation", content=content, session_id="s9"), timeout=5)

    with_bus(here, say)
    exported(there, tmp_path / "out.jsonl")
    brought(here, tmp_path / "out.jsonl")
    told = [json.loads(line) for line in exported(here, tmp_path / "again.jsonl") if line]
    said = sorted(one["text"] for one in told if one["kind"] == "piece" and one["layer"] == "conversation")
    assert "on the same day" in said
    assert "the lens is from Fresnel" in said
    assert len(said) == len(set(said)) == 6 + 5 + 1
    assert not planned(here, tmp_path / "out.jsonl").changes_anything


def test_line_says_everything(tmp_path: Path) -> None:
    """Address, layer, time, text and what else is known of a message."""
    config = home(tmp_path)
    brought(config, FIXTURES / "chatgpt")
    first, *others = [json.loads(line) for line in exported(config, tmp_path / "o.jsonl") if line]
    assert first == {"kind": "export", "version": 1}
    (tool,) = [one for one in others if one.get("role") == "tool"]
    assert tool.pop("address").startswith("conversations/2026-01-05.md#")
    assert tool == {
        "kind": "piece",
        "layer": "conversation",
        "path": "conversations/2026-01-05.md",
        "lines": tool["lines"],
        "time": "2026-01-05T10:00:11+00:00",
        "text": "6.0",
        "session": "chatgpt-67890000-aaaa-bbbb-cccc-000000000001",
        "role": "tool",
        "name": "python",
        "origin": "untrusted",
        "visibility": "private",
    }


def test_part_of_it(tmp_path: Path) -> None:
    """A session's messages, or what is not older than a day; no documents then."""
    config = home(tmp_path)
    brought(config, FIXTURES / "chatgpt")
    brought(config, FIXTURES / "claude")
    one = "chatgpt-67890000-aaaa-bbbb-cccc-000000000002"
    told = [json.loads(line) for line in exported(config, tmp_path / "o.jsonl", session=one) if line]
    assert [line.get("text") for line in told] == [None, "风筝的尾巴多长？"]
    since = exported(config, tmp_path / "o.jsonl", since=datetime(2026, 1, 6, tzinfo=UTC))
    assert len(since) == 1 + 1 + 5 + 1
    other = home(tmp_path / "other")
    assert brought(other, tmp_path / "o.jsonl").written.counts == {"conversation": 6}


def test_markdown_is_the_files(tmp_path: Path) -> None:
    """A home that can be used as it is; what is only in the journal is in it too."""
    config = home(tmp_path / "home")
    brought(config, FIXTURES / "openclaw")
    exported(config, tmp_path / "out", "markdown")
    assert tree(tmp_path / "out").keys() <= tree(config.root).keys()
    again = home(tmp_path / "out")
    assert exported(again, tmp_path / "b.jsonl") == exported(config, tmp_path / "a.jsonl")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """Without --force; nor is anything written into memory itself, or a part of it as Markdown."""
    config = home(tmp_path / "home")
    brought(config, FIXTURES / "claude")
    (tmp_path / "there.jsonl").write_text("mine")
    import anyio

    from openclaw_memory import ManualClock
    from openclaw_memory.moving.exporting import Wanted, export
    from tests.support import START

    def refused(to: Path, form: Any = "jsonl", force: bool = False, **wanted: Any) -> str:
        write = partial(export, force=force)
        with pytest.raises(DestinationError) as error:
            anyio.run(write, config, to, form, Wanted(**wanted), LocalFiles(), ManualClock(START))
        return str(error.value)

    assert "--force" in refused(tmp_path / "there.jsonl")
    assert (tmp_path / "there.jsonl").read_text() == "mine"
    assert "outside of memory" in refused(config.memory_folder / "out.jsonl")
    assert "exported whole" in refused(tmp_path / "out", "markdown", session="s1")
    assert "is there already" in refused(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    for form in ("jsonl", "markdown"):
        assert "it is a device or a pipe" in refused(tmp_path / "pipe", form, force=True)
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("form", ["jsonl", "markdown"])
def test_whole_or_not_at_all(tmp_path: Path, form: Any) -> None:
    """Stopped in the middle there is nothing new, and what was there stays."""
    config = home(tmp_path / "home")
    brought(config, FIXTURES / "openclaw")
    to = tmp_path / "out"
    exported(config, to, form)
    before = tree(to) if to.is_dir() else {"": to.read_text()}
    import anyio

    from openclaw_memory import ManualClock
    from openclaw_memory.moving.exporting import Wanted, export
    from tests.support import START

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    async def again() -> None:
        await export(config, to, form, Wanted(), LocalFiles(), ManualClock(START), force=True, progress=stop)

    with pytest.raises(KeyboardInterrupt):
        anyio.run(again)
    assert (tree(to) if to.is_dir() else {"": to.read_text()}) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "out"]


def test_damaged_lines_of_an_export(tmp_path: Path) -> None:
    """Each costs itself, and is told by its line."""
    config = home(tmp_path / "home")
    brought(config, FIXTURES / "claude")
    source = tmp_path / "out.jsonl"
    lines = exported(config, source)
    bad = ['{"kind":"document","path":"../../etc/passwd","text":"x"}', '{"kind":"nothing"}', "{", '{"kind":"document"}']
    source.write_text("\n".join([lines[0], *bad, *lines[1:]]), encoding="utf-8")
    other = home(tmp_path / "other")
    plan = planned(other, source)
    assert [problem.where for problem in plan.problems] == [f"out.jsonl, line {number}" for number in (3, 4, 5, 2)]
    brought(other, source)
    assert asked(other, MemorySearch(query="starter")).results
    assert not (tmp_path / "etc").exists()
