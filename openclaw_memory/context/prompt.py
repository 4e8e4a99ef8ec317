"""Put a prompt together around what memory gave, in the order of seed 000 section 3.1. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from itertools import zip_longest
from typing import Any

from contracts.prompt import task_text
from contracts.reading import Citation, HistoryMessage, MemoryContext
from openclaw_memory.context.prompt_words import WORDS, Words
from openclaw_memory.context.quoting import item, name_of, quote
from openclaw_memory.context.recalled import Language
from openclaw_memory.context.turns import Turn, as_data, paired


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the model may call. `parameters` is a JSON Schema of an object."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})


@dataclass(frozen=True, slots=True)
class Slots:
    """What the Brain brings itself: the text of SOUL.md and AGENTS.md, skills, safety rules, tools. Trusted."""

    soul: str = ""
    agents: str = ""
    skills: tuple[str, ...] = ()
    safety: str = ""
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """All that a model gets, in order: what is fixed, what is known, what was, what was recalled, the turns, the tools.

    Parts that have nothing to say are empty. `turns` are paired: each call has its result. `history` says how many of
    them come from memory; after them come the current message and what was done for it so far.
    """

    fixed: str
    known: str
    earlier: str
    recalled: str
    turns: tuple[Turn, ...]
    history: int
    tools: tuple[Tool, ...]
    language: Language

    @property
    def system(self) -> tuple[str, ...]:
        """Give the texts that go before the conversation, those that say something."""
        return tuple(text for text in (self.fixed, self.known, self.earlier, self.recalled) if text)


def assemble_prompt(
    context: MemoryContext | None,
    message: str | None,
    *,
    slots: Slots | None = None,
    working: Sequence[Turn] = (),
    language: Language = "zh",
    tz: tzinfo | None = None,
) -> Prompt:
    """Put the memories around the current message.

    The order is seed 000 section 3.1's: SOUL, AGENTS, skills, safety; [1] facts (and MEMORY.md) and [2] tasks; [3]
    summaries (and notes), as a system message; [4] the history; [5] the current message; the tools. Recalled pieces,
    which the seed does not place, come between 3 and 4.

    Summaries, notes and recalled pieces are fenced and named as data; facts, MEMORY.md and tasks are list items, whose
    lines cannot pose as headings. Tool results and system notes of the history are quoted data as well: their calls
    are not part of a context.

    Parameters: `context`, None where memory could not be asked (the talk goes on); `message`, None when the agent
    speaks first; `working`, the turns since the message (the model's calls and their results); `tz`, the time zone of
    the dates, None for the system's.
    """
    own = slots or Slots()
    words = WORDS[language]
    fixed = "\n\n".join(text.strip() for text in (own.soul, own.agents, *own.skills, own.safety) if text.strip())
    history = paired(_turn(said) for said in context.history) if context else ()
    asked = (Turn("user", message),) if message is not None else ()
    return Prompt(
        fixed=fixed,
        known=_known(context, words) if context else "",
        earlier=_earlier(context, words) if context else "",
        recalled=_recalled(context, words, tz) if context else "",
        turns=(*history, *paired((*asked, *working))),
        history=len(history),
        tools=own.tools,
        language=language,
    )


def origin_of(citation: Citation, tz: tzinfo | None = None) -> str:
    """Say in one line where a recalled piece comes from: file, lines, layer and day."""
    day = f", {citation.time.astimezone(tz).date().isoformat()}" if citation.time is not None else ""
    return name_of(f"{citation.path}:{citation.start_line}-{citation.end_line} ({citation.layer}{day})")


def section(title: str, *texts: str) -> str:
    """Write texts under a heading; nothing when there are none."""
    return "\n".join((f"## {title}", *texts)) if texts else ""


def _known(context: MemoryContext, words: Words) -> str:
    """Write facts, MEMORY.md and tasks: what is true now and what is to be done."""
    return _joined(
        section(words.facts, *map(item, context.facts)),
        section(words.memory, *map(item, context.memory)),
        section(words.tasks, *(item(task_text(task)) for task in context.tasks)),
    )


def _earlier(context: MemoryContext, words: Words) -> str:
    """Write the summaries and the daily notes: what happened before."""
    return _joined(
        *(
            section(title, words.data, *map(quote, texts))
            for title, texts in ((words.summaries, context.summaries), (words.notes, context.notes))
            if texts
        )
    )


def _recalled(context: MemoryContext, words: Words, tz: tzinfo | None) -> str:
    """Write the recalled pieces, each fenced under its origin."""
    # A contract's Memory may cite less than it recalls: such a piece still says that it comes from memory.
    cited = zip_longest(context.recalled, context.citations[: len(context.recalled)])
    pieces = [
        f"[{number}] {origin_of(citation, tz) if citation else words.from_memory}\n{quote(text)}"
        for number, (text, citation) in enumerate(cited, start=1)
    ]
    return section(words.recalled, words.data, *pieces) if pieces else ""


def _turn(said: HistoryMessage) -> Turn:
    turn = Turn(said.role, said.content, name=said.name)
    # An old message must not speak with the system's authority.
    return as_data(turn) if said.role == "system" else turn


def _joined(*sections: str) -> str:
    return "\n\n".join(text for text in sections if text)
