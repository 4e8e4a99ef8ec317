"""The summary of a session's beginning: three sentences, the names that were used, what is still open. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from openclaw_memory.capture.judge import judge
from openclaw_memory.capture.reading import has_chinese, sentences_of
from openclaw_memory.context.tokens import TokenCounter
from openclaw_memory.layers.compactions import MARKS
from openclaw_memory.lifecycle.compaction.essentials import Said, identifiers, identifiers_of, open_questions
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.retrieval.cutting import snippet
from openclaw_memory.retrieval.terms import terms

SENTENCES = 3
"""Sentences of a summary (seed 004 section 3.3)."""

MAX_SENTENCE_CHARS = 240

LOOKED_AT = 600
"""Messages of which sentences are chosen: the first few, which say what it is about, and the newest."""

FIRST = 20

CHOSEN_FROM = 200
"""Best sentences among which those are chosen that differ."""

REPEATED = 4.0
"""What a sentence loses that says nothing but what another one says."""

_LABELS: dict[Language, tuple[str, str]] = {
    "zh": ("名称：", "未决："),
    "en": ("Names: ", "Open: "),
}
_STATED = {"write": 3.0, "propose": 2.5}


def main_sentences(messages: Sequence[Said], most: int = SENTENCES) -> list[str]:
    """Choose the sentences that say most of what was said, in their order, word for word.

    What the user decided, asked to be remembered or stated counts most, then what holds the words that the whole is
    about, names and numbers, and what stands at the beginning and the end. Tools' results are not looked at.
    """
    told = [message for message in messages if message.role in ("user", "assistant")]
    if len(told) > LOOKED_AT:
        told = [*told[:FIRST], *told[FIRST - LOOKED_AT :]]
    found: list[tuple[float, int, str, set[str]]] = []
    split = [
        [text for sentence in sentences_of(message.text) if (text := " ".join(sentence.whole(sentence.text).split()))]
        for message in told
    ]
    counts = Counter(term for sentences in split for text in sentences for term in set(terms(text)))
    common = {term for term, count in counts.most_common(40) if count > 1}
    seen: set[str] = set()
    for place, (message, sentences) in enumerate(zip(told, split, strict=True)):
        stated = _stated(message) if message.role == "user" else {}
        for text in sentences:
            words = set(terms(text))
            if len(words) < 2 or text in seen:
                continue
            seen.add(text)
            score = stated.get(text, 0.0) + min(len(words & common), 6) / 3
            score += 0.5 * (message.role == "user") + 0.5 * bool(identifiers(text))
            score += (place == 0) + 0.5 * (place == len(told) - 1) - 1.5 * text.endswith(("?", "？"))
            found.append((score, len(found), snippet(text, MAX_SENTENCE_CHARS), words))
    return _varied(found, most)


def _varied(found: Sequence[tuple[float, int, str, set[str]]], most: int) -> list[str]:
    """Choose the best that do not say the same over again, and give them in their order."""
    chosen: list[tuple[float, int, str, set[str]]] = []
    rest = sorted(found, key=lambda one: (-one[0], one[1]))[:CHOSEN_FROM]
    while rest and len(chosen) < most:
        best = max(rest, key=lambda one: one[0] - REPEATED * max((_alike(one[3], c[3]) for c in chosen), default=0.0))
        rest.remove(best)
        chosen.append(best)
    return [text for _, _, text, _ in sorted(chosen, key=lambda one: one[1])]


def _alike(one: set[str], other: set[str]) -> float:
    return len(one & other) / (len(one | other) or 1)


def told(sentences: Sequence[str], names: Sequence[str], questions: Sequence[str], language: Language) -> str:
    """Write a summary: the mark, the sentences, and what of names and open questions they do not say themselves."""
    said = " ".join(sentences) if not any(map(has_chinese, sentences)) else _joined(sentences)
    lines = [f"{MARKS[language]} {said}".rstrip()]
    label_names, label_open = _LABELS[language]
    if missing := [name for name in names if name not in said]:
        lines.append(label_names + ", ".join(missing))
    if missing := [question for question in questions if question not in said]:
        lines.append(label_open + " ".join(missing))
    return "\n".join(lines)


def summary(
    messages: Sequence[Said],
    *,
    sentences: Sequence[str],
    new: int,
    kept: Sequence[Said],
    language: Language,
    counter: TokenCounter,
    limit: int,
) -> str | None:
    """Give the summary of messages, or None when what it must not lose does not fit into `limit` tokens.

    Names that the kept messages say themselves are not lost, and need not stand in it. Of names and questions that
    were summed up before, as many stay as fit, the newest first; they are found by search in any case.

    Parameters: `messages`, all that it stands for, oldest first; `sentences`, what it says of them; `new`, the place of
    the first one that was not summed up before; `kept`, what follows.
    """
    there = "\n".join(message.text for message in kept)
    names = [name for name in identifiers_of(messages[new:]) if name not in there]
    questions = [question for question in open_questions(messages[new:]) if question not in there]
    text = told(sentences, names, questions, language)
    if counter.count(text) > limit:
        return None
    old = [name for name in identifiers_of(messages[:new]) if name not in there and name not in names]
    low, high = 0, len(old)
    while low < high:
        middle = (low + high + 1) // 2
        longer = told(sentences, [*old[-middle:], *names], questions, language)
        low, high = (middle, high) if counter.count(longer) <= limit else (low, middle - 1)
    return told(sentences, [*old[len(old) - low :], *names], questions, language)


def _stated(message: Said) -> dict[str, float]:
    """Give what the user stated or asked for, by sentence."""
    return {
        " ".join(finding.sentence.split()): _STATED[finding.verdict]
        for finding in judge(message.text).findings
        if finding.verdict in _STATED
    }


def _joined(sentences: Sequence[str]) -> str:
    return "".join(text if text.endswith(("。", "！", "？", "!", "?", "；")) else f"{text}。" for text in sentences)
