"""What can be asked of an index, as one value: two indexes that hold the same answer alike, to the last digit."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from openclaw_memory.retrieval import Block
from openclaw_memory.retrieval.passages import passage, text_id
from openclaw_memory.retrieval.scope import Audience, Scope

START = datetime(2026, 5, 4, tzinfo=UTC)
WORDS = ["tea", "lake", "rust", "go", "c#", "dec-0054", "茶", "西湖"]
QUESTIONS = [[word] for word in WORDS] + [["tea", "lake", "茶"], ["rust", "go", "c#", "absent"]]
PATHS = ["a.md", "b.md", "c.md"]
SESSIONS = ["s1", "s2"]
SCOPES = [
    Scope(),
    Scope(layers=frozenset({"fact"})),
    Scope(tags=frozenset({"Work"})),
    Scope(until=START + timedelta(minutes=4)),
    Scope(
        audiences=(
            Audience(visibilities=frozenset({"shared"})),
            Audience(frozenset({"group", "private"}), frozenset({"s1"}), frozenset({"conversation", "history"})),
        )
    ),
]

AUDIENCES = [
    (Audience(visibilities=frozenset({"shared"})),),
    (Audience(visibilities=frozenset({"shared"})), Audience(frozenset({"group"}), frozenset({"s1"}))),
    (Audience(visibilities=frozenset({"shared"})), Audience(sessions=frozenset({"s1", "s2"}))),
    (Audience(visibilities=frozenset({"shared"})), Audience(layers=frozenset({"fact"}))),
    (Audience(frozenset({"shared", "private"}), frozenset({"s2"}), frozenset({"fact", "history"})),),
]


def block(words: list[str], line: int, **fields: Any) -> Block:
    """Make a block whose place and key are told by its file and line, unless they are given."""
    path = fields.pop("path", "a.md")
    values: dict[str, Any] = {"key": f"{path}#{line}", "layer": "conversation", "time": START + timedelta(minutes=line)}
    return Block(**{**values, "path": path, "start_line": line, "end_line": line, "text": " ".join(words), **fields})


def answers(index: Any, *, questions: list[list[str]] = QUESTIONS) -> dict[str, Any]:
    """Ask everything."""
    blocks = {block for path in PATHS for block in index.blocks_of(path)}
    return {
        "count": len(index),
        "hits": [
            [(hit.block, round(hit.score, 9)) for hit in index.search(words, limit=limit, allow=_all, scope=scope)]
            for words in questions
            for scope in SCOPES
            for limit in (2, 50)
        ],
        "refused": [
            [hit.block for hit in index.search(words, limit=3, allow=lambda one: one.start_line % 2 == 0)]
            for words in questions
        ],
        "files": {path: index.blocks_of(path) for path in PATHS},
        "keys": {block.key: index.find(block.key) for block in blocks},
        "holding": index.paths_holding([block.key for block in blocks] + ["unknown"]),
        "newest": {
            (session, until): list(index.newest(session, until))
            for session in SESSIONS
            for until in (None, START + timedelta(minutes=4))
        },
        "newest paths": {
            (session, most): index.newest_paths(session, most) for session in SESSIONS for most in (1, 3, 50)
        },
        "around": _around(index, sorted(blocks, key=lambda one: (one.path, one.start_line, one.key, one.text))),
        "found": index.find_many([block.key for block in blocks] + ["unknown"]),
        "records": index.records(),
        "texts": _texts(index, {passage(block) for block in blocks}),
        "within": [_listed(index.within(audiences, 100)) for audiences in AUDIENCES],
    }


def _around(index: Any, blocks: list[Block]) -> dict[Block, list[Any]]:
    """Give what is beside each block, asked for at once, without what only some indexes have at hand."""
    return {
        block: [one._replace(block=None) for one in near]
        for block, near in zip(blocks, index.around_many(blocks, 2), strict=True)
    }


def _texts(index: Any, texts: set[str]) -> dict[bytes, Any]:
    """Give the blocks of every text, by the pages of their addresses; those of the blocks have to be among them."""
    found: dict[bytes, Any] = {}
    last = b""
    while page := index.text_ids(last, 3):
        assert page == sorted(set(page))
        assert page[0] > last
        last = page[-1]
        found |= {id_: _listed(held) for id_, held in zip(page, index.blocks_of_texts(page), strict=True) if held}
    assert found.keys() == {text_id(text) for text in texts if text}
    return found


def _listed(blocks: list[Block] | None) -> Any:
    return None if blocks is None else (len(blocks), frozenset(blocks))


def _all(block: Block) -> bool:
    return True
