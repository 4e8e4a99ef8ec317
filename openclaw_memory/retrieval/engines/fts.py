"""The keyword engine that is a part of SQLite: FTS5 without content, fed with terms that are cut already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any as Anything

import apsw

from openclaw_memory.retrieval.engines.engine import Cut, Delta, Question
from openclaw_memory.retrieval.engines.marks import All, Condition, marks_of

_TOKEN_CHARS = "!#$%&()*+,-./:;<=>?@[\\]^_`{|}~"
"""All of ASCII that a term may hold besides letters and digits; beyond ASCII every character is a part of a term."""

CREATE = f"""CREATE VIRTUAL TABLE postings USING fts5(
    words, marks, content='', tokenize="ascii tokenchars '{_TOKEN_CHARS}'"
)"""
SECURE = "INSERT INTO postings(postings, rank) VALUES ('secure-delete', 1)"
"""What is deleted leaves FTS5's own pages at once; kept in the database."""


class FtsEngine:
    """FTS5. Its own `bm25` chooses the candidates; a term that half of the blocks hold is worth nothing to it."""

    name = "sqlite"
    view = None
    spare = 256
    own_files = False
    vanished = False

    def refresh(self) -> None:
        """Do nothing: there are no files of its own."""

    def begin(self, delta: Delta) -> None:
        """Do nothing: there are no files of its own."""

    def prepare(self, generation: int) -> None:
        """Do nothing: there are no files of its own."""

    def give_up(self) -> None:
        """Do nothing: there are no files of its own."""

    def restore(self, touched: Sequence[int], delta: Delta, generation: int) -> None:
        """Do nothing: there are no files of its own."""

    def generation(self) -> int | None:
        """Give None: there are no files of its own."""
        return None

    def write(self, connection: apsw.Connection, delta: Delta) -> None:
        """Take out and enter terms. A table without content has to be told what it held."""
        connection.executemany(
            "INSERT INTO postings(postings, rowid, words, marks) VALUES ('delete', ?, ?, ?)",
            ((cut.id, cut.words, " ".join(marks_of(cut.block))) for cut in delta.gone),
        )
        self.enter(connection, delta.new)

    def enter(self, connection: apsw.Connection, cuts: Iterable[Cut]) -> None:
        """Enter the terms of blocks."""
        connection.executemany(
            "INSERT INTO postings(rowid, words, marks) VALUES (?, ?, ?)",
            ((cut.id, cut.words, " ".join(marks_of(cut.block))) for cut in cuts),
        )

    def clear(self, connection: apsw.Connection) -> None:
        """Take out the terms of all blocks."""
        connection.execute("INSERT INTO postings(postings) VALUES ('delete-all')")

    def candidates(self, view: Anything, reader: apsw.Connection, question: Question, limit: int) -> list[int]:
        """Give the ids of the blocks that FTS5 ranks best."""
        match = "words : (" + " OR ".join(map(_quoted, question.words)) + ")"
        if question.condition is not None:
            match = f"({match}) AND marks : ({_asked(question.condition)})"
        if question.until is None:
            # Sorting by the rank alone is what FTS5 does fastest; the times are looked up only where ranks tie.
            ranked = list(
                reader.execute(
                    "SELECT rowid, bm25(postings, 1.0, 0.0) AS score FROM postings WHERE postings MATCH ? "
                    "ORDER BY score LIMIT ?",
                    (match, limit + 1),
                )
            )
            if len(ranked) <= limit or ranked[-1][1] > ranked[-2][1]:
                return [id_ for id_, _ in ranked[:limit]]
        return [
            id_
            for (id_,) in reader.execute(
                "SELECT postings.rowid FROM postings JOIN blocks ON blocks.id = postings.rowid WHERE postings MATCH ? "
                "AND blocks.time <= ? ORDER BY bm25(postings, 1.0, 0.0), blocks.time DESC LIMIT ?",
                (match, 2**63 - 1 if question.until is None else question.until, limit),
            )
        ]

    def close(self) -> None:
        """Do nothing: the database is closed by whoever opened it."""


def _asked(condition: Condition) -> str:
    if isinstance(condition, str):
        return _quoted(condition)
    joint = " AND " if isinstance(condition, All) else " OR "
    return joint.join(f"({_asked(part)})" for part in condition.parts)


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'
