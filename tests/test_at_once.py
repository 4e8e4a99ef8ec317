"""The short way of a message gives what the long one gives: reply, journal, documents and files."""

from __future__ import annotations

import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts import MemoryWrite
from openclaw_memory import ManualClock, MemoryConfig
from openclaw_memory.errors import Refused
from openclaw_memory.layers.rooms import FOLDERS, format_of
from openclaw_memory.storage.buffer import FlushLimits
from openclaw_memory.storage.files import LocalFiles
from openclaw_memory.storage.journal import read_journal
from openclaw_memory.storage.store import Store
from openclaw_memory.writer import Planned, Writer
from tests.support import START, counted_ids

DAY = "conversations/2026-05-04.md"


class Side:
    """A writer on a store of its own, which counts what went the short way; with `long` nothing does."""

    def __init__(self, root: Path, *, long: bool, **settings: Any) -> None:
        self.root, self.clock, self.long, self.short = root, ManualClock(START), long, 0
        config = MemoryConfig(root=root, timezone="Asia/Shanghai", **settings)
        limits = FlushLimits(2.0, 50, 500)
        self.store = Store(
            root, LocalFiles(), self.clock, format_of, limits, 1 << 20, lambda *_: None, lambda reason: None
        )
        self.writer = Writer(self.store, config, self.clock, counted_ids())
        write = self.writer._at_once.write

        def counted(*given: Any) -> Any:
            planned = write(*given)
            self.short += planned is not None
            return planned

        self.writer._at_once.write = counted  # type: ignore[method-assign]

    async def write(self, *payloads: dict[str, Any]) -> Any:
        """Write one after the other, the next before the one before is durable; gives what is replied."""
        told: list[Any] = []
        for payload in payloads:
            self.clock.advance(0.123)
            try:
                change = MemoryWrite.model_validate(payload)
                told.append(await (self.writer.write_waiting(change) if self.long else self.writer.write(change)))
            except Refused as refusal:
                told.append(str(refusal))
        for planned in told:
            if isinstance(planned, Planned):
                await planned.commit.wait()
                assert planned.commit.error is None
        return [one[1:] if isinstance(one, Planned) else one for one in told]

    def edit(self) -> None:
        """A person saves the day's file, with a line above the messages."""
        path = self.root / DAY
        if path.exists():
            path.write_text(path.read_text().replace("### ", "Mine.\n\n### ", 1))

    def held(self) -> tuple[Any, ...]:
        """Give what the journal holds, what the documents say, and the files."""
        journal = read_journal(self.root / ".journal", LocalFiles())
        documents = {path: entry.planned for path, entry in self.store._shelf.entries.items()}
        said = {path: document.file for path, document in documents.items() if path.startswith("conversations/")}
        files = {path.name: path.read_bytes() for path in self.root.glob("conversations/*.md")}
        return [operation for record in journal.records for operation in record.operations], said, files


CONTENT = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [
            "remember that I live in Kyoto",
            "### 2026-05-04T14:30:00+08:00",
            "a\r\nb\r\n",
            "\n\nc\n",
            "half \ud83d",
            "nul \0",
        ]
    ),
    st.integers(1, 1_500).map("x".__mul__),
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool"]), "content": CONTENT},
    optional={
        "timestamp": st.integers(-40, 40).map(lambda hours: (START + timedelta(hours=hours)).isoformat()),
        "metadata": st.fixed_dictionaries(
            {}, optional={"name": st.sampled_from(["bash", "王 -- 五"]), "important": st.booleans()}
        ),
    },
)
WRITE = st.fixed_dictionaries(
    {
        "type": st.just("conversation"),
        "sessionId": st.sampled_from(["s1", "a--b", "日"]),
        "content": MESSAGE | st.lists(MESSAGE, min_size=1, max_size=3).map(lambda many: {"messages": many}),
    },
    optional={
        "sessionKind": st.sampled_from(["primary", "group", "sub"]),
        "origin": st.sampled_from(["owner", "untrusted"]),
        "idempotencyKey": st.sampled_from(["k1", "k2"]),
    },
)


def batch(session: str, kind: str, contents: list[Any]) -> dict[str, Any]:
    said = [{"type": "conversation", "sessionId": session, "content": content} for content in contents]
    items = [{"event": "memory:write", "data": data} for data in said]
    return {"type": "batch", "sessionId": session, "sessionKind": kind, "content": {"items": items}}


BATCH = st.builds(
    batch,
    st.sampled_from(["s1", "a--b"]),
    st.sampled_from(["primary", "group", "sub", "sandbox"]),
    st.lists(MESSAGE, min_size=1, max_size=3),
)
CHANGE = WRITE | BATCH


async def both(sides: list[Side], step: list[dict[str, Any]] | str) -> None:
    """Write the same on both sides, or flush them, or have a person edit them after that."""
    if not isinstance(step, str):
        one, other = [await side.write(*step) for side in sides]
        assert one == other
        return
    for side in sides:
        await side.store.flush()
        if step == "edit":
            side.edit()


@pytest.mark.parametrize("copies", [{}, {"session_files": True, "history_file": True}])
@settings(max_examples=25, deadline=None)
@given(steps=st.lists(CHANGE | st.sampled_from(["flush", "edit"]), max_size=12))
async def test_both_ways_give_the_same(copies: dict[str, bool], steps: list[Any]) -> None:
    """For any messages, with files that are rotated, rewritten and edited in between."""
    room = {"max_messages_per_file": 4, "max_file_bytes": 4_000}
    with tempfile.TemporaryDirectory() as folder:
        sides = [Side(Path(folder) / name, long=name == "long", conversations=room, **copies) for name in ("a", "long")]
        for side in sides:
            await side.store.open(FOLDERS)
        try:
            for step in steps:
                await both(sides, [step] if isinstance(step, dict) else step)
            assert sides[0].held() == sides[1].held()
            assert not (copies and sides[0].short)
        finally:
            for side in sides:
                await side.store.close()


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(st.lists(CHANGE, max_size=8) | st.sampled_from(["flush", "edit"]), max_size=5))
async def test_many_at_once_are_what_one_after_the_other_are(steps: list[Any]) -> None:
    """Messages are added to a day when somebody looks at it, many as one; rotations and edits see all of them."""
    room = {"max_messages_per_file": 6}
    with tempfile.TemporaryDirectory() as folder:
        sides = [Side(Path(folder) / name, long=name == "long", conversations=room) for name in ("a", "long")]
        for side in sides:
            await side.store.open(FOLDERS)
        try:
            for step in steps:
                await both(sides, step)
            assert sides[0].held() == sides[1].held()
        finally:
            for side in sides:
                await side.store.close()
        assert {path.name: path.read_bytes() for path in sides[0].root.glob("conversations/*.md")} == {
            path.name: path.read_bytes() for path in sides[1].root.glob("conversations/*.md")
        }


async def test_what_goes_the_short_way(tmp_path: Path) -> None:
    """Messages to a file that is known and has room; the first of a day, and the first that finds it full, do not."""
    side = Side(tmp_path, long=False, conversations={"max_messages_per_file": 4})
    await side.store.open(FOLDERS)
    short = []
    for number in range(7):
        before = side.short
        await side.write(
            {"type": "conversation", "sessionId": "s", "content": {"role": "user", "content": f"{number}"}}
        )
        short.append(side.short > before)
    assert short == [False, True, True, True, False, True, True]
    await side.store.close()
