"""Sessions begin and end: what each kind loads, what of it is written down, and what nobody else may see."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from contracts import (
    Forget,
    MemoryGet,
    MemoryRead,
    MemorySearch,
    MemoryWrite,
    MemoryWritten,
    Selector,
    SessionEnded,
    SessionStarted,
)
from openclaw_memory import getting
from openclaw_memory.capture.points import key_points
from openclaw_memory.getting import lines_of
from tests.support import START, Remembering, remembering
from tests.test_processes import passing
from tests.test_workspace import put, read

FILES = {
    "MEMORY.md": "- curated secret\n",
    "memory/2026-05-04.md": "- noted secret\n",
    "shared/team.md": "- shared words\n",
}


def say(content: str, session: str = "s1", role: str = "user", **more: Any) -> MemoryWrite:
    return MemoryWrite(type="conversation", content={"role": role, "content": content}, session_id=session, **more)


async def end(it: Remembering, session: str = "s1", **more: Any) -> MemoryWritten:
    written = await it.ask(SessionEnded(session_id=session, **more))
    assert isinstance(written, MemoryWritten)
    return written


@pytest.mark.parametrize(
    ("kind", "memory", "notes"),
    [
        ("primary", ("- curated secret",), ("## 2026-05-04\n- noted secret",)),
        ("sandbox", ("- curated secret",), ("## 2026-05-04\n- noted secret",)),
        ("sub", (), ()),
        ("group", (), ("- shared words",)),
    ],
)
async def test_what_each_kind_loads(
    tmp_path: Path, kind: str, memory: tuple[str, ...], notes: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    """The table of seed 003 section 26.4.3, told by the answer to `session:started`, and by the log with the reason."""
    caplog.set_level(logging.INFO, "openclaw_memory")
    put(tmp_path, FILES)
    async with remembering(tmp_path) as it:
        await it.ask(say("hello", "s1", session_kind=None if kind == "sandbox" else kind))
        started = await it.ask(SessionStarted(session_id="s1", session_kind=kind))
        assert (started.memory, started.notes) == (memory, notes)
        assert [message.content for message in started.history] == ["hello"]
    [told] = [record.message for record in caplog.records if "session s1 began" in record.message]
    assert f"as {kind}" in told
    assert ("workspace/main/MEMORY.md" in told) == bool(memory)
    assert "secret" not in told


@pytest.mark.parametrize(
    ("rules", "kind", "memory", "notes"),
    [
        ({"primary_private": {"load_memory": False}}, "primary", 0, 1),
        ({"primary_private": {"load_memory": False}}, "sandbox", 0, 1),
        ({"sub_session": {"load_memory": True}}, "sub", 1, 0),
        ({"sub_session": {"inherit_context": "full"}}, "sub", 0, 1),
        ({"group_session": {"load_shared_context": False}}, "group", 0, 0),
    ],
)
async def test_rules_are_configured(tmp_path: Path, rules: dict[str, Any], kind: str, memory: int, notes: int) -> None:
    """What is not loaded is not found either, and not got by its path."""
    put(tmp_path, FILES)
    async with remembering(tmp_path, session=rules) as it:
        context = await read(it, "secret words", session_kind=kind, session_id="x")
        assert (len(context.memory), len(context.notes)) == (memory, notes)
        results = await it.ask(MemorySearch(query="curated", session_id="x", session_kind=kind))
        assert len(results.results) == memory
        shared = await it.ask(MemorySearch(query="shared words", session_id="x", session_kind=kind))
        assert len(shared.results) == (0 if "group_session" in rules else 1)
        got = await it.ask(MemoryGet(path="workspace/main/shared/team.md", session_kind=kind))
        assert (got.text == "") == ("group_session" in rules)
        got = await it.ask(MemoryGet(path="workspace/main/MEMORY.md", session_kind=kind))
        assert "curated" not in got.text or memory


async def test_a_sub_session_that_inherits_nothing(tmp_path: Path) -> None:
    """Its own messages, and not even the task that it is named after."""
    for inherit, tasks in (("minimal", ["OPEN-001"]), ("none", [])):
        root = tmp_path / inherit
        async with remembering(root, session={"sub_session": {"inherit_context": inherit}}) as it:
            await it.ask(MemoryWrite(type="task", content={"title": "Paint"}, session_id="p"))
            await it.ask(say("the blue paint for OPEN-001", "p"))
            await it.ask(say("mine", "subagent:OPEN-001"))
            context = await read(it, "paint OPEN-001", session_id="subagent:OPEN-001")
            assert [task.id for task in context.tasks] == tasks
            assert [message.content for message in context.history] == ["mine"]
            assert any("blue" in piece for piece in context.recalled) == bool(tasks)


async def test_key_points_of_a_session_go_into_the_days_note(tmp_path: Path) -> None:
    """Decisions, things to do and preferences, once; ended again only what is new is told."""
    async with remembering(tmp_path, language="en") as it:
        await it.ask(say("We decided to use PostgreSQL for the archive."))
        await it.ask(say("Fine.", role="assistant"))
        await it.ask(say("I prefer short answers."))
        await it.ask(say("What is the weather like?"))
        written = await end(it)
        assert (written.success, written.key) == (True, "workspace/main/memory/2026-05-04.md#L4")
        await it.flushed()
        note = (tmp_path / "workspace/main/memory/2026-05-04.md").read_text()
        assert "### 14:30 — Session s1" in note
        assert "PostgreSQL" in note
        assert "Preference: I prefer short answers" in note
        assert "weather" not in note
        again = await end(it)
        assert (again.success, again.degraded, "already" in (again.message or "")) == (False, False, True)
        await it.ask(say("Remember that the staging server is called Ada."))
        it.clock.advance(3600)
        assert (await end(it)).success
        await it.flushed()
        note = (tmp_path / "workspace/main/memory/2026-05-04.md").read_text()
        assert [note.count(word) for word in ("PostgreSQL", "called Ada", "### ")] == [1, 1, 2]


async def test_what_a_person_takes_out_of_the_note_is_not_told_again(tmp_path: Path) -> None:
    """Not when the session ends again, with or without something new, nor after a restart; said again, it is."""
    note = tmp_path / "workspace/main/memory/2026-05-04.md"
    async with remembering(tmp_path, language="en") as it:
        await it.ask(say("We decided to use PostgreSQL for the archive."))
        await it.ask(say("I prefer short answers."))
        assert (await end(it)).success
        await it.flushed()
        kept = [line for line in note.read_text().splitlines(keepends=True) if "PostgreSQL" not in line]
        note.write_text("".join(kept))
        it.clock.advance(60)
        assert not (await end(it)).success
        await it.ask(say("We decided to use Redis for the queue."))
        assert (await end(it)).success
    async with remembering(tmp_path, language="en", now=START + timedelta(minutes=5)) as it:
        assert not (await end(it)).success
        text = note.read_text()
        assert [text.count(word) for word in ("PostgreSQL", "short answers", "Redis")] == [0, 1, 1]
        await it.ask(say("We decided to use PostgreSQL for the archive."))
        assert (await end(it)).success
        await it.flushed()
        assert note.read_text().count("PostgreSQL") == 1


async def test_what_was_told_is_known_when_the_last_message_is_gone(tmp_path: Path) -> None:
    """It was forgotten: its time tells what came after it."""
    async with remembering(tmp_path, language="en") as it:
        await it.ask(say("We decided to use PostgreSQL for the archive."))
        it.clock.advance(1)
        await it.ask(say("The weather is lovely in Lissabon."))
        assert (await end(it)).success
        await it.flushed()
        note = tmp_path / "workspace/main/memory/2026-05-04.md"
        note.write_text("")
        assert (await it.ask(Forget(selector=Selector(text="Lissabon")))).total
        it.clock.advance(1)
        await it.ask(say("We decided to use Redis for the queue."))
        assert (await end(it)).success
        await it.flushed()
        assert ("Redis" in note.read_text(), "PostgreSQL" in note.read_text()) == (True, False)


async def test_old_days_of_a_long_session_are_not_told_again(tmp_path: Path) -> None:
    """A session that goes on for months is not summed up from its beginning each time."""
    async with remembering(tmp_path, language="en") as it:
        await it.ask(say("We decided to use PostgreSQL for the archive."))
        assert (await end(it)).success
        it.clock.advance(10 * 86_400)
        await it.ask(say("We decided to use Redis for the queue."))
        assert (await end(it)).success
        await it.flushed()
        note = (tmp_path / "workspace/main/memory/2026-05-14.md").read_text()
        assert ("Redis" in note, "PostgreSQL" in note) == (True, False)


async def test_without_findings_the_first_and_the_last_words_tell(tmp_path: Path) -> None:
    """Something of every session is left, without a model."""
    async with remembering(tmp_path, language="en") as it:
        await it.ask(say("How far is it to the moon?"))
        await it.ask(say("About 384,400 km.", role="assistant"))
        assert (await end(it)).success
        context = await read(it)
        assert "- Asked: How far is it to the moon?\n- Last: About 384,400 km." in "\n".join(context.notes)


@pytest.mark.parametrize("kind", ["group", "sub", "sandbox"])
async def test_only_private_sessions_are_written_down(tmp_path: Path, kind: str) -> None:
    """Of others nothing goes into the owner's notes, in words that name the field."""
    async with remembering(tmp_path) as it:
        await it.ask(say("We decided on green.", session_kind=None if kind == "sandbox" else kind))
        written = await end(it, session_kind=kind)
        assert (written.success, written.degraded) == (False, False)
        assert (written.message or "").startswith("sessionKind: ")
        assert (await read(it)).notes == ()


