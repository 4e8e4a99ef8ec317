"""Rotation: every message of a day once, in order, whatever is written, saved by an old editor, or lost in a crash."""

from __future__ import annotations

import itertools
import os
import tempfile
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contracts import MemoryWrite
from openclaw_memory import ManualClock, MemoryConfig
from openclaw_memory.catalog import Catalog
from openclaw_memory.layers.conversations import ConversationFormat, Said
from openclaw_memory.layers.day_files import ConversationDocument, digest
from openclaw_memory.layers.parts import day_of, next_parts, order_of
from openclaw_memory.layers.rooms import FOLDERS, format_of
from openclaw_memory.layers.rotation import Limits, parts_missing, plan_messages, plan_tidying
from openclaw_memory.markdown.messages import Message
from openclaw_memory.retrieval.index import InMemoryIndex
from openclaw_memory.retrieval.terms import terms
from openclaw_memory.storage.buffer import FlushLimits
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.files import LocalFiles
from openclaw_memory.storage.operations import Operation
from openclaw_memory.storage.store import Store
from openclaw_memory.writer import Writer
from tests.support import START, copied_in_use

DAY = "conversations/2026-05-04.md"
PARTS = [f"conversations/2026-05-04-{number:03d}.md" for number in range(1, 9)]
FORMAT = ConversationFormat()
SHANGHAI = ZoneInfo("Asia/Shanghai")
AT = "2026-05-04T14:30:00+08:00"


def said(*names: str, text: str = "text") -> list[Said]:
    return [Said(Message(name, "s1", "user", datetime.fromisoformat(AT), f"{text} {name}"), DAY, 0) for name in names]


def draft_of(*documents: ConversationDocument) -> Draft:
    planned = {document.path: document for document in documents}
    return Draft(dict.fromkeys(planned, FORMAT), planned)


def blank(*paths: str) -> list[ConversationDocument]:
    return [FORMAT.new(path) for path in paths]


def plan(draft: Draft, *names: str, messages: int = 3, size: int = 1 << 20) -> list[str]:
    limits = Limits(messages, size)
    return plan_messages(draft, said(*names), now=START.astimezone(SHANGHAI), language="zh", limits=limits)


def ids(draft: Draft, path: str) -> list[str]:
    return [block.message.id for block in draft.document(path).file.blocks]


def body(document: ConversationDocument) -> str:
    return document.file.preamble + "".join(block.raw for block in document.file.blocks)


# -- names -----------------------------------------------------------------------------------------------------------


def test_parts_come_before_the_days_own_file() -> None:
    """Older parts have lower numbers, beyond 999 too; other files of the folder are days of their own."""
    paths = ["conversations/2026-05-05.md", DAY, "conversations/2026-05-04-1000.md", PARTS[1], "conversations/x.md"]
    assert sorted(paths, key=order_of) == [paths[3], paths[2], DAY, paths[0], paths[4]]
    assert [day_of(path) for path in paths] == [paths[0], DAY, DAY, DAY, paths[4]]
    assert next_parts(DAY, [PARTS[6], paths[0], DAY], 2) == [PARTS[7], "conversations/2026-05-04-009.md"]
    assert next_parts(DAY, [], 1) == [PARTS[0]]


# -- planning --------------------------------------------------------------------------------------------------------


def test_full_file_moves_into_the_next_part() -> None:
    """With the message that no longer fits; the addresses name the day."""
    draft = draft_of(*blank(DAY, PARTS[0]))
    assert plan(draft, "a", "b", "c") == [f"{DAY}#a", f"{DAY}#b", f"{DAY}#c"]
    assert ids(draft, PARTS[0]) == []
    assert plan(draft, "d") == [f"{DAY}#d"]
    assert (ids(draft, PARTS[0]), ids(draft, DAY)) == (["a", "b", "c"], ["d"])


