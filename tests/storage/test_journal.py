"""What is settled is read again; what failed does not come back; one sync serves everybody who waits."""

from __future__ import annotations

import errno
import logging
import queue
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from openclaw_memory.storage.files import LocalFiles, OpenFile
from openclaw_memory.storage.journal import Journal, SyncMode, read_journal
from openclaw_memory.storage.operations import Flush, Operation, Record, decode
from tests.support import FaultyFiles

Settled = queue.SimpleQueue[tuple[list[int], OSError | None]]


def record(position: int) -> Record:
    return Record(position, (Operation("facts/a.md", "set", {"n": position, "text": "狗\n" * position}),))


def started(folder: Path, files: LocalFiles, kept: Sequence[Record] = ()) -> tuple[Journal, Settled]:
    settled: Settled = queue.SimpleQueue()
    position = max((record.position for record in kept), default=0)
    journal = Journal(folder, files, position, lambda positions, error: settled.put((list(positions), error)))
    assert journal.start(kept) is None
    return journal, settled


def positions(folder: Path) -> list[int]:
    return [record.position for record in read_journal(folder, LocalFiles()).records]


def test_settled_records_are_read_again(tmp_path: Path) -> None:
    """Records come back in the order in which they were submitted."""
    journal, settled = started(tmp_path, LocalFiles())
    for position in range(1, 21):
        journal.submit(record(position))
    journal.close()
    told = []
    while not settled.empty():
        told += settled.get()[0]
    assert told == positions(tmp_path) == list(range(1, 21))
    assert read_journal(tmp_path, LocalFiles()).records[6] == record(7)


def test_cut_at_every_byte_leaves_whole_records(tmp_path: Path) -> None:
    """Wherever a crash cuts the file, what was complete before the cut is there and nothing else is."""
    journal, _ = started(tmp_path, LocalFiles())
    for position in range(1, 5):
        journal.submit(record(position))
    journal.close()
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        contents = read_journal(tmp_path, LocalFiles())
        complete = max(0, whole[:length].count(b"\n") - 1)
        assert [record.position for record in contents.records] == list(range(1, complete + 1))
        assert contents.damaged == 0


def test_damaged_line_in_the_middle_is_counted_and_left_out(tmp_path: Path) -> None:
    """Damage that is no torn end is told, and costs only its own record."""
    journal, _ = started(tmp_path, LocalFiles())
    for position in range(1, 5):
        journal.submit(record(position))
    journal.close()
    (path,) = tmp_path.iterdir()
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b"facts", b"fakts")
    path.write_bytes(b"".join(lines))
    contents = read_journal(tmp_path, LocalFiles())
    assert ([record.position for record in contents.records], contents.damaged) == ([1, 3, 4], 1)


def test_unfinished_new_file_is_ignored(tmp_path: Path) -> None:
    """A crash while a journal is begun anew leaves the one before it in force."""
    journal, _ = started(tmp_path, LocalFiles())
    journal.submit(record(1))
    journal.submit(record(2))
    journal.close()
    old = next(tmp_path.iterdir())
    kept = old.read_bytes()
    again, _ = started(tmp_path, LocalFiles(), [record(1), record(2)])
    again.close()
    new = next(tmp_path.iterdir())
    begun = new.read_bytes()
    assert new != old
    for length in range(len(begun)):
        old.write_bytes(kept)
        new.write_bytes(begun[:length])
        assert positions(tmp_path) == [1, 2]


def test_damaged_beginning_does_not_make_the_rest_vanish(tmp_path: Path) -> None:
    """Without any whole file the lines that can be read count, and the damage is told."""
    journal, _ = started(tmp_path, LocalFiles())
    journal.submit(record(1))
    journal.submit(record(2))
    journal.close()
    (log,) = tmp_path.iterdir()
    log.write_bytes(b"0" * 9 + log.read_bytes()[9:])
    contents = read_journal(tmp_path, LocalFiles())
    assert ([found.position for found in contents.records], contents.position, contents.damaged) == ([1, 2], 2, 1)


