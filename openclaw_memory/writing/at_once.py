"""Plan one message on its own without waiting for anything: what nearly all writes are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from contracts import MemoryWrite, MessageContent
from contracts.fields import SessionKind
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.visibility import audience
from openclaw_memory.discretion import is_harmless
from openclaw_memory.layers import conversations, rotation
from openclaw_memory.layers.day_files import Spoken
from openclaw_memory.markdown.text import clean
from openclaw_memory.storage.commits import Commit
from openclaw_memory.storage.store import Store
from openclaw_memory.workspace import keeps_copies
from openclaw_memory.writing.drafting import Drafting
from openclaw_memory.writing.forgotten import Forgotten
from openclaw_memory.writing.judging import Judging


class _Tally(NamedTuple):
    """A state of a document, how many messages were added to it since, and what it holds with them."""

    document: Any
    added: int
    messages: int
    size: int


class AtOnce:
    """The short way, which is tried first. What it leaves alone takes the long one, and the same comes of both.

    Parameters: `store`; `config`; `new_id`, which makes the id of a message from its time; `drafting`, which knows the
    files that need no look; `judging`; `forgotten`, what must not come back by itself.
    """

    def __init__(
        self,
        store: Store,
        config: MemoryConfig,
        new_id: Callable[[datetime], str],
        drafting: Drafting,
        judging: Judging,
        forgotten: Forgotten | None,
    ) -> None:
        self._store = store
        self._drafting = drafting
        self._judging = judging
        self._forgotten = forgotten
        self._new_id = new_id
        self._zone = config.zone
        self._language = config.language
        self._masks = config.secrets.mask
        self._copies = keeps_copies(config)
        self._tally = _Tally(None, 0, 0, 0)

    def write(
        self, change: MemoryWrite, content: MessageContent, kind: SessionKind, now: datetime, supplied: Sequence[str]
    ) -> tuple[Commit, str, tuple[str, ...]] | None:
        """Queue an event that is one message, whose file is loaded and has room for it; None for any other.

        Nor may there be a secret in it, or more to be written than the message itself. Gives the commit, the message's
        address, and what is suggested.

        Parameters: `content` of the event; `kind` of the session; `now`, on the user's clock; `supplied`, as for
        `Writer.write`.

        Raises: `ClosedError`.
        """
        if self._copies or change.idempotency_key is not None:
            return None
        if self._masks and not is_harmless(change):
            return None
        if self._forgotten is not None and self._forgotten.concerns((change,)):
            return None
        time = now if content.timestamp is None else content.timestamp.astimezone(self._zone)
        path = conversations.path_of(time)
        text, replaced = clean(content.content)
        tally = None if replaced else self._with(path, text)
        if tally is None:
            return None
        suggestions = self._judging.suggested_at_once(change, kind, now, supplied)
        if suggestions is None:
            return None
        visibility = None if (audience_here := audience(kind)) == "private" else audience_here
        message = conversations.message_of(
            content,
            text,
            change.session_id,
            time,
            self._new_id(time),
            origin=change.origin,
            visibility=visibility,
        )
        at = now.isoformat(timespec="seconds")
        commit = self._store.add(conversations.append_of(path, Spoken((message,)), at, self._language))
        self._tally = tally
        return commit, f"{path}#{message.id}", suggestions

    def _with(self, path: str, text: str) -> _Tally | None:
        """Count what a day's file holds with one more message; None where it must be looked at, or has no room."""
        ahead = self._store.ahead(path)
        if ahead is None:
            return None
        document, added = ahead
        limits = self._drafting.limits_at_once(document)
        if limits is None:
            return None
        tally = self._tally
        if not added or tally.document is not document or tally.added != added:
            document = self._store.planned(path)
            tally = _Tally(document, 0, len(document.file.blocks), document.size)
        more = rotation.size_of(text)
        if not rotation.is_room(tally.messages, tally.size, more, limits):
            return None
        return _Tally(document, tally.added + 1, tally.messages + 1, tally.size + more)
