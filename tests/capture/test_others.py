"""What somebody else says of themselves replaces no fact of the user's."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from openclaw_memory.capture import judge

CASES = yaml.safe_load(Path(__file__).with_name("others.yaml").read_text(encoding="utf-8"))


def writes_a_fact(message: str) -> bool:
    return any(one.place is not None and one.place.layer == "fact" for one in judge(message).of("write"))


@pytest.mark.parametrize("message", CASES["others"])
def test_it_is_no_fact_of_the_users(message: str) -> None:
    """A letter, an introduction, a role: it is asked about, or kept with the words that say whose it is."""
    assert not writes_a_fact(message)


def test_what_an_earlier_message_announces_is_not_either() -> None:
    """The introduction, the words, and the request come in three messages."""
    said = ["This is how my brother introduced himself:", "I live in Lisbon"]
    assert [one.verdict for one in judge("Remember that.", earlier=said).findings] == ["ask"]
    assert [one.verdict for one in judge("Remember that.", earlier=said[1:]).findings] == ["write"]


@pytest.mark.parametrize("message", CASES["own"])
def test_the_users_own_words_are(message: str) -> None:
    """Whatever else the message tells of others, what the user says of themselves is written as before."""
    assert writes_a_fact(message)
