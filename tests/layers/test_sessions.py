"""Sessions as a layer: added to, never twice, OpenClaw's own only read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from openclaw_memory.errors import Refused
from openclaw_memory.layers import sessions
from openclaw_memory.layers.sessions import SessionDocument
from openclaw_memory.markdown.messages import Message
from openclaw_memory.storage.documents import Draft
from openclaw_memory.transcripts.reading import read_transcript
from openclaw_memory.transcripts.values import SessionMessage, ToolCall
from tests.transcripts.support import jsonl, message

PATH = sessions.path_of("main", "agent:main:main")
AT = datetime(2026, 5, 4, 6, 30, tzinfo=UTC)


def document(data: bytes) -> SessionDocument:
    return sessions.FORMAT.parse(PATH, data)


def draft(data: bytes = b"") -> Draft:
    return Draft({PATH: sessions.FORMAT}, {PATH: document(data)})


def test_messages_calls_and_results_have_their_lines() -> None:
    """Seed 003 section 26.2.1; one that is known is not written again."""
    room = draft()
    call = SessionMessage("m2", "assistant", "", AT, calls=(ToolCall("c1", "read_file", '{"path":"x"}'),))
    result = SessionMessage("m3", "tool", "3 lines", AT, "read_file", call_id="c1")
    keys = sessions.plan_session(room, PATH, [Message("m1", "s1", "user", AT, "看"), call, result])
    assert keys == [f"{PATH}#m1", f"{PATH}#m2", f"{PATH}#m3"]
    after = room.document(PATH)
    assert after.data.decode().splitlines() == [
        '{"role":"user","content":"看","timestamp":"2026-05-04T06:30:00+00:00","id":"m1"}',
        (
            '{"role":"assistant","content":"","timestamp":"2026-05-04T06:30:00+00:00","id":"m2",'
            '"toolCalls":[{"id":"c1","name":"read_file","arguments":"{\\"path\\":\\"x\\"}"}]}'
        ),
        (
            '{"role":"tool","name":"read_file","result":"3 lines","timestamp":"2026-05-04T06:30:00+00:00","id":"m3",'
            '"toolCallId":"c1"}'
        ),
    ]
    assert sessions.messages_of(after)[1:] == (call, result)
    sessions.plan_session(room, PATH, [result])
    assert room.document(PATH) is after


def test_a_torn_last_line_stays_and_is_told() -> None:
    """What is added begins a line of its own (fault: a crash in the middle of a write)."""
    torn = jsonl({"role": "user", "content": "one"}) + b'{"role": "us'
    room = draft(torn)
    sessions.plan_session(room, PATH, [Message("m1", "s1", "user", AT, "two")])
    after = room.document(PATH)
    assert after.data.startswith(torn + b"\n{")
    assert [one.text for one in sessions.messages_of(after)] == ["one", "two"]
    assert [text.startswith(f"{PATH} line 2: ") for text in sessions.problems_of(after)] == [True]
    assert sessions.FORMAT.parse(PATH, after.data).lines == after.lines[:1] + tuple(document(after.data).lines[1:])


def test_what_is_put_behind_a_large_file() -> None:
    """The same bytes, from the last one of the file alone."""
    torn = b'{"role": "user", "content": "one"}'
    new = SessionMessage("m1", "user", "two", AT)
    later = torn + sessions.appended(torn[-1:], [new])
    assert [one.text for one in read_transcript(later).messages] == ["one", "two"]
    assert sessions.appended(b"\n", [new]) == sessions.appended(b"", [new])
    assert sessions.appended(b"x", []) == b""


OPENCLAW = jsonl(
    {"type": "session", "version": 3, "id": "abc"},
    message("1", None, "user", "old"),
    message("2", "1", "assistant", [{"type": "toolCall", "id": "c", "name": "ls", "arguments": {"path": "docs"}}]),
    message("3", "2", "toolResult", "a.md", toolCallId="c", toolName="ls"),
    {"type": "compaction", "id": "4", "parentId": "3", "summary": "they looked", "firstKeptEntryId": "4"},
    b"\xff\n",
    message("5", "4", "user", [{"type": "tool_result", "tool_use_id": "c", "content": "b.md"}]),
)


def test_openclaws_own_files_are_not_written() -> None:
    """Another writer would cut its tree off."""
    with pytest.raises(Refused, match="sessionId"):
        sessions.plan_session(draft(OPENCLAW), PATH, [Message("m1", "s1", "user", AT, "x")])


def test_pieces() -> None:
    """Everything on the branch, compacted or not, with its line; calls by what they ask for."""
    found = sessions.blocks(document(OPENCLAW))
    assert [(block.key.partition("#")[2], block.text, block.start_line) for block in found] == [
        ("1", "old", 2),
        ("2", 'ls({"path": "docs"})', 3),
        ("3", "a.md", 4),
        ("5.1", "b.md", 7),
    ]
    assert {(block.session, block.layer, block.visibility) for block in found} == {
        ("agent:main:main", "conversation", "private")
    }
    assert [one.text for one in sessions.messages_of(document(OPENCLAW))] == ["they looked", "b.md"]
    assert len(sessions.problems_of(document(OPENCLAW))) == 1


def test_who_may_see_a_line() -> None:
    """What it names counts, else what the caller knows of the session."""
    data = jsonl({"role": "user", "content": "a", "visibility": "group"}, {"role": "user", "content": "b"})
    assert [block.visibility for block in sessions.blocks(document(data))] == ["group", "private"]
    assert [block.visibility for block in sessions.blocks(document(data), visibility="shared")] == ["group", "shared"]


def test_versions_do_not_see_each_others_lines() -> None:
    """Two documents that grew from one share a table of ids; each knows only its own."""
    base = document(jsonl({"role": "user", "content": "a", "id": "m1"}))
    for name in ("m2", "m3"):
        room = Draft({PATH: sessions.FORMAT}, {PATH: base})
        sessions.plan_session(room, PATH, [Message(name, "s1", "user", AT, name)])
        grown = room.document(PATH)
        assert grown.has(name)
        assert not base.has(name)
    assert not grown.has("m2")
