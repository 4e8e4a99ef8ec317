"""JSON from outside: understood, or refused by the fields' names; never an exception."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from bus import DuplicateTypeError, Event, EventBus, EventRejected, Payload, Request
from bus.wire import KEPT_TEXT, Refusal, parse


class Part(Payload):
    event_type: ClassVar[str] = "talk:part"
    is_done: bool


class Said(Payload):
    event_type: ClassVar[str] = "talk:said"
    some_text: str
    count: int = Field(ge=0)
    parts: tuple[Part, ...] = ()


class Answer(Payload):
    event_type: ClassVar[str] = "q:answer"
    number: int = 0


class Ask(Request[Answer]):
    event_type: ClassVar[str] = "q:ask"
    reply_type: ClassVar[type[Payload]] = Answer


CASES = re.findall(
    r"^## (.+?)\n```json\n(.*?)```\n(.+?)$",
    (Path(__file__).parent / "receive.md").read_text("utf-8"),
    re.MULTILINE | re.DOTALL,
)
GOOD = {"specversion": "1.0", "id": "1", "source": "cli", "type": "talk:said", "data": {"someText": "hi", "count": 3}}


@pytest.mark.parametrize(("wire", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
@pytest.mark.parametrize("as_bytes", [False, True])
async def test_case(bus, recorder, wire, expected, as_bytes):
    """The cases of receive.md."""
    rejected = recorder()
    bus.register(Said)
    bus.subscribe(EventRejected, rejected)
    event = await bus.receive(wire.encode() if as_bytes else wire)
    await bus.drain()
    if expected == "ok":
        assert isinstance(event, Event)
        assert event.data.count == 3
        assert rejected.events == []
        return
    assert event is None
    (notice,) = rejected.data
    assert ", ".join(notice.fields) == expected.replace("(none)", "")
    assert all(name in notice.error for name in notice.fields)
    assert bus.statistics().rejected == 1
    try:
        original = json.loads(wire)
    except ValueError:
        original = None
    if isinstance(original, dict) and notice.fields:
        assert notice.event == original


async def test_received_event_keeps_its_envelope(bus, recorder):
    """Id, source, time and links are those of the sender."""
    got = recorder()
    bus.subscribe(Said, got)
    wire = {**GOOD, "time": "2026-05-04T14:30:00+08:00", "correlationid": "7", "causationid": "6"}
    event = await bus.receive(wire)
    await bus.drain()
    assert got.events == [event]
    assert (event.id, event.source, event.correlation_id, event.causation_id) == ("1", "cli", "7", "6")
    assert event.to_wire()["time"] == "2026-05-04T06:30:00Z"


async def test_surrogate_is_left_to_the_payload(bus):
    """What no UTF-8 can hold is for the payload's class to judge; in the envelope it becomes U+FFFD."""
    bus.register(Said)
    wire = json.dumps({**GOOD, "id": "x\ud800", "data": {"someText": "a\ud800b\udc00", "count": 1, "\ud800": 1}})
    event = await bus.receive(wire)
    assert (event.id, event.data.some_text) == ("x\ufffd", "a\ud800b\udc00")


async def test_refusal_does_not_carry_what_is_huge(bus, recorder):
    """Long texts and lists of what was refused are cut, and say how long they were."""
    bus.register(Said)
    got = recorder()
    bus.subscribe("bus:rejected", got)
    await bus.receive(json.dumps({**GOOD, "data": {"someText": ["x" * 10_000_000, "\ud800"], "count": [1] * 10_000}}))
    await bus.drain()
    (event,) = got.events
    text = json.dumps(event.to_wire(), ensure_ascii=False)
    assert len(text.encode()) < 5_000
    assert "(10000000 characters)" in text
    assert "(10000 items)" in text


async def test_surrogate_pair_is_a_character(bus):
    """Two halves that belong together are one emoji."""
    bus.register(Said)
    wire = json.dumps({**GOOD, "data": {"someText": "\U0001f44d", "count": 1}})
    assert "\\ud83d\\udc4d" in wire
    assert (await bus.receive(wire)).data.some_text == "\U0001f44d"


