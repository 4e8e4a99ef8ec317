"""Bad payloads are refused by the field's name, in words, and in few of them."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bus.payload import Payload
from contracts import EVENTS, FactContent, MemoryRead, MemoryWrite, UpdateFact
from contracts.names import suggest_key, suggest_line, suggest_session_id, suggest_topic

MODELS = {model.event_type: model for model in EVENTS}


def cases() -> list[Any]:
    """Read the cases: blocks between lines of one dot."""
    text = (Path(__file__).parent / "refusals.md").read_text(encoding="utf-8")
    blocks = [block.split("\n.\n") for block in text.removesuffix("\n.\n").split("\n\n", 1)[1].split("\n.\n\n")]
    return [pytest.param(payload, expected, id=title) for title, payload, expected in blocks]


def refusals(model: type[Payload], payload: Any) -> list[tuple[str, str]]:
    """Give field and words of each refusal."""
    with pytest.raises(ValidationError) as caught:
        model.model_validate(payload)
    return [(".".join(map(str, error["loc"])), error["msg"]) for error in caught.value.errors()]


@pytest.mark.parametrize(("given_", "expected"), cases())
def test_refusal_names_field_and_limit(given_: str, expected: str) -> None:
    """Each refused field is named as on the wire and told what is wrong; no other field is."""
    event_type, payload = given_.split("\n", 1)
    wanted = [line.split(": ", 1) for line in expected.splitlines()]
    found = dict(refusals(MODELS[event_type], json.loads(payload)))
    assert list(found) == list(dict.fromkeys(field for field, _ in wanted))
    for field, words in wanted:
        assert words in found[field]


def test_json_and_python_are_refused_alike() -> None:
    """What a field is told does not depend on whether the payload came as JSON."""
    payload = {"type": "fact", "sessionId": "a/b", "content": {"section": "a", "key": "a:b", "value": 1}}
    with pytest.raises(ValidationError) as from_json:
        MemoryWrite.model_validate_json(json.dumps(payload))
    spoken = [(".".join(map(str, error["loc"])), error["msg"]) for error in from_json.value.errors()]
    assert spoken == refusals(MemoryWrite, payload)


BIG = "x" * 10_000_000


@pytest.mark.parametrize(
    ("model", "payload", "field"),
    [
        (
            MemoryWrite,
            {"type": "conversation", "sessionId": "s", "content": {"role": "user", "content": BIG}},
            "content.content",
        ),
        (MemoryWrite, {"type": BIG, "sessionId": "s", "content": {}}, "type"),
        (
            MemoryWrite,
            {"type": "conversation", "sessionId": "s", "content": {"role": BIG, "content": ""}},
            "content.role",
        ),
        (MemoryWrite, {"type": "fact", "sessionId": "s", "content": BIG}, "content"),
        (MemoryRead, {"query": BIG, "sessionId": "s", "maxTokens": 1}, "query"),
        (MemoryRead, {"query": "", "sessionId": BIG, "maxTokens": 1}, "sessionId"),
        (MemoryRead, {"query": "", "sessionId": "s", "maxTokens": BIG}, "maxTokens"),
        (MemoryRead, {"query": "", "sessionId": "s", "maxTokens": 10**5000}, "maxTokens"),
        (MemoryRead, {"query": "", "sessionId": "s", "maxTokens": 1, "asOf": BIG}, "asOf"),
        (UpdateFact, {"section": BIG, "key": "k", "value": "v"}, "section"),
        (UpdateFact, {"section": "s", "key": BIG, "value": "v"}, "key"),
        (UpdateFact, {"section": "s", "key": "k", "value": BIG}, "value"),
        (UpdateFact, {"section": "s", "key": "k", "value": "v", "topic": BIG}, "topic"),
    ],
)
def test_ten_megabytes_are_not_echoed(model: type[Payload], payload: Any, field: str) -> None:
    """A huge value is refused in a few hundred characters."""
    [(name, words)] = refusals(model, payload)
    assert name == field
    assert len(words) < 500


def test_item_501_is_refused_before_items_are_looked_at() -> None:
    """A list over its limit costs one refusal, not one for each of its entries."""
    for content in ({"items": [0] * 501}, {"messages": [0] * 501}):
        kind = "batch" if "items" in content else "conversation"
        [(field, words)] = refusals(MemoryWrite, {"type": kind, "sessionId": "s", "content": content})
        assert field == f"content.{next(iter(content))}"
        assert "has 501" in words
        assert "1 to 500 are taken" in words


def test_batches_in_batches_do_not_exhaust_the_stack() -> None:
    """A thousand batches in one another are refused at the second."""
    payload: dict[str, Any] = {"type": "dream"}
    for _ in range(1000):
        payload = {
            "type": "batch",
            "sessionId": "s",
            "content": {"items": [{"event": "memory:write", "data": payload}]},
        }
    assert [field for field, _ in refusals(MemoryWrite, payload)] == ["content.items.0.data.type"]


@pytest.mark.parametrize("text", ["half an emoji \ud83d", "a\0b", "\r", "\u2028", ""])
def test_any_text_is_said(text: str) -> None:
    """Lone surrogates and NUL are taken in content and query; storing them is Memory's business."""
    write = MemoryWrite(type="conversation", content={"role": "user", "content": text}, session_id="s")
    assert write.model_dump(mode="json")["content"]["content"] == text
    assert MemoryRead(query=text, session_id="s", max_tokens=1).query == text
    parsed = MemoryWrite.model_validate(json.loads(json.dumps(write.model_dump(mode="json", by_alias=True))))
    assert parsed == write


