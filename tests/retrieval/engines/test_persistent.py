"""What only an index on disk does: commits beside searches, rebuilding, forgetting for good, a second process."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.retrieval import InMemoryIndex
from openclaw_memory.retrieval.blocks import FileRecord
from openclaw_memory.retrieval.engines import committing
from openclaw_memory.retrieval.engines.changes import plan_changes
from openclaw_memory.retrieval.engines.words import LONGEST, counts_in, digest_of, pack, stored
from openclaw_memory.retrieval.moments import microseconds
from openclaw_memory.retrieval.terms import terms

_SPEC = importlib.util.spec_from_file_location("index_answers_persistent", Path(__file__).with_name("answers.py"))
answering = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = answering
_SPEC.loader.exec_module(answering)
answers, block, PATHS = answering.answers, answering.block, answering.PATHS


def everything(_):
    return True


def test_every_search_sees_one_moment(opened):
    """While a file is replaced and committed without a pause, each search finds one whole version of it."""
    index = opened()
    index.replace("a.md", [block(["tea", "v0"], line) for line in range(1, 9)])
    over, failed = threading.Event(), []

    def commit():
        while not over.is_set():
            if not index.commit() and index.problem:
                failed.append(index.problem)

    def search():
        while not over.is_set():
            hits = index.search(["tea"], limit=50, allow=everything)
            versions = Counter(hit.block.text for hit in hits)
            if list(versions.values()) != [8] or len({hit.score for hit in hits}) != 1:
                failed.append(versions)

    threads = [threading.Thread(target=work) for work in (commit, search, search)]
    for thread in threads:
        thread.start()
    for version in range(1, 250):
        index.replace("a.md", [block(["tea", f"v{version}"], line) for line in range(1, 9)])
        assert [hit.block.text for hit in index.search([f"v{version}"], limit=1, allow=everything)] == [
            f"tea v{version}"
        ]
        assert len(index) == 8
    over.set()
    for thread in threads:
        thread.join()
    assert failed == []


@pytest.mark.parametrize("point", ["rows", "visible"])
def test_changes_during_a_commit(opened, point):
    """What is added, replaced and removed while a commit is under way is seen at once, and after it."""
    twin = InMemoryIndex()

    def meanwhile(index):
        index.add([block(["go", "tea"], 1, path="a.md")])
        index.replace("b.md", [block(["rust"], 2, path="b.md", session="s1")], FileRecord(7, 7, 7, "y"))
        index.remove("c.md")

    during = []

    def step(name):
        if name == point and during == ["armed"]:
            during.clear()
            meanwhile(index)
            meanwhile(twin)
            during.append(answers(index) == answers(twin))

    index = opened(step=step)
    for one in (index, twin):
        for path in PATHS:
            one.replace(path, [block(["tea", "lake"], line, path=path, session="s1") for line in range(1, 5)])
    index.commit()
    for one in (index, twin):
        one.replace("a.md", [block(["lake"], line, path="a.md") for line in range(1, 3)], FileRecord(1, 1, 1, "x"))
        one.add([block(["茶"], 9, path="c.md"), block(["dec-0054"], 9, path="b.md")])
    during.append("armed")
    index.commit()
    assert during == [True]
    assert answers(index) == answers(twin)
    assert index.commit()
    assert answers(index) == answers(twin)


def test_moved_blocks_keep_their_words(opened, monkeypatch):
    """Blocks that move to other lines, or to another file, cost no cutting and no change of terms."""
    index = opened()
    said = [block(["tea", "lake"], line, key=f"day#{line}") for line in range(1, 30)]
    index.replace("a.md", said)
    index.commit()
    deltas = []
    delta_of = committing.delta_of
    monkeypatch.setattr(committing, "delta_of", lambda *given: deltas.append(made := delta_of(*given)) or made)
    index.replace("b.md", [one._replace(path="b.md") for one in said[:20]])
    index.replace("a.md", [one._replace(start_line=one.start_line - 20, end_line=1) for one in said[20:]])
    assert index.commit()
    assert [(delta.gone, delta.new) for delta in deltas] == [((), ())]
    assert len(index.blocks_of("b.md")) == 20
    assert {hit.block.path for hit in index.search(["tea"], limit=50, allow=everything)} == {"a.md", "b.md"}


def test_edit_costs_its_changed_blocks(opened, monkeypatch):
    """Of a file that is replaced only what differs is taken out and entered."""
    index = opened()
    said = [block(["tea", "lake"], line) for line in range(1, 30)]
    index.replace("a.md", said)
    index.commit()
    deltas = []
    delta_of = committing.delta_of
    monkeypatch.setattr(committing, "delta_of", lambda *given: deltas.append(made := delta_of(*given)) or made)
    index.replace("a.md", [*said[:5], said[5]._replace(text="rust"), *said[6:]])
    index.commit()
    assert [[len(delta.gone), len(delta.new)] for delta in deltas] == [[1, 1]]


def test_large_backlog_goes_in_several_commits(opened, tmp_path):
    """A file's record is stored with the last of its blocks: a crash before would have it read again."""
    index = opened()
    index.replace("a.md", [block(["tea"], line) for line in range(1, 11)], FileRecord(1, 1, 1, "x"))
    assert not index.commit(4)
    assert index.records() == {"a.md": FileRecord(1, 1, 1, "x")}
    index.close()
    index = opened()
    assert (len(index), index.records()) == (4, {})
    index.replace("a.md", [block(["tea"], line) for line in range(1, 11)], FileRecord(1, 1, 1, "x"))
    while not index.commit(4):
        pass
    index.close()
    index = opened()
    assert (len(index), index.records()) == (10, {"a.md": FileRecord(1, 1, 1, "x")})


