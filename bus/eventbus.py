"""The bus, as its users see it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import secrets
import threading
import time
from collections.abc import Awaitable, Callable, Hashable, Iterable
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from bus.asking import asked, replied, told
from bus.binding import Binding
from bus.errors import (
    BusClosedError,
    ReplyTypeError,
    WrongLoopError,
)
from bus.events import Event, Origin
from bus.hub import Hub
from bus.notices import EventRejected
from bus.payload import Payload, Request
from bus.reports import BusStatistics, DrainReport, Mark
from bus.routes import Pattern, patterns_of
from bus.subscription import Subscription, Terms
from bus.trace import Trace, Tracer
from bus.transport import InMemoryTransport, Transport
from bus.wire import Refusal, Wire, parse
from bus.worker import Worker, current_event, current_owner

P = TypeVar("P", bound=Payload)
R = TypeVar("R", bound=Payload)

_event_here = current_event.get
_thread_here = threading.get_ident

OUTBOX_LIMIT = 1024
"""Events in a handler's outbox from which on `publish` delivers the oldest first, so that memory stays bounded."""


class EventBus:
    """Typed publish and subscribe within one event loop."""

    def __init__(
        self,
        source: str = "bus",
        *,
        payload_types: Iterable[type[Payload]] = (),
        capacity: int = 1024,
        now: Callable[[], datetime] | None = None,
        trace: Trace | None = None,
        transport: Transport | None = None,
    ) -> None:
        """Make a bus; it belongs to the event loop in which it is used first.

        - `source`: `source` of the events published here (CloudEvents).
        - `payload_types`: classes by which JSON from outside is understood, see `register`.
        - `capacity`: events that a subscription queues unless it says otherwise.
        - `now`: gives the time of an event, aware. Default: the system's clock.
        - `trace`: called with what happens, see `bus.trace`.
        - `transport`: how events travel. Default: within the process.
        """
        self._binding = Binding()
        stamp = time.time_ns if now is None else now
        self._hub = Hub(self._binding, Origin(source, f"{secrets.token_hex(6)}-"), stamp, Tracer(trace))
        self._capacity = capacity
        self._names = itertools.count(1)
        self._rejected = 0
        self._careful = trace is not None
        """Whether publishing has more to do than to send."""
        self._closing: asyncio.Future[DrainReport] | None = None
        self._transport = InMemoryTransport() if transport is None else transport
        self.accept = self._hub.accept  # for transports; an attribute, since a method more on the way would be felt
        self._transport.start(self)
        self._hub.send = self._transport.send
        self.register(*payload_types)

    def register(self, *payload_types: type[Payload]) -> None:
        """Let `receive` understand events of these classes; classes given to `subscribe` are understood anyway."""
        for payload_type in payload_types:
            self._hub.routes.learn(payload_type)

    @overload
    def subscribe(
        self,
        patterns: type[P],
        handler: Callable[[Event[P]], Awaitable[None]],
        *,
        name: str | None = ...,
        capacity: int | None = ...,
        concurrency: int = ...,
        key: Callable[[Event[P]], Hashable] | None = ...,
        answers: bool = ...,
        timeout: float | None = ...,
    ) -> Subscription: ...

    @overload
    def subscribe(
        self,
        patterns: Pattern | Iterable[Pattern],
        handler: Callable[[Event[Any]], Awaitable[None]],
        *,
        name: str | None = ...,
        capacity: int | None = ...,
        concurrency: int = ...,
        key: Callable[[Event[Any]], Hashable] | None = ...,
        answers: bool = ...,
        timeout: float | None = ...,
    ) -> Subscription: ...

    def subscribe(
        self,
        patterns: Pattern | Iterable[Pattern],
        handler: Callable[[Event[Any]], Awaitable[None]],
        *,
        name: str | None = None,
        capacity: int | None = None,
        concurrency: int = 1,
        key: Callable[[Event[Any]], Hashable] | None = None,
        answers: bool = False,
        timeout: float | None = None,
    ) -> Subscription:
        """Let `handler` receive the events that one of `patterns` matches, from now on.

        - `patterns`: `"memory:read"`, a payload class, `"memory:*"`, `"*"`, or several of these.
        - `handler`: called with each event; what it raises is published as `bus:handler_failed`.
        - `name`: how reports call the subscription. Default: the handler's name and a number.
        - `capacity`: events queued at most; beyond it the event's overflow policy holds. Default: the bus's.
        - `concurrency`: handlers that may run side by side.
        - `key`: events of one key stay in order, one at a time. Without it, order is kept with `concurrency` 1 only.
        - `answers`: whether the handler replies to requests of these types. Who only watches must not say so.
        - `timeout`: seconds after which a handler is cancelled and reported. Default: never.

        - raises `PatternError`: a pattern that matches nothing.
        - raises `BusClosedError`: the bus is closed.
        - raises `WrongLoopError`: called outside the bus's event loop.
        """
        self._binding.check("subscribe")
        if self._closing is not None:
            raise BusClosedError("subscribe")
        several = [patterns] if isinstance(patterns, (str, type)) else list(patterns)
        terms = Terms(
            patterns=patterns_of(several),
            name=name or f"{getattr(handler, '__qualname__', type(handler).__qualname__)}#{next(self._names)}",
            capacity=self._capacity if capacity is None else capacity,
            concurrency=concurrency,
            key=key,
            answers=answers,
            timeout=timeout,
            owner=current_owner.get(),
        )
        for pattern in several:
            if isinstance(pattern, type):
                self._hub.routes.learn(pattern)
        subscription = Subscription(self._hub, handler, terms, self._hub.ledger)
        self._hub.routes.add(subscription)
        return subscription

    async def publish(self, payload: P) -> Event[P]:
        """Send `payload` to every subscription that matches; return when all have accepted it.

        In a handler it goes into the handler's outbox, which is sent when the handler has ended (also when it failed),
        and this returns at once, until 1,024 events lie there. A publisher that is cancelled while it waits for room
        leaves the event with those that have accepted it.

        - raises `QueueFullError`: the event's policy is `Overflow.RAISE` and a queue is full; nobody got it.
        - raises `PayloadTypeError`: `payload` is no event.
        - raises `BusClosedError`, `WrongLoopError`: not here, or not any more.
        """
        binding = self._binding
        if _thread_here() != binding.thread or not binding.is_running():
            binding.enter("publish")
        hub = self._hub
        if self._careful or (_event_here() is not None and hub.worker() is not None):
            return await self._publish_with_care(payload)
        hub.made = number = hub.made + 1
        event = Event(payload, number, hub.origin, hub.stamp())
        wait = hub.send(event)
        if wait is not None:
            await wait
        return event

    async def request(self, payload: Request[R], *, timeout: float | None = 5.0) -> R:  # noqa: ASYNC109  # a timer is cheaper
        """Send `payload` and return what is replied.

        In a handler, too, it is sent at once, before what the handler has published.

        - `timeout`: seconds to wait at most, for room in full queues and for the reply. None: as long as it takes.

        - raises `NoResponderError`: no subscription with `answers=True` matches.
        - raises `RequestTimeoutError`: no reply in time.
        - raises `RequestCycleError`: only somebody who waits for this very handler could answer.
        - raises `HandlerFailedError`: the responder's handler failed before it replied.
        - raises `ResponderClosedError`, `BusClosedError`: the responder or the bus was closed.
        """
        self._check_open("request")
        hub = self._hub
        pending = asked(hub, payload, timeout)
        # `reply` lets only an R pass.
        return await (replied(hub, pending) if hub.tracer.hook is None else told(hub, pending))  # type: ignore[return-value]

    async def reply(self, event: Event[Request[R]], payload: R) -> Event[R]:
        """Answer `event`: its requester goes on at once, and the reply is published to all who subscribe to its type.

        It may come from any task, also long after the handler has returned, and also to an event that was only
        published. A reply that comes too late is published all the same.

        - raises `ReplyTypeError`: `payload` is not of the type that the request declares.
        """
        answer = self._answered(event, payload)
        await self._send(answer, self._hub.worker())
        return answer

    def reply_nowait(self, event: Event[Request[R]], payload: R) -> Awaitable[None] | None:
        """Answer `event` as `reply` does, from a place that can't wait, such as a callback.

        Return what is still to be awaited where a queue is full; None where all have accepted the reply.

        - raises `ReplyTypeError`: as `reply` does.
        - raises `QueueFullError`: a queue is full, and the reply's policy is `Overflow.RAISE`.
        """
        answer = self._answered(event, payload)
        hub = self._hub
        worker = hub.worker()
        if worker is None and hub.tracer.hook is None:
            return hub.send(answer)
        return self._send(answer, worker)

    def _answered(self, event: Event[Request[R]], payload: R) -> Event[R]:
        """Let the requester go on, and give the reply as an event that is not sent yet."""
        self._binding.enter("reply")
        if self._closing is not None and self._closing.done():
            raise BusClosedError("reply")
        expected = getattr(event.data, "reply_type", Payload)
        if not isinstance(payload, expected):
            raise ReplyTypeError(event.type, expected, payload)
        answer: Event[R] = self._hub.event(payload, None, event)
        self._hub.requests.resolve(event._pending, payload)
        return answer

    async def receive(self, wire: Wire) -> Event[Any] | None:
        """Take an event from outside, as CloudEvents JSON; return it when all have accepted it.

        One that is not valid is published as `bus:rejected`, and None is returned; nothing is raised for it. A reply
        whose `correlationid` names a request that waits here gives the requester its answer.

        - raises `QueueFullError`: as `publish` does.
        - raises `BusClosedError`, `WrongLoopError`: not here, or not any more.
        """
        self._check_open("receive")
        hub = self._hub
        event = parse(wire, hub.routes.type_named)
        if isinstance(event, Refusal):
            self._rejected += 1
            notice = EventRejected(event=event.wire, fields=event.fields, error=event.error)
            await self._send(hub.event(notice, None), hub.worker())
            return None
        event._pending = hub.requests.find(event.id)
        asked = hub.requests.find(event.correlation_id)
        if asked is not None and isinstance(event.data, asked.event.data.reply_type):
            hub.requests.resolve(asked, event.data)
        hub.received += 1
        wait = hub.accept(event)
        if wait is not None:
            await wait
        return event

    def publish_threadsafe(self, payload: P) -> concurrent.futures.Future[Event[P]]:
        """Publish from another thread; the future's result is the event, once all have accepted it.

        - raises `WrongLoopError`: the bus has not been used in an event loop yet.
        - raises `BusClosedError`: its event loop is closed.
        """
        if self._binding.loop is None:
            raise WrongLoopError("publish", bound=False)
        if self._binding.loop.is_closed():
            raise BusClosedError("publish")
        return asyncio.run_coroutine_threadsafe(self.publish(payload), self._binding.loop)

    async def drain(self, timeout: float | None = None) -> DrainReport:  # noqa: ASYNC109  # a report, no exception
        """Wait until nothing is queued, handled, in an outbox or waiting for room; at most `timeout` seconds.

        - raises `DrainInHandlerError`: called in a handler, which would wait for itself.
        """
        self._binding.enter("drain")
        self._hub.drains.refuse_inside(self._hub.worker(), "drain the bus")
        return await self._hub.drains.wait(None, timeout)

    async def close(self, timeout: float | None = None) -> DrainReport:  # noqa: ASYNC109  # a report, no exception
        """Take no more events from outside the handlers, drain, then drop what is left after `timeout` seconds.

        Handlers that still run then are cancelled, requests that still wait fail. Closing again returns the same
        report.

        - raises `DrainInHandlerError`: called in a handler, which would wait for itself.
        """
        self._binding.enter("close")
        self._hub.drains.refuse_inside(self._hub.worker(), "close the bus")
        if self._closing is not None and not self._closing.cancelled():
            return await asyncio.shield(self._closing)
        self._careful = True
        self._closing = closing = asyncio.get_running_loop().create_future()
        try:
            report = await self._hub.close(timeout)
            await self._transport.stop()
        except BaseException:
            closing.cancel()  # so that it can be closed again, and nobody waits for this attempt
            raise
        closing.set_result(report)
        return report

    def statistics(self) -> BusStatistics:
        """Return the state of the bus and its subscriptions at this moment."""
        hub = self._hub
        return BusStatistics(
            published=hub.made + hub.received,
            unheard=hub.unheard,
            rejected=self._rejected,
            pending_requests=len(hub.requests),
            late_replies=hub.requests.late,
            subscriptions=tuple(subscription.statistics() for subscription in hub.routes.subscriptions),
        )

    def mark(self) -> Mark:
        """Return counts from which a later `Mark` tells what happened in between, as a `DrainReport`."""
        return self._hub.drains.mark()

    def close_subscriptions_of(self, owner: str) -> None:
        """Close the subscriptions that the plugin `owner` made while it started."""
        for subscription in list(self._hub.routes.subscriptions):
            if subscription.owner == owner:
                subscription.close()

    async def __aenter__(self) -> Self:
        """Return the bus."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the bus."""
        await self.close()

    async def _publish_with_care(self, payload: P) -> Event[P]:
        worker = self._hub.worker()
        if worker is None and self._closing is not None:
            raise BusClosedError("publish")
        event: Event[P] = self._hub.event(payload, worker.event if worker is not None else None)
        await self._send(event, worker)
        return event

    async def _send(self, event: Event[Any], worker: Worker | None) -> None:
        """Send `event`, or put it into the outbox of the handler that runs."""
        hub = self._hub
        route = hub.routes.of(type(event.data))
        hub.tracer.tell("publish.started", {"event": event})
        if worker is not None:
            if route.raises:
                hub.refuse_if_full(route, event)
            worker.outbox.append(event)
            if len(worker.outbox) > OUTBOX_LIMIT:
                await hub.send_outbox(worker)
            return
        try:
            wait = hub.send(event)
            if wait is not None:
                await wait
        except BaseException as error:
            hub.tracer.tell("publish.failed", {"event": event, "error": error})
            raise
        hub.tracer.tell("publish.complete", {"event": event})

    def _check_open(self, action: str) -> None:
        self._binding.enter(action)
        if self._closing is not None and (self._closing.done() or self._hub.worker() is None):
            raise BusClosedError(action)
