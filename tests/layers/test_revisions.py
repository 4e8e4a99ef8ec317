"""The text before a change of MEMORY.md is kept, of the last changes."""

from __future__ import annotations

from datetime import UTC, datetime

from openclaw_memory.layers import curated
from openclaw_memory.layers.revisions import (
    KEPT,
    KEPT_CHARS,
    REVISIONS,
    Change,
    Line,
    plan_change,
    plan_undo,
    revisions,
)
from openclaw_memory.layers.state import CURATED, StateFormat
from openclaw_memory.markdown.curated import parse_curated, remove_entries
from openclaw_memory.storage.documents import Draft

PATH = "workspace/main/MEMORY.md"
AT = datetime(2026, 5, 4, 14, 30, tzinfo=UTC)


def draft(text: str) -> Draft:
    state = StateFormat()
    return Draft(
        {PATH: curated.FORMAT, CURATED: state, REVISIONS: state},
        {PATH: curated.FORMAT.parse(PATH, text.encode()), CURATED: state.new(CURATED), REVISIONS: state.new(REVISIONS)},
    )


def add(room: Draft, text: str) -> tuple[str, ...]:
    return plan_change(room, PATH, Change(added=(Line("S", text),)), by="test", now=AT, language="en")


def test_the_last_changes_are_kept() -> None:
    """In their order, with what was added; what changes nothing keeps nothing."""
    room = draft("")
    for number in range(KEPT + 5):
        (key,) = add(room, f"entry number {number}")
        assert key.startswith(f"{PATH}#")
    assert add(room, "entry number 3") == ()
    held = revisions(room.document(REVISIONS).values)
    assert [one.added[0].text for one in held] == [f"entry number {number}" for number in range(5, KEPT + 5)]
    assert held[0].before.count("entry number") == 5


def test_long_texts_are_kept_for_a_shorter_time() -> None:
    room = draft("x" * (KEPT_CHARS // 3) + "\n")
    for number in range(6):
        add(room, f"entry number {number}")
    held = revisions(room.document(REVISIONS).values)
    assert 1 <= len(held) <= 3


def test_what_a_person_has_put_back_is_theirs() -> None:
    """Undo does not make it an entry of memory's own, which a later run might take out."""
    room = draft("- old\n")
    (old,) = parse_curated("- old\n")
    plan_change(room, PATH, Change(removed=(old,)), by="test", now=AT, language="en")
    (revision,) = revisions(room.document(REVISIONS).values)
    theirs = draft("- old\n")
    theirs.planned[REVISIONS] = room.document(REVISIONS)
    assert plan_undo(theirs, revision, now=AT, language="en") == ((), ())
    assert old.digest not in theirs.document(CURATED).values
    assert plan_undo(room, revision, now=AT, language="en") == ((), revision.removed)
    assert old.digest in room.document(CURATED).values


def test_entries_are_taken_out_and_nothing_else() -> None:
    """Nested lines go with them; unknown digests are passed over; what stands around stays to the byte."""
    body = "# M\r\n\r\ntext\r\n\r\n- one\r\n  more of it\r\n- two\r\n\r\n- [ ] three\r\nlast"
    one, two, three = parse_curated(body)
    left = remove_entries(body, [one.digest, "00000000"], newline="\r\n")
    assert [entry.text for entry in parse_curated(left)] == [two.text, three.text]
    assert left.startswith("# M\r\n\r\ntext\r\n\r\n")
    assert left.endswith("- [ ] three\r\nlast")
    assert remove_entries(left, [one.digest], newline="\r\n") == left
