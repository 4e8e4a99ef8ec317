"""The envelope: CloudEvents 1.0, and back."""

from __future__ import annotations

import datetime
import json
from typing import ClassVar

from hypothesis import given, settings
from hypothesis import strategies as st

from bus import EventBus, Payload
from bus.events import LinkedEvent, Origin
from bus.wire import parse


class Said(Payload):
    event_type: ClassVar[str] = "talk:said"
    some_text: str = "hello"
    at: datetime.datetime | None = None


MOMENT = datetime.datetime(2026, 5, 4, 14, 30, 0, 123456, tzinfo=datetime.timezone(datetime.timedelta(hours=8)))


async def test_wire_form():
    """Every attribute, in the spelling of CloudEvents; the payload in camelCase."""
    async with EventBus("gateway", now=lambda: MOMENT) as bus:
        event = await bus.publish(Said(some_text="你好"))
    assert event.to_wire() == {
        "specversion": "1.0",
        "id": event.id,
        "source": "gateway",
        "type": "talk:said",
        "time": "2026-05-04T06:30:00.123456Z",
        "datacontenttype": "application/json",
        "data": {"someText": "你好", "at": None},
    }
    assert event.time == MOMENT
    assert event.time.tzinfo is datetime.UTC


async def test_time_of_the_clock(bus):
    """Without a clock of one's own it is the system's, aware."""
    before = datetime.datetime.now(datetime.UTC)
    event = await bus.publish(Said())
    after = datetime.datetime.now(datetime.UTC)
    assert before.replace(microsecond=0) <= event.time <= after


async def test_ids_are_unique(bus):
    """Within a bus and between buses."""
    async with EventBus("test") as other:
        events = [await one.publish(Said()) for one in (bus, other) for _ in range(50)]
    assert len({event.id for event in events}) == 100


@settings(deadline=None)
@given(
    text=st.text(st.characters(exclude_categories=["Cs"])),
    number=st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    source=st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    nanoseconds=st.integers(0, 4_000_000_000_000_000_000),
    links=st.tuples(*[st.none() | st.text(st.characters(exclude_categories=["Cs"]), min_size=1)] * 2),
    as_text=st.sampled_from([json.dumps, lambda wire: json.dumps(wire).encode(), lambda wire: wire]),
)
def test_round_trip(text, number, source, nanoseconds, links, as_text):
    """What is written is read back the same, from text, bytes and objects."""
    event = LinkedEvent(Said(some_text=text), number, Origin(source, ""), nanoseconds, *links)
    back = parse(as_text(event.to_wire()), lambda name: Said)
    assert isinstance(back, LinkedEvent)
    assert back.to_wire() == event.to_wire()
    assert (back.id, back.source, back.time) == (event.id, event.source, event.time)
    assert (back.correlation_id, back.causation_id) == (event.correlation_id, event.causation_id)
    assert back.data == event.data
