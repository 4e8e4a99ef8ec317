"""What the demo shows follows from what was replayed."""

import pytest

from bus import Gateway
from examples.dialogue import FactStated, first_turns, read_dialogue
from examples.replay import replay
from examples.sample import SAMPLE
from examples.scene import found_in, moments, opening, shared_words, with_fact
from openclaw_memory.clock import ManualClock

DIALOGUE = read_dialogue(SAMPLE)


@pytest.fixture
async def scenes(toy_memory, context):
    """Give the moments of the first turns."""
    dialogue = first_turns(DIALOGUE, 30)
    seen = [opening(dialogue)]

    async def watch(replayed):
        seen.extend(moments(seen[-1], replayed))

    async with Gateway() as gateway:
        await gateway.register(toy_memory(context()))
        await replay(gateway, dialogue, clock=ManualClock(dialogue.turns[0].time), watch=watch)
    return seen


def test_one_moment_a_turn(scenes):
    """Each turn is shown once, as the newest."""
    assert [scene.said[-1] for scene in scenes[1:]] == list(DIALOGUE.turns[:30])
    assert scenes[-1].played == scenes[-1].turns == 30


def test_change_of_a_fact_shows_both_values():
    """The old value stands beside the new; the same value again changes nothing."""
    facts = with_fact((), FactStated("s", "k", "TypeScript"))
    facts = with_fact(facts, FactStated("s", "other", "x"))
    changed = with_fact(facts, FactStated("s", "k", "Go"))
    assert [(fact.key, fact.value, fact.before, fact.fresh) for fact in changed] == [
        ("other", "x", None, True),
        ("k", "Go", "TypeScript", True),
    ]
    assert with_fact(changed, FactStated("s", "k", "Go")) == changed


def test_facts_are_fresh_for_one_moment(scenes):
    """What changed with the last answer is marked until the next turn."""
    assert all(fact.fresh for fact in scenes[2].facts)
    assert not any(fact.fresh for fact in scenes[3].facts)


@pytest.mark.parametrize(
    ("query", "text", "words"),
    [
        ("用户用什么语言?", "主要语言: Go", ("语言",)),
        ("caching rules", "The cache rules", ("cache", "rules")),
        ("what about DEC-0054?", "DEC-0054：按极值", ("dec-0054",)),
        ("大麦茶喝完", "以后我喝大麦茶。", ("大麦茶",)),
        ("大麦茶", "大麦和麦茶", ("大麦", "麦茶")),
        ("go", "algorithm in Go", ("go",)),
        ("我", "我们", ("我",)),
        ("🎉", "🎉", ()),
    ],
)
def test_shared_words(query, text, words):
    """As the piece writes them, longest first, without parts of longer ones."""
    assert shared_words(query, text) == words


def test_found_pieces_have_addresses(context):
    """File and line, day and score."""
    (found,) = found_in(context(), "TypeScript?")
    assert (found.where, found.day, found.words) == ("conversations/2026-03-02.md:12", "2026-03-06", ("typescript",))


def test_pieces_without_citations_are_shown_all_the_same(context):
    """A Memory may leave citations out."""
    (found,) = found_in(context(citations=()), "TypeScript?")
    assert found.where == ""
