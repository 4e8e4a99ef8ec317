"""A save while a file is rewritten: each way of saving, each view, at every place between the steps of the rewrite."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Generator, Iterator

import pytest

from openclaw_memory.layers.rooms import FOLDERS
from tests.reliability.harness import (
    DISK,
    PROFILE,
    ROOT,
    Run,
    documents,
    fact,
    punctual,  # noqa: F401 - a fixture for every test here
    running,
    set_aside,
)
from tests.reliability.people import Editor, Truth, View
from tests.reliability.shared import SharedDisk
from tests.reliability.turns import Turns

KEYS = ("first", "second", "third")


class Placed(Turns):
    """A person's steps between those of a process: with (2, 2, 5) two come before its second, one before its fifth."""

    def __init__(self) -> None:
        super().__init__(random.Random(1))
        self.steps = 0
        self.places: list[int] = []
        self.person: Iterator[None] = iter(())

    def step(self) -> None:
        self.steps += 1
        while self.places and self.places[0] <= self.steps:
            self.places.pop(0)
            next(self.person, None)

    def place(self, person: Generator[None], places: tuple[int, ...]) -> None:
        self.person, self.places, self.steps = person, list(places), 0

    def finish(self) -> None:
        self.places = []
        for _ in self.person:
            pass


def added(text: str, chance: random.Random, truth: Truth) -> str:
    """A person adds a line."""
    return f"{text}- mine: {truth.hand()}\n"


Saves = Callable[[Editor, View], Generator[None]]


async def _saved_during_flush(
    saves: Saves, old: bool, places: tuple[int, ...], hands: int = 1, *, saved_over: int = 0
) -> int:
    """Save at these places while the file is rewritten; gives how many steps that took. Raises `AssertionError`.

    Parameters: `hands`, how many lines are added by hand; `saved_over`, how many of them people may save over.
    """
    turns = Placed()
    disk = SharedDisk(DISK, ROOT, turns)
    async with running(disk) as run:
        texts = await _prepared(run)
        truth = Truth()
        editor = Editor(disk, ROOT / PROFILE, added, truth, turns.chance, lambda: True, lambda: 0, lambda what: None)
        view = View(texts[0 if old else 1], 0, 0)
        turns.place(saves(editor, view), places)
        await run.store.flush()
        steps = turns.steps
        turns.finish()
        await _settled(run)
        files = disk.state.files()
    text = documents(files)[PROFILE].decode()
    assert [text.count(f"- {key}: value\n") for key in KEYS] == [1, 1, 1], text
    aside = "".join(data.decode() for data in set_aside(files).values())
    added_by_hand = [f"hand-{number}-end" for number in range(1, hands + 1)]
    kept = [hand for hand in added_by_hand if text.count(hand) == 1 or hand in aside]
    assert len(kept) >= hands - saved_over, text
    assert not [path for path in files if path.endswith(".tmp") or ".corrupt-" in path]
    return steps


async def _prepared(run: Run) -> list[str]:
    """Give the file as it was with one fact, and as it is with two; the third waits to be written."""
    texts = []
    for key in KEYS:
        await run.write(fact(key, "value"), key)
        if key != KEYS[-1]:
            await run.flush()
            texts.append(run.text(PROFILE))
    return texts


async def _settled(run: Run) -> None:
    for _ in range(3):
        await run.store.look(FOLDERS)
        run.clock.advance(60)
        await run.store.flush()
        await run.store._flusher.settle_backups()


WAYS = {"_renamed": 2, "_in_place": 3, "_moved_away": 4, "_taken_away": 4}
"""Ways to save, each with the number of its steps."""


EACH_WAY = [
    pytest.param(way, old, id=f"{way[1:]}, {'old' if old else 'fresh'}") for way in WAYS for old in (False, True)
]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("way", "old"), EACH_WAY)
async def test_save_while_a_file_is_rewritten(way: str, old: bool) -> None:
    """Interleavings of a save and a rewrite keep what both wrote: one in forty, other ones each time."""
    await _each(way, old, 40)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("way", "old"), EACH_WAY)
async def test_save_between_any_two_steps_of_a_rewrite(way: str, old: bool) -> None:
    """Every interleaving there is."""
    await _each(way, old, 1)


async def _each(way: str, old: bool, every: int) -> None:
    def saves(editor: Editor, view: View) -> Generator[None]:
        return getattr(editor, way)(view)  # type: ignore[no-any-return]

    steps = await _saved_during_flush(saves, old, (0,))
    assert steps > 8
    # With four steps the first two come together: between them is nothing but a missing file.
    free = min(WAYS[way], 3)
    first = int(os.environ.get("RELIABILITY_SEED", random.randrange(1_000_000))) % every
    tried = 0
    for places in itertools.islice(
        itertools.combinations_with_replacement(range(1, steps + 2), free), first, None, every
    ):
        tried += 1
        try:
            await _saved_during_flush(saves, old, places)
        except AssertionError as error:
            error.add_note(f"{way}, {'old' if old else 'fresh'} view, steps at {places}; RELIABILITY_SEED={first}")
            raise
    print(f"{way}: {tried} interleavings with a rewrite of {steps} steps")


AGAIN = [("_renamed",) * 3, ("_in_place",) * 3, ("_renamed", "_in_place", "_renamed"), ("_in_place", "_renamed") * 2]
"""How a person saves again and again, each time what is on the screen."""


@pytest.mark.parametrize("ways", AGAIN, ids=lambda ways: ", ".join(way[1:] for way in ways))
async def test_several_saves_within_one_rewrite(ways: tuple[str, ...]) -> None:
    """Each save comes between two steps of a rewrite, the next one right after it or a step later: none is lost."""

    def saves(editor: Editor, view: View) -> Generator[None]:
        for way in ways:
            for _ in getattr(editor, way)(view):
                pass
            view = editor.screen
            yield

    steps = await _saved_during_flush(saves, False, (0,) * len(ways), len(ways))
    for first in range(1, steps + 1):
        for apart in itertools.product((0, 1), repeat=len(ways) - 1):
            places = tuple(itertools.accumulate((first, *apart)))
            try:
                await _saved_during_flush(saves, False, places, len(ways))
            except AssertionError as error:
                error.add_note(f"saves before the steps {places}")
                raise


@pytest.mark.parametrize("order", ["aabba", "abbaa", "babaa"])
async def test_two_editors_within_one_rewrite(order: str) -> None:
    """One writes in place, one renames, both from what the file held: one of the two is there, and nothing is torn."""

    def saves(editor: Editor, view: View) -> Generator[None]:
        other = Editor(
            editor._disk, editor._path, added, editor._truth, editor._chance, lambda: True, lambda: 0, lambda what: None
        )
        persons = {"a": editor._in_place(view), "b": other._renamed(view)}
        for who in order:
            next(persons[who], None)
            yield
        for person in persons.values():
            yield from person

    steps = await _saved_during_flush(saves, False, (0,) * len(order), 2, saved_over=1)
    for first in range(1, steps + 1):
        for apart in itertools.product((0, 1), repeat=len(order) - 1):
            places = tuple(itertools.accumulate((first, *apart)))
            try:
                await _saved_during_flush(saves, False, places, 2, saved_over=1)
            except AssertionError as error:
                error.add_note(f"{order}: before the steps {places}")
                raise
