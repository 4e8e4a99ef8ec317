"""Ids of messages: ULIDs, 26 characters that sort by time and, within a millisecond, in the order of making."""

from __future__ import annotations

import os
import random
from datetime import datetime

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = tuple(high + low for high in _ALPHABET for low in _ALPHABET)
"""Two characters for each ten bits."""

_RANDOM_BITS = 80
_SHIFTS = tuple(range(120, -1, -10))


class MessageIds:
    """Makes ids. Each call costs some microseconds; every message of a busy process waits for one.

    Its randomness is seeded by the system once: asking each time lets every waiting thread run before the event loop.
    """

    def __init__(self) -> None:
        self._chance = random.Random(os.urandom(32))
        self._last = 0

    def __call__(self, time: datetime) -> str:
        """Make the id of a message that was said at `time`; what is older than 1970 counts as 1970."""
        stamp = max(0, int(time.timestamp() * 1000)) << _RANDOM_BITS
        if stamp == self._last >> _RANDOM_BITS << _RANDOM_BITS and self._last:
            number = self._last + 1
        else:
            # One bit is kept free, so that counting on never reaches the time.
            number = stamp | self._chance.getrandbits(_RANDOM_BITS - 1)
        self._last = number
        return "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])