async def test_a_session_without_messages_ends_without_a_note(tmp_path: Path) -> None:
    """Nothing is made up."""
    async with remembering(tmp_path) as it:
        assert not (await end(it, "nobody")).success
        await it.flushed()
    assert not (tmp_path / "workspace/main/memory").exists()


async def test_a_guest_ends_sessions_too(tmp_path: Path) -> None:
    """Beside the owner the note is handed in like any other write."""
    async with remembering(tmp_path) as owner, remembering(tmp_path) as guest:
        await owner.ask(say("我们决定用 PostgreSQL。"))
        written = await passing(guest.ask(SessionEnded(session_id="s1")), owner.clock, guest.clock)
        assert written.success
        assert "PostgreSQL" in "\n".join((await read(owner)).notes)


def test_untold_roles_and_repetitions() -> None:
    """Tools' words are no points of a session, and what is known is not told again."""
    assert key_points([("tool", "we decided to use X"), ("system", "y")]) == []
    said = [("user", "We decided to use Go.")]
    [point] = key_points(said, language="en")
    assert key_points(said, known=[point.upper()], language="en") == []
    many = [("user", f"We decided to use tool{number}.") for number in range(30)]
    assert len(key_points(many)) == 10
    assert "tool29" in key_points(many)[-1]


# -- memory:get -------------------------------------------------------------------------------------------------


