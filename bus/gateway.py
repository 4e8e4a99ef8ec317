"""The Gateway: owns the bus, starts plugins in order, stops them in reverse and loses nothing on the way."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from bus.errors import DuplicatePluginError, GatewayClosedError, PluginStartError, PluginStopError
from bus.eventbus import EventBus
from bus.reports import DrainReport
from bus.worker import current_owner

_log = logging.getLogger("bus")


@runtime_checkable
class Plugin(Protocol):
    """What a Gateway hosts."""

    name: str

    async def start(self, bus: EventBus) -> None:
        """Subscribe and get ready. One that raises must let go of what it took; its subscriptions are closed."""

    async def stop(self) -> None:
        """Finish: reply to what is open, let go of everything. No event is on its way to the plugin at that moment."""


class Gateway:
    """Hosts plugins around one bus.

    `async with Gateway() as gateway: await gateway.register(plugin)`. When the block ends, the last plugin registered
    is stopped first, each after the bus has come to rest; `report` then tells what was dropped.
    """

    def __init__(self, bus: EventBus | None = None, *, drain_timeout: float | None = 30.0) -> None:
        """Make a Gateway.

        - `bus`: the bus to use; it is closed with the Gateway. Default: a new one.
        - `drain_timeout`: seconds to wait, in all, for events that are on their way, before plugins are stopped and
          before the bus is closed. None: as long as it takes.
        """
        self.bus = EventBus("gateway") if bus is None else bus
        self.report: DrainReport | None = None
        self._time_left = drain_timeout
        self._plugins: dict[str, Plugin] = {}
        self._starting = asyncio.Lock()
        self._open = False

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """The plugins that are running, in the order in which they were started."""
        return tuple(self._plugins.values())

    async def register(self, plugin: Plugin) -> None:
        """Start `plugin`; return when it is ready. Several are started one after the other.

        - raises `PluginStartError`: it failed to start; its subscriptions are closed and the other plugins go on.
        - raises `DuplicatePluginError`: one of that name is running.
        - raises `GatewayClosedError`: called outside `async with`.
        """
        async with self._starting:
            if not self._open:
                raise GatewayClosedError(plugin.name)
            if plugin.name in self._plugins:
                raise DuplicatePluginError(plugin.name)
            token = current_owner.set(plugin.name)
            try:
                await plugin.start(self.bus)
            except BaseException as error:
                self.bus.close_subscriptions_of(plugin.name)
                if isinstance(error, Exception):
                    raise PluginStartError(plugin.name, error) from error
                raise
            finally:
                current_owner.reset(token)
            self._plugins[plugin.name] = plugin

    async def __aenter__(self) -> Self:
        """Open the Gateway."""
        self._open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the plugins in reverse, close the bus, and fill in `report`.

        - raises `PluginStopError`: a plugin failed to stop, and the block itself raised nothing.
        """
        faults: list[tuple[str, BaseException]] = []
        async with self._starting:
            self._open = False
            start = self.bus.mark()
            stuck: dict[str, None] = {}
            while self._plugins:
                name, plugin = self._plugins.popitem()
                await self._drain(stuck)
                try:
                    await plugin.stop()
                except Exception as fault:  # noqa: BLE001  # told at the end
                    _log.exception("plugin %r failed to stop", name)
                    faults.append((name, fault))
                await self._drain(stuck)
                self.bus.close_subscriptions_of(name)
            closed = await self.bus.close(self._time_left)
        stuck.update(dict.fromkeys(closed.stuck))
        told = tuple(f"{name}: {type(fault).__name__}: {fault}" for name, fault in faults)
        self.report = replace(start.report(self.bus.mark(), stuck=tuple(stuck)), faults=told)
        if faults and error is None:
            raise PluginStopError(faults)

    async def _drain(self, stuck: dict[str, None]) -> None:
        """Wait for the bus, with what is left of the time for that; note who did not come to rest."""
        clock = asyncio.get_running_loop().time
        start = clock()
        drained = await self.bus.drain(self._time_left)
        if self._time_left is not None:
            self._time_left = max(0.0, self._time_left - (clock() - start))
        stuck.update(dict.fromkeys(drained.stuck))
