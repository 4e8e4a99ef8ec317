"""Read LoCoMo, MemDaily and MADial-zh as stores of memories and questions about them. The data are not in here."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from examples.locomo import parse
from openclaw_memory.retrieval import Block

KINDS_OF_LOCOMO = {1: "multi-hop", 2: "temporal", 3: "open domain", 4: "single-hop"}


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its kind, the keys of the memories that answer it, and when it is asked."""

    text: str
    kind: str
    evidence: frozenset[str]
    asked: datetime


@dataclass(frozen=True, slots=True)
class Store:
    """Memories, oldest first, and questions about them. `by_tokens`: contexts are measured, not only ranks."""

    name: str
    blocks: tuple[Block, ...]
    questions: tuple[Question, ...]
    by_tokens: bool = False

    def moved_back(self, by: timedelta) -> Store:
        """Give the same with all memories older; the questions are asked when they were."""
        return replace(self, blocks=tuple(one._replace(time=one.time - by) for one in self.blocks if one.time))


def load(dataset: str, paths: list[Path]) -> list[Store]:
    """Read a dataset from files or folders.

    Raises: `OSError`, `ValueError`, `KeyError` where a file is missing or has another shape.
    """
    return {"locomo": _locomo, "memdaily": _memdaily, "madial": _madial}[dataset](paths)


def _files(paths: list[Path], ending: str) -> Iterator[Path]:
    for path in paths:
        yield from sorted(path.glob(f"*{ending}")) if path.is_dir() else [path]


def _block(key: str, text: str, time: datetime, session: str, role: str = "user", line: int = 1) -> Block:
    path = f"conversations/{time.date()}.md"
    return Block(key, "conversation", path, line, line + 3, text, time, session=session, role=role)


def _locomo(paths: list[Path]) -> list[Store]:
    return [_talk(path) for path in _files(paths, ".json")]


def _talk(path: Path) -> Store:
    text = path.read_text(encoding="utf-8")
    raw = json.loads(text)
    said = raw["conversation"]
    numbers = sorted(int(name[8:]) for name in said if re.fullmatch(r"session_\d+", name))
    ids = [turn["dia_id"] for number in numbers for turn in said[f"session_{number}"]]
    lines: dict[str, int] = defaultdict(lambda: 8)
    blocks = []
    for key, turn in zip(ids, parse(text, path=path, timezone="UTC"), strict=True):
        block = _block(key, turn.content, turn.time, turn.session, turn.role)
        start, height = lines[block.path], 4 + turn.content.count("\n")
        lines[block.path] = start + height + 1
        blocks.append(block._replace(start_line=start, end_line=start + height - 1))
    end, questions = max(block.time for block in blocks if block.time), []
    for asked in raw["qa"]:
        evidence = frozenset(re.findall(r"D\d+:\d+", " ".join(asked["evidence"]))) & set(ids)
        if asked["category"] in KINDS_OF_LOCOMO and evidence:
            questions.append(Question(asked["question"], KINDS_OF_LOCOMO[asked["category"]], evidence, end))
    return Store(path.stem, tuple(blocks), tuple(questions), by_tokens=True)


def _memdaily(paths: list[Path]) -> list[Store]:
    """Put all trajectories into one store, each a session of its own."""
    blocks, questions = [], []
    for path in _files(paths, ".json"):
        for trajectory in json.loads(path.read_text(encoding="utf-8")):
            session = f"{path.stem}-{trajectory['tid']}"
            for line, message in enumerate(trajectory["message_list"]):
                key, time = f"{session}-{message['mid']}", _chinese_time(message["time"])
                blocks.append(_block(key, message["message"], time, session, line=line * 5))
            for asked in trajectory["question_list"]:
                evidence = frozenset(f"{session}-{step}" for step in asked["target_step_id"])
                questions.append(Question(asked["question"], path.stem[3:], evidence, _chinese_time(asked["time"])))
    return [Store("memdaily", tuple(blocks), tuple(questions))]


def _chinese_time(text: str) -> datetime:
    year, month, day, hour, minute = map(int, re.findall(r"\d+", text))
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


def _madial(paths: list[Path]) -> list[Store]:
    """Make a store a user and a form of question: the last user turn before the test turn, or all so far."""
    folders = [path if path.is_dir() else path.parent for path in paths]
    return [store for folder in folders for every in (False, True) for store in _users(folder, every=every)]


def _users(folder: Path, *, every: bool) -> Iterator[Store]:
    memories: dict[str, Any] = {}
    for line in (folder / "memory.jsonl").read_text(encoding="utf-8").splitlines():
        memories.update(json.loads(line))
    dialogues = [json.loads(line) for line in (folder / "dialogue.jsonl").read_text(encoding="utf-8").splitlines()]
    for user in sorted({one["user-id"] for one in memories.values()}):
        own = {key: one for key, one in memories.items() if one["user-id"] == user}
        blocks = [
            _block(key, one["event"], datetime.fromisoformat(one["time"]).replace(tzinfo=UTC), f"memory-{key}")
            for key, one in own.items()
        ]
        end = max(block.time for block in blocks if block.time) + timedelta(days=1)
        kind = "all user turns" if every else "last user turn"
        questions = []
        for dialogue in dialogues:
            evidence = frozenset(str(one) for one in dialogue["relevant-id"]) & own.keys()
            turns = _user_turns(dialogue["dialogue"][: dialogue["test-turn"][0]])
            if dialogue["user-id"] == user and evidence and turns:
                questions.append(Question("\n".join(turns) if every else turns[-1], kind, evidence, end))
        yield Store(f"user {user}, {kind}", tuple(blocks), tuple(questions))


def _user_turns(lines: list[str]) -> list[str]:
    spoken = [line for line in lines if not line.startswith(("<Assistant", "<BOD", "<EOD"))]
    return [re.sub(r'^<[^>]*>:"?|"?\n?$', "", line) for line in spoken]
