"""What readers see of all documents now, and how the index is kept in step with it."""

from __future__ import annotations

from openclaw_memory.catalog.catalog import Catalog
from openclaw_memory.catalog.lines import visibility_of

__all__ = ["Catalog", "visibility_of"]
