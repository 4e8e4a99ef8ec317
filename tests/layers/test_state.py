"""State files: JSON, written as it always was."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.layers.state import (
    IDEMPOTENCY,
    StateDocument,
    StateFormat,
    indented,
    known_keys,
    plan_known_key,
)
from openclaw_memory.storage.documents import Draft
from tests.support import START

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


@given(VALUES)
def test_the_same_bytes_as_the_standard_library(value: Any) -> None:
    """Only sooner: whoever compares files, or reads them, notices nothing."""
    assert indented(value) == json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)


def test_half_of_a_character_is_written_as_it_was_read() -> None:
    """JSON can name it and UTF-8 can't hold it: a file that says it is written all the same."""
    form = StateFormat()
    read = form.parse(IDEMPOTENCY, b'{"half": "\\ud83d"}')
    written, _ = form.render(read)
    assert form.parse(IDEMPOTENCY, written).values == read.values == {"half": "\ud83d"}


@pytest.mark.parametrize(
    "strange", ["x", None, 3, {}, {"at": "soon", "digest": "d", "keys": []}, {"at": "2026-05-04T10:00:00"}, {"at": 1}]
)
def test_what_is_no_key_of_ours_costs_no_write(strange: Any) -> None:
    """Somebody put something else into the file: it is no earlier write, it stays, and old keys go as ever."""
    old = {"at": (START - timedelta(days=8)).isoformat(), "digest": "d", "keys": ["a"]}
    document = StateDocument(IDEMPOTENCY, {"strange": strange, "old": old})
    draft = Draft({IDEMPOTENCY: StateFormat()}, {IDEMPOTENCY: document})
    assert known_keys(draft, "strange", "d", START) is None
    plan_known_key(draft, "new", "d", ["b"], START)
    values = draft.document(IDEMPOTENCY).values
    assert values["strange"] == strange
    assert "old" not in values
    assert known_keys(draft, "new", "d", START) == ["b"]
