"""One implementation on a bus of its own, in a folder of its own, and what can be asked of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from bus import (
    BusError,
    Event,
    EventBus,
    EventRejected,
    Gateway,
    HandlerFailed,
    HandlerFailedError,
    NoResponderError,
    Payload,
    Plugin,
    PluginStopError,
    Request,
    RequestTimeoutError,
)
from contracts import EVENTS, MemoryContext, MemoryRead, MemoryWritten, prompt_text
from contracts.errors import CheckFailedError, NotOfferedError

R = TypeVar("R", bound=Payload)

STARTING = 4
"""Starting and stopping may take so many times as long as an answer."""
NOT_OFFERED = "not offered"
"""By these words in the `message` of a refusal a Memory says that it does not do this at all."""


class Probe:
    """Opens a Gateway, registers what the factory makes, and asks it. Every departure is a `CheckFailedError`."""

    def __init__(self, factory: Callable[[Path], Plugin], root: Path, patience: float) -> None:
        """Prepare; nothing is started yet.

        Args:
            factory: Makes the implementation.
            root: Its folder, empty at first.
            patience: Seconds that each answer may take.
        """
        self._factory = factory
        self._root = root
        self._patience = patience
        self._gateway: Gateway | None = None
        self.bus = EventBus("conformance")
        self.rejected: list[EventRejected] = []
        self.published: list[Event[Any]] = []
        self._faults: list[HandlerFailed] = []
        self._awaited: dict[str, asyncio.Future[None]] = {}

    async def __aenter__(self) -> Self:
        """Start the implementation."""
        await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the implementation; what it raised into the bus meanwhile is a failure, unless one is told already."""
        try:
            await self._close()
        except CheckFailedError:
            if error is None:
                raise
        if error is None:
            self._refuse_faults()

    async def restart(self) -> None:
        """Stop the implementation and start a new one on the same folder."""
        await self._close()
        await self._open()

    async def ask(self, request: Request[R]) -> R:
        """Ask and return the reply.

        Raises:
            CheckFailedError: It was not answered, or not by the right event, or something was raised into the bus.
            NotOfferedError: Nobody answers this event, or a write was refused as not offered.
        """
        event_type = request.event_type
        try:
            reply = await self.bus.request(request, timeout=self._patience)
        except NoResponderError:
            raise NotOfferedError(event_type, "nobody on the bus answers it") from None
        except RequestTimeoutError:
            raise CheckFailedError(f"{event_type} was not answered within {self._patience:g} s") from None
        except HandlerFailedError as error:
            raise CheckFailedError(
                f"the handler of {event_type} raised into the bus: {type(error.error).__name__}: {error.error}"
            ) from None
        except BusError as error:
            raise CheckFailedError(f"{event_type} was not answered: {error}") from None
        if isinstance(reply, MemoryWritten) and not reply.success and NOT_OFFERED in (reply.message or "").lower():
            raise NotOfferedError(event_type, reply.message or "")
        return reply

    async def write(self, request: Request[MemoryWritten]) -> MemoryWritten:
        """Ask for a write that must be done, and return the reply."""
        reply = await self.ask(request)
        expect(reply.success, f"{request.event_type} was refused: {reply.message}")
        expect(not reply.degraded, f"{request.event_type} was answered as degraded: {reply.message}")
        expect(bool(reply.key), f"{request.event_type} succeeded, but its key is empty")
        expect(not reply.keys or reply.keys[0] == reply.key, f"key {reply.key!r} is not the first of keys {reply.keys}")
        return reply

    async def refused(self, request: Request[MemoryWritten], why: str) -> MemoryWritten:
        """Ask for a write that must be refused without trouble, with a reason."""
        reply = await self.ask(request)
        expect(not reply.success, f"{request.event_type} succeeded, although {why}")
        expect(not reply.degraded, f"a refusal is no trouble: degraded must be false where {why}")
        expect(bool(reply.message), f"the refusal has no message that says why ({why})")
        return reply

    async def read(self, query: str, session_id: str = "conformance", max_tokens: int = 4_000) -> MemoryContext:
        """Read in a healthy memory."""
        context = await self.ask(MemoryRead(query=query, session_id=session_id, max_tokens=max_tokens))
        expect(not context.degraded, f"memory:context is degraded without a reason to be: {context.notice}")
        return context

    async def finds(self, text: str, query: str, session_id: str = "conformance") -> None:
        """Read and expect a text anywhere in what comes back."""
        context = await self.read(query, session_id)
        expect(text in prompt_text(context), f"{text!r} was acknowledged but is not in memory:context for {query!r}")

    async def receive(self, wire: str) -> None:
        """Hand JSON in from outside and wait until everything that follows from it has happened."""
        self.rejected.clear()
        self.published.clear()
        await self.bus.receive(wire)
        await self.settle()

    async def ask_in_json(self, envelope: dict[str, Any]) -> None:
        """Hand a request in as JSON; its answer must be published, with the request's id as `correlationid`."""
        answer = self._awaited[envelope["id"]] = asyncio.get_running_loop().create_future()
        await self.receive(json.dumps(envelope))
        told = "; ".join(each.error for each in self.rejected)
        expect(not self.rejected, f"valid JSON of {envelope['type']} was refused: {told}")
        try:
            async with asyncio.timeout(self._patience):
                await answer
        except TimeoutError:
            told = f"{envelope['type']} came as JSON and got no answer with its id as correlationid"
            raise CheckFailedError(f"{told} within {self._patience:g} s") from None

    async def settle(self) -> None:
        """Wait until the bus is at rest."""
        await self.bus.drain(self._patience)
        self._refuse_faults()

    async def _open(self) -> None:
        self.bus = EventBus("conformance")
        self.bus.register(*EVENTS)
        self.bus.subscribe(HandlerFailed, self._on_fault, name="conformance: faults")
        self.bus.subscribe(EventRejected, self._on_rejected, name="conformance: rejections")
        self.bus.subscribe(["memory:*", "session:*", "heartbeat:*"], self._on_event, name="conformance: observer")
        self._gateway = Gateway(self.bus, drain_timeout=self._patience)
        await self._gateway.__aenter__()
        try:
            async with asyncio.timeout(self._patience * STARTING):
                await self._gateway.register(self._factory(self._root))
        except TimeoutError:
            await self._close()
            raise CheckFailedError(f"it did not start within {self._patience * STARTING:g} s") from None
        except Exception as error:
            await self._close()
            raise CheckFailedError(f"it did not start: {type(error).__name__}: {error}") from error

    async def _close(self) -> None:
        gateway, self._gateway = self._gateway, None
        if gateway is None:
            return
        try:
            async with asyncio.timeout(self._patience * STARTING):
                await gateway.__aexit__(None, None, None)
        except TimeoutError:
            raise CheckFailedError(f"it did not stop within {self._patience * STARTING:g} s") from None
        except PluginStopError as error:
            raise CheckFailedError(f"it did not stop: {error}") from error

    def _refuse_faults(self) -> None:
        if self._faults:
            fault = self._faults[0]
            self._faults = []
            raise CheckFailedError(
                f"{fault.handler!r} raised into the bus at {fault.event.get('type')}: {fault.error_type}: {fault.error}"
            )

    async def _on_fault(self, event: Event[HandlerFailed]) -> None:
        self._faults.append(event.data)

    async def _on_rejected(self, event: Event[EventRejected]) -> None:
        self.rejected.append(event.data)

    async def _on_event(self, event: Event[Any]) -> None:
        self.published.append(event)
        awaited = self._awaited.pop(event.correlation_id or "", None)
        if awaited is not None and not awaited.done():
            awaited.set_result(None)


def expect(condition: bool, reason: str) -> None:
    """Fail the check with this reason unless the condition holds."""
    if not condition:
        raise CheckFailedError(reason)
