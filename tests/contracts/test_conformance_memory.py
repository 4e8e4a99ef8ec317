"""The kit passes an honest Memory, and fails each wrong one for its own reason and no other."""

from __future__ import annotations

from typing import Any

import pytest
import toy_memory as toys

from contracts.conformance import Outcome, Report, verify_memory
from contracts.conformance.check import run_checks
from contracts.conformance.verify import EXCHANGES

EXAMPLES = 3


async def verify(memory: type[toys.HonestMemory], patience: float = 2.0, only: str = "", examples: int = 0) -> Report:
    """Run the kit."""
    return await verify_memory(memory, patience=patience, only=only, examples=examples)


async def test_honest_memory_passes() -> None:
    """Everything that is required passes; what is optional is told to be not offered."""
    report = await verify(toys.HonestMemory, examples=EXAMPLES)
    assert report.named(Outcome.FAILED) == [], report.table()
    assert len(report.named(Outcome.PASSED)) > 40
    missing = "\n".join(report.named(Outcome.NOT_OFFERED))
    assert "memory.forget" in missing
    assert "memory.write.note" in missing
    assert "nobody on the bus answers it" in report.table()


WRONG = [
    (toys.IgnoresTheBudget, {"maxTokens is kept", "huge message"}, "maxTokens is 1, but tokens.used is"),
    (toys.LiesAboutTheBudget, {"maxTokens is kept", "huge message"}, "maxTokens is 1, but what came has"),
    (toys.ForgetsAtRestart, {"restart"}, "the message is gone or changed after a restart"),
    (
        toys.RaisesIntoTheBus,
        {"unknown task", "from completed", "changes its state", "refused as a whole"},
        "raised into the bus: KeyError",
    ),
    (toys.DoesHalfABatch, {"refused as a whole"}, "this was done all the same: ['half-done-9901', 'half-done-9902']"),
    (
        toys.CreatesUnknownTasks,
        {"unknown task", "from completed", "changes its state", "refused as a whole"},
        "succeeded, although",
    ),
    (
        toys.KeepsBothValues,
        {"a new value replaces", "in order across types"},
        "the replaced value is still among the facts",
    ),
    (toys.ChangesWhatWasSaid, {"as it was said", "restart", "huge"}, "not in the history as it was written"),
    (toys.WritesTwice, {"idempotencyKey"}, "the same idempotencyKey got"),
    (
        toys.OffersNoSearch,
        {"memory:search", "a group sees"},
        "memory:search is not offered: nobody on the bus answers it",
    ),
    (toys.TellsGroups, {"a group sees nothing"}, "holds what is private"),
    (
        toys.WritesLater,
        {"published before it", "in order across types"},
        "published before the read, not in its history",
    ),
    (toys.RolesLost, {"who said it"}, "come back as of ['user', 'user', 'user', 'user']"),
    (toys.LosesTimes, {"as it was said"}, "history says 2026-05-04 14:00"),
    (toys.LosesNeighbours, {"a new value replaces"}, "another key of the section lost its value"),
    (toys.OtherSection, {"in another section"}, "in two sections, but ['Gleam-1-4'] is not among the facts"),
    (toys.FactsValueTrunc, {"all lines of a value"}, "the fact's value has three lines, but of them came only"),
    (toys.TurnsLinesRound, {"all lines of a value"}, "come back in another order"),
    (toys.LosesDue, {"changes its state"}, "it is due on 2026-05-04, but comes back as due None"),
    (toys.DropsSteps, {"by its taskId leaves the rest"}, "but so did its priority, due, steps"),
    (toys.KeepsTheOldTitle, {"by its taskId leaves the rest"}, "is still called 'an old title'"),
    (toys.OneIdForAll, {"ids of tasks differ", "given again"}, "three tasks got the ids ['OPEN-001', 'OPEN-001'"),
    (toys.IdsReused, {"given again"}, "the id OPEN-001 was given again to a new task after a restart"),
    (toys.IdemRestart, {"idempotencyKey is still known"}, "the same idempotencyKey after a restart, and the history"),
    (toys.AnswersAnotherKey, {"idempotencyKey"}, "the same idempotencyKey got 'messages#0', then 'messages#9'"),
    (toys.AnswersAnotherKey, {"idempotencyKey"}, "got 'messages#0', after a restart 'messages#9'"),
    (
        toys.NotSynced,
        {"a success has its durability"},
        "without saying in durability what may be relied on: ['a task',",
    ),
    (toys.Citations, {"citations are those"}, "3 recalled pieces have 1 citations"),
    (toys.CitesInAnotherOrder, {"citations are those"}, "cited as of 2026-05-06, which is the day of another piece"),
    (toys.IgnoresAsOf, {"with asOf"}, "a message that was said after asOf is in memory:context"),
    (toys.AsOfForMessagesOnly, {"with asOf"}, "nothing was remembered yet at asOf, but this came"),
    (toys.AsOfWithoutHistory, {"with asOf"}, "said before asOf, but the history is []"),
    (toys.UpdatesNothing, {"a new value replaces", "in order across types"}, "published last, but not what holds"),
    (toys.WritesTwiceUnderOneKey, {"idempotencyKey"}, "written once by its idempotencyKey, but the history is"),
    (toys.ForgetsFactsAtRestart, {"restart: what was acknowledged"}, "the fact is gone after a restart"),
    (toys.HidesTasksAfterRestart, {"restart: what was acknowledged"}, "the task OPEN-001 is gone after a restart"),
    (toys.TellsGroupsBySearch, {"a group sees nothing"}, "a group's memory:results hold what is private"),
    (toys.CutsTitles, {"changes its state"}, "the title comes back as 'Write the'"),
    (toys.LosesPriority, {"changes its state"}, "it is pending, medium"),
    (toys.ChecksAllSteps, {"changes its state"}, "the steps come back as [('first step', True), ('第二步', True)]"),
    (toys.NeverInProgress, {"changes its state"}, "OPEN-001 is not in_progress after the change"),
    (toys.RefusesWithoutNaming, {"unknown task"}, "the refusal does not name the task: 'impossible'"),
    (toys.RecallsForNothing, {"an empty query"}, "an empty query recalled ('hello there',)"),
    (toys.EmptyQueryEmptyHistory, {"an empty query", "that of the session"}, "an empty query got no history"),
    (toys.EmptyQueryNoFacts, {"an empty query"}, "an empty query did not get the facts of the profile"),
    (toys.SearchesWithoutLimit, {"memory:search: finds"}, "maxResults was 2, "),
    (toys.MixesSessions, {"that of the session"}, "the history of the session is ['mine-1', 'theirs-2']"),
    (toys.SandboxTalks, {"a sandbox writes"}, "although a message of a sandbox writes nothing"),
    (toys.SandboxFacts, {"a sandbox writes"}, "although a fact of a sandbox writes nothing"),
    (toys.SandboxUpdates, {"a sandbox writes"}, "although a fact's update of a sandbox writes nothing"),
    (toys.SandboxTasks, {"a sandbox writes"}, "although a task of a sandbox writes nothing"),
    (toys.SandboxMoves, {"a sandbox writes"}, "although a task's change of a sandbox writes nothing"),
    (toys.SandboxBatch, {"a sandbox writes"}, "although a batch of a sandbox writes nothing"),
    (toys.SandboxWritesQuietly, {"a sandbox writes"}, "are there: ['sandboxed-5501', 'sandboxed-5502',"),
    (toys.SandboxMovesQuietly, {"a sandbox writes"}, "a sandbox's change of OPEN-001 was refused, but is done"),
]