async def test_get_gives_lines_as_search_names_them(tmp_path: Path) -> None:
    """The lines of a hit are those of the file, also while it lags behind."""
    put(tmp_path, {"memory/2026-05-04.md": "\ufeff# head\r\n\r\n- alpha\r\n- beta\r\n"})
    async with remembering(tmp_path) as it:
        await it.ask(say("gamma"))
        for query in ("beta", "gamma"):
            [hit] = (await it.ask(MemorySearch(query=query))).results
            got = await it.ask(MemoryGet(path=hit.path, from_=hit.start_line, lines=hit.end_line - hit.start_line + 1))
            assert query in got.text
            assert not got.truncated
        whole = await it.ask(MemoryGet(path="workspace/main/memory/2026-05-04.md"))
        assert whole.text.endswith("- alpha\r\n- beta\r\n")


@pytest.mark.parametrize(
    ("text", "ask", "lines", "truncated"),
    [
        ("x\n" * 300, {}, 120, True),
        ("x\n" * 300, {"lines": 120}, 120, False),
        ("x\n" * 300, {"lines": 121}, 120, True),
        ("x\n" * 300, {"from": 201}, 100, False),
        (f"{'y' * 5_000}\n" * 3, {}, 2, True),
        (f"{'z' * 13_000}\n", {}, 0, True),
        ("x\n", {"from": 1}, 1, False),
    ],
)
async def test_get_is_limited(tmp_path: Path, text: str, ask: dict[str, int], lines: int, truncated: bool) -> None:
    """At most 120 lines and 12,000 characters, in whole lines where one fits."""
    put(tmp_path, {"memory/2026-05-04.md": text})
    async with remembering(tmp_path) as it:
        got = await it.ask(MemoryGet.model_validate({"path": "workspace/main/memory/2026-05-04.md", **ask}))
        assert (got.text.count("\n"), got.truncated) == (lines, truncated)
        assert 0 < len(got.text) <= 12_000


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("workspace/main/nothing.md", "there is no document"),
        ("index.json", "there is no document"),
        ("conversations/2020-01-01.md", "there is no document"),
        ("workspace/main/memory/2026-05-04.md", "has 1 lines, not 7"),
    ],
)
async def test_get_says_why_there_is_nothing(tmp_path: Path, path: str, words: str) -> None:
    """An unknown path, a file of the machinery, a line beyond the end."""
    put(tmp_path, FILES)
    async with remembering(tmp_path) as it:
        got = await it.ask(MemoryGet(path=path, from_=7))
        assert (got.text, words in (got.notice or "")) == ("", True)


