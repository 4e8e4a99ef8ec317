"""From findings to events and suggestions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.content import CuratedContent, FactContent, NoteContent, TaskContent
from openclaw_memory.capture import Finding, Place, event_of, judge, suggestion_of


def only(message: str) -> Finding:
    (finding,) = judge(message).findings
    return finding


def test_fact() -> None:
    """“My name is” becomes a fact with section and key, in the owner's name."""
    event = event_of(only("My name is Lee Ash"), "s1")
    assert (event.type, event.session_id, event.origin) == ("fact", "s1", "owner")
    assert event.content == FactContent(section="Basics", key="name", value="Lee Ash")


def test_entry_of_memory() -> None:
    """A preference is an entry in the section of its kind."""
    assert event_of(only("我喜欢用 Valibot 验数据"), "s1").content == CuratedContent(
        text="我喜欢用 Valibot 验数据", section="偏好"
    )


def test_note_and_task() -> None:
    """What is about these days goes into the log; a reminder is a task."""
    assert event_of(only("今天的会改到四点，记一下"), "s1").content == NoteContent(text="今天的会改到四点")
    assert event_of(only("Remind me to call Bo"), "s1").content == TaskContent(title="call Bo")


def test_long_reminder_keeps_the_rest() -> None:
    """A title has a limit; nothing of the reminder is lost."""
    content = event_of(only("Remind me to " + "check the list " * 60), "s1").content
    assert len(content.title) == 500
    assert content.description.startswith("check the list")
    assert len(content.description) > 800


def test_key_that_is_none_becomes_an_entry() -> None:
    """A key that the contract refuses does not lose the fact."""
    finding = Finding("write", "explicit_request", "", "my a:b is c", Place("fact", "Basics", "a: b", "c"))
    assert event_of(finding, "s1").content == CuratedContent(text="my a:b is c")


def test_nothing_to_store() -> None:
    """What is skipped, or names nothing, is no event."""
    assert event_of(only("What time is it?"), "s1") is None
    assert event_of(only("Remember this"), "s1") is None


@pytest.mark.parametrize(
    ("message", "suggestion"),
    [
        ("我叫陆青", "基本信息/姓名: 陆青 — 要记住吗？"),
        ("I prefer short answers", "I prefer short answers — remember this?"),
        ("Maybe we should switch to Postgres", "Maybe we should switch to Postgres — are you sure? Remember this?"),
        ("记住这个", "要记住什么？"),
        ("Remember that I like tea", "Remembered: I like tea"),
        ("What time is it?", None),
    ],
)
def test_suggestion(message: str, suggestion: str | None) -> None:
    """One line in the language of the message; nothing for what is skipped."""
    assert suggestion_of(only(message)) == suggestion


@given(
    st.text(max_size=80),
    st.sampled_from(["记住：", "remember that ", "提醒我", "我叫", "My name is ", "把我的", "我的生日是"]),
)
@settings(deadline=None, max_examples=80)
def test_every_finding_is_a_valid_event(text: str, cue: str) -> None:
    """Whatever was said, the contract takes it."""
    for finding in judge(cue + text).findings:
        event = event_of(finding, "s1")
        assert (event is None) == (finding.place is None)
        assert "\n" not in (suggestion_of(finding) or "")
