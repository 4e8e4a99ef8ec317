"""Long-term memory in a database, through SQLAlchemy (extra `sql`): SQLite, PostgreSQL, and others that it speaks to.

Every text that the long-term memory had is kept, with its time; the newest counts. The engine is a synchronous one in
a thread: any driver serves, and nothing beyond SQLAlchemy itself is needed for SQLite.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

from openclaw_memory.clock import Clock, SystemClock
from openclaw_memory.longterm.errors import LongTermError, MissingPackageError
from openclaw_memory.longterm.protocol import HistoryItem, Match, bounded, checked, folded, lines_with, words_of
from openclaw_memory.markdown.text import clean

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, MetaData, Table

T = TypeVar("T")

_ESCAPE = "\\"
_SPECIAL = {_ESCAPE: _ESCAPE * 2, "%": f"{_ESCAPE}%", "_": f"{_ESCAPE}_"}


class SqlStore:
    """The tables `openclaw_long_term` and `openclaw_history` of a database; they are made where they are missing.

    Parameters: `url`, as SQLAlchemy takes it, such as `sqlite:////home/me/memory.db` or
    `postgresql+psycopg://me@localhost/memory`; `agent`, whose memory it is: several may share a database; `clock`.

    Raises: `MissingPackageError` that names what to install.
    """

    def __init__(self, url: str, agent: str = "main", clock: Clock | None = None) -> None:
        try:
            import sqlalchemy
        except ImportError as error:
            raise MissingPackageError("sqlalchemy", "sql") from error
        self._agent = agent
        self._clock = clock or SystemClock()
        try:
            self._place = sqlalchemy.make_url(url).render_as_string(hide_password=True)
            self._engine: Engine = sqlalchemy.create_engine(url)
        except ImportError as error:
            raise LongTermError("long-term memory", f"the driver of the database is missing ({error})") from error
        except sqlalchemy.exc.ArgumentError as error:
            raise LongTermError("long-term memory", f"no URL of a database: {error}") from error
        self._tables = _Tables(sqlalchemy.MetaData())
        self._ready = False
        self._opening = anyio.Lock()

    async def read(self) -> str:
        """Give the newest text."""
        return await self._do(self._read)

    async def replace(self, text: str) -> None:
        """Add a text that counts from now on; the ones before are kept."""
        table, now = self._tables.texts, self._clock.now()
        values = {"agent": self._agent, "at": _stored(now), "text": clean(text)[0]}
        await self._do(lambda connection: connection.execute(table.insert().values(**values)))

    async def append(self, text: str, time: datetime) -> None:
        """Add an entry."""
        said = clean(checked(text, time))[0]
        table = self._tables.history
        values = {"agent": self._agent, "at": _stored(time), "text": said, "folded": folded(said)}
        await self._do(lambda connection: connection.execute(table.insert().values(**values)))

    async def history(self, most: int = 100) -> list[HistoryItem]:
        """Give the newest entries, the oldest of them first."""
        found = await self._do(partial(self._entries, (), bounded(most)))
        return found[::-1]

    async def search(self, query: str, most: int = 10) -> list[Match]:
        """Find lines and entries that have all words of a query."""
        most, words = bounded(most), words_of(query)
        if not words:
            return []

        def look(connection: Connection) -> list[Match]:
            lines = lines_with(words, self._read(connection))[:most]
            left = most - len(lines)
            entries = self._entries(words, left, connection) if left else []
            return [*lines, *(Match("history", item.text, item.time) for item in entries)]

        return await self._do(look)

    async def close(self) -> None:
        """Close the connections."""
        await anyio.to_thread.run_sync(self._engine.dispose)

    async def _do(self, step: Callable[[Connection], T]) -> T:
        """Do something in a transaction of its own, in a thread."""
        import sqlalchemy.exc

        def run() -> T:
            with self._engine.begin() as connection:
                return step(connection)

        try:
            with anyio.CancelScope(shield=True):
                async with self._opening:
                    if not self._ready:
                        await anyio.to_thread.run_sync(self._tables.metadata.create_all, self._engine)
                        self._ready = True
                done = await anyio.to_thread.run_sync(run)
        except sqlalchemy.exc.SQLAlchemyError as error:
            # Its own text holds the statement and what was to be stored.
            cause = getattr(error, "orig", None) or type(error).__name__
            raise LongTermError(self._place, str(cause).strip().partition("\n")[0]) from error
        await anyio.lowlevel.checkpoint_if_cancelled()
        return done

    def _read(self, connection: Connection) -> str:
        table = self._tables.texts
        newest = table.select().where(table.c.agent == self._agent).order_by(table.c.id.desc()).limit(1)
        row = connection.execute(newest).first()
        return "" if row is None else str(row.text)

    def _entries(self, words: tuple[str, ...], most: int, connection: Connection) -> list[HistoryItem]:
        """Give the newest entries that have all words, the newest first."""
        table = self._tables.history
        wanted = table.select().where(table.c.agent == self._agent)
        for word in words:
            pattern = "".join(_SPECIAL.get(char, char) for char in word)
            wanted = wanted.where(table.c.folded.like(f"%{pattern}%", escape=_ESCAPE))
        rows = connection.execute(wanted.order_by(table.c.id.desc()).limit(most))
        return [HistoryItem(datetime.fromisoformat(row.at), row.text) for row in rows]


class _Tables:
    def __init__(self, metadata: MetaData) -> None:
        from sqlalchemy import BigInteger, Column, Integer, String, Table, Text

        def named(name: str, *columns: Column[Any]) -> Table:
            # SQLite counts up by itself in a column that is an INTEGER and nothing else.
            number = BigInteger().with_variant(Integer(), "sqlite")
            return Table(
                name,
                metadata,
                Column("id", number, primary_key=True, autoincrement=True),
                Column("agent", String(200), nullable=False, index=True),
                Column("at", String(40), nullable=False),
                Column("text", Text, nullable=False),
                *columns,
            )

        self.metadata = metadata
        self.texts = named("openclaw_long_term")
        self.history = named("openclaw_history", Column("folded", Text, nullable=False))


def _stored(time: datetime) -> str:
    """Write a time with its offset: databases differ in what they keep of it."""
    return time.isoformat() if time.utcoffset() is not None else time.replace(tzinfo=UTC).isoformat()
