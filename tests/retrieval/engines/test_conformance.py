"""All indexes answer alike: the one in memory, and those on disk, whatever is committed when."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openclaw_memory.retrieval import Block, InMemoryIndex
from openclaw_memory.retrieval.blocks import FileRecord
from openclaw_memory.retrieval.engines import open_index
from openclaw_memory.retrieval.passages import text_id
from openclaw_memory.retrieval.scope import Audience, Scope
from openclaw_memory.retrieval.terms import query_terms, terms
from tests.disks import MEMORY_DISK

_SPEC = importlib.util.spec_from_file_location("index_answers", Path(__file__).with_name("answers.py"))
answering = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = answering
_SPEC.loader.exec_module(answering)
answers, block, PATHS, SESSIONS, START, WORDS = (
    answering.answers,
    answering.block,
    answering.PATHS,
    answering.SESSIONS,
    answering.START,
    answering.WORDS,
)


def everything(_):
    return True


@st.composite
def blocks(draw, path=None):
    path = path or draw(st.sampled_from(PATHS))
    line = draw(st.integers(1, 7))
    layer = draw(st.sampled_from(["conversation", "conversation", "history", "fact"]))
    return block(
        draw(st.lists(st.sampled_from(WORDS), max_size=5)),
        line,
        path=path,
        # Some keys are known in several files: a message that was moved, or a view that was saved twice.
        key=draw(st.sampled_from([f"{path}#{line}", f"day#{line}"])),
        layer=layer,
        time=draw(st.sampled_from([None, START + timedelta(minutes=line), START])),
        session=draw(st.sampled_from([None, *SESSIONS])),
        section=draw(st.sampled_from([None, "茶"])) if layer == "fact" else None,
        visibility=draw(st.sampled_from(["private", "shared", "group"])),
        tags=draw(st.sampled_from([(), ("work",), ("WORK", "home")])),
        important=draw(st.booleans()),
        name=draw(st.sampled_from([None, "Ada"])),
        role=draw(st.sampled_from([None, "user"])),
    )


records = st.sampled_from([None, FileRecord(3, 2**62, 7, "abc"), FileRecord(4, 5, 2**40, "")])


@st.composite
def replacements(draw):
    path = draw(st.sampled_from(PATHS))
    # A file has one block a line.
    made = draw(st.lists(blocks(path), max_size=5, unique_by=lambda one: one.start_line))
    return ("replace", path, made, draw(records))


steps = st.one_of(
    st.tuples(st.just("add"), st.lists(blocks(), max_size=4, unique_by=lambda one: (one.path, one.start_line))),
    replacements(),
    st.tuples(st.just("remove"), st.sampled_from(PATHS)),
    st.tuples(st.just("record"), st.sampled_from(PATHS), records),
    st.tuples(st.just("commit"), st.sampled_from([1, 3, 1000])),
    st.tuples(st.just("search")),
    st.tuples(st.just("reopen")),
    st.tuples(st.just("purge")),
)


def one_a_place(index) -> bool:
    """Two messages on one line of one file do not happen; what is next to them would be a matter of taste."""
    spots = [(one.path, one.start_line) for path in PATHS for one in index.blocks_of(path)]
    return len(spots) == len(set(spots))


@given(todo=st.lists(steps, max_size=12))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_history_is_answered_as_in_memory(engine, todo):
    """Whatever is added, replaced, removed and committed in whatever order, all answers and scores are the same."""
    twin = InMemoryIndex()
    with tempfile.TemporaryDirectory(dir=MEMORY_DISK) as folder:
        index = open_index(Path(folder), "main", engine)
        try:
            for name, *arguments in todo:
                match name:
                    case "commit":
                        index.commit(*arguments)
                    case "search":
                        index.search(["tea"], limit=5, allow=everything)
                    case "purge":
                        index.purge()
                    case "reopen":
                        while not index.commit():
                            pass
                        index.close()
                        index = open_index(Path(folder), "main", engine)
                    case _:
                        getattr(twin, name)(*arguments)
                        getattr(index, name)(*arguments)
                assert index.problem is None
            if one_a_place(twin):
                assert answers(index) == answers(twin)
            assert len(index) == len(twin)
            while not index.commit():
                pass
            assert index.waiting == 0
            if one_a_place(twin):
                assert answers(index) == answers(twin)
        finally:
            index.close()


@pytest.fixture(params=["memory", "tantivy", "sqlite"])
def index(request, tmp_path):
    made = InMemoryIndex() if request.param == "memory" else open_index(tmp_path, "main", request.param)
    yield made
    made.close()


@pytest.fixture(params=["waiting", "committed"])
def settle(request, index):
    """Commit, or don't: a test has to hold either way."""
    return (lambda: None) if request.param == "waiting" else index.commit


def found(index, query, **how):
    hits = index.search(query_terms(query), limit=how.pop("limit", 20), allow=how.pop("allow", everything), **how)
    return [hit.block.text for hit in hits]


