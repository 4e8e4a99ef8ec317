"""The tools: what each is called, what it takes, and which event it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from contracts import (
    BatchContent,
    CuratedContent,
    Forget,
    MemoryGet,
    MemoryRead,
    MemorySearch,
    MemoryWrite,
    TaskContent,
    TaskStateChange,
    UpdateFact,
)
from openclaw_memory.getting import MAX_CHARS, MAX_LINES
from openclaw_memory.mcp import answers
from openclaw_memory.mcp.answers import Answer
from openclaw_memory.mcp.arguments import (
    Arguments,
    FactArguments,
    ForgetArguments,
    GetArguments,
    NoArguments,
    RememberArguments,
    SearchArguments,
    TaskArguments,
    read_arguments,
)
from openclaw_memory.mcp.caller import Ask, Caller
from openclaw_memory.mcp.errors import CallRefusedError

TASK_TOKENS = 1_000_000
"""Budget of the context that the tasks are taken from, in tokens: all of them are wanted."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `call` turns arguments into an event and its reply into an answer.

    `reads`: it changes nothing; `destroys`: what it takes away can't be had back; `repeats`: a second call with the
    same arguments changes nothing more.
    """

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    call: Callable[[Any, Caller, Ask], Awaitable[Answer]]
    reads: bool = False
    destroys: bool = False
    repeats: bool = True


async def call_tool(tool: Tool, given: Mapping[str, Any] | None, caller: Caller, ask: Ask) -> Answer:
    """Do a call. What is refused is an answer too, which the model can learn from."""
    try:
        return await tool.call(read_arguments(tool.arguments, given), caller, ask)
    except CallRefusedError as refusal:
        return Answer(str(refusal), is_error=True)


async def _search(given: SearchArguments, caller: Caller, ask: Ask) -> Answer:
    asked = MemorySearch(
        query=given.query,
        session_id=caller.session_id,
        session_kind=caller.session_kind,
        max_results=given.max_results,
        min_score=given.min_score,
    )
    return answers.of_results(await ask(asked))


async def _get(given: GetArguments, caller: Caller, ask: Ask) -> Answer:
    asked = MemoryGet(path=given.path, from_=given.from_, lines=given.lines, session_kind=caller.session_kind)
    return answers.of_document(await ask(asked), given.from_ or 1)


async def _remember(given: RememberArguments, caller: Caller, ask: Ask) -> Answer:
    content = CuratedContent(text=given.text, section=given.section)
    return answers.of_written(await ask(_write("memory", content, caller)))


async def _update_fact(given: FactArguments, caller: Caller, ask: Ask) -> Answer:
    change = UpdateFact(
        section=given.section,
        key=given.key,
        value=given.value,
        topic=given.topic,
        session_id=caller.session_id,
        session_kind=caller.session_kind,
        origin="agent",
    )
    return answers.of_written(await ask(change))


async def _task_list(given: NoArguments, caller: Caller, ask: Ask) -> Answer:
    context = await ask(
        MemoryRead(query="", session_id=caller.session_id, session_kind=caller.session_kind, max_tokens=TASK_TOKENS)
    )
    return answers.of_tasks(context.tasks, context.notice if context.degraded else None)


async def _task_update(given: TaskArguments, caller: Caller, ask: Ask) -> Answer:
    about = given.model_dump(include={"title", "description", "priority", "due"}, exclude_none=True)
    if given.reason is not None and given.new_state is None:
        raise CallRefusedError("reason: goes with newState, which is missing; nothing was done")
    if given.task_id is None:
        if given.new_state is not None:
            raise CallRefusedError("taskId: is missing, so there is no task to change the state of; nothing was done")
        if given.title is None:
            raise CallRefusedError("taskId or title is needed: a task to change, or a new one; nothing was done")
    elif not about and given.new_state is None:
        raise CallRefusedError("newState, title, description, priority or due is needed; nothing was done")
    changes: list[MemoryWrite | TaskStateChange] = []
    if about:
        changes.append(_write("task", TaskContent(task_id=given.task_id, **about), caller))
    if given.task_id is not None and given.new_state is not None:
        changes.append(
            TaskStateChange(
                task_id=given.task_id,
                new_state=given.new_state,
                reason=given.reason,
                session_id=caller.session_id,
                session_kind=caller.session_kind,
            )
        )
    if len(changes) == 1:
        return answers.of_written(await ask(changes[0]))
    # Both or none.
    items = [{"event": change.event_type, "data": change} for change in changes]
    return answers.of_written(await ask(_write("batch", BatchContent.model_validate({"items": items}), caller)))


async def _forget(given: ForgetArguments, caller: Caller, ask: Ask) -> Answer:
    if caller.session_kind != "primary":
        raise CallRefusedError(
            f"forgetting is the owner's; a {caller.session_kind} session does not do it, and nothing was done"
        )
    asked = Forget.model_validate({"selector": {"text": given.text}, "dryRun": given.dry_run})
    return answers.of_forgotten(await ask(asked))


def _write(kind: Any, content: Any, caller: Caller) -> MemoryWrite:
    return MemoryWrite(
        type=kind, content=content, session_id=caller.session_id, session_kind=caller.session_kind, origin="agent"
    )


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "memory_search",
            "Search memory",
            "Find what memory holds about something: conversations, facts, tasks, notes, summaries. Use it before you "
            "answer about earlier work, decisions, dates, people, preferences or tasks. Gives pieces with their path "
            "and lines; memory_get reads more of a file.",
            SearchArguments,
            _search,
            reads=True,
        ),
        Tool(
            "memory_get",
            "Read a memory file",
            "Read lines of a file of memory by the path that memory_search or the list of resources gives. One answer "
            f"holds up to {MAX_LINES} lines and {MAX_CHARS:,} characters; ask again with a later `from` for more.",
            GetArguments,
            _get,
            reads=True,
        ),
        Tool(
            "remember",
            "Remember",
            "Remember something for good, in MEMORY.md, when the user asks for it or it will clearly matter later. "
            "What is known already is not written twice. For a value that may change use update_fact, for something "
            "to be done task_update.",
            RememberArguments,
            _remember,
        ),
        Tool(
            "update_fact",
            "Set a fact",
            "Set one fact: a section, a key, and the value that is true now. An earlier value is archived with its "
            "dates.",
            FactArguments,
            _update_fact,
        ),
        Tool(
            "task_list",
            "List tasks",
            "List what is to be done, with ids, states, due dates and steps.",
            NoArguments,
            _task_list,
            reads=True,
        ),
        Tool(
            "task_update",
            "Add or change a task",
            "Change a task that task_list names (newState, or title, description, priority, due), or add a new one by "
            "leaving taskId out. Finish one with newState: completed.",
            TaskArguments,
            _task_update,
            repeats=False,
        ),
        Tool(
            "forget",
            "Forget",
            "Remove every place that holds a text from memory, for good: files, backups, index. Only when the user "
            "asks for it. Call it with dryRun first and show the user what would go.",
            ForgetArguments,
            _forget,
            destroys=True,
        ),
    )
}
