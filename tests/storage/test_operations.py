"""Records of the journal are read back as they were written, or not at all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.storage.operations import Flush, MadeLater, Operation, Record, decode, encode

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
OPERATIONS = st.builds(Operation, TEXT, TEXT, st.dictionaries(TEXT, JSON, max_size=3))
FLUSHES = st.builds(Flush, TEXT, TEXT, st.integers(0, 10**9))
RECORDS = st.builds(
    Record,
    st.integers(0, 10**9),
    st.lists(OPERATIONS, max_size=3).map(tuple),
    st.lists(FLUSHES, max_size=2).map(tuple),
    st.lists(FLUSHES, max_size=2).map(tuple),
    st.none() | st.integers(0, 100),
)


@given(RECORDS)
def test_record_is_one_line_and_read_back(record: Record) -> None:
    """A record holds no line break, whatever its texts hold."""
    line = encode(record)
    assert line.count(b"\n") == 1
    assert decode(line) == record


class Numbers(MadeLater[int]):
    """A list that is made when it is asked for."""

    def made(self) -> list[int]:
        return [1, 2]


def test_what_is_made_later_is_written_as_what_it_is() -> None:
    """The journal does not tell whether a list was there already."""
    later, at_once = (Record(1, (Operation("a", "set", {"numbers": given}),)) for given in (Numbers(), [1, 2]))
    assert encode(later) == encode(at_once)
    assert (list(Numbers()), len(Numbers())) == ([1, 2], 2)


@given(RECORDS, st.data())
def test_damaged_record_is_not_read(record: Record, data: st.DataObject) -> None:
    """One flipped bit anywhere in the line is noticed."""
    line = bytearray(encode(record))
    place = data.draw(st.integers(0, len(line) - 1))
    line[place] ^= 1 << data.draw(st.integers(0, 7))
    assert decode(bytes(line)) is None


@given(RECORDS, st.data())
def test_torn_record_is_not_read(record: Record, data: st.DataObject) -> None:
    """A line that was not written to its end is noticed."""
    line = encode(record)
    assert decode(line[: data.draw(st.integers(0, len(line) - 1))]) is None
