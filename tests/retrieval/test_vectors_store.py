"""Vectors on disk: found again, exact, never of another model, never wrong after damage, gone when removed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_memory.retrieval.embedding import Model, text_id
from openclaw_memory.retrieval.vectors.errors import (
    OtherModelError,
    VectorsError,
    VectorsLostError,
    VectorsUnavailableError,
)
from openclaw_memory.retrieval.vectors.file import VectorsFile
from openclaw_memory.retrieval.vectors.store import VectorStore

DIMENSIONS = 48
MODEL = Model("fake", DIMENSIONS)
PROBE = np.ones(DIMENSIONS, dtype=np.float32)
QUANTISED = 0.01
"""What whole numbers from -127 to 127 may cost a cosine of 48 numbers."""


def vector(seed: int) -> np.ndarray:
    """Somewhere near a common direction, as text models' vectors are."""
    return (np.random.default_rng(seed).normal(size=DIMENSIONS) + 0.8).astype(np.float32)


def name(seed: int) -> bytes:
    return text_id(f"text {seed}")


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "main.vectors.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[VectorStore]:
    made = opened(path)
    yield made
    made.close()


def opened(path: Path) -> VectorStore:
    store = VectorStore(path, chunk=64)
    store.use(MODEL, PROBE)
    return store


def fill(store: VectorStore, seeds: range) -> None:
    store.put([(name(seed), vector(seed)) for seed in seeds])


def check(store: VectorStore, present: set[int], query: np.ndarray) -> None:
    """What is found is exactly what is there, each with its cosine, in order."""
    found = store.nearest(query, len(present) + 10)
    expected = {name(seed): cosine(vector(seed), query) for seed in present}
    assert {text for text, _ in found} == set(expected)
    assert all(abs(score - expected[text]) < QUANTISED for text, score in found)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert store.cosines(query, [*expected, name(-1)]) == dict(found)


steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 300), st.integers(1, 90)),
        st.tuples(st.just("remove"), st.integers(0, 300), st.integers(1, 90)),
        st.tuples(st.sampled_from(["purge", "reopen", "search"]), st.just(0), st.just(0)),
    ),
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(steps=steps)
def test_whatever_was_put_and_not_removed_is_found(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, int]]
) -> None:
    path = tmp_path_factory.mktemp("vectors") / "v.sqlite"
    store, present = opened(path), set[int]()
    other = opened(path)
    try:
        for step, first, number in steps:
            seeds = range(first, first + number)
            if step == "put":
                fill(store, seeds)
                present |= set(seeds)
            elif step == "remove":
                store.remove([name(seed) for seed in seeds])
                present -= set(seeds)
            elif step == "purge":
                store.purge()
            elif step == "search":
                check(store, present, vector(1_000))
            else:
                store.close()
                store = opened(path)
        for one in (store, other):
            check(one, present, vector(1_000))
            assert one.count() == len(present)
            absent = set(range(400)) - present
            assert set(one.missing([name(seed) for seed in range(400)])) == {name(seed) for seed in absent}
    finally:
        store.close()
        other.close()


def test_a_text_keeps_its_first_vector(store: VectorStore) -> None:
    store.put([(name(1), vector(1))])
    store.put([(name(1), vector(2))])
    assert store.cosines(vector(1), [name(1)])[name(1)] > 0.99
    assert store.count() == 1


def test_the_nearest_of_many_are_found_by_their_signs(path: Path) -> None:
    store = VectorStore(path, chunk=1_024)
    store.use(MODEL, PROBE)
    everything = {seed: vector(seed) for seed in range(6_000)}
    store.put([(name(seed), made) for seed, made in everything.items()])
    recalls = []
    for query in (vector(seed) for seed in range(10_000, 10_010)):
        best = sorted(everything, key=lambda seed: -cosine(everything[seed], query))[:20]
        found = {text for text, _ in store.nearest(query, 20)}
        recalls.append(len(found & {name(seed) for seed in best}) / 20)
    store.close()
    assert np.mean(recalls) > 0.9


def test_nothing_is_found_in_an_empty_store(store: VectorStore) -> None:
    assert store.nearest(vector(1), 5) == []
    assert store.cosines(vector(1), [name(1)]) == {}
    store.remove([name(1)])
    store.purge()


