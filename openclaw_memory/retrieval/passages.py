"""What of a block is embedded, and the address of its vector."""

from __future__ import annotations

from hashlib import blake2b

from openclaw_memory.retrieval.blocks import Block, searchable

MOST_CHARACTERS = 4_000
"""How much of a text is embedded. Models end at 512 to 8,192 tokens, and a Chinese character costs more than one; what
comes later is found by keywords."""

TEXT_ID_BYTES = 16


def passage(block: Block) -> str:
    """Give the text that a block is embedded as; empty when there is nothing to embed.

    The same text gives the same vector wherever it stands, so moving a block costs nothing.
    """
    return embeddable(searchable(block))


def embeddable(text: str) -> str:
    """Give as much of a text as is embedded, as every embedder takes it.

    NUL would end the text in C libraries, and a lone surrogate can't be sent: both are replaced.
    """
    return text[:MOST_CHARACTERS].replace("\0", " ").encode("utf-8", "replace").decode("utf-8").strip()


def text_id(text: str) -> bytes:
    """Give the address of a text's vector: 16 bytes of BLAKE2b."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=TEXT_ID_BYTES).digest()


def id_of(block: Block) -> bytes | None:
    """Give the address of a block's vector; None when there is nothing to embed."""
    text = passage(block)
    return text_id(text) if text else None
