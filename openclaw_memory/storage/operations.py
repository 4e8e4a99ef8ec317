"""What is written down before it is done: operations on documents, and the journal's records of them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic_core import to_json

T = TypeVar("T")

_CHECKED_AT_ONCE = 4_096
"""Bytes: `zlib` lets other threads have the interpreter for more, and it may take milliseconds until it comes back."""


# A tuple: every write waits until one is made.
class Operation(NamedTuple):
    """One change of one document, complete in itself: applied again to an older state it gives the same result.

    `path` is the document, relative to the root; `kind` names the change; `arguments` are JSON values.
    """

    path: str
    kind: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Flush:
    """A version of a document on disk: it holds the operations of all records up to position `upto`.

    `stamp` (inode, size, time in ns) is that of the file, where it is known.
    """

    path: str
    version: str
    upto: int
    stamp: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One line of the journal.

    `operations` take effect together. `intents` are flushes that are about to happen, `flushed` those that did.
    `keeps`: this line begins a journal file, and the next so many lines repeat what is still needed of older files.
    """

    position: int
    operations: tuple[Operation, ...] = ()
    intents: tuple[Flush, ...] = ()
    flushed: tuple[Flush, ...] = ()
    keeps: int | None = None


class MadeLater(Generic[T]):
    """A list among the arguments of an operation that is made when it is written down, or when somebody reads it."""

    __slots__ = ()

    def made(self) -> list[T]:
        """Give the list, of JSON values."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.made())

    def __iter__(self) -> Iterator[T]:
        return iter(self.made())


def encode(record: Record) -> bytes:
    """Write a record as a line: CRC-32 of the rest in hex, a space, JSON."""
    return line_of(json_of(record))


def line_of(text: bytes) -> bytes:
    """Write JSON as a line."""
    checksum = 0
    for start in range(0, len(text), _CHECKED_AT_ONCE):
        checksum = zlib.crc32(text[start : start + _CHECKED_AT_ONCE], checksum)
    return b"%08x %s\n" % (checksum, text)


def json_of_operation(operation: Operation) -> bytes:
    """Write an operation as JSON. Raises: `ValueError` when it holds what no JSON can."""
    # A fifth of the time that `json` takes, which the event loop would have to wait for.
    return to_json((operation.path, operation.kind, _values(operation.arguments)))


def json_of_operations(position: int, operations: Iterable[bytes]) -> bytes:
    """Write the record of some operations as JSON; they were written as JSON before."""
    return b'{"position":%d,"operations":[%s]}' % (position, b",".join(operations))


def json_of(record: Record) -> bytes:
    """Write a record as JSON. Raises: `ValueError` when it holds what no JSON can."""
    content: dict[str, Any] = {"position": record.position}
    if record.operations:
        content["operations"] = [[op.path, op.kind, _values(op.arguments)] for op in record.operations]
    if record.intents:
        content["intents"] = [_as_json(flush) for flush in record.intents]
    if record.flushed:
        content["flushed"] = [_as_json(flush) for flush in record.flushed]
    if record.keeps is not None:
        content["keeps"] = record.keeps
    return to_json(content)


def _values(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.made() if isinstance(value, MadeLater) else value for name, value in arguments.items()}


def decode(line: bytes) -> Record | None:
    """Read one line; None when it is torn or damaged."""
    checksum, _, text = line.rstrip(b"\n").partition(b" ")
    if not line.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(text):
        return None
    try:
        return _record(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        # Whole, but not of our making.
        return None


def _record(content: Any) -> Record:
    return Record(
        position=content["position"],
        operations=tuple(Operation(*parts) for parts in content.get("operations", ())),
        intents=tuple(_flush(parts) for parts in content.get("intents", ())),
        flushed=tuple(_flush(parts) for parts in content.get("flushed", ())),
        keeps=content.get("keeps"),
    )


def _as_json(flush: Flush) -> list[Any]:
    return [flush.path, flush.version, flush.upto, flush.stamp]


def _flush(parts: list[Any]) -> Flush:
    path, version, upto, stamp = parts
    return Flush(path, version, upto, None if stamp is None else (stamp[0], stamp[1], stamp[2]))
