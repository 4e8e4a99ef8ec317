"""What becomes of tasks as time passes: the table of seed 000 section 2.3, as rules and as plans.

| completed for more than 7 days | from active.md to completed.md | with each change of a state |
| completed for more than 30 days | from completed.md into the month's summary | daily |
| pending for more than 14 days | marked as expired, ranked lower | daily |
| pending for more than 30 days | into archived/ | weekly |

Each plan moves one task: a file of many takes some milliseconds for each, and others want to be served in between.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any

from openclaw_memory.errors import Refused
from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.layers.state import TASKS
from openclaw_memory.layers.summaries import path_of
from openclaw_memory.layers.summary_edits import digest_of, more_line
from openclaw_memory.layers.summary_records import SUMMARIES, Record, plan_record, record_in
from openclaw_memory.layers.tasks import (
    ACTIVE,
    COMPLETED,
    archive_path,
    doubled,
    month_of_archive,
    pending_since,
    plan_edit,
    plan_move,
    tasks_in,
    told_of_doubled,
)
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.summaries import format_summary
from openclaw_memory.markdown.task_blocks import Task, TaskBlock
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.operations import Operation

EXPIRES_AFTER = timedelta(days=14)
ARCHIVED_AFTER = timedelta(days=30)
IN_SUMMARY_AFTER = timedelta(days=30)

SECTION_SHARE = 0.3
"""Share of a month's summary that is kept free for completed tasks; the archive holds them all."""

_AROUND_TOKENS = 60
"""What heading and the line that counts the rest may take of that."""


@dataclass(slots=True)
class Upkeep:
    """What was planned: addresses of what changed, and by address what could not be changed or moved, in words."""

    keys: list[str] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)

    def edit(
        self, draft: Draft, path: str, task: TaskBlock, changes: Mapping[str, Any], now: datetime, language: str
    ) -> bool:
        """Change a task; one that would not be read back stays as it is, and is told."""
        try:
            if plan_edit(draft, path, task, changes, now, language):
                return True
            reason = "nothing of it changes"
        except Refused as refusal:
            reason = f"{refusal.field}: {refusal.reason}"
        self.problems[f"{path}#{task.id}"] = f"{path}#{task.id} can't be changed: {reason}"
        return False

    def move(
        self, draft: Draft, task: TaskBlock, source: str, target: str, now: datetime, zone: tzinfo, language: str
    ) -> None:
        """Move a task; one that would not be read back from there stays where it is, and is told."""
        try:
            plan_move(draft, task.id, source, target, now, zone, language)
        except Refused as refusal:
            self.problems[f"{source}#{task.id}"] = f"{source}#{task.id} can't be moved to {target}: {refusal.reason}"
        else:
            self.keys.append(f"{target}#{task.id}")

    def and_also(self, other: Upkeep) -> Upkeep:
        """Put two together."""
        return Upkeep([*self.keys, *other.keys], {**self.problems, **other.problems})


def plan_doubled(draft: Draft, paths: Iterable[str], zone: tzinfo) -> Upkeep:
    """Tell of ids that several tasks of a file have: an id is all that an operation knows them by.

    Parameters: `paths`, of files that the draft holds.
    """
    found = [(path, task_id) for path in paths for task_id in sorted(doubled(tasks_in(draft.document(path), zone)))]
    return Upkeep(problems={f"{path}#{task_id}": told_of_doubled(path, task_id) for path, task_id in found})


def _free(draft: Draft, path: str, zone: tzinfo, stuck: Collection[str]) -> list[TaskBlock]:
    """Give the tasks of a file, but for those that are stuck."""
    return [task for task in tasks_in(draft.document(path), zone) if f"{path}#{task.id}" not in stuck]


def waiting_since(task: Task, pending: Mapping[str, str], zone: tzinfo) -> datetime | None:
    """Tell since when a task waits; None when it does not tell.

    A task that is due later waits from then on: what is meant for next month is not overdue in a fortnight.
    """
    since = task.created
    try:
        reset = datetime.fromisoformat(pending[task.id]) if task.id in pending else None
    except (TypeError, ValueError):
        reset = None
    if reset is not None and reset.tzinfo is not None:
        since = reset
    if since is None:
        return None
    due = task.due
    if isinstance(due, date) and not isinstance(due, datetime):
        due = datetime.combine(due, time.max, zone)
    return max(since, due) if due is not None else since


def expired(tasks: Iterable[TaskBlock], pending: Mapping[str, str], now: datetime, zone: tzinfo) -> list[TaskBlock]:
    """Choose the tasks that have been pending for more than 14 days. Pure."""
    return [
        task
        for task in tasks
        if task.state == "pending"
        and (since := waiting_since(task, pending, zone)) is not None
        and now - since > EXPIRES_AFTER
    ]


def to_archive(tasks: Iterable[TaskBlock], pending: Mapping[str, str], now: datetime, zone: tzinfo) -> list[TaskBlock]:
    """Choose the tasks that have been pending, or expired, for more than 30 days. Pure."""
    return [
        task
        for task in tasks
        if task.state in ("pending", "expired")
        and (since := waiting_since(task, pending, zone)) is not None
        and now - since > ARCHIVED_AFTER
    ]


def to_summary(tasks: Iterable[TaskBlock], now: datetime) -> list[TaskBlock]:
    """Choose the tasks that have been completed for more than 30 days. Pure."""
    return [
        task
        for task in tasks
        if task.state == "completed" and task.completed is not None and now - task.completed > IN_SUMMARY_AFTER
    ]


