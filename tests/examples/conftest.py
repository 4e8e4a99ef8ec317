"""What the tests of the examples share."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bus import Event, EventBus, Payload
from contracts import (
    Citation,
    HistoryMessage,
    MemoryContext,
    MemoryRead,
    MemoryWrite,
    MemoryWritten,
    PartTokens,
    StepContent,
    Task,
    TaskStateChange,
    TokenReport,
    UpdateFact,
)

LOCOMO = Path(__file__).resolve().parents[3] / "shared" / "data" / "locomo"
NOW = datetime(2026, 3, 6, 21, 40, tzinfo=UTC)


def make_citation(**changes):
    """Cite a message."""
    fields = {
        "path": "conversations/2026-03-02.md",
        "start_line": 12,
        "end_line": 18,
        "layer": "conversation",
        "key": "conversations/2026-03-02.md#01JV",
        "time": NOW,
        "score": 1.0,
    }
    return Citation(**(fields | changes))


def make_context(**changes):
    """Give a context with something in every part."""
    fields = {
        "facts": ("技术栈 / 主要语言: Go",),
        "tasks": (
            Task(
                id="OPEN-001",
                title="离线缓存",
                state="in_progress",
                priority="high",
                created=NOW,
                steps=(StepContent(text="定格式", done=True),),
            ),
        ),
        "summaries": ("Monday: the cache.",),
        "degraded": False,
        "recalled": ("2026-03-02 user: I write TypeScript",),
        "citations": (make_citation(),),
        "history": (
            HistoryMessage(role="user", content="早", timestamp=NOW, key="a"),
            HistoryMessage(role="assistant", content="早上好", timestamp=NOW, key="b"),
        ),
        "notes": ("Met Bo.",),
        "memory": ("Likes the sea.",),
        "tokens": TokenReport(
            max=1_000,
            used=300,
            encoding="cl100k_base",
            parts=(
                PartTokens(name="facts", planned=100, used=50),
                PartTokens(name="recalled", planned=200, used=150),
                PartTokens(name="history", planned=600, used=100),
            ),
        ),
    }
    return MemoryContext(**(fields | changes))


@pytest.fixture
def locomo() -> Path:
    """Give the folder of LoCoMo files; their licence keeps them out of this repository."""
    if not LOCOMO.is_dir():
        pytest.skip("needs LoCoMo (CC BY-NC, not ours to bundle) in ../shared/data/locomo")
    return LOCOMO


@pytest.fixture
def citation():
    """Give a function that cites a message, with the fields that it is given."""
    return make_citation


@pytest.fixture
def context():
    """Give a function that makes a context with something in every part, but for the fields that it is given."""
    return make_context


class ToyMemory:
    """Answers reads with one context and numbers tasks; keeps what it was asked. `refuses` is a part of event types."""

    name = "toy"

    def __init__(self, answer: MemoryContext, refuses: str = "nothing") -> None:
        self.seen: list[Payload] = []
        self._answer = answer
        self._refuses = refuses

    async def start(self, bus: EventBus) -> None:
        """Listen to all events of memory that Brains send."""
        self._bus = bus
        asked = [MemoryRead, MemoryWrite, UpdateFact, TaskStateChange]
        self._subscription = bus.subscribe(asked, self._handle, name=self.name, answers=True)

    async def stop(self) -> None:
        """Listen no more."""
        self._subscription.close()

    async def _handle(self, event: Event[Payload]) -> None:
        self.seen.append(event.data)
        if isinstance(event.data, MemoryRead):
            await self._bus.reply(event, self._answer)
        elif self._refuses in (event.data.event_type, getattr(event.data, "type", None)):
            await self._bus.reply(event, MemoryWritten(key="", success=False, degraded=True, message="disk full"))
        else:
            tasks = [seen for seen in self.seen if isinstance(seen, MemoryWrite) and seen.type == "task"]
            key = (
                f"tasks/active.md#OPEN-{len(tasks):03}" if getattr(event.data, "type", "") == "task" else "somewhere#1"
            )
            await self._bus.reply(event, MemoryWritten(key=key, success=True, degraded=False, keys=(key,)))


@pytest.fixture
def toy_memory():
    """Give the class of a memory that needs no disk."""
    return ToyMemory
