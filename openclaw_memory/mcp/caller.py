"""On whose behalf a client of the server asks, and how it asks: by events on the bus, like everybody."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from bus import BusError, EventBus, NoResponderError
from contracts.fields import SessionKind
from openclaw_memory.mcp.errors import CallRefusedError

REPLY_SECONDS = 60.0
"""Longest wait for an answer: a first one may have to read every file."""

Ask = Callable[[Any], Awaitable[Any]]
"""Publishes a request and gives its reply."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The session that all clients of one server share.

    They are programs of one person on one machine, so `session_kind` is `primary` unless the owner says otherwise. They
    share a session so that each sees what another has just written, as one person would expect it of one memory.
    """

    session_id: str = "mcp"
    session_kind: SessionKind = "primary"


def asking(bus: EventBus) -> Ask:
    """Give what asks on a bus. It raises `CallRefusedError` when there is no answer."""

    async def ask(payload: Any) -> Any:
        try:
            return await bus.request(payload, timeout=REPLY_SECONDS)
        except NoResponderError as error:
            raise CallRefusedError(
                f"nothing here answers {payload.event_type}; this version of memory, or this configuration, lacks it"
            ) from error
        except BusError as error:
            raise CallRefusedError(str(error)) from error

    return ask
