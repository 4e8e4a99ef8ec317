"""Words of a refusal: what was wrong, the limit, and what to do."""

from __future__ import annotations

from typing import Any, LiteralString

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

SHOWN_CHARS = 40
"""So much of a refused value is repeated in the text of the refusal, never more."""


def show(value: object) -> str:
    """Write a refused value so that it fits into a sentence: escaped, and cut after 40 characters."""
    if isinstance(value, str):
        return repr(value) if len(value) <= SHOWN_CHARS else f"{value[:SHOWN_CHARS]!r}... ({len(value):,} characters)"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}" if value.bit_length() <= 64 else "a number of more than 64 bits"
    return f"a {type(value).__name__}"


def refusal(kind: LiteralString, text: str) -> PydanticCustomError:
    """Build the error of one field.

    Args:
        kind: Stable name of the kind of error, for programs.
        text: Words for a person. Braces in it are safe: it is handed over as a value, not as a template.
    """
    return PydanticCustomError(kind, "{text}", {"text": text})


def refusal_at(field: str, kind: LiteralString, text: str, value: Any = None) -> ValidationError:
    """Build the error of a field that only its model can judge, so that the error names the field, not the model.

    Args:
        field: Path of the field within the model, as on the wire; positions in a list are numbers.
        kind: Stable name of the kind of error, for programs.
        text: Words for a person.
        value: What was given.
    """
    details = InitErrorDetails(
        type=refusal(kind, text),
        loc=tuple(int(name) if name.isdigit() else name for name in field.split(".")),
        input=value,
    )
    return ValidationError.from_exception_data(field, [details])