def test_one_write_may_fill_several_parts() -> None:
    """No file ever holds more than the limit, and what is missing is told before."""
    day = FORMAT.new(DAY)
    names = [f"m{number}" for number in range(10)]
    assert parts_missing(draft_of(day), said(*names), Limits(3, 1 << 20)) == {DAY: 3}
    draft = draft_of(day, *blank(*PARTS[:3]))
    assert parts_missing(draft, said(*names), Limits(3, 1 << 20)) == {}
    plan(draft, *names)
    assert [ids(draft, path) for path in (*PARTS[:3], DAY)] == [names[:3], names[3:6], names[6:9], names[9:]]


def test_file_is_rotated_before_it_grows_beyond_its_size() -> None:
    """A message that is too large by itself has a file of its own, and rotates nothing twice."""
    draft = draft_of(*blank(DAY, *PARTS[:4]))
    for number in range(6):
        plan(draft, f"m{number}", messages=100, size=1500)
    sizes = [len(body(draft.document(path)).encode()) for path in (*PARTS[:4], DAY)]
    assert max(sizes) <= 1500
    assert sum(len(ids(draft, path)) for path in (*PARTS[:4], DAY)) == 6
    large = draft_of(*blank(DAY, *PARTS[:2]))
    for name in ("x" * 3000, "y" * 3000, "z"):
        plan(large, name, messages=100, size=1500)
    assert [len(ids(large, path)) for path in (*PARTS[:2], DAY)] == [1, 1, 1]


def test_free_part_is_never_before_a_filled_one() -> None:
    """A hole in the numbers stays one: the order of the parts is that of the day."""
    filled = FORMAT.apply(FORMAT.new(PARTS[1]), Operation(PARTS[1], "adopt", {"text": "", "tags": ["x"], "at": AT}))
    assert not filled.blank
    day = draft_of(FORMAT.new(DAY))
    plan(day, "a", "b", "c")
    draft = draft_of(day.document(DAY), *blank(PARTS[0]), filled)
    assert parts_missing(draft, said("d"), Limits(3, 1 << 20)) == {DAY: 1}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_persons_own_text_stays_and_bytes_of_messages_move(newline: str) -> None:
    """Front matter and text before the messages stay; tags go along, since messages are found by them."""
    text = (
        "---\ntags: [home]\nmood: good\n---\n# My day\n\n"
        "### 2026-05-04T09:00:00+08:00 <!-- id=a session=s1 role=user odd=kept -->\n**User**:   \n\nby hand\n\n\n"
        "### 2026-05-04T09:01\n**Agent**: open end"
    ).replace("\n", newline)
    day = FORMAT.parse(DAY, text.encode())
    draft = draft_of(day, *blank(PARTS[0]))
    moved = "".join(block.raw for block in day.file.blocks) + newline
    plan(draft, "z", messages=len(day.file.blocks))
    part = draft.document(PARTS[0])
    assert body(part) == moved
    assert body(draft.document(DAY)).startswith(f"# My day{newline}{newline}### ")
    assert ids(draft, DAY) == ["z"]
    written = FORMAT.parse(PARTS[0], FORMAT.render(part)[0])
    assert (written.front.fields["tags"], written.front.fields["message_count"]) == (["home"], len(day.file.blocks))
    assert b"mood: good" in FORMAT.render(draft.document(DAY))[0]
    assert [block.message for block in written.file.blocks] == [block.message for block in day.file.blocks]


def test_copies_of_one_block_move_both() -> None:
    """A person copied a message with its comment and changed the copy: neither text is dropped."""
    draft = draft_of(*blank(DAY))
    plan(draft, "a")
    raw = body(draft.document(DAY))
    day = FORMAT.parse(DAY, (raw + raw.replace("text a", "copy of a")).encode())
    draft = draft_of(day, *blank(PARTS[0]))
    plan(draft, "b", messages=2)
    assert [block.message.content for block in draft.document(PARTS[0]).file.blocks] == ["text a", "copy of a"]
    assert ids(draft, DAY) == ["b"]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=8))
