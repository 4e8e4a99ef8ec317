"""Kinds of secrets, and the words that stand in their place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

Kind = Literal["api key", "token", "password", "private key"]

Language = Literal["zh", "en"]

_NAMES: Mapping[Language, Mapping[Kind, str]] = {
    "en": {"api key": "api key", "token": "token", "password": "password", "private key": "private key"},
    "zh": {"api key": "API 密钥", "token": "令牌", "password": "密码", "private key": "私钥"},
}
_PLACES: Mapping[Language, str] = {"en": "[masked: {}]", "zh": "[已隐去: {}]"}
_TOLD: Mapping[Language, str] = {
    "en": "not stored, since it is secret: {} (`secrets.mask: false` keeps such things)",
    "zh": "属于机密，未保存：{}（`secrets.mask: false` 则照存）",
}

PLACEHOLDER_BEGINS = ("[masked", "[已隐去")
"""What stands in the place of a secret begins so; it is none itself."""


def placeholder(kind: Kind, language: Language) -> str:
    """Give what stands in the place of a secret."""
    return _PLACES[language].format(_NAMES[language][kind])


def one_name(text: str, language: Language) -> str:
    """Write what stands in the places of secrets without a colon, for names that may have none."""
    for kind in _NAMES[language]:
        text = text.replace(placeholder(kind, language), placeholder(kind, language).replace(": ", " "))
    return text


def told(kinds: Iterable[Kind], language: Language) -> str:
    """Say what was masked, for a reply."""
    names = dict.fromkeys(_NAMES[language][kind] for kind in kinds)
    return _TOLD[language].format(("、" if language == "zh" else ", ").join(names))
