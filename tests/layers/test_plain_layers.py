"""Notes, MEMORY.md, HISTORY.md, sessions as documents: nothing of a person's changes, nothing is there twice."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.layers import curated, history, notes, sessions
from openclaw_memory.storage.documents import Format
from openclaw_memory.storage.operations import Operation, Record, decode, encode

SHANGHAI = ZoneInfo("Asia/Shanghai")
MESSAGE = {"id": "m1", "session": "s1", "role": "user", "time": "2026-05-04T14:30:00+08:00", "content": "Go 了\nyes"}
LINE = {
    "id": "m1",
    "role": "user",
    "text": "Go 了\nyes",
    "time": "2026-05-04T14:30:00+08:00",
    "name": None,
    "calls": [],
    "call_id": None,
    "origin": None,
    "important": False,
    "visibility": None,
}
CASES: dict[str, tuple[Format, str, dict[str, Any]]] = {
    "note": (notes.FORMAT, "append", {"time": "14:30", "title": "t", "text": "Go 了\n\n- yes", "day": "2026-05-04"}),
    "memory": (curated.FORMAT, "add", {"section": "偏好", "text": "Go 了", "language": "zh", "beside": None}),
    "replace": (curated.FORMAT, "replace", {"old": "00000000", "section": "偏好", "text": "Go 了", "language": "zh"}),
    "history": (history.FORMAT, "append", {"messages": [MESSAGE]}),
    "session": (sessions.FORMAT, "append", {"messages": [LINE]}),
}
EACH = pytest.mark.parametrize("kind", CASES)
APPENDING = pytest.mark.parametrize("kind", ["note", "history", "session"])
BEFORE = st.one_of(
    st.sampled_from(
        [
            b"",
            b"# Mine\r\n\r\n- a\r\n",
            b"\xef\xbb\xbf# BOM\n- a",
            b"---\ntitle: x\n---\n# T\n",
            b"```\nopen",
            b"<!-- open",
            "## 偏好\n\n- 短\n".encode("gb18030"),
            "﻿# T\n- a\n".encode("utf-16-le"),
            b'{"role": "user", "content": "torn',
            b'{"role": "user", "content": "whole"}',
            b"[2026-05-04 10:00] x",
            b"\n\n",
        ]
    ),
    st.text(max_size=40).map(lambda text: text.encode("utf-8", "replace")),
)


def applied(kind: str, data: bytes) -> tuple[Format, Any, Any]:
    """Give the format, a document of these bytes, and that document after the operation of the kind."""
    form, name, arguments = CASES[kind]
    before = form.parse("x.md", data)
    operation = decode(encode(Record(1, (Operation("x.md", name, arguments),))))
    assert operation is not None
    return form, before, form.apply(before, operation.operations[0])


@EACH
@given(data=BEFORE)
def test_bytes_that_were_read_are_written_again(kind: str, data: bytes) -> None:
    """parse, then render: the very bytes; they name neither checksum nor version."""
    form = CASES[kind][0]
    try:
        document = form.parse("x.md", data)
    except UnreadableDocumentError:
        return
    assert form.render(document)[0] == data
    assert form.version(document) is None
    assert form.fits(document) is None


@EACH
@given(data=BEFORE)
def test_an_operation_is_applied_once_and_read_back(kind: str, data: bytes) -> None:
    """Also when it comes out of the journal, and when it is applied to the file that it was written to."""
    try:
        form, before, after = applied(kind, data)
    except UnreadableDocumentError:
        return
    _, name, arguments = CASES[kind]
    operation = Operation("x.md", name, arguments)
    assert form.apply(after, operation) is after
    written, rendered = form.render(after)
    again = form.parse("x.md", written)
    assert form.render(again)[0] == written
    assert form.apply(again, operation) is again
    assert "Go 了".encode(getattr(rendered, "encoding", "utf-8")) in written
    assert form.render(before)[0] == data
    assert form.flushed(after, rendered) == rendered


@APPENDING
@given(data=BEFORE)
def test_appending_changes_no_earlier_byte(kind: str, data: bytes) -> None:
    """But where a file in GB18030 has to become UTF-8 to hold what is added."""
    try:
        form, before, after = applied(kind, data)
    except UnreadableDocumentError:
        return
    written, rendered = form.render(after)
    if getattr(rendered, "encoding", None) == getattr(before, "encoding", None):
        assert written.startswith(data)


@EACH
@given(data=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(kind: str, data: bytes) -> None:
    """Refused with the path; what is readable of them can be salvaged, and added to."""
    form, name, arguments = CASES[kind]
    try:
        document = form.parse("x.md", data)
    except UnreadableDocumentError:
        document = form.salvage("x.md", data)
    after = form.apply(document, Operation("x.md", name, arguments))
    form.render(after)
    for blocks in blocks_of(kind, after):
        assert blocks.text
        assert 1 <= blocks.start_line <= blocks.end_line


def blocks_of(kind: str, document: Any) -> list[Any]:
    match kind:
        case "note":
            return notes.blocks(document, SHANGHAI)
        case "history":
            return [block for block in history.blocks(document, SHANGHAI) if block.text]
        case "session":
            return sessions.blocks(document)
    return curated.blocks(document)


@EACH
def test_a_file_that_is_too_large_is_left_as_it_is(kind: str) -> None:
    """50 MB and a byte: with its size and the limit."""
    form = CASES[kind][0]
    with pytest.raises(UnreadableDocumentError, match="52,428,801 bytes, at most"):
        form.parse("x.md", b"a" * 52_428_801)
