"""Finding: terms, the index, ranking, search. Pure and synchronous; nothing here touches the disk."""

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.cutting import snippet
from openclaw_memory.retrieval.index import Allow, Hit, Index, InMemoryIndex
from openclaw_memory.retrieval.ranking import Recency, recency
from openclaw_memory.retrieval.search import Searcher
from openclaw_memory.retrieval.terms import query_terms, terms

__all__ = [
    "Allow",
    "Block",
    "Hit",
    "InMemoryIndex",
    "Index",
    "Recency",
    "Searcher",
    "query_terms",
    "recency",
    "snippet",
    "terms",
]
