"""Whatever a model makes of MEMORY.md: what others wrote stays, at most a quarter goes, and a change can be undone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.layers import curated
from openclaw_memory.layers.revisions import REVISIONS, plan_change, plan_undo, revisions
from openclaw_memory.layers.state import CURATED, StateFormat, plan_state
from openclaw_memory.lifecycle.consolidation.errors import UnusableAnswerError
from openclaw_memory.lifecycle.consolidation.merging import MOST_ADDED, lines_of, merged
from openclaw_memory.markdown.curated import fold, parse_curated
from openclaw_memory.storage.documents import Draft

PATH = "workspace/main/MEMORY.md"
AT = datetime(2026, 5, 4, 14, 30, tzinfo=UTC)


def draft(text: str, ours: list[str]) -> Draft:
    state = StateFormat()
    formats = {PATH: curated.FORMAT, CURATED: state, REVISIONS: state}
    planned = {
        PATH: curated.FORMAT.parse(PATH, text.encode()),
        CURATED: state.new(CURATED),
        REVISIONS: state.new(REVISIONS),
    }
    room = Draft(formats, planned)  # type: ignore[arg-type]
    plan_state(room, CURATED, dict.fromkeys(ours, AT.isoformat()))
    return room


WORDS = st.sampled_from(["tea", "boat", "hill", "cloud", "sea", "snow", "fire", "lamp", "茶", "船", "山"])
ENTRY = st.lists(WORDS, min_size=1, max_size=4).map(lambda words: f"entry about {' '.join(words)}")


@given(st.lists(ENTRY, max_size=12, unique=True), st.sets(st.integers(0, 11)), st.lists(ENTRY, max_size=12))
def test_nothing_of_others_is_lost(there: list[str], own: set[int], said: list[str]) -> None:
    text = "# M\n\nA line of my own.\n\n## S\n\n" + "".join(f"- {entry}\n" for entry in there)
    entries = parse_curated(text)
    ours = [entry.digest for place, entry in enumerate(entries) if place in own]
    seen = [entry.digest for entry in entries]
    room = draft(text, ours)
    try:
        change = merged(text, seen, ours, "".join(f"- {entry}\n" for entry in said))
    except UnusableAnswerError:
        return
    plan_change(room, PATH, change, by="test", now=AT, language="en")
    after = room.document(PATH)
    left = [fold(entry.text) for entry in curated.entries_in(after)]
    assert "A line of my own." in after.body
    assert all(fold(entry.text) in left for entry in entries if entry.digest not in ours)
    gone = [entry for entry in entries if fold(entry.text) not in left]
    assert len(gone) - len(change.reworded) <= len(entries) / 4
    assert {fold(entry) for entry in said} <= {*left, *(fold(one.text) for one, _ in change.reworded)}
    held = revisions(room.document(REVISIONS).values)
    assert bool(held) == (after.body != text)
    for revision in held:
        assert revision.before == text
        plan_undo(room, revision, now=AT, language="en")
        again = curated.entries_in(room.document(PATH))
        assert sorted(fold(entry.text) for entry in again) == sorted(fold(entry.text) for entry in entries)


def test_what_the_model_was_not_shown_it_can_not_drop() -> None:
    """An entry that was written while the model thought stays."""
    text = "- one tea\n- two boats\n- three hills\n- four clouds\n- new of ours\n"
    entries = parse_curated(text)
    seen = [entry.digest for entry in entries[:4]]
    change = merged(text, seen, [entry.digest for entry in entries], "- one tea\n- two boats\n- three hills\n")
    assert [entry.text for entry in change.removed] == ["four clouds"]


@pytest.mark.parametrize(
    ("update", "lines"),
    [
        (
            "# Memory\n\n## 偏好\n- a\n\n自由的一段\n\n## 其他\n1. b\n",
            [("偏好", "a"), ("偏好", "自由的一段"), ("其他", "b")],
        ),
        ("- a\n- A.\n", [("", "a")]),
        ("", []),
        ("<!-- x -->\n---\n> quoted\n", []),
    ],
)
def test_what_counts_as_an_entry(update: str, lines: list[tuple[str, str]]) -> None:
    assert [(line.section, line.text) for line in lines_of(update)] == lines


def test_far_too_many() -> None:
    update = "".join(f"- number {number} of something\n" for number in range(MOST_ADDED + 1))
    with pytest.raises(UnusableAnswerError, match="is the most"):
        merged("", [], [], update)
