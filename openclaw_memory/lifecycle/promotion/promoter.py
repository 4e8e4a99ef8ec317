"""Preview, apply and undo promotion; MEMORY.md, the text before and what was promoted are one record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

import anyio.to_thread

from openclaw_memory.errors import Refused
from openclaw_memory.layers.curated import entries_in
from openclaw_memory.layers.parts import FOLDERS as CONVERSATIONS
from openclaw_memory.layers.parts import day_of
from openclaw_memory.layers.recalls import RECALLS, Recall, name_of, read_recalls
from openclaw_memory.layers.revisions import REVISIONS, Revision, plan_change, plan_undo, revisions
from openclaw_memory.layers.state import CURATED, plan_state
from openclaw_memory.lifecycle.apart import planned_apart
from openclaw_memory.lifecycle.jobs import NOTHING, Job, Outcome, another_day
from openclaw_memory.lifecycle.memory_file import curated_path
from openclaw_memory.lifecycle.own_output import is_own
from openclaw_memory.lifecycle.promotion.counting import KeepRecalls, RecallCounts
from openclaw_memory.lifecycle.promotion.likeness import Known
from openclaw_memory.lifecycle.promotion.planning import Plan, plan
from openclaw_memory.lifecycle.tools import Tools
from openclaw_memory.markdown.curated import digest_of
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.storage.documents import Draft

if TYPE_CHECKING:
    from openclaw_memory.lifecycle.promotion.scoring import Piece

PROMOTED = ".state/promoted.json"
"""By the name of a piece, when it was promoted and the digest of its entry: what was promoted once never is again."""

BY = "promotion"

MOST_JUDGED = 500
"""Pieces that are judged in one run, those recalled most often."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a run would do or has done: the plan, and the addresses of new entries (none in a preview)."""

    plan: Plan
    keys: tuple[str, ...] = ()


