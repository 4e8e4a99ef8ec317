"""Ids of messages: ULIDs, which sort by time and then by the order of making."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.ids import MessageIds

ALPHABET = set("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
# Strategies take naive bounds.
TIMES = st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(9999, 12, 30))  # noqa: DTZ001


def stamp_of(id_: str) -> int:
    value = 0
    for char in id_[:10]:
        value = value * 32 + "0123456789ABCDEFGHJKMNPQRSTVWXYZ".index(char)
    return value


def number_of(id_: str) -> int:
    value = 0
    for char in id_:
        value = value * 32 + "0123456789ABCDEFGHJKMNPQRSTVWXYZ".index(char)
    return value


@given(TIMES, st.integers(min_value=-720, max_value=720))
def test_an_id_tells_its_time(naive: datetime, minutes: int) -> None:
    """In milliseconds since 1970, whatever the offset; 26 characters of Crockford's alphabet."""
    time = naive.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    id_ = MessageIds()(time)
    assert len(id_) == 26
    assert set(id_) <= ALPHABET
    assert stamp_of(id_) == max(0, int(time.timestamp() * 1000))


@given(st.lists(st.integers(min_value=0, max_value=3), max_size=60))
def test_ids_of_one_maker_sort_as_they_were_made(steps: list[int]) -> None:
    """Also within a millisecond."""
    make, now, made = MessageIds(), datetime(2026, 5, 4, tzinfo=UTC), []
    for step in steps:
        now += timedelta(milliseconds=step)
        made.append(make(now))
    assert made == sorted(set(made))


def test_a_burst_within_a_millisecond() -> None:
    """Counting on carries over all characters that it has to."""
    make, now = MessageIds(), datetime(2026, 5, 4, tzinfo=UTC)
    made = [make(now) for _ in range(3_000)]
    assert made == sorted(set(made))
    assert {stamp_of(one) for one in made} == {int(now.timestamp() * 1000)}
    assert [number_of(one) - number_of(made[0]) for one in made] == list(range(3_000))


def test_messages_older_than_1970_have_ids() -> None:
    """They count as said in 1970, and are told apart all the same."""
    make, old = MessageIds(), datetime(1900, 1, 1, tzinfo=UTC)
    ids = {make(old) for _ in range(100)}
    assert len(ids) == 100
    assert {stamp_of(one) for one in ids} == {0}


def test_makers_do_not_agree() -> None:
    """Two processes that make ids in the same millisecond make different ones."""
    now = datetime(2026, 5, 4, tzinfo=UTC)
    one, other = MessageIds(), MessageIds()
    assert not {one(now) for _ in range(200)} & {other(now) for _ in range(200)}
