"""Errors of the tools of this package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class ContractsError(Exception):
    """Raised when a tool of this package cannot do what it was asked; the base of its errors."""


class BreakingChangeError(ContractsError):
    """Raised when the models break somebody who relies on the committed schemas of the same major version."""

    def __init__(self, version: str, problems: Mapping[str, Sequence[str]]) -> None:
        self.version = version
        self.problems = dict(problems)
        lines = [f"  {event}: {problem}" for event, found in problems.items() for problem in found]
        super().__init__(
            f"these changes break those who rely on version {version}:\n"
            + "\n".join(lines)
            + "\nundo them, or set a new major version in contracts/version.py"
        )


class FactoryError(ContractsError):
    """Raised when `module:factory` does not lead to something that makes a plugin."""

    def __init__(self, target: str, problem: str) -> None:
        self.target = target
        self.problem = problem
        super().__init__(
            f"{target!r} {problem}; give module:factory, "
            "where factory(root) returns a plugin with name, start(bus) and stop()"
        )


class MissingExtraError(ContractsError):
    """Raised when the kit needs a package that is not installed."""

    def __init__(self, package: str) -> None:
        self.package = package
        super().__init__(f"{package} is not installed; install openclaw-memory[conformance]")


class CheckFailedError(ContractsError):
    """Raised when what is verified did not do what the contract says."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class NotOfferedError(ContractsError):
    """Raised when what is verified says, by the bus or in its reply, that it does not offer an event."""

    def __init__(self, event_type: str, reason: str) -> None:
        self.event_type = event_type
        self.reason = reason
        super().__init__(f"{event_type} is not offered: {reason}")