def test_searches_in_threads_see_only_whole_answers_while_more_is_put(store: VectorStore) -> None:
    query = vector(1_000)
    expected = {name(seed): cosine(vector(seed), query) for seed in range(600)}

    def search(number: int) -> list[tuple[bytes, float]]:
        return store.nearest(query, 10)

    fill(store, range(20))
    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(search, range(60))
        for start in range(20, 600, 20):
            fill(store, range(start, start + 20))
            store.missing([name(start)])
        for answer in answers:
            assert len(answer) == 10
            assert all(abs(score - expected[text]) < QUANTISED for text, score in answer)
    check(store, set(range(600)), query)


class TestAnotherModel:
    """Case 24."""

    def test_is_refused_until_it_is_chosen(self, store: VectorStore, path: Path) -> None:
        fill(store, range(10))
        other = VectorStore(path)
        with pytest.raises(OtherModelError, match=r"fake \(48 dimensions\).*newer \(48 dimensions\).*rebuild-index"):
            other.use(Model("newer", DIMENSIONS), PROBE)
        with pytest.raises(OtherModelError):
            other.use(Model("fake", 49), np.ones(49))
        other.choose(Model("newer", DIMENSIONS), PROBE)
        assert other.count() == 0
        assert other.nearest(vector(1), 5) == []
        other.close()

    def test_which_answers_otherwise_under_the_same_name_is_refused(self, store: VectorStore, path: Path) -> None:
        fill(store, range(10))
        other = VectorStore(path)
        changed = vector(5)
        with pytest.raises(OtherModelError, match="as it answers now"):
            other.use(MODEL, changed)
        other.choose(MODEL, changed)
        assert other.count() == 0
        other.close()

    def test_leaves_the_former_ones_vectors_as_a_cache(self, store: VectorStore) -> None:
        fill(store, range(100))
        store.choose(Model("newer", 8), np.ones(8))
        store.put([(name(1), np.arange(8.0))])
        store.choose(MODEL, PROBE)
        check(store, set(range(100)), vector(1_000))

    def test_a_removed_text_is_removed_from_the_cache_too(self, store: VectorStore) -> None:
        fill(store, range(100))
        store.choose(Model("newer", 8), np.ones(8))
        store.remove([name(1)])
        store.choose(MODEL, PROBE)
        assert store.missing([name(1), name(2)]) == [name(1)]


class TestRemoving:
    def test_purge_leaves_no_byte_of_it(self, store: VectorStore, path: Path) -> None:
        fill(store, range(200))
        kept = np.rint(vector(7) * (127 / np.abs(vector(7)).max())).astype(np.int8).tobytes()
        store.close()
        assert kept[1:-1] in path.read_bytes()
        store = opened(path)
        store.remove([name(7)])
        store.purge()
        whole = b"".join(file.read_bytes() for file in path.parent.iterdir())
        assert kept[1:-1] not in whole
        assert name(7) not in whole
        check(store, set(range(200)) - {7}, vector(1_000))
        store.close()

    def test_purge_closes_the_gaps(self, store: VectorStore) -> None:
        fill(store, range(200))
        store.remove([name(seed) for seed in range(150)])
        assert store._current().size == 200
        store.purge()
        assert store._current().size == 50
        check(store, set(range(150, 200)), vector(1_000))

    def test_sweep_removes_what_is_used_no_more(self, store: VectorStore) -> None:
        fill(store, range(200))
        even = {name(seed) for seed in range(0, 200, 2)}
        assert store.sweep(lambda texts: [text for text in texts if text in even]) == 100
        check(store, set(range(0, 200, 2)), vector(1_000))

    def test_removed_ones_take_no_place_from_others(self, store: VectorStore) -> None:
        query = vector(1_000)
        fill(store, range(50))
        nearest = [text for text, _ in store.nearest(query, 40)]
        store.remove(nearest)
        assert len(store.nearest(query, 10)) == 10

    def test_a_search_begun_before_finds_nothing_removed(self, store: VectorStore) -> None:
        fill(store, range(200))
        store.nearest(vector(1), 5)
        store.remove([name(seed) for seed in range(150)])
        check(store, set(range(150, 200)), vector(1_000))