async def test_pages_of_a_document_are_of_one_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Page by page a long day is what its file is, read once; what is written then is in the next page."""
    read: list[str] = []

    def noted(path: str, document: Any) -> list[str]:
        read.append(path)
        return lines_of(path, document)

    monkeypatch.setattr(getting, "lines_of", noted)

    async def page(first: int) -> tuple[str, bool]:
        got = await it.ask(MemoryGet(path="conversations/2026-05-04.md", from_=first))
        return got.text, got.truncated

    async with remembering(tmp_path) as it:
        messages = [{"role": "user", "content": f"line one of {number}\nline two"} for number in range(150)]
        await it.ask(MemoryWrite(type="conversation", content={"messages": messages}, session_id="s1"))
        await it.flushed()
        text, truncated = "", True
        while truncated:
            more, truncated = await page(text.count("\n") + 1)
            text += more
        assert text == (tmp_path / "memory/conversations/2026-05-04.md").read_text()
        assert read == ["conversations/2026-05-04.md"]
        await it.ask(say("said at last"))
        assert "said at last" in (await page(text.count("\n") + 1))[0]
        assert len(read) == 2


async def test_get_by_a_group_tells_not_even_what_exists(tmp_path: Path) -> None:
    """The same words for a private file and for none; `shared/` is for everyone."""
    put(tmp_path, FILES)
    async with remembering(tmp_path) as it:
        await it.ask(say("said to the group", "g", session_kind="group"))
        paths = ("workspace/main/MEMORY.md", "workspace/main/no.md", "conversations/2026-05-04.md", "facts/no.md")
        answers = {(got := await it.ask(MemoryGet(path=path, session_kind="group"))).notice: got.text for path in paths}
        assert list(answers.values()) == [""]
        shared = await it.ask(MemoryGet(path="workspace/main/shared/team.md", session_kind="group"))
        assert shared.text == "- shared words\n"


async def test_reading_never_fails_the_bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever happens inside, each of the events has its answer."""
    async with remembering(tmp_path) as it:

        async def fails(*_: object) -> None:
            raise ZeroDivisionError("inside")

        for name in ("get", "started", "ended"):
            monkeypatch.setattr(it.memory._reader(), name, fails)
        assert "inside" in (await it.ask(MemoryGet(path="a.md"))).notice
        started = await it.ask(SessionStarted(session_id="s1"))
        assert (started.degraded, started.notice) == (True, "inside")
        assert (await end(it)).degraded


async def test_reads_go_on_beside(tmp_path: Path) -> None:
    """The order of a session: what was written before its end is part of it."""
    async with remembering(tmp_path, language="en") as it:
        await it.bus.publish(say("We decided to use Go."))
        written = await end(it)
        assert written.success
        context = await it.ask(MemoryRead(query="", session_id="s1", max_tokens=500))
        assert "Go" in "\n".join(context.notes)
