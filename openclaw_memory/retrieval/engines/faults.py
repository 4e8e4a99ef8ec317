"""Turn what SQLite, tantivy and the system raise into the three faults that an index knows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty

import apsw

from openclaw_memory.retrieval.engines.errors import IndexDamagedError, IndexFaultError, IndexUnavailableError

_NOT_NOW = (
    apsw.BusyError,
    Empty,
    apsw.CantOpenError,
    apsw.FullError,
    apsw.IOError,
    apsw.LockedError,
    apsw.NoMemError,
    apsw.PermissionsError,
    apsw.ReadOnlyError,
)


@contextmanager
def told(what: str, kind: type[IndexFaultError] = IndexDamagedError) -> Iterator[None]:
    """Name what was being done in the fault that becomes of an error. Nothing of a caller's runs within.

    Raises: `IndexUnavailableError` for locks, permissions and a full disk; `kind` for everything else that goes wrong,
    files that are missing or folders included.
    """
    try:
        yield
    except _NOT_NOW as error:
        raise IndexUnavailableError(what, str(error) or type(error).__name__) from error
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise kind(what, f"{error.filename}: {error.strerror}") from error
    except OSError as error:
        raise IndexUnavailableError(what, error.strerror or str(error)) from error
    except (apsw.Error, ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        # Besides what the libraries raise: what comes of rows that hold what was never written.
        raise kind(what, f"{type(error).__name__}: {error}") from error
    except BaseException as error:
        # tantivy panics over some damaged files. That error is no `Exception`, and its class can't be imported.
        if type(error).__name__ != "PanicException":
            raise
        raise kind(what, f"tantivy gave up: {error}") from error
