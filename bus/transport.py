"""The seam to a message broker: how an event that was published reaches the subscriptions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from bus.events import Event
from bus.wire import Wire

Accept = Callable[[Event[Any]], "Awaitable[None] | None"]


class Inlet(Protocol):
    """The bus, as a transport sees it."""

    def accept(self, event: Event[Any], /) -> Awaitable[None] | None:
        """Hand an event of this process to the subscriptions; what is returned, if anything, waits for room."""

    async def receive(self, wire: Wire, /) -> Event[Any] | None:
        """Hand JSON from elsewhere to the subscriptions, as `EventBus.receive` does."""


class Transport(Protocol):
    """Carries events from publishers to the subscriptions of this process, by whatever way.

    A broker's transport sends `event.to_wire()` and calls `inlet.receive` with what comes back: an event must come
    back to its own process too, in the order of `send`. Connecting can wait until the first `send`.
    """

    def start(self, inlet: Inlet) -> None:
        """Note where events are to be handed in; called once, when the bus is made."""

    def send(self, event: Event[Any], /) -> Awaitable[None] | None:
        """Take an event. None: everybody has accepted it already; else the publisher awaits what is returned."""

    async def stop(self) -> None:
        """Let go of connections; called once, when the bus is closed."""


class InMemoryTransport:
    """Hands events over as they are, within the process."""

    send: Accept

    def start(self, inlet: Inlet) -> None:
        """Make sending the same as accepting: not one call is spent on the way."""
        self.send = inlet.accept

    async def stop(self) -> None:
        """There is nothing to let go of."""
