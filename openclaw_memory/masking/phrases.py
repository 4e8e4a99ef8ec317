"""Secrets that are known by the words around them: `my password is hunter2`, `密码是 abc12345`, `API_KEY=...`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from openclaw_memory.masking.kinds import Kind
from openclaw_memory.masking.names import NAMES, PASSWORDS
from openclaw_memory.masking.shapes import Span
from openclaw_memory.masking.values import is_secret

# What may stand between the name and the value. `for the router`, `（路由器）`, and a verb.
_FOR = (
    r"(?:[ \t]*[(（][^()（）\n]{0,30}[)）])?"
    r"(?:[ \t]+(?:for|to|of|on|at|in)[ \t]+(?:(?:the|my|our|his|her)[ \t]+)?[\w.@'’-]+(?:[ \t]+[\w.@'’-]+){0,3}?)?"
)
_SAYS = (
    # The name may be in bold or in quotes, also those of JSON within JSON, with the colon or without.
    r"(?:[ \t]*(?:\\{0,7}[\"'”’*`_]){0,3}[ \t]*(?::=|=>|->|[:：=＝]|→)[ \t]*(?:(?:\*{1,3}|__)[ \t]*)?"
    r"|[ \t]+(?:is|was|are|will be|to|equals|as|should be|must be)"
    r"(?:[ \t]+(?:now|still|currently|always|just|simply))?[ \t]*[:：]?[ \t]+"
    r"|[ \t]*(?:已经|现在|还|都|就|仍然|统一|默认|暂时|先)?[ \t]*"
    r"(?:是|为|係|叫|改成了?|改为了?|换成了?|设成了?|设为了?|设置成了?|设置为了?|变成了?|更新为|等于|用)"
    r"(?:了)?[ \t]*[:：]?[ \t]*"
    r"|[ \t]*(?=[“「『])"
    r"|(?:(?<=[\u4e00-\u9fff])[ \t]*[,，]?[ \t]*|[ \t]*[,，]?[ \t]+)"
    r"(?=[A-Za-z0-9!@#$%^&*+][^\s\u4e00-\u9fff]*[0-9!@#$%^&*]))"
)
ENDS = r"\s\"'`“”‘’「」『』，。；、！？（）【】《》,;<>|\u3000\u4e00-\u9fff"
"""What no value goes on over."""
VALUE = rf"(?P<quote>(?:\\{{0,7}}[\"'`“‘「『]){{0,3}})(?P<value>[^{ENDS}]{{3,200}})"
_OTHER_VALUE = VALUE.replace("<quote>", "<other_quote>").replace("<value>", "<other>")
_AFTER_NAME: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"(?P<name>{name}){_FOR}(?P<says>{_SAYS}){VALUE}", re.IGNORECASE)) for kind, name in NAMES
)
_BEFORE_NAME = re.compile(
    # From the beginning of a word on: a picture in base64 is one long word.
    rf"(?<![^{ENDS}]){VALUE}[\"'`”’」』]{{0,3}}[ \t]*(?:is|as|was|是|就是|作为?|当)[ \t]*"
    rf"(?:(?:my|the|our|his|her|a|an|new|old|我的?|你的?|他的?|新的?|旧的?|路由器的?|这个|那个)[ \t]*){{0,3}}"
    rf"(?:[\w-]+[ \t]+){{0,2}}?(?:{PASSWORDS})",
    re.IGNORECASE,
)
_FROM_TO = re.compile(
    rf"(?:{PASSWORDS}){_FOR}[ \t]*(?:from|从|由)[ \t]*{VALUE}[\"'`”’]{{0,3}}[ \t]*"
    rf"(?:to|改成了?|改为|换成了?|变成)[ \t]*{_OTHER_VALUE}",
    re.IGNORECASE,
)
_IN_BETWEEN = re.compile(r"[\"'`“‘「『]?[ \t]*[:：=][ \t]*[\"'`“‘「『]?")
_IN_BOLD = re.compile(r"(?:[:：](?:\*\*|__)|(?:\*\*|__)[:：])")
_END_OF_LINE = re.compile(r"[ \t]*(?:[\r\n]|\Z)")

_FOLLOWS = re.compile(
    r"[ \t]*(?:位|个|字符|次|天|年|小时|分钟|加密|算法|characters|digits|chars|letters|bits|bytes|days|hours|tokens)"
)
_TRIMMED = ".!?:)]}*_\\"


def by_phrase(text: str) -> Iterator[Span]:
    """Find secrets by the words around them: where each begins and ends, and what it is."""
    for kind, pattern in _AFTER_NAME:
        for match in pattern.finditer(text):
            says = match["says"].strip()
            explicit = bool(_IN_BETWEEN.fullmatch(says)) or bool(match["quote"])
            # `**Password:** the one from last year` goes on: it is a sentence.
            explicit = explicit or bool(_IN_BOLD.fullmatch(says) and _END_OF_LINE.match(text, match.end()))
            span = span_of(text, match, "value", kind, explicit)
            if span is not None:
                yield span
    for match in _FROM_TO.finditer(text):
        for group in ("value", "other"):
            if (span := span_of(text, match, group, "password", explicit=False)) is not None:
                yield span
    for match in _BEFORE_NAME.finditer(text):
        if (span := span_of(text, match, "value", "password", bool(match["quote"]))) is not None:
            yield span


def span_of(text: str, match: re.Match[str], group: str, kind: Kind, explicit: bool) -> Span | None:
    """Give the span of a group of a match without what follows the value; None when it is no secret."""
    start, end = match.span(group)
    while end > start and text[end - 1] in _TRIMMED and not (text[end - 1] in "!?*_" and _keeps_end(text[start:end])):
        end -= 1
    value = text[start:end]
    if len(value) < 3 or _FOLLOWS.match(text, end):
        return None
    return (start, end, kind) if is_secret(value, kind, explicit=explicit) else None


def _keeps_end(value: str) -> bool:
    """Tell whether a sign at the end belongs to the value: passwords end so, `hunter2!`."""
    return any(map(str.isdigit, value)) and value[-1] in "!?*_"