def test_blocks_that_share_a_key_are_committed_together(opened):
    """A heading that a person wrote twice: the one that waits does not hide the one that is committed."""
    index = opened()
    index.add([block(["tea"], 1, key="k"), block(["lake"], 2), block(["go"], 3, key="k")])
    assert not index.commit(1)
    assert index.waiting
    assert [one.text for one in index.find("k")] == ["tea", "go"]
    assert len(index) == 3
    assert index.commit()
    assert [one.text for one in index.find("k")] == ["tea", "go"]


def test_purged_text_is_in_no_file(opened, tmp_path):
    """After a purge neither a text nor a word of what was taken out is left in any file of the index."""
    index = opened()
    secret = "zanzibarish"
    index.replace("a.md", [block([secret, "tea"], line, session=f"{secret}-session") for line in range(1, 200)])
    index.replace("b.md", [block(["tea", "lake"], line, path="b.md") for line in range(1, 200)])
    index.commit()
    word = terms(secret)[0].encode()
    assert any(word in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    index.remove("a.md")
    told = []
    index.purge(lambda done, of: told.append((done, of)))
    assert told[-1] == (199, 199)
    assert [path for path in tmp_path.rglob("*") if path.is_file() and word in path.read_bytes()] == []
    assert len(index.search(["tea"], limit=500, allow=everything)) == 199
    index.close()
    assert [path for path in tmp_path.rglob("*") if path.is_file() and word in path.read_bytes()] == []


def test_rebuild_takes_in_what_changes_meanwhile(opened, tmp_path):
    """A rebuild works beside the old index; what is changed while it runs is in the new one."""
    index, twin = opened(), InMemoryIndex()
    index.replace("old.md", [block(["rust"], 1, path="old.md")])
    index.commit()
    told = []

    def files():
        yield "a.md", [block(["tea"], line) for line in range(1, 5)], FileRecord(1, 1, 1, "x")
        assert [hit.block.path for hit in index.search(["rust"], limit=5, allow=everything)] == ["old.md"]
        index.replace("a.md", [block(["go"], 1)])
        index.remove("b.md")
        yield "b.md", [block(["tea"], 1, path="b.md")], None
        index.add([block(["lake"], 1, path="c.md")])

    index.rebuild(files(), lambda done, of: told.append(done))
    twin.replace("a.md", [block(["go"], 1)])
    twin.add([block(["lake"], 1, path="c.md")])
    assert told == [1, 2]
    assert answers(index) == answers(twin)
    assert index.find("old.md#1") == []
    assert index.commit()
    index.close()
    assert sorted(path.name for path in tmp_path.iterdir() if "new" in path.name) == []
    assert answers(opened()) == answers(twin)


@pytest.mark.parametrize("first", [1, 64, 70])
def test_messages_that_are_being_read_while_the_index_is_made_anew(opened, first):
    """Who goes through a session meanwhile is told the rest of it by the new index, and nothing twice."""
    index = opened()
    said = [block(["tea"], line, session="s1") for line in range(1, 201)]
    index.replace("a.md", said)
    assert index.commit()
    newest = index.newest("s1")
    told = list(islice(newest, first))
    index.rebuild([("a.md", said, None)])
    assert [*told, *newest] == said[::-1]
    assert not index.lost


def test_rebuild_that_fails_leaves_the_old_index(opened, tmp_path):
    """Files that can't be read halfway through cost nothing."""
    index = opened()
    index.replace("a.md", [block(["tea"], 1)])
    index.commit()

    def files():
        yield "b.md", [block(["tea"], 1, path="b.md")], None
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        index.rebuild(files())
    index.add([block(["lake"], 2)])
    assert index.commit()
    assert [one.text for one in index.blocks_of("a.md")] == ["tea", "lake"]
    index.close()
    again = opened()
    assert again.problem is None
    assert [one.text for one in again.blocks_of("a.md")] == ["tea", "lake"]


def test_guest_sees_what_the_owner_commits(opened):
    """Another process reads beside the owner, has changes of its own beside that, and writes nothing."""
    guest = opened(writable=False)
    assert "none yet" in guest.problem
    owner = opened()
    owner.replace("a.md", [block(["tea"], line) for line in range(1, 5)])
    owner.commit()
    assert len(guest.search(["tea"], limit=9, allow=everything)) == 4
    assert guest.problem is None
    guest.add([block(["tea", "lake"], 1), block(["rust"], 8)])
    assert not guest.commit()
    assert [hit.block.text for hit in guest.search(["lake"], limit=9, allow=everything)] == ["tea lake"]
    owner.replace("b.md", [block(["tea"], 1, path="b.md")])
    owner.commit()
    assert len(guest.search(["tea"], limit=9, allow=everything)) == 5
    owner.remove("a.md")
    owner.purge()
    found = {hit.block.key for hit in guest.search(["tea"], limit=9, allow=everything)}
    assert found == {"a.md#1", "b.md#1"}
    assert (guest.problem, guest.lost) == (None, False)
    owner.rebuild([("c.md", [block(["tea"], 1, path="c.md")], None)])
    found = {hit.block.key for hit in guest.search(["tea"], limit=9, allow=everything)}
    assert found == {"a.md#1", "c.md#1"}
    assert (guest.problem, guest.lost) == (None, False)
    assert len(owner) == 1


def test_catch_up_keeps_to_its_time(opened):
    """Work for a search is done in slices, and said to be left until it is done."""
    ticks = iter(range(10_000))
    index = opened(clock=lambda: float(next(ticks)))
    index.replace("a.md", [block(["tea"], line) for line in range(1, 20)])
    index.commit()
    index.replace("a.md", [block(["tea", "lake"], line) for line in range(1, 20)])
    assert not index.catch_up(1)
    while not index.catch_up(1):
        pass
    assert len(index.search(["lake"], limit=50, allow=everything)) == 19


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=2 * LONGEST)


