"""A dialogue is played through the bus as a Brain would live through it."""

import pytest

from bus import Gateway, HandlerFailedError
from contracts import MemoryRead, MemoryWrite, TaskStateChange, UpdateFact
from examples.brain import AgentThink, Brain, asked_in
from examples.dialogue import Dialogue, Exchange, FactStated, exchanges, first_turns, read_dialogue
from examples.replay import ScriptedModel, replay
from examples.sample import SAMPLE
from openclaw_memory.clock import ManualClock

DIALOGUE = read_dialogue(SAMPLE)


async def play(dialogue, memory, **options):
    """Replay a dialogue against a memory."""
    async with Gateway() as gateway:
        if memory is not None:
            await gateway.register(memory)
        return await replay(gateway, dialogue, clock=ManualClock(dialogue.turns[0].time), **options)


async def test_every_exchange_is_read_then_written(toy_memory, context):
    """The Brain asks before it answers and remembers after it, for each exchange."""
    memory = toy_memory(context())
    report = await play(DIALOGUE, memory)
    order = [type(event) for event in memory.seen if not isinstance(event, UpdateFact | TaskStateChange)]
    order = [kind for kind, event in zip(order, memory.seen, strict=False) if getattr(event, "type", "") != "task"]
    assert report.turns == len(DIALOGUE.turns)
    assert order[:4] == [MemoryRead, MemoryWrite, MemoryRead, MemoryWrite]
    assert report.trouble == ()


async def test_words_are_written_as_said(toy_memory, context):
    """All turns reach memory, in order, with role, time and text unchanged."""
    memory = toy_memory(context())
    await play(DIALOGUE, memory)
    writes = [event for event in memory.seen if isinstance(event, MemoryWrite) and event.type == "conversation"]
    said = [(write.session_id, m.timestamp, m.role, m.content) for write in writes for m in write.content.messages]
    assert said == [(turn.session, turn.time, turn.role, turn.content) for turn in DIALOGUE.turns]


async def test_query_is_the_message_and_budget_is_passed_on(toy_memory, context):
    """What the user says is what is recalled for."""
    memory = toy_memory(context())
    await play(first_turns(DIALOGUE, 4), memory, max_tokens=77)
    reads = [event for event in memory.seen if isinstance(event, MemoryRead)]
    assert [(read.query, read.max_tokens) for read in reads] == [
        (turn.content, 77) for turn in DIALOGUE.turns[:4] if turn.role == "user"
    ]


async def test_facts_and_tasks_are_written_where_the_dialogue_states_them(toy_memory, context):
    """Each annotated fact once; tasks by the ids that memory gave."""
    memory = toy_memory(context())
    report = await play(DIALOGUE, memory)
    facts = [(event.section, event.key, event.value) for event in memory.seen if isinstance(event, UpdateFact)]
    noted = [note for turn in DIALOGUE.turns for note in turn.notes if isinstance(note, FactStated)]
    assert facts == [(note.section, note.key, note.value) for note in noted]
    moved = {event.task_id for event in memory.seen if isinstance(event, TaskStateChange)}
    tasks = report.exchanges[-1].reply.tasks
    assert len(tasks) == 3
    assert moved <= {task.id for task in tasks}
    assert [task.state for task in tasks] == ["completed", "in_progress", "pending"]
    assert all(step.done for step in tasks[0].steps)


async def test_clock_follows_the_dialogue(toy_memory, context):
    """Memory's clock stands at the time of the exchange when it is asked."""
    clock = ManualClock(DIALOGUE.turns[0].time)
    seen = []

    async def watch(replayed):
        seen.append(clock.now() == replayed.exchange.time)

    async with Gateway() as gateway:
        await gateway.register(toy_memory(context()))
        await replay(gateway, DIALOGUE, clock=clock, watch=watch)
    assert len(seen) == len(list(exchanges(DIALOGUE.turns)))
    assert all(seen)


async def test_without_memory_the_conversation_goes_on():
    """Nobody answers `memory:read`: every reply is given all the same, and the trouble is told."""
    report = await play(first_turns(DIALOGUE, 10), None)
    assert [replayed.reply.content for replayed in report.exchanges] == [
        turn.content for turn in DIALOGUE.turns[:10] if turn.role == "assistant"
    ]
    assert all(replayed.reply.context is None for replayed in report.exchanges)
    assert any("memory:read" in trouble for trouble in report.trouble)


async def test_refused_write_is_told(toy_memory, context):
    """A refusal stands in the report with memory's reason."""
    report = await play(first_turns(DIALOGUE, 2), toy_memory(context(), refuses="conversation"))
    assert report.trouble == ("memory:write: disk full",)


async def test_task_that_was_refused_is_not_changed_later(toy_memory, context):
    """Notes on a task that memory does not have are told and left out."""
    memory = toy_memory(context(), refuses="task")
    report = await play(DIALOGUE, memory)
    assert not any(isinstance(event, TaskStateChange) for event in memory.seen)
    assert any("its task was not" in trouble for trouble in report.trouble)


async def test_agent_that_speaks_first_recalls_nothing_and_is_written(toy_memory, context):
    """An assistant turn alone reads with an empty query and writes one message."""
    turns = tuple(turn for turn in DIALOGUE.turns if turn.role == "assistant")[:1]
    memory = toy_memory(context())
    await play(Dialogue("d", "UTC", turns), memory)
    read, write = memory.seen
    assert read.query == ""
    assert [message.role for message in write.content.messages] == ["assistant"]


async def test_last_question_without_answer_is_written(toy_memory, context):
    """A user turn alone writes one message; the agent says nothing."""
    memory = toy_memory(context())
    report = await play(first_turns(DIALOGUE, 1), memory)
    assert report.exchanges[0].reply.content is None
    assert [message.role for message in memory.seen[1].content.messages] == ["user"]


async def test_prompt_holds_what_memory_gave(toy_memory, context):
    """The reply tells the prompt: context, then the user's words."""
    report = await play(first_turns(DIALOGUE, 2), toy_memory(context()))
    prompt = report.exchanges[0].reply.prompt
    assert "OPEN-001" in prompt.known
    assert asked_in(prompt) == DIALOGUE.turns[0].content


async def test_scripted_model_refuses_another_question():
    """A prompt that does not end with the script's question is a fault of the replay, not an answer."""
    turn = DIALOGUE.turns[0]
    async with Gateway() as gateway:
        await gateway.register(Brain(ScriptedModel([Exchange(turn, None)]), max_tokens=100))
        with pytest.raises(HandlerFailedError, match="dialogue goes on with"):
            await gateway.bus.request(AgentThink(session_id="s", time=turn.time, content="something else"), timeout=5)


def test_report_of_nothing_is_zero():
    """An empty report has figures."""
    from examples.replay import ReplayReport

    report = ReplayReport(())
    assert (report.turns, report.recalled, report.most_tokens, report.recall_milliseconds) == (0, 0, 0, 0.0)
