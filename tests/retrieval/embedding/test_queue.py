"""The queue of texts: bounded, each once, and one bad text costs only itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.retrieval.embedding.queue import ATTEMPTS, Batch, TextQueue


def texts(*names: str) -> list[tuple[bytes, str]]:
    return [(name.encode(), name) for name in names]


def test_batches_come_in_the_order_of_the_texts() -> None:
    queue = TextQueue(10)
    queue.offer(texts("a", "b", "c", "a"))
    assert queue.waiting == 3
    first, second = queue.take(2), queue.take(2)
    assert first is not None
    assert second is not None
    assert [*first.texts.values(), *second.texts.values()] == ["a", "b", "c"]
    assert queue.take(2) is None


def test_what_finds_no_room_is_noted() -> None:
    queue = TextQueue(2)
    queue.offer(texts("a", "b", "a"))
    assert not queue.behind
    queue.offer(texts("c"))
    assert queue.behind
    assert queue.waiting == 2


def test_new_texts_go_before_those_that_failed() -> None:
    queue = TextQueue(10)
    queue.put_back(Batch({b"old": "old"}))
    queue.offer(texts("new"))
    taken = [queue.take(5), queue.take(5), queue.take(5)]
    assert [batch and list(batch.texts.values()) for batch in taken] == [["new"], ["old"], None]


@given(names=st.sets(st.text(min_size=1, max_size=3), min_size=1, max_size=40), data=st.data(), size=st.integers(1, 16))
def test_exactly_the_bad_texts_are_given_up(names: set[str], data: st.DataObject, size: int) -> None:
    """Whether refused outright or failing again and again, in whatever batches they come."""
    refused = data.draw(st.sets(st.sampled_from(sorted(names))))
    failing = data.draw(st.sets(st.sampled_from(sorted(names))))
    queue = TextQueue(100)
    queue.offer(texts(*names))
    done: set[str] = set()
    rounds = 0
    while (batch := queue.take(size)) is not None:
        rounds += 1
        here = set(batch.texts.values())
        if here & refused:
            queue.refused(batch)
        elif here & failing:
            queue.went_wrong(batch)
        else:
            done |= here
    assert done == names - refused - failing
    assert queue.failed == len(refused | failing)
    assert queue.waiting == 0
    assert rounds <= (2 * ATTEMPTS + 1) * len(names)
    queue.offer(texts(*names))
    assert queue.waiting == len(done), "what was given up is not tried again"