@given(st.dictionaries(words, st.integers(1, 65_535), max_size=40), st.lists(words, max_size=5))
def test_packed_counts(counts, others):
    """What was packed is counted again; what was not is not found."""
    packed = pack({stored(word): count for word, count in counts.items()})
    asked = {*counts, *others}
    assert counts_in(packed, [(word, digest_of(stored(word))) for word in asked]) == counts


def test_packed_counts_end_at_their_limit():
    """A block that holds a term more often than can be packed holds it as often as can be, and others as they are."""
    packed = pack({"tea": 65_536, "lake": 65_535, "go": 1})
    asked = [(word, digest_of(word)) for word in ("tea", "lake", "go", "rust")]
    assert counts_in(packed, asked) == {"tea": 65_535, "lake": 65_535, "go": 1}
    assert pack({}) == b""


@given(st.text())
def test_terms_hold_no_white_space(text):
    """Engines part terms at spaces."""
    found = terms(text)
    assert " ".join(found).split() == found


def test_plan_takes_the_same_place_first():
    """Of blocks that are alike the one that lies where it is wanted stays; the others move, go and come."""
    alike = [block(["tea"], line)._replace(key="k", time=None) for line in (1, 2, 3)]
    held = list(enumerate(alike, 1))
    wanted = [alike[1], alike[2]._replace(start_line=9), block(["new"], 5)]
    changes = plan_changes(held, wanted)
    assert changes.new == (wanted[2],)
    assert changes.moved == ((1, wanted[1]),)
    assert changes.gone == ((3, alike[2]),)


def test_spots_after_are_those_of_the_rows_and_unknown_where_rows_are_hidden(opened):
    """They are exact when all is on the disk, never too near while messages wait, and unknown while rows are hidden."""
    index, twin = opened(), InMemoryIndex()
    said = [block(["tea"], line, session="s1") for line in range(1, 30, 2)]
    others = [block(["tea"], line, session="s2") for line in range(31, 35)]
    for one in (index, twin):
        one.add([*said, *others])
    index.commit()
    asked = [*said, *others, block(["tea"], 7, layer="fact"), block(["tea"], 12, session="s1")]
    for places in (1, 3, 6):
        assert index.spots_after(asked, places) == twin.spots_after(asked, places)
    between = [block(["lake"], line, session="s1") for line in range(2, 20, 4)]
    for one in (index, twin):
        one.add(between)
        one.search(["tea"], limit=1, allow=everything)
    for told, true in zip(index.spots_after(asked, 3), twin.spots_after(asked, 3), strict=True):
        assert told is None or (true is not None and told >= true)
    assert index.spots_after(said[:1], 3) == [(microseconds(said[3].time), "a.md", 7)]
    index.add([said[2]._replace(text="lake")])
    index.search(["tea"], limit=1, allow=everything)
    assert index.spots_after(asked, 3) == [None] * len(asked)
    index.commit()
    twin.add([said[2]._replace(text="lake")])
    assert index.spots_after(asked, 3) == twin.spots_after(asked, 3)
