"""The guide and the context of two-layer mode (seed 002)."""

from __future__ import annotations

from datetime import date
from typing import get_args

import pytest

from openclaw_memory.errors import Refused
from openclaw_memory.guide import Language, memory_context, memory_guide

DAY = date(2026, 2, 15)


@pytest.mark.parametrize("language", get_args(Language))
def test_guide_names_files_and_tool(language: Language) -> None:
    """Where to write and with what; nothing is left to be filled in."""
    guide = memory_guide(language, memory_file="m/MEMORY.md", daily_file="m/2026-02-15.md", write_tool="put_file")
    for name in ("`m/MEMORY.md`", "`m/2026-02-15.md`", "`put_file`"):
        assert name in guide
    assert "$" not in guide
    assert guide.startswith("## ")


@pytest.mark.parametrize(
    ("language", "rules"),
    [
        ("zh", ["要求记住", "偏好", "第三次纠正", "这一次", "已经有", "拿不准", "一行一条", "只追加", "密码"]),
        (
            "en",
            [
                "asks you to remember",
                "preference",
                "third time",
                "this once",
                "already",
                "not sure",
                "one line an entry",
                "don't delete",
                "Passwords",
            ],
        ),
    ],
)
def test_guide_has_the_rules_of_learning(language: Language, rules: list[str]) -> None:
    """Seed 002's rules: when to write, when not to, in which form."""
    guide = memory_guide(language)
    assert [rule for rule in rules if rule not in guide] == []


def test_paths_may_hold_what_templates_do() -> None:
    """A dollar sign in a path is a dollar sign."""
    assert "`$HOME/${x}/MEMORY.md`" in memory_guide("en", memory_file="$HOME/${x}/MEMORY.md")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("memory_file", ""),
        ("memory_file", "a\nb"),
        ("daily_file", "a`b"),
        ("daily_file", "x" * 1_001),
        ("write_tool", "\u2028"),
        ("write_tool", " "),
    ],
)
def test_bad_names_are_refused_by_name(field: str, value: str) -> None:
    """A path that could break out of its line is not put into a system prompt."""
    with pytest.raises(Refused) as caught:
        memory_guide("zh", **{field: value})
    assert caught.value.field == field


def test_unknown_language_is_refused() -> None:
    """The languages there are are named."""
    with pytest.raises(Refused, match="'de' has no guide; use one of zh, en"):
        memory_guide("de")  # type: ignore[arg-type]


def test_context_of_the_seed() -> None:
    """Both layers under their headings, a rule between them."""
    text = memory_context("# User\n\n- Zod\n", "\n- [ ] login\n", DAY)
    assert text == ("## Long-term Memory\n\n# User\n\n- Zod\n\n---\n\n## Today's Notes (2026-02-15)\n\n- [ ] login")


@pytest.mark.parametrize(
    ("long_term", "today", "expected"),
    [
        (None, None, None),
        ("", " \n", None),
        ("a", None, "## 长期记忆\n\na"),
        (None, "b", "## 今日笔记 (2026-02-15)\n\nb"),
    ],
)
def test_layer_that_is_not_there(long_term: str | None, today: str | None, expected: str | None) -> None:
    """A missing or blank file leaves no heading; nothing at all is None."""
    assert memory_context(long_term, today, DAY, "zh") == expected
