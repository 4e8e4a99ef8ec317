"""Terms as they are stored, and how often a block holds each, packed so that counting a few needs no text."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from zlib import crc32

LONGEST = 200
"""Code points of a stored term. The engines cut or drop terms of some ten thousand bytes; ours stay findable."""
SIZE = 6
"""Bytes of a packed term: four of its digest, two of its count."""
_MOST = 0xFFFF


def stored(term: str) -> str:
    """Give a term as the engines hold it: itself or, when very long, its beginning and a digest."""
    if len(term) <= LONGEST:
        return term
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f"{term[: LONGEST - 33]}~{digest}"


def all_stored(terms: list[str]) -> list[str]:
    """Give the terms of a block as the engines hold them, in their order, repeated as often."""
    if terms and len(max(terms, key=len)) > LONGEST:
        return [stored(term) for term in terms]
    return terms


def digest_of(term: str) -> bytes:
    """Give the four bytes that stand for a stored term in a packed block."""
    return crc32(term.encode("utf-8", "surrogatepass")).to_bytes(4, "little")


def pack(counts: Mapping[str, int]) -> bytes:
    """Pack how often a block holds each of its stored terms. Counts end at 65,535."""
    often = counts.values()
    flat = [0] * (2 * len(counts))
    flat[::2] = map(crc32, map(str.encode, counts))
    flat[1::2] = often if max(often, default=0) <= _MOST else [min(count, _MOST) for count in often]
    return _layout(len(counts)).pack(*flat)


@lru_cache(maxsize=1_024)
def _layout(size: int) -> struct.Struct:
    return struct.Struct("<" + "IH" * size)


def count_in(packed: bytes, digest: bytes) -> int:
    """Tell how often a packed block holds the term with this digest."""
    at = packed.find(digest)
    # A digest may also be found across two entries.
    while at % SIZE and at >= 0:
        at = packed.find(digest, at + 1)
    return packed[at + 4] + 256 * packed[at + 5] if at >= 0 else 0


def counts_in(packed: bytes, digests: Iterable[tuple[str, bytes]]) -> dict[str, int]:
    """Give how often a packed block holds each of these terms; those that it does not hold are left out."""
    return {term: count_in(packed, digest) for term, digest in digests if digest in packed}
