"""Turns are paired to exchanges without loss."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from examples.dialogue import Dialogue, Turn, exchanges, first_turns

START = datetime(2026, 3, 2, tzinfo=UTC)


def turn(number, session, role):
    """Give a turn whose text is its number."""
    return Turn(session, START + timedelta(seconds=number), role, str(number))


def shape(*said):
    """Pair turns given as (session, role) and give what stands together."""
    turns = tuple(turn(number, session, role) for number, (session, role) in enumerate(said))
    return [tuple(int(part.content) for part in exchange.turns) for exchange in exchanges(turns)]


def test_question_and_answer_are_one():
    """The usual case."""
    assert shape(("s", "user"), ("s", "assistant")) == [(0, 1)]


def test_two_questions_in_a_row():
    """The first has no answer of its own."""
    assert shape(("s", "user"), ("s", "user"), ("s", "assistant")) == [(0,), (1, 2)]


def test_two_answers_in_a_row():
    """The second stands alone."""
    assert shape(("s", "user"), ("s", "assistant"), ("s", "assistant")) == [(0, 1), (2,)]


def test_answer_of_another_session_is_not_taken():
    """An open question ends with its session."""
    assert shape(("s", "user"), ("t", "assistant")) == [(0,), (1,)]


@given(st.lists(st.tuples(st.sampled_from("st"), st.sampled_from(["user", "assistant"])), max_size=20))
def test_no_turn_is_lost(said):
    """Every turn is in exactly one exchange, in order, and no exchange mixes sessions."""
    turns = tuple(turn(number, session, role) for number, (session, role) in enumerate(said))
    paired = list(exchanges(turns))
    assert tuple(part for exchange in paired for part in exchange.turns) == turns
    assert all(len({part.session for part in exchange.turns}) == 1 for exchange in paired)


def test_first_turns():
    """A limit cuts, none keeps all."""
    dialogue = Dialogue("d", "UTC", tuple(turn(number, "s", "user") for number in range(3)))
    assert len(first_turns(dialogue, 2).turns) == 2
    assert first_turns(dialogue, None) is dialogue
