"""Explicit requests to remember something, in English (seed 002, “主动要求”; seed 004 section 2.2)."""

from __future__ import annotations

import re

from openclaw_memory.capture.clauses import MARK, START, Request, trim
from openclaw_memory.capture.cued import cued, small

_LEAD = (
    r"(?:(?:please|pls|plz|hey|hi|hello|ok|okay|so|also|and|but|oh|btw|by the way|just|now|then|kindly|do|again|well|"
    r"alright|right|sure|yes|always|for future reference|from now on|going forward)\b[,!]?\s+)*+"
    r"(?:(?P<modal>(?:can|could|would|will) you(?: please| kindly| also)*)\s+|"
    r"i(?:'d| would) like you to\s+|i (?:want|need) you to\s+|"
    r"you (?:should|must|need to|have to|ought to)\s+|let's\s+|(?:make sure|be sure|try)\s+(?:to|you)\s+)?"
    r"(?:please\s+|also\s+|always\s+)*+"
)
_REMEMBER = (
    r"(?:remember|(?:keep|bear) (?:this |that |it )?in mind|(?:don't|do not|never) (?:ever )?forget|"
    r"make a (?:mental )?note|take note|jot down|note down|note(?=\s+(?:that|this|down)\b|\s*:)|"
    r"record(?=\s+that\b|\s*:)|jot (?:this|that|it) down|note (?:this|that|it) down|"
    r"write (?:this|that|it|the following) down|(?:store|save|record) (?:this|that|the following)(?=\s*:))"
)
_MEMORY = (
    r"(?:(?:your|my|the|long-term|permanent)\s+)*+"
    r"(?:long-term memory|permanent memory|memory|memories|memory\.md)\b"
)
_KEEP = (
    r"(?:save|store|add|put|commit|write|log)\s+(?P<object>\S.{0,300}?)?\s*(?:to|in|into)\s+"
    rf"(?P<memory>{_MEMORY})"
)
_REQUEST = cued(
    "remember|mind|forget|note|jot|write|record|store|save|add|put|commit|log",
    rf"{START}{_LEAD}(?:{_REMEMBER}|{_KEEP})(?P<rest>|\W.*)$",
    re.IGNORECASE | re.DOTALL,
)
_TASK = cued(
    "remind me ",
    rf"{START}{_LEAD}remind me (?:to|that|about|of)\s+(?P<rest>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_LINK = re.compile(
    r"^\s*(?:for me\b\s*)?(?:of the fact that|about the fact that|that|of|down|[:：,，\-–—]+)(?=\W|$)\s*",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    rf"^{MARK}*(?:(?:all )?(?:of )?(?:this|that|it|these|those)(?: (?:one|fact|part|thing|information))?(?: down)?|"
    r"the above|everything above|my last message|the following|"
    r"what i(?:'ve)? (?:just )?(?:said|told you|wrote|mentioned))?"
    rf"(?:,? (?:please|ok|okay|for me|too|for later|for next time))*{MARK}*$",
    re.IGNORECASE,
)
_RECALL = re.compile(r"^\s*(?:when|how|if|whether|who|where|why|which|what|the time|me\b|those days)\b", re.IGNORECASE)
"""“Remember when we talked?” asks, it does not tell."""
_STATEMENT = re.compile(r"(?:i|we|my|our)\b.*\b(?:is|are|was|am|'m|'s)\b|(?:i|we)\b", re.IGNORECASE)
_ADVICE = re.compile(r"\b(?:you|your|yourself|yours)\b|!\s*$", re.IGNORECASE)
_JUST = re.compile(r"\b(?:just|but) (?:remember|don't forget)", re.IGNORECASE)
_TO_THE_AGENT = re.compile(r"\bplease\b|\b(?:want|need|like) you to\b|\byou (?:should|must)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|we|us|our)\b", re.IGNORECASE)
_OWN_MEMORY = re.compile(r"your|long-term|permanent|memory\.md", re.IGNORECASE)

CUED = (_REQUEST, _TASK)
"""Every request matches one of these."""


def find_english(text: str) -> Request | None:
    """Find a request in a sentence; None when there is none."""
    letters = small(text)
    if match := _TASK.match(text, letters):
        return Request(trim(match["rest"]), trim(match["before"]), is_task=True)
    match = _REQUEST.match(text, letters)
    if match is None:
        return None
    before = trim(match["before"])
    if match["memory"] is not None:
        return _kept(match["object"] or "", match["memory"], match["rest"], before)
    content = _LINK.sub("", match["rest"])
    if _REFERENCE.match(match["rest"]) or _REFERENCE.match(content):
        return Request("", before)
    linked = content != match["rest"]
    content = _LINK.sub("", content).strip()
    polite = match["modal"] is not None
    if not linked:
        # “Can you remember my name?” asks for it.
        asks = polite or text.rstrip().endswith("?")
        if _RECALL.match(content) or (asks and not _STATEMENT.match(content)):
            return None
    bare = re.sub(r"^to\s+", "", content, flags=re.IGNORECASE)
    return Request(trim(bare), before, is_unclear=not polite and _is_advice(text, content, bare))


def _kept(named: str, memory: str, rest: str, before: str) -> Request | None:
    """Read “save X to memory: Y”: Y where there is one, else X."""
    points = _REFERENCE.match(named) is not None
    if not points and not _OWN_MEMORY.search(memory):
        return None  # “Store the array in memory” is about a program.
    content = _LINK.sub("", rest)
    if trim(content) and not _REFERENCE.match(content):
        return Request(trim(content), before)
    return Request("" if points else trim(named), before)


def _is_advice(text: str, content: str, bare: str) -> bool:
    """Tell whether this may be said to anybody to cheer them up: “just remember, you can do it!”."""
    if _ADVICE.search(bare) and not _TO_THE_AGENT.search(text):
        return True
    return (bare != content or _JUST.search(text) is not None) and not _FIRST_PERSON.search(bare)
