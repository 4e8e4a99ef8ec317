"""Daily notes: planned by the user's day, chosen by date, cut into pieces with their times."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.errors import Refused
from openclaw_memory.layers import notes
from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.markdown.notes import MAX_PARSED_CHARS
from openclaw_memory.storage.documents import Draft

SHANGHAI = ZoneInfo("Asia/Shanghai")
PATH = "memory/2026-05-04.md"


def document(text: str, path: str = PATH) -> MarkdownDocument:
    return notes.FORMAT.parse(path, text.encode())


def draft(text: str = "", path: str = PATH) -> Draft:
    return Draft({path: notes.FORMAT}, {path: document(text, path)})


def plan(
    draft: Draft, text: str, title: str | None = None, now: datetime = datetime(2026, 5, 4, 6, 30, tzinfo=UTC)
) -> notes.NotePlan:
    return notes.plan_note(draft, text, title, now=now, zone=SHANGHAI)


def test_a_note_goes_into_the_users_day() -> None:
    """23:30 UTC is the next morning in Shanghai (fault 13)."""
    late = datetime(2026, 5, 4, 23, 30, tzinfo=UTC)
    room = draft(path="memory/2026-05-05.md")
    done = plan(room, "up", now=late)
    assert done == notes.NotePlan("memory/2026-05-05.md#L4", changed=True)
    assert room.document("memory/2026-05-05.md").body == "## 2026-05-05\n\n### 07:30\nup\n"


def test_the_key_is_that_of_the_first_piece() -> None:
    """So that what was written can be asked for; also behind a person's front matter, and for a title alone."""
    for before, text, title in [
        ("", "one\n\n- two", None),
        ("---\na: 1\n---\n# T\n", "one", "t"),
        ("# T\n", " ", "lunch"),
    ]:
        room = draft(before)
        done = plan(room, text, title)
        found = {block.key: block for block in notes.blocks(room.document(PATH), SHANGHAI)}
        assert found[done.key].text == (text.strip().split("\n")[0] or "lunch")
        assert found[done.key].time == datetime(2026, 5, 4, 14, 30, tzinfo=SHANGHAI)


def test_the_same_note_is_known() -> None:
    room = draft()
    assert plan(room, "one", "a").changed
    again = plan(room, "one", "a")
    assert not again.changed
    assert len(room.operations) == 1


def test_what_would_not_be_read_back_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """No text is known that would not be; the check is there all the same."""
    monkeypatch.setattr(notes, "find_note", lambda *args: None)
    with pytest.raises(Refused, match="text: "):
        plan(draft(), "one")


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("memory/2026-05-04.md", date(2026, 5, 4)),
        ("memory/2026-05-04-trip.md", date(2026, 5, 4)),
        ("memory/2026/05/2026-05-04.md", date(2026, 5, 4)),
        ("2026-05-04 lunch.md", date(2026, 5, 4)),
        ("memory/2026-02-30.md", None),
        ("memory/2026-05-04.txt", None),
        ("memory/2026-05-041.md", None),
        ("memory/x-2026-05-04.md", None),
        ("memory/MEMORY.md", None),
        ("2026-05-04/x.md", None),
        ("memory/٢٠٢٦-05-04.md", None),
    ],
)
def test_the_day_is_read_from_the_name(path: str, day: date | None) -> None:
    assert notes.day_of_note(path) == day


def test_recent_notes() -> None:
    """Today and yesterday, oldest first; a day's own file before those with a slug (seed 003 section 26.3.2)."""
    paths = ["memory/2026-05-05.md", "memory/2026-05-04-b.md", "memory/2026-05-04.md", "memory/2026-05-04-a.md"]
    paths += ["memory/2026-05-03.md", "memory/2026-05-02.md", "memory/MEMORY.md", "memory/2026-05-04-.md"]
    chosen = notes.recent_notes(paths, date(2026, 5, 4), 2)
    assert chosen == [
        "memory/2026-05-03.md",
        "memory/2026-05-04.md",
        "memory/2026-05-04-.md",
        "memory/2026-05-04-a.md",
        "memory/2026-05-04-b.md",
    ]
    assert notes.recent_notes(paths, date(2026, 5, 4), 0) == []


