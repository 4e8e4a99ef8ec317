"""Two plain ways to shorten a text, to compare with: its beginning, and TextRank."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from openclaw_memory.lifecycle.summaries.extractive import telling
from openclaw_memory.lifecycle.summaries.sentences import sentences_of

Count = Callable[[str], int]


def beginning(texts: Sequence[str], tokens: int, count: Count) -> str:
    """Give the first words of the texts, up to so many tokens."""
    words = "\n".join(texts).split(" ")
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        if count(" ".join(words[:middle])) <= tokens:
            low = middle
        else:
            high = middle - 1
    return " ".join(words[:low])


def text_rank(texts: Sequence[str], tokens: int, count: Count) -> str:
    """Give the sentences that are most like the others (Mihalcea and Tarau 2004), up to so many tokens.

    Likeness is the number of common words over the logarithms of both lengths, the damping 0.85, thirty rounds.
    """
    sentences = [sentence for text in texts for sentence in sentences_of(text)]
    words = [telling(sentence) for sentence in sentences]
    number = len(sentences)
    links: list[list[tuple[int, float]]] = [[] for _ in range(number)]
    for one in range(number):
        for other in range(one + 1, number):
            common = len(words[one] & words[other])
            length = math.log(max(len(words[one]), 1)) + math.log(max(len(words[other]), 1))
            if common and length > 0:
                links[one].append((other, common / length))
                links[other].append((one, common / length))
    total = [sum(weight for _, weight in edges) for edges in links]
    ranks = [1.0] * number
    for _ in range(30):
        ranks = [0.15 + 0.85 * sum(ranks[other] * weight / total[other] for other, weight in edges) for edges in links]
    return within(sentences, sorted(range(number), key=lambda place: -ranks[place]), tokens, count)


def within(sentences: Sequence[str], order: Sequence[int], tokens: int, count: Count) -> str:
    """Put together the first of `order` that fit, as they were said."""
    chosen: list[int] = []
    left = tokens
    for place in order:
        needed = count(sentences[place]) + 1
        if needed <= left:
            chosen.append(place)
            left -= needed
    return "\n".join(sentences[place] for place in sorted(chosen))
