"""Make an event of what was typed; what the contract refuses is a usage error that names the field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import typer

if TYPE_CHECKING:
    from pydantic import BaseModel

P = TypeVar("P", bound="BaseModel")


def built(kind: type[P], **fields: Any) -> P:
    """Make a payload, or a part of one.

    Raises: `typer.BadParameter`, which ends the program with 2 and names each field and its limit.
    """
    from pydantic import ValidationError

    try:
        return kind(**fields)
    except ValidationError as error:
        words = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        raise typer.BadParameter(words) from error
