"""What is said in a simulated year: LoCoMo's turns where they are, and sentences made from lists, in two languages."""

from __future__ import annotations

import json
import random
from pathlib import Path

LOCOMO = Path(__file__).parents[4] / "shared/data/locomo"

_WHAT = ("合同", "the router", "房租", "PostgreSQL", "体检", "the Zustand store", "签证", "React")
_HOW = (
    "决定改到 {}",
    "需要在 {} 之前完成",
    "is at version v{}",
    "的编号是 NR-{}",
    "cost {} euros",
    "由 {} 号同事负责",
    "should be done before {}",
)


def locomo_turns() -> list[str]:
    """Read the turns of all dialogues, in order; none where the folder is absent."""
    said: list[str] = []
    for path in sorted(LOCOMO.glob("*.json")):
        talk = json.loads(path.read_text(encoding="utf-8"))["conversation"]
        said += [turn["text"] for name in talk for turn in talk[name] if name[-1:].isdigit()]
    return said


class Talk:
    """Says the same on the same day, in whichever life.

    Parameters: `turns`, which are said in between, again from the beginning when they are used up.
    """

    def __init__(self, turns: list[str]) -> None:
        self._turns = turns

    def of(self, day: int, count: int = 4) -> list[str]:
        """Give what is said on a day: every other turn one of `turns`, where there are any."""
        chance = random.Random(day)
        made = [
            f"{chance.choice(_WHAT)} {chance.choice(_HOW).format(chance.randrange(10_000))}。" for _ in range(count)
        ]
        if self._turns:
            for place in range(1, count, 2):
                made[place] = self._turns[(day * count + place) // 2 % len(self._turns)]
        return made


def secret(number: int) -> str:
    """Make a key as a service gives it out."""
    chance = random.Random(f"key {number}")
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    return "sk-proj-" + "".join(chance.choices(letters, k=48))
