"""Tell when somebody changes a file, so that searches know of it before anybody asks."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from pathlib import Path, PurePath

from watchfiles import Change, awatch

log = logging.getLogger(__name__)

QUIET_MS = 300
"""An editor saves in several steps; changes within this time are told together."""


async def changes(root: Path) -> AsyncIterator[set[str]]:
    """Yield the documents and handed-in events that changed below a root, by relative path, until cancelled.

    `root` is a real path, without links.
    Ends, after a warning, where the system can't watch (too many watches, a network folder): then edits are seen when
    somebody reads, as always.
    """
    try:
        async for batch in awatch(root, watch_filter=_matters, debounce=QUIET_MS, step=50, recursive=True):
            yield {PurePath(path).relative_to(root).as_posix() for _, path in batch}
    except (OSError, RuntimeError) as error:
        log.warning("%s can't be watched (%s); edits are seen when somebody reads", root, error)


def _matters(change: Change, path: str) -> bool:
    pure = PurePath(path)
    return pure.suffix in (".md", ".json") and not pure.name.startswith(".") and pure.name != "index.json"