def test_operations_applied_again_change_nothing(counts: list[int]) -> None:
    """From any point of their list: that is what a crash and an edit do."""
    numbers = itertools.count()
    draft = draft_of(*blank(DAY, *PARTS))
    for count in counts:
        plan(draft, *[f"m{next(numbers)}" for _ in range(count)])
    for path in (DAY, *PARTS):
        document = draft.document(path)
        operations = [operation for operation in draft.operations if operation.path == path]
        for start in range(len(operations)):
            again = document
            for operation in operations[start:]:
                again = FORMAT.apply(again, operation)
            assert sorted(block.message.id for block in again.file.blocks) == sorted(ids(draft, path))


async def test_what_was_rotated_is_not_indexed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting the words of a full file anew would hold up the event loop; only those of new messages are counted."""
    counted: list[str] = []

    def counting(text: str) -> list[str]:
        counted.append(text)
        return terms(text)

    monkeypatch.setattr("openclaw_memory.retrieval.postings.terms", counting)
    async with opened(tmp_path) as day:
        await day.say(2)
        assert len(day.found("text")) == 2
        # Both in one group of the journal: the file was added to and rotated.
        async with anyio.create_task_group() as group:
            group.start_soon(day.say, 1)
            group.start_soon(day.say, 1)
        assert (await day.look()).keys() == {"m1", "m2", "m3", "m4"}
        assert sorted(day.found("text")) == [PARTS[0]] * 3 + [DAY]
    assert len(counted) == 4


# -- an old view, saved ----------------------------------------------------------------------------------------------


def rotated(view_edit: tuple[str, str] = ("", "")) -> Draft:
    """A day that was rotated, over whose file an editor has saved what it held before."""
    draft = draft_of(*blank(DAY, PARTS[0]))
    plan(draft, "a", "b", "c")
    view = body(draft.document(DAY)).replace(*view_edit) if view_edit[0] else body(draft.document(DAY))
    plan(draft, "d")
    old = FORMAT.parse(DAY, (view + body(draft.document(DAY))).encode())
    return draft_of(old, draft.document(PARTS[0]))


def test_copies_are_taken_out() -> None:
    """What the part holds leaves the day's file; what is new stays."""
    draft = rotated()
    plan_tidying(draft, DAY, START)
    assert (ids(draft, PARTS[0]), ids(draft, DAY)) == (["a", "b", "c"], ["d"])
    assert [operation.kind for operation in draft.operations] == ["take_out"]


def test_edited_copy_takes_the_place_of_the_text_before() -> None:
    """In its part, where the message belongs."""
    draft = rotated(("text b", "text b, edited"))
    plan_tidying(draft, DAY, START)
    assert (ids(draft, PARTS[0]), ids(draft, DAY)) == (["a", "b", "c"], ["d"])
    assert draft.document(PARTS[0]).block_of("b").message.content == "text b, edited"
    assert "".join(body(draft.document(path)) for path in (DAY, PARTS[0])).count("text b") == 1


def test_white_space_at_the_end_is_no_edit() -> None:
    """Editors strip it, or make other line ends."""
    draft = rotated(("\n", "\r\n"))
    plan_tidying(draft, DAY, START)
    assert [operation.kind for operation in draft.operations] == ["take_out"]


def test_message_edited_before_it_was_taken_out_stays() -> None:
    """The operation was planned on another text: what a person wrote meanwhile is not removed."""
    draft = rotated(("text b", "text b, edited"))
    before = digest(draft.document(PARTS[0]).block_of("b").raw)
    draft.apply(Operation(DAY, "take_out", {"messages": [["a", "other"], ["b", before], ["gone", "x"]], "at": AT}))
    assert ids(draft, DAY) == ["a", "b", "c", "d"]


