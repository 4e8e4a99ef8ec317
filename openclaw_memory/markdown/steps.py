"""The steps of a task: a list with check boxes under the attribute `- 步骤:` (seed 000 section 2.3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from openclaw_memory.markdown.text import split_lines, without_end

_STEP = re.compile(r"([ \t]*)((?:[-*+]|\d{1,9}[.)])[ \t]+)(?:\[([ xX])\](?:[ \t]+|\Z))?(.*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a task: a line of text, and whether it is done."""

    text: str
    done: bool = False


def read_steps(lines: Sequence[str]) -> list[tuple[Step, str]]:
    """Read steps, each with its raw lines: what is no step, or stands deeper, goes with the step before it.

    Args:
        lines: The raw lines under the attribute, with their ends.
    """
    steps: list[tuple[Step, str]] = []
    depth = None
    for line in lines:
        match = _STEP.match(without_end(line))
        if match and (depth is None or len(match[1].expandtabs(4)) <= depth):
            depth = len(match[1].expandtabs(4))
            steps.append((Step(match[4].strip(), (match[3] or " ") != " "), line))
        elif steps:
            step, raw = steps[-1]
            steps[-1] = (step, raw + line)
    return steps


def write_steps(
    steps: Sequence[Step], newline: str, old: Sequence[tuple[Step, str]] = (), margin: int = 2
) -> list[str]:
    """Write steps, each line with its end; a step that was there keeps its lines, with only its box changed.

    Args:
        steps: All steps, in order.
        newline: Line end for new lines.
        old: What `read_steps` found.
        margin: How far new steps are indented, in columns.
    """
    unused = list(old)
    written: list[str] = []
    for step in steps:
        known = next((pair for pair in unused if pair[0].text == step.text), None)
        if known is None:
            written.append(f"{' ' * margin}- [{'x' if step.done else ' '}] {step.text}{newline}")
            continue
        unused.remove(known)
        first, *rest = split_lines(known[1] if known[1].endswith("\n") else known[1] + newline)
        if known[0].done != step.done:
            first = _STEP.sub(rf"\1\2[{'x' if step.done else ' '}] \4", first)
        written += [first, *rest]
    return written
