"""Summaries without a model: the sentences that together tell most, in the order in which they were said.

A sentence is worth what its words tell that no chosen one tells yet, in proportion to its length. Names, numbers and
identifiers tell more than other words, decisions and things to be done more than chat, the owner more than the agent.
Sentences are kept as they were said, so that identifiers and numbers are exact.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import anyio.to_thread

from openclaw_memory.lifecycle.summaries import cues
from openclaw_memory.lifecycle.summaries.answers import Line
from openclaw_memory.lifecycle.summaries.passages import Material, Passage
from openclaw_memory.lifecycle.summaries.sentences import sentences_of
from openclaw_memory.lifecycle.summaries.summarizer import Fits, Made
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.summary_items import Part, SummaryItem, SummaryItems
from openclaw_memory.retrieval.breathing import breathing
from openclaw_memory.retrieval.stopwords import STOP_WORDS
from openclaw_memory.retrieval.terms import fold, is_identifier, terms

MOST_POINTS = 4
"""Points of one talk; a talk with more becomes several."""

GAP_SECONDS = 3_600.0
"""A pause as long as this begins another talk."""

_LENGTH = 0.7
"""How much the length of a sentence counts: 0 not at all, 1 in proportion."""

_NAME = re.compile(r"(?<![.!?。！？]\s)(?<!^)\b[A-Z][a-z]+|\b[A-Z]{2,}\b|[《「“\"']\S")
_SAYS: dict[Language, str] = {"zh": "助手：", "en": "Assistant: "}


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of a passage: `place` counts all sentences, `tells` are its telling words, `worth` multiplies them."""

    text: str
    passage: int
    place: int
    tells: frozenset[str]
    tokens: int
    worth: float


