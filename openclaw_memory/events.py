"""The events that change memory, as one type."""

from __future__ import annotations

from contracts import MemoryWrite, TaskStateChange, UpdateFact

Change = MemoryWrite | UpdateFact | TaskStateChange
"""What a writer plans, masks, judges and refuses."""
