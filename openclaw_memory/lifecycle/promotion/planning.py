"""Which candidates go in, and which entries promoted earlier go out for the budget. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from openclaw_memory.config import PromotionConfig
from openclaw_memory.layers.recalls import Recall, name_of
from openclaw_memory.layers.revisions import Change, Line
from openclaw_memory.lifecycle.promotion.likeness import Known, alike
from openclaw_memory.markdown.curated import Entry

if TYPE_CHECKING:
    from openclaw_memory.lifecycle.promotion.scoring import Candidate

MOST_LOST = 0.25
"""Share of the entries that one run may take out."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a candidate, and why, in words for a person."""

    candidate: Candidate
    promoted: bool
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would do: every candidate with its verdict, best first, and the change of MEMORY.md.

    `tokens` is what MEMORY.md would have then.
    """

    verdicts: tuple[Verdict, ...] = ()
    change: Change = field(default_factory=Change)
    tokens: int = 0


def plan(
    candidates: Sequence[Candidate],
    entries: Sequence[Entry],
    promoted: Mapping[str, object],
    recalls: Mapping[str, Recall],
    rules: PromotionConfig,
    *,
    tokens: int,
    budget: int,
    count: Callable[[str], int],
) -> Plan:
    """Decide what goes in and what goes out.

    What is loaded of MEMORY.md must stay within its budget. For a better candidate an entry that was promoted earlier
    makes room, first the one whose piece was recalled longest ago; at most a quarter of all entries, and none that
    anybody else wrote or asked for. Of candidates that say the same the best one goes in.

    Parameters: `promoted`, by digest the entries that promotion wrote; `tokens` of MEMORY.md now; `budget`, tokens;
    `count`, which counts the tokens of a line.
    """
    left = int(MOST_LOST * len(entries))
    old = sorted((entry for entry in entries if entry.digest in promoted), key=lambda one: _worth(one, recalls))
    verdicts: list[Verdict] = []
    added: list[Line] = []
    removed: list[Entry] = []
    for one in sorted(candidates, key=lambda one: (not one.passes, -one.score, one.text)):
        failed = [gate for gate in one.gates if not gate.passed]
        if failed:
            why = "; ".join(f"{gate.name}: {gate.has}, needs {gate.needs}" for gate in failed)
            verdicts.append(Verdict(one, False, why))
            continue
        if (like := alike(one.text, Known([line.text for line in added]))) is not None:
            verdicts.append(Verdict(one, False, f"like {like!r}, which goes in with this run"))
            continue
        if len(added) >= rules.most_entries:
            verdicts.append(
                Verdict(one, False, f"{rules.most_entries} entries are added in one run; the next takes it")
            )
            continue
        cost = count(f"- {one.text}\n")
        room = budget - tokens - cost
        going: list[Entry] = []
        while room < 0 and len(removed) + len(going) < left and len(going) < len(old):
            entry = old[len(going)]
            going.append(entry)
            room += count(f"- {entry.text}\n")
        if room < 0:
            verdicts.append(Verdict(one, False, f"MEMORY.md has {tokens:,} of {budget:,} tokens, and nothing may go"))
            continue
        old = old[len(going) :]
        removed += going
        tokens = budget - room
        added.append(Line(one.section, one.text))
        verdicts.append(Verdict(one, True, f"score {one.score:.2f}"))
    return Plan(tuple(verdicts), Change(tuple(added), tuple(removed)), tokens)


def _worth(entry: Entry, recalls: Mapping[str, Recall]) -> tuple[float, int]:
    recall = recalls.get(name_of(entry.text))
    return (0.0, 0) if recall is None else (recall.last.timestamp(), recall.count)
