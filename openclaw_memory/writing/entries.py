"""Entries of MEMORY.md: where they go, and which of those that are there says the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from contracts import CuratedContent
from openclaw_memory.config import MemoryConfig
from openclaw_memory.layers import curated, state
from openclaw_memory.markdown.curated import digest_of, fold
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.sameness import may_say_the_same
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.store import Store
from openclaw_memory.workspace import workspace_of
from openclaw_memory.writing.needs import Needs

Alike = Callable[[str, Sequence[str]], Awaitable[Sequence[float] | None]]
"""Gives the cosine of each of some texts with another one; None when meanings can't be compared now."""

MOST_COMPARED = 8
"""Entries of MEMORY.md that a new one is compared with by meaning, newest first: their words let few through."""


class Entries:
    """Looks through the entries that there are.

    Parameters: `store`; `config`; `alike`, which compares meanings, where there is an embedder.
    """

    def __init__(self, store: Store, config: MemoryConfig, alike: Alike | None) -> None:
        self._store = store
        self._config = config
        self._alike = alike
        self._workspace = workspace_of(config)

    @property
    def compares(self) -> bool:
        """Whether meanings can be compared."""
        return self._alike is not None

    async def path(self) -> str:
        """Give the place of MEMORY.md: where there is one, else where the configuration has it."""
        there = [path for path in self._workspace.curated if await self._store.scan(path)]
        for path in there:
            # As reading does it: a blank file hides nothing that stands in another place.
            if path not in await self._store.readable([path]) or (await self._store.read(path)).body.strip():
                return path
        return there[0] if there else f"{self._workspace.folder}/{self._config.memory_file}"

    async def same(self, path: str, texts: Sequence[str]) -> dict[str, str]:
        """Find the entries of MEMORY.md that new ones say again; whoever waits for it waits for few texts' vectors."""
        assert self._alike is not None
        if path not in await self._store.readable([path]):
            return {}
        entries = [entry.text for entry in curated.entries_in(await self._store.read(path))][::-1]
        same: dict[str, str] = {}
        for text in texts:
            known = any(fold(entry) == fold(text) for entry in entries)
            near = [] if known else [entry for entry in entries if may_say_the_same(entry, text)][:MOST_COMPARED]
            cosines = await self._alike(text, near) if near else None
            if cosines and (best := max(cosines)) >= self._config.same_meaning:
                same[fold(text)] = fold(near[cosines.index(best)])
        return same


def plan_entry(
    draft: Draft, needs: Needs, entry: CuratedContent, now: datetime, language: Language
) -> tuple[list[str], str | None]:
    """Plan an entry; gives its address and what is to be said about it. Pure."""

    def similar(text: str, entries: Sequence[str]) -> int | None:
        same = needs.same.get(fold(text))
        return next((place for place, known in enumerate(entries) if fold(known) == same), None)

    plan = curated.plan_entry(
        draft,
        needs.curated,
        entry.text,
        section=entry.section,
        language=language,
        ours=draft.document(state.CURATED).values.keys(),
        similar=similar if needs.same else None,
    )
    if plan.outcome == "known":
        return [plan.key], "MEMORY.md says so already"
    gone = () if plan.replaced is None else (digest_of(plan.replaced),)
    state.plan_state(draft, state.CURATED, {plan.digest: now.isoformat(timespec="seconds")}, gone)
    if plan.outcome == "beside":
        return [plan.key], "it stands beside an entry that a person wrote, which says the same"
    return [plan.key], None if plan.replaced is None else f"it took the place of {plan.replaced!r}"
