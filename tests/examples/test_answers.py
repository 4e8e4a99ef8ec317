"""After the sample and a restart, memory holds the answer to every question that goes with it."""

from dataclasses import replace

import pytest

from bus import Gateway
from contracts import SearchResult
from examples.answers import Piece, answering_piece, ask, explained
from examples.dialogue import read_dialogue
from examples.replay import replay
from examples.sample import SAMPLE, read_questions
from openclaw_memory import Memory, MemoryConfig
from openclaw_memory.clock import ManualClock

MAX_TOKENS = 1_200


async def test_every_question_is_answered_after_a_restart(tmp_path):
    """Within a small budget, in both languages, from all layers."""
    dialogue = read_dialogue(SAMPLE)
    config, clock = MemoryConfig(root=tmp_path, timezone=dialogue.timezone), ManualClock(dialogue.turns[0].time)
    async with Gateway() as gateway:
        await gateway.register(Memory(config, clock=clock))
        await replay(gateway, dialogue, clock=clock, max_tokens=MAX_TOKENS)
    async with Gateway() as gateway:
        await gateway.register(Memory(config, clock=clock))
        answered = [
            await ask(gateway.bus, question, session_id="later", max_tokens=MAX_TOKENS) for question in read_questions()
        ]
    assert [given.question.text for given in answered if given.piece is None] == []
    assert all(given.context.tokens.used <= MAX_TOKENS for given in answered)
    assert {"facts", "tasks", "recalled"} <= {given.piece.part for given in answered}
    assert all(given.piece.where for given in answered)


@pytest.fixture
def question():
    """Give a question that "Go" answers."""
    return replace(read_questions()[0], text="主要用什么语言?", expect=("Go",))


def test_piece_that_says_little_else_is_preferred(context, question):
    """A fact line of the same words stands before a page that holds it too."""
    given = context(facts=("技术栈 / 主要语言: Go",), recalled=("主要语言: Go" + "x" * 500,))
    assert answering_piece(given, question).part == "facts"


def test_piece_about_something_else_is_not_preferred(context, question):
    """The text alone does not make an answer when another piece shares the question's words."""
    given = context(facts=("Go home",), recalled=("主要语言: Go",))
    assert answering_piece(given, question) == Piece("recalled", "主要语言: Go", "conversations/2026-03-02.md:12-18")


def test_nothing_answers(context, question):
    """Where no piece holds what is expected there is none."""
    assert answering_piece(context(facts=("x",), recalled=()), question) is None


def result(**changes):
    """Give a hit of the search."""
    fields = {"path": "facts/user-profile.md", "start_line": 9, "end_line": 9, "score": 1.0, "snippet": "主要语言: Go"}
    return SearchResult(**(fields | {"layer": "fact", "time": None, "steps": ("keywords 1.00",)} | changes))


def test_fact_gets_its_address_from_the_search(question):
    """A hit of the same layer that holds the answer tells file, line and score."""
    other = result(path="conversations/x.md", layer="conversation")
    piece = explained(Piece("facts", "主要语言: Go"), question, [other, result()])
    assert piece.where == "facts/user-profile.md:9"
    assert piece.steps == ("score 1.00", "keywords 1.00", "words in common: 主要 语言")


@pytest.mark.parametrize("wrong", [{"start_line": 19}, {"path": "conversations/y.md"}, {"snippet": "Rust"}])
def test_hit_elsewhere_does_not_explain_a_recalled_piece(question, wrong):
    """Another file, other lines or other words are another piece; only the words in common are told."""
    piece = Piece("recalled", "主要语言: Go", "conversations/x.md:8-18")
    right = {"path": "conversations/x.md", "start_line": 9, "layer": "conversation"}
    assert explained(piece, question, [result(**right)]).steps[0] == "score 1.00"
    assert explained(piece, question, [result(**(right | wrong))]).steps == ("words in common: 主要 语言",)
