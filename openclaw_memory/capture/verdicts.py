"""What the judge says of a message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["write", "propose", "ask", "skip"]
"""`write`: asked for, done at once. `propose`: worth suggesting. `ask`: unsure. `skip`: nothing to keep."""

Rule = Literal[
    "explicit_request",
    "nothing_named",
    "unclear_request",
    "preference",
    "standing_wish",
    "about_user",
    "changed",
    "decision",
    "repeated_correction",
    "hedged",
    "asked_not_to",
    "known",
    "echo",
    "reported",
    "question",
    "hypothetical",
    "for_once",
    "no_statement",
]
"""Why: the name of the rule that decided."""

_RANK: tuple[Verdict, ...] = ("write", "propose", "ask", "skip")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a finding would be stored.

    `layer` is `fact` (with `section`, `key` and `value`), `memory` (an entry of MEMORY.md in `section`), `note` (the
    day's log) or `task`. What the layer has not is None.
    """

    layer: Literal["fact", "memory", "note", "task"]
    section: str | None = None
    key: str | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What one sentence of a message comes to.

    `sentence` is the sentence as it was written, `text` what would be stored (empty for `skip`, and for `ask` where
    nothing was named), `place` where it would go (None when there is no text).
    """

    verdict: Verdict
    rule: Rule
    sentence: str
    text: str = ""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The findings of a message, one a sentence, in order."""

    findings: tuple[Finding, ...] = ()

    @property
    def strongest(self) -> Finding | None:
        """Give the finding that says most: `write` before `propose` before `ask` before `skip`, then the first."""
        return min(self.findings, key=lambda finding: _RANK.index(finding.verdict), default=None)

    @property
    def verdict(self) -> Verdict:
        """Give the verdict on the message as a whole, that of its strongest finding; `skip` for an empty one."""
        strongest = self.strongest
        return strongest.verdict if strongest else "skip"

    def of(self, verdict: Verdict) -> Sequence[Finding]:
        """Give the findings with this verdict, in order."""
        return [finding for finding in self.findings if finding.verdict == verdict]
