"""Typed events within one process: a bus, and the Gateway that hosts plugins on it. Knows nothing about memory."""

from __future__ import annotations

from bus.errors import (
    BusClosedError,
    BusError,
    DrainInHandlerError,
    DuplicatePluginError,
    DuplicateTypeError,
    GatewayClosedError,
    HandlerFailedError,
    HandlerTimeoutError,
    NoResponderError,
    PatternError,
    PayloadTypeError,
    PluginStartError,
    PluginStopError,
    QueueFullError,
    ReplyTypeError,
    RequestCycleError,
    RequestTimeoutError,
    ResponderClosedError,
    WrongLoopError,
)
from bus.eventbus import EventBus
from bus.events import Event
from bus.gateway import Gateway, Plugin
from bus.notices import EventRejected, HandlerFailed
from bus.payload import Overflow, Payload, Request
from bus.reports import BusStatistics, DrainReport, Dropped, SubscriptionStatistics
from bus.subscription import Subscription
from bus.transport import InMemoryTransport, Transport

__all__ = [
    "BusClosedError",
    "BusError",
    "BusStatistics",
    "DrainInHandlerError",
    "DrainReport",
    "Dropped",
    "DuplicatePluginError",
    "DuplicateTypeError",
    "Event",
    "EventBus",
    "EventRejected",
    "Gateway",
    "GatewayClosedError",
    "HandlerFailed",
    "HandlerFailedError",
    "HandlerTimeoutError",
    "InMemoryTransport",
    "NoResponderError",
    "Overflow",
    "PatternError",
    "Payload",
    "PayloadTypeError",
    "Plugin",
    "PluginStartError",
    "PluginStopError",
    "QueueFullError",
    "ReplyTypeError",
    "Request",
    "RequestCycleError",
    "RequestTimeoutError",
    "ResponderClosedError",
    "Subscription",
    "SubscriptionStatistics",
    "Transport",
    "WrongLoopError",
]
