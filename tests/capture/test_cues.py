"""The quick look at a message never hides a finding."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory import cues
from openclaw_memory.capture import judge
from openclaw_memory.cues import may_ask

HERE = Path(__file__).parent


def labelled() -> list[Any]:
    entries = []
    for name in ("sentences.yaml", "heldout.yaml"):
        for verdict, by_language in yaml.safe_load((HERE / name).read_text()).items():
            for sentences in by_language.values():
                entries += [(verdict, entry if isinstance(entry, dict) else {"say": entry}) for entry in sentences]
    return entries


def test_whatever_has_a_finding_has_a_cue() -> None:
    """Of every labelled sentence: what a careful person would keep, and what the judge would."""
    missed = []
    for verdict, entry in labelled():
        context = {name: entry[name] for name in ("earlier", "supplied", "known") if name in entry}
        found = {finding.verdict for finding in judge(entry["say"], **context).findings} - {"skip"}
        if (found or verdict in ("write", "propose", "ask")) and not may_ask(entry["say"]):
            missed.append(entry["say"])
    assert missed == []


@pytest.mark.parametrize("message", ["the build is green", "what time is it?", "今天下雨了", "ok", ""])
def test_small_talk_has_none(message: str) -> None:
    """Which is what the look is for."""
    assert not may_ask(message)


PARTS = [*sorted(cues._WORDS), "以后", "从现在", "今天", *"iIｉİKſ é\ud800_1.'，我\u200b"]


@given(st.lists(st.sampled_from(PARTS) | st.text(max_size=3)).map("".join))
def test_words_are_told_as_a_look_at_each_would(message: str) -> None:
    """All of them in one go; a word is a run of small letters, whatever stands beside it."""
    plain = unicodedata.normalize("NFKC", message).lower()
    words = re.findall("[a-z]+", plain)
    assert may_ask(message) == (re.search(cues._CHINESE, plain) is not None or not cues._WORDS.isdisjoint(words))
