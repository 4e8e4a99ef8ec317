"""Where the demo plays: a live screen for people, plain lines for pipes and logs."""

from __future__ import annotations

import asyncio
from types import TracebackType

from rich.console import Console
from rich.live import Live

from examples.dialogue import Dialogue
from examples.replay import ReplayedExchange
from examples.scene import Scene, moments, opening
from examples.views import turn_lines, turn_screen

SECONDS_PER_TURN = 0.21
"""How long a moment stays on the screen at speed 1: the whole sample in about eighteen seconds."""
LARGEST_HEIGHT = 32


class Stage:
    """Shows each exchange. `live` draws a screen in place; else plain lines, without waiting.

    `speed` divides the time that a moment stays.
    """

    def __init__(self, console: Console, dialogue: Dialogue, *, live: bool, speed: float = 1.0) -> None:
        self._console = console
        self._pause = SECONDS_PER_TURN / speed
        self._live = Live(console=console, auto_refresh=False, vertical_overflow="crop") if live else None
        self.scene: Scene = opening(dialogue)
        self.richest: Scene = self.scene
        """The moment that makes the best picture: a fact changes, and much was found."""

    def __enter__(self) -> Stage:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    async def show(self, replayed: ReplayedExchange) -> None:
        """Show the moments of an exchange, one after the other."""
        for scene in moments(self.scene, replayed):
            self.scene = scene
            if _richness(scene) > _richness(self.richest):
                self.richest = scene
            await self._draw(scene)

    async def _draw(self, scene: Scene) -> None:
        if self._live is None:
            for line in turn_lines(scene):
                self._console.print(line, markup=False, highlight=False, soft_wrap=True)
            return
        width, height = self._console.size
        self._live.update(turn_screen(scene, width, min(height - 1, LARGEST_HEIGHT)), refresh=True)
        await asyncio.sleep(self._pause)


def _richness(scene: Scene) -> tuple[bool, int]:
    """Weigh a moment: first whether a fact changes, then by the words that brought pieces back, long ones more."""
    changes = any(fact.fresh and fact.before for fact in scene.facts)
    return changes, sum(len(word) ** 2 for found in scene.found for word in found.words)
