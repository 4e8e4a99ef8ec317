"""Checks of what is found: reads, searches, and the budget."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from contracts import MemoryRead, MemorySearch, prompt_text
from contracts.conformance.asking import NOW, SESSION, fact, new_task, said
from contracts.conformance.check import Check
from contracts.conformance.counting import least_tokens
from contracts.conformance.probe import Probe, expect
from contracts.errors import NotOfferedError

ODD_QUERIES = ('"', "*", "NOT", "AND OR", "(", ")", "a:b", "😀", " \n\t", "[", "\\", "'; --", "%", "\ud83d", "的")
"""Queries that are syntax somewhere, or hold no word at all; a person may type each of them, so none is an error."""
BUDGETS = (1, 25, 120, 600, 3_000)
"""Budgets in tokens, from one that holds nothing to one that holds almost all."""


async def empty_memory_answers(probe: Probe) -> None:
    """A read of an empty memory is answered with nothing in it, which is no trouble."""
    context = await probe.read("用户用什么语言?")
    expect(not context.history and not context.recalled, "an empty memory recalls something")


async def empty_query_is_valid(probe: Probe) -> None:
    """An empty query recalls nothing; the rest comes."""
    await probe.write(said("hello there"))
    await probe.write(fact("主要语言", "Gleam-7732"))
    context = await probe.read("")
    expect(not context.recalled, f"an empty query recalled {context.recalled}")
    expect([message.content for message in context.history] == ["hello there"], "an empty query got no history")
    expect("Gleam-7732" in "\n".join(context.facts), "an empty query did not get the facts of the profile")


async def odd_queries_are_answered(probe: Probe) -> None:
    """A query is a text, never syntax."""
    await probe.write(said("hello there"))
    for query in ODD_QUERIES:
        await probe.read(query)
        results = await probe.ask(MemorySearch(query=query))
        expect(not results.degraded, f"memory:search for {query!r} is degraded: {results.notice}")


async def search_finds(probe: Probe) -> None:
    """A search finds Chinese and identifiers, best first, no more than asked for."""
    for position, text in enumerate(
        ("咖啡 only", "回滚由 DEC-0054 决定，健康检查失败两次", "tea", "DEC-0055 is about tea")
    ):
        await probe.write(said(text, position))
    for query in ("回滚", "DEC-0054", "健康检查 rollback"):
        results = (await probe.ask(MemorySearch(query=query))).results
        expect(bool(results) and "DEC-0054" in results[0].snippet, f"{query!r} does not find what holds it first")
        scores = [result.score for result in results]
        expect(scores == sorted(scores, reverse=True), f"the results are not best first: {scores}")
    few = (await probe.ask(MemorySearch(query="tea 回滚 咖啡", max_results=2))).results
    expect(len(few) <= 2, f"maxResults was 2, {len(few)} came")


async def budget_is_kept(probe: Probe) -> None:
    """All that goes into the prompt, as one string, stays within maxTokens."""
    prose = "The nightly build failed again because the cache was stale; 我们决定每晚清一次缓存，然后再构建。 "
    for position in range(24):
        await probe.write(said(f"{position}: {prose * 4}", position))
    for position in range(12):
        await probe.write(fact(f"规则 {position}", prose))
    await new_task(probe, "Clean the cache every night")
    for budget in BUDGETS:
        query = "Why does the nightly build fail? 缓存"
        context = await probe.ask(MemoryRead(query=query, session_id=SESSION, max_tokens=budget))
        tokens = context.tokens
        if tokens is not None:
            expect(tokens.max == budget, f"maxTokens was {budget}, tokens.max is {tokens.max}")
            expect(tokens.used <= budget, f"maxTokens is {budget}, but tokens.used is {tokens.used}")
        counted = least_tokens(prompt_text(context), tokens.encoding if tokens else None)
        expect(counted <= budget, f"maxTokens is {budget}, but what came has {counted} tokens or more")
        expect(
            budget > 600 or context.truncated, f"within {budget} tokens not all can have come: truncated must be true"
        )
    expect(bool(prompt_text(context)), f"within {BUDGETS[-1]} tokens nothing came at all")


async def context_is_of_its_session(probe: Probe) -> None:
    """The history is that of the session that asks."""
    await probe.write(said("mine-1", session_id="conformance-a"))
    await probe.write(said("theirs-2", session_id="conformance-b"))
    history = [message.content for message in (await probe.read("", "conformance-a")).history]
    expect(history == ["mine-1"], f"the history of the session is {history}")


async def long_message_is_kept(probe: Probe) -> None:
    """The longest message that the contract allows is kept, and a small budget still holds."""
    text = "很长 long " * 50_000
    await probe.write(said(text))
    context = await probe.read("long", max_tokens=500)
    counted = least_tokens(prompt_text(context), context.tokens.encoding if context.tokens else None)
    expect(counted <= 500, f"maxTokens is 500, but what came has {counted} tokens or more")


async def later_memories_stay_out(probe: Probe) -> None:
    """With asOf a read is answered as at that time: what was said or written later stays out."""
    await probe.write(said("earlier-6611 about the cache"))
    await probe.write(said("later-6612 about the cache", 7_200))
    await probe.write(fact("缓存", "later-6613"))
    await new_task(probe, "later-6614")
    between = await probe.ask(_as_of(NOW + timedelta(hours=1)))
    history = [message.content for message in between.history]
    expect("later-6612" not in prompt_text(between), "a message that was said after asOf is in memory:context")
    expect(history == ["earlier-6611 about the cache"], f"said before asOf, but the history is {history}")
    before = await probe.ask(_as_of(datetime(2001, 1, 1, tzinfo=UTC)))
    expect(not prompt_text(before), f"nothing was remembered yet at asOf, but this came: {prompt_text(before)!r}")


def _as_of(time: datetime) -> MemoryRead:
    return MemoryRead(query="the cache 缓存", session_id=SESSION, max_tokens=4_000, as_of=time)


async def citations_fit(probe: Probe) -> None:
    """A Memory that cites gives one citation for each recalled piece, in the same order."""
    for day in range(3):
        session_id = f"conformance-day-{day}"
        await probe.write(said(f"heron-770{day} is the name of a bird", day * 86_400, session_id))
    context = await probe.read("name of the bird heron-7700 heron-7701 heron-7702")
    if not context.citations:
        raise NotOfferedError("citations[] of memory:context", "recalled pieces come without them")
    counts = f"{len(context.recalled)} recalled pieces have {len(context.citations)} citations"
    expect(len(context.citations) == len(context.recalled), counts)
    for piece, citation in zip(context.recalled, context.citations, strict=True):
        days = [(NOW + timedelta(days=day)).date() for day in range(3) if f"heron-770{day}" in piece]
        if citation.time is not None and len(days) == 1:
            cited = citation.time.astimezone(UTC).date()
            expect(cited == days[0], f"{piece!r} is cited as of {cited}, which is the day of another piece")


CHECKS = (
    Check("memory:read: an empty memory is no trouble", empty_memory_answers),
    Check("memory:read: an empty query gets all but recall", empty_query_is_valid),
    Check("memory:read, memory:search: a query is text, never syntax", odd_queries_are_answered),
    Check("memory:read: the history is that of the session", context_is_of_its_session),
    Check("memory:search: finds Chinese words and identifiers, best first", search_finds),
    Check("memory:read: maxTokens is kept", budget_is_kept),
    Check("memory:read: with asOf later memories stay out", later_memories_stay_out),
    Check("memory:read: citations are those of the recalled pieces", citations_fit, required=False),
    Check("memory:read: a huge message does not break the budget", long_message_is_kept),
)