@pytest.mark.parametrize("name", ["\ud83d", "a\0", "a\u2028b", "a\x1b[2Jb", "a\n"])
def test_no_name_takes_them(name: str) -> None:
    """What becomes a file's name, a heading or a line holds neither halves of characters nor controls nor line ends."""
    payload = {"section": name, "key": name, "value": "v", "topic": name, "sessionId": name}
    assert [field for field, _ in refusals(UpdateFact, payload)] == ["section", "key", "topic", "sessionId"]


@pytest.mark.parametrize(
    "topic", ["user-profile", "用户画像", "プロフィール", "사용자", "профиль_2", "二〇二六", "a" * 100, "é"]
)
def test_topics_of_any_script(topic: str) -> None:
    """Letters and digits of all scripts are letters and digits."""
    assert UpdateFact(section="C#", key="C#", value="v", topic=topic).topic == topic


@pytest.mark.parametrize(
    "session_id", ["agent:main:main", "agent:main:telegram:group:-1001", "subagent:7f", "s1", "会话-1", "a.b@c+d=e"]
)
def test_session_ids_as_they_are_met(session_id: str) -> None:
    """Ids of the real OpenClaw, ids with colons, addresses."""
    assert MemoryRead(query="", session_id=session_id, max_tokens=1).session_id == session_id


@given(st.text(max_size=120))
def test_suggestion_would_be_taken(name: str) -> None:
    """What a refusal suggests is never refused in turn."""
    topic, session, line, key = suggest_topic(name), suggest_session_id(name), suggest_line(name), suggest_key(name)
    UpdateFact(section=line or "s", key=key or "k", value="v", topic=topic, session_id=session)


@given(st.text(max_size=60))
def test_accepted_names_are_safe(name: str) -> None:
    """No accepted topic or session id leads elsewhere or is too long for a file system."""
    for field in ("topic", "session_id"):
        try:
            fact = UpdateFact(section="s", key="k", value="v", **{field: name})
        except ValidationError:
            continue
        taken = getattr(fact, field)
        assert taken == name
        assert "/" not in taken
        assert "\\" not in taken
        assert not taken.startswith(".")
        assert len(taken.encode()) <= 200


def test_python_values_need_an_offset_too() -> None:
    """A `datetime` without a zone is refused; a `date` is a due day, a `datetime` a due time."""
    assert refusals(MemoryRead, {"query": "", "sessionId": "s", "maxTokens": 1, "asOf": datetime(2026, 5, 4)})  # noqa: DTZ001
    due = [date(2026, 5, 8), datetime(2026, 5, 8, 9, tzinfo=UTC)]
    written = [
        MemoryWrite(type="task", content={"title": "t", "due": each}, session_id="s").model_dump(mode="json")
        for each in due
    ]
    assert [each["content"]["due"] for each in written] == ["2026-05-08", "2026-05-08T09:00:00+00:00"]


def test_content_as_model_or_dict_is_the_same() -> None:
    """A model of the right kind is taken as it is, one of another kind is refused."""
    fact = FactContent(section="a", key="b", value="c")
    from_dict = MemoryWrite(type="fact", content={"section": "a", "key": "b", "value": "c"}, session_id="s")
    assert MemoryWrite(type="fact", content=fact, session_id="s") == from_dict
    [(field, words)] = refusals(MemoryWrite, {"type": "task", "content": fact, "sessionId": "s"})
    assert (field, words) == ("content", "must be an object of type 'task' (TaskContent), not a FactContent")


def test_payload_is_frozen_all_the_way_down() -> None:
    """Nothing in a payload can be changed after it was published."""
    write = MemoryWrite(type="fact", content={"section": "a", "key": "b", "value": "c"}, session_id="s")
    with pytest.raises(ValidationError, match="frozen"):
        write.content.value = "d"  # type: ignore[union-attr,misc]
    assert hash(write) == hash(write.model_copy())


def test_unknown_fields_are_ignored() -> None:
    """A newer publisher may say more."""
    read = MemoryRead.model_validate({"query": "", "sessionId": "s", "maxTokens": 1, "mood": "good"})
    assert read == MemoryRead(query="", session_id="s", max_tokens=1)
