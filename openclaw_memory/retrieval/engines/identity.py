"""What has to be the same for an index on disk to be used."""

from __future__ import annotations

from hashlib import sha256

from openclaw_memory.retrieval.engines.rows import SCHEMA_VERSION
from openclaw_memory.retrieval.terms import terms

_PROBE = """The running foxes' memories: DEC-0054, gpt-4, C#, c++, v22.11.0, foo_bar, MemoryWrite, state-of-the-art,
007, 1,234.5 user@example.org http://example.org/a/b 2026-05-04 14:30 5月3日 naïve Straße ﬁne Ⅳ ｆｕｌｌ cannot it's
用户喜欢用React写前端,住在杭州。 我们的 寿司を食べました カタカナ ー々
한국어를 배워요 ภาษาไทย 𠮷野家 мир ελληνικά عربي हिन्दी 👍🏽
generously organization dogs' happily flying NOT the of and a"""
"""One of everything that is cut in a way of its own. Whoever changes how text is cut changes what this gives."""


def terms_version() -> str:
    """Name the way in which text is cut into terms, by what comes of it."""
    return sha256("\n".join(terms(_PROBE)).encode()).hexdigest()[:16]


def identity(engine: str) -> dict[str, str]:
    """Give what an index that this program makes with this engine is known by."""
    return {"schema": SCHEMA_VERSION, "terms": terms_version(), "engine": engine}
