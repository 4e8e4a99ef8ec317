"""Modes are presets of other settings; the workspace is found where the seeds and the real OpenClaw have it."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts import CuratedContent, MemoryRead, MemoryWrite
from openclaw_memory import ConfigError, MemoryConfig
from openclaw_memory.guide import memory_context_of
from tests.support import START, remembering


def load(tmp_path: Path, text: str, **environ: str) -> MemoryConfig:
    path = tmp_path / "config.yaml"
    path.write_text(f"root: {tmp_path}\n{text}", encoding="utf-8")
    return MemoryConfig.load(path, environ)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("four_layer", ("MEMORY.md", 2, False, False, False)),
        ("two_layer", ("memory/MEMORY.md", 1, False, False, False)),
        ("four_tier", ("MEMORY.md", 2, True, False, False)),
        ("history", ("memory/MEMORY.md", 2, False, True, True)),
    ],
)
def test_a_mode_is_a_set_of_settings(tmp_path: Path, mode: str, expected: tuple[object, ...]) -> None:
    """What it sets can be written down instead, and what is written down has the last word."""

    def settings(config: MemoryConfig) -> tuple[object, ...]:
        kept = (config.session_files, config.history_file, config.daily_log_messages)
        return (config.memory_file, config.daily_log_days, *kept)

    assert settings(load(tmp_path, f"mode: {mode}")) == expected
    assert settings(load(tmp_path, "", OPENCLAW_MEMORY_MODE=mode)) == expected
    other = load(tmp_path, f"mode: {mode}\ndailyLogDays: 5\nsessionFiles: false\n")
    assert settings(other) == (expected[0], 5, False, *expected[3:])


def test_session_rules_in_the_shape_of_the_seed(tmp_path: Path) -> None:
    """Seed 003 section 26.4.3, both as it stands there and with other values; all of it is in effect."""
    seed = (
        "session:\n  primary_private:\n    load_memory: true\n  sub_session:\n    load_memory: false\n"
        "    inherit_context: minimal\n  group_session:\n    load_memory: false\n    load_shared_context: true\n"
    )
    config = load(tmp_path, seed + "dailyLogDays: 2\n")
    assert config.session == MemoryConfig().session
    assert config.not_in_effect == ()
    other = load(tmp_path, "session: {subSession: {inheritContext: full}, groupSession: {loadSharedContext: false}}\n")
    assert other.session.sub_session.inherit_context == "full"
    assert not other.session.group_session.load_shared_context


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("session: {group_session: {load_memory: true}}", "put what groups may see into shared/"),
        ("session: {group_session: {load_memory: perhaps}}", "neither true nor false"),
        ("session: {sub_sesion: {load_memory: true}}", "did you mean 'session.sub_session'?"),
        ("session: {sub_session: {load_memry: true}}", "did you mean 'session.sub_session.load_memory'?"),
        ("session: {sub_session: {inherit_context: some}}", "session.sub_session.inherit_context"),
        ("workspace_id: ../x", "workspace_id"),
        ("dailyLogDays: -1", "daily_log_days"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, problem: str) -> None:
    """Privacy can't be configured away, and a mistyped rule is no rule that is silently left out."""
    with pytest.raises(ConfigError) as failure:
        load(tmp_path, text)
    assert problem in str(failure.value)


@pytest.mark.parametrize("path", ["{root}", "{root}/memory", "{root}/memory/x"])
def test_workspace_and_memory_lie_apart(tmp_path: Path, path: str) -> None:
    """Else conversations would be taken for notes."""
    with pytest.raises(ConfigError, match="set memory_path or workspace_path"):
        load(tmp_path, f"workspace_path: {path.format(root=tmp_path)}")
    assert load(tmp_path, f"workspace_path: {tmp_path}\nmemory_path: {tmp_path}/.memory").workspace_folder == tmp_path


def test_place_of_the_workspace(tmp_path: Path) -> None:
    """Seed 003's folder, unless the real OpenClaw's is there alone; what is configured counts before both."""
    outer = tmp_path / "workspace"
    assert load(tmp_path, "").workspace_folder == outer / "main"
    outer.mkdir()
    assert load(tmp_path, "").workspace_folder == outer / "main"
    (outer / "MEMORY.md").write_text("# M\n")
    assert load(tmp_path, "").workspace_folder == outer
    (outer / "main").mkdir()
    assert load(tmp_path, "").workspace_folder == outer / "main"
    assert load(tmp_path, "workspace_path: /elsewhere").workspace_folder == Path("/elsewhere")


@pytest.mark.parametrize("mode", ["four_layer", "two_layer", "four_tier", "history"])
async def test_an_entry_of_memory_md_is_told_once(tmp_path: Path, mode: str) -> None:
    """Wherever MEMORY.md lies, also in the folder of the notes: what is loaded of it is not recalled as well."""
    async with remembering(tmp_path, mode=mode) as it:
        content = CuratedContent(text="用户住在杭州")
        await it.ask(MemoryWrite(type="memory", content=content, session_id="s1"))
        context = await it.ask(MemoryRead(query="用户住在哪里？", session_id="s1", max_tokens=2_000))
        assert "用户住在杭州" in "".join(context.memory)
        assert context.recalled == ()


async def test_two_layers_as_one_text(tmp_path: Path) -> None:
    """Seed 002's text by a read on the bus: MEMORY.md and today's notes, read anew each time."""
    work = tmp_path / "workspace/main/memory"
    work.mkdir(parents=True)
    (work / "MEMORY.md").write_text("# User Preferences\n\n## 偏好\n\n- Zod\n- 简洁\n", encoding="utf-8")
    (work / "2026-05-04.md").write_text("# 2026-05-04 日记\n\n- [ ] 完成登录\n", encoding="utf-8")
    (work / "2026-05-03.md").write_text("- 昨天\n", encoding="utf-8")
    async with remembering(tmp_path, mode="two_layer") as it:
        ask = MemoryRead(query="", session_id="s1", max_tokens=4_000)
        day = START.date()
        assert memory_context_of(await it.ask(ask), day) == (
            "## Long-term Memory\n\n# User Preferences\n## 偏好\n- Zod\n- 简洁\n\n---\n\n"
            "## Today's Notes (2026-05-04)\n\n# 2026-05-04 日记\n- [ ] 完成登录"
        )
        (work / "2026-05-04.md").unlink()
        text = memory_context_of(await it.ask(ask), day, "zh")
        assert text is not None
        assert ("长期记忆" in text, "今日笔记" in text) == (True, False)
        (work / "MEMORY.md").unlink()
        assert memory_context_of(await it.ask(ask), day) is None
