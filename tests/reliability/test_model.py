"""Anything in any order: write, batch, flush, crash, edit, damage, against a plain dictionary."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from openclaw_memory.events import Change
from openclaw_memory.layers.rooms import FOLDERS
from openclaw_memory.markdown.facts import parse_facts
from openclaw_memory.storage.durable import BACKUP_SUFFIX
from tests.reliability.crashes import crash_states
from tests.reliability.disk import SimulatedDisk, State
from tests.reliability.harness import DAY, DISK, PROFILE, ROOT, Run, batch, fact, make_punctual, running, say

KEYS = st.sampled_from(["alpha", "beta", "gamma"])
VALUES = st.integers(0, 9).map(lambda number: f"value {number}")


class MemoryMachine(RuleBasedStateMachine):
    """`messages` and `facts` are what memory must hold; every write is acknowledged before the next rule."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = pytest.MonkeyPatch()
        make_punctual(self.patches)
        self.loop = asyncio.new_event_loop()
        self.messages: list[str] = []
        self.facts: dict[str, str] = {}
        self.said = 0
        self.edited = False
        """Whether a person ever changed a file."""
        self.begin = State()
        self.disk = SimulatedDisk(DISK)

    @initialize(short=st.booleans())
    def open(self, short: bool) -> None:
        self.journal_limit = 1 if short else 1 << 20
        self._open()

    def _open(self) -> None:
        self.stack = AsyncExitStack()
        opened = running(self.disk, journal_limit=self.journal_limit, close=False, first_id=1 + self.said)
        self.run: Run = self._do(lambda: self.stack.enter_async_context(opened))

    def _do(self, work: Callable[[], Awaitable[Any]]) -> Any:
        async def working() -> Any:
            return await work()

        return self.loop.run_until_complete(working())

    def _write(self, change: Change) -> None:
        self._do(lambda: self.run.write(change, "unused"))
        assert self.run.store.trouble is None

    # -- rules ---------------------------------------------------------------------------------------------------

    @rule()
    def message(self) -> None:
        self.said += 1
        self._write(say(f"message {self.said}"))
        self.messages.append(f"message {self.said}")

    @rule(key=KEYS, value=VALUES)
    def known(self, key: str, value: str) -> None:
        self._write(fact(key, value))
        self.facts[key] = value

    @rule(key=KEYS, value=VALUES)
    def both(self, key: str, value: str) -> None:
        self.said += 1
        text = f"message {self.said}"
        self._write(
            batch(
                ("memory:write", {"type": "conversation", "content": {"role": "user", "content": text}}),
                ("memory:update_fact", {"section": "S", "key": key, "value": value}),
            )
        )
        self.messages.append(text)
        self.facts[key] = value

    @rule(paths=st.sampled_from([None, [DAY], [PROFILE]]))
    def flush(self, paths: list[str] | None) -> None:
        if paths is None or paths[0] in self.run.store._shelf.entries:
            self._do(lambda: self.run.flush(paths))

    @rule()
    def settle(self) -> None:
        self._do(self.run.flush)
        self._do(self.run.store._flusher.settle_backups)
        self._do(self.run.shortened)

    @precondition(lambda self: self.disk.stamp_now(ROOT / PROFILE) is not None)
    @rule(key=st.sampled_from(["mine", "alpha"]), value=VALUES)
    def edit(self, key: str, value: str) -> None:
        """A person writes a line of their own, or another value into the file as it is on the disk."""
        text = self.run.text(PROFILE)
        if "\0" in text:
            # Damaged, and not rewritten yet: nothing that a person would edit.
            return
        in_file = {fact.key: fact.value for fact in parse_facts(text.partition("\n---\n")[2])}
        if key not in in_file:
            if key != "mine":
                return
            text = text.rstrip("\n") + f"\n- mine: {value}\n"
        elif self.facts.get(key) != in_file[key]:
            # The agent's newer value is on its way to the file; which of the two wins is another test's subject.
            return
        else:
            text = text.replace(f"- {key}: {in_file[key]}\n", f"- {key}: {value}\n")
        self.disk.save(ROOT / PROFILE, text.encode())
        self.facts[key] = value
        self.edited = True

    @rule(chance=st.randoms(use_true_random=False))
    def crash(self, chance: Any) -> None:
        """The power fails; any of the states that it may leave is there at the next start."""
        crashes = crash_states(self.begin, self.disk.steps, self.disk.state, since=len(self.disk.steps))
        self._stop()
        self._restart(chance.choice(crashes).state)

    @rule()
    def restart(self) -> None:
        self._do(self.run.store.close)
        self._restart(self.disk.state)

    @rule(path=st.sampled_from([DAY, PROFILE]))
    def damage(self, path: str) -> None:
        """While nobody runs, a file turns into NULs; its time is as it was."""
        self._do(self.run.store.close)
        state = self.disk.state.copy()
        name = (ROOT / path).relative_to(DISK).as_posix()
        inode = state.paths().get(name)
        # What a person wrote and we have not rewritten since is nowhere else.
        by_hand = path == PROFILE and self.edited and state.files().get(name + BACKUP_SUFFIX) != state.files().get(name)
        if inode is not None and not by_hand:
            state.data[inode] = b"\0" * len(state.data[inode])
        self._restart(state)

    def _restart(self, state: State) -> None:
        self.begin = state.copy()
        self.disk = SimulatedDisk(DISK, state)
        self._open()
        self._do(lambda: self.run.store.look(FOLDERS))

    def _stop(self) -> None:
        if self.run.store._journal is not None:
            self.run.journal.close()

    @invariant()
    def holds_what_it_was_told(self) -> None:
        if not hasattr(self, "run"):
            return
        day = self._do(lambda: self.run.store.read(DAY))
        profile = self._do(lambda: self.run.store.read(PROFILE))
        assert [block.message.content for block in day.file.blocks] == self.messages
        facts = parse_facts(profile.body)
        assert {fact.key: fact.value for fact in facts} == self.facts
        assert len(facts) == len(self.facts)

    def teardown(self) -> None:
        try:
            if hasattr(self, "run"):
                self._stop()
        finally:
            self.loop.close()
            self.patches.undo()


MemoryMachine.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=25,
    deadline=None,
    # Making a failure shorter takes minutes; it is printed as it was found.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
test_any_order_of_events = pytest.mark.filterwarnings("ignore::ResourceWarning")(MemoryMachine.TestCase)
