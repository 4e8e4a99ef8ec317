"""Judge a user's message: what in it is to be remembered (seed 002, “学习规则”; seed 004 section 2.2)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property

from openclaw_memory.capture import corrections, doubts, others, requests_en, requests_zh, statements_en, statements_zh
from openclaw_memory.capture.clauses import Request
from openclaw_memory.capture.corrections import repeated_correction
from openclaw_memory.capture.cued import any_cue
from openclaw_memory.capture.places import place_of
from openclaw_memory.capture.reading import (
    MAX_STATEMENT_CHARS,
    Sentence,
    fold,
    is_quote,
    letters_of,
    sentences_of,
    unquoted,
)
from openclaw_memory.capture.requests import find_request
from openclaw_memory.capture.statements import find_statement
from openclaw_memory.capture.verdicts import Finding, Judgement, Rule, Verdict

LEAST_ECHO = 4
"""Fewest letters of a sentence that are recognised as coming from memory; a shorter one is anybody's."""


_has_cue = any_cue(
    [
        *requests_en.CUED,
        *requests_zh.CUED,
        *corrections.CUED,
        *(pattern for _, pattern in (*statements_en.RULES, *statements_zh.RULES)),
        doubts.PLANNING,
        # Without its hedges a sentence may say what it did not say with them.
        doubts.HEDGE,
    ]
)


def may_find(message: str) -> bool:
    """Tell at a look whether `judge` may find anything in a message; if not, all its findings are to `skip`."""
    return _has_cue(letters_of(message))


def judge(
    message: str,
    *,
    earlier: Sequence[str] = (),
    supplied: Sequence[str] = (),
    known: Collection[str] = (),
) -> Judgement:
    """Judge each sentence of a user's message. Never raises; the same input gives the same findings.

    The first 8,000 characters (100 sentences) of a message are judged. Code, quotations and block quotes are others'
    words and never captured.

    Parameters: `message`, what the user said; `earlier`, the user's earlier messages of the session, oldest first, for
    corrections that come for the third time and for what “remember this” points to; `supplied`, texts that memory put
    into the prompt (a sentence that stands in one of them is not new); `known`, texts that are stored already (`value`,
    or `key: value` for a fact), which to say again adds nothing.
    """
    sentences = sentences_of(message)
    if any(doubts.asks_not_to(sentence.text) for sentence in sentences):
        # Said of the message as a whole: nothing of it is kept.
        return Judgement(tuple(_skip(sentence, "asked_not_to") for sentence in sentences))
    memory = _Memory(earlier, supplied, known)
    findings: list[Finding] = []
    for number, sentence in enumerate(sentences):
        before = sentences[number - 1] if number else None
        finding = _judge_sentence(sentence, before, memory)
        findings.append(_as_the_users_own(finding, sentence, sentences, memory))
    return Judgement(tuple(findings))


class _Memory:
    """What was said and stored before; made ready for comparing when it is first needed."""

    def __init__(self, earlier: Sequence[str], supplied: Sequence[str], known: Collection[str]) -> None:
        self.earlier = earlier
        self._supplied = [fold(line) for text in supplied for line in text.split("\n")]
        self._known = known

    @property
    def last(self) -> str:
        """The user's message before; empty when there is none."""
        return next((said for text in reversed(self.earlier) if (said := text.strip())), "")

    @cached_property
    def known(self) -> Collection[str]:
        """What is stored, folded."""
        return {fold(text) for text in self._known}

    def supplied_it(self, sentence: Sentence) -> bool:
        """Tell whether memory itself said this."""
        if not self._supplied:
            return False
        folded = fold(sentence.whole(sentence.text))
        return len(folded) >= LEAST_ECHO and any(folded in line for line in self._supplied)


