"""Tell what is new about a source, beside what memory holds. Pure.

A second run finds everything known, however long after the first: messages by session, role and time (whatever a
person has made of their text since), files by their lines, entries and facts by what they say. No list of what was
imported has to be kept for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import PurePosixPath
from typing import Any, Literal

from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.layers import curated, facts
from openclaw_memory.layers.curated import PLACES
from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.layers.parts import FOLDER
from openclaw_memory.layers.rooms import Workspace, format_of, room_of
from openclaw_memory.layers.tasks import ACTIVE, tasks_in
from openclaw_memory.markdown.curated import fold, one_line, parse_curated
from openclaw_memory.markdown.errors import UnwritableValueError
from openclaw_memory.markdown.frontmatter import split
from openclaw_memory.markdown.text import clean, decode, encode
from openclaw_memory.moving.found import Finding, FoundEntry, FoundFact, FoundFile, FoundMessage, FoundTask, Remark
from openclaw_memory.moving.held import Held, entries_of, key_of
from openclaw_memory.moving.known import PROMOTED, Mask, folded, holds, parts_of, unknown
from openclaw_memory.moving.naming import beside, day_file, is_conversation, store_path
from openclaw_memory.moving.plan import Conflict, Placement, Plan

ForgottenSince = Callable[[str], str | None]
"""Tells when a text was forgotten; None when it never was."""

_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Rules:
    """How a source is compared. `take_theirs`: the source's facts replace ours where both say something."""

    workspace: Workspace
    zone: tzinfo
    language: Literal["zh", "en"]
    mask: Mask
    forgotten: ForgottenSince
    take_theirs: bool = False


def compare(found: Finding, held: Held, rules: Rules) -> Plan:
    """Tell what importing a source would do."""
    return _Comparing(found, held, rules).plan()


