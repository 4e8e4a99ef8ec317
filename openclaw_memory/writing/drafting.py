"""Load what an event rests on, with the parts that full files of a day rotate into."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import anyio

from openclaw_memory.layers import rotation
from openclaw_memory.layers.day_files import ConversationDocument
from openclaw_memory.layers.parts import FOLDER, next_parts, parts_of
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.store import Store
from openclaw_memory.writing.needs import Needs


class Drafting:
    """Makes the draft that an event is planned on.

    Parameters: `store`; `limits` of a day's file.
    """

    def __init__(self, store: Store, limits: rotation.Limits) -> None:
        self._store = store
        self._limits = limits
        self._exceeded = limits.exceeded()
        self._full: set[str] = set()
        """Days whose files are being rotated."""
        self._rotating = anyio.Lock()
        self._tidied: dict[str, object] = {}
        """By day, the table of places of the document that was tidied; one that is read anew has another."""

    async def draft(self, needs: Needs, now: datetime) -> Draft:
        """Load what planning rests on, with the parts that full files rotate into.

        A day's file that was read anew since it was last tidied may hold an old view of the day: then with all parts.
        """
        full = self._found_full(needs)
        self._full |= full
        try:
            return await self._drafted(needs, now)
        finally:
            self._full -= full

    def _found_full(self, needs: Needs) -> set[str]:
        """Give the days whose files have no room for what is said, and that nobody rotates already."""
        return {
            said.path
            for said in needs.everything_said
            if said.path not in self._full
            and self._store.ahead(said.path) is not None
            and not rotation.has_room(self._store.planned(said.path), said.message.content, self._limits)
        }

    async def _drafted(self, needs: Needs, now: datetime) -> Draft:
        draft = await self._loaded(needs)
        if not self._unsure(needs, draft, {}):
            needs.limits = self._limits_of(needs)
            if not rotation.parts_missing(draft, needs.everything_said, needs.limits):
                return draft
        # Many sessions find the same file full at once. One looks for its next part; who waited finds the file rotated,
        # since from the end of this to the commit nothing is awaited.
        async with self._rotating:
            return await self._with_parts(needs, now)

    async def _loaded(self, needs: Needs) -> Draft:
        # Who rotates a file need not wait until it is rewritten, with everybody who writes to it: that takes many times
        # as long as a look, and an edit that it finds is merged, whatever was planned meanwhile.
        rewritten = {path for path in needs.appended if self._store.is_rewritten_now(path)}
        return await self._store.draft(
            [path for path in needs.paths if path not in needs.looked_at and path not in rewritten],
            known=(*needs.appended, *needs.looked_at, *needs.copies.paths),
        )

    async def _with_parts(self, needs: Needs, now: datetime) -> Draft:
        listed: dict[str, object] = {}
        while True:
            draft = await self._loaded(needs)
            unknown = self._unsure(needs, draft, listed)
            if unknown:
                known = await self._store.scan(FOLDER)
                for day in unknown:
                    listed[day] = draft.document(day).places
                    needs.paths |= dict.fromkeys([day, *await self._store.readable(parts_of(day, known))])
                continue
            needs.limits = self._limits_of(needs)
            for day in listed:
                if not self._store.is_being_saved(day):
                    rotation.plan_tidying(draft, day, now)
            missing = rotation.parts_missing(draft, needs.everything_said, needs.limits)
            if not missing:
                return draft
            known = await self._store.scan(FOLDER)
            for day, count in missing.items():
                # What is moved must be what the file holds, so the day's own file is looked at as well.
                needs.paths |= dict.fromkeys([day, *next_parts(day, {*known, *needs.paths}, count)])

    def _limits_of(self, needs: Needs) -> rotation.Limits:
        """Give when a day's file is full; never while somebody saves it.

        Of a file that is half saved a message may be cut off, which is no edit of it. And what was not tidied up must
        not be moved: its copies of other parts' messages would come along.
        """
        return rotation.NONE if any(map(self._store.is_being_saved, needs.appended)) else self._limits

    def _unsure(self, needs: Needs, draft: Draft, listed: Mapping[str, object]) -> list[str]:
        return [day for day in needs.appended if self._may_be_an_old_view(draft.document(day), listed.get(day))]

    def _may_be_an_old_view(self, document: ConversationDocument, listed: object) -> bool:
        """Tell whether a day's file was read anew since it was tidied, or since its parts were listed."""
        places = document.places
        return bool(document.file.blocks) and places is not self._tidied.get(document.path) and places is not listed

    def limits_at_once(self, document: ConversationDocument) -> rotation.Limits | None:
        """Give when a day's file is full, where it is known to need no look; else None, and `draft` finds out."""
        if not document.file.blocks or document.places is not self._tidied.get(document.path):
            return None
        if self._store.is_being_saved(document.path):
            return None
        # Who rotates a file waits for some looks, and moves what it holds after them: nobody need wait for that.
        return self._exceeded if document.path in self._full else self._limits

    def committed(self, needs: Needs, draft: Draft) -> None:
        """Take note of the days that a committed draft has tidied."""
        self._tidied |= {
            day: draft.document(day).places for day in needs.appended if not self._store.is_being_saved(day)
        }
