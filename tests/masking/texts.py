"""The labelled texts of `texts.yaml`, with the secrets put into them.

They are made here, from parts, so that nothing in the repository looks like one.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

FILE = Path(__file__).parent / "texts.yaml"

_BLANK = re.compile(r"\{(?:([AhUdB])(\d+)|p)\}")
_ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "h": "0123456789abcdef",
    "U": string.ascii_uppercase + string.digits,
    "d": string.digits,
    "B": string.ascii_letters + string.digits + "+/",
}
_WORDS = (
    "Bluebird",
    "hunter",
    "Sommer",
    "tiger",
    "Lanzhou",
    "piano",
    "Qwerty",
    "maple",
    "xiaoming",
    "Dragon",
    "coffee",
)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A text, and where its secrets are."""

    part: str
    language: str
    text: str
    secrets: tuple[tuple[int, int], ...]


def labelled(path: Path = FILE) -> list[Labelled]:
    """Read all texts; the same ones each time."""
    return list(_read(path))


def _read(path: Path) -> Iterator[Labelled]:
    for part, languages in yaml.safe_load(path.read_text(encoding="utf-8")).items():
        for language, kinds in languages.items():
            for number, template in enumerate([*kinds["secret"], *kinds["ordinary"]]):
                chance = random.Random(f"{part} {language} {number}")
                yield Labelled(part, language, *_filled(template, chance))


def _filled(template: str, chance: random.Random) -> tuple[str, tuple[tuple[int, int], ...]]:
    marked = _BLANK.sub(lambda match: _secret(match, chance), template)
    text, begins, ends = "", [], []
    for char in marked:
        if char == "«":
            begins.append(len(text))
        elif char == "»":
            ends.append(len(text))
        else:
            text += char
    return text, tuple(zip(begins, ends, strict=True))


def _secret(match: re.Match[str], chance: random.Random) -> str:
    if match[1] is None:
        return _password(chance)
    # Digits and capitals are in every random key of this length; a short one might have none.
    made = "".join(chance.choice(_ALPHABETS[match[1]]) for _ in range(int(match[2])))
    return made if match[1] != "A" or any(map(str.isdigit, made)) else f"{made[:-1]}7"


def _password(chance: random.Random) -> str:
    word = chance.choice(_WORDS)
    number = str(chance.randint(1, 9999))
    return chance.choice(
        [f"{word}{number}", f"{word}@{number}", f"{word}{number}!", f"{number}{word}", f"{word}#{number}"]
    )
