"""The current branch of a session: from its newest entry back to the beginning, or to its last compaction.

Lines come newest first, since a parent always stands before its children. So the same walk serves a whole file and the
end of a large one, of which no more is read than is wanted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from openclaw_memory.transcripts.entries import Entry, Parent, read_entry
from openclaw_memory.transcripts.lines import Line
from openclaw_memory.transcripts.values import Problem, SessionMessage, Transcript


def current_branch(lines: Iterable[Line], *, most: int | None = None, compacted: bool = True) -> Transcript:
    """Read the current branch.

    Parameters: `lines`, newest first; `most`, how many messages are enough (a tool's result never comes without the
    message before it that called for it, so there may be some more); `compacted`, whether the summary of a compaction
    stands for what was before it, as in the context of the model; else all that was said comes, without summaries.
    """
    messages: list[SessionMessage] = []
    problems: list[Problem] = []
    entries = _entries(lines, problems)
    complete = _collect(_branch(entries, problems), messages, most, compacted)
    if most is None:
        # What is beyond the branch says nothing here; whether it can be read is told all the same.
        for _ in entries:
            pass
    messages.reverse()
    problems.sort(key=lambda problem: problem.offset)
    return Transcript(tuple(messages), tuple(problems), complete)


def _entries(lines: Iterable[Line], problems: list[Problem]) -> Iterator[tuple[Line, Entry]]:
    """Yield what lines stand for; what is not understood is noted."""
    for line in lines:
        entry = read_entry(line)
        if isinstance(entry, str):
            problems.append(Problem(line.offset, entry))
        elif entry is not None:
            yield line, entry


def _branch(entries: Iterator[tuple[Line, Entry]], problems: list[Problem]) -> Iterator[Entry]:
    """Yield the entries of the current branch, from parent to parent."""
    wanted: str | Parent = Parent.PREVIOUS
    passed: list[tuple[Line, Entry]] = []
    for step in entries:
        entry = step[1]
        if wanted not in (Parent.PREVIOUS, entry.id):
            passed.append(step)
            continue
        passed = []
        yield entry
        if entry.parent is None:
            return
        wanted = entry.parent
    if passed:
        yield from _mended(passed, wanted, problems)


def _mended(passed: Sequence[tuple[Line, Entry]], wanted: str | Parent, problems: list[Problem]) -> Iterator[Entry]:
    """Go on where a parent is nowhere before, since its line was damaged: with the line before.

    Parameters: `passed`, the entries that are left, newest first; `wanted`, the parent that is none of them.
    """
    places: dict[str, list[int]] = {}
    for place, (_, entry) in enumerate(passed):
        places.setdefault(entry.id, []).append(place)
    place = 0
    problems.append(_gap(passed[0][0], wanted))
    while place < len(passed):
        line, entry = passed[place]
        yield entry
        if entry.parent is None:
            return
        place += 1
        if isinstance(entry.parent, str):
            known = places.get(entry.parent, [])
            at = bisect_right(known, place - 1)
            if at < len(known):
                place = known[at]
            else:
                problems.append(_gap(line, entry.parent))


def _gap(line: Line, parent: str | Parent) -> Problem:
    return Problem(line.offset, f"the entry {parent!r} that a later one follows is not in the file")


def _collect(branch: Iterator[Entry], messages: list[SessionMessage], most: int | None, compacted: bool) -> bool:
    """Gather what the entries of a branch say, newest first; tells whether its beginning was reached."""
    for entry in branch:
        if not entry.compacts:
            messages += reversed(entry.messages)
        elif compacted:
            messages += [*_kept(branch, entry.first_kept), *entry.messages]
            return True
        if most is not None and len(messages) >= most and messages[-1].role != "tool":
            return False
    return True


def _kept(branch: Iterator[Entry], first_kept: str | None) -> list[SessionMessage]:
    """Give what a compaction has left as it was, newest first; nothing where the first of it is not there."""
    kept: list[SessionMessage] = []
    for entry in branch if first_kept is not None else ():
        kept += [] if entry.compacts else reversed(entry.messages)
        if entry.id == first_kept:
            return kept
    return []