def test_one_sync_settles_everybody_who_waits(tmp_path: Path) -> None:
    """Records that arrive during a sync share the next one (group commit)."""
    syncing, go_on = threading.Event(), threading.Event()

    def hold_first_sync(operation: str, path: Path) -> None:
        if operation == "sync" and len(syncs()) == 2:
            syncing.set()
            assert go_on.wait(30)

    def syncs() -> list[tuple[str, str]]:
        return [call for call in files.calls if call[0] == "sync"]

    files = FaultyFiles(hold_first_sync)
    journal, settled = started(tmp_path, files)
    journal.submit(record(1))
    assert syncing.wait(30)
    for position in range(2, 102):
        journal.submit(record(position))
    go_on.set()
    journal.close()
    assert settled.get()[0] == [1]
    assert settled.get()[0] == list(range(2, 102))
    assert len(syncs()) == 3


@pytest.mark.parametrize("operation", ["append", "sync"])
def test_failed_record_does_not_come_back(tmp_path: Path, operation: str) -> None:
    """A record that was reported as failed is gone, also when its bytes had reached the file; earlier ones stay."""
    files = FaultyFiles()
    journal, settled = started(tmp_path, files)
    journal.submit(record(1))
    assert settled.get() == ([1], None)
    files.fault = lambda name, path: errno.EIO if name == operation else None
    journal.submit(record(2))
    failed, error = settled.get()
    assert failed == [2]
    assert error is not None
    assert error.errno == errno.EIO
    files.fault = lambda name, path: None
    # Until the owner has undone what was planned on it, everything else fails with it.
    journal.submit(record(3))
    assert settled.get() == ([3], error)
    journal.resume(3)
    journal.submit(record(4))
    assert settled.get() == ([4], None)
    journal.close()
    assert positions(tmp_path) == [1, 4]


def test_what_was_undone_is_not_written_later(tmp_path: Path) -> None:
    """A record that waited behind a failure was reported as failed; after `resume` it is not written after all."""
    syncing, go_on = threading.Event(), threading.Event()

    def fail_second_sync(operation: str, path: Path) -> int | None:
        if operation != "sync" or [call for call, _ in files.calls].count("sync") != 2:
            return None
        syncing.set()
        assert go_on.wait(30)
        return errno.EIO

    files = FaultyFiles(fail_second_sync)
    journal, settled = started(tmp_path, files)
    journal.submit(record(1))
    assert syncing.wait(30)
    journal.submit(record(2))
    # The owner undoes everything up to 2 before the thread looks again.
    journal.resume(2)
    go_on.set()
    assert settled.get()[0] == [1]
    journal.resume(2)
    journal.submit(record(3))
    assert settled.get() == ([3], None)
    journal.close()
    assert positions(tmp_path) == [3]


def test_removed_journal_is_begun_anew_before_anything_is_acknowledged(tmp_path: Path) -> None:
    """Somebody deletes the file, or its folder, while it is written: no acknowledged record is lost with it."""
    folder = tmp_path / "journal"
    folder.mkdir()
    journal, settled = started(folder, LocalFiles())
    journal.submit(record(1))
    assert settled.get() == ([1], None)
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    journal.submit(record(2))
    assert settled.get() == ([2], None)
    assert positions(folder) == [1, 2]
    journal.submit(record(3))
    journal.close()
    assert positions(folder) == [1, 2, 3]


def test_shortened_journal_keeps_what_is_still_needed(tmp_path: Path) -> None:
    """After `shorten` only later records are read, and the position goes on."""
    journal, _ = started(tmp_path, LocalFiles())
    for position in range(1, 6):
        journal.submit(record(position))
    journal.shorten(3)
    journal.close()
    assert positions(tmp_path) == [4, 5]
    again, _ = started(tmp_path, LocalFiles(), read_journal(tmp_path, LocalFiles()).records)
    again.shorten(5)
    again.close()
    contents = read_journal(tmp_path, LocalFiles())
    assert (contents.records, contents.position) == ((), 5)


