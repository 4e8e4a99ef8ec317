"""People who save files while several processes write: in every way that editors do, from fresh and from old views."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from openclaw_memory.storage.entries import Entry
from tests.reliability.harness import ROOT as MEMORY
from tests.reliability.shared import SharedDisk

MARK = re.compile(r"mark-\d+-end")
HAND = re.compile(r"hand-\d+-end")
KNOWN = re.compile(r"^- (mark-\d+-end): known\n", re.MULTILINE)
"""A fact that nobody changes."""
SAID = re.compile(r"^(mark-\d+-end)\n", re.MULTILINE)
"""A message that nobody has edited."""

MOST_VIEWS = 6
MOST_PATIENCE = 12
"""So many turns at most somebody looks at what they read before they save."""


@dataclass(slots=True)
class View:
    """What a person has on the screen, and when they read it.

    `generation` counts the owners of the folder up to then, `saves` those of people into this file.
    """

    text: str
    generation: int
    saves: int


@dataclass(slots=True)
class Truth:
    """What must be there in the end. `told`: marks of writes by whether they were acknowledged."""

    told: dict[str, bool] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    """What a person took out last."""
    unsure: set[str] = field(default_factory=set)
    """What a person took out at some time, and was in neither the view that was saved last nor what it became."""
    taken_out: set[str] = field(default_factory=set)
    live: dict[str, dict[str, int]] = field(default_factory=dict)
    """By file, what a person put in and has not saved over since, with the number of the save."""
    saves: dict[str, int] = field(default_factory=dict)
    """By file, how often people have saved it."""
    saved_over: set[str] = field(default_factory=set)
    hands: int = 0

    def saved(self, name: str, view: View, text: str) -> None:
        """Take note of a save: of what was read, and what it became."""
        number = self.saves[name] = self.saves.get(name, 0) + 1
        had, has = set(MARK.findall(view.text)), set(MARK.findall(text))
        self.taken_out |= had - has
        # Who has read the file since what was taken out was taken out leaves it out once more.
        still_gone = self.gone - had if view.saves == number - 1 else set()
        self.gone = (had - has) | still_gone
        self.unsure = self.taken_out - had - still_gone
        hands_had, hands = set(HAND.findall(view.text)), set(HAND.findall(text))
        # What was moved into a part of the day since it was put in is in no view, and nobody saves over it.
        kept = {hand: at for hand, at in self.live.get(name, {}).items() if hand not in hands_had and at <= view.saves}
        before, after = self.live.get(name, {}), kept | dict.fromkeys(hands, number)
        # What was saved over and comes back with yet another old view is not asked for again.
        self.saved_over |= before.keys() - after.keys()
        self.live[name] = {hand: at for hand, at in after.items() if hand not in self.saved_over}

    def hand(self) -> str:
        self.hands += 1
        return f"hand-{self.hands}-end"


Change = Callable[[str, random.Random, Truth], str | None]
"""Gives what a person makes of a text; None when there is nothing to do."""


def facts_changed(text: str, chance: random.Random, truth: Truth) -> str | None:
    """Add a fact, and sometimes take one out."""
    if (known := KNOWN.findall(text)) and chance.random() < 0.3:
        text = text.replace(f"- {chance.choice(known)}: known\n", "")
    return f"{text}- {truth.hand()}: by hand\n" if text.endswith("\n") else None


def message_changed(text: str, chance: random.Random, truth: Truth) -> str | None:
    """Write something beside what was said."""
    said = SAID.findall(text)
    if not said:
        return None
    mark = chance.choice(said)
    return text.replace(f"{mark}\n", f"{mark} {truth.hand()}\n", 1)


class Editor:
    """One person and one file.

    Parameters: `owned`, whether the folder has an owner that is neither coming nor going; `generation`, which one.
    A view that is older than the owner, and not what the file held when that owner came, is read anew before it is
    saved: of such views nothing is promised.
    """

    def __init__(
        self,
        disk: SharedDisk,
        path: Path,
        change: Change,
        truth: Truth,
        chance: random.Random,
        owned: Callable[[], bool],
        generation: Callable[[], int],
        note: Callable[[str], None],
    ) -> None:
        self._disk, self._path, self._change, self._truth, self._chance = disk, path, change, truth, chance
        self._owned, self._generation, self._note = owned, generation, note
        self._views: list[View] = []
        self.saving_old = False
        """Whether a view that is not what the file holds is being saved in place."""
        self._unseen = False
        self.begun = 0
        """How often it was begun to save."""

    @property
    def screen(self) -> View:
        """What was read or saved last."""
        return self._views[-1]

    def owner_came(self) -> None:
        """Keep the views that are what the new owner finds."""
        now = self._disk.text(self._path)
        for view in self._views:
            if view.text == now:
                view.generation = self._generation()

    def is_seen(self, entries: Mapping[str, Entry]) -> bool:
        """Tell whether the owner has taken up what was saved from an old view, and written down what that lacks."""
        entry = entries.get(self._path.relative_to(MEMORY).as_posix())
        seen = entry is not None and entry.stamp == self._disk.stamp_now(self._path) and not entry.to_write
        self._unseen = self._unseen and not seen
        return not (self.saving_old or self._unseen)

    def save(self) -> Generator[None]:
        """Read the file or take an earlier view, change it, and save it in one of the ways there are."""
        view = self._view()
        for _ in range(self._chance.randrange(MOST_PATIENCE)):
            yield
        if view is None:
            return
        way = self._chance.choice([self._renamed, self._in_place, self._moved_away, self._taken_away])
        self._note(f"is about to save {self._path.name}: {way.__name__}")
        yield from way(view)

    def _view(self, fresh: bool = False) -> View | None:
        if self._views and not fresh and self._chance.random() < 0.5:
            return self._chance.choice(self._views)
        text = self._disk.text(self._path)
        if text is None:
            return None
        return self._seen(text)

    def _seen(self, text: str) -> View:
        view = View(text, self._generation(), self._truth.saves.get(self._path.name, 0))
        self._views = [*self._views, view][-MOST_VIEWS:]
        return view

    def _ready(self, view: View) -> tuple[View, str] | None:
        """Give a view that may be saved now, and what becomes of it."""
        old = self._disk.text(self._path) != view.text
        if old and (view.generation != self._generation() or not self._owned()):
            fresh = self._view(fresh=True)
            if fresh is None:
                return None
            view, old = fresh, False
        text = self._change(view.text, self._chance, self._truth)
        if text is None:
            return None
        self.saving_old = old
        self.begun += 1
        self._note(f"begins to save {self._path.name} from {'an old' if old else 'a fresh'} view")
        return view, text

    def _done(self, view: View, text: str) -> None:
        self._truth.saved(self._path.name, view, text)
        self._note(f"has saved {self._path.name}")
        self._seen(text)
        self._unseen, self.saving_old = self._unseen or self.saving_old, False

    def _renamed(self, view: View) -> Generator[None]:
        """Write another file, and give it the name: `sed -i`, `mv`, most editors."""
        other = self._path.with_name(".by-hand")
        yield
        if (ready := self._ready(view)) is None:
            return
        self._disk.saved(self._write(other, ready[1]))
        self._disk.move(other, self._path)
        self._done(*ready)

    def _write(self, path: Path, text: str) -> int:
        inode = self._disk.empty(path)
        self._disk.write_on(inode, text)
        return inode

    def _in_place(self, view: View) -> Generator[None]:
        """Empty the file and write it in two parts: vim with `backupcopy=yes`, `echo >`."""
        if (ready := self._ready(view)) is not None:
            yield from self._written(*ready)

    def _written(self, view: View, text: str) -> Generator[None]:
        inode = self._disk.empty(self._path)
        yield
        cut = self._chance.randrange(len(text))
        self._disk.write_on(inode, text[:cut])
        yield
        self._disk.write_on(inode, text[cut:])
        self._done(view, text)
        for _ in range(self._chance.randrange(3)):
            yield
        self._disk.saved(inode)

    def _moved_away(self, view: View) -> Generator[None]:
        """Rename the file, and write a new one under its name: vim with `backupcopy=no`."""
        if (ready := self._ready(view)) is None:
            return
        away = self._path.with_name(self._path.name + "~")
        if self._disk.text(self._path) is not None:
            self._disk.move(self._path, away)
        yield from self._written_anew(*ready)
        self._disk.take_away(away)

    def _written_anew(self, view: View, text: str) -> Generator[None]:
        folder = self._disk.away(self._path)
        yield
        yield from self._written(view, text)
        self._disk.saved(folder)

    def _taken_away(self, view: View) -> Generator[None]:
        """Remove the file, and write a new one: `git checkout`."""
        if (ready := self._ready(view)) is None:
            return
        self._disk.take_away(self._path)
        yield from self._written_anew(*ready)
