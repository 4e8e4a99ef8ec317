"""What reading asks of those who hold the documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from openclaw_memory.storage.files import Stamp


class Documents(Protocol):
    """What reading asks of those who hold the documents, whether they own them or follow their owner."""

    async def look(self, folders: Iterable[str], *, wake: bool = False) -> None: ...

    async def wake(self, paths: Iterable[str]) -> None: ...

    async def look_at(self, paths: Iterable[str]) -> bool: ...

    def problems(self) -> dict[str, str]: ...

    def newest_part(self, path: str, most: int) -> tuple[bytes, Stamp] | None: ...
