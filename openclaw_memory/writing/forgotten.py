"""What planning knows of things that were forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from openclaw_memory.events import Change


class Forgotten(Protocol):
    """What was forgotten, and must not come back by itself."""

    def state(self) -> object:
        """Give what tells whether more was forgotten since it was asked last."""
        ...

    def concerns(self, items: Sequence[Change]) -> bool:
        """Tell whether any of these has to be looked at."""
        ...

    def refuse(self, items: Sequence[Change], *, batch: bool) -> None:
        """Refuse what comes back by itself. May take a while. Raises: `Refused`."""
        ...
