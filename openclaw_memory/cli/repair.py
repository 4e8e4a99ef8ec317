"""`openclaw-memory repair`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from openclaw_memory.cli.exits import DONE, INTERRUPTED, NOTHING, TROUBLE
from openclaw_memory.cli.options import Config, Json, Root, configuration
from openclaw_memory.cli.output import console, finding_json, patience, print_json, show_findings, show_owner, show_sum
from openclaw_memory.cli.words import say

if TYPE_CHECKING:
    from rich.console import Console

    from openclaw_memory.repair import Action, Repair

Adopt = Annotated[
    bool, typer.Option("--adopt", help="Renew the checksums of edited documents too; every other byte stays.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Tell what would be done, and change nothing.")]


def repair(
    root: Root = None, config: Config = None, adopt: Adopt = False, dry_run: DryRun = False, json: Json = False
) -> None:
    """Do what can be done by itself about what `verify` finds.

    Damaged documents are restored, and their bytes are set aside, never deleted; what waits in the journal is written;
    left-over files go; unfit backups are made anew. No Gateway may run on the folder meanwhile. Exit code 0: nothing
    needs attention any more, 1: something does, or the folder is in use.
    """
    settings = configuration(root, config)
    import anyio

    from openclaw_memory.errors import FolderInUseError, RootInUseError
    from openclaw_memory.repair import Repair, plan_repair, repair_on_disk
    from openclaw_memory.verify import verify_on_disk

    try:
        with patience(say("Reading every document ...")):
            if dry_run:
                report = verify_on_disk(settings.memory_folder)
                result = Repair(plan_repair(report, adopt=adopt), report)
            else:
                result = anyio.run(partial(repair_on_disk, settings, adopt=adopt))
    except KeyboardInterrupt:
        typer.echo(say("Interrupted. What is mended is mended; run it again for the rest."), err=True)
        raise typer.Exit(INTERRUPTED) from None
    except (RootInUseError, FolderInUseError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(NOTHING) from error
    except OSError as error:
        folder = settings.memory_folder
        typer.echo(say("{folder} can't be repaired: {error}", folder=folder, error=error), err=True)
        raise typer.Exit(TROUBLE) from error
    if json:
        print_json(_json(result, dry_run=dry_run))
    else:
        _show(console(), result, dry_run=dry_run)
    raise typer.Exit(TROUBLE if result.trouble else NOTHING if result.attention else DONE)


def _json(result: Repair, *, dry_run: bool) -> dict[str, object]:
    return {
        "memory": str(result.left.folder),
        "dry_run": dry_run,
        "actions": [
            {"path": action.path, "code": action.code.value, "words": action.words, "done": action.done}
            for action in result.actions
        ],
        "trouble": result.trouble,
        "attention": result.attention,
        "findings": [finding_json(finding) for finding in result.left.findings],
    }


def _show(out: Console, result: Repair, *, dry_run: bool) -> None:
    from rich.text import Text

    out.print(Text(str(result.left.folder), "bold"))
    show_owner(out, result.left)
    if not result.actions:
        out.print(say("Nothing to do by itself."))
    _show_actions(out, result.actions)
    if result.trouble:
        out.print(Text(result.trouble, "bold red"))
    planned = {(action.path, action.code) for action in result.actions if dry_run}
    left = [finding for finding in result.left.findings if (finding.path, finding.code) not in planned]
    show_findings(out, [finding for finding in left if finding.attention])
    if dry_run:
        out.print(say("Nothing was changed."))
    show_sum(out, result.left)


def _show_actions(out: Console, actions: Sequence[Action]) -> None:
    from rich.text import Text

    marks = {None: (say("would "), "cyan"), True: (say("done  "), "green"), False: (say("failed"), "bold red")}
    for action in actions:
        parts = (marks[action.done], "  ", (action.path, "bold"), f"  {action.code.value}: {action.words}")
        out.print(Text.assemble(*parts))