def test_records_that_are_needed_once_more_stay(tmp_path: Path) -> None:
    """Let go of and taken up again before the thread looks: they are there, at their old places."""
    syncing, go_on = threading.Event(), threading.Event()

    def hold_third_sync(operation: str, path: Path) -> None:
        if operation == "sync" and [call for call, _ in files.calls].count("sync") == 3:
            syncing.set()
            assert go_on.wait(30)

    files = FaultyFiles(hold_third_sync)
    journal, settled = started(tmp_path, files)
    journal.submit(record(1))
    assert settled.get()[0] == [1]
    journal.submit(record(2))
    assert syncing.wait(30)
    journal.shorten(2)
    journal.keep_again([record(1)])
    go_on.set()
    journal.close()
    assert positions(tmp_path) == [1]
    again, _ = started(tmp_path, LocalFiles(), read_journal(tmp_path, LocalFiles()).records)
    again.keep_again([record(1)])
    again.submit(record(3))
    again.close()
    assert positions(tmp_path) == [1, 3]


def test_start_on_a_full_disk_serves_later(tmp_path: Path) -> None:
    """A journal that could not be begun says so, and begins with the first record that finds room."""
    files = FaultyFiles(lambda operation, path: errno.ENOSPC if operation == "sync" else None)
    settled: Settled = queue.SimpleQueue()
    journal = Journal(tmp_path, files, 0, lambda positions, error: settled.put((list(positions), error)))
    problem = journal.start([])
    assert problem is not None
    files.fault = lambda operation, path: None
    journal.submit(record(1))
    assert settled.get() == ([1], None)
    journal.close()
    assert positions(tmp_path) == [1]


@pytest.mark.parametrize(("mode", "syncs"), [("always", 3), ("interval", 1), ("never", 1)])
def test_modes_sync_as_often_as_they_say(tmp_path: Path, mode: SyncMode, syncs: int) -> None:
    """A record of a flush, and closing, sync whatever the mode; then everything is on the disk."""
    files, settled = FaultyFiles(), queue.SimpleQueue[tuple[list[int], OSError | None]]()
    journal = Journal(tmp_path, files, 0, lambda positions, error: settled.put((list(positions), error)), mode)
    assert journal.start([]) is None
    for position in (1, 2):
        journal.submit(record(position))
        assert settled.get() == ([position], None)

    def count() -> int:
        return [call for call, _ in files.calls].count("sync")

    assert count() == syncs
    journal.submit(Record(3, intents=(Flush("facts/a.md", "v", 2),)))
    assert settled.get() == ([3], None)
    assert count() == syncs + 1
    journal.submit(record(4))
    assert settled.get() == ([4], None)
    journal.close()
    assert count() == syncs + 2
    assert positions(tmp_path) == [1, 2, 3, 4]


def test_lines_of_a_journal_are_readable(tmp_path: Path) -> None:
    """A person can read the journal: one JSON object a line, after its checksum."""
    journal, _ = started(tmp_path, LocalFiles())
    journal.submit(record(1))
    journal.close()
    begin, line = next(tmp_path.iterdir()).read_bytes().splitlines(keepends=True)
    assert decode(begin) == Record(0, keeps=0)
    assert "狗".encode() in line


def test_a_file_that_can_not_be_closed_stops_nothing(tmp_path: Path) -> None:
    """Its bytes were synced, or are written off: who waits is told what became of them, and the next file is begun."""
    fails_to_sync, closings = False, 0

    class Closing(FaultyFiles):
        def open_append(self, path: Path) -> OpenFile:
            file = super().open_append(path)
            close = file.close

            def fails() -> None:
                nonlocal closings
                closings += 1
                close()
                raise OSError(errno.EIO, "at the close")

            file.close = fails  # type: ignore[method-assign]
            return file

    def fault(operation: str, path: Path) -> int | None:
        return errno.EIO if fails_to_sync and operation == "sync" else None

    journal, settled = started(tmp_path, Closing(fault))
    journal.submit(record(1))
    assert settled.get(timeout=30) == ([1], None)
    fails_to_sync = True
    journal.submit(record(2))
    told, error = settled.get(timeout=30)
    assert (told, isinstance(error, OSError)) == ([2], True)
    fails_to_sync = False
    journal.resume(2)
    for position in (3, 4):
        journal.submit(record(position))
        assert settled.get(timeout=30) == ([position], None)
    journal.shorten(1)
    journal.submit(record(5))
    assert settled.get(timeout=30) == ([5], None)
    journal.close()
    assert positions(tmp_path) == [3, 4, 5]
    assert closings > 2


