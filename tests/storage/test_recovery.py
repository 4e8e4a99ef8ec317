"""After a crash each document gets what its file lacks: nothing twice, and nothing that a person took out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.storage.operations import Flush, Operation, Record
from openclaw_memory.storage.recovery import documents_named, plan_recovery


def op(name: str, path: str = "a.md") -> Operation:
    return Operation(path, "add", {"name": name})


def names(missing: dict[str, list[tuple[int, Operation]]], path: str = "a.md") -> list[str]:
    return [operation.arguments["name"] for _, operation in missing.get(path, [])]


def test_nothing_flushed_means_everything_is_missing() -> None:
    """A file that was never written gets all operations."""
    records = [Record(1, (op("one"),)), Record(2, (op("two"),))]
    assert names(plan_recovery(records, lambda path: None)) == ["one", "two"]


def test_version_on_disk_tells_which_intent_was_carried_out() -> None:
    """An intent counts when the file names its version, although nothing says that it was done."""
    records = [
        Record(1, (op("one"),)),
        Record(2, intents=(Flush("a.md", "v1", 1),)),
        Record(3, (op("two"),)),
        Record(4, intents=(Flush("a.md", "v2", 3),)),
    ]
    assert names(plan_recovery(records, lambda path: "v1")) == ["two"]
    assert names(plan_recovery(records, lambda path: "v2")) == []
    assert names(plan_recovery(records, lambda path: "v0")) == ["one", "two"]


def test_flush_that_was_done_counts_whatever_the_file_says() -> None:
    """A person who deletes the file, or its front matter, after the flush does not get the old lines back."""
    records = [
        Record(1, (op("one"),)),
        Record(2, intents=(Flush("a.md", "v1", 1),)),
        Record(3, flushed=(Flush("a.md", "v1", 1),)),
        Record(4, (op("two"),)),
    ]
    assert names(plan_recovery(records, lambda path: None)) == ["two"]


def test_documents_are_recovered_apart() -> None:
    """One record's operations may be in one file already and not yet in the other."""
    records = [Record(1, (op("one"), op("other", "b.md"))), Record(2, flushed=(Flush("b.md", "v", 1),))]
    missing = plan_recovery(records, lambda path: None)
    assert (names(missing), names(missing, "b.md")) == (["one"], [])
    assert documents_named(records) == {"a.md", "b.md"}


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
    missing = names(plan_recovery(records, lambda path: f"v{held}"))
    assert [str(number) for number in range(1, held + 1)] + missing == [str(n) for n in range(1, count + 1)]