class Promoter:
    """Promotes pieces of notes and of what the user said.

    Parameters: `tools`; `counts` that are still in memory, which belong to what was counted.
    """

    def __init__(self, tools: Tools, counts: RecallCounts) -> None:
        self._tools = tools
        self._counts = counts
        self._zone = tools.config.zone

    async def preview(self, now: datetime) -> Result:
        """Tell what would be promoted, and what would not and why; changes nothing but that counts are written."""
        await self._counts.keep(self._tools.store)
        await self._look()
        path = await curated_path(self._tools)
        draft = await self._tools.store.draft(self._paths(path))
        # What lies at rest is not read for it: its pieces are in the index.
        return Result(await anyio.to_thread.run_sync(self._judged, draft, path, now))

    async def apply(self, now: datetime, *, explained: bool = True) -> Result:
        """Promote what passes.

        Parameters: `explained`, whether the plan tells of the others too: nobody reads that of a run at night.

        Raises: `StorageError` and what else the store raises; then nothing was changed.
        """
        await self._counts.keep(self._tools.store)
        await self._look()
        path = await curated_path(self._tools)
        return await planned_apart(
            self._tools, self._paths(path), lambda draft: self._promoted(draft, path, now, explained)
        )

    def _promoted(self, draft: Draft, path: str, now: datetime, explained: bool) -> Result:
        """Plan what passes. For a thread."""
        made = self._judged(draft, path, now, explained)
        if not made.change:
            return Result(made)
        moment = now.astimezone(self._zone)
        keys = plan_change(draft, path, made.change, by=BY, now=moment, language=self._tools.config.language)
        added = {line.text for line in made.change.added}
        plan_state(
            draft,
            PROMOTED,
            {
                verdict.candidate.piece.name: {
                    "at": moment.isoformat(timespec="seconds"),
                    "entry": digest_of(verdict.candidate.text),
                    "from": verdict.candidate.piece.key,
                    "score": round(verdict.candidate.score, 3),
                }
                for verdict in made.verdicts
                if verdict.promoted and verdict.candidate.text in added
            },
        )
        return Result(made, keys)

    async def undo(self, now: datetime, once: str | None = None) -> Revision | None:
        """Take the last promotion back that was not taken back yet; None when there is none.

        What was promoted then is not promoted again. What a person did to MEMORY.md since stays, so the revision given
        names the entries that did go, and did come back. Parameters: `once`, a name under which the same wish, come
        again after a crash, is known.
        """
        held = revisions((await self._tools.store.read(REVISIONS)).values)
        if once is not None and (done := next((one for one in held if one.undone_by == once), None)) is not None:
            return done
        last = next((one for one in reversed(held) if one.by == BY and not one.undone), None)
        if last is None:
            return None
        moment, language = now.astimezone(self._zone), self._tools.config.language

        def plan_back(draft: Draft) -> Revision:
            if last not in revisions(draft.document(REVISIONS).values):
                raise Refused("undo", "it was taken back meanwhile")
            taken_out, put_back = plan_undo(draft, last, now=moment, language=language, by=once)
            return replace(last, added=taken_out, removed=put_back)

        return await planned_apart(self._tools, [last.path, REVISIONS, CURATED], plan_back)

    def jobs(self) -> tuple[Job, ...]:
        """Give the jobs: counts are kept always, promotion is automatic where the configuration says so."""
        keep = KeepRecalls(self._counts, self._tools.store)
        return (keep, Promotion(self, self._tools)) if self._tools.config.promotion.automatic else (keep,)

    # -- deciding -----------------------------------------------------------------------------------------------

    async def _look(self) -> None:
        """Take note of what a person did to the files that the pieces stand in: what they took out is no candidate."""
        catalog, recalls = self._tools.catalog, read_recalls((await self._tools.store.read(RECALLS)).values)
        paths = {recall.key.partition("#")[0] for recall in recalls.values()}
        days = [path for folder in CONVERSATIONS for path in catalog.paths(folder) if day_of(path) in paths]
        await self._tools.store.look_at(sorted({*paths, *days}))

    def _paths(self, path: str) -> list[str]:
        return [path, RECALLS, REVISIONS, CURATED, PROMOTED]

    def _judged(self, draft: Draft, path: str, now: datetime, explained: bool = True) -> Plan:
        """Find the pieces, and judge them; unless `explained`, those alone that may pass. For a thread."""
        # Imported when it is first asked for: its patterns take a while to be compiled.
        from openclaw_memory.lifecycle.promotion.scoring import candidate, may_pass

        recalls = read_recalls(draft.document(RECALLS).values)
        document, promoted = draft.document(path), dict(draft.document(PROMOTED).values)
        chosen = sorted(recalls, key=lambda name: -recalls[name].count)[:MOST_JUDGED]
        config = self._tools.config
        entries = entries_in(document)
        known = Known([entry.text for entry in entries], promoted.keys())
        if not explained:
            chosen = [name for name in chosen if may_pass(name, recalls[name], known, config.promotion, now)]
        pieces = [piece for name in chosen if (piece := self._piece(name, recalls[name])) is not None]
        ours = {str(value.get("entry")): name for name, value in promoted.items() if isinstance(value, dict)}
        return plan(
            [candidate(piece, known, config.promotion, now, self._zone) for piece in pieces],
            entries,
            ours,
            recalls,
            config.promotion,
            tokens=self._tools.counter.count(document.body),
            budget=config.memory_tokens,
            count=self._tools.counter.count,
        )

    def _piece(self, name: str, recall: Recall) -> Piece | None:
        """Find a piece by its address or, where lines have moved, in its file; None when it is gone."""
        from openclaw_memory.lifecycle.promotion.scoring import Piece

        catalog = self._tools.catalog
        found: Block | None = catalog.find(recall.key)
        if found is None or name_of(found.text) != name:
            blocks = catalog.index.blocks_of(recall.key.partition("#")[0])
            found = next((block for block in blocks if name_of(block.text) == name), None)
        if found is None or found.visibility != "private" or found.origin == "untrusted" or is_own(found):
            return None
        return Piece(name, found.text, found.key, recall)


class Promotion:
    """Job of the heartbeat: once a day what passes is promoted."""

    name = "promotion"

    def __init__(self, promoter: Promoter, tools: Tools) -> None:
        self._promoter = promoter
        self._zone = tools.config.zone

    def due(self, last: datetime | None, now: datetime) -> bool:
        """Tell whether a day has begun."""
        return another_day(last, now, self._zone)

    async def run(self, now: datetime) -> Outcome:
        """Promote."""
        done = await self._promoter.apply(now, explained=False)
        gone = len(done.plan.change.removed)
        told = f"{gone} entries promoted earlier made room" if gone and done.keys else None
        return Outcome("done", done.keys, told) if done.keys else NOTHING
