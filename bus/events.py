"""The envelope around a payload: CloudEvents 1.0, built only as far as somebody asks for it."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bus.payload import Payload

if TYPE_CHECKING:
    from bus.requests import Pending

P = TypeVar("P", bound=Payload, covariant=True)

SPEC_VERSION = "1.0"
CONTENT_TYPE = "application/json"

Stamp = Callable[[], "int | datetime.datetime"]
"""Tells when an event was published: nanoseconds since 1970, or an aware time."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where events come from: `source` of CloudEvents, and what makes this bus's counted ids unique."""

    source: str
    prefix: str


class Event(Generic[P]):
    """One event, shared by all that receive it; nobody can change it.

    `id` and `time` are put together when they are asked for: an event costs a number and a clock reading, not a UUID
    and a date.
    """

    __slots__ = ("_data", "_number", "_origin", "_stamp")

    # Most events have no links, and do not pay for them: see `LinkedEvent`.
    _causation: int | str | None = None
    _correlation: int | str | None = None
    _pending: Pending | None = None

    def __init__(self, data: P, number: int | str, origin: Origin, stamp: int | datetime.datetime) -> None:
        self._data = data
        self._number = number
        self._origin = origin
        self._stamp = stamp

    @property
    def data(self) -> P:
        """The payload."""
        return self._data

    @property
    def type(self) -> str:
        """Name of the event, `room:what_happened`."""
        return self._data.event_type

    @property
    def id(self) -> str:
        """Id, unique together with `source`."""
        return self._id_of(self._number)

    @property
    def source(self) -> str:
        """Who published it."""
        return self._origin.source

    @property
    def time(self) -> datetime.datetime:
        """When it was published, in UTC."""
        if isinstance(self._stamp, int):
            seconds, nanoseconds = divmod(self._stamp, 1_000_000_000)
            moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
            return moment.replace(microsecond=nanoseconds // 1_000)
        return self._stamp.astimezone(datetime.UTC)

    @property
    def correlation_id(self) -> str | None:
        """Id of the request that this event answers."""
        return None if self._correlation is None else self._id_of(self._correlation)

    @property
    def causation_id(self) -> str | None:
        """Id of the event whose handler published this one."""
        return None if self._causation is None else self._id_of(self._causation)

    @property
    def specversion(self) -> str:
        """Version of CloudEvents."""
        return SPEC_VERSION

    def number_for(self, origin: Origin) -> int | str:
        """Return what an event of `origin` keeps to name this one as its cause; the event would chain all."""
        return self._number if self._origin is origin else self.id

    def to_wire(self) -> dict[str, Any]:
        """Write the event as a CloudEvents JSON object; the payload's fields in camelCase."""
        return {**self.attributes(), "data": self._data.model_dump(mode="json", by_alias=True)}

    def attributes(self) -> dict[str, Any]:
        """Write what CloudEvents says around the payload."""
        wire: dict[str, Any] = {
            "specversion": SPEC_VERSION,
            "id": self.id,
            "source": self.source,
            "type": self.type,
            "time": self.time.isoformat().replace("+00:00", "Z"),
            "datacontenttype": CONTENT_TYPE,
        }
        if self._correlation is not None:
            wire["correlationid"] = self.correlation_id
        if self._causation is not None:
            wire["causationid"] = self.causation_id
        return wire

    def __repr__(self) -> str:
        return f"<Event {self.type} {self.id}>"

    def _id_of(self, number: int | str) -> str:
        # Numbers are this bus's own; an event from outside keeps the id that it came with.
        return f"{self._origin.prefix}{number}" if isinstance(number, int) else number


class LinkedEvent(Event[P]):
    """An event that was caused by another, or answers one, or is a request that somebody waits for."""

    __slots__ = ("_causation", "_correlation", "_pending")

    def __init__(
        self,
        data: P,
        number: int | str,
        origin: Origin,
        stamp: int | datetime.datetime,
        causation: int | str | None = None,
        correlation: int | str | None = None,
        pending: Pending | None = None,
    ) -> None:
        # As `Event` does: a call on the way would be felt.
        self._data = data
        self._number = number
        self._origin = origin
        self._stamp = stamp
        self._causation = causation
        self._correlation = correlation
        self._pending = pending
