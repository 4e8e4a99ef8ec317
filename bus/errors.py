"""Every error that the bus raises. The text of each names what it is about and what to do."""

from __future__ import annotations

from collections.abc import Sequence


class BusError(Exception):
    """Raised when the bus cannot do what it was asked; the base of all its errors."""


class BusClosedError(BusError):
    """Raised when something is asked of a bus that is closing or closed."""

    def __init__(self, action: str) -> None:
        self.action = action
        super().__init__(f"the bus is closed and cannot {action}; do it before the bus (or its Gateway) is closed")


class WrongLoopError(BusError):
    """Raised when a bus is used outside the event loop that it belongs to."""

    def __init__(self, action: str, *, bound: bool) -> None:
        self.action = action
        self.bound = bound
        why = "the bus belongs to another event loop" if bound else "the bus has not been used in an event loop yet"
        how = "from another thread call publish_threadsafe" if bound else "use it once inside its loop first"
        super().__init__(f"cannot {action} here: {why}; {how}")


class PatternError(BusError):
    """Raised when a subscription names no type of event that the bus can match."""

    def __init__(self, pattern: object) -> None:
        self.pattern = pattern
        super().__init__(
            f"{pattern!r} names no event type; give 'room:event', a prefix that ends in '*' such as 'memory:*', "
            "a payload class with event_type, or several of these"
        )


class PayloadTypeError(BusError, TypeError):
    """Raised when what is published is no payload, or a payload class names no event."""

    def __init__(self, value: object) -> None:
        self.value = value
        super().__init__(f"{value!r:.200} is no event; give an instance of a Payload subclass that sets event_type")


class DuplicateTypeError(BusError):
    """Raised when two payload classes claim one event type on one bus."""

    def __init__(self, event_type: str, known: type, other: type) -> None:
        self.event_type = event_type
        self.known = known
        self.other = other
        super().__init__(
            f"{event_type!r} is carried by {known.__module__}.{known.__qualname__} on this bus and cannot be carried "
            f"by {other.__module__}.{other.__qualname__} too; give one of them another event_type"
        )


class QueueFullError(BusError):
    """Raised when an event with `Overflow.RAISE` meets a full queue. It was delivered to nobody."""

    def __init__(self, event_type: str, subscription: str, capacity: int) -> None:
        self.event_type = event_type
        self.subscription = subscription
        self.capacity = capacity
        super().__init__(
            f"{event_type!r} was delivered to nobody: the queue of subscription {subscription!r} is full "
            f"({capacity} events); publish it again later, or give the subscription more capacity"
        )


class NoResponderError(BusError):
    """Raised when nobody can answer a request."""

    def __init__(self, event_type: str) -> None:
        self.event_type = event_type
        super().__init__(
            f"nobody answers {event_type!r}; subscribe to it with subscribe({event_type!r}, handler, answers=True)"
        )


class RequestTimeoutError(BusError, TimeoutError):
    """Raised when a request was not answered in time."""

    def __init__(self, event_type: str, timeout: float, responders: Sequence[str]) -> None:
        self.event_type = event_type
        self.timeout = timeout
        self.responders = tuple(responders)
        super().__init__(
            f"{event_type!r} was not answered within {timeout:g} s by {', '.join(responders) or 'anybody'}; "
            "allow more time, or look at statistics() for what keeps it"
        )


class RequestCycleError(BusError):
    """Raised when a request could only be answered by somebody who waits for the requester."""

    def __init__(self, event_type: str, chain: Sequence[str]) -> None:
        self.event_type = event_type
        self.chain = tuple(chain)
        super().__init__(
            f"{event_type!r} can never be answered: {' waits for '.join(chain)}; publish it instead, or request it "
            "from a task that is not part of the handler"
        )


class HandlerFailedError(BusError):
    """Raised when the handler of the responder failed before it replied."""

    def __init__(self, event_type: str, subscription: str, error: BaseException) -> None:
        self.event_type = event_type
        self.subscription = subscription
        self.error = error
        super().__init__(
            f"{subscription!r} failed at {event_type!r} before it replied: {type(error).__name__}: {error}"
        )


class HandlerTimeoutError(BusError, TimeoutError):
    """Raised when a handler ran longer than its subscription allows and was cancelled."""

    def __init__(self, event_type: str, subscription: str, timeout: float) -> None:
        self.event_type = event_type
        self.subscription = subscription
        self.timeout = timeout
        super().__init__(f"{subscription!r} did not finish {event_type!r} within {timeout:g} s and was cancelled")


class ResponderClosedError(BusError):
    """Raised when the subscription that should answer a request was closed before it did."""

    def __init__(self, event_type: str, subscription: str) -> None:
        self.event_type = event_type
        self.subscription = subscription
        super().__init__(f"{event_type!r} is not answered any more: subscription {subscription!r} was closed")


class ReplyTypeError(BusError, TypeError):
    """Raised when a reply is not of the type that its request declares."""

    def __init__(self, event_type: str, expected: type, reply: object) -> None:
        self.event_type = event_type
        self.expected = expected
        self.reply = reply
        super().__init__(f"{event_type!r} is answered by {expected.__name__}, not by {type(reply).__name__}")


class DrainInHandlerError(BusError):
    """Raised when a handler waits for the end of all handlers, its own included."""

    def __init__(self, action: str, subscription: str) -> None:
        self.action = action
        self.subscription = subscription
        super().__init__(
            f"{subscription!r} cannot {action} from its own handler, which would wait for itself; do it in another task"
        )


class GatewayClosedError(BusError):
    """Raised when a plugin is registered with a Gateway that is not open."""

    def __init__(self, plugin: str) -> None:
        self.plugin = plugin
        super().__init__(
            f"plugin {plugin!r} cannot be registered: use the Gateway inside `async with Gateway() as gateway`"
        )


class DuplicatePluginError(BusError):
    """Raised when two plugins of one Gateway have one name."""

    def __init__(self, plugin: str) -> None:
        self.plugin = plugin
        super().__init__(f"a plugin named {plugin!r} is registered already; give this one another name")


class PluginStartError(BusError):
    """Raised when a plugin failed to start. Its subscriptions are closed, the other plugins go on."""

    def __init__(self, plugin: str, error: BaseException) -> None:
        self.plugin = plugin
        self.error = error
        super().__init__(f"plugin {plugin!r} failed to start: {type(error).__name__}: {error}")


class PluginStopError(BusError):
    """Raised when plugins failed to stop, after all the others were stopped and the bus was closed."""

    def __init__(self, faults: Sequence[tuple[str, BaseException]]) -> None:
        self.faults = tuple(faults)
        told = "; ".join(f"{plugin!r}: {type(error).__name__}: {error}" for plugin, error in faults)
        super().__init__(f"plugins failed to stop: {told}")
