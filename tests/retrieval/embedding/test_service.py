"""The background: every text gets its vector once, whatever fails on the way, and nobody waits for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from openclaw_memory.clock import ManualClock
from openclaw_memory.retrieval.embedding import EmbedderUnavailableError, TextRefusedError, text_id
from openclaw_memory.retrieval.embedding.acquaintance import PROBE
from openclaw_memory.retrieval.embedding.service import Embedding
from openclaw_memory.retrieval.vectors.errors import VectorsLostError, VectorsUnavailableError
from openclaw_memory.retrieval.vectors.store import VectorStore
from tests.retrieval.embedding.fakes import WordEmbedder

TEXTS = [f"word{number} and word{number + 1}" for number in range(30)]


class Scene:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = ManualClock(datetime(2026, 5, 4, tzinfo=UTC))
        self.embedder = WordEmbedder()
        self.backlog: list[list[str]] = []
        self.most_waiting = 100

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Embedding]:
        async with self.idle() as service, anyio.create_task_group() as group:
            group.start_soon(service.run)
            yield service
            group.cancel_scope.cancel()

    @asynccontextmanager
    async def idle(self) -> AsyncIterator[Embedding]:
        self.store = VectorStore(self.path)
        try:
            yield Embedding(
                self.embedder,
                self.store,
                clock=self.clock,
                backlog=self._pages,
                most_waiting=self.most_waiting,
                question_seconds=2,
            )
        finally:
            self.store.close()

    def _pages(self, missing: Callable[[Sequence[bytes]], Sequence[bytes]]) -> Iterator[Sequence[str]]:
        # What has a vector already may be among them: nobody knows what is put meanwhile.
        return iter([list(page) for page in self.backlog])

    def vectorless(self, texts: Sequence[str]) -> list[str]:
        missing = self.store.missing([text_id(text) for text in texts])
        return [text for text in texts if text_id(text) in missing]

    @property
    def embedded(self) -> list[str]:
        return [text for text in self.embedder.passages if text != PROBE]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path / "main.vectors.sqlite")


async def until(condition: Callable[[], bool]) -> None:
    """Let others run until it is so; work in threads has no other end to wait for."""
    with anyio.fail_after(20):
        while not condition():
            await anyio.lowlevel.checkpoint()


async def test_what_is_offered_gets_a_vector(scene: Scene) -> None:
    async with scene.running() as service:
        service.offer([*TEXTS, "", *TEXTS])
        assert service.progress.waiting == 30
        await service.caught_up()
        assert scene.vectorless(TEXTS) == []
        assert service.progress.done == 30
        assert service.progress.waiting == 0
        assert not service.progress.scanning
        found = scene.store.nearest(scene.embedder.vector(TEXTS[3]), 1)
    assert found[0][0] == text_id(TEXTS[3])
    assert sorted(scene.embedded) == sorted(TEXTS)


async def test_after_a_restart_only_new_texts_are_embedded(scene: Scene) -> None:
    scene.backlog = [TEXTS[:10], TEXTS[10:20]]
    async with scene.running() as service:
        await service.caught_up()
    scene.backlog.append(TEXTS[20:])
    scene.embedder = WordEmbedder()
    async with scene.running() as service:
        service.offer(TEXTS[:3])
        await service.caught_up()
        assert scene.vectorless(TEXTS) == []
    assert sorted(scene.embedded) == sorted(TEXTS[20:])


async def test_cancelled_in_a_batch_it_goes_on_where_it_was(scene: Scene) -> None:
    scene.backlog = [TEXTS]
    async with scene.running() as service:
        await until(lambda: service.progress.done >= 8)
        scene.embedder.gate = anyio.Event()
        await until(lambda: service.progress.waiting > 0)
    first = scene.embedded
    scene.embedder = WordEmbedder()
    async with scene.running() as service:
        await service.caught_up()
        assert scene.vectorless(TEXTS) == []
    assert len(first) >= 8
    assert len(first) + len(scene.embedded) <= 30 + WordEmbedder.batch_size


async def test_more_than_may_wait_is_looked_up_later(scene: Scene) -> None:
    scene.most_waiting = 5
    scene.backlog = [TEXTS[:3]]
    async with scene.running() as service:
        await service.caught_up()
        scene.embedder.gate = anyio.Event()
        scene.backlog = [TEXTS[start : start + 5] for start in range(0, 30, 5)]
        service.offer(TEXTS)
        assert service.progress.waiting <= 5
        assert service.progress.scanning
        scene.embedder.gate.set()
        await service.caught_up()
        assert scene.vectorless(TEXTS) == []


async def test_offering_never_waits_for_the_embedder(scene: Scene) -> None:
    scene.embedder.gate = anyio.Event()
    async with scene.running() as service:
        service.offer(TEXTS)
        await anyio.lowlevel.checkpoint()
        service.offer(["one more"])
        assert service.progress.done == 0
        assert service.progress.waiting == 31


class TestFailing:
    async def test_pauses_grow_and_everything_is_made_up_for(self, scene: Scene) -> None:
        def down(texts: Sequence[str]) -> None:
            raise EmbedderUnavailableError("words", "no connection")

        scene.embedder.fault = down
        async with scene.running() as service:
            service.offer(TEXTS)
            for pause in (1, 2, 4):
                await until(lambda: service.progress.pause_seconds > 0)
                assert service.progress.pause_seconds == pause
                scene.clock.advance(pause)
                await until(lambda pause=pause: service.progress.pause_seconds > pause)  # type: ignore[misc]
            assert service.progress.last_error == "words: no connection"
            assert service.progress.waiting == 30
            scene.embedder.fault = lambda texts: None
            scene.clock.advance(8)
            await service.caught_up()
            assert scene.vectorless(TEXTS) == []
            assert service.progress.failed == 0
            # A success ends the pauses: the next failure begins with a short one.
            scene.embedder.fault = down
            service.offer(["one more"])
            await until(lambda: service.progress.pause_seconds > 0)
            assert service.progress.pause_seconds == 1

    async def test_a_text_that_is_refused_costs_only_itself(self, scene: Scene) -> None:
        def refusing(texts: Sequence[str]) -> None:
            if TEXTS[5] in texts:
                raise TextRefusedError("words", "too rude")

        scene.embedder.fault = refusing
        async with scene.running() as service:
            service.offer(TEXTS)
            await service.caught_up()
            assert scene.vectorless(TEXTS) == [TEXTS[5]]
            progress = service.progress
        assert (progress.done, progress.failed, progress.waiting, progress.pause_seconds) == (29, 1, 0, 0)
        assert progress.last_error == "words refuses a text: too rude"

    async def test_a_text_that_breaks_the_embedder_costs_only_itself(self, scene: Scene) -> None:
        """A server answers 500 to one text for ever; questions are answered all the same."""

        def breaking(texts: Sequence[str]) -> None:
            if TEXTS[5] in texts:
                raise ZeroDivisionError

        scene.embedder.fault = breaking
        async with scene.running() as service:
            service.offer(TEXTS)
            await service.caught_up()
            assert scene.vectorless(TEXTS) == [TEXTS[5]]
            assert service.progress.failed == 1
            assert (await service.question("word1")).notice is None

    async def test_a_vector_that_holds_no_numbers_is_not_kept(self, scene: Scene) -> None:
        vector = scene.embedder.vector
        scene.embedder.vector = lambda text: [float("nan")] * 32 if text == TEXTS[5] else vector(text)  # type: ignore[method-assign]
        async with scene.running() as service:
            service.offer(TEXTS)
            await service.caught_up()
            assert scene.vectorless(TEXTS) == [TEXTS[5]]

    async def test_a_removed_file_is_made_again(self, scene: Scene) -> None:
        scene.backlog = [TEXTS]
        async with scene.running() as service:
            await service.caught_up()
            scene.path.unlink()
            service.offer(["something new"])
            await service.caught_up()
            assert scene.vectorless([*TEXTS, "something new"]) == []
            assert scene.path.exists()

    async def test_damage_that_a_search_met_is_mended(self, scene: Scene) -> None:
        scene.backlog = [TEXTS]
        async with scene.running() as service:
            await service.caught_up()
            notice = service.report(VectorsLostError("v.sqlite", "is damaged"))
            assert notice.startswith("searched by keywords only: v.sqlite is damaged")
            await service.caught_up()
            assert scene.vectorless(TEXTS) == []
        assert len(scene.embedded) == 60

    async def test_a_folder_that_refuses_writes_is_waited_for(self, scene: Scene) -> None:
        async with scene.running() as service:
            await service.caught_up()
            put, refusals = scene.store.put, [1, 1]

            def refusing(vectors: object) -> None:
                if refusals:
                    refusals.pop()
                    raise VectorsUnavailableError("v.sqlite", "disk full")
                put(vectors)  # type: ignore[arg-type]

            scene.store.put = refusing  # type: ignore[method-assign]
            service.offer(TEXTS[:2])
            await until(lambda: service.progress.pause_seconds == 1)
            scene.clock.advance(1)
            await until(lambda: service.progress.pause_seconds == 2)
            assert service.progress.last_error == "v.sqlite can't be used now (disk full)"
            scene.clock.advance(2)
            await service.caught_up()
            assert scene.vectorless(TEXTS[:2]) == []


class TestQuestions:
    async def test_a_question_has_the_embedders_vector(self, scene: Scene) -> None:
        async with scene.idle() as service:
            answer = await service.question("word1 word2")
        assert answer.notice is None
        assert answer.vector is not None
        assert answer.vector.tolist() == pytest.approx(scene.embedder.vector("word1 word2"), rel=1e-5)
        assert scene.embedder.questions == ["word1 word2"]

    async def test_white_space_is_no_question(self, scene: Scene) -> None:
        async with scene.idle() as service:
            answer = await service.question(" \n")
        assert (answer.vector, answer.notice, scene.embedder.questions) == (None, None, [])

    async def test_one_that_takes_too_long_is_answered_by_keywords(self, scene: Scene) -> None:
        async with scene.idle() as service:
            await service.question("first")
            await until(lambda: not scene.clock._sleepers)
            scene.embedder.gate = anyio.Event()
            answers = []

            async def ask() -> None:
                answers.append(await service.question("second"))

            async with anyio.create_task_group() as group:
                group.start_soon(ask)
                await until(lambda: bool(scene.clock._sleepers))
                scene.clock.advance(1.9)
                await anyio.lowlevel.checkpoint()
                assert not answers
                scene.clock.advance(0.2)
            assert answers[0].vector is None
            assert answers[0].notice == "searched by keywords only: words: no answer within 2 s"
            # Nobody waits for it again before its pause is over.
            assert (await service.question("third")).vector is None
            scene.embedder.gate.set()
            scene.clock.advance(1.5)
            assert (await service.question("fourth")).vector is not None
            # A success ends the pauses: the next failure begins with a short one.
            scene.embedder.vector = lambda text: [1.0]  # type: ignore[method-assign]
            assert (await service.question("fifth")).vector is None
            assert service.progress.pause_seconds == pytest.approx(1)

    async def test_a_caller_who_is_cancelled_is_cancelled(self, scene: Scene) -> None:
        scene.embedder.gate = anyio.Event()
        async with scene.idle() as service:
            with anyio.move_on_after(0) as scope:
                await service.question("word1")
            assert scope.cancelled_caught
            assert service.progress.last_error is None

    async def test_an_embedder_that_fails_is_told(self, scene: Scene) -> None:
        def down(texts: Sequence[str]) -> None:
            raise OSError("no route to host")

        scene.embedder.fault = down
        async with scene.idle() as service:
            answer = await service.question("word1")
        assert answer.vector is None
        assert answer.notice is not None
        assert "keywords only" in answer.notice
        assert "no route to host" in answer.notice


class TestAnotherModel:
    """Case 24."""

    async def test_means_keywords_and_a_notice_until_the_rebuild(self, scene: Scene) -> None:
        scene.backlog = [TEXTS]
        async with scene.running() as service:
            await service.caught_up()
        former, scene.embedder = scene.embedder, WordEmbedder("newer", 16)
        async with scene.running() as service:
            service.offer(["something new"])
            await service.caught_up()
            answer = await service.question("word1")
            assert answer.vector is None
            assert answer.notice is not None
            assert "words (32 dimensions)" in answer.notice
            assert "newer (16 dimensions)" in answer.notice
            assert "rebuild-index" in answer.notice
            assert service.progress.problem is not None
            assert scene.embedded == []

            await service.rebuild()
            await service.caught_up()
            assert service.progress.problem is None
            assert (await service.question("word1")).vector is not None
            assert scene.vectorless([*TEXTS, "something new"]) == []
            nearest = scene.store.nearest(scene.embedder.vector(TEXTS[9]), 1)
            assert nearest[0][0] == text_id(TEXTS[9])

        scene.embedder, made = former, len(former.passages)
        async with scene.running() as service:
            await service.rebuild()
            await service.caught_up()
            assert scene.vectorless(TEXTS) == []
        assert set(former.passages[made:]) == {PROBE}, "its vectors are still there"

    async def test_the_same_name_with_other_answers_counts_as_another(self, scene: Scene) -> None:
        scene.backlog = [TEXTS]
        async with scene.running() as service:
            await service.caught_up()
        scene.embedder = WordEmbedder("otherwise")
        scene.embedder.name, seed = "words", scene.embedder.vector(PROBE)
        scene.embedder.vector = lambda text: [number + len(text) for number in seed]  # type: ignore[method-assign]
        async with scene.idle() as service:
            answer = await service.question("word1")
        assert answer.vector is None
        assert answer.notice is not None
        assert "as it answers now" in answer.notice

    async def test_a_full_rebuild_makes_all_again(self, scene: Scene) -> None:
        scene.backlog = [TEXTS]
        async with scene.running() as service:
            await service.caught_up()
            await service.rebuild(full=True)
            await service.caught_up()
            assert scene.vectorless(TEXTS) == []
        assert len(scene.embedded) == 60

    async def test_a_rebuild_without_an_embedder_changes_nothing(self, scene: Scene) -> None:
        def down(texts: Sequence[str]) -> None:
            raise EmbedderUnavailableError("words", "no connection")

        scene.backlog = [TEXTS]
        async with scene.running() as service:
            await service.caught_up()
            scene.embedder.fault = down
            with pytest.raises(EmbedderUnavailableError):
                await service.rebuild(full=True)
            assert scene.vectorless(TEXTS) == []


async def test_an_embedder_that_learns_its_dimensions_from_the_first_answer(scene: Scene) -> None:
    scene.embedder = WordEmbedder(told=False)
    async with scene.running() as service:
        service.offer(TEXTS[:2])
        await service.caught_up()
        assert scene.vectorless(TEXTS[:2]) == []
