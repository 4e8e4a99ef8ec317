"""Checks of what an acknowledgement means: order, writes done once, durability, restarts."""

from __future__ import annotations

from contracts.conformance.asking import CODE, batch, fact, fact_write, find, new_task, said, state, task, task_id_of
from contracts.conformance.check import Check
from contracts.conformance.probe import Probe, expect
from contracts.writing import WriteItem


async def reader_sees_what_was_published(probe: Probe) -> None:
    """A read sees everything that was published before it in its session, without waiting for acknowledgements."""
    for position in range(20):
        await probe.bus.publish(said(f"published-{position:03}", position))
    history = [message.content for message in (await probe.read("published")).history]
    expect(
        bool(history) and history[-1] == "published-019",
        f"published before the read, not in its history: {history[-3:]}",
    )
    await probe.settle()


async def order_holds_across_events(probe: Probe) -> None:
    """Events of one session take effect in the order in which they were published, whatever their types."""
    await probe.bus.publish(fact_write("主要语言", "earlier-6601"))
    await probe.bus.publish(fact("主要语言", "later-6602"))
    facts = "\n".join((await probe.read("主要语言")).facts)
    expect("later-6602" in facts and "earlier-6601" not in facts, f"published last, but not what holds: {facts!r}")
    await probe.settle()


async def same_key_is_written_once(probe: Probe) -> None:
    """The same idempotency key again changes nothing and gets the same answer."""
    first = await probe.write(said("only once 4407", idempotency_key="turn-1"))
    again = await probe.write(said("only once 4407", idempotency_key="turn-1"))
    expect(first.key == again.key, f"the same idempotencyKey got {first.key!r}, then {again.key!r}")
    found = [message.content for message in (await probe.read("only once")).history]
    expect(found == ["only once 4407"], f"written once by its idempotencyKey, but the history is {found}")


async def success_says_how_durable(probe: Probe) -> None:
    """Each write that succeeded says in `durability` what may be relied on from then on."""
    created = await probe.write(task("durable"))
    replies = {
        "a task": created,
        "a task's change": await probe.write(state(task_id_of(created), "in_progress")),
        "a message": await probe.write(said("durable")),
        "a fact": await probe.write(fact_write("编辑器", "Vim")),
        "a fact's update": await probe.write(fact("主要语言", "Gleam")),
        "a batch": await probe.write(batch(WriteItem(event="memory:write", data=said("durable in a batch")))),
    }
    silent = [what for what, reply in replies.items() if reply.durability is None]
    expect(not silent, f"acknowledged without saying in durability what may be relied on: {silent}")


async def acknowledged_survives_restart(probe: Probe) -> None:
    """What was acknowledged is there after a restart on the same folder."""
    await probe.write(said(CODE))
    await probe.write(fact("主要语言", "Gleam-7732"))
    task_id = await new_task(probe, "survive")
    await probe.restart()
    context = await probe.read("kestrel-8816 主要语言")
    expect([message.content for message in context.history] == [CODE], "the message is gone or changed after a restart")
    expect("Gleam-7732" in "\n".join(context.facts), "the fact is gone after a restart")
    expect(find(context, task_id) is not None, f"the task {task_id} is gone after a restart")


async def ids_survive_restart(probe: Probe) -> None:
    """A task made after a restart is another one than those made before it."""
    before = await new_task(probe, "made before the restart")
    await probe.restart()
    after = await new_task(probe, "made after the restart")
    expect(before != after, f"the id {before} was given again to a new task after a restart")


async def keys_survive_restart(probe: Probe) -> None:
    """An idempotency key is known after a restart: who got no answer because of it asks again."""
    write = said("only once 4408", idempotency_key="turn-2")
    first = await probe.write(write)
    await probe.restart()
    again = await probe.write(write)
    found = [message.content for message in (await probe.read("only once")).history]
    expect(found == ["only once 4408"], f"the same idempotencyKey after a restart, and the history is {found}")
    expect(first.key == again.key, f"the same idempotencyKey got {first.key!r}, after a restart {again.key!r}")


CHECKS = (
    Check("order: a read sees what was published before it in its session", reader_sees_what_was_published),
    Check("order: events of one session take effect in order across types", order_holds_across_events),
    Check("memory:write: the same idempotencyKey again changes nothing", same_key_is_written_once),
    Check("memory:written: a success has its durability", success_says_how_durable),
    Check("restart: what was acknowledged is there", acknowledged_survives_restart),
    Check("restart: no id of a task is given again", ids_survive_restart),
    Check("restart: an idempotencyKey is still known", keys_survive_restart),
)
