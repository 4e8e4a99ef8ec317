"""HISTORY.md as a layer: added to, never twice, every entry a piece."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from openclaw_memory.layers import history
from openclaw_memory.layers.history import HistoryDocument
from openclaw_memory.markdown.messages import Message
from openclaw_memory.storage.documents import Draft

SHANGHAI = ZoneInfo("Asia/Shanghai")
AT = datetime(2026, 5, 4, 14, 30, tzinfo=SHANGHAI)


def document(text: str) -> HistoryDocument:
    return history.FORMAT.parse(history.PATH, text.encode())


def draft(text: str = "") -> Draft:
    return Draft({history.PATH: history.FORMAT}, {history.PATH: document(text)})


def test_messages_and_results_are_added_in_order() -> None:
    """Behind whatever is there; one that is known is not written again."""
    room = draft("# History\n\n[2026-02-15 10:00] old\nmore")
    one, two = Message("m1", "s1", "user", AT, "a\nb"), Message("m2", "s1", "tool", AT, "3", "ls", visibility="group")
    assert history.plan_history(room, [one, two]) == ["memory/HISTORY.md#m1", "memory/HISTORY.md#m2"]
    text = room.document(history.PATH).text
    assert text.startswith("# History\n\n[2026-02-15 10:00] old\nmore\n[2026-05-04 14:30:00+08:00] user: a⏎b <!-- ")
    history.plan_history(room, [two, one])
    assert room.document(history.PATH).text == text
    assert len(room.operations) == 1


def test_pieces() -> None:
    """With session, speaker, visibility and lines; times without an offset are the user's."""
    room = draft("# History\n\n[2026-02-15 10:00] old\nmore")
    history.plan_history(room, [Message("m1", "s1", "tool", AT, "a\nb", "ls", visibility="group")])
    after = room.document(history.PATH)
    head, old, new = history.blocks(after, SHANGHAI, prefix="workspace/main/")
    assert (head.text, head.start_line, head.end_line) == ("# History", 1, 2)
    assert (old.text, old.start_line, old.end_line, old.visibility) == ("old\nmore", 3, 4, "private")
    assert old.time == datetime(2026, 2, 15, 10, tzinfo=SHANGHAI)
    assert (new.text, new.session, new.role, new.visibility, new.layer) == ("a\nb", "s1", "tool", "group", "history")
    assert (new.key, new.start_line, new.end_line) == ("workspace/main/memory/HISTORY.md#m1", 5, 5)
    assert history.blocks(after, SHANGHAI, since=1, prefix="workspace/main/") == [new]
    again = history.FORMAT.parse(history.PATH, after.text.encode())
    assert history.blocks(again, SHANGHAI, prefix="workspace/main/") == [head, old, new]


def test_versions_do_not_see_each_others_entries() -> None:
    """Two documents that grew from one share a table of ids; each knows only its own."""
    base = draft()
    history.plan_history(base, [Message("m1", "s1", "user", AT, "a")])
    first = base.document(history.PATH)
    for name in ("m2", "m3"):
        room = Draft({history.PATH: history.FORMAT}, {history.PATH: first})
        history.plan_history(room, [Message(name, "s1", "user", AT, name)])
        grown = room.document(history.PATH)
        assert grown.has(name)
        assert not first.has(name)
    assert not grown.has("m2")


def test_a_time_out_of_range_is_none() -> None:
    """A person may write any year; that stays in the file."""
    (block,) = history.blocks(document("[0001-01-01 00:00] x\n"), SHANGHAI)
    assert block.time is None
    (block,) = history.blocks(document("[2026-05-04 06:30:00+00:00] x\n"), SHANGHAI)
    assert block.time == datetime(2026, 5, 4, 6, 30, tzinfo=UTC)