def test_a_late_sync_that_nobody_thought_of_is_told_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `interval` the thread does not turn round and round over it: it is told, and tried again some time later."""
    monkeypatch.setattr("openclaw_memory.storage.journal.SYNC_INTERVAL_SECONDS", 0.02)
    wrong = threading.Event()

    def happens(operation: str, path: Path) -> None:
        if operation == "sync" and wrong.is_set():
            wrong.clear()
            raise MemoryError

    settled = queue.SimpleQueue[tuple[list[int], Exception | None]]()
    journal = Journal(
        tmp_path, FaultyFiles(happens), 0, lambda positions, error: settled.put((list(positions), error)), "interval"
    )
    assert journal.start([]) is None
    journal.submit(record(1))
    assert settled.get(timeout=30) == ([1], None)
    wrong.set()
    positions_told, error = settled.get(timeout=30)
    assert (positions_told, type(error)) == ([], MemoryError)
    assert settled.get(timeout=30) == ([], None)
    journal.close()
    assert positions(tmp_path) == [1]


@pytest.mark.parametrize("where", ["guard", "append", "sync"])
def test_whatever_happens_in_the_thread_is_told(tmp_path: Path, where: str, caplog: pytest.LogCaptureFixture) -> None:
    """An error that nobody thought of fails what waits, once; nobody waits for ever, and the next record is written."""
    wrong = [where]

    def happens(operation: str, path: Path | None = None) -> None:
        if wrong == [operation] and settled.qsize() == 0 and first_is_told:
            wrong.clear()
            raise ZeroDivisionError("nobody thought of this")

    first_is_told = False
    settled = queue.SimpleQueue[tuple[list[int], Exception | None]]()
    journal = Journal(
        tmp_path,
        FaultyFiles(happens),
        0,
        lambda positions, error: settled.put((list(positions), error)),
        guard=lambda: happens("guard"),
    )
    assert journal.start([]) is None
    journal.submit(record(1))
    assert settled.get(timeout=30) == ([1], None)
    first_is_told = True
    with caplog.at_level(logging.CRITICAL, "openclaw_memory"):
        journal.submit(record(2))
        told, error = settled.get(timeout=30)
    assert told == [2]
    assert isinstance(error, ZeroDivisionError)
    journal.resume(2)
    journal.submit(record(3))
    assert settled.get(timeout=30) == ([3], None)
    journal.close()
    assert positions(tmp_path) == [1, 3]


def test_a_change_that_fails_leaves_the_journal_as_it_is(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Who asked for it is told, and the thread goes on."""
    journal, settled = started(tmp_path, LocalFiles())
    journal.submit(record(1))
    assert settled.get() == ([1], None)
    told = queue.SimpleQueue[Exception | None]()

    def fails(line: bytes) -> bytes | None:
        raise ZeroDivisionError("nobody thought of this")

    with caplog.at_level(logging.CRITICAL, "openclaw_memory"):
        journal.rewrite(fails, told.put)
        assert isinstance(told.get(timeout=30), ZeroDivisionError)
    journal.submit(record(2))
    assert settled.get(timeout=30) == ([2], None)
    journal.close()
    assert positions(tmp_path) == [1, 2]


def test_what_is_mostly_needed_is_not_written_anew(tmp_path: Path) -> None:
    """Where less than half may go the file stays; it is begun anew when more may, or when that is asked for."""
    journal, settled = started(tmp_path, LocalFiles())

    def submit(*several: int) -> None:
        for position in several:
            journal.submit(record(position))
            assert settled.get() == ([position], None)

    submit(*range(1, 11))
    (before,) = tmp_path.iterdir()
    journal.shorten(4, if_worth_it=True)
    # The thread may take the first of two together with the wish; then the wish is done before the second.
    submit(11, 12)
    assert positions(tmp_path) == list(range(1, 13))
    assert journal.first == 0
    journal.shorten(10, if_worth_it=True)
    submit(13, 14)
    assert positions(tmp_path) == [11, 12, 13, 14]
    assert journal.first == 10
    journal.shorten(12)
    journal.close()
    assert positions(tmp_path) == [13, 14]
    assert not before.exists()
