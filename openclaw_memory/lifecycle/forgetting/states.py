"""What the state says of things that go: keys, addresses, texts that were kept. Pure.

Keys and addresses go with what they name; a digest may stay, since nothing can be read from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from datetime import tzinfo
from typing import Any

from openclaw_memory.layers.cutting import cut_lines, cuts_of
from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.layers.facts import ARCHIVE
from openclaw_memory.layers.revisions import REVISIONS
from openclaw_memory.layers.state import CURATED, FACT_TIMES, IDEMPOTENCY, StateDocument, plan_state
from openclaw_memory.layers.summary_edits import digest_of
from openclaw_memory.layers.summary_records import SUMMARIES, Record, plan_record, record_in
from openclaw_memory.lifecycle.forgetting.choosing import Chosen, choose
from openclaw_memory.lifecycle.forgetting.texts import folded, strings
from openclaw_memory.lifecycle.forgetting.wanted import Wanted
from openclaw_memory.markdown.frontmatter import split
from openclaw_memory.storage.documents import Draft

_PATH = re.compile(r"[^\s#]+\.(?:md|jsonl|json)")
_NOBODYS = re.compile(rf"{_PATH.pattern}|\d{{4}}-\d\d-\d\d(?:[T ][\d:.+-]+Z?)?|[0-9a-f]{{8,64}}")
"""What no person would call a text: a path, a time, a digest."""

_SALT = "00" * 16
"""Nothing that it names leaves this process."""


def plan_state_without(
    draft: Draft, chosen: Mapping[str, Chosen], wanted: Wanted, states: Collection[str], zone: tzinfo
) -> dict[str, int]:
    """Take out of the state what speaks of what goes; tells by document how many entries said it themselves."""
    counts: dict[str, int] = {}
    keys = {key for one in chosen.values() for key in one.keys}
    for path in states:
        document: StateDocument = draft.document(path)
        gone: list[str] = []
        left: dict[str, Any] = {}
        told = 0
        says = saying(wanted.says)
        for name, value in document.values.items():
            if says(name):
                gone.append(name)
                told += 1
            elif _is_about(path, name, value, chosen, keys, wanted):
                gone.append(name)
            elif path == REVISIONS:
                if (new := _revision(value, chosen, wanted, zone)) != value:
                    told += 1
                    left[name] = new
            elif says_any(value, says):
                told += 1
                if (new := pruned(value, says)) is None:
                    gone.append(name)
                else:
                    left[name] = new
        if gone or left:
            plan_state(draft, path, left, tuple(gone))
        if told:
            counts[path] = told
    return counts


def plan_summaries(draft: Draft, before: Mapping[str, Any], chosen: Mapping[str, Chosen]) -> None:
    """Have summaries that we wrote, and that lost something, made anew by the next heartbeat.

    A person's text in one counts as theirs, as ever. Parameters: `before`, the documents as they were.
    """
    values = draft.document(SUMMARIES).values
    for path in chosen:
        record = record_in(values, path)
        if record is None or record.digest is None or record.digest != digest_of(before[path].body):
            continue
        plan_record(draft, path, Record(digest_of(draft.document(path).body), record.by, ""))


def _is_about(
    path: str, name: str, value: Any, chosen: Mapping[str, Chosen], keys: Collection[str], wanted: Wanted
) -> bool:
    """Tell whether an entry is about something that goes."""
    if path == FACT_TIMES:
        place, _, fact = name.partition("#")
        one = chosen.get(place)
        return (
            one is not None
            and not place.startswith(f"{ARCHIVE}/")
            and any(fact == f"{section}/{key}" for section, key in one.facts)
        )
    if path == CURATED:
        return any(name in one.digests for one in chosen.values())
    if path == REVISIONS:
        return isinstance(value, dict) and wanted.is_all_of(str(value.get("path")))
    if path == SUMMARIES:
        return wanted.is_all_of(name)
    if wanted.session is not None and wanted.session == (name.partition(" ")[0] if path == IDEMPOTENCY else name):
        return True
    return bool(keys) and strings(value, keys.__contains__)


def _revision(value: Any, chosen: Mapping[str, Chosen], wanted: Wanted, zone: tzinfo) -> Any:
    """Give a kept text of MEMORY.md, and what was changed then, without what goes."""
    if not isinstance(value, dict) or not isinstance(value.get("before"), str):
        return value
    path = str(value.get("path"))
    document = MarkdownDocument(path, split(value["before"]))
    found = choose(document, wanted, zone, {})
    body = cut_lines(document.body, cuts_of(document.body, found.runs, _SALT), _SALT) if found.runs else document.body
    texts = {folded(text) for one in (found, *([chosen[path]] if path in chosen else [])) for text in one.texts}
    kept = {
        name: [line for line in value.get(name, ()) if not _goes(line, wanted, texts)] for name in ("added", "removed")
    }
    return {**value, "before": document.front.head + body, **kept}


def _goes(line: Any, wanted: Wanted, texts: Collection[str]) -> bool:
    return strings(line, wanted.says) or (isinstance(line, list) and bool(line) and folded(str(line[-1])) in texts)


def saying(says: Callable[[str], bool]) -> Callable[[str], bool]:
    """Ask only of what may be somebody's words: not of times, digests and paths, and of an address only its end."""

    def asked(text: str) -> bool:
        path, hash_, end = text.partition("#")
        said = end if hash_ and _PATH.fullmatch(path) else text
        return bool(said) and _NOBODYS.fullmatch(said) is None and says(said)

    return asked


def says_any(value: Any, says: Callable[[str], bool]) -> bool:
    """Tell whether any text in a value is such a one. The names of its fields are ours."""
    if isinstance(value, dict):
        return any(says_any(inner, says) for inner in value.values())
    if isinstance(value, list | tuple):
        return any(says_any(inner, says) for inner in value)
    return isinstance(value, str) and says(value)


def pruned(value: Any, says: Callable[[str], bool]) -> Any:
    """Give a value without the smallest parts of it that say something; None when nothing is left."""
    if isinstance(value, str):
        return None if says(value) else value
    if isinstance(value, dict):
        kept = {name: pruned(inner, says) for name, inner in value.items()}
        return {name: inner for name, inner in kept.items() if inner is not None or value[name] is None}
    if isinstance(value, list):
        return [left for inner in value if (left := pruned(inner, says)) is not None or inner is None]
    return value


def pruned_state(values: Mapping[str, Any], says: Callable[[str], bool]) -> tuple[dict[str, Any], int]:
    """Give a state without what says something, and how many entries that changed."""
    says = saying(says)
    kept: dict[str, Any] = {}
    changed = 0
    for name, value in values.items():
        left = None if says(name) else pruned(value, says) if says_any(value, says) else value
        changed += left is not value
        if left is not None or value is None:
            kept[name] = left
    return kept, changed
