"""A look for cues never hides what a pattern matches, and sentences end where they ended."""

from __future__ import annotations

import re
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.capture import (
    corrections,
    doubts,
    reading,
    requests_en,
    requests_zh,
    statements_en,
    statements_zh,
)
from openclaw_memory.capture.cued import Cued, cued, small
from openclaw_memory.capture.judge import judge, may_find

ANYTHING = "\0"
"""What a pattern leaves open."""
ALL = [
    *(
        value
        for module in (corrections, doubts, requests_en, requests_zh)
        for value in vars(module).values()
        if isinstance(value, Cued)
    ),
    *(kind.sound for kind in corrections._KINDS),
    *(pattern for _, pattern in (*statements_en.RULES, *statements_zh.RULES)),
]


def uncued(pattern: Cued) -> set[str]:
    """Give the ends of texts that a pattern matches without holding a cue, as its parse tree tells.

    Of a text only that end is kept with which a cue may begin.
    """
    begun = {cue[:length] for cue in pattern.cues for length in range(len(cue))}

    def joined(before: set[str], after: set[str]) -> set[str]:
        texts = {text + more for text in before for more in after}
        return {end_of(text) for text in texts if not any(cue in text for cue in pattern.cues)}

    def end_of(text: str) -> str:
        return next(text[at:] for at in range(len(text) + 1) if text[at:] in begun)

    def sequence(nodes: Any, before: set[str]) -> set[str]:
        for kind, value in nodes:
            before = node(kind, value, before)
        return before

    def node(kind: Any, value: Any, before: set[str]) -> set[str]:
        if kind is kinds.LITERAL:
            return joined(before, {chr(value).lower()})
        if kind is kinds.IN:
            literals = all(inner is kinds.LITERAL for inner, _ in value)
            return joined(before, {chr(code).lower() for _, code in value} if literals else {ANYTHING})
        if kind is kinds.SUBPATTERN:
            return sequence(value[3], before)
        if kind is kinds.ATOMIC_GROUP:
            return sequence(value, before)
        if kind is kinds.BRANCH:
            return set().union(*(sequence(nodes, before) for nodes in value[1]))
        if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
            least, most, nodes = value
            once = sequence(nodes, before)
            more = joined(once, {"", ANYTHING}) if most > 1 else once
            return more if least else before | more
        if kind is kinds.ASSERT and value[0] < 0 and before == {""}:
            return sequence(value[1], before)
        if kind in (kinds.AT, kinds.ASSERT, kinds.ASSERT_NOT):
            return before
        return joined(before, {ANYTHING})

    return sequence(parser.parse(pattern.pattern.pattern, pattern.pattern.flags), {""})


@pytest.mark.parametrize("pattern", ALL, ids=lambda pattern: "|".join(pattern.cues)[:40])
def test_whatever_matches_holds_a_cue(pattern: Cued) -> None:
    """Proved from the parse tree of each pattern, not from examples."""
    assert uncued(pattern) == set()


def test_a_missing_cue_is_found() -> None:
    """So that the proof above proves something."""
    assert uncued(cued("live |grew up ", r"\bi (?:live|grew up|come) in"))
    assert not uncued(cued("live |grew up |come ", r"\bi (?:live|grew up|come) in"))
    assert uncued(cued("abc", r"(?:abc)?d"))
    assert not uncued(cued("abc", r"(?:abc)+d"))


@given(st.lists(st.sampled_from([*"iıİſskKS'. ", "my ", "STOP "])).map("".join))
def test_letters_that_only_a_pattern_takes_for_others(text: str) -> None:
    """`re.IGNORECASE` takes the long s for an s, and the dotless and the dotted i for an i."""
    for cue in ("is", "sk", "my", "stop"):
        assert (cue in small(text)) == (re.search(cue, text, re.IGNORECASE) is not None)


_END = re.compile(r"(?<=[。！？!?；;])\s*|(?<=[.])(?:\s+|$)|\n+|(?<=~)\s+")


