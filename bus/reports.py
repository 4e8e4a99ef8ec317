"""What the bus tells about itself: statistics, and what became of the last events."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SubscriptionStatistics:
    """State of one subscription at one moment. Counts are since it was made."""

    name: str
    patterns: tuple[str, ...]
    queued: int
    """Events accepted and not yet taken by a handler."""
    capacity: int
    waiting: int
    """Publishers that wait for room."""
    running: int
    """Handlers at work."""
    concurrency: int
    handled: int
    """Events whose handler returned."""
    failed: int
    """Events whose handler raised or ran out of time."""
    dropped: int
    coalesced: int
    """Events that a newer one made needless while the queue was full."""
    overcommitted: int
    """Events queued over the capacity, since a cycle of handlers would have stood still otherwise."""
    high_water: int
    """Most events ever queued."""


@dataclass(frozen=True, slots=True)
class BusStatistics:
    """State of a bus at one moment."""

    published: int
    """Events sent, those from outside and the bus's own included."""
    unheard: int
    """Events that no subscription matched."""
    rejected: int
    """JSON from outside that was no valid event."""
    pending_requests: int
    late_replies: int
    """Replies that nobody waited for any more, or that came second."""
    subscriptions: tuple[SubscriptionStatistics, ...]

    def of(self, name: str) -> SubscriptionStatistics:
        """Return the statistics of the subscription `name`; raise KeyError when there is none."""
        for subscription in self.subscriptions:
            if subscription.name == name:
                return subscription
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Dropped:
    """Events of one type that one subscription did not get, and why."""

    subscription: str
    event_type: str
    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class DrainReport:
    """What happened between the call of `drain` or `close` and its end."""

    quiescent: bool
    """Whether everything came to rest; false when the time ran out first."""
    handled: int
    failed: int
    dropped: tuple[Dropped, ...] = ()
    stuck: tuple[str, ...] = ()
    """Subscriptions with events or handlers left when the time ran out."""
    faults: tuple[str, ...] = ()
    """Plugins that failed to stop, and how (of a Gateway)."""

    @property
    def dropped_count(self) -> int:
        """How many events were dropped in all."""
        return sum(drop.count for drop in self.dropped)


@dataclass(slots=True)
class Ledger:
    """Counts of one bus that outlive its subscriptions."""

    drops: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    handled: int = 0
    """Events handled by subscriptions that are closed now."""
    failed: int = 0

    def add(self, subscription: str, event_type: str, reason: str) -> None:
        """Book one dropped event."""
        self.drops[subscription, event_type, reason] += 1


@dataclass(frozen=True, slots=True)
class Mark:
    """Counts at the begin of a drain, from which its report is reckoned."""

    handled: int
    failed: int
    drops: Counter[tuple[str, str, str]]

    def report(self, now: Mark, *, stuck: tuple[str, ...]) -> DrainReport:
        """Tell what happened from this mark to `now`."""
        return DrainReport(
            quiescent=not stuck,
            handled=now.handled - self.handled,
            failed=now.failed - self.failed,
            dropped=tuple(Dropped(*key, count) for key, count in sorted((now.drops - self.drops).items())),
            stuck=stuck,
        )
