"""`openclaw-memory remember`."""

from __future__ import annotations

from typing import Annotated

import typer

from openclaw_memory.cli.asking import SESSION
from openclaw_memory.cli.options import Agent, Config, Json, Root, Workspace, configuration
from openclaw_memory.cli.payloads import built
from openclaw_memory.cli.words import say
from openclaw_memory.cli.writing import change, typed

WhatText = Annotated[
    str, typer.Argument(metavar="TEXT", help="What to remember, in a sentence; `-` reads it from the standard input.")
]
Where = Annotated[str | None, typer.Option("--section", metavar="NAME", help="Section of MEMORY.md to put it in.")]
Note = Annotated[
    bool, typer.Option("--note", help="Put it into today's notes instead: true today, perhaps not for good.")
]
Title = Annotated[str | None, typer.Option("--title", metavar="WORDS", help="Heading of the note.")]


def remember(
    text: WhatText,
    section: Where = None,
    note: Note = False,
    title: Title = None,
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
    json: Json = False,
) -> None:
    """Remember something for good: it becomes an entry of MEMORY.md, and every context from now on may have it.

    What is known already is not written twice. It works beside a running Gateway, which writes it. For something with
    a name and a value there is `fact set`, for something to be done `task add`.
    """
    if note and section is not None:
        raise typer.BadParameter(say("a note has no section; give --section or --note"), param_hint="--section")
    if title is not None and not note:
        raise typer.BadParameter(say("an entry of MEMORY.md has no title; give --note as well"), param_hint="--title")
    settings = configuration(root, config, workspace, agent)
    from contracts import CuratedContent, MemoryWrite, NoteContent

    content = (
        built(NoteContent, text=typed(text), title=title)
        if note
        else built(CuratedContent, text=typed(text), section=section)
    )
    asked = built(
        MemoryWrite,
        type="note" if note else "memory",
        content=content,
        session_id=SESSION,
        session_kind="primary",
        origin="owner",
    )
    change(asked, settings, json=json)
