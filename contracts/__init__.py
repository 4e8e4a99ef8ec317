"""What the events of memory carry. Frozen models; snake_case in Python, camelCase on the wire.

A model is loaded when it is first asked for: building all of them takes a good part of a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contracts.content import (
        CuratedContent,
        FactContent,
        MessageContent,
        MessageMetadata,
        MessagesContent,
        NoteContent,
        StepContent,
        SummaryContent,
        TaskContent,
        TaskStep,
    )
    from contracts.events import EVENTS
    from contracts.prompt import prompt_text
    from contracts.reading import (
        Citation,
        HistoryMessage,
        MemoryContext,
        MemoryDocument,
        MemoryGet,
        MemoryRead,
        MemoryResults,
        MemorySearch,
        PartTokens,
        SearchResult,
        Task,
        TokenReport,
    )
    from contracts.sessions import MemoryCompact, MemoryCompacted, SessionEnded, SessionStarted
    from contracts.upkeep import (
        Forget,
        Forgotten,
        ForgottenPlace,
        HeartbeatDone,
        HeartbeatTick,
        JobReport,
        MemoryDegraded,
        MemoryRecovered,
        Selector,
    )
    from contracts.writing import (
        BatchContent,
        MemoryWrite,
        MemoryWritten,
        TaskStateChange,
        TaskStateItem,
        UpdateFact,
        UpdateFactItem,
        WriteItem,
    )
else:
    _NAMES = {
        "content": (
            "CuratedContent",
            "FactContent",
            "MessageContent",
            "MessageMetadata",
            "MessagesContent",
            "NoteContent",
            "StepContent",
            "SummaryContent",
            "TaskContent",
            "TaskStep",
        ),
        "events": ("EVENTS",),
        "prompt": ("prompt_text",),
        "reading": (
            "Citation",
            "HistoryMessage",
            "MemoryContext",
            "MemoryDocument",
            "MemoryGet",
            "MemoryRead",
            "MemoryResults",
            "MemorySearch",
            "PartTokens",
            "SearchResult",
            "Task",
            "TokenReport",
        ),
        "sessions": ("MemoryCompact", "MemoryCompacted", "SessionEnded", "SessionStarted"),
        "upkeep": (
            "Forget",
            "Forgotten",
            "ForgottenPlace",
            "HeartbeatDone",
            "HeartbeatTick",
            "JobReport",
            "MemoryDegraded",
            "MemoryRecovered",
            "Selector",
        ),
        "writing": (
            "BatchContent",
            "MemoryWrite",
            "MemoryWritten",
            "TaskStateChange",
            "TaskStateItem",
            "UpdateFact",
            "UpdateFactItem",
            "WriteItem",
        ),
    }
    _PLACES = {name: place for place, names in _NAMES.items() for name in names}

    def __getattr__(name):
        place = _PLACES.get(name)
        if place is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = globals()[name] = getattr(import_module(f"{__name__}.{place}"), name)
        return value

    def __dir__():
        return sorted({*globals(), *_PLACES})


__all__ = [
    "EVENTS",
    "BatchContent",
    "Citation",
    "CuratedContent",
    "FactContent",
    "Forget",
    "Forgotten",
    "ForgottenPlace",
    "HeartbeatDone",
    "HeartbeatTick",
    "HistoryMessage",
    "JobReport",
    "MemoryCompact",
    "MemoryCompacted",
    "MemoryContext",
    "MemoryDegraded",
    "MemoryDocument",
    "MemoryGet",
    "MemoryRead",
    "MemoryRecovered",
    "MemoryResults",
    "MemorySearch",
    "MemoryWrite",
    "MemoryWritten",
    "MessageContent",
    "MessageMetadata",
    "MessagesContent",
    "NoteContent",
    "PartTokens",
    "SearchResult",
    "Selector",
    "SessionEnded",
    "SessionStarted",
    "StepContent",
    "SummaryContent",
    "Task",
    "TaskContent",
    "TaskStateChange",
    "TaskStateItem",
    "TaskStep",
    "TokenReport",
    "UpdateFact",
    "UpdateFactItem",
    "WriteItem",
    "prompt_text",
]
