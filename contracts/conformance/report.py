"""What the checks found."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_OFFERED = "not offered"


@dataclass(frozen=True, slots=True)
class Result:
    """What one check found.

    Args:
        name: What was checked.
        outcome: How it ended.
        reason: Why it failed or is not offered; empty when it passed.
    """

    name: str
    outcome: Outcome
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What all checks found.

    Args:
        subject: What was verified.
        results: One for each check, in the order in which they ran.
    """

    subject: str
    results: tuple[Result, ...]

    @property
    def passed(self) -> bool:
        """Whether no check failed. What is not offered is no failure."""
        return bool(self.results) and not self.named(Outcome.FAILED)

    def named(self, outcome: Outcome) -> list[str]:
        """Give the names of the checks that ended so."""
        return [result.name for result in self.results if result.outcome is outcome]

    def table(self, width: int = 120) -> str:
        """Write one line a check with its reason below, what is not offered once for all its checks, and a sum.

        Args:
            width: Characters a line.
        """
        lines = [self.subject]
        for result in self.results:
            if result.outcome is not Outcome.NOT_OFFERED:
                lines += [f"  {result.outcome.upper():<8}{result.name}", *_indented(result.reason, width)]
        missing = dict.fromkeys(result.reason for result in self.results if result.outcome is Outcome.NOT_OFFERED)
        for reason in missing:
            lines += _indented(f"- {reason}", width)
        counts = ", ".join(f"{len(self.named(outcome))} {outcome}" for outcome in Outcome)
        return "\n".join([*lines, f"  {counts}"])


def _indented(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=" " * 10, subsequent_indent=" " * 12, break_on_hyphens=False)
