"""Plan one message on its own without waiting for anything: what nearly all writes are."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from contracts import MemoryWrite, MessageContent
from contracts.fields import SessionKind
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.visibility import audience
from openclaw_memory.events import Change
from openclaw_memory.layers import conversations, rotation
from openclaw_memory.markdown.text import clean
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.store import Store
from openclaw_memory.workspace import keeps_copies
from openclaw_memory.writing.drafting import Drafting


class AtOnce:
    """The short way, which is tried first. What it leaves alone takes the long one, and the same comes of both.

    Parameters: `store`; `config`; `new_id`, which makes the id of a message from its time; `drafting`, which knows the
    files that need no look.
    """

    def __init__(
        self, store: Store, config: MemoryConfig, new_id: Callable[[datetime], str], drafting: Drafting
    ) -> None:
        self._store = store
        self._drafting = drafting
        self._new_id = new_id
        self._zone = config.zone
        self._language = config.language
        self._copies = keeps_copies(config)

    def plan(self, change: Change, kind: SessionKind, now: datetime) -> tuple[Draft, str] | None:
        """Plan an event that is one message, whose file is loaded and has room for it; None for any other.

        Gives the draft and the message's address.

        Parameters: `kind` of the session; `now`, on the user's clock.
        """
        if not isinstance(change, MemoryWrite) or self._copies or change.idempotency_key is not None:
            return None
        content = change.content
        if not isinstance(content, MessageContent):
            return None
        time = now if content.timestamp is None else content.timestamp.astimezone(self._zone)
        path = conversations.path_of(time)
        draft = self._store.draft_at_once(path)
        if draft is None:
            return None
        document = draft.document(path)
        limits = self._drafting.limits_at_once(document)
        text, replaced = clean(content.content)
        if replaced or limits is None or not rotation.has_room(document, text, limits):
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
        return draft, rotation.plan_message(draft, path, message, now=now, language=self._language)