@pytest.mark.parametrize(
    "text",
    [
        "see DEC-0054",
        "C# and c++",
        "gpt-4 turbo",
        "state-of-the-art",
        "v22.11.0",
        "foo_bar",
        "用React写前端",
        "茶",
        "한국어를 배워요",
        "naïve Straße",
        "user@example.org",
        "x" * 5_000,
        "西" * 300,
        '"quoted" (AND) NOT * near^2 -minus {a} [b] a:b',
        "\x00nul\x1f \u2028 separators \u3000 ideographic",
        "👍🏽 tada",
    ],
    ids=range(16),
)
def test_every_term_of_a_text_finds_it(index, settle, text):
    """Whatever terms may look like, each of them survives the engine."""
    index.add([block([text], 1), block(["something", "else"], 2)])
    settle()
    assert terms(text)
    for term in set(terms(text)):
        hits = index.search([term], limit=5, allow=everything)
        assert [hit.block.text for hit in hits] == [text], term


def test_block_comes_back_as_it_was(index, settle):
    """Everything that a block holds is there again, offsets and what no Unicode text holds included."""
    full = Block(
        key="conversations/2026-05-04.md#01JV",
        layer="conversation",
        path="conversations/odd \udcff name.md",
        start_line=3,
        end_line=2**40,
        text="tea \x00 \ud800 \U0001f44d\n\n",
        time=datetime(2026, 5, 4, 23, 59, 59, 999_999, tzinfo=timezone(timedelta(hours=8, seconds=3))),
        session="Größe: a/b c",
        role="user",
        section="S\u2028",
        visibility="group",
        important=True,
        tags=("Work", "a b"),
        name="Ada",
        origin="owner",
    )
    edges = [
        block(["tea"], 2, time=datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))),
        block(["tea"], 3, time=datetime(9999, 12, 31, 23, 59, tzinfo=timezone(timedelta(hours=-12)))),
    ]
    index.add([full, *edges])
    settle()
    (back,) = index.find(full.key)
    assert back == full
    assert back.time.utcoffset() == full.time.utcoffset()
    assert index.blocks_of(full.path) == [full]
    assert [one.time for one in index.blocks_of("a.md")] == [one.time for one in edges]
    assert {hit.block for hit in index.search(["tea"], limit=9, allow=everything)} == {full, *edges}


def test_ties_give_the_newest_first_however_many_there_are(index, settle):
    """Of hundreds that say the same the newest are given, and always in the same order."""
    index.add([block(["ok"], line, key=f"k{line}", time=START + timedelta(days=line * 7 % 400)) for line in range(400)])
    settle()
    times = [hit.block.time for hit in index.search(["ok"], limit=5, allow=everything)]
    assert times == [START + timedelta(days=day) for day in (399, 398, 397, 396, 395)]


def test_limit_does_not_change_the_best(index, settle):
    """The hits for a small limit begin those for a larger one."""
    index.add([block(["tea"] * (line % 7 + 1) + ["lake"] * (line % 11), line, key=f"k{line}") for line in range(200)])
    index.add([block(["x"] * (line % 9), line, key=f"o{line}", path="b.md") for line in range(300)])
    settle()
    long = found(index, "tea lake", limit=100)
    for limit in (1, 2, 10, 50):
        assert found(index, "tea lake", limit=limit) == long[:limit]


def test_scope_reaches_few_among_many(index, settle):
    """A group that may see three of five hundred blocks gets them, whatever scores better."""
    many = [block(["tea"] * 5, line, key=f"k{line}", visibility="private", session="s1") for line in range(500)]
    few = [block(["tea", "x"], 600 + line, visibility="group", session="G 1") for line in range(3)]
    index.add(many + few)
    settle()
    asked = []

    def allow(one):
        asked.append(one)
        return True

    scope = Scope(audiences=(Audience(frozenset({"group"}), frozenset({"G 1"})),))
    assert len(found(index, "tea", scope=scope, allow=allow)) == 3
    assert {one.session for one in asked} == {"G 1"}
    assert found(index, "tea", scope=Scope(audiences=(Audience(sessions=frozenset({"g 1"})),))) == []


def test_refusal_takes_no_place(index, settle):
    """Blocks that may not be shown do not use up the number asked for."""
    index.add([block(["tea"] + ["x"] * line, line, key=f"k{line}") for line in range(300)])
    settle()
    hits = index.search(["tea"], limit=2, allow=lambda one: one.start_line >= 297)
    assert [hit.block.start_line for hit in hits] == [297, 298]


