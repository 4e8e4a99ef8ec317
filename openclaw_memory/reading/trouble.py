"""What the reader of an answer should know about it: what can't be read, and what was done without."""

from __future__ import annotations

from contracts.fields import SessionKind
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.tokens import TokenCounter
from openclaw_memory.context.visibility import policies
from openclaw_memory.reading.documents import Documents

_ESTIMATED = {
    "zh": "token 数为估算(缺少编码包,见日志)",
    "en": "tokens are estimated (the encoding's package is missing, see the log)",
}

_UNREADABLE = {"zh": "有文件无法读取", "en": "some files can't be read"}

_BY_WORDS = {"zh": "仅按关键词检索", "en": "searched by keywords only"}


class Troubles:
    """Tells of troubles.

    Parameters: `store`, which knows what can't be read; `config`; `counter` of tokens, which may only estimate.
    """

    def __init__(self, store: Documents, config: MemoryConfig, counter: TokenCounter) -> None:
        self._store = store
        self._config = config
        self._policies = policies(config.session)
        self._estimate = None if counter.exact else _ESTIMATED[config.language]

    def of(self, kind: SessionKind, by_words: str | None) -> tuple[bool, str | None]:
        """Tell whether something can't be read, and what else the reader of an answer should know.

        The names of private files, and what an embedder said, stay in private sessions.
        """
        told = sorted(self._store.problems().values())
        degraded = bool(told)
        private = self._policies[kind].search == "all"
        if told and not private:
            told = [_UNREADABLE[self._config.language]]
        if by_words is not None:
            told.append(by_words if private else _BY_WORDS[self._config.language])
        if self._estimate is not None and (private or not degraded):
            told.append(self._estimate)
        return degraded, "; ".join(told) or None
