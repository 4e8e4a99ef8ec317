"""Put remembered text into a prompt so that it stays data: no content can close its fence or pose as something else."""

from __future__ import annotations

import re

from openclaw_memory.retrieval.cutting import snippet

MAX_RUN = 32
"""Longest run of backticks that a quotation keeps; longer ones are cut to it, or the fence would cost a budget."""
MAX_LINE_CHARS = 300
"""Longest line that says where a quotation comes from."""

_LINE_END = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""Everything that some reader takes for the end of a line."""
_RUN = re.compile(f"`{{{MAX_RUN + 1},}}")
_CONTROL = re.compile(
    r"<(?=[|｜][^|｜<>\s]{1,64}[|｜]>|<?/?SYS>|/?(?:start|end)_of_turn>|/?s>)|\[(?=/?(?:INST|AVAILABLE_TOOLS|TOOL_RESULTS)\])",
    re.IGNORECASE,
)
"""The beginnings of marks by which chat templates separate the speakers."""


def neutral(text: str) -> str:
    """Take the meaning from the control marks of chat templates (`<|im_start|>`, `[INST]`, ...) by a space inside.

    Services read such marks as plain text; a local model's template may take them for the beginning of another
    speaker's words.
    """
    return _CONTROL.sub(lambda match: f"{match.group()} ", text)


def quote(text: str) -> str:
    """Fence a text with more backticks than it holds in a row, so that nothing in it ends the fence."""
    kept = _RUN.sub("`" * MAX_RUN, neutral(text))
    longest = max((len(run) for run in re.findall("`+", kept)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{kept}\n{fence}"


def item(text: str) -> str:
    """Write a text as a list item: its further lines are indented, so that none can pose as a heading or a speaker."""
    return "- " + indented(text.removeprefix("- "))


def indented(text: str) -> str:
    """Indent every line but the first by two spaces."""
    first, *others = lines_of(neutral(text))
    return "\n".join((first, *(f"  {line}" for line in others)))


def one_line(text: str, most: int = MAX_LINE_CHARS) -> str:
    """Write a text in one line of up to `most` characters, cut where a reader would see no broken character."""
    return snippet(" ".join(" ".join(lines_of(neutral(text[: most * 2]))).split()), most)


def name_of(text: str) -> str:
    """Write a name or a place, which may be anything, in one line that opens no fence."""
    return one_line(text).replace("`", "'")


def lines_of(text: str) -> list[str]:
    """Split at everything that some reader takes for the end of a line."""
    return _LINE_END.split(text)