def split(text: str) -> list[str]:
    """Split a text as the rule reads: after what ends a sentence."""
    pieces, start = [], 0
    for match in _END.finditer(text):
        before = text[max(start, match.start() - reading._LONGEST_ABBREVIATION) : match.start()]
        if match.group() != "" and "\n" not in match.group() and reading._ABBREVIATION.search(before):
            continue
        pieces.append(text[start : match.start()])
        start = match.end()
    return [*pieces, text[start:]]


@given(st.lists(st.sampled_from([*"a。！?；;.~\n\r \t", "e.g.", "Dr. ", "no."])).map("".join))
def test_sentences_end_where_the_rule_says(text: str) -> None:
    """Looking for the end itself is faster than looking behind each character; it finds the same."""
    assert reading._split(text) == split(text)


CUES = sorted({cue for pattern in ALL for cue in pattern.cues})
AROUND = [
    " ",
    "\n",
    ". ",
    "。",
    "“",
    "”",
    '"',
    "`",
    "'",
    "’",
    "- ",
    "> ",
    "```\n",
    "我",
    "I ",
    "ſ",
    "İ",
    "\ud800",
    chr(0xF0001),
]


@given(st.lists(st.sampled_from(CUES) | st.sampled_from(AROUND) | st.text(max_size=3), max_size=8).map("".join))
def test_the_look_at_a_message_sees_what_stands_in_a_sentence(message: str) -> None:
    """Where it sees no cue no sentence has one, and nothing is found; also in other letters and forms."""
    traditional = message.translate({simple: rare for rare, simple in reading._SIMPLE.items()})
    for said in (message, traditional, message.upper()):
        if not may_find(said):
            assert {finding.verdict for finding in judge(said, earlier=["no emojis", said]).findings} <= {"skip"}
            held = [small(sentence.text) for sentence in reading.sentences_of(said)]
            assert not any(cue in text for cue in FOUND_BY for text in held)


FOUND_BY = {
    cue
    for pattern in (
        *corrections.CUED,
        *requests_en.CUED,
        *requests_zh.CUED,
        *(pattern for _, pattern in (*statements_en.RULES, *statements_zh.RULES)),
        doubts.PLANNING,
        doubts.HEDGE,
    )
    for cue in pattern.cues
}


HEDGES = sorted(doubts.HEDGE.cues)


@given(st.data())
def test_a_hedge_within_a_statement_hides_nothing(data: st.DataObject) -> None:
    """Without its hedges a sentence is judged once more, and may hold a cue that it did not."""
    said = data.draw(st.sampled_from(STATEMENTS))
    place = data.draw(st.integers(0, len(said)))
    hedge = data.draw(st.sampled_from(HEDGES))
    for between in ("", " "):
        hedged = f"{said[:place]}{between}{hedge}{between}{said[place:]}"
        if not may_find(hedged):
            assert {finding.verdict for finding in judge(hedged).findings} <= {"skip"}


STATEMENTS = [
    "I work at Google",
    "I live in Berlin",
    "I'm a nurse",
    "I have a dog",
    "I speak German",
    "I moved to Rome",
    "we decided to use Go",
    "always reply in English",
    "我住在上海",
    "代码里一律用空格",
    "以后用中文回答",
]


def test_a_hedged_statement_is_found() -> None:
    """“I probably work at Google” holds no “i work ”, and is asked about."""
    for said in ("I probably work at Google", "I maybe live in Berlin", "I'm maybe a nurse", "I possibly have a dog"):
        assert may_find(said)
        assert [finding.verdict for finding in judge(said).findings] == ["ask"]


@pytest.mark.parametrize("space", [" ", "  ", "\t", "\u00a0", "\u3000"])
def test_a_correction_is_heard_whatever_space_is_in_it(space: str) -> None:
    """Pasted text has other spaces."""
    said = f"no{space}emojis"
    assert may_find(said)
    assert judge(said, earlier=[said, said]).findings[0].rule == "repeated_correction"


def test_small_talk_is_not_taken_apart() -> None:
    """The look at a message is there for something: most of what is said in passing needs no judge."""
    assert not any(map(may_find, ["What time is it there?", "ok, thanks", "the build is green again", "今天下雨"]))
    assert may_find("always reply in English")
