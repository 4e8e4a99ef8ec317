"""How a summary's file changes: harmless when done again, and never over what a person wrote."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.layers.summary_edits import FORMAT, digest_of, tasks_section
from openclaw_memory.layers.summary_records import Record, judge, record_in
from openclaw_memory.storage.operations import Operation

PATH = "summaries/monthly/2026-05.md"
AT = "2026-06-01T00:05:00+08:00"
OURS = "# 每月摘要 - 2026-05\n\n## 重要信息\n\n- 旧的一条\n"
NEW = "# 每月摘要 - 2026-05\n\n## 重要信息\n\n- 新的一条\n"
HEAD = "# 每月摘要 - 2026-05\n\n> 生成时间: x\n"

bodies = st.sampled_from(
    ["", OURS, NEW, OURS.replace("\n", "\r\n"), "我写的。\n", f"{OURS}\n我的批注。", "# 别的\n\n```\n没关"]
)


def document(body: str) -> Any:
    return FORMAT.parse(PATH, body.encode())


def applied(body: str, kind: str, arguments: dict[str, Any]) -> str:
    return str(FORMAT.apply(document(body), Operation(PATH, kind, {**arguments, "at": AT})).body)


def write(old: str | None = OURS, text: str = NEW) -> dict[str, Any]:
    return {"text": text, "old": None if old is None else digest_of(old)}


def put(given_: str = "- 代理写的", old: str | None = OURS) -> dict[str, Any]:
    return {**write(old, f"# t\n\n{given_}\n"), "given": given_, "language": "zh"}


def tasks(*ids: str, more: str | None = None) -> dict[str, Any]:
    lines = [[one, f"- [x] [{one}] 做完了"] for one in ids]
    return {"lines": lines, "more": more, "head": HEAD, "language": "zh"}


MORE = "- 另有 {} 个，见 tasks/archived/2026-05-tasks.md"

operations = st.sampled_from(
    [
        ("write", write()),
        ("put", put()),
        ("tasks", tasks("OPEN-001", "OPEN-002")),
        ("tasks", tasks("OPEN-001", more=MORE.format(3))),
    ]
)


@given(body=bodies, operation=operations)
def test_done_again_it_changes_nothing(body: str, operation: tuple[str, dict[str, Any]]) -> None:
    """As after a crash, when the journal is replayed."""
    once = applied(body, *operation)
    assert applied(once, *operation) == once


@pytest.mark.parametrize("body", ["我写的。\n", f"{OURS}\n我的批注。\n", OURS.replace("旧", "我改的")])
def test_ours_stays_away_from_a_persons(body: str) -> None:
    """Whenever they wrote it; what somebody handed in is put below."""
    assert applied(body, "write", write()) == body
    beside = applied(body, "put", put())
    assert beside.startswith(body.rstrip())
    assert "- 代理写的" in beside
    operation = Operation(PATH, "write", {**write(), "at": AT})
    assert FORMAT.collision(document(body), operation)


@pytest.mark.parametrize("body", ["", OURS, OURS.replace("\n", "\r\n"), f"{OURS}\n\n"])
def test_in_the_place_of_ours(body: str) -> None:
    """Line ends and blank lines at the end are no edit."""
    assert applied(body, "write", write()).replace("\r\n", "\n") == NEW
    assert FORMAT.collision(document(body), Operation(PATH, "write", {**write(), "at": AT})) is None


def test_tasks_get_a_section_once() -> None:
    """Each task once, wherever the section stands; the line that counts the rest is renewed; the rest stays."""
    body = applied(OURS, "tasks", tasks("OPEN-001", more=MORE.format(1)))
    assert body.startswith(OURS)
    body = applied(
        body + "\n## 我的\n\n笔记\n",
        "tasks",
        tasks("OPEN-001", "OPEN-002", more=MORE.format(2)),
    )
    assert body.endswith("\n## 我的\n\n笔记\n")
    assert tasks_section(body).splitlines() == [
        "## 完成的任务",
        "",
        "- [x] [OPEN-001] 做完了",
        "- [x] [OPEN-002] 做完了",
        MORE.format(2),
    ]
    # A line that a person has changed is that task's line.
    edited = body.replace("[OPEN-001] 做完了", "[OPEN-001] 做得很好")
    assert applied(edited, "tasks", tasks("OPEN-001")) == edited
    assert applied("", "tasks", tasks("OPEN-001")).startswith(HEAD)


@pytest.mark.parametrize(
    ("record", "body", "verdict"),
    [
        (None, "", "make"),
        (None, "我写的。", "edited"),
        (Record(digest_of(OURS), "rules", "c"), OURS, "same"),
        (Record(digest_of(OURS), "rules", "other"), OURS, "make"),
        (Record(digest_of(OURS), "model", "other"), f"{OURS}x", "edited"),
        (Record(digest_of(OURS), "rules", "other"), "", "removed"),
        (Record(digest_of(OURS), "agent", ""), OURS, "given"),
        (Record(None, "rules", "c"), "", "same"),
        (Record(None, "rules", "other"), "", "make"),
        (Record(None, "rules", "other"), "我写的。", "edited"),
    ],
)
def test_what_becomes_of_a_summary(record: Record | None, body: str, verdict: str) -> None:
    """Only what is ours, and of something else than before, is made again."""
    assert judge(record, body, "c") == verdict


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["digest", "by", "content", "stamps", "a"]), inner)
        ),
    )
)
def test_a_record_that_a_person_broke_is_none(value: Any) -> None:
    """Then the summary counts as theirs."""
    found = record_in({PATH: value}, PATH)
    assert found is None or isinstance(found, Record)
    assert record_in({}, PATH) is None