class _Comparing:
    def __init__(self, found: Finding, held: Held, rules: Rules) -> None:
        self._found, self._held, self._rules = found, held, rules
        self._plan = Plan(found.format, problems=list(found.problems), left_out=list(found.left_out))
        self._entries: list[FoundEntry] = []
        self._own_entries: set[str] = set()
        """Folded texts of the entries that MEMORY.md will have when it is placed whole."""
        self._placed: set[str] = set()

    def plan(self) -> Plan:
        for file in self._found.files:
            self._file(file)
        self._messages([message for message in self._found.messages if message.document not in self._placed])
        self._curated([*self._entries, *self._found.entries])
        # Layers of which there is nothing are not told.
        self._plan.new, self._plan.known = +self._plan.new, +self._plan.known
        return self._plan

    # -- files --------------------------------------------------------------------------------------------------

    def _file(self, file: FoundFile) -> None:
        plan, path = self._plan, store_path(file, self._rules.workspace)
        if path is None:
            plan.problems.append(Remark(file.where, f"{file.path!r:.200} is no document of memory"))
            return
        if not file.ours:
            file, masked = self._masked(file)
        else:
            masked = 0
        room = room_of(path).name
        if is_conversation(path):
            if day_file(path) not in self._held.days:
                self._place(path, file, room, masked)
            return
        if file.path in PLACES and file.base == "workspace":
            if self._held.files.get(path) == file.data:
                plan.known[room] += self._count_in(path, file.data)
                return
            # Also where ours is blank: nothing is put in the place of a file that is there.
            if entries_of(self._held, self._rules.workspace.curated) is not None or path in self._held.files:
                self._entries += self._entries_in(file)
                return
            if self._place(path, file, room, masked):
                self._own_entries = folded(parse_curated(split(decode(file.data).text).body))
            return
        ours = self._held.files.get(path)
        if ours is None:
            self._place(path, file, room, masked)
        elif ours == file.data or holds(ours, file.data):
            plan.known[room] += self._count_in(path, file.data)
        elif room == "state":
            # What memory has counted and noted itself is not another memory's.
            plan.known[room] += 1
        elif room == "fact" and not path.startswith(facts.ARCHIVE):
            self._facts(path, file)
        elif path == ACTIVE:
            self._tasks(path, file)
        elif path.startswith(f"{self._rules.workspace.folder}/") and path.endswith(".md"):
            self._beside(path, file, room, masked, ours)
        else:
            plan.conflicts.append(Conflict(path, _shown(ours), _shown(file.data), "ours is kept", file.where))

    def _masked(self, file: FoundFile) -> tuple[FoundFile, int]:
        read = decode(file.data)
        if read.problem is not None:
            return file, 0
        text, count = self._rules.mask(read.text)
        return (replace(file, data=encode(text, read.encoding)), count) if count else (file, 0)

    def _place(self, path: str, file: FoundFile, room: str, masked: int) -> bool:
        """Plan to put a file where there is none, unless something of it was forgotten."""
        try:
            pieces = room_of(path).blocks(format_of(path).parse(path, file.data), self._rules.zone)
        except UnreadableDocumentError as error:
            if not file.ours:
                self._plan.problems.append(Remark(file.where, error.problem))
                return False
            # An export holds what could not be read as well.
            pieces = []
        for piece in pieces:
            if (since := self._rules.forgotten(piece.text)) is not None:
                if not is_conversation(path):
                    words = f"something in it was forgotten on {since}; take that out of the source, then import it"
                    self._plan.left_out.append(Remark(file.where, words))
                return False
        if any(placement.path == path for placement in self._plan.placements):
            self._plan.problems.append(Remark(file.where, f"{path} is in the source twice; the first counts"))
            return False
        count = self._count_in(path, file.data)
        self._plan.placements.append(Placement(path, file.data, room, file.where, count, masked))
        self._placed.add(path)
        self._plan.new[room] += count
        return True

    def _count_in(self, path: str, data: bytes) -> int:
        """Count what a file counts for, whether it is placed or known: what is compared one by one in it, else 1."""
        room = room_of(path)
        try:
            document = format_of(path).parse(path, data)
        except UnreadableDocumentError:
            return 1
        if room.name == "conversation":
            return len(room.blocks(document, self._rules.zone))
        if room.name == "memory":
            return len(curated.entries_in(document))
        if room.name == "fact" and not path.startswith(facts.ARCHIVE):
            return len(facts.facts_in(document))
        return len(tasks_in(document, self._rules.zone)) if path == ACTIVE else 1

    def _beside(self, path: str, file: FoundFile, room: str, masked: int, ours: bytes) -> None:
        other = beside(path, file.data)
        if other in self._held.files:
            self._plan.known[room] += 1
        elif self._place(other, file, room, masked):
            self._plan.conflicts.append(Conflict(path, _shown(ours), _shown(file.data), "both are kept", file.where))

    # -- messages -----------------------------------------------------------------------------------------------

    def _messages(self, messages: Iterable[FoundMessage]) -> None:
        by_key: dict[Any, list[FoundMessage]] = defaultdict(list)
        ids: set[str] = set()
        closed = {day_file(path): words for path, words in self._held.problems.items() if is_conversation(path)}
        for message in messages:
            day = f"{FOLDER}/{message.time.astimezone(self._rules.zone).date().isoformat()}.md"
            if day in closed:
                # Nothing can be added to a file that can't be read, nor compared with it.
                self._plan.problems.append(Remark(message.where, closed[day]))
                continue
            if message.id is not None and (message.id in self._held.ids or message.id in ids):
                self._plan.known["conversation"] += 1
                continue
            if message.id is not None:
                ids.add(message.id)
            for part in parts_of(message):
                by_key[key_of(part.session, part.role, part.time)].append(part)
        new = []
        for key, those in by_key.items():
            fresh = unknown(those, self._held.said.get(key, ()), self._rules.mask)
            self._plan.known["conversation"] += len(those) - len(fresh)
            new += fresh
        self._plan.messages = sorted(new, key=lambda message: message.time)
        self._plan.new["conversation"] += len(new)

    # -- entries, facts, tasks ----------------------------------------------------------------------------------

    def _entries_in(self, file: FoundFile) -> list[FoundEntry]:
        text = decode(file.data).text
        body = split(text).body
        offset = text.count("\n") - body.count("\n")
        return [
            FoundEntry(
                PROMOTED.sub("", entry.text), entry.section or None, f"{file.where}, line {offset + entry.start_line}"
            )
            for entry in parse_curated(body)
        ]

    def _curated(self, entries: Sequence[FoundEntry]) -> None:
        there = entries_of(self._held, self._rules.workspace.curated)
        known = folded(there[1]) if there is not None else set(self._own_entries)
        for entry in entries:
            text = self._rules.mask(clean(entry.text)[0])[0]
            if fold(text) in known:
                self._plan.known["memory"] += 1
                continue
            try:
                line = one_line(text)
            except UnwritableValueError as error:
                self._plan.problems.append(Remark(entry.where, error.reason))
                continue
            if (since := self._rules.forgotten(line)) is not None:
                self._plan.left_out.append(Remark(entry.where, f"it was forgotten on {since}"))
                continue
            known |= {fold(text), fold(line)}
            self._plan.entries.append(replace(entry, text=line))
            self._plan.new["memory"] += 1

    def _facts(self, path: str, file: FoundFile) -> None:
        theirs, ours = self._parsed(path, file), self._held.documents.get(path)
        if theirs is None or ours is None:
            self._plan.problems.append(Remark(file.where, f"{path} can't be read, so its facts can't be compared"))
            return
        topic = PurePosixPath(path).stem
        current = {_fact_name(fact): fact.value for fact in facts.facts_in(ours)}
        for fact in facts.facts_in(theirs):
            where = f"{file.where}: {fact.section}/{fact.key}"
            value = current.get(_fact_name(fact))
            if value == fact.value:
                self._plan.known["fact"] += 1
                continue
            if value is not None:
                outcome: Literal["theirs is taken", "ours is kept"] = (
                    "theirs is taken" if self._rules.take_theirs else "ours is kept"
                )
                address = f"{path}#{fact.section}/{fact.key}"
                self._plan.conflicts.append(Conflict(address, value, fact.value, outcome, where))
            if value is None or self._rules.take_theirs:
                self._plan.facts.append(FoundFact(topic, fact.section, fact.key, fact.value, where))
                self._plan.new["fact"] += 1

    def _tasks(self, path: str, file: FoundFile) -> None:
        theirs, ours = self._parsed(path, file), self._held.documents.get(path)
        if theirs is None or ours is None:
            self._plan.problems.append(Remark(file.where, f"{path} can't be read, so its tasks can't be compared"))
            return
        known = {task.title for task in tasks_in(ours, self._rules.zone)}
        for task in tasks_in(theirs, self._rules.zone):
            where = f"{file.where}: {task.id}"
            if task.title in known:
                self._plan.known["task"] += 1
            elif task.state not in ("pending", "in_progress"):
                self._plan.left_out.append(Remark(where, f"a task that is {task.state}: {task.title:.100}"))
            else:
                known.add(task.title)
                self._plan.tasks.append(
                    FoundTask(
                        task.title,
                        "in_progress" if task.state == "in_progress" else "pending",
                        task.priority,
                        None if task.due is None else task.due.isoformat(),
                        task.description,
                        tuple((step.text, step.done) for step in task.steps),
                        where,
                    )
                )
                self._plan.new["task"] += 1

    def _parsed(self, path: str, file: FoundFile) -> MarkdownDocument | None:
        try:
            document: MarkdownDocument = format_of(path).parse(path, file.data)
        except UnreadableDocumentError:
            return None
        return document


def _fact_name(fact: Any) -> tuple[str, str]:
    return fold(fact.section), fold(fact.key)


def _shown(data: bytes) -> str:
    text = " ".join(decode(data).text.split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