def _judge_sentence(sentence: Sentence, before: Sentence | None, memory: _Memory) -> Finding:
    text = sentence.text
    if memory.supplied_it(sentence):
        return _skip(sentence, "echo")
    if is_quote(text):
        return _skip(sentence, "reported" if fold(sentence.whole(text)) else "no_statement")
    request = find_request(text)
    if request is not None and not doubts.is_hypothetical(text):
        if request.content and doubts.is_reported(request.before):
            return _skip(sentence, "reported")
        return _requested(sentence, request, before, memory)
    if len(text) > MAX_STATEMENT_CHARS:
        return _skip(sentence, "no_statement")
    preference = repeated_correction(sentence, memory.earlier)
    if preference is not None:
        return _found("propose", "repeated_correction", sentence, preference, memory)
    return _stated(sentence, memory)


def _as_the_users_own(finding: Finding, sentence: Sentence, sentences: Sequence[Sentence], memory: _Memory) -> Finding:
    """Ask about a fact of the user's that somebody else may have said of themselves: it would replace a true one."""
    if finding.verdict != "write" or finding.place is None or finding.place.layer != "fact":
        return finding
    beside = sentence.whole(sentence.text).replace(finding.text, "")
    around = [beside, *(other.text for other in sentences if other is not sentence)]
    if finding.text in memory.last:
        # It points to the message before, which the one before that may announce.
        around += memory.earlier[-2:]
    return replace(finding, verdict="ask", rule="unclear_request") if others.speak(around) else finding


def _requested(sentence: Sentence, request: Request, before: Sentence | None, memory: _Memory) -> Finding:
    """Find what a request names: in itself, before it, in the sentence before, or in the message before."""
    content = sentence.whole(request.content)
    if (
        not content
        and request.before
        and not doubts.is_question(request.before)
        and len(fold(request.before)) >= LEAST_ECHO
    ):
        content = sentence.whole(request.before)
    if not content and before is not None and not doubts.is_question(before.text):
        content = before.whole(before.text)
    if not content and memory.last and not (doubts.is_question(memory.last) or doubts.asks_not_to(memory.last)):
        content = memory.last
    content = unquoted(content.strip()).strip(" \t.。")
    if not content:
        return Finding("ask", "nothing_named", sentence.whole(sentence.text))
    if request.is_unclear or doubts.is_material(sentence.text, request.before, before.text if before else ""):
        return _found("ask", "unclear_request", sentence, content, memory)
    return _found("write", "explicit_request", sentence, content, memory, is_task=request.is_task)


def _stated(sentence: Sentence, memory: _Memory) -> Finding:
    """Find what a sentence says that lasts; only where it may say something it is worth asking what speaks against."""
    text = sentence.text
    bare = doubts.without_hedges(text)
    rule = find_statement(bare if bare is not None else text)
    planning = doubts.is_planning(text)
    if rule is None and not planning:
        return _skip(sentence, "for_once" if doubts.is_for_once(text) else "no_statement")
    if doubts.is_hypothetical(text):
        return _skip(sentence, "hypothetical")
    if doubts.is_question(text):
        return _skip(sentence, "question")
    if doubts.is_reported(text):
        return _skip(sentence, "reported")
    if doubts.is_for_once(text):
        return _skip(sentence, "for_once")
    if rule is None or planning or bare is not None:
        return _found("ask", "hedged", sentence, sentence.whole(text), memory)
    return _found("propose", rule, sentence, sentence.whole(text), memory)


def _found(
    verdict: Verdict, rule: Rule, sentence: Sentence, text: str, memory: _Memory, *, is_task: bool = False
) -> Finding:
    text = text.strip().strip("。.!！~ ")
    place = place_of(text, rule, is_task=is_task)
    if fold(text) in memory.known or (place.key and fold(f"{place.key}{place.value}") in memory.known):
        return _skip(sentence, "known")
    return Finding(verdict, rule, sentence.whole(sentence.text), text, place)


def _skip(sentence: Sentence, rule: Rule) -> Finding:
    return Finding("skip", rule, sentence.whole(sentence.text))
