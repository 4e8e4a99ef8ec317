"""A memory folder is made once, and everything in it explains itself."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
import yaml

from openclaw_memory.cli.template import config_text
from openclaw_memory.config import MemoryConfig
from tests.cli.test_commands import run
from tests.memory_folder import content


def test_second_run_changes_nothing(tmp_path: Path) -> None:
    """The first says what it made, the second that everything is there."""
    root = tmp_path / "deep/er/openclaw"
    first = run("init", "--root", root)
    assert first.exit_code == 0, first.output
    assert f"made  {root}/memory/conversations/" in first.output
    before = content(root)
    second = run("init", "--root", root)
    assert second.exit_code == 0
    assert second.output.startswith("Everything is there already; nothing was changed.")
    assert content(root) == before == {"config.yaml": (root / "config.yaml").read_bytes()}


def test_json_tells_what_was_made(tmp_path: Path) -> None:
    """And what was kept; folders end in a slash."""
    (tmp_path / "memory").mkdir()
    told = json.loads(run("init", "--root", tmp_path, "--json").output)
    assert told.keys() == {"root", "config", "memory", "workspace", "made", "kept"}
    assert told["kept"] == [f"{tmp_path}/", f"{tmp_path}/memory/"]
    assert f"{tmp_path}/config.yaml" in told["made"]


def test_only_its_owner_may_look_into_it(tmp_path: Path) -> None:
    """As everything that memory makes."""
    run("init", "--root", tmp_path / "root")
    for folder, _, names in os.walk(tmp_path / "root"):
        assert Path(folder).stat().st_mode & 0o777 == 0o700
        assert all((Path(folder) / name).stat().st_mode & 0o777 == 0o600 for name in names)


def test_options_are_written_down(tmp_path: Path) -> None:
    """They are in effect from then on; a file that is there is not changed for them."""
    run("init", "--root", tmp_path, "--mode", "two_layer", "--timezone", "Asia/Shanghai", "--language", "en")
    config = MemoryConfig.load(tmp_path / "config.yaml", {})
    assert config.root == tmp_path
    assert (config.mode, config.timezone, config.language) == ("two_layer", "Asia/Shanghai", "en")
    assert run("init", "--root", tmp_path, "--mode", "two_layer").exit_code == 0
    changed = run("init", "--root", tmp_path, "--mode", "history")
    assert changed.exit_code == 2
    assert "set `mode: history` in it" in " ".join(changed.output.split())
    assert MemoryConfig.load(tmp_path / "config.yaml", {}).mode == "two_layer"


def test_workspace_of_another_program_is_left_alone(tmp_path: Path) -> None:
    """It is named in the configuration, and nothing is put into it."""
    workspace = tmp_path / "theirs"
    workspace.mkdir()
    (workspace / "MEMORY.md").write_text("# Mine\n")
    assert run("init", "--root", tmp_path / "root", "--workspace", workspace).exit_code == 0
    assert content(workspace) == {"MEMORY.md": b"# Mine\n"}
    loaded = MemoryConfig.load(tmp_path / "root/config.yaml", {})
    assert loaded.workspace_path == workspace


def test_every_setting_stands_in_the_file() -> None:
    """With the comment marks taken away it is all defaults, section by section."""
    text = config_text({})
    assert yaml.safe_load(text) == {"memory": None}
    lines = text.split("memory:\n")[1].splitlines()
    bare = [line.replace("# ", "", 1) for line in lines if re.match(r" +# +[a-z_]+:( |$)", line)]
    settings = yaml.safe_load("\n".join(["memory:", *bare]))["memory"]
    assert MemoryConfig.from_settings(settings, "x") == MemoryConfig()
    assert settings.keys() == MemoryConfig.model_fields.keys() - {"not_in_effect"}
    assert "seed" not in text
    assert max(map(len, text.splitlines())) <= 120


def test_disk_that_refuses_is_trouble(tmp_path: Path) -> None:
    """Exit code 3, and why; run again, the rest is made."""
    (tmp_path / "memory").write_text("a file in the way\n")
    shown = run("init", "--root", tmp_path)
    assert shown.exit_code == 3
    assert str(tmp_path / "memory") in shown.stderr
    (tmp_path / "memory").unlink()
    assert run("init", "--root", tmp_path).exit_code == 0


def test_root_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """OPENCLAW_MEMORY_ROOT names the folder where no option does."""
    monkeypatch.setenv("OPENCLAW_MEMORY_ROOT", str(tmp_path / "a"))
    assert run("init").exit_code == 0
    assert (tmp_path / "a/config.yaml").is_file()
