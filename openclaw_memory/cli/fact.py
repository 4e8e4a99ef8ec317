"""`openclaw-memory fact get` and `openclaw-memory fact set`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from openclaw_memory.cli.asking import REPLY_SECONDS, SESSION, run
from openclaw_memory.cli.exits import DONE, NOTHING, TROUBLE
from openclaw_memory.cli.options import Agent, Config, Json, Root, Workspace, configuration
from openclaw_memory.cli.output import console, print_json
from openclaw_memory.cli.paths import nearest
from openclaw_memory.cli.payloads import built
from openclaw_memory.cli.words import say
from openclaw_memory.cli.writing import change, typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bus import EventBus
    from contracts import MemorySearch
    from openclaw_memory.actor import Memory

fact = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look up facts, and set them.")

Section = Annotated[str, typer.Argument(metavar="SECTION", help="Section of the fact, such as `preferences`.")]
Key = Annotated[str, typer.Argument(metavar="KEY", help="Name of the fact within its section, such as `editor`.")]
Value = Annotated[str, typer.Argument(metavar="VALUE", help="Its value; `-` reads it from the standard input.")]
Topic = Annotated[
    str | None, typer.Option("--topic", metavar="NAME", help="Fact file, without `.md`. [default: where it stands]")
]
OfSection = Annotated[str | None, typer.Argument(metavar="[SECTION]", help="Only this section.")]
OfKey = Annotated[str | None, typer.Argument(metavar="[KEY]", help="Only this fact: its value, and nothing else.")]

MOST_HITS = 100


@dataclass(frozen=True, slots=True)
class Found:
    """One fact, with the file that it stands in."""

    topic: str
    section: str
    key: str
    value: str


@fact.command("get")
def get(
    section: OfSection = None,
    key: OfKey = None,
    topic: Topic = None,
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
    json: Json = False,
) -> None:
    """Print facts: all of them, those of a section, or the value of one. Exit code 1: there is none.

    With section and key the value alone is printed, for scripts. Upper and lower case are the same.
    """
    settings = configuration(root, config, workspace, agent)
    from contracts import MemoryGet, MemorySearch

    if topic is not None:
        built(MemoryGet, path=f"facts/{topic}.md")
    words = f"{section or ''} {key or ''}"
    asked = built(MemorySearch, query=words, layers=("fact",), max_results=MOST_HITS, session_kind="primary")
    known, problem = run(partial(_known, asked, topic), settings, counts=False)
    found = chosen(known, section, key)
    if json:
        print_json({"facts": [asdict(fact) for fact in found], "problem": problem})
    else:
        _tell(found, known, problem, section, key)
    raise typer.Exit(TROUBLE if problem is not None else DONE if found else NOTHING)


@fact.command("set")
def set_(
    section: Section,
    key: Key,
    value: Value,
    topic: Topic = None,
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
    json: Json = False,
) -> None:
    """Give a fact its value; one that it had is kept in the archive, with its dates.

    It works beside a running Gateway, which writes it.
    """
    settings = configuration(root, config, workspace, agent)
    from contracts import UpdateFact

    asked = built(
        UpdateFact,
        section=section,
        key=key,
        value=typed(value),
        topic=topic,
        session_id=SESSION,
        session_kind="primary",
        origin="owner",
    )
    change(asked, settings, json=json)


def chosen(known: Sequence[Found], section: str | None, key: str | None) -> list[Found]:
    """Choose the facts with these names. Pure."""
    from openclaw_memory.markdown.items import matching

    return [
        one
        for one in known
        if (section is None or matching(one.section) == matching(section))
        and (key is None or matching(one.key) == matching(key))
    ]


async def _known(
    asked: MemorySearch, topic: str | None, memory: Memory, bus: EventBus
) -> tuple[list[Found], str | None]:
    """Read every fact, of one topic or of all; and say which files can't be read."""
    from openclaw_memory.cli.documents import bodies_of
    from openclaw_memory.markdown.facts import parse_facts

    paths = [f"facts/{topic}.md"] if topic is not None else await _paths(asked, memory, bus)
    bodies = await bodies_of(bus, memory.config, paths)
    found = []
    for path, body in bodies.texts.items():
        name = path.removeprefix("facts/").removesuffix(".md")
        found += [Found(name, one.section, one.key, one.value) for one in parse_facts(body)]
    return found, bodies.problem


async def _paths(asked: MemorySearch, memory: Memory, bus: EventBus) -> list[str]:
    """List the fact files: those on the disk, and those that a running Gateway has not written there yet."""
    hits = await bus.request(asked, timeout=REPLY_SECONDS)
    on_disk = (memory.config.memory_folder / "facts").glob("*.md")
    paths = {f"facts/{path.name}" for path in on_disk if not path.name.startswith(".")}
    paths |= {hit.path for hit in hits.results if not hit.path.startswith("facts/archive/")}
    # The file that a fact without a topic goes to comes first.
    return sorted(paths | {"facts/user-profile.md"}, key=lambda path: (path != "facts/user-profile.md", path))


def _nothing(known: Sequence[Found], section: str | None, key: str | None) -> str:
    if not known:
        return say("There are no facts yet; `openclaw-memory fact set SECTION KEY VALUE` makes one.")
    sections = sorted({one.section for one in known})
    if section is not None and not chosen(known, section, None):
        meant = nearest(section, sections)
        hint = say("did you mean {meant!r}?", meant=meant) if meant else say("there are: {names}", names=_few(sections))
        return say("There is no section {section!r}; {hint}", section=section, hint=hint)
    keys = sorted({one.key for one in chosen(known, section, None)})
    meant = nearest(key or "", keys)
    hint = say("did you mean {meant!r}?", meant=meant) if meant else say("there are: {names}", names=_few(keys))
    return say("There is no fact {key!r} in {section!r}; {hint}", key=key, section=section, hint=hint)


def _tell(
    found: Sequence[Found], known: Sequence[Found], problem: str | None, section: str | None, key: str | None
) -> None:
    if problem is not None:
        typer.echo(problem, err=True)
    if not found:
        typer.echo(_nothing(known, section, key), err=True)
    elif key is not None:
        for one in found:
            typer.echo(one.value)
    else:
        _show(found)


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (", …" if len(names) > 10 else "")


def _show(found: Sequence[Found]) -> None:
    from rich.text import Text

    out = console()
    heading = None
    for one in found:
        if (one.topic, one.section) != heading:
            heading = (one.topic, one.section)
            out.print(Text.assemble((one.section or "-", "bold"), (f"  {one.topic}", "dim")))
        out.print(Text(f"  {one.key}: {one.value}"))
