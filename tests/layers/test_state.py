"""State files: JSON, written as it always was."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.layers.state import indented

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


@given(VALUES)
def test_the_same_bytes_as_the_standard_library(value: Any) -> None:
    """Only sooner: whoever compares files, or reads them, notices nothing."""
    assert indented(value) == json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)