class Extractive:
    """Chooses sentences.

    Parameters: `count`, which counts the tokens of a text.
    """

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count

    async def summarize(self, material: Material, fits: Fits, tokens: int) -> Made:
        """Choose sentences, in a thread; as `Summarizer.summarize`."""
        return Made(await anyio.to_thread.run_sync(self.items, material, fits, tokens), "rules")

    def items(self, material: Material, fits: Fits, tokens: int) -> SummaryItems:
        """Choose the sentences that tell most within the tokens. Pure."""
        sentences = _cut(material, self._count)
        chosen = choose(sentences, tokens)
        while True:
            items = _arranged(material, [sentences[place] for place in chosen])
            if not chosen or fits(items):
                return items
            # Headings and numbers took what was left; the last chosen tell least.
            del chosen[-max(1, len(chosen) // 20) :]

    def lines(self, material: Material, tokens: int) -> list[Line]:
        """Give what a model is shown: the messages whole, or of too many the sentences that tell most. Pure."""
        whole = [(passage, " ".join(_texts(passage))) for passage in material.passages]
        said = [
            Line(f"{_speaker(passage, material.language)}{text}", passage.sources) for passage, text in whole if text
        ]
        if sum(self._count(line.text) + 8 for line in said) <= tokens:
            return said
        sentences = _cut(material, self._count)
        chosen = sorted(choose(sentences, tokens))
        return [Line(item.text, item.sources) for item in (_item(material, sentences[place]) for place in chosen)]


def _texts(passage: Passage) -> list[str]:
    return [passage.text] if passage.part is not None else list(sentences_of(passage.text))


def _speaker(passage: Passage, language: Language) -> str:
    return _SAYS[language] if passage.role == "assistant" else ""


def _cut(material: Material, count: Callable[[str], int]) -> list[_Sentence]:
    sentences: list[_Sentence] = []
    seen: set[str] = set()
    for number, passage in enumerate(breathing(material.passages)):
        for first, text in enumerate(_texts(passage)):
            same = fold(text).strip(" .!?。！？")
            tells = telling(text)
            if same in seen or not _says_something(passage, text, tells):
                continue
            seen.add(same)
            worth = _worth(passage, text, first == 0)
            sentences.append(_Sentence(text, number, len(sentences), tells, count(text) + 4, worth))
    return sentences


def _says_something(passage: Passage, text: str, tells: frozenset[str]) -> bool:
    """Tell whether a sentence may be worth keeping: no bare greeting or word of assent, no question of the agent."""
    if passage.part is not None or passage.important:
        return True
    if passage.role == "assistant" and cues.is_question(text):
        return False
    return len(tells) > 1 or any(is_identifier(term) or term.isdigit() for term in tells)


def telling(text: str) -> frozenset[str]:
    """Give the words of a sentence that tell something: no stop words, of Chinese the pairs of characters."""
    return frozenset(term for term in terms(text) if term not in STOP_WORDS and (len(term) > 1 or term.isdigit()))


def _worth(passage: Passage, text: str, is_first: bool) -> float:
    worth = 1.0
    if cues.is_question(text):
        worth *= 0.5
    if cues.is_decision(text):
        worth *= 1.3
    if passage.part == "todos" or cues.is_todo(text):
        worth *= 1.2
    if passage.part == "facts" or cues.is_fact(text):
        worth *= 1.2
    if passage.role == "assistant":
        worth *= 0.9
    if passage.important:
        worth *= 2.0
    if passage.done:
        worth *= 0.5
    return worth * (1.05 if is_first else 1.0)


def weights_of(sentences: Sequence[_Sentence]) -> dict[str, float]:
    """Say how much each word tells: rare ones more, names, numbers and identifiers most."""
    among = Counter(term for sentence in breathing(sentences) for term in sentence.tells)
    named = {fold(match) for sentence in breathing(sentences) for match in _NAME.findall(sentence.text)}
    named_terms = {term for name in named for term in terms(name)}
    total = len(sentences) + 1
    return {
        term: (1.0 + 0.3 * math.log(total / number))
        * (1.6 if is_identifier(term) or term.isdigit() else 1.4 if term in named_terms else 1.0)
        for term, number in among.items()
    }


def choose(sentences: Sequence[_Sentence], tokens: int) -> list[int]:
    """Choose sentences until the tokens are used up, the one first that tells most for its length; gives their places.

    What a chosen one tells counts nothing for the others (lazy greedy maximal coverage).
    """
    weights = weights_of(sentences)
    told: set[str] = set()

    def gain(sentence: _Sentence) -> float:
        fresh = sum(weights[term] for term in sentence.tells if term not in told)
        return sentence.worth * fresh / float(sentence.tokens**_LENGTH)

    queue = [(-gain(sentence), sentence.place) for sentence in breathing(sentences)]
    heapq.heapify(queue)
    chosen: list[int] = []
    left = tokens
    for _ in breathing(iter(lambda: bool(queue), False)):
        before, place = heapq.heappop(queue)
        sentence = sentences[place]
        if sentence.tokens > left:
            continue
        now = -gain(sentence)
        if now >= 0:
            continue
        if queue and now > queue[0][0] and now != before:
            heapq.heappush(queue, (now, place))
            continue
        chosen.append(place)
        told |= sentence.tells
        left -= sentence.tokens
    return chosen


def _arranged(material: Material, chosen: Sequence[_Sentence]) -> SummaryItems:
    """Put chosen sentences into the parts of a summary, in the order in which they were said."""
    talks: list[list[_Sentence]] = []
    facts: list[SummaryItem] = []
    todos: list[SummaryItem] = []
    last: Passage | None = None
    for sentence in sorted(chosen, key=lambda sentence: sentence.place):
        passage = material.passages[sentence.passage]
        part = passage.part or _part(passage, sentence.text)
        item = _item(material, sentence)
        if part == "todos":
            todos.append(SummaryItem(item.text, item.sources, done=passage.done))
        elif part == "facts":
            facts.append(item)
        else:
            if last is None or len(talks[-1]) > MOST_POINTS or not _together(last, passage):
                talks.append([])
            talks[-1].append(sentence)
            last = passage
    return SummaryItems(
        tuple(_talk(material, talk) for talk in talks),
        tuple(facts),
        tuple(todos),
    )


def _part(passage: Passage, text: str) -> Part:
    if passage.role == "user" and cues.is_todo(text):
        return "todos"
    return "facts" if passage.role == "user" and cues.is_fact(text) and not cues.is_decision(text) else "talks"


def _together(one: Passage, other: Passage) -> bool:
    if one.talk != other.talk:
        return False
    if one.time is None or other.time is None:
        return True
    return (other.time - one.time).total_seconds() < GAP_SECONDS


def _talk(material: Material, talk: Sequence[_Sentence]) -> SummaryItem:
    """Make a talk of its sentences; the one that begins it stands above the others."""
    first, *others = (_item(material, sentence) for sentence in talk)
    return SummaryItem(first.text, first.sources, tuple(others))


def _item(material: Material, sentence: _Sentence) -> SummaryItem:
    passage = material.passages[sentence.passage]
    return SummaryItem(f"{_speaker(passage, material.language)}{sentence.text}", passage.sources)
