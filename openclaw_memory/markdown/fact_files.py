"""What stands around the facts of a file: its title and the line that says when it was last changed."""

from __future__ import annotations

import re

from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.outline import write_heading
from openclaw_memory.markdown.text import split_lines

UPDATED_LABELS: dict[Language, str] = {"zh": "最后更新", "en": "Last updated"}

_UPDATED = re.compile(r"( {0,3}>[ \t]*(?:最后更新|last updated)[ \t]*[:：])[^\r\n]*", re.IGNORECASE)
_BELOW_TOP = re.compile(r" {0,3}(?:##|```|~~~|[-*+] )")


def new_fact_body(title: str, language: Language, newline: str = "\n") -> str:
    """Return the beginning of a new file; `touch_updated_line` puts the time in.

    Args:
        title: Heading of the file.
        language: Language of the label.
        newline: Line end to use.
    """
    return newline.join([write_heading(1, title), "", f"> {UPDATED_LABELS[language]}:", ""])


def touch_updated_line(body: str, when_iso: str) -> str:
    """Put a time into the line `> 最后更新:` at the top, where the file has it; only its value changes.

    Args:
        body: The document without its front matter.
        when_iso: The time, ISO 8601 with an offset.
    """
    lines = split_lines(body)
    for at, line in enumerate(lines):
        if _BELOW_TOP.match(line):
            break
        match = _UPDATED.match(line)
        if match:
            lines[at] = f"{match[1]} {when_iso}{line[match.end() :]}"
            return "".join(lines)
    return body
