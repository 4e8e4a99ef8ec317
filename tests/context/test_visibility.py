"""What each kind of session may see."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.fields import Layer, SessionKind
from openclaw_memory.config import SessionRules
from openclaw_memory.context import allow, audience, kind_of, policy, task_named
from openclaw_memory.context.visibility import audiences, policies, sees_everything
from openclaw_memory.retrieval import Block, Hit
from openclaw_memory.retrieval.scope import Scope

LAYERS: list[Layer] = list(get_args(Layer))
KINDS: list[SessionKind] = list(get_args(SessionKind))
MakeHit = Callable[..., Hit]


@pytest.mark.parametrize(
    ("session_id", "kind"),
    [
        ("agent:main:main", "primary"),
        ("agent:work:main", "primary"),
        ("agent:main:whatsapp:group:12036@g.us", "group"),
        ("agent:main:discord:channel:123", "group"),
        ("agent:main:telegram:group:-100:topic:42", "group"),
        ("AGENT:Main:Slack:Channel:C1", "group"),
        ("subagent:8f1c", "sub"),
        ("agent:main:subagent:8f1c", "sub"),
        ("agent:main:discord:channel:1:subagent:2", "group"),
        ("agent:main:telegram:direct:55", "sandbox"),
        ("s1", "sandbox"),
        ("group", "sandbox"),
        ("my-group:x", "sandbox"),
    ],
)
def test_kind_of_real_session_ids(session_id: str, kind: SessionKind) -> None:
    """Ids of the real OpenClaw's form tell their kind; others have the default."""
    assert kind_of(session_id, "sandbox") == kind


def test_policies_are_the_table() -> None:
    """Who may see notes and MEMORY.md, and who may write where."""
    assert {kind: (policy(kind).notes, policy(kind).memory, policy(kind).writes) for kind in KINDS} == {
        "primary": (True, True, "all"),
        "sub": (False, False, "own"),
        "group": (False, False, "own"),
        "sandbox": (True, True, "none"),
    }
    assert policy("group").facts == policy("group").tasks == policy("group").summaries == "none"


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("session", ["g1", "s1", None])
def test_group_never_sees_private_blocks(layer: Layer, session: str | None, hit: MakeHit) -> None:
    """No private block of any layer is shown to a group, even one that names the group's own session."""
    assert not allow(hit("secret", 1, layer=layer, session=session).block, "g1", "group")


@pytest.mark.parametrize("layer", LAYERS)
def test_group_sees_its_own_talk_only(layer: Layer, hit: MakeHit) -> None:
    """A group is shown its own messages and summaries, not another group's, nor facts or notes that name it."""
    own = hit("hi", 1, layer=layer, session="g1", visibility="group").block
    assert allow(own, "g1", "group") is (layer in ("conversation", "history", "summary"))
    assert not allow(own, "g2", "group")
    assert not allow(own, None, "group")


@pytest.mark.parametrize("kind", KINDS)
def test_shared_is_for_everyone(kind: SessionKind, hit: MakeHit) -> None:
    """What is marked shared is shown in every session."""
    assert allow(hit("rules", 1, layer="note", visibility="shared").block, "x", kind)


@pytest.mark.parametrize("layer", LAYERS)
def test_owner_sees_all(layer: Layer, hit: MakeHit) -> None:
    """Primary sessions, and sandboxes for reading, are shown every layer."""
    block = hit("x", 1, layer=layer, session="other").block
    assert allow(block, "s1", "primary")
    assert allow(block, "s1", "sandbox")


def test_sub_session_sees_what_its_task_rests_on(hit: MakeHit) -> None:
    """Its own messages, the task, what names the task; no notes, no MEMORY.md, not a task with a longer number."""
    named = hit("wait for OPEN-003 first", 1, session="s1")
    assert allow(named.block, "sub1", "sub", "OPEN-003")
    assert not allow(named.block, "sub1", "sub", "OPEN-004")
    assert not allow(named.block, "sub1", "sub")
    assert not allow(hit("OPEN-0031 is other", 1).block, "sub1", "sub", "OPEN-003")
    assert allow(hit("Ship", 1, layer="task", key="tasks/active.md#OPEN-003").block, "sub1", "sub", "OPEN-003")
    assert allow(hit("own", 1, session="sub1").block, "sub1", "sub")
    assert not allow(hit("OPEN-003", 1, layer="memory").block, "sub1", "sub", "OPEN-003")
    assert not allow(hit("OPEN-003", 1, layer="note").block, "sub1", "sub", "OPEN-003")


def test_what_a_group_writes_is_for_the_group() -> None:
    """Only groups write for a group; everything else is private."""
    assert {kind: audience(kind) for kind in KINDS} == {
        "primary": "private",
        "sub": "private",
        "group": "group",
        "sandbox": "private",
    }


def test_task_that_a_session_names() -> None:
    """The first task id in the session id, the query or the message counts."""
    assert task_named("subagent:OPEN-003", "OPEN-004") == "OPEN-003"
    assert task_named("subagent:1", "finish OPEN-012, please") == "OPEN-012"
    assert task_named("subagent:1", "gpt-4 and x-1") is None


blocks = st.builds(
    Block,
    key=st.sampled_from(["conversations/2026-05-04.md#1", "tasks/active.md#OPEN-001"]),
    layer=st.sampled_from(get_args(Layer)),
    path=st.just("x.md"),
    start_line=st.just(1),
    end_line=st.just(1),
    text=st.sampled_from(["OPEN-001 is done", "something"]),
    time=st.none(),
    session=st.sampled_from([None, "s1", "s2", ""]),
    visibility=st.sampled_from(["private", "group", "shared"]),
)


@given(
    blocks,
    st.sampled_from([None, "s1", ""]),
    st.sampled_from(get_args(SessionKind)),
    st.sampled_from([None, "OPEN-001"]),
)
def test_an_index_looks_wherever_something_may_be_shown(
    block: Block, session: str | None, kind: SessionKind, task: str | None
) -> None:
    """What is allowed lies within the scope; and a group's scope holds nothing that it may not see."""
    scope = Scope(audiences=audiences(session, kind, task))
    if allow(block, session, kind, task):
        assert scope.admits(block)
    elif kind == "group":
        assert not scope.admits(block)


@given(
    blocks, st.sampled_from([None, "s1", ""]), st.sampled_from(get_args(SessionKind)), st.sampled_from([None, "X-1"])
)
def test_who_sees_everything_is_refused_nothing(
    block: Block, session: str | None, kind: SessionKind, task: str | None
) -> None:
    """Whose rights let everything through need not be asked about a single block; nobody else has them."""
    rules = SessionRules()
    loading = SessionRules.model_validate({"sub_session": {"inherit_context": "full", "load_memory": True}})
    for seen in (policies(rules)[kind], policies(loading)[kind]):
        if sees_everything(seen):
            assert allow(block, session, kind, task, seen)
            assert audiences(session, kind, task, seen) == ()
    assert sees_everything(policies(rules)["primary"])
    assert not sees_everything(policies(rules)["group"])
