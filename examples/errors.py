"""What can go wrong while the examples read their data."""

from __future__ import annotations

from pathlib import Path


class ExampleError(Exception):
    """Raised when an example cannot go on; base of the errors of this room."""


class DialogueFormatError(ExampleError):
    """Raised when a dialogue file is not of the shape that its reader knows.

    `place` is where in the file `path`, such as `line 3` or `session_2[4]`; `problem` says what would be right there.
    """

    def __init__(self, path: Path, place: str, problem: str) -> None:
        self.path = path
        self.place = place
        self.problem = problem
        super().__init__(f"{path}, {place}: {problem}")


class FolderInUseError(ExampleError):
    """Raised when an example would write made-up memories into a folder that already holds something."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        super().__init__(f"{folder} is not empty; name a new folder, or none for a temporary one")


class ScriptOutOfStepError(ExampleError):
    """Raised when the scripted model is asked something else than what the dialogue says next.

    `expected` is the message that the dialogue has next, `asked` the one that the prompt ended with.
    """

    def __init__(self, expected: str | None, asked: str | None) -> None:
        self.expected = expected
        self.asked = asked
        super().__init__(
            f"the dialogue goes on with {_short(expected)} but the model was asked {_short(asked)}; "
            "a ScriptedModel answers one dialogue, in order, once"
        )


def _short(text: str | None, limit: int = 60) -> str:
    """Quote a text, cut to `limit` characters."""
    if text is None:
        return "nothing"
    return repr(text if len(text) <= limit else text[:limit] + "...")
