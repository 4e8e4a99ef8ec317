"""Long work in a thread, done so that the event loop is not held up by it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

BREATH_SECONDS = 0.002
"""How long a thread works before it lets others run; a pause takes 0.13 ms on a machine at rest."""

PAUSE_SECONDS = 0.000_05
"""How long it then stands still. Letting go of the interpreter alone would not do: who lets go is the first to have it
again, long before one who sleeps has woken up."""


def breathing(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, and every two milliseconds stand still for a moment.

    Only one thread at a time runs Python, and gives way after five milliseconds at the soonest. An event loop that
    waits for that at each of its own steps stands still for tens of milliseconds.
    """
    since = time.perf_counter()
    for item in items:
        yield item
        if time.perf_counter() - since >= BREATH_SECONDS:
            time.sleep(PAUSE_SECONDS)
            since = time.perf_counter()
