"""The command line of this package."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

from contracts.errors import BreakingChangeError, ContractsError, FactoryError

USAGE_ERROR = 2


def main(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code: 0 well, 1 something does not conform, 2 wrongly called."""
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        return run(options)
    except BreakingChangeError as error:
        print(error, file=sys.stderr)
        return 1
    except ContractsError as error:
        print(error, file=sys.stderr)
        return USAGE_ERROR


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m contracts", description="The events of memory.")
    commands = parser.add_subparsers(required=True, metavar="command")
    generate = commands.add_parser("generate", help="write the JSON Schemas and the AsyncAPI document from the models")
    generate.add_argument("--check", action="store_true", help="write nothing; exit with 1 where they differ")
    generate.set_defaults(run=_generate)
    verify = commands.add_parser("verify", help="drive somebody's Memory or Brain and tell where it does not conform")
    verify.add_argument("factory", metavar="module:factory", help="factory(root) for a Memory, factory() for a Brain")
    verify.add_argument("--role", choices=("memory", "brain"), default="memory", help="what the factory makes")
    verify.add_argument("--timeout", type=float, default=5.0, metavar="SECONDS", help="for each answer (default 5)")
    verify.add_argument("--examples", type=int, default=25, metavar="N", help="generated payloads an event; 0: none")
    verify.add_argument("--only", default="", metavar="TEXT", help="run the checks whose name holds this text")
    verify.set_defaults(run=_verify)
    return parser


def _generate(options: argparse.Namespace) -> int:
    from contracts.generate import differing_files, generate

    names = differing_files() if options.check else generate()
    for name in names:
        print(f"{'differs' if options.check else 'written'}: {name}")
    return 1 if options.check and names else 0


def _verify(options: argparse.Namespace) -> int:
    from contracts.conformance import verify_brain, verify_memory

    factory = load_factory(options.factory)
    verify = verify_brain if options.role == "brain" else verify_memory
    report = asyncio.run(
        verify(factory, subject=options.factory, patience=options.timeout, examples=options.examples, only=options.only)
    )
    if not report.results:
        raise FactoryError(options.factory, f"was not verified: no check is named like {options.only!r}")
    print(report.table())
    return 0 if report.passed else 1


def load_factory(target: str) -> Callable[..., Any]:
    """Import what `module:factory` names.

    Raises:
        FactoryError: It leads nowhere, or to something that cannot be called.
    """
    module_name, mark, name = target.partition(":")
    if not (module_name and mark and name):
        raise FactoryError(target, "is not of the form module:factory")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise FactoryError(target, f"cannot be imported ({error})") from error
    factory = getattr(module, name, None)
    if not callable(factory):
        raise FactoryError(target, f"names nothing in {module_name} that can be called")
    return factory  # type: ignore[no-any-return]
