"""How findings are shown: words and colours for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from openclaw_memory.findings import Finding, Report


def console() -> Console:
    """Give the console: colours and wrapping on a terminal only, so that what is piped can be searched by line."""
    return Console(highlight=False, soft_wrap=True)


def print_json(content: dict[str, Any]) -> None:
    """Print JSON, one document, as it is."""
    typer.echo(json.dumps(content, ensure_ascii=False, indent=2))


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
    for finding in findings:
        colour = "bold red" if finding.attention else "cyan"
        out.print(Text.assemble((finding.path, "bold"), "  ", (finding.code.value, colour)))
        out.print(Text(f"    {finding.words}"))
        out.print(Text.assemble(("    → ", colour), finding.todo))


def show_owner(out: Console, report: Report) -> None:
    """Say who has the folder."""
    owner = report.owner
    if owner is None:
        return
    if owner.running is None:
        words = f"`.lock` names {owner.name}, another machine: whether it runs can't be told from here."
    else:
        words = f"In use by {owner.name}: what was said in the last seconds may still be in its journal only."
    out.print(Text(words, "yellow"))


def show_sum(out: Console, report: Report) -> None:
    """Sum a report up in a line."""
    noun = "document" if report.documents == 1 else "documents"
    words = f"{report.documents} {noun}, {report.intact} intact"
    if report.attention:
        verb = "needs" if report.attention == 1 else "need"
        out.print(Text.assemble(f"{words}; ", (f"{report.attention} {verb} attention", "bold red")))
    else:
        out.print(Text.assemble(f"{words}; ", ("nothing needs attention", "green")))
