"""From text to vectors: embedders, and the background work that keeps the vectors in step with the texts."""

from openclaw_memory.retrieval.embedding.errors import (
    EmbedderUnavailableError,
    EmbeddingError,
    MissingExtraError,
    TextRefusedError,
)
from openclaw_memory.retrieval.embedding.making import EmbedderSettings, make_embedder
from openclaw_memory.retrieval.embedding.protocol import Embedder, Model, Vector
from openclaw_memory.retrieval.passages import passage, text_id

__all__ = [
    "Embedder",
    "EmbedderSettings",
    "EmbedderUnavailableError",
    "EmbeddingError",
    "MissingExtraError",
    "Model",
    "TextRefusedError",
    "Vector",
    "make_embedder",
    "passage",
    "text_id",
]
