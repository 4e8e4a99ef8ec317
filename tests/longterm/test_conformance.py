"""Every storage of long-term memory does the same."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import anyio
import pytest

from openclaw_memory.longterm import HistoryItem, LongTermStore, Match

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)

TEXTS = [
    "plain",
    "two\nlines\r\nand \\ a ⏎",
    "100% _sure_ 'quoted' \"so\" -- ; DROP TABLE x",
    "👩‍👩‍👧 用户改用 Go 了",
    "[2026-05-04 12:00] like a header",
    "<!-- id=x -->",
    " padded ",
]


async def test_empty(store: LongTermStore) -> None:
    """Nothing was written yet."""
    assert (await store.read(), await store.history(), await store.search("x")) == ("", [], [])


@pytest.mark.parametrize("text", [*TEXTS, "", "x" * 100_000])
async def test_memory_is_what_was_written_last(store: LongTermStore, text: str) -> None:
    """Whole, exactly; what was before is gone from it."""
    await store.replace("before")
    await store.replace(text)
    assert await store.read() == text


async def test_history_grows(store: LongTermStore) -> None:
    """In the order of writing, each exactly as it was written, with its time."""
    for number, text in enumerate(TEXTS):
        await store.append(text, NOON + timedelta(minutes=number))
    expected = [HistoryItem(NOON + timedelta(minutes=number), text) for number, text in enumerate(TEXTS)]
    assert await store.history() == expected
    assert await store.history(2) == expected[-2:]


async def test_search(store: LongTermStore) -> None:
    """All words, any case, any order; lines first, then the newest entries; marks of SQL are letters."""
    await store.replace("# Memory\n\n- Likes GREEN tea\n- Lives in Uppsala\n")
    await store.append("bought green tea", NOON)
    await store.append("green paint, 100% tea-free", NOON + timedelta(hours=1))
    assert await store.search("tea green") == [
        Match("memory", "- Likes GREEN tea"),
        Match("history", "green paint, 100% tea-free", NOON + timedelta(hours=1)),
        Match("history", "bought green tea", NOON),
    ]
    assert await store.search("tea green", 1) == [Match("memory", "- Likes GREEN tea")]
    assert [match.text for match in await store.search("100% tea")] == ["green paint, 100% tea-free"]
    assert await store.search("1_0%") == []
    assert await store.search("\\") == []
    assert await store.search(" \n") == []


async def test_characters_that_nothing_can_hold(store: LongTermStore) -> None:
    """NUL and half a pair become U+FFFD."""
    await store.replace("a\x00b")
    await store.append("c\ud800d", NOON)
    assert await store.read() == "a\ufffdb"
    assert [item.text for item in await store.history()] == ["c\ufffdd"]


@pytest.mark.parametrize(("text", "time"), [("", NOON), (" \n", NOON), ("x", datetime(2026, 5, 4, 12))])  # noqa: DTZ001
async def test_what_is_no_entry_is_refused(store: LongTermStore, text: str, time: datetime) -> None:
    """By name; nothing is added."""
    with pytest.raises(ValueError, match=r"text: |time: "):
        await store.append(text, time)
    assert await store.history() == []


@pytest.mark.parametrize("most", [0, -1, 1_001])
async def test_limits(store: LongTermStore, most: int) -> None:
    with pytest.raises(ValueError, match="1 to 1,000"):
        await store.search("x", most)


async def test_many_at_once(store: LongTermStore) -> None:
    """Nothing is lost, nothing is there twice."""
    async with anyio.create_task_group() as group:
        for number in range(30):
            group.start_soon(store.append, f"entry {number}", NOON)
    assert sorted(item.text for item in await store.history()) == sorted(f"entry {number}" for number in range(30))


async def test_offset_is_kept(store: LongTermStore) -> None:
    """A time is the same instant again, and told in the same offset."""
    time = datetime.fromisoformat("2026-05-04T23:30:00.250000+08:00")
    await store.append("late", time)
    (item,) = await store.history()
    assert item.time.isoformat() == time.isoformat()
