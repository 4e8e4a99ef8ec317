"""A whole forgetting, planned on a draft: what is chosen, what follows from it, what is noted of it. For a thread."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any

from openclaw_memory.layers import facts
from openclaw_memory.layers.state import FACT_TIMES, TASKS, StateDocument
from openclaw_memory.lifecycle.forgetting.choosing import Chosen, choose
from openclaw_memory.lifecycle.forgetting.planning import is_blank, operations_of
from openclaw_memory.lifecycle.forgetting.states import plan_state_without, plan_summaries
from openclaw_memory.lifecycle.forgetting.texts import Needle
from openclaw_memory.lifecycle.forgetting.tombstones import FORGOTTEN, plan_tombstones
from openclaw_memory.lifecycle.forgetting.wanted import Wanted
from openclaw_memory.lifecycle.leases import HEARTBEAT
from openclaw_memory.storage.documents import Draft

_WITHOUT_WORDS = frozenset({FORGOTTEN, TASKS, HEARTBEAT})
"""State in which nobody's words stand: counters, names of jobs, hashes."""


TOLD_LINES = 5
"""Lines, and files, that a notice names at most."""


@dataclass(slots=True)
class Plan:
    """What goes, by document. `asked`: what was wanted and what follows from it; `times`: since when facts held."""

    asked: Wanted
    times: Mapping[str, Any]
    chosen: dict[str, Chosen] = field(default_factory=dict)
    states: dict[str, int] = field(default_factory=dict)
    blank: list[str] = field(default_factory=list)

    @property
    def counts(self) -> Counter[str]:
        return Counter({path: one.count for path, one in self.chosen.items()}) + Counter(self.states)

    @property
    def told_along(self) -> str | None:
        """Say which lines go that do not hold the text themselves; None when there are none."""
        told = []
        for path, one in sorted(self.chosen.items()):
            if one.along:
                lines = ", ".join(map(str, one.along[:TOLD_LINES])) + (", ..." if len(one.along) > TOLD_LINES else "")
                told.append(f"{len(one.along)} of {path} (below the front matter: {lines})")
        if not told:
            return None
        more = f" and lines of {len(told) - TOLD_LINES} more files" if len(told) > TOLD_LINES else ""
        return f"lines that belong to what holds it go as well: {'; '.join(told[:TOLD_LINES])}{more}"

    @property
    def ids(self) -> set[str]:
        return {id_ for one in self.chosen.values() for id_ in one.ids}


def planned(draft: Draft, wanted: Wanted, needle: Needle | None, now: datetime, zone: tzinfo) -> Plan:
    """Choose and plan on a draft; in a thread, since it may be all of memory."""
    times = draft.document(FACT_TIMES).values
    states = [path for path in draft.planned if isinstance(draft.planned[path], StateDocument)]
    documents = {path: one for path, one in draft.planned.items() if path not in states}
    asked = wanted
    plan = Plan(asked, times)
    while True:
        plan.chosen = {}
        for path, document in documents.items():
            chosen = choose(document, asked, zone, times)
            if chosen.count or chosen.lines:
                plan.chosen[path] = chosen
        more = asked.with_more(
            plan.ids,
            {
                (facts.archive_path(path), section, key)
                for path, one in plan.chosen.items()
                if path.startswith(f"{facts.FOLDER}/") and not path.startswith(f"{facts.ARCHIVE}/")
                for section, key in one.facts
            },
        )
        if (more.ids, more.archived) == (asked.ids, asked.archived):
            break
        plan.asked = asked = more
    for path, chosen in plan.chosen.items():
        for operation in operations_of(documents[path], chosen, secrets.token_hex(16), now):
            draft.apply(operation)
        if is_blank(draft.document(path)):
            plan.blank.append(path)
    plan_summaries(draft, documents, plan.chosen)
    others = [path for path in states if path not in _WITHOUT_WORDS]
    plan.states = plan_state_without(draft, plan.chosen, asked, others, zone)
    if plan.chosen or plan.states:
        plan_tombstones(draft, plan.chosen, needle, now, plan.ids)
    return plan
