"""One bus, one event loop: found out at the first use, held to after that."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from bus.errors import WrongLoopError


class Binding:
    """The event loop to which a bus belongs.

    Code runs in it exactly when it runs (a thread runs one loop at a time) and the thread is its own. `publish` asks
    this way, since asking asyncio for the running loop costs a system call.
    """

    __slots__ = ("is_running", "loop", "thread")

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self.thread = 0
        self.is_running: Callable[[], bool] = bool

    def enter(self, action: str) -> None:
        """Belong to the running loop from the first use on; raise WrongLoopError in another one."""
        if threading.get_ident() == self.thread and self.is_running():
            return
        loop = asyncio.get_running_loop()
        if self.loop is None:
            self.loop = loop
            self.thread = threading.get_ident()
            self.is_running = loop.is_running
        elif self.loop is not loop:
            raise WrongLoopError(action, bound=True)

    def future(self) -> asyncio.Future[Any]:
        """Make a future; only for code that runs in the loop."""
        assert self.loop is not None
        return self.loop.create_future()

    def check(self, action: str) -> None:
        """Raise WrongLoopError when a synchronous call comes from elsewhere than the loop that is in use."""
        if self.loop is None or self.loop.is_closed():
            return
        if threading.get_ident() != self.thread or not self.is_running():
            raise WrongLoopError(action, bound=True)