def test_edits_of_both_copies_are_both_kept() -> None:
    """A person edited the part too, between the plan and the write: both texts stand there, and it is told."""
    draft = rotated(("text b", "text b, edited"))
    plan_tidying(draft, DAY, START)
    (amend,) = [operation for operation in draft.operations if operation.kind == "amend"]
    part = FORMAT.parse(PARTS[0], body(rotated().document(PARTS[0])).replace("text b", "other b").encode())
    assert "b: edited here" in (FORMAT.collision(part, amend) or "")
    merged = FORMAT.apply(part, amend)
    assert [block.message.content for block in merged.file.blocks] == ["text a", "other b", "text b, edited", "text c"]
    assert FORMAT.apply(merged, amend) is merged
    assert FORMAT.collision(rotated().document(PARTS[0]), amend) is None
    emptied = FORMAT.apply(FORMAT.new(PARTS[0]), amend)
    assert [block.message.content for block in emptied.file.blocks] == ["text b, edited"]


@given(st.text("a\r\n 日"))
def test_line_ends_and_space_at_the_end_do_not_change_a_digest(text: str) -> None:
    """What an editor does to a file by itself is no edit of a message."""
    plain = text.replace("\r\n", "\n").rstrip()
    assert digest(text) == f"{len(plain)}-{zlib.crc32(plain.encode()):08x}" == digest(plain)


# -- everything at once ----------------------------------------------------------------------------------------------


class Day:
    """A store with its writer and what readers see, and an editor that holds what the day's file held some time ago."""

    def __init__(self, root: Path) -> None:
        self.root, self.clock, self.index = root, ManualClock(START), InMemoryIndex()
        self.catalog = Catalog(self.index, SHANGHAI)
        config = MemoryConfig(root=root, timezone="Asia/Shanghai", conversations={"max_messages_per_file": 3})  # type: ignore[arg-type]
        self.store = Store(
            root,
            LocalFiles(),
            self.clock,
            format_of,
            FlushLimits(2.0, 50, 500),
            1 << 20,
            self.catalog.changed,
            lambda reason: None,
        )
        self.numbers = itertools.count(1)
        self.times = itertools.count(1)
        self.writer = Writer(self.store, config, self.clock, lambda time: f"m{next(self.numbers)}")

    async def say(self, count: int) -> list[str]:
        # Each at its own time: what was said at the same moment is told in the order of files and lines.
        times = [(START + timedelta(milliseconds=next(self.times))).isoformat() for _ in range(count)]
        messages = [{"role": "user", "content": "text", "timestamp": time} for time in times]
        write = MemoryWrite.model_validate(
            {"type": "conversation", "content": {"messages": messages}, "sessionId": "s1"}
        )
        planned = await self.writer.write(write)
        await planned.commit.wait()
        assert planned.commit.error is None
        return [key.partition("#")[2] for key in planned.keys]

    async def look(self) -> dict[str, str]:
        """Give what a reader sees, by id, in order."""
        await self.store.look(FOLDERS)
        self.catalog.feed()
        seen = [(block.key, block.text) for block in self.catalog.newest_messages("s1", None)][::-1]
        assert len({key for key, _ in seen}) == len(seen) == len(self.index)
        for key, content in seen:
            piece = self.catalog.find(key)
            assert piece is not None
            assert (piece.key, piece.text) == (key, content)
            assert piece.path in (DAY, *self.files())
        return {key.partition("#")[2]: content for key, content in seen}

    def found(self, word: str) -> list[str]:
        self.catalog.feed()
        return [hit.block.path for hit in self.index.search([word], limit=100, allow=lambda block: True)]

    def files(self) -> list[str]:
        documents = self.catalog.documents("conversations")
        return [document.path for document in documents if not document.blank]

    def in_parts(self) -> set[str]:
        documents = self.catalog.documents("conversations")
        return {b.message.id for document in documents if document.path != DAY for b in document.file.blocks}

    def on_disk(self) -> list[str]:
        paths = sorted((f"conversations/{path.name}" for path in self.root.glob("conversations/*.md")), key=order_of)
        return [
            block.message.id
            for path in paths
            for block in FORMAT.parse(path, (self.root / path).read_bytes()).file.blocks
        ]

    def file(self) -> str | None:
        path = self.root / DAY
        return path.read_text() if path.exists() else None

    def save(self, text: str) -> None:
        other = self.root / "conversations/.editor"
        other.write_text(text)
        # A file that was saved a moment ago is not written over: let it be a little older.
        before = time.time_ns() - 10_000_000_000
        os.utime(other, ns=(before, before))
        other.replace(self.root / DAY)


