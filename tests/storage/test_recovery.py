"""After a crash each document gets what its file lacks: nothing twice, and nothing that a person took out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.storage.operations import Flush, Operation, Record
from openclaw_memory.storage.recovery import documents_named, held_up_to, operations_on


def op(name: str, path: str = "a.md") -> Operation:
    return Operation(path, "add", {"name": name})


def missing(records: list[Record], version: str | None, path: str = "a.md") -> list[str]:
    """Name the operations that a file of this version lacks."""
    held = held_up_to(records, path, version)
    return [op.arguments["name"] for position, op in operations_on(records, path) if position > held]


def test_nothing_flushed_means_everything_is_missing() -> None:
    """A file that was never written gets all operations."""
    records = [Record(1, (op("one"),)), Record(2, (op("two"),))]
    assert missing(records, None) == ["one", "two"]


def test_version_on_disk_tells_which_intent_was_carried_out() -> None:
    """An intent counts when the file names its version, although nothing says that it was done."""
    records = [
        Record(1, (op("one"),)),
        Record(2, intents=(Flush("a.md", "v1", 1),)),
        Record(3, (op("two"),)),
        Record(4, intents=(Flush("a.md", "v2", 3),)),
    ]
    assert missing(records, "v1") == ["two"]
    assert missing(records, "v2") == []
    assert missing(records, "v0") == ["one", "two"]


def test_flush_that_was_done_counts_whatever_the_file_says() -> None:
    """A person who deletes the file, or its front matter, after the flush does not get the old lines back."""
    records = [
        Record(1, (op("one"),)),
        Record(2, intents=(Flush("a.md", "v1", 1),)),
        Record(3, flushed=(Flush("a.md", "v1", 1),)),
        Record(4, (op("two"),)),
    ]
    assert missing(records, None) == ["two"]


def test_old_view_that_was_saved_lacks_what_came_since() -> None:
    """An editor saved a version over the file that is older than the last flush: what came since is missing again."""
    records = [
        Record(1, (op("one"),)),
        Record(2, flushed=(Flush("a.md", "v1", 1),)),
        Record(3, (op("two"),)),
        Record(4, flushed=(Flush("a.md", "v2", 3),)),
        Record(5, (op("three"),)),
    ]
    assert missing(records, "v1") == ["two", "three"]
    assert missing(records, "v2") == ["three"]
    assert missing(records, "unknown") == ["three"]


def test_documents_are_recovered_apart() -> None:
    """One record's operations may be in one file already and not yet in the other."""
    records = [Record(1, (op("one"), op("other", "b.md"))), Record(2, flushed=(Flush("b.md", "v", 1),))]
    assert (missing(records, None), missing(records, None, "b.md")) == (["one"], [])
    assert documents_named(records) == {"a.md", "b.md"}


def test_backup_counts_by_its_own_version_only() -> None:
    """What the file has been flushed to since says nothing about its backup."""
    records = [
        Record(1, (op("one"),)),
        Record(2, flushed=(Flush("a.md", "v1", 1),)),
        Record(3, (op("two"),)),
        Record(4, flushed=(Flush("a.md", "v2", 3),)),
    ]
    assert held_up_to(records, "a.md", "v1", on_disk=False) == 1
    assert held_up_to(records, "a.md", None, on_disk=False) == 0
    assert held_up_to(records, "a.md", None) == 3


@given(st.integers(0, 12), st.lists(st.integers(1, 12), max_size=4), st.integers(0, 4))
def test_file_and_missing_operations_make_the_whole(count: int, flushes: list[int], done: int) -> None:
    """For every interleaving: what the file holds and what is missing are all operations, each once, in order."""
    records, written, held = [], 0, 0
    position = 0
    for number in range(1, count + 1):
        position += 1
        records.append(Record(position, (op(str(number)),)))
        if number in flushes:
            flush = Flush("a.md", f"v{number}", position)
            position += 1
            records.append(Record(position, intents=(flush,)))
            written += 1
            if written <= done:
                held = number
    rest = missing(records, f"v{held}")
    assert [str(number) for number in range(1, held + 1)] + rest == [str(n) for n in range(1, count + 1)]
