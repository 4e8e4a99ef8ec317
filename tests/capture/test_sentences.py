"""The judge's verdicts on labelled sentences; `python -m benchmarks.judge` prints the same figures."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.judge import FILES, Case, read_cases, score
from openclaw_memory.capture import judge

SENTENCES = read_cases(FILES["sentences"])
HELD_OUT = read_cases(FILES["held out"])
DETAILED = [case for case in (*SENTENCES, *HELD_OUT) if case.expected]


def verdicts(cases: list[Case]) -> list[tuple[str, str]]:
    return [(case.verdict, case.judged().verdict) for case in cases]


def test_enough_sentences_in_both_languages() -> None:
    """At least 200 sentences and 80 held out, half of them in each language, none twice."""
    for cases, least in ((SENTENCES, 200), (HELD_OUT, 80)):
        languages = Counter(case.language for case in cases)
        assert len(cases) >= least
        assert abs(languages["zh"] - languages["en"]) <= len(cases) * 0.05
    said = Counter((case.say, tuple(case.given.items())) for case in (*SENTENCES, *HELD_OUT))
    assert [say for say, times in said.items() if times > 1] == []


@pytest.mark.parametrize("verdict", ["write", "propose"])
@pytest.mark.parametrize("cases", [SENTENCES, HELD_OUT], ids=["sentences", "held out"])
def test_precision(cases: list[Case], verdict: str) -> None:
    """More than 95 of 100 of what is written or proposed was meant to be."""
    assert score(verdicts(cases), verdict).precision > 0.95


@pytest.mark.parametrize(
    ("cases", "verdict", "least"),
    [(SENTENCES, "write", 0.95), (SENTENCES, "propose", 0.95), (HELD_OUT, "write", 0.85), (HELD_OUT, "propose", 0.75)],
)
def test_recall(cases: list[Case], verdict: str, least: float) -> None:
    """Most of what was meant to be is written or proposed; on sentences that the rules were not made with, fewer."""
    assert score(verdicts(cases), verdict).recall >= least


@pytest.mark.parametrize("case", DETAILED, ids=[case.say for case in DETAILED])
def test_what_is_found(case: Case) -> None:
    """The text, the rule and the place are those that the file names."""
    finding = case.judged().strongest
    assert finding is not None
    got = {"text": finding.text, "rule": finding.rule}
    for name in ("layer", "section", "key", "value"):
        got[name] = getattr(finding.place, name, None)
    assert {name: got[name] for name in case.expected} == dict(case.expected)


@pytest.mark.parametrize("case", [case for case in SENTENCES if case.verdict == "write"], ids=lambda case: case.say)
def test_text_is_the_users_words(case: Case) -> None:
    """What is stored stands in what the user said, now or before: nothing is made up."""
    said = " ".join((case.say, *case.given.get("earlier", ())))
    for finding in judge(case.say, **case.given).of("write"):
        assert finding.text in said


def test_score_counts_pairs() -> None:
    """Precision over what was given, recall over what was due."""
    counted = score([("write", "write"), ("skip", "write"), ("write", "ask"), ("skip", "skip")], "write")
    assert (counted.right, counted.given, counted.due) == (1, 2, 2)
    assert (counted.precision, counted.recall) == (0.5, 0.5)
    assert score([], "ask").precision == 1.0


def test_unknown_label_is_refused(tmp_path) -> None:
    """A verdict or a field that nobody knows is named, not passed over."""
    path = tmp_path / "x.yaml"
    path.write_text("wirte:\n  en: [a]\n")
    with pytest.raises(ValueError, match="'wirte' is no verdict"):
        read_cases(path)
    path.write_text("write:\n  en: [{say: a, texxt: b}]\n")
    with pytest.raises(ValueError, match="texxt"):
        read_cases(path)
