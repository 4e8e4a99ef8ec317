"""What an index tells about itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Progress = Callable[[int, int], None]
"""Called with how much is done and how much there is, in blocks (or files, where the caller counts those)."""


def no_progress(done: int, of: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """What `index status` shows. `bytes_on_disk` and `generation` are 0 in memory; `problem` says what is wrong."""

    engine: str
    blocks: int
    files: int
    by_layer: Mapping[str, int] = field(default_factory=dict)
    waiting: int = 0
    """Blocks and removals that no commit has taken in yet; they are searched all the same."""
    generation: int = 0
    bytes_on_disk: int = 0
    identity: Mapping[str, str] = field(default_factory=dict)
    """What has to be the same for the files to be used: schema, terms, engine."""
    problem: str | None = None
