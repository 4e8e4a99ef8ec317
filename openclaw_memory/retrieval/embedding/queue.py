"""Which texts wait for a vector, in which batches, and what becomes of those that fail. Pure: nothing is awaited."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

ATTEMPTS = 3
"""How often a text may fail while the embedder works for others, before it goes without a vector until a restart."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts by id that are embedded together. `attempts` counts failures that were theirs, not the embedder's."""

    texts: dict[bytes, str]
    attempts: int = 0


class TextQueue:
    """A bounded queue. What finds no room is not lost: `behind` tells that all texts must be looked through again.

    Parameters: `most`, texts that may wait.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._fresh: dict[bytes, str] = {}
        self._again: deque[Batch] = deque()
        self._failed: set[bytes] = set()
        self.behind = False

    @property
    def waiting(self) -> int:
        """Count the texts that wait."""
        return len(self._fresh) + sum(len(batch.texts) for batch in self._again)

    @property
    def failed(self) -> int:
        """Count the texts that were given up."""
        return len(self._failed)

    def offer(self, texts: Iterable[tuple[bytes, str]]) -> None:
        """Let texts wait, each once; a text that was given up is not tried again."""
        for text_id, text in texts:
            if text_id in self._fresh or text_id in self._failed:
                continue
            if len(self._fresh) >= self._most:
                self.behind = True
                return
            self._fresh[text_id] = text

    def take(self, size: int) -> Batch | None:
        """Take the next batch: new texts first, then those that failed before."""
        if self._fresh:
            ids = [text_id for text_id, _ in zip(self._fresh, range(size), strict=False)]
            return Batch({text_id: self._fresh.pop(text_id) for text_id in ids})
        return self._again.popleft() if self._again else None

    def put_back(self, batch: Batch) -> None:
        """Let a batch wait that failed through no fault of its own."""
        self._again.append(batch)

    def refused(self, batch: Batch) -> None:
        """Find the one that was refused by halving; alone, it is given up."""
        if len(batch.texts) == 1:
            self._failed.update(batch.texts)
        else:
            self._again.extend(_halves(batch, batch.attempts))

    def went_wrong(self, batch: Batch) -> None:
        """Let a batch wait that failed while the embedder works for others: after some attempts it is halved."""
        attempts = batch.attempts + 1
        if attempts < ATTEMPTS:
            self._again.append(Batch(batch.texts, attempts))
        else:
            # A half begins anew: one text of it may be at fault, and all were counted with it.
            self.refused(Batch(batch.texts, 0))


def _halves(batch: Batch, attempts: int) -> list[Batch]:
    items = list(batch.texts.items())
    middle = len(items) // 2
    return [Batch(dict(part), attempts) for part in (items[:middle], items[middle:])]
