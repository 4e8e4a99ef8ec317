"""Indexes on disk: rows in SQLite, terms in tantivy or FTS5, behind the protocol `Index`."""

from openclaw_memory.retrieval.engines.opening import EngineName
from openclaw_memory.retrieval.engines.safe import SafeIndex, open_index

__all__ = ["EngineName", "SafeIndex", "open_index"]
