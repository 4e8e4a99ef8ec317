"""What was said in a session, as far as a session of its kind may see it. For a thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import cast

from contracts import HistoryMessage
from contracts.fields import Role, SessionKind
from openclaw_memory.catalog import Catalog
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.selection import select_history
from openclaw_memory.context.visibility import audience, policies
from openclaw_memory.layers.compactions import COMPACTIONS, Compacted, read_compacted, since
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.index import Hit
from openclaw_memory.workspace import WorkspaceView

IMPORTANT_MESSAGES = 20
"""Most messages marked important that are offered beside the recent ones."""

HISTORY_LOOKED_AT = 1_000
"""Newest messages of the session among which the history is selected; older ones are recalled like any other."""


class History:
    """Gives messages of sessions.

    Parameters: `catalog`; `view` of the workspace, where sessions may have files of their own; `config`.
    """

    def __init__(self, catalog: Catalog, view: WorkspaceView, config: MemoryConfig) -> None:
        self._catalog = catalog
        self._view = view
        self._config = config
        self._policies = policies(config.session)

    def selected(
        self, session_id: str, kind: SessionKind, as_of: datetime | None, hits: Sequence[Hit]
    ) -> tuple[tuple[HistoryMessage, ...], frozenset[str]]:
        """Give the recent messages of this session, those marked important, and those that match the query best."""
        compacted, summary = self.compacted(session_id, kind, as_of) or (None, None)
        own = self.messages(session_id, kind, as_of, HISTORY_LOOKED_AT)
        newest = list(islice(since(own, compacted), HISTORY_LOOKED_AT))
        newest += [] if summary is None else [summary]
        important = frozenset([block.key for block in newest if block.important][:IMPORTANT_MESSAGES])
        if summary is not None:
            # It stands for everything before, so it goes in front of what is chosen of the rest.
            important |= {summary.key}
        keys = {block.key for block in newest}
        chosen = select_history(
            [block for block in reversed(newest) if block.time is not None],
            important=important,
            relevant=[hit.block.key for hit in hits if hit.block.key in keys],
            recent=self._config.history_messages,
        )
        return tuple(map(_message, chosen)), important

    def messages(self, session_id: str, kind: SessionKind, as_of: datetime | None, most: int) -> Iterator[Block]:
        """Yield what a session of this kind may see of what was said in it, newest first."""
        visible = self._policies[kind].history != "group"
        messages_of: Iterable[Block] = self._catalog.newest_messages(session_id, as_of)
        if self._view.session_areas:
            known = list(islice(messages_of, most))
            lines = self._view.session_blocks(session_id, known)
            messages_of = known if lines is None else lines
            messages_of = [block for block in messages_of if as_of is None or block.time is None or block.time <= as_of]
        # A session's id alone opens nothing: a group sees what was said to the group.
        return (block for block in messages_of if visible or block.visibility in ("group", "shared"))

    def compacted(
        self, session_id: str, kind: SessionKind, as_of: datetime | None = None
    ) -> tuple[Compacted, Block] | None:
        """Give how far a session is summed up, and its summary; None when it is not. For a thread.

        Where the summary is gone, because a person took it out, all messages are history again.
        """
        document = self._catalog.document(COMPACTIONS)
        told = None if document is None else read_compacted(document.values, session_id, audience(kind))
        if told is None or (as_of is not None and told.at > as_of):
            return None
        summary = self._catalog.find(told.summary)
        return None if summary is None else (told, summary)

    def length(self, session_id: str, kind: SessionKind) -> int:
        """Count the messages that are history of a session."""
        compacted, _ = self.compacted(session_id, kind) or (None, None)
        return sum(1 for _ in since(self.messages(session_id, kind, None, HISTORY_LOOKED_AT), compacted))


def _message(block: Block) -> HistoryMessage:
    assert block.time is not None
    return HistoryMessage(
        role=cast(Role, block.role), content=block.text, timestamp=block.time, key=block.key, name=block.name
    )
