"""`openclaw-memory verify`."""

from __future__ import annotations

import typer

from openclaw_memory.cli.exits import DONE, NOTHING
from openclaw_memory.cli.options import Config, Json, Root, configuration
from openclaw_memory.cli.output import console, patience, print_json, report_json, show_findings, show_owner, show_sum
from openclaw_memory.cli.words import say


def verify(root: Root = None, config: Config = None, json: Json = False) -> None:
    """Look at every document of memory and tell how it is.

    Nothing is changed and nothing is locked: it may run beside a Gateway. Exit code 0: nothing needs attention (what a
    person edited does not), 1: something does.
    """
    settings = configuration(root, config)
    from rich.text import Text

    from openclaw_memory.verify import verify_on_disk

    with patience(say("Reading every document ...")):
        report = verify_on_disk(settings.memory_folder)
    if json:
        print_json(report_json(report))
    else:
        out = console()
        out.print(Text(str(report.folder), "bold"))
        show_owner(out, report)
        show_findings(out, report.findings)
        show_sum(out, report)
    raise typer.Exit(NOTHING if report.attention else DONE)
