"""Long-term memory in a storage of one's own (seed 004 section 5.3): a protocol, over files and over SQL."""

from openclaw_memory.longterm.files import FileStore
from openclaw_memory.longterm.protocol import HistoryItem, LongTermStore, Match
from openclaw_memory.longterm.sql import SqlStore

__all__ = ["FileStore", "HistoryItem", "LongTermStore", "Match", "SqlStore"]