def test_file_record_goes_with_its_blocks(index, settle):
    """A record is given back as it was, and gone with the file."""
    record = FileRecord(10, 20, 30, "sum")
    index.replace("a.md", [block(["tea"], 1)], record)
    index.replace("b.md", [block(["tea"], 1, path="b.md")])
    index.record("c.md", record)
    settle()
    assert index.records() == {"a.md": record, "c.md": record}
    index.remove("a.md")
    settle()
    assert index.records() == {"c.md": record}
    index.replace("c.md", [])
    settle()
    assert index.records() == {}


def test_history_is_paged_without_gaps(index, settle):
    """A long session comes back whole, the newest first, also when half of it waits for a commit."""
    said = [block(["tea"], line, path=f"day{line // 90}.md", session="s1") for line in range(1, 200)]
    index.add(said[::2])
    settle()
    index.add(said[1::2])
    index.add([block(["other"], 500, session="s2")])
    assert list(index.newest("s1")) == said[::-1]
    assert list(index.newest("s1", said[50].time)) == said[50::-1]
    assert list(index.newest("nobody")) == []


def test_blocks_of_a_text_are_found_wherever_they_lie(index, settle):
    """Equal texts share an address; what was removed or says something else by now is not given; nothing has none."""
    said = [block(["tea"], line, path=path) for line in (1, 2) for path in ("a.md", "b.md")]
    index.add([*said, block(["lake"], 3), block([" "], 4)])
    settle()
    tea, lake, nothing = (text_id(text) for text in ("tea", "lake", ""))
    index.replace("b.md", [block(["lake", "tea"], 1, path="b.md")])
    index.add([block(["tea"], 9, key="a.md#3")])
    held = index.blocks_of_texts([lake, tea, nothing, b"absent"])
    assert held[0] == held[2] == held[3] == []
    assert {(one.path, one.start_line) for one in held[1]} == {("a.md", 1), ("a.md", 2), ("a.md", 9)}
    settle()
    assert [len(one) for one in index.blocks_of_texts([tea, tea, lake])] == [3, 3, 0]
    index.add([block(["talk", str(line)], line, path="c.md") for line in range(50)])
    settle()
    ids, last = [], b""
    while page := index.text_ids(last, 7):
        ids += page
        last = page[-1]
    there = [id_ for id_, blocks in zip(ids, index.blocks_of_texts(ids), strict=True) if blocks]
    assert set(there) == {tea, text_id("lake tea"), *(text_id(f"talk {line}") for line in range(50))}


def test_a_moved_block_keeps_its_text(index, settle):
    """A rotated file is another path and the same texts; they are at the new place only."""
    index.replace("a.md", [block(["tea"], 1, key="k")])
    settle()
    index.replace("b.md", [block(["tea"], 7, key="k", path="b.md")])
    settle()
    index.replace("a.md", [])
    settle()
    assert [one.path for one in index.blocks_of_texts([text_id("tea")])[0]] == ["b.md"]


def test_few_can_be_listed_among_many(index, settle):
    """A group's own and what is shared are listed without looking through the rest; where that can't be, nothing is."""
    many = [block(["tea"], line, key=f"k{line}", session="s1") for line in range(300)]
    group = [block(["x"], 400 + line, visibility="group", session="G 1") for line in range(3)]
    shared = [block(["y"], 500, layer="fact", visibility="shared"), block(["z"], 501, visibility="group", session="G2")]
    index.add([*many, *group, *shared])
    settle()
    to_all = Audience(visibilities=frozenset({"shared"}))
    audiences = (to_all, Audience(frozenset({"group"}), frozenset({"G 1"})))
    assert set(index.within(audiences, 4)) == {*group, shared[0]}
    assert index.within(audiences, 3) is None
    assert set(index.within((to_all, Audience(sessions=frozenset({"s1"}))), 301)) == {*many, shared[0]}
    assert index.within((to_all, Audience(layers=frozenset({"fact"}))), 1000) is None
    index.remove("a.md")
    assert index.within(audiences, 4) == []


def test_status_counts(index, settle):
    """Status tells what is there, by layer."""
    index.add([block(["tea"], 1), block(["tea"], 2, layer="fact", path="b.md"), block(["tea"], 3, path="b.md")])
    settle()
    if index.waiting == 0:
        status = index.status()
        assert (status.blocks, status.files, status.by_layer) == (3, 2, {"conversation": 2, "fact": 1})
        assert status.problem is None


def test_nothing_is_asked(index, settle):
    """No terms, unknown terms, no room: no hits, and no error."""
    index.add([block(["tea"], 1)])
    settle()
    assert index.search([], limit=5, allow=everything) == []
    assert index.search(["absent"], limit=5, allow=everything) == []
    assert index.search(["tea"], limit=0, allow=everything) == []


def test_times_without_an_offset_are_taken_for_utc():
    """A time that says no zone sorts among the others."""
    from openclaw_memory.retrieval.moments import microseconds

    assert microseconds(datetime(2026, 5, 4)) == microseconds(datetime(2026, 5, 4, tzinfo=UTC))  # noqa: DTZ001
