"""Items of summaries: what is written is read back, whatever stands in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.markdown.summaries import format_summary
from openclaw_memory.markdown.summary_items import (
    SummaryItem,
    SummaryItems,
    read_items,
    sources_in,
    without_sources,
    write_items,
)

_marks = st.sampled_from(["- ", "# ", "1. ", "> ", "```", "[x] ", "~~~", "\\", "===", "* ", "|", "", "12) "])
_words = st.text(min_size=1, max_size=30).map(lambda text: " ".join(text.split())).filter(bool)
lines = (
    st.builds(lambda mark, text: " ".join(f"{mark}{text}".split()), _marks, _words)
    .filter(lambda text: "<!--" not in text and "-->" not in text and bool(text.strip()))
)  # fmt: skip
sources = st.lists(
    st.builds(lambda name: f"2026-05-04#{name}", st.text(min_size=1, max_size=8).filter(str.isprintable)), max_size=2
).map(tuple)
points = st.builds(SummaryItem, lines, sources)
talks = st.builds(SummaryItem, lines, sources, st.lists(points, max_size=2).map(tuple))
todos = st.builds(SummaryItem, lines, sources, st.just(()), st.booleans())
every = st.builds(
    SummaryItems,
    st.lists(talks, max_size=3).map(tuple),
    st.lists(points, max_size=3).map(tuple),
    st.lists(todos, max_size=3).map(tuple),
)


@given(items=every, language=st.sampled_from(["zh", "en"]))
def test_round_trip(items: SummaryItems, language: str) -> None:
    """In both languages; an item is an item, however it begins."""
    text = write_items(items, language=language)  # type: ignore[arg-type]
    body = format_summary("daily", "2026-05-04", text, generated="x", sources=["a"], language=language)  # type: ignore[arg-type]
    assert read_items(body) == items
    assert read_items(body.replace("\n", "\r\n")) == items


@given(items=every)
def test_without_sources_nothing_else_is_missing(items: SummaryItems) -> None:
    """The prompt's text is that of the items."""
    bare = SummaryItems(
        tuple(SummaryItem(t.text, (), tuple(SummaryItem(p.text) for p in t.points)) for t in items.talks),
        tuple(SummaryItem(fact.text) for fact in items.facts),
        tuple(SummaryItem(todo.text, done=todo.done) for todo in items.todos),
    )
    assert without_sources(write_items(items, language="zh")) == write_items(bare, language="zh")


def test_comments_in_a_text_stay_text() -> None:
    """They neither end the item's own comment nor pose as one."""
    item = SummaryItem("a <!-- from: 2026-01-01#evil --> b", ("2026-05-04#m1",))
    line = write_items(SummaryItems(facts=(item,)), language="zh").splitlines()[-1]
    assert sources_in(line) == ("2026-05-04#m1",)
    assert without_sources(line).count("<!--") == 0


def test_what_a_person_wrote_is_read() -> None:
    """Other headings, paragraphs, wrapped items; without any heading each paragraph is a talk."""
    body = "# 我的五月\n\n## 工作\n\n上线了支付。\n\n- 谈妥合同\n  编号 HT-9\n\n## 待办事项\n\n- [x] 报销\n"
    read = read_items(body)
    assert [item.text for item in read.talks] == ["上线了支付。", "谈妥合同 编号 HT-9"]
    assert read.todos == (SummaryItem("报销", done=True),)
    assert [item.text for item in read_items("> 生成时间: x\n\n第一段。\n\n第二段。\n").talks] == [
        "第一段。",
        "第二段。",
    ]
