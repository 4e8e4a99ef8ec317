"""Events that the bus itself publishes."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from bus.payload import Overflow, Payload


class HandlerFailed(Payload):
    """A handler raised an exception or ran out of time. The other subscriptions were not touched by it."""

    event_type: ClassVar[str] = "bus:handler_failed"
    # Whoever watches faults slowly must not stop those that have them; what is dropped is counted.
    overflow: ClassVar[Overflow] = Overflow.DROP_OLDEST

    event: dict[str, Any] = Field(description="The original event, as CloudEvents JSON.")
    handler: str = Field(description="Name of the subscription whose handler failed.")
    error: str = Field(description="What went wrong, in words.")
    error_type: str = Field(description="Name of the exception's class.")


class EventRejected(Payload):
    """JSON from outside was no valid event. It was delivered to nobody."""

    event_type: ClassVar[str] = "bus:rejected"
    overflow: ClassVar[Overflow] = Overflow.DROP_OLDEST

    event: dict[str, Any] | str = Field(description="What came: the JSON object, or the beginning of the text.")
    fields: tuple[str, ...] = Field(description="The fields that were refused, such as `data.sessionId`.")
    error: str = Field(description="Why, field by field.")
