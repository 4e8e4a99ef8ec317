"""The third time that a user corrects the same thing (seed 002, “重复纠正”)."""
# ruff: noqa: E501 - a pattern is read whole

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from snowballstemmer import stemmer  # type: ignore[import-untyped]

from openclaw_memory.capture.cued import Cued, cued, small
from openclaw_memory.capture.reading import Sentence, has_chinese, sentences_of

TIMES = 3
"""How often the same correction is heard before it is taken for a preference (seed 002)."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of correction: how it sounds, and the preference that it comes to."""

    sound: Cued
    zh: str
    en: str


def _kind(cues: str, pattern: str, zh: str, en: str) -> _Kind:
    return _Kind(cued(cues, pattern), zh, en)


_KINDS = (
    _kind(
        "简洁|简短|精简|太长|太啰嗦|太罗嗦|短|少说|concise|brief|shorter|too long|too wordy|verbose",
        r"简洁|简短|精简|太长|太啰嗦|太罗嗦|短一?点|少说|\b(?:concise|concisely|briefer|brief|shorter|too long|too wordy|too verbose|less verbose)\b",
        "偏好简洁的回复",
        "Prefers concise replies",
    ),
    _kind(
        "详细|再展开|太简略|多解释|more detail|elaborate|too short|too terse",
        r"详细(?:一?点|些)|再展开|太简略|多解释|\b(?:more detail(?:ed|s)?|elaborate|too short|too terse)\b",
        "偏好详细的回复",
        "Prefers detailed replies",
    ),
    _kind(
        "中文|chinese",
        r"(?:用|说|讲|改成|换成)中文|中文(?:回答|回复)|\bin chinese\b|^\W*chinese,? please",
        "用中文回复",
        "Reply in Chinese",
    ),
    _kind(
        "英文|英语|english",
        r"(?:用|说|讲|改成|换成)英[文语]|英[文语](?:回答|回复)|\bin english\b|^\W*english,? please",
        "用英文回复",
        "Reply in English",
    ),
    _kind(
        "结论|直接说重点|to the point|conclusion first|bottom line first",
        r"先(?:给|说|讲)结论|直接说重点|(?:get|come) to the point|conclusion first|bottom line first",
        "先给结论",
        "Wants the conclusion first",
    ),
    _kind(
        "通俗|简单|听不懂|太专业|simpler words|plain |less jargon|too technical",
        r"(?:通俗|简单)(?:一?点|些|易懂)|听不懂|太专业|\b(?:simpler words|plain (?:words|language)|less jargon|too technical)\b",
        "偏好通俗的说法",
        "Prefers plain words",
    ),
    _kind(
        "道歉|apologi",
        r"别(?:再)?道歉|不用道歉|不要(?:再)?道歉|\b(?:stop|don't|no need to) apologi[sz]\w*",
        "不要道歉",
        "Do not apologize",
    ),
    _kind(
        "正式|专业|more formal|too casual|more professional",
        r"(?:正式|专业)(?:一?点|些)|\b(?:more formal|too casual|more professional)\b",
        "偏好正式的语气",
        "Prefers a formal tone",
    ),
    _kind(
        "随意|轻松|口语|太正式|less formal|more casual|too formal",
        r"(?:随意|轻松|口语)(?:一?点|些|化)|太正式|\b(?:less formal|more casual|too formal)\b",
        "偏好轻松的语气",
        "Prefers a casual tone",
    ),
)
_FORBIDDEN = cued(
    "别|不要|don't |do not |stop |never |without |quit |no |no\t|no\u00a0|no\u3000",
    r"(?:别|不要)(?:再|总是|老是|老)?(?:用|加|写|放|给我|使用|添加)(?P<zh>[^，,。！!了吧谢]{1,12})"
    r"|\b(?:(?:don't|do not|stop|never|without|quit) (?:use|using|add|adding|write|writing|include|including|put|putting)|no(?: more)?)[ \t\u00a0\u3000]+"
    r"(?P<en>(?!need|problem|idea|one|way|matter|worries|thanks)[a-z]+(?: [a-z]+)?)(?=\W*$|\W+please|\s*[,.!])",
)
CUED = (*(kind.sound for kind in _KINDS), _FORBIDDEN)
"""Every correction matches one of these."""
_STEM = stemmer("english")


def repeated_correction(sentence: Sentence, earlier: Sequence[str]) -> str | None:
    """Give the preference that a sentence comes to when it corrects the same thing for the third time; else None.

    `earlier` are the user's messages before, in any order; each counts once. The preference is in the language of the
    sentence.
    """
    # Few sentences correct anything: the earlier messages are looked at, and taken apart, only for those.
    letters = small(sentence.text)
    for kind in _KINDS:
        if kind.sound.search(sentence.text, letters) and _enough(
            sum(bool(kind.sound.search(text)) for text in _prose_of(earlier))
        ):
            return kind.zh if has_chinese(sentence.text) else kind.en
    target = _forbidden(sentence.text)
    if target and _enough(sum(_forbidden(text) == target for text in _prose_of(earlier))):
        match = _FORBIDDEN.search(sentence.text)
        if match is not None:
            return f"不要用{match['zh'].strip()}" if match["zh"] else f"No {match['en'].strip()}"
    return None


def _prose_of(messages: Iterable[str]) -> list[str]:
    """Give what the user says in each message: one that says a thing twice corrects once."""
    return [" ".join(sentence.text for sentence in sentences_of(message.strip())) for message in messages]


def _forbidden(text: str) -> str | None:
    match = _FORBIDDEN.search(text)
    if match is None:
        return None
    if match["zh"]:
        return match["zh"].strip()
    return " ".join(_STEM.stemWords(match["en"].casefold().removesuffix(" please").split()))


def _enough(times_before: int) -> bool:
    return times_before >= TIMES - 1
