"""Tasks: a heading with an id and a list of attributes (seed 000 section 2.3).

The door to what is done in `task_blocks` (reading), `task_lists` (tasks that come and go) and `task_edits` (changes).
"""

from openclaw_memory.markdown.steps import Step
from openclaw_memory.markdown.task_blocks import Task, TaskBlock, highest_id, parse_tasks
from openclaw_memory.markdown.task_edits import edit_task
from openclaw_memory.markdown.task_lists import append_task, insert_task, new_task_body, remove_task

__all__ = [
    "Step",
    "Task",
    "TaskBlock",
    "append_task",
    "edit_task",
    "highest_id",
    "insert_task",
    "new_task_body",
    "parse_tasks",
    "remove_task",
]
