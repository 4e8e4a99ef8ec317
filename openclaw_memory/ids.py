"""Ids of messages: ULIDs, 26 characters that sort by time and, within a millisecond, in the order of making."""

from __future__ import annotations

import os
import random
from datetime import datetime

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = tuple(high + low for high in _ALPHABET for low in _ALPHABET)
"""Two characters for each ten bits."""

_RANDOM_BITS = 80
_TEN_BITS = 1023


class MessageIds:
    """Makes ids. Each call costs some microseconds; every message of a busy process waits for one.

    Its randomness is seeded by the system once: asking each time lets every waiting thread run before the event loop.
    """

    def __init__(self) -> None:
        self._chance = random.Random(os.urandom(32))
        self._stamp = -1
        self._number = 0
        self._head = ""
        """All of the last id but its last ten bits: as long as ids are counted on, most of them share it."""

    def __call__(self, time: datetime) -> str:
        """Make the id of a message that was said at `time`; what is older than 1970 counts as 1970."""
        stamp = max(0, int(time.timestamp() * 1000))
        if stamp == self._stamp:
            self._number = number = self._number + 1
            is_new = not number & _TEN_BITS
        else:
            # One bit is kept free, so that counting on never reaches the time.
            self._number = number = self._chance.getrandbits(_RANDOM_BITS - 1)
            self._stamp, is_new = stamp, True
        if is_new:
            self._head = f"{_letters(stamp, 50)}{_letters(number >> 10, _RANDOM_BITS - 10)}"
        return self._head + _PAIRS[number & _TEN_BITS]


def _letters(number: int, bits: int) -> str:
    """Write the lowest bits of a number, a multiple of ten of them."""
    return "".join([_PAIRS[number >> shift & _TEN_BITS] for shift in range(bits - 10, -1, -10)])
