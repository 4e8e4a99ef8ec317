"""Times as whole numbers, for sorting and storing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LOCAL_EPOCH = _EPOCH.replace(tzinfo=None)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(time: datetime | None) -> int:
    """Give microseconds since 1970 (UTC); 0 for an unknown time. A time without an offset is taken for UTC."""
    if time is None:
        return 0
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND


def offset_of(time: datetime | None) -> int | None:
    """Give the offset from UTC in microseconds; None for an unknown time."""
    if time is None:
        return None
    return (time.utcoffset() or timedelta()) // _MICROSECOND


def moment(at: int, offset: int | None) -> datetime | None:
    """Turn what `microseconds` and `offset_of` gave back into a time: the same instant, with the same offset."""
    if offset is None:
        return None
    if not offset:
        return _EPOCH + timedelta(0, 0, at)
    # The local time first: that of the first and last days that a datetime can hold has no instant in UTC.
    return (_LOCAL_EPOCH + timedelta(0, 0, at + offset)).replace(tzinfo=_zone(offset))


@lru_cache(maxsize=256)
def _zone(offset: int) -> timezone:
    return timezone(timedelta(microseconds=offset))
