"""What a message asks to be remembered is written with it, and told in the reply (seed 002, seed 004 section 2.2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contracts import MemoryRead, MemoryWrite, MemoryWritten
from tests.support import Remembering, remembering

ASKS = "Remember that the staging server is called Ada."


async def say(it: Remembering, content: str, role: str = "user", **more: Any) -> MemoryWritten:
    said = {"role": role, "content": content}
    written = await it.ask(MemoryWrite(**{"type": "conversation", "content": said, "session_id": "s1", **more}))
    assert isinstance(written, MemoryWritten)
    assert written.success
    return written


async def remembered(it: Remembering) -> str:
    context = await it.ask(MemoryRead(query="", session_id="other", max_tokens=4_000))
    return "\n".join([*context.facts, *context.memory, *context.notes, *(task.title for task in context.tasks)])


async def test_asked_for_is_done_at_once(tmp_path: Path) -> None:
    """In the record of the message itself: a crash right after the reply leaves both, and the reply names both."""
    async with remembering(tmp_path / "a", language="en") as it:
        written = await say(it, ASKS)
        assert len(written.keys) == 2
        assert written.key.startswith("conversations/")
        [told] = written.suggestions
        assert told.startswith("Remembered: ")
        assert "Ada" in told
        crashed = it.crashed_copy(tmp_path / "b")
    async with remembering(crashed, language="en") as it:
        assert (await remembered(it)).count("Ada") == 1
        again = await say(it, ASKS)
        assert again.success
        assert (await remembered(it)).count("Ada") == 1


@pytest.mark.parametrize(
    ("more", "role"),
    [
        ({"session_kind": "group"}, "user"),
        ({"session_kind": "sub"}, "user"),
        ({"origin": "untrusted"}, "user"),
        ({"origin": "agent"}, "user"),
        ({}, "assistant"),
        ({}, "tool"),
    ],
)
async def test_only_the_owner_is_listened_to(tmp_path: Path, more: dict[str, Any], role: str) -> None:
    """Nobody else's words become memory by asking for it."""
    async with remembering(tmp_path, language="en") as it:
        written = await say(it, ASKS, role, **more)
        assert (len(written.keys), written.suggestions) == (1, ())
        assert await remembered(it) == ""


@pytest.mark.parametrize(
    ("capture", "keys", "begins"),
    [
        ({"explicit": False}, 1, None),
        ({"suggestions": False}, 2, "Remembered: "),
        ({"explicit": False, "suggestions": False}, 1, ""),
    ],
)
async def test_it_can_be_switched_off(tmp_path: Path, capture: dict[str, bool], keys: int, begins: str | None) -> None:
    """Without `explicit` it is suggested, and not said to have been remembered."""
    async with remembering(tmp_path, language="en", capture=capture) as it:
        written = await say(it, ASKS)
        assert len(written.keys) == keys
        if begins == "":
            assert written.suggestions == ()
        elif begins is None:
            assert written.suggestions[0].endswith("remember this?")
            assert await remembered(it) == ""
        else:
            assert written.suggestions[0].startswith(begins)


async def test_a_preference_is_suggested_and_small_talk_is_not(tmp_path: Path) -> None:
    """Nothing is written that was not asked for."""
    async with remembering(tmp_path, language="en") as it:
        liked = await say(it, "I prefer tabs over spaces.")
        assert (len(liked.keys), len(liked.suggestions)) == (1, 1)
        assert (await say(it, "What time is it?")).suggestions == ()
        assert await remembered(it) == ""


async def test_corrected_for_the_third_time(tmp_path: Path) -> None:
    """The earlier messages of the session count (seed 002, repeated corrections)."""
    async with remembering(tmp_path) as it:
        told = [(await say(it, text)).suggestions for text in ("简洁点", "再简洁点", "请简洁一点")]
        assert [len(suggestions) for suggestions in told] == [0, 0, 1]


async def test_what_cannot_be_written_costs_no_message(tmp_path: Path) -> None:
    """MEMORY.md is a folder: the message is kept, and what it asks for is suggested."""
    (tmp_path / "workspace/main/MEMORY.md").mkdir(parents=True)
    async with remembering(tmp_path, language="en") as it:
        written = await say(it, ASKS)
        assert len(written.keys) == 1
        assert written.suggestions[0].endswith("remember this?")


@pytest.mark.parametrize("kind", ["fact", "memory", "note"])
async def test_what_memory_supplied_is_not_stored_again(tmp_path: Path, kind: str) -> None:
    """Fault 17: the Brain gives memory's own words back as the user's next message; nothing new was said in it."""
    contents = {
        "fact": {"section": "Habits", "key": "Coffee", "value": "Remember that I drink it black"},
        "memory": {"text": "Remember that I drink coffee black."},
        "note": {"text": "Remember that I drink coffee black."},
    }
    async with remembering(tmp_path, language="en") as it:
        await it.ask(MemoryWrite(type=kind, content=contents[kind], session_id="s1"))
        context = await it.ask(MemoryRead(query="coffee", session_id="s1", max_tokens=2_000))
        supplied = "\n".join([*context.facts, *context.memory, *context.notes])
        assert "black" in supplied
        written = await say(it, supplied)
        assert [key for key in written.keys if not key.startswith("conversations/")] == []
        assert not any(told.startswith("Remembered") for told in written.suggestions)
        # Another session was not given it, and its user means it.
        elsewhere = await say(it, "Remember that I drink coffee black.", session_id="s2")
        assert any(told.startswith("Remembered") for told in elsewhere.suggestions)


async def test_asking_again_in_the_same_words_is_no_echo(tmp_path: Path) -> None:
    """What people said comes back in a context as well; who asks once more for the same means it."""
    async with remembering(tmp_path, language="en") as it:
        await say(it, ASKS, role="assistant")
        await it.ask(MemoryRead(query="staging server", session_id="s1", max_tokens=2_000))
        written = await say(it, ASKS)
        assert any(told.startswith("Remembered") for told in written.suggestions)
