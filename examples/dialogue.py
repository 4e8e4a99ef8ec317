"""One form for every dialogue that the examples replay: sessions of turns with times, and what the turns state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from examples.errors import DialogueFormatError

Speaker = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class FactStated:
    """A turn states a fact: what `memory:update_fact` takes."""

    section: str
    key: str
    value: str
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class TaskOpened:
    """A turn asks for a new task. `ref` is its name within the dialogue; memory gives it an id."""

    ref: str
    title: str
    steps: tuple[str, ...] = ()
    priority: Literal["high", "medium", "low"] = "medium"
    due: str | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class TaskMoved:
    """A turn puts a task into another state."""

    ref: str
    state: Literal["pending", "in_progress", "completed", "expired"]


@dataclass(frozen=True, slots=True)
class StepsDone:
    """A turn says that steps of a task are done."""

    ref: str
    steps: tuple[str, ...]


Note = FactStated | TaskOpened | TaskMoved | StepsDone
"""What a Brain notes down beside the words of a turn."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Something said, by whom and when."""

    session: str
    time: datetime
    role: Speaker
    content: str
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue of one or more sessions, oldest turn first."""

    name: str
    timezone: str
    turns: tuple[Turn, ...]

    @property
    def sessions(self) -> tuple[str, ...]:
        """Give the ids of the sessions, in order."""
        return tuple(dict.fromkeys(turn.session for turn in self.turns))


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the user said and what the agent answered; one of the two may be missing."""

    message: Turn | None
    reply: Turn | None

    @property
    def turns(self) -> tuple[Turn, ...]:
        """Give the turns that are there, in order."""
        return tuple(turn for turn in (self.message, self.reply) if turn is not None)

    @property
    def session(self) -> str:
        """Give the session that it belongs to."""
        return self.turns[0].session

    @property
    def time(self) -> datetime:
        """Give the time at which it begins."""
        return self.turns[0].time


def exchanges(turns: tuple[Turn, ...]) -> Iterator[Exchange]:
    """Pair each user turn with the assistant turn that follows it in the same session.

    A user turn without an answer, and an assistant turn that nobody asked for, make an exchange alone. No turn is lost.
    """
    waiting: Turn | None = None
    for turn in turns:
        if waiting is not None and (turn.role == "user" or turn.session != waiting.session):
            yield Exchange(waiting, None)
            waiting = None
        if turn.role == "user":
            waiting = turn
        else:
            yield Exchange(waiting, turn)
            waiting = None
    if waiting is not None:
        yield Exchange(waiting, None)


def first_turns(dialogue: Dialogue, limit: int | None) -> Dialogue:
    """Give the dialogue cut after `limit` turns; all of it where `limit` is None."""
    if limit is None:
        return dialogue
    return Dialogue(dialogue.name, dialogue.timezone, dialogue.turns[:limit])


def read_dialogue(path: Path, timezone: str = "Asia/Shanghai") -> Dialogue:
    """Read a dialogue file of a known kind: `.jsonl` as the bundled sample, `.json` as LoCoMo.

    `timezone` is the IANA name of the user's zone; times without an offset (LoCoMo has only such) are local there.
    Raises `DialogueFormatError`, which names the place, where the file has another shape; `OSError` where it can't be
    read.
    """
    # Here, not at the top: the two readers build on this module.
    from examples import locomo, sample

    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise DialogueFormatError(path, f"byte {error.start}", "expected UTF-8") from error
    parse = sample.parse if path.suffix == ".jsonl" else locomo.parse
    turns = parse(text, path=path, timezone=timezone)
    if not turns:
        raise DialogueFormatError(path, "the file", "expected at least one turn")
    return Dialogue(path.stem, timezone, turns)
