"""Where settings come from, before anybody judges them."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.sources import merged, read_settings, section_of, settings_in

names = st.sampled_from(["a", "b", "c"])
settings: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.dictionaries(names, st.integers(), max_size=3),
    lambda inner: st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


@given(settings, settings, settings)
def test_later_sources_have_the_last_word(one: dict[str, Any], two: dict[str, Any], three: dict[str, Any]) -> None:
    """Key by key, however they are grouped; nothing that is given is changed."""
    before = copy.deepcopy((one, two, three))
    assert merged(one, two, three) == merged(merged(one, two), three)
    assert merged(one, {}) == merged({}, one) == one
    assert {**one, **two}.keys() == merged(one, two).keys()
    assert all(merged(one, two)[key] == value for key, value in two.items() if not isinstance(value, dict))
    assert (one, two, three) == before


def test_environment_is_nested_by_two_underscores() -> None:
    """Only what bears our name; a value beside a section of the same name gives way to it."""
    environ = {
        "OPENCLAW_MEMORY_MODE": "history",
        "OPENCLAW_MEMORY_TASKS__KEEP_COMPLETED_DAYS": "3",
        "OPENCLAW_MEMORY_SESSION__SUB_SESSION__LOAD_MEMORY": "true",
        "OPENCLAW": "x",
        "PATH": "/bin",
    }
    assert settings_in(environ) == {
        "mode": "history",
        "tasks": {"keep_completed_days": "3"},
        "session": {"sub_session": {"load_memory": "true"}},
    }


@pytest.mark.parametrize(
    ("content", "section"),
    [
        ({"memory": {"mode": "history"}, "port": 1}, {"mode": "history"}),
        ({"memory": None, "port": 1}, {}),
        ({"mode": "history"}, {"mode": "history"}),
        ({"memory": "x"}, {"memory": "x"}),
    ],
)
def test_section(content: dict[str, Any], section: dict[str, Any]) -> None:
    """That of memory where there is one, which may be all comments; else the whole file."""
    assert section_of(content) == section


@pytest.mark.parametrize(
    "data", [b"\xff\xfe", b"a: \x00", b"{" * 300, b"a: 2026-99-99", b"!!python/object:os.x {}", b"- 1"]
)
def test_what_is_no_configuration(tmp_path: Path, data: bytes) -> None:
    """Named with its file, whatever it holds."""
    from openclaw_memory.errors import ConfigError

    path = tmp_path / "config.yaml"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=r"config\.yaml"):
        read_settings(path)
