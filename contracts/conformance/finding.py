"""Checks of what is found: reads, searches, and the budget."""

from __future__ import annotations

from contracts import MemoryRead, MemorySearch, prompt_text
from contracts.conformance.check import Check
from contracts.conformance.counting import least_tokens
from contracts.conformance.keeping import fact, new_task, said
from contracts.conformance.probe import Probe, expect

ODD_QUERIES = ('"', "*", "NOT", "AND OR", "(", ")", "a:b", "😀", " \n\t", "[", "\\", "'; --", "%", "\ud83d", "的")
"""Queries that are syntax somewhere, or hold no word at all (CASES of recall: none of them is an error)."""
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
        context = await probe.ask(MemoryRead(query=query, session_id="conformance", max_tokens=budget))
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


async def group_sees_nothing_private(probe: Probe) -> None:
    """What was said and written in a primary session does not reach a group, by any route."""
    await probe.write(said("private-8801 in the talk"))
    await probe.write(fact("密码本", "private-8802"))
    await new_task(probe, "private-8803")
    query = "private-8801 private-8802 private-8803 密码本"
    group = MemoryRead(query=query, session_id="agent:main:telegram:group:-7", max_tokens=4_000, session_kind="group")
    context = await probe.ask(group)
    expect("private-880" not in context.model_dump_json(), "a group's memory:context holds what is private")
    asked = MemorySearch(query=query, session_id=group.session_id, session_kind="group")
    results = await probe.ask(asked)
    expect("private-880" not in results.model_dump_json(), "a group's memory:results hold what is private")


async def sandbox_writes_nothing(probe: Probe) -> None:
    """A write from a sandbox is refused with a reason and leaves nothing."""
    write = said("sandboxed-5501").model_copy(update={"session_kind": "sandbox"})
    await probe.refused(write, "a sandbox session writes nothing")
    context = await probe.read("sandboxed-5501")
    expect("sandboxed-5501" not in prompt_text(context), "the write of a sandbox was refused, but it is there")


CHECKS = (
    Check("memory:read: an empty memory is no trouble", empty_memory_answers),
    Check("memory:read: an empty query gets all but recall", empty_query_is_valid),
    Check("memory:read, memory:search: a query is text, never syntax", odd_queries_are_answered),
    Check("memory:read: the history is that of the session", context_is_of_its_session),
    Check("memory:search: finds Chinese words and identifiers, best first", search_finds),
    Check("memory:read: maxTokens is kept", budget_is_kept),
    Check("privacy: a group sees nothing of a primary session", group_sees_nothing_private),
    Check("privacy: a sandbox writes nothing", sandbox_writes_nothing),
    Check("memory:read: a huge message does not break the budget", long_message_is_kept),
)
