"""Which subscriptions an event goes to: by its type, by a prefix, or by all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bus.errors import DuplicateTypeError, PatternError, PayloadTypeError
from bus.events import Event
from bus.mailbox import Room
from bus.payload import Overflow, Payload

if TYPE_CHECKING:
    from bus.subscription import Subscription

Pattern = str | type[Payload]


@dataclass(frozen=True, slots=True)
class Route:
    """Where the events of one payload class go."""

    puts: tuple[Callable[[Event[Any]], Room | None], ...]
    subscriptions: tuple[Subscription, ...]
    responders: tuple[Subscription, ...]
    raises: bool
    """Whether a full queue refuses the event (`Overflow.RAISE`)."""


class Routes:
    """The subscriptions of one bus, oldest first, and the payload classes that it knows by name."""

    __slots__ = ("_types", "found", "subscriptions")

    def __init__(self) -> None:
        self.subscriptions: list[Subscription] = []
        self._types: dict[str, type[Payload]] = {}
        self.found: dict[type[Payload], Route] = {}
        """Routes by payload class, as far as they were asked for since subscriptions last changed."""

    def learn(self, payload_type: type[Payload]) -> None:
        """Remember which class carries an event type; raise DuplicateTypeError when another one does already."""
        event_type = event_type_of(payload_type)
        known = self._types.setdefault(event_type, payload_type)
        if known is not payload_type:
            raise DuplicateTypeError(event_type, known, payload_type)

    def type_named(self, event_type: str) -> type[Payload] | None:
        """Return the class that carries `event_type`, if it is known."""
        return self._types.get(event_type)

    def add(self, subscription: Subscription) -> None:
        """Let events go to `subscription` from now on."""
        self.subscriptions.append(subscription)
        self.found.clear()

    def remove(self, subscription: Subscription) -> None:
        """Let no more events go to `subscription`."""
        self.subscriptions.remove(subscription)
        self.found.clear()

    def of(self, payload_type: type[Payload]) -> Route:
        """Return where events of `payload_type` go."""
        return self.found.get(payload_type) or self._find(payload_type)

    def _find(self, payload_type: type[Payload]) -> Route:
        event_type = event_type_of(payload_type)
        matching = tuple(sub for sub in self.subscriptions if matches(sub.patterns, event_type))
        route = self.found[payload_type] = Route(
            puts=tuple(sub.mailbox.put for sub in matching),
            subscriptions=matching,
            responders=tuple(sub for sub in matching if sub.answers),
            raises=payload_type.overflow is Overflow.RAISE,
        )
        return route


def event_type_of(payload_type: object) -> str:
    """Return the event type of a payload class; raise PayloadTypeError when it is none."""
    event_type = getattr(payload_type, "event_type", None)
    if not (isinstance(payload_type, type) and issubclass(payload_type, Payload) and isinstance(event_type, str)):
        raise PayloadTypeError(payload_type)
    return event_type


def patterns_of(given: Pattern | Iterable[Pattern]) -> tuple[str, ...]:
    """Return event types and prefixes as text, each once; raise PatternError for what is neither."""
    several = [given] if isinstance(given, (str, type)) else list(given)
    if not several:
        raise PatternError(given)
    return tuple(dict.fromkeys(_pattern(one) for one in several))


def matches(patterns: Iterable[str], event_type: str) -> bool:
    """Tell whether one of `patterns` is the type, or ends in `*` and is its beginning."""
    return any(
        event_type.startswith(pattern[:-1]) if pattern.endswith("*") else event_type == pattern for pattern in patterns
    )


def _pattern(given: object) -> str:
    if isinstance(given, type):
        if issubclass(given, Payload) and isinstance(getattr(given, "event_type", None), str):
            return given.event_type
    elif isinstance(given, str) and given and "*" not in given[:-1] and not any(char.isspace() for char in given):
        return given
    raise PatternError(given)
