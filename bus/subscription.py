"""A subscription: what it matches, its mailbox and its workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from bus.crew import Crew, Handler, Host
from bus.events import Event
from bus.lanes import Key
from bus.mailbox import Mailbox
from bus.reports import DrainReport, Ledger, SubscriptionStatistics


@dataclass(frozen=True, slots=True)
class Terms:
    """What a subscription asks for; see `EventBus.subscribe`."""

    patterns: tuple[str, ...]
    name: str
    capacity: int
    concurrency: int
    key: Key | None
    answers: bool
    timeout: float | None
    owner: str | None

    def __post_init__(self) -> None:
        for field, least in (("capacity", 1), ("concurrency", 1)):
            if getattr(self, field) < least:
                raise ValueError(f"{field} of subscription {self.name!r} must be at least {least}")
        if self.timeout is not None and not self.timeout > 0:
            raise ValueError(f"timeout of subscription {self.name!r} must be more than 0 seconds, or None")


class SubscriptionHost(Host, Protocol):
    """What a subscription needs of its bus."""

    def close_subscription(self, subscription: Subscription) -> None:
        """Take it off the bus."""

    async def drain_subscription(self, subscription: Subscription, seconds: float | None) -> DrainReport:
        """Wait until it has nothing to do."""

    def refused_by_key(self, subscription: Subscription, event: Event[Any], error: Exception) -> None:
        """Report that the key function failed."""


class Subscription:
    """Events of some types on their way to one handler. Made by `EventBus.subscribe`."""

    __slots__ = ("_terms", "answers", "crew", "host", "mailbox", "name", "patterns")

    def __init__(self, host: SubscriptionHost, handler: Handler, terms: Terms, ledger: Ledger) -> None:
        self.name = terms.name
        self.patterns = terms.patterns
        self.answers = terms.answers
        self.host = host
        self._terms = terms
        self.crew = Crew(host, self, handler, terms.concurrency, terms.timeout)
        self.mailbox = Mailbox(self, terms.capacity, terms.key, ledger, self.crew.rouse, self._refused)
        self.mailbox.resting = terms.concurrency

    @property
    def owner(self) -> str | None:
        """Name of the plugin that made it while it started."""
        return self._terms.owner

    def close(self) -> None:
        """Take no more events. What is queued is dropped and counted; a handler that runs goes on to its end."""
        self.host.close_subscription(self)

    async def drain(self, timeout: float | None = None) -> DrainReport:  # noqa: ASYNC109  # a report, no exception
        """Wait until nothing is queued, waiting or being handled here; at most `timeout` seconds."""
        return await self.host.drain_subscription(self, timeout)

    def is_quiet(self) -> bool:
        """Tell whether nothing is queued, waiting or being handled."""
        mailbox = self.mailbox
        return not (len(mailbox.queue) or mailbox.line or self.crew.busy())

    def statistics(self) -> SubscriptionStatistics:
        """Return its state at this moment."""
        mailbox, crew = self.mailbox, self.crew
        return SubscriptionStatistics(
            name=self.name,
            patterns=self.patterns,
            queued=len(mailbox.queue),
            capacity=mailbox.capacity,
            waiting=len(mailbox.line),
            running=len(crew.busy()),
            concurrency=crew.concurrency,
            handled=crew.handled,
            failed=crew.failed,
            dropped=mailbox.dropped,
            coalesced=mailbox.coalesced,
            overcommitted=mailbox.overcommitted,
            high_water=mailbox.high_water,
        )

    def __repr__(self) -> str:
        return f"<Subscription {self.name} to {', '.join(self.patterns)}>"

    def _refused(self, event: Event[Any], error: Exception) -> None:
        self.crew.failed += 1
        self.host.refused_by_key(self, event, error)