def plan_dates(draft: Draft, now: datetime, zone: tzinfo, language: Language, stuck: Collection[str]) -> Upkeep:
    """Date tasks that a person wrote without a time: their days are counted from now. Tells what can't be dated.

    Parameters: `stuck`, addresses of tasks that stay as they are.
    """
    local, done = now.astimezone(zone), Upkeep()
    for path, state, name in ((ACTIVE, "pending", "created"), (COMPLETED, "completed", "completed")):
        for task in _free(draft, path, zone, stuck):
            if task.state != state or getattr(task, name) is not None:
                continue
            if name in task.unread:
                # A person's words are not replaced by a guess.
                address = f"{path}#{task.id}"
                done.problems[address] = f"{address}: {name} is no time; write it as {local:%Y-%m-%d %H:%M}"
            else:
                done.edit(draft, path, task, {name: local}, now, language)
    return done


def plan_expiry(draft: Draft, now: datetime, zone: tzinfo, language: Language, stuck: Collection[str]) -> Upkeep:
    """Mark the first task that has been pending for too long as expired.

    Parameters: `stuck`, addresses of tasks that stay as they are.
    """
    pending, done = pending_since(draft.document(TASKS)), Upkeep()
    for task in expired(_free(draft, ACTIVE, zone, stuck), pending, now, zone)[:1]:
        if done.edit(draft, ACTIVE, task, {"state": "expired"}, now, language):
            done.keys.append(f"{ACTIVE}#{task.id}")
    return done


def plan_archive(draft: Draft, now: datetime, zone: tzinfo, language: Language, stuck: Collection[str]) -> Upkeep:
    """Move the first task that has been pending for very long into the archive of this month.

    Parameters: `stuck`, addresses of tasks that stay as they are.
    """
    pending = pending_since(draft.document(TASKS))
    target = archive_path(now.astimezone(zone).date())
    done = Upkeep()
    for task in to_archive(_free(draft, ACTIVE, zone, stuck), pending, now, zone)[:1]:
        if task.state == "expired" or done.edit(draft, ACTIVE, task, {"state": "expired"}, now, language):
            done.move(draft, task, ACTIVE, target, now, zone, language)
    return done


def months_of(tasks: Iterable[TaskBlock], zone: tzinfo) -> dict[date, list[TaskBlock]]:
    """Group completed tasks by the first day of the month in which they were completed."""
    months: dict[date, list[TaskBlock]] = {}
    for task in tasks:
        assert task.completed is not None
        months.setdefault(task.completed.astimezone(zone).date().replace(day=1), []).append(task)
    return dict(sorted(months.items()))


def plan_into_summaries(
    draft: Draft,
    now: datetime,
    zone: tzinfo,
    language: Language,
    count: Callable[[str], int],
    room: int,
    stuck: Collection[str],
) -> Upkeep:
    """Move the first task that was completed long ago out of `completed.md`.

    A line of it goes into the summary of the month in which it was completed, all of it into the month's archive.

    Parameters: `draft`, with those of `documents_for_months` loaded; `count`, of tokens; `room`, tokens that
    completed tasks may take of a month's summary; `stuck`, addresses of tasks that stay as they are.
    """
    done = Upkeep()
    old = to_summary(_free(draft, COMPLETED, zone, stuck), now)
    for month, tasks in list(months_of(old, zone).items())[:1]:
        done.move(draft, tasks[0], COMPLETED, archive_path(month), now, zone, language)
        if done.keys:
            _plan_section(draft, month, now.astimezone(zone), zone, language, count, room)
            done.keys.append(path_of("monthly", month))
    return done


def documents_for_months(completed: MarkdownDocument, now: datetime, zone: tzinfo) -> list[str]:
    """List the documents that moving tasks into summaries takes."""
    months = months_of(to_summary(tasks_in(completed, zone), now), zone)
    paths = [path for month in months for path in (archive_path(month), path_of("monthly", month))]
    return [*paths, SUMMARIES] if paths else []


def room_for_tasks(monthly_tokens: int) -> int:
    """Give the tokens of a month's summary that are kept free for completed tasks."""
    return int(monthly_tokens * SECTION_SHARE)


def _plan_section(
    draft: Draft, month: date, now: datetime, zone: tzinfo, language: Language, count: Callable[[str], int], room: int
) -> None:
    """Tell in a month's summary which tasks were completed in it, as far as there is room."""
    archive, path = archive_path(month), path_of("monthly", month)
    done = [task for task in tasks_in(draft.document(archive), zone) if task.state == "completed"]
    lines: list[list[str]] = []
    left = room - _AROUND_TOKENS
    for task in done:
        line = _line(task, zone)
        left -= count(line) + 1
        if left < 0:
            break
        lines.append([task.id, line])
    more = more_line(len(done) - len(lines), archive, language) if len(lines) < len(done) else None
    old = digest_of(draft.document(path).body)
    record = record_in(draft.document(SUMMARIES).values, path)
    at = now.isoformat(timespec="seconds")
    head = format_summary("monthly", month_of_archive(archive), "", generated=at, sources=[archive], language=language)
    draft.apply(Operation(path, "tasks", {"lines": lines, "more": more, "head": head, "at": at, "language": language}))
    if record is None and old is None:
        plan_record(draft, path, Record(digest_of(draft.document(path).body), "rules", ""))
    elif record is not None and record.digest == old:
        ours = Record(digest_of(draft.document(path).body), record.by, record.content, record.stamps)
        plan_record(draft, path, ours)


def _line(task: TaskBlock, zone: tzinfo) -> str:
    when = f" ({task.completed.astimezone(zone).date().isoformat()})" if task.completed is not None else ""
    return f"- [x] [{task.id}] {' '.join(task.title.split())}{when}"
