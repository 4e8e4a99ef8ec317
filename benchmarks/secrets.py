"""Measure how well secrets are told from what only looks like them.

Run as `python -m benchmarks.secrets`. The labelled texts of tests/masking/texts.yaml are masked. Precision: how many of
the masked places were secrets; recall: how many of the secrets were masked, whole. Then what masking costs: for an
ordinary message of 200 characters, and for one with a secret. `--wrong` lists what went wrong.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast

from rich.console import Console
from rich.table import Table

from openclaw_memory.masking.cues import may_hold
from openclaw_memory.masking.mask import mask, spans_of

ORDINARY = (
    "我们昨天去杭州看了西湖，天气特别好，中午在楼外楼吃了醋鱼，下午坐船去了三潭印月，晚上回到酒店已经十点多了。"
    "We also talked about the trip to Norway in June: ferries, cabins, and who feeds the cat while everybody is away. "
    "Tell Mum that the photos are on the new disk, please."
)[:200]


def labelled() -> list[Any]:
    """Give the labelled texts."""
    sys.path.insert(0, str(Path(__file__).parent.parent))
    return cast("list[Any]", importlib.import_module("tests.masking.texts").labelled())


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--wrong", action="store_true", help="list what went wrong")
    wrong = parser.parse_args().wrong
    out = Console()
    texts = labelled()
    table = Table("texts", "number", "secrets", "precision", "recall")
    for part in dict.fromkeys(text.part for text in texts):
        for language in ("zh", "en"):
            _add(table, f"{part} {language}", [t for t in texts if (t.part, t.language) == (part, language)])
        _add(table, part, [text for text in texts if text.part == part])
    _add(table, "all", texts)
    out.print(table)
    if wrong:
        for text in texts:
            found = {(start, end) for start, end, _ in spans_of(text.text)}
            if found != set(text.secrets):
                shown = [text.text[start:end] for start, end in sorted(found)]
                out.print(f"{text.part} {text.language}: {text.text!r}\n    masked {shown}", markup=False)
    print(
        f"a quick look at an ordinary message of {len(ORDINARY)} characters: {_cost(lambda: may_hold(ORDINARY)):.1f} us"
    )
    print(f"masking it: {_cost(lambda: mask(ORDINARY, 'zh')):.1f} us")
    with_cue = ORDINARY[:170] + " My password is required"
    print(f"masking one that speaks of a password: {_cost(lambda: mask(with_cue, 'zh')):.1f} us")


def scores(texts: Iterable[Any]) -> tuple[int, float, float]:
    """Count secrets, and give precision and recall."""
    right = given = due = 0
    for text in texts:
        found = [(start, end) for start, end, _ in spans_of(text.text)]
        given, due = given + len(found), due + len(text.secrets)
        right += len(set(found) & set(text.secrets))
    return due, right / given if given else 1.0, right / due if due else 1.0


def _add(table: Table, name: str, texts: list[Any]) -> None:
    due, precision, recall = scores(texts)
    table.add_row(name, str(len(texts)), str(due), f"{precision:.3f}", f"{recall:.3f}")


def _cost(do: Callable[[], object], times: int = 2_000) -> float:
    """Give the microseconds of processor time that something takes, the best of five runs."""
    best = float("inf")
    for _ in range(5):
        began = time.thread_time()
        for _ in range(times):
            do()
        best = min(best, time.thread_time() - began)
    return best / times * 1e6


if __name__ == "__main__":
    main()
