"""Paths as settings give them."""

from __future__ import annotations

from pathlib import Path


def absolute(path: Path) -> Path:
    """Give a path in full, `~` spelled out.

    Raises: `ValueError` when it names a home that can't be found, or is no UTF-8.
    """
    try:
        full = path.expanduser().absolute()
    except RuntimeError as error:
        # `~somebody`, of whom the system knows nothing.
        raise ValueError(f"{str(path)!r} names a home that can't be found") from error
    try:
        str(full).encode()
    except UnicodeEncodeError as error:
        # It stands in files, answers and JSON, none of which could hold it.
        raise ValueError(f"the name is no UTF-8: {str(full)!r}; rename it") from error
    return full
