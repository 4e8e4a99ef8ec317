"""What happens between a request and its reply."""

from __future__ import annotations

from typing import Any

from bus.deadlock import ReplyWait, chain_of
from bus.errors import NoResponderError, RequestCycleError
from bus.hub import Hub
from bus.payload import Payload
from bus.requests import Pending


def asked(hub: Hub, payload: Payload, seconds: float | None) -> Pending:
    """Make a request that is replied to within `seconds`; `EventBus.request` says what is raised."""
    route = hub.found.get(payload.__class__) or hub.routes.of(type(payload))
    if not route.responders:
        raise NoResponderError(payload.event_type)
    worker = hub.worker()
    chain = chain_of(worker) if worker is not None else []
    if chain and all(responder in chain for responder in route.responders):
        waiting = [subscription.name for subscription in reversed(chain)]
        raise RequestCycleError(payload.event_type, [*waiting, route.responders[0].name])
    event = hub.event(payload, worker.event if worker is not None else None)
    pending = event._pending = Pending(event, hub.binding.future(), route.responders, worker, seconds)
    return pending


async def told(hub: Hub, pending: Pending) -> Payload:
    """Send a request, return its reply, and tell the tracer of both."""
    info: dict[str, Any] = {"event": pending.event}
    async with hub.tracer.span("request", info):
        info["reply"] = reply = await replied(hub, pending)
    return reply


async def replied(hub: Hub, pending: Pending) -> Payload:
    """Send a request and return its reply."""
    hub.requests.add(pending)
    try:
        room = hub.send(pending.event)
        if room is not None:
            await room
        if pending.requester is None:
            return await pending.future
        with hub.waiting.of_worker(pending.requester, [ReplyWait(pending)]):
            return await pending.future
    finally:
        hub.requests.forget(pending)
        if not pending.future.done():
            pending.future.cancel()
        elif not pending.future.cancelled():
            pending.future.exception()  # seen, also when the requester was cancelled before it could look
