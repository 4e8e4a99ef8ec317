"""No string of a private file comes back to a group, by any route (seed 003 section 26.4.3)."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from contracts import (
    MemoryGet,
    MemoryRead,
    MemorySearch,
    MemoryWrite,
    SessionEnded,
    SessionStarted,
    UpdateFact,
)
from tests.support import Remembering, remembering

GROUP = "agent:main:group:42"
DAY = "2026-05-04"
WORDS = st.lists(
    st.text("bcdfghjklmnpqrstvwxz", min_size=7, max_size=7).map(lambda word: f"q{word}"),
    min_size=24,
    max_size=24,
    unique=True,
)
"""Words that stand nowhere else."""


def line(role: str, text: str, **more: str) -> str:
    return json.dumps({"role": role, "content": text, "timestamp": f"{DAY}T06:00:00Z", **more}) + "\n"


def private_files(words: list[str]) -> dict[str, str]:
    """Every kind of file that a workspace and sessions have, each with a word of its own."""
    work, sessions = "workspace/main", "agents/main/sessions"
    return {
        f"{work}/MEMORY.md": f"# About {words[0]}\n\n- [x](linked.md) {words[1]}\n\n{words[2]}\n",
        f"{work}/linked.md": f"- {words[3]}\n",
        f"{work}/memory/{DAY}.md": f"### 10:00 — {words[4]}\n{words[5]}\n",
        f"{work}/memory/{DAY}-{words[6]}.md": f"- {words[6]}\n",
        f"{work}/memory/deep/{words[7]}/old.md": f"- {words[7]}\n",
        f"{work}/memory/HISTORY.md": f"[{DAY} 10:00] user: {words[8]}\n",
        f"{work}/AGENTS.md": f"{words[9]}\n",
        f"{sessions}/s1.jsonl": line("user", words[10]),
        f"{sessions}/agent%3Amain%3Agroup%3A42.jsonl": line("user", words[11], visibility="private"),
        f"{sessions}/agent%3Amain%3Agroup%3A43.jsonl": line("user", words[12]),
        f"memory/summaries/daily/{DAY}.md": f"# S\n\n- {words[13]}\n",
        # Broken ones: their names are told in private sessions alone.
        f"{work}/memory/{words[14]}.md/keep.txt": "",
    }


def private_events(words: list[str]) -> list[Any]:
    said = {"role": "user", "content": words[15]}
    return [
        MemoryWrite(type="conversation", content=said, session_id="s1"),
        MemoryWrite(type="conversation", content={"role": "user", "content": words[16]}, session_id=GROUP,
                    session_kind="primary"),
        MemoryWrite(type="conversation", content={"role": "user", "content": words[17]}, session_id="a:group:43"),
        MemoryWrite(type="note", content={"text": words[18], "title": words[19]}, session_id="s1"),
        MemoryWrite(type="memory", content={"text": words[20]}, session_id="s1"),
        MemoryWrite(type="task", content={"title": words[21]}, session_id="s1"),
        UpdateFact(section=words[22], key="k", value=words[23]),
        SessionEnded(session_id="s1"),
    ]  # fmt: skip


async def answers(it: Remembering, query: str, session: str | None, tokens: int) -> list[Any]:
    """Ask by every route, as a group."""
    rights = {"session_kind": "group"}
    paths = [
        path.relative_to(it.memory.config.root).as_posix().removeprefix("memory/")
        for path in it.memory.config.root.rglob("*.md*")
        if path.is_file()
    ]
    own = session or GROUP
    return [
        await it.ask(MemoryRead(query=query, session_id=own, max_tokens=tokens, current_message=query, **rights)),
        await it.ask(MemoryRead(query=query, session_id=own, max_tokens=tokens, as_of=f"{DAY}T23:00:00Z", **rights)),
        await it.ask(MemorySearch(query=query, session_id=session, max_results=500, explain=True, **rights)),
        await it.ask(MemorySearch(query=query, session_id=session, layers=("note", "memory", "history"), **rights)),
        await it.ask(SessionStarted(session_id=own, **rights)),
        *[
            (await it.ask(MemoryGet(path=path, **rights))).model_copy(update={"path": ""})
            for path in paths
            if not path.startswith(".") and "/." not in path
        ],
    ]


@pytest.mark.parametrize("mode", ["four_layer", "two_layer", "four_tier", "history"])
@settings(max_examples=3, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(words=WORDS, shared=st.sampled_from(["walnut", "胡桃"]), tokens=st.sampled_from([1, 60, 5_000]))
async def test_a_group_gets_nothing_private(mode: str, words: list[str], shared: str, tokens: int) -> None:
    """Whatever it asks, by its own id or by none; before a flush, after it, after a restart."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        files = {**private_files(words), "workspace/main/shared/team.md": f"- {shared}\n"}
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        query = " ".join([*words, shared, DAY])
        for start in range(2):
            async with remembering(root, mode=mode) as it:
                if not start:
                    for event in private_events(words):
                        assert (await it.ask(event)).success
                    said = {"role": "user", "content": f"{shared} says the group"}
                    await it.ask(MemoryWrite(type="conversation", content=said, session_id=GROUP))
                owner = await it.ask(MemorySearch(query=query, max_results=500))
                told = " ".join(result.snippet for result in owner.results)
                assert {words[n] for n in (1, 3, 5, 7, 15, 18, 20, 23)} <= set(told.replace("/", " ").split())
                for session in (GROUP, None):
                    given_back = await answers(it, query, session, tokens)
                    text = " ".join(answer.model_dump_json() for answer in given_back)
                    assert [word for word in words if word in text] == []
                    assert shared in text