@pytest.mark.parametrize(
    "wire",
    [
        b"\xff\xfe\x00broken",
        b"\x80",
        "[" * 200_000,
        '{"a":' * 200_000,
        "9" * 10_000,
        {"a": object()},
        {"a": float("nan")},
        {1: {2: {3}}},
        b"",
        "null",
    ],
    ids=lambda wire: str(wire)[:12],
)
async def test_garbage(bus, recorder, wire):
    """Rejected like anything else, quoting the beginning."""
    rejected = recorder()
    bus.subscribe("bus:*", rejected)
    assert await bus.receive(wire) is None
    await bus.drain()
    assert len(str(rejected.data[0].event)) <= KEPT_TEXT
    json.dumps(rejected.events[0].to_wire()).encode()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@settings(deadline=None)
@given(st.sampled_from([*GOOD, "time", "datacontenttype", "correlationid", "causationid"]), json_values)
def test_any_attribute_may_be_anything(name, value):
    """An attribute that is wrong is refused by its own name, or understood; the parser never raises."""
    outcome = parse({**GOOD, name: value}, lambda event_type: Said if event_type == "talk:said" else None)
    if isinstance(outcome, Refusal) and outcome.fields:
        assert all(field == name or field.startswith(f"{name}.") for field in outcome.fields)


@settings(deadline=None)
@given(st.binary() | st.text())
def test_any_text(wire):
    """Whatever the bytes, the parser does not raise."""
    assert isinstance(parse(wire, lambda event_type: None), Refusal)


async def test_reply_from_outside(bus, recorder):
    """A reply that names a waiting request by `correlationid` answers it."""
    kept = recorder()
    bus.register(Answer)
    bus.subscribe(Ask, kept, answers=True)
    import asyncio

    task = asyncio.create_task(bus.request(Ask()))
    await kept.entered.wait()
    wire = {"specversion": "1.0", "id": "x", "source": "far", "type": "q:answer", "data": {"number": 4}}
    await bus.receive({**wire, "correlationid": "nobody"})
    await bus.receive({**wire, "type": "q:ask", "data": {}, "correlationid": kept.events[0].id})
    assert not task.done()
    await bus.receive({**wire, "correlationid": kept.events[0].id})
    assert (await task).number == 4


async def test_request_from_outside(bus, recorder):
    """It is handled, and its reply is published with its id."""
    got = recorder()

    async def answer(event):
        await bus.reply(event, Answer(number=1))

    bus.subscribe(Ask, answer, answers=True)
    bus.subscribe(Answer, got)
    await bus.receive({"specversion": "1.0", "id": "far-1", "source": "far", "type": "q:ask"})
    await bus.drain()
    assert (got.events[0].correlation_id, got.events[0].causation_id) == ("far-1", "far-1")


async def test_two_classes_for_one_type(bus):
    """The bus could not tell which to build."""

    class Imposter(Payload):
        event_type: ClassVar[str] = "talk:said"

    bus.register(Said, Said)
    with pytest.raises(DuplicateTypeError, match=r"talk:said.*Said.*Imposter"):
        bus.register(Imposter)


async def test_rejection_in_handler(bus, recorder):
    """A handler that passes on bad JSON has the notice in its outbox like all it publishes."""
    rejected = recorder()

    async def passes_on(event):
        assert await bus.receive("broken") is None

    bus.subscribe(Said, passes_on)
    bus.subscribe("bus:*", rejected)
    await bus.receive(GOOD)
    await bus.drain()
    assert [notice.event for notice in rejected.data] == ["broken"]


async def test_known_types_at_construction():
    """Types may be given when the bus is made."""
    async with EventBus(payload_types=[Said]) as bus:
        assert (await bus.receive(GOOD)).data.some_text == "hi"
