"""Plan one item of an event on a draft, by its kind. Pure."""

from __future__ import annotations

from datetime import datetime

from contracts import (
    CuratedContent,
    FactContent,
    MemoryWrite,
    MessageContent,
    MessagesContent,
    NoteContent,
    SummaryContent,
    TaskContent,
    TaskStateChange,
    UpdateFact,
)
from openclaw_memory.config import MemoryConfig
from openclaw_memory.errors import Refused
from openclaw_memory.events import Change
from openclaw_memory.layers import facts, notes, rotation, summary_records, tasks
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.storage.documents import Draft
from openclaw_memory.workspace import workspace_of
from openclaw_memory.writing.entries import plan_entry
from openclaw_memory.writing.needs import Needs


def plan_item(
    draft: Draft, needs: Needs, number: int, item: Change, now: datetime, config: MemoryConfig
) -> tuple[list[str], str | None]:
    """Plan one item; gives its addresses and what is to be said about it.

    Parameters: `draft`, with the documents that `needs` names; `number` of the item in its event; `now`, on the user's
    clock; `config`.

    Raises: `Refused` with the field and the reason, `NotLoadedError` when the draft lacks a document.
    """
    match item:
        case UpdateFact() as fact:
            return _plan_fact(draft, needs, fact, now, config.language)
        case TaskStateChange(task_id=task_id, new_state=new_state, reason=reason):
            key, changed, waiting = tasks.plan_state_change(
                draft,
                needs.archived_tasks,
                task_id,
                new_state,
                reason,
                now=now,
                zone=config.zone,
                language=config.language,
                keep_completed_days=config.tasks.keep_completed_days,
            )
            return [key], waiting if changed else f"{task_id} is {new_state} already"
        case MemoryWrite(content=MessageContent() | MessagesContent()):
            said = needs.said[number]
            keys = rotation.plan_messages(draft, said, now=now, language=config.language, limits=needs.limits)
            return keys, needs.copies.plan(draft, item.session_id, [one.message for one in said])
        case MemoryWrite(content=FactContent() as fact):
            return _plan_fact(draft, needs, fact, now, config.language)
        case MemoryWrite(content=NoteContent() as note):
            noted = notes.plan_note(
                draft, note.text, note.title, now=now, zone=config.zone, folder=workspace_of(config).notes
            )
            return [noted.key], None if noted.changed else "this note is known already"
        case MemoryWrite(content=CuratedContent() as entry):
            return plan_entry(draft, needs, entry, now, config.language)
        case MemoryWrite(content=TaskContent(task_id=None) as task):
            return [
                tasks.plan_new_task(
                    draft, needs.archived_tasks, task, now=now, zone=config.zone, language=config.language
                )
            ], None
        case MemoryWrite(content=TaskContent() as task):
            key, changed = tasks.plan_change(
                draft, needs.archived_tasks, task, now=now, zone=config.zone, language=config.language
            )
            return [key], None if changed else f"{task.task_id} says so already"
        case MemoryWrite(content=SummaryContent() as summary):
            given = summary_records.plan_given(draft, summary, item.session_id, now=now, language=config.language)
            if not given.changed:
                return [given.key], "the summary says so already"
            return [given.key], "it stands below what a person wrote" if given.beside else None
    # A batch is taken apart before.
    raise Refused("type", f"{item.type!r} can't be an item of its own")


def _plan_fact(
    draft: Draft, needs: Needs, fact: UpdateFact | FactContent, now: datetime, language: Language
) -> tuple[list[str], str | None]:
    plan = facts.plan_fact(
        draft,
        needs.known_facts,
        section=fact.section,
        key=fact.key,
        value=fact.value,
        topic=fact.topic,
        now=now,
        language=language,
    )
    return [plan.key], None if plan.changed else f"{fact.section}/{fact.key} is known already"
