"""Whether an entry of MEMORY.md may say the same as another one: by its words, before meanings are compared. Pure.

Vectors alone do not tell "the user's wife is called Ana" from "the user's daughter is called Ana". An entry whose words
were exchanged, denied, counted otherwise or turned round says something else, however near it is; one that puts them in
another order or adds some may say the same, or the same more exactly, and its meaning decides.
"""

from __future__ import annotations

import re

from openclaw_memory.retrieval.terms import fold

_PIECE = re.compile(r"[a-z]+(?:n't)?|\d+(?:[.:]\d+)*|[\u3400-\u9fff]|[^\W\d_]+")

_EACH = re.compile(r"\S+")
_DENIED = frozenset(
    _EACH.findall("not no never don't doesn't didn't won't can't cannot isn't aren't forbidden without")
)
_DENIED_ZH = re.compile("不要|不能|不可以|不可|不许|不再|禁止|不|别|勿|没有|没|无")
_DENIAL = "(denied)"

_LIGHT = frozenset(
    _EACH.findall(
        "a an the is are was be been am do does did has have had having of to in on at for with and or by as "
        "it its this that user users user's i my me we our us you your he his she her they their them like "
        "likes prefer prefers preferred use uses used using should must shall will can would want wants keep "
        "kept hold held holding make made called call name named happen happens please own owns always over "
        "than s "
        "用 户 我 们 他 她 的 了 是 在 于 要 会 有 把 被 和 与 及 也 都 就 很 个 只 之 每 地 得 着 过 喜 "
        "欢 偏 好 习 惯 使 应 该 请 能 可 以 需 必 须 叫 名 字 为 居 保 持 "
    )
)
"""Words that two wordings of one thing exchange freely."""

_SIDES = re.compile(r"\b(?:over|than|instead of|before|after)\b|而不是|胜过|优先于|早于|晚于|比")
"""Where these stand, it matters which side a word is on."""


def may_say_the_same(old: str, new: str) -> bool:
    """Tell whether a new entry has all the words of an old one, or words that are exchanged freely.

    One that says less is another entry: what the old one says beside it would be lost.
    """
    olds, news = _words(old), _words(new)
    if (_DENIAL in olds) != (_DENIAL in news) or not set(olds) & set(news) - {_DENIAL}:
        return False
    if set(olds) - set(news):
        return False
    turned = _SIDES.search(fold(old)) or _SIDES.search(fold(new))
    return not turned or [word for word in olds if word in news] == [word for word in news if word in olds]


def _words(text: str) -> list[str]:
    """Give the words that carry meaning, folded and without endings, a Chinese character each; each once."""
    folded = fold(text).replace("’", "'")
    denied = _DENIED_ZH.search(folded) is not None or any(word in _DENIED for word in re.findall(r"[a-z']+", folded))
    pieces = _PIECE.findall(_DENIED_ZH.sub("", folded))
    words = [_stem(piece) for piece in pieces if piece not in _LIGHT and piece not in _DENIED]
    return list(dict.fromkeys([*words, *([_DENIAL] if denied else [])]))


def _stem(word: str) -> str:
    for ending in ("ments", "ment", "ings", "ing", "ies", "ied", "ed", "es", "s", "ly", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
