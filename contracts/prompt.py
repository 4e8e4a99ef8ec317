"""The one string that `maxTokens` is counted on."""

from __future__ import annotations

from contracts.reading import MemoryContext, Task


def task_text(task: Task) -> str:
    """Write a task as the prompt shows it: a line, then its description and its steps."""
    facts = [task.state, f"priority {task.priority}"]
    if task.due is not None:
        facts.append(f"due {task.due.isoformat()}")
    lines = [f"[{task.id}] {task.title} ({', '.join(facts)})"]
    if task.description:
        lines.append(task.description)
    lines += [f"- [{'x' if step.done else ' '}] {step.text}" for step in task.steps]
    return "\n".join(lines)


def prompt_parts(context: MemoryContext) -> dict[str, tuple[str, ...]]:
    """Give the texts of each part, in the order in which the prompt holds them (seed 000 section 3.1)."""
    return {
        "facts": context.facts,
        "memory": context.memory,
        "tasks": tuple(task_text(task) for task in context.tasks),
        "summaries": context.summaries,
        "notes": context.notes,
        "recalled": context.recalled,
        "history": tuple(f"{message.role}: {message.content}" for message in context.history),
    }


def prompt_text(context: MemoryContext) -> str:
    """Join all that goes into the prompt, one piece after the other, each on a line of its own.

    This is the string whose tokens must not exceed `MemoryRead.max_tokens`. Headings and fences that a Brain puts
    around the parts are the Brain's own and count towards its own budget.
    """
    return "\n".join(piece for pieces in prompt_parts(context).values() for piece in pieces)
