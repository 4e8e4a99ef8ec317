"""What an event carries: the base of every payload, and how a full queue treats it."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Overflow(StrEnum):
    """What happens to an event whose subscriber's queue is full."""

    WAIT = "wait"
    RAISE = "raise"
    DROP_OLDEST = "drop_oldest"
    COALESCE = "coalesce"


class Payload(BaseModel):
    """Base of what an event carries: frozen, snake_case in Python, camelCase on the wire.

    Validated once, when it is built; the bus never looks inside again. Unknown fields are ignored, so that a
    newer publisher can speak to an older subscriber.
    """

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True, extra="ignore")

    event_type: ClassVar[str]
    """Name of the event on the bus, `room:what_happened`."""
    overflow: ClassVar[Overflow] = Overflow.WAIT
    """What a full queue does with this event."""

    def can_replace(self, pending: Payload) -> bool:
        """Tell whether `pending`, still queued, is made needless by this one (asked with `Overflow.COALESCE`)."""
        return False


R = TypeVar("R", bound=Payload)


class Request(Payload, Generic[R]):
    """Base of a payload that is answered by a payload of `reply_type`."""

    reply_type: ClassVar[type[Payload]]
