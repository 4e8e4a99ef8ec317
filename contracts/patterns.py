r"""Patterns of the fields that become the name of a file, a heading or a line.

A pattern stands here once and goes into the JSON Schema as it is. It means the same in Python and in ECMA 262: only
explicit ranges, since `\w` and `\s` differ between the two.
"""

from __future__ import annotations

from contracts.limits import MAX_NAME_CHARS, MAX_TOPIC_CHARS, MAX_WIDE_NAME_CHARS

CONTROL = r"\u0000-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff"
"""Control characters, the line ends among them, and halves of surrogate pairs."""
BLANK = r"\u0009-\u000d\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
LETTERS = (
    r"0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u061b\u061d-\u167f\u1681-\u180d\u180f-\u1fff\u2c00-\u2dff\u3005-\u3007"
    r"\u3040-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\ud7ff\uf900-\ufdff\ufe70-\ufefe\uff10-\uff19\uff21-\uff3a"
    r"\uff41-\uff5a\uff66-\uffdc"
    "\U00020000-\U0003fffd"
)
"""Letters, marks and digits of the living scripts; no invisible ones, no punctuation of ASCII, no emoji."""


END = r"$(?!\n)"
"""The end of the text: in Python `$` alone also matches before a newline that ends it."""


def _wide(first: str, rest: str, most: int) -> str:
    """Give the pattern of a file's name: up to `most` characters of ASCII, or up to 50 of any kind."""
    ascii_only = f"(?=[\\u0020-\\u007e]{{1,{most}}}$|[^\\n]{{1,{MAX_WIDE_NAME_CHARS}}}$)"
    return f"^{ascii_only}[{first}][{rest}]*{END}"


NOT_IN_IDS = rf"""{CONTROL}{BLANK}/\\<>"|?*\u200b-\u200f\u202a-\u202e\u2066-\u2069"""
SESSION_ID_PATTERN = _wide(f"^{NOT_IN_IDS}.", f"^{NOT_IN_IDS}", MAX_NAME_CHARS)
TOPIC_PATTERN = _wide(LETTERS, rf"{LETTERS}_\-", MAX_TOPIC_CHARS)
TASK_ID_PATTERN = rf"^[A-Z][A-Z0-9]{{0,26}}-[0-9]{{1,12}}{END}"
LINE_PATTERN = rf"^[^{CONTROL}{BLANK}](?:[^{CONTROL}]*[^{CONTROL}{BLANK}])?{END}"
SECTION_PATTERN = rf"^(?!#+$)(?!.*[{BLANK}]#+$)" + LINE_PATTERN[1:]
"""One line; not with hashes after a space at its end, which Markdown would take for the end of the heading."""
KEY_PATTERN = (
    rf"^(?![-*+>#][{BLANK}]|[-*+>#]$|[0-9]+[.)][{BLANK}]|[0-9]+[.)]$|\[[ xX]\]|```|~~~|<!--)"
    rf"[^{CONTROL}{BLANK}:\uff1a](?:[^{CONTROL}:\uff1a]*[^{CONTROL}{BLANK}:\uff1a])?{END}"
)
"""One line without a colon; not beginning like a list item, a quotation, a heading, a fence or a comment."""
_SEGMENT = rf"[^./\\{CONTROL}{BLANK}][^/\\{CONTROL}]*"
PATH_PATTERN = rf"^{_SEGMENT}(?:/{_SEGMENT})*{END}"
"""Relative, with slashes; no part begins with a dot or a space, so it leads neither up nor into what is hidden."""
