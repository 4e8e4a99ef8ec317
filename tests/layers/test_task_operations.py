"""What moves a task takes no other one for it, whatever ids a person gave; nothing is lost, also when applied anew."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import TaskContent
from openclaw_memory.errors import Refused
from openclaw_memory.layers import tasks
from openclaw_memory.layers.rooms import room_of
from openclaw_memory.layers.state import TASKS
from openclaw_memory.layers.task_operations import FORMAT
from openclaw_memory.markdown.task_blocks import parse_tasks
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.operations import Operation

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
A = "### [OPEN-001] alpha\n- 状态: 已完成\n"
B = "### [OPEN-001] beta\n- 状态: 待处理\n"


def draft_of(**bodies: str) -> Draft:
    """Hold `active.md`, `completed.md` and the state of tasks."""
    texts = {f"tasks/{name}.md": body for name, body in {"active": "", "completed": "", **bodies}.items()}
    formats = {path: room_of(path).format for path in (*texts, TASKS)}
    planned = {path: formats[path].parse(path, text.encode()) for path, text in texts.items()}
    return Draft(formats, {**planned, TASKS: formats[TASKS].new(TASKS)})


def titles(body: str) -> list[str]:
    return [task.title for task in parse_tasks(body, UTC)]


def move(draft: Draft) -> list[Operation]:
    tasks.plan_move(draft, "OPEN-001", tasks.ACTIVE, tasks.COMPLETED, NOW, UTC, "zh")
    return draft.operations


def applied(body: str, operation: Operation) -> tuple[str, str | None]:
    """Give a body after an operation, and what collided."""
    document = FORMAT.parse(operation.path, body.encode())
    return FORMAT.apply(document, operation).body, FORMAT.collision(document, operation)


def test_a_task_does_not_move_to_where_another_has_its_id() -> None:
    """Refused with the field and what to do, and nothing is planned."""
    draft = draft_of(active=A, completed=B)
    with pytest.raises(Refused, match="taskId: another task there is OPEN-001 too"):
        move(draft)
    assert draft.operations == []


def test_a_move_that_was_done_by_half_is_finished() -> None:
    """The same task in both files is one task, whatever the line ends."""
    draft = draft_of(active=A, completed=A.replace("\n", "\r\n"))
    move(draft)
    assert titles(draft.document(tasks.ACTIVE).body) == []
    assert titles(draft.document(tasks.COMPLETED).body) == ["alpha"]


def test_a_move_meets_a_task_that_a_person_wrote_meanwhile() -> None:
    """Both are in the file, and it is told; done again, it changes nothing more."""
    insert, remove = move(draft_of(active=A))
    body, collision = applied(B, insert)
    assert titles(body) == ["beta", "alpha"]
    assert "OPEN-001: another task has this id" in (collision or "")
    assert applied(body, insert) == (body, None)
    assert applied(A, remove)[1] is None


def test_a_move_meets_an_edit_of_the_task() -> None:
    """What a person changed meanwhile stays where it was changed."""
    _, remove = move(draft_of(active=A))
    edited = A + "- 说明: 重要的补充\n"
    body, collision = applied(edited, remove)
    assert body == edited
    assert "changed by hand while it was moved to tasks/completed.md" in (collision or "")


@pytest.mark.parametrize("body", [A + "\n" + B, B + "\n" + A])
def test_a_move_applied_anew_takes_the_task_that_moved(body: str) -> None:
    """Of two with one id, the one whose lines were moved; and once."""
    _, remove = move(draft_of(active=A))
    after, _ = applied(body, remove)
    assert titles(after) == ["beta"]
    assert applied(after, remove)[0] == after


def test_a_new_task_meets_one_of_its_number() -> None:
    """A person used the number while the task was on its way to the file."""
    draft = draft_of()
    tasks.plan_new_task(draft, [], TaskContent(title="gamma"), now=NOW, zone=UTC, language="zh")
    add = draft.operations[0]
    body, collision = applied(B, add)
    assert titles(body) == ["beta", "gamma"]
    assert "OPEN-001: another task has this id" in (collision or "")
    assert applied(body, add) == (body, None)


def test_a_removal_of_an_older_journal_is_done() -> None:
    """It tells no lines."""
    operation = Operation(tasks.ACTIVE, "remove", {"id": "OPEN-001", "at": NOW.isoformat()})
    assert titles(applied(B, operation)[0]) == []


BODIES = st.lists(
    st.builds(
        "### [OPEN-00{}] {}\n- 状态: {}\n".format,
        st.integers(1, 2),
        st.sampled_from(["alpha", "beta", "gamma"]),
        st.sampled_from(["待处理", "已完成"]),
    ),
    max_size=4,
).map("\n".join)


@given(active=BODIES, completed=BODIES, meanwhile=BODIES)
def test_no_move_loses_a_task(active: str, completed: str, meanwhile: str) -> None:
    """Planned on any two files, and applied to what a person made of them meanwhile."""

    def written(*bodies: str) -> set[tuple[str, str, str]]:
        return {(task.id, task.title, task.state) for body in bodies for task in parse_tasks(body, UTC)}

    draft = draft_of(active=active, completed=completed)
    for task_id in ("OPEN-001", "OPEN-002"):
        try:
            tasks.plan_move(draft, task_id, tasks.ACTIVE, tasks.COMPLETED, NOW, UTC, "zh")
        except (Refused, StopIteration):
            continue
    assert written(active, completed) == written(
        *(draft.document(path).body for path in (tasks.ACTIVE, tasks.COMPLETED))
    )
    changed = {tasks.ACTIVE: meanwhile, tasks.COMPLETED: completed}
    for operation in draft.operations:
        changed[operation.path] = applied(changed[operation.path], operation)[0]
    assert written(meanwhile, completed) <= written(*changed.values())
