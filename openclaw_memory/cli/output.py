"""How things are shown: words and colours for people, JSON for programs, patience on a terminal."""

from __future__ import annotations

import json
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from openclaw_memory.cli.words import say

if TYPE_CHECKING:
    from rich.console import Console

    from openclaw_memory.findings import Finding, Report

PATIENCE = "openclaw-memory patience"
"""Name of the thread that waits for that."""

PATIENCE_SECONDS = 1.0
"""After so long a person is told that something is going on."""


def console() -> Console:
    """Give the console: colours and wrapping on a terminal only, so that what is piped can be searched by line."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)


@contextmanager
def patience(words: str, *, quiet: bool = False) -> Iterator[None]:
    """Show on a terminal, on the standard error, that something takes longer than a second."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    over = threading.Event()

    def show() -> None:
        if over.wait(PATIENCE_SECONDS):
            return
        from rich.console import Console

        with Console(stderr=True).status(words):
            over.wait()

    shown = threading.Thread(target=show, name=PATIENCE, daemon=True)
    shown.start()
    try:
        yield
    finally:
        over.set()
        shown.join()


@contextmanager
def progress_bar(words: str) -> Iterator[Callable[[int, int], None]]:
    """Show on a terminal how far something is."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    err = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(words, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def print_json(content: Mapping[str, Any]) -> None:
    """Print JSON, one document, as it is."""
    typer.echo(json.dumps(content, ensure_ascii=False, indent=2))


def padded(text: str, columns: int) -> str:
    """Fill a text up with spaces to a width on the terminal, where a Chinese character takes two columns."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return text + " " * (columns - len(text) - wide)


def report_json(report: Report) -> dict[str, Any]:
    """Give a report as JSON values; the shape is told in docs/cli.md."""
    owner = report.owner
    return {
        "memory": str(report.folder),
        "owner": None if owner is None else {"name": owner.name, "running": owner.running},
        "documents": report.documents,
        "intact": report.intact,
        "attention": report.attention,
        "findings": [finding_json(finding) for finding in report.findings],
    }


def finding_json(finding: Finding) -> dict[str, Any]:
    """Give a finding as JSON values."""
    return {
        "path": finding.path,
        "code": finding.code.value,
        "words": finding.words,
        "todo": finding.todo,
        "attention": finding.attention,
        "remedy": finding.remedy,
    }


def show_findings(out: Console, findings: Iterable[Finding]) -> None:
    """Show each finding: path and reason, what it is, what to do."""
    from rich.text import Text

    for finding in findings:
        colour = "bold red" if finding.attention else "cyan"
        out.print(Text.assemble((finding.path, "bold"), "  ", (finding.code.value, colour)))
        out.print(Text(f"    {finding.words}"))
        out.print(Text.assemble(("    → ", colour), finding.todo))


def show_owner(out: Console, report: Report) -> None:
    """Say who has the folder."""
    from rich.text import Text

    owner = report.owner
    if owner is None:
        return
    if owner.running is None:
        words = say(
            "`.lock` names {owner}, another machine: whether it runs can't be told from here.", owner=owner.name
        )
    else:
        words = say(
            "In use by {owner}: what was said in the last seconds may still be in its journal only.", owner=owner.name
        )
    out.print(Text(words, "yellow"))


def show_sum(out: Console, report: Report) -> None:
    """Sum a report up in a line."""
    from rich.text import Text

    count, intact, attention = report.documents, report.intact, report.attention
    if count == 1:
        words = say("1 document, {intact} intact", intact=intact)
    else:
        words = say("{count} documents, {intact} intact", count=count, intact=intact)
    if not attention:
        out.print(Text.assemble(f"{words}; ", (say("nothing needs attention"), "green")))
        return
    told = say("1 needs attention") if attention == 1 else say("{count} need attention", count=attention)
    out.print(Text.assemble(f"{words}; ", (told, "bold red")))
