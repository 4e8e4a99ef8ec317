"""Ids become names of files, and lead nowhere else."""

from __future__ import annotations

import re
from pathlib import PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.patterns import SESSION_ID_PATTERN
from openclaw_memory.errors import Refused
from openclaw_memory.transcripts.ids import MAX_NAME_BYTES, file_name, session_of, session_path


def test_path_of_a_session() -> None:
    """Seed 003 section 26.2.1; a colon, which Windows does not take, is written as %3A."""
    assert session_path("main", "s1") == "agents/main/sessions/s1.jsonl"
    assert session_path("main", "agent:main:main") == "agents/main/sessions/agent%3Amain%3Amain.jsonl"


@pytest.mark.parametrize(
    "given_id",
    [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "a\\b",
        "/etc",
        "C:\\x",
        "a\x00b",
        "a\nb",
        "a b",
        "CON",
        "nul",
        "com1.txt",
        "LPT¹",
        "-rf",
        "~root",
        "x.",
        "a*",
        'a"b',
        "a|b",
        "a?b",
        "a<b",
        "a\u202eb",
        "a\ud800",
        "x" * (MAX_NAME_BYTES + 1),
        "语" * 67,
        "." + "x",
        ":" * 70,
    ],
)
def test_refused_by_the_name_of_the_field(given_id: str) -> None:
    """Whatever would lead elsewhere, or is no name on some system."""
    for field in ("sessionId", "agentId"):
        with pytest.raises(Refused) as refused:
            file_name(field, given_id)
        assert refused.value.field == field
    with pytest.raises(Refused, match="agentId"):
        session_path(given_id, "s1")
    with pytest.raises(Refused, match="sessionId"):
        session_path("main", given_id)


@given(st.one_of(st.from_regex(SESSION_ID_PATTERN), st.text(max_size=30), st.text("aA:%.3-", max_size=12)))
def test_a_name_is_safe_and_can_be_read_back(given_id: str) -> None:
    """One part of a path, on every system, and no two ids share a file."""
    try:
        path = session_path("main", given_id)
    except Refused:
        return
    name = path.removeprefix("agents/main/sessions/")
    assert len(name.encode()) <= 255
    assert "/" not in name
    assert not re.search(r'[\x00-\x1f<>:"\\|?*]', name)
    assert PureWindowsPath(name).name == name
    assert session_of(path) == given_id


@given(
    st.from_regex(SESSION_ID_PATTERN).filter(
        lambda given_id: not re.match(r"[-~]|(?i:con|prn|aux|nul|com|lpt)", given_id)
    )
)
def test_ids_that_the_events_take_are_names(given_id: str) -> None:
    """What an event may carry becomes a file, but for devices, leading marks, trailing dots and the length in bytes."""
    if not given_id.endswith(".") and len(given_id.encode()) + 2 * given_id.count(":") + 2 * given_id.count("%") <= 200:
        assert file_name("sessionId", given_id)
