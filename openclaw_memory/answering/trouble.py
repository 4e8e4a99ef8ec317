"""Tell the bus when the disk begins to refuse, and when it no longer does."""

from __future__ import annotations

import logging
from datetime import datetime

from bus import Payload
from contracts import MemoryDegraded, MemoryRecovered
from openclaw_memory.answering.replies import Replies
from openclaw_memory.clock import Clock

log = logging.getLogger(__name__)


class Trouble:
    """Remembers what the trouble is, and since when.

    Parameters: `replies`; `clock`.
    """

    def __init__(self, replies: Replies, clock: Clock) -> None:
        self._replies = replies
        self._clock = clock
        self._reason = ""
        self._since: datetime | None = None

    def changed(self, reason: str | None) -> None:
        """Take note of a trouble, and with None that it is over."""
        notice: Payload
        if reason is not None:
            self._since = self._clock.now()
            self._reason = reason
            log.error("memory is degraded: %s", reason)
            notice = MemoryDegraded(reason=reason, since=self._since)
        else:
            since = self._since or self._clock.now()
            log.info("memory has recovered from: %s", self._reason)
            notice = MemoryRecovered(reason=self._reason, since=since)
        self._replies.start(self._replies.publish(notice))