@pytest.mark.parametrize(("memory", "checks", "reason"), WRONG, ids=[wrong[0].__name__ for wrong in WRONG])
async def test_wrong_memory_fails_for_its_reason(
    memory: type[toys.HonestMemory], checks: set[str], reason: str
) -> None:
    """Only checks of what is wrong fail, and one of them gives the reason in words."""
    results = await run_checks(EXCHANGES, memory, patience=2.0)
    failed = {result.name: result.reason for result in results if result.outcome is Outcome.FAILED}
    assert any(reason in told for told in failed.values()), failed
    assert all(any(part in name for part in checks) for name in failed), failed


async def test_citations_are_optional() -> None:
    """A Memory that recalls without citations passes; the report says that they are not offered."""
    report = await verify(toys.CitesNothing, only="citations")
    assert report.passed
    assert report.results[0].outcome is Outcome.NOT_OFFERED
    assert "citations[] of memory:context is not offered" in report.results[0].reason


async def test_wrong_event_is_told() -> None:
    """A reply of another event is a departure, whatever is in it."""
    report = await verify(toys.AnswersByTheWrongEvent, only="empty memory")
    assert "is answered by MemoryContext, not by MemoryWritten" in report.results[0].reason


async def test_forgotten_message_is_told() -> None:
    """Acknowledged and not there."""
    report = await verify(toys.Forgets, only="as it was said")
    assert report.results[0].reason == "the message is not in the history as it was written"


async def test_fault_after_the_reply_is_told() -> None:
    """An exception that reaches the bus is found although the reply was right."""
    report = await verify(toys.RaisesAfterReplying, only="memory:update_fact: a new value")
    assert "raised into the bus at memory:update_fact: RuntimeError: the index is gone" in report.results[0].reason


async def test_silence_is_told() -> None:
    """A request that is not answered in time fails, and the kit goes on."""
    report = await verify(toys.NeverReplies, patience=0.05, only="memory:search: finds")
    assert report.results[0].reason == "memory:search was not answered within 0.05 s"


async def test_answer_to_bad_input_is_told() -> None:
    """What was refused is not to be answered all the same."""
    report = await verify(toys.AnswersBadInput, only="bad input: memory.read")
    assert "was refused, but ['memory:written'] came all the same" in report.results[0].reason


async def test_start_that_fails_is_told() -> None:
    """A Memory that does not start fails every check with the reason."""
    report = await verify(toys.DoesNotStart, only="empty")
    assert all("no space left on device" in result.reason for result in report.results)
    assert not report.passed


@pytest.mark.parametrize(
    ("memory", "only", "reason"),
    [
        (toys.NeedsMore, "empty memory", "it did not start: TypeError"),
        (toys.NeverStops, "empty memory", "it did not stop within"),
        (toys.PublishesItsAnswers, "bad input: memory.search", "got no answer with its id as correlationid"),
    ],
)
async def test_other_departures_are_told(memory: Any, only: str, reason: str) -> None:
    """Making, stopping, and answers that answer nothing."""
    report = await verify(memory, patience=0.05, only=only)
    assert reason in report.results[0].reason


async def test_nothing_verified_is_not_passed() -> None:
    """A report without results is no success."""
    assert not (await verify(toys.HonestMemory, only="no such check")).passed