class TestDamage:
    def test_a_file_removed_underneath_is_noticed(self, store: VectorStore, path: Path) -> None:
        fill(store, range(100))
        path.unlink()
        with pytest.raises(VectorsLostError, match="was removed"):
            fill(store, range(100, 110))
        store.renew()
        fill(store, range(100, 110))
        check(store, set(range(100, 110)), vector(1_000))

    def test_a_log_without_its_file_is_not_played(self, tmp_path: Path, store: VectorStore, path: Path) -> None:
        fill(store, range(10))
        orphan = tmp_path / "orphan.sqlite"
        shutil.copy(f"{path}-wal", f"{orphan}-wal")
        fresh = opened(orphan)
        assert fresh.count() == 0
        fresh.close()

    @pytest.mark.parametrize("content", [b"not a database" * 100, bytes(8_192)])
    def test_a_file_of_something_else_is_replaced(self, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        store = opened(path)
        fill(store, range(100))
        check(store, set(range(100)), vector(1_000))
        store.close()

    def test_a_folder_in_its_place_is_told(self, path: Path) -> None:
        path.mkdir()
        with pytest.raises(VectorsError, match=r"main\.vectors\.sqlite"):
            VectorStore(path)

    def test_a_later_format_is_replaced(self, store: VectorStore, path: Path) -> None:
        fill(store, range(10))
        store.close()
        data = bytearray(path.read_bytes())
        data[60:64] = (99).to_bytes(4, "big")
        path.write_bytes(data)
        with pytest.raises(VectorsLostError, match="format 99"):
            VectorsFile(path)
        fresh = opened(path)
        assert fresh.count() == 0
        fresh.close()

    @settings(max_examples=40, deadline=None)
    @given(data=st.data())
    def test_changed_bytes_never_give_a_wrong_cosine(
        self, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
    ) -> None:
        path = tmp_path_factory.mktemp("damage") / "v.sqlite"
        store = opened(path)
        fill(store, range(150))
        store.close()
        content = bytearray(path.read_bytes())
        if data.draw(st.booleans(), label="cut"):
            del content[data.draw(st.integers(1, len(content) - 1)) :]
        else:
            at = data.draw(st.integers(0, len(content) - 1))
            content[at : at + data.draw(st.integers(1, 300))] = data.draw(st.binary(min_size=1, max_size=300))
        path.write_bytes(content)
        query = vector(1_000)
        expected = {name(seed): cosine(vector(seed), query) for seed in range(150)}
        try:
            store = VectorStore(path, chunk=64)
        except VectorsError:
            return
        try:
            store.use(MODEL, PROBE)
            found = store.nearest(query, 200)
            assert all(abs(score - expected[text]) < QUANTISED for text, score in found)
            # What is missing is put again, as the background does.
            store.put([(name(seed), vector(seed)) for seed in range(150)])
        except (VectorsError, OtherModelError):
            store.renew()
        finally:
            store.close()

    def test_a_damaged_vector_is_left_out_and_asked_for_again(self, store: VectorStore, path: Path) -> None:
        fill(store, range(100))
        kept = np.rint(vector(7) * (127 / np.abs(vector(7)).max())).astype(np.int8).tobytes()
        store.close()
        path.write_bytes(path.read_bytes().replace(kept[5:40], bytes(35)))
        store = opened(path)
        check(store, set(range(100)) - {7}, vector(7))
        fill(store, range(200, 201))
        assert store.missing([name(7)]) == [name(7)]
        store.close()

    def test_damaged_signs_are_taken_again(self, store: VectorStore, path: Path) -> None:
        fill(store, range(200))
        store.close()
        import apsw

        db = apsw.Connection(str(path))
        db.execute("UPDATE signs_1 SET bits = zeroblob(length(bits)) WHERE chunk = 1")
        db.execute("DELETE FROM signs_1 WHERE chunk = 0")
        db.close()
        store = opened(path)
        query = vector(70)
        view = store._current()
        numbers = view.candidates(query.reshape(1, -1) / np.linalg.norm(query), 1, 1)
        assert name(70) in {row.text for row in store._reader.rows(1, numbers)}
        check(store, set(range(200)), vector(1_000))
        store.close()


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.retrieval.test_vectors_store import fill, opened
store = opened(Path(sys.argv[1]))
for first in range(0, 100_000, 10):
    fill(store, range(first, first + 10))
    print(first + 10, flush=True)
"""


def test_a_writer_killed_at_any_moment_leaves_a_whole_file(path: Path) -> None:
    root = str(Path(__file__).parents[2])
    for killed_after in (1, 12, 30):
        command = [sys.executable, "-c", WRITER.format(root=root), path]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            try:
                assert child.stdout is not None
                said = [int(child.stdout.readline()) for _ in range(killed_after)]
            finally:
                os.kill(child.pid, signal.SIGKILL)
            said += [int(line) for line in child.stdout.read().split("\n") if line]
        store = opened(path)
        number = store.count()
        # What a killed process had committed is there; the last commit may not have been said any more.
        assert number % 10 == 0
        assert number >= max(said)
        check(store, set(range(number)), vector(200_000))
        store.close()


def test_vectors_by_text(store: VectorStore) -> None:
    """Those that are there, of length 1; damage counts as absence."""
    fill(store, range(70))
    given = store.vectors([name(3), name(99), name(66), name(3)])
    assert given.keys() == {name(3), name(66)}
    assert np.linalg.norm(given[name(66)]) == pytest.approx(1, abs=1e-5)
    assert float(given[name(66)] @ vector(66)) == pytest.approx(np.linalg.norm(vector(66)), rel=1e-3)
    assert store.vectors([]) == {}


@pytest.mark.parametrize("most", [1, 20, 150, 1_000])
def test_a_sample_is_of_all_ages(store: VectorStore, most: int) -> None:
    """As many as asked for, from the first to the last, each once; all where there are no more."""
    assert store.sample(most).shape == (0, DIMENSIONS)
    fill(store, range(150))
    sample = store.sample(most)
    assert sample.shape == (min(most, 150), DIMENSIONS)
    at = [int(np.argmax([cosine(row, vector(seed)) for seed in range(150)])) for row in sample]
    assert at == sorted(set(at))
    if most > 1:
        assert (at[0], at[-1]) == (0, 149)


def test_a_sample_of_what_is_left(store: VectorStore) -> None:
    """Removed vectors leave gaps and are not in it."""
    fill(store, range(100))
    store.remove([name(seed) for seed in range(0, 100, 2)])
    assert store.sample(1_000).shape == (50, DIMENSIONS)
    store.purge()
    assert store.sample(40).shape == (40, DIMENSIONS)


def test_beside_the_owner_nothing_is_written(path: Path) -> None:
    """A reader follows what the owner puts; what is missing or of another model it tells, and makes nothing."""
    with pytest.raises(VectorsUnavailableError):
        VectorStore(path, writable=False)
    assert not path.exists()
    owner = VectorStore(path, chunk=64)
    reader = VectorStore(path, writable=False)
    with pytest.raises(VectorsUnavailableError, match="no vectors yet"):
        reader.use(MODEL, PROBE)
    owner.use(MODEL, PROBE)
    fill(owner, range(10))
    reader.use(MODEL, PROBE)
    check(reader, set(range(10)), vector(3))
    fill(owner, range(10, 200))
    check(reader, set(range(200)), vector(150))
    with pytest.raises(VectorsUnavailableError):
        reader.put([(name(500), vector(500))])
    owner.choose(Model("other", 16), np.ones(16))
    with pytest.raises(OtherModelError):
        reader.use(MODEL, -PROBE)
    owner.renew()
    with pytest.raises(VectorsLostError, match="was removed"):
        reader.nearest(vector(1), 3)
    reader.close()
    owner.close()


def test_a_question_of_another_size_is_refused(store: VectorStore) -> None:
    """It was embedded before somebody chose another model."""
    fill(store, range(10))
    for ask in (lambda: store.nearest(np.ones(7), 3), lambda: store.cosines(np.ones(7), [name(1)])):
        with pytest.raises(VectorsUnavailableError, match="another model"):
            ask()
