"""When to write: judge by rules what in a user's message is to be remembered. Pure; no disk, no model."""

from openclaw_memory.capture.events import event_of, suggestion_of
from openclaw_memory.capture.judge import judge
from openclaw_memory.capture.verdicts import Finding, Judgement, Place, Verdict

__all__ = ["Finding", "Judgement", "Place", "Verdict", "event_of", "judge", "suggestion_of"]
