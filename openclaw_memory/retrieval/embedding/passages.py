"""What of a block is embedded, and the address of its vector."""

from __future__ import annotations

from hashlib import blake2b

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.index import searchable

MOST_CHARACTERS = 4_000
"""How much of a text is embedded. Models end at 512 to 8,192 tokens, and a Chinese character costs more than one; what
comes later is found by keywords."""

TEXT_ID_BYTES = 16


def passage(block: Block) -> str:
    """Give the text that a block is embedded as; empty when there is nothing to embed.

    The same text gives the same vector wherever it stands, so moving a block costs nothing. NUL would end the text in
    C libraries, and a lone surrogate can't be sent: both are replaced.
    """
    text = searchable(block)[:MOST_CHARACTERS].replace("\0", " ")
    return text.encode("utf-8", "replace").decode("utf-8").strip()


def text_id(text: str) -> bytes:
    """Give the address of a text's vector: 16 bytes of BLAKE2b."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=TEXT_ID_BYTES).digest()
