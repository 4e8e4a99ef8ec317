"""The log of a day within its note: what was read of a note is carried on, and is what reading it anew would give."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.layers import day_log, notes
from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.layers.history import arguments_of
from openclaw_memory.markdown.messages import Message
from openclaw_memory.storage.operations import Operation

PATH = "memory/2026-05-04.md"
AT = datetime(2026, 5, 4, 14, 30, tzinfo=UTC)
BEGINNINGS = st.sampled_from(
    [
        "",
        "words\n",
        "words",
        "- a\n\n\n",
        "### 09:00 — t\n- x\n",
        "```\nopen\n",
        "a\r\nb\r\n",
        "- 09:00 用户: x <!-- id=m3 -->",
    ]
)


def logged(*numbers: int) -> Operation:
    said = [Message(f"m{number}", "s1", "user", AT, f"text {number}\nof two lines") for number in numbers]
    arguments = {"messages": list(map(arguments_of, said)), "day": "2026-05-04", "language": "zh"}
    return Operation(PATH, notes.LOG, arguments)


def noted(text: str) -> Operation:
    return Operation(PATH, "append", {"time": "14:31", "title": "t", "text": text, "day": "2026-05-04"})


def anew(document: MarkdownDocument) -> MarkdownDocument:
    return notes.FORMAT.parse(PATH, document.front.text.encode())


STEPS = st.one_of(
    st.lists(st.integers(1, 6), min_size=1, max_size=3, unique=True).map(lambda some: logged(*some)),
    st.sampled_from(["- one", "two words"]).map(noted),
)


@given(beginning=BEGINNINGS, steps=st.lists(st.tuples(STEPS, st.booleans()), max_size=8))
def test_what_is_carried_on_is_what_is_there(beginning: str, steps: list[tuple[Operation, bool]]) -> None:
    """Whatever came before, also where a note is read in between, or an operation is done again."""
    document = notes.FORMAT.parse(PATH, beginning.encode())
    for step, is_read in steps:
        before = document
        if is_read:
            notes.blocks(document, UTC)
        document = notes.FORMAT.apply(document, step)
        assert document.body.startswith(before.body)
        fresh = anew(document)
        assert day_log.log_of(document) == day_log.log_of(fresh)
        assert notes.pieces(document, UTC) == notes.pieces(fresh, UTC)
        assert notes.blocks(document, UTC) == notes.blocks(fresh, UTC)
        assert notes.FORMAT.apply(document, step) is document
        assert notes.FORMAT.apply(before, step).body == document.body
        since = day_log.added_since(before, document)
        if since:
            assert day_log.blocks(before, None, UTC) == day_log.blocks(document, None, UTC)[:since]
            assert notes.pieces(before, UTC) == notes.pieces(document, UTC)
    names = [line.id for line in day_log.lines_of(document)]
    assert len(names) == len(set(names))


def test_a_draft_that_was_dropped_leaves_no_trace() -> None:
    """Two notes that go on from the same one share what was read, and each has its own lines."""
    document = notes.FORMAT.apply(notes.FORMAT.new(PATH), logged(1))
    one, other = notes.FORMAT.apply(document, logged(2, 3)), notes.FORMAT.apply(document, logged(3, 4))
    assert [line.id for line in day_log.lines_of(one)] == ["m1", "m2", "m3"]
    assert [line.id for line in day_log.lines_of(other)] == ["m1", "m3", "m4"]
    assert not day_log.log_of(document).has("m3")
    assert notes.FORMAT.apply(other, logged(2)).body.count("id=m2 ") == 1


def test_how_much_a_note_would_hold() -> None:
    """Never less than it does."""
    message = Message("m1", "s1", "tool", AT + timedelta(seconds=1), "字" * 5000, name="名" * 50, origin="untrusted")
    document = notes.FORMAT.parse(PATH, ("字" * 400_000).encode())
    guess = day_log.would_hold(document, [message])
    operation = Operation(PATH, notes.LOG, {"messages": [arguments_of(message)], "day": "2026-05-04", "language": "zh"})
    assert guess >= len(notes.FORMAT.render(notes.FORMAT.apply(document, operation))[0])
