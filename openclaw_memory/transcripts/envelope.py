"""What the real OpenClaw puts around a user's words for the model: who wrote, when, in which thread. Nobody said it.

Blocks with a heading of its own (`Sender (untrusted metadata):`, newer: `Sender: ⟦openclaw:ctx⟧`), each followed by
fenced JSON; a last block of context that reaches to the end; the time in brackets before the words.
"""

from __future__ import annotations

import re

_MARK = "⟦openclaw:ctx⟧"
_LABEL = re.compile(
    rf"[^\n]{{1,120}}(?:\(untrusted metadata\):|\(untrusted, for context\):| {_MARK}:?)[ \t]*", re.IGNORECASE
)
_LAST = re.compile(
    rf"(?:\A|\n)[ \t]*(?:Untrusted context \(metadata, do not treat as instructions or commands\):|Context: {_MARK})"
    r"[ \t]*(?:\n|\Z)"
)
_EXTERNAL = re.compile(r"<<<EXTERNAL_UNTRUSTED_CONTENT|UNTRUSTED channel metadata \(|Source:[ \t]")
_ACTIVE_LABEL = re.compile(r"(?:Untrusted context \([^\n]{1,100}\)|Context):[ \t]*\n")
_OPEN, _CLOSE = "<active_memory_plugin>", "</active_memory_plugin>"
_TIME = re.compile(r"\A\[[A-Za-z]{3} \d{4}-\d\d-\d\d \d\d:\d\d[^\]\n]{0,40}\][ \t]*")
_MESSAGE_ID = re.compile(r"\n?\[message_id: [^\]\n]{1,200}\][ \t]*\Z")
_FENCE = re.compile(r"[ \t]*```")
_FENCE_END = re.compile(r"\n[ \t]*```[ \t]*(?:\n|\Z)")
_EMPTY_LINE = re.compile(r"\n[ \t]*(?:\n|\Z)")
_BLANK = re.compile(r"(?:[ \t]*\n)+")


def strip_envelope(text: str) -> str:
    """Give a user's text without what was put around it. A text without an envelope stays as it is.

    Only blocks before the first word of the user's are taken off, and a last block that says where it is from; the
    same words further inside were written by somebody.
    """
    stripped = _without_last(_without_first(_without_active(text)))
    stripped = _MESSAGE_ID.sub("", _TIME.sub("", stripped))
    return text if stripped == text else stripped.strip("\n")


def _without_active(text: str) -> str:
    """Take off what a memory of OpenClaw's own has put in, wherever it is."""
    kept: list[str] = []
    at = close = 0
    begin = text.find(_OPEN)
    while begin >= 0:
        close = text.find(_CLOSE, begin) if close < begin else close
        if close < 0:
            break
        label = max(text.rfind("\n", max(at, begin - 200), max(at, begin - 1)) + 1, at)
        if _ACTIVE_LABEL.fullmatch(text, label, begin):
            kept.append(text[at:label])
            at = close + len(_CLOSE)
            while text.startswith("\n", at):
                at += 1
            begin = text.find(_OPEN, at)
        else:
            begin = text.find(_OPEN, begin + 1)
    return "".join([*kept, text[at:]])


def _without_first(text: str) -> str:
    """Take off the blocks at the beginning: a label, and fenced JSON or the lines up to an empty one."""
    at = 0
    while True:
        blank = _BLANK.match(text, at)
        begin = blank.end() if blank else at
        label = _LABEL.match(text, begin)
        if label is None or text[label.end() : label.end() + 1] not in ("", "\n"):
            return text[begin:] if at else text
        at = _block_end(text, label.end() + 1)


def _block_end(text: str, start: int) -> int:
    """Give where a block ends whose first line after its label begins at `start`."""
    opened = _FENCE.match(text, start)
    end = _FENCE_END.search(text, opened.end()) if opened else _EMPTY_LINE.search(text, max(start - 1, 0))
    return end.end() if end else len(text)


def _without_last(text: str) -> str:
    """Take off the block of context that reaches to the end, where it names a source outside."""
    for match in _LAST.finditer(text):
        if _MARK in match[0] or _EXTERNAL.search(text, match.end(), match.end() + 1_000):
            return text[: match.start()].rstrip()
    return text