@given(st.lists(st.dates().map(notes.note_path)), st.dates(), st.integers(0, 10**9))
def test_recent_notes_of_any_number_of_days(paths: list[str], today: date, days: int) -> None:
    """Never one of a day to come, never one that is older; ordered by day."""
    chosen = notes.recent_notes(paths, today, days)
    found = [notes.day_of_note(path) for path in chosen]
    assert all(day is not None and day <= today and (today - day).days < days for day in found)
    assert found == sorted(found, key=str)
    assert len(chosen) == sum(0 <= (today - date.fromisoformat(path[7:17])).days < days for path in paths)


def test_pieces() -> None:
    """A bullet or paragraph each, with the title as section and the time of the entry in the user's zone."""
    body = "# Mine\n\nbefore\n\n### 09:15 — trip\nfirst line\nsecond\n\n- pack\n  bag\n- go\n\n"
    body += "### 10:00 — only a title\n\n## Ideas\nx\n"
    found = notes.blocks(document(body), SHANGHAI, prefix="workspace/main/")
    assert [(block.start_line, block.end_line, block.text, block.section) for block in found] == [
        (3, 3, "before", "Mine"),
        (6, 7, "first line\nsecond", "trip"),
        (9, 10, "pack\nbag", "trip"),
        (11, 11, "go", "trip"),
        (13, 13, "only a title", "only a title"),
        (16, 16, "x", "Ideas"),
    ]
    nine, ten, end = (datetime(2026, 5, 4, *at, tzinfo=SHANGHAI) for at in [(9, 15), (10, 0), (23, 59, 59, 999_999)])
    assert [block.time for block in found] == [end, nine, nine, nine, ten, end]
    assert {block.path for block in found} == {f"workspace/main/{PATH}"}
    assert found[0].key == f"workspace/main/{PATH}#L3"
    assert {block.layer for block in found} == {"note"}
    assert {block.visibility for block in found} == {"private"}


def test_pieces_of_a_note_without_a_day_have_no_time() -> None:
    assert [block.time for block in notes.blocks(document("### 09:15\nx\n", "memory/plans.md"), SHANGHAI)] == [None]
    assert [block.time for block in notes.blocks(document("x\n", "memory/9999-12-31.md"), SHANGHAI)] == [None]


LINES = [
    "word",
    "- item",
    "  more",
    "### 09:15 — t",
    "### 10:00",
    "# h",
    "```",
    "<!--",
    "-->",
    "",
    "## i",
    "> q",
    "1. n",
    "===",
    "## 🙂",
]


@given(st.lists(st.sampled_from(LINES), max_size=14))
def test_every_word_is_in_a_piece(lines: list[str]) -> None:
    """No text of a file is beyond recall; a heading counts as the section of what stands under it."""
    body = "\n".join(lines)
    found = notes.blocks(document(body), SHANGHAI)
    covered = {number for block in found for number in range(block.start_line, block.end_line + 1)}
    for number, line in enumerate(lines, start=1):
        if line in ("word", "- item", "1. n", "> q"):
            assert number in covered, body
    assert [block.start_line for block in found] == sorted(block.start_line for block in found)


def test_a_very_long_note_is_cut_by_its_lines() -> None:
    """Parsing it would take seconds."""
    body = "### 09:15 — t\n" + "word word\n\n" * (MAX_PARSED_CHARS // 11 + 10)
    found = notes.blocks(document(body), SHANGHAI)
    assert len(found) == MAX_PARSED_CHARS // 11 + 10
    room = draft(body)
    done = plan(room, "new")
    assert room.document(PATH).body == body + "### 14:30\nnew\n"
    assert [block.text for block in notes.blocks(room.document(PATH), SHANGHAI) if block.key == done.key] == ["new"]


def test_text_of_a_note() -> None:
    assert notes.text_of(document("\r\n# a\r\nb\r\n")) == "# a\nb"


def test_an_entry_that_can_not_be_one_any_more_is_kept_as_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was acknowledged is in the file, whatever a person made of it meanwhile."""
    room = draft()
    plan(room, "one")
    monkeypatch.setattr(notes, "append_note", _refuse)
    after = notes.FORMAT.apply(document("theirs"), room.operations[0])
    assert after.body == "theirs\n\none\n"
    assert notes.FORMAT.apply(after, room.operations[0]) is after


def _refuse(*args: object, **more: object) -> str:
    raise notes.UnwritableValueError("text", "", "test")
