"""Front matter as memory itself writes it is read without YAML; YAML would say the same of it."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.markdown import yaml_fields

WORDS = [
    "a",
    "true",
    "Null",
    "12",
    "012",
    "1.5",
    "0x1f",
    "12:30",
    "2026-05-04T14:30:00+08:00",
    " ",
    "中文",
    "\u0660",
    "/",
    "yes",
]
MARKS = ["-", "@", ":", ": ", "#", " #", "'", '"', "[", "&", "\t", "\x85", "\u2028", "\ufeff"]
KEYS = st.sampled_from(["created", "tags", "n", "no", "_x", "x1", "true", "null", "a b", "é", "k" * 101, "k" * 2000])
PLAIN = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map("".join)
ANY = st.lists(st.sampled_from(WORDS + MARKS), max_size=4).map("".join)
FIELD = st.one_of(
    st.tuples(KEYS, st.just(": "), PLAIN).map("".join),
    st.tuples(KEYS, st.sampled_from([":", ": ", ":  "]), ANY).map("".join),
    st.sampled_from(["tags:", "sources:", "- a", "..."]),
    PLAIN.map(lambda item: f"  - {item}"),
)
SOURCES = st.lists(st.tuples(FIELD, st.sampled_from(["\n", "\n", "\r\n", "\r", ""])).map("".join), max_size=5).map(
    "".join
)


@given(SOURCES)
def test_what_is_read_without_yaml_is_what_yaml_reads(source: str) -> None:
    """Whatever may mean more to YAML is left to it, its complaints as well."""
    read, problem = yaml_fields.load(source)
    with patch.object(yaml_fields, "_plain_fields", return_value=None):
        by_yaml, complaint = yaml_fields.load(source)
    assert (repr(dict(read)), problem) == (repr(dict(by_yaml)), complaint)


@pytest.mark.parametrize(
    "source",
    [
        "created: 2026-05-04T14:30:00+08:00\nupdated: 2026-05-04T14:30:00+08:00\ntype: fact\nchecksum: 79a4\n",
        "type: conversation\nmessage_count: 12\ntags:\n  - rust\n  - 学习 笔记\n",
        "type: summary\r\ntags:\r\n",
        "",
    ],
)
def test_what_memory_writes_needs_no_yaml(source: str) -> None:
    """That is nearly all that is ever read."""
    with patch.object(yaml_fields.yaml, "load", side_effect=AssertionError):
        _, problem = yaml_fields.load(source)
    assert problem is None
