"""Measure how well the judge tells what is to be remembered.

Run as `python -m benchmarks.judge`. Two labelled files are judged: the sentences that the rules were written with, and
the held-out ones. For each verdict: precision (how many of those given were right) and recall (how many of those due
were given), by language. With `--talk PATH ...` (text files, one message a line) it lists what real talk brings out,
for a person to read: there is no label.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import yaml
from rich.console import Console
from rich.table import Table

from openclaw_memory.capture import Finding, Judgement, Verdict, judge

DATA = Path(__file__).parent.parent / "tests" / "capture"
FILES = {"sentences": DATA / "sentences.yaml", "held out": DATA / "heldout.yaml"}
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
LANGUAGES = ("zh", "en")


@dataclass(frozen=True, slots=True)
class Case:
    """A labelled sentence: the verdict that is due, what the judge is given, and what the finding must hold."""

    verdict: Verdict
    language: str
    say: str
    given: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    expected: Mapping[str, str] = field(default_factory=dict)

    def judged(self) -> Judgement:
        """Judge the sentence with what goes with it."""
        return judge(self.say, **self.given)


@dataclass(frozen=True, slots=True)
class Score:
    """How often a verdict was right."""

    right: int
    given: int
    due: int

    @property
    def precision(self) -> float:
        """Share of the verdicts given that were right; 1 when none was given."""
        return self.right / self.given if self.given else 1.0

    @property
    def recall(self) -> float:
        """Share of the verdicts due that were given; 1 when none was due."""
        return self.right / self.due if self.due else 1.0


def read_cases(path: Path) -> list[Case]:
    """Read a labelled file: verdict, language, entries.

    Raises:
        ValueError: When a verdict or a field is unknown; names it.
    """
    return list(_cases(yaml.safe_load(path.read_text(encoding="utf-8"))))


def _cases(content: Mapping[Any, Mapping[str, list[Any]]]) -> Iterator[Case]:
    for verdict, languages in content.items():
        if verdict not in VERDICTS:
            raise ValueError(f"{verdict!r} is no verdict; the verdicts are {', '.join(VERDICTS)}")
        for language, entries in languages.items():
            for entry in entries:
                fields = dict(entry) if isinstance(entry, dict) else {"say": entry}
                given = {name: tuple(fields.pop(name)) for name in ("earlier", "supplied", "known") if name in fields}
                say = fields.pop("say")
                if unknown := set(fields) - {"text", "rule", "layer", "section", "key", "value"}:
                    raise ValueError(f"{say!r} has the unknown fields {sorted(unknown)}")
                yield Case(verdict, language, say, given, fields)


def score(pairs: Iterable[tuple[Verdict, Verdict]], verdict: Verdict) -> Score:
    """Count over pairs of the verdict due and the verdict given."""
    counts = Counter(pairs)
    return Score(
        counts[verdict, verdict],
        sum(number for (_, given), number in counts.items() if given == verdict),
        sum(number for (due, _), number in counts.items() if due == verdict),
    )


def _report(console: Console, name: str, cases: list[Case]) -> None:
    judged = [(case, case.judged()) for case in cases]
    table = Table(title=f"{name}: {len(cases)} sentences")
    for column in ("verdict", "language", "precision", "recall"):
        table.add_column(column, justify="left" if column in ("verdict", "language") else "right")
    for verdict in VERDICTS:
        for language in (*LANGUAGES, "both"):
            pairs = [(case.verdict, found.verdict) for case, found in judged if language in (case.language, "both")]
            counted = score(pairs, verdict)
            table.add_row(
                verdict,
                language,
                f"{counted.precision:.3f} ({counted.right}/{counted.given})",
                f"{counted.recall:.3f} ({counted.right}/{counted.due})",
            )
    console.print(table)
    for case, found in judged:
        if found.verdict != case.verdict:
            why = found.strongest.rule if found.strongest else "no sentence"
            console.print(f"due {case.verdict}, given {found.verdict} ({why}): {case.say}", markup=False)


def _talk(console: Console, path: Path) -> None:
    messages = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    started = time.process_time()
    findings: list[Finding] = [finding for message in messages for finding in judge(message).findings]
    each = (time.process_time() - started) / max(1, len(messages)) * 1e6
    counts = Counter(f"{finding.verdict}: {finding.rule}" for finding in findings)
    console.print(
        f"{path.name}: {len(messages)} messages, {each:.0f} µs of processor time each, {dict(counts.most_common())}",
        markup=False,
    )
    for finding in findings:
        if finding.verdict != "skip":
            console.print(f"  {finding.verdict} ({finding.rule}): {finding.sentence}", markup=False)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--talk", type=Path, nargs="*", default=[], help="text files, one message a line")
    options = parser.parse_args()
    console = Console()
    for name, path in FILES.items():
        _report(console, name, read_cases(path))
    for path in options.talk:
        _talk(console, path)


if __name__ == "__main__":
    main()