@asynccontextmanager
async def opened(root: Path) -> AsyncIterator[Day]:
    day = Day(root)
    await day.store.open(FOLDERS)
    await day.store.look(FOLDERS)
    try:
        yield day
    finally:
        await day.store.close()


STEP = st.one_of(
    st.tuples(st.just("say"), st.integers(1, 7)),
    st.tuples(st.just("flush"), st.just(0)),
    st.tuples(st.just("open in editor"), st.just(0)),
    st.tuples(st.just("save"), st.integers(0, 1)),
    st.tuples(st.just("look"), st.just(0)),
    st.tuples(st.just("crash"), st.just(0)),
)


OPEN_ACROSS_A_CRASH = [
    ("say", 1),
    ("flush", 0),
    ("say", 1),
    ("open in editor", 0),
    ("flush", 0),
    ("crash", 0),
    ("save", 0),
    ("crash", 0),
]
"""A view from before the start is saved after it: what the journal knows that it lacks is there, now and later."""


@settings(max_examples=30, deadline=None)
@example(OPEN_ACROSS_A_CRASH)
@given(st.lists(STEP, max_size=16))
async def test_each_message_once_and_in_order(steps: list[tuple[str, int]]) -> None:
    """For any writes, flushes, crashes and saves of old views; an edit in an old view wins.

    A message that no part holds, and that the saved view lacks, may have been deleted by who saved it.
    """
    with tempfile.TemporaryDirectory() as folder:
        expected: dict[str, str] = {}
        returned: set[str] = set()
        view: str | None = None
        numbers, times = itertools.count(1), itertools.count(1)
        edits = itertools.count(1)
        runs = [Path(folder) / "0"]
        pending = list(steps)
        while True:
            async with opened(runs[-1]) as day:
                day.numbers, day.times = numbers, times
                crashed = False
                while pending and not crashed:
                    step, number = pending.pop(0)
                    if step == "say":
                        expected |= dict.fromkeys(await day.say(number), "text")
                    elif step == "flush":
                        await day.store.flush()
                    elif step == "open in editor":
                        view = day.file()
                    elif step == "save" and view is not None:
                        await day.look()
                        if number and "\ntext" in view:
                            view = view.replace("\ntext", f"\nedit {next(edits)}, text", 1)
                        shown = {b.message.id: b.message.content for b in FORMAT.parse(DAY, view.encode()).file.blocks}
                        unseen = expected.keys() - shown.keys() - day.in_parts()
                        returned |= shown.keys() - expected.keys()
                        expected |= shown
                        day.save(view)
                        for name in unseen - (await day.look()).keys():
                            del expected[name]
                    elif step == "look":
                        assert await day.look() == expected
                    elif step == "crash":
                        crashed = True
                        await day.store.settled()
                        runs.append(Path(folder) / str(len(runs)))
                        copied_in_use(runs[-2], runs[-1])
                if crashed:
                    continue
                assert await day.look() == expected
                order = [int(name[1:]) for name in await day.look() if name not in returned]
                assert order == sorted(order)
                # The next write tidies up: on disk, too, each message is there once.
                expected |= dict.fromkeys(await day.say(1), "text")
                await day.store.flush()
                assert await day.look() == expected
                assert sorted(day.on_disk()) == sorted(expected)
            break
