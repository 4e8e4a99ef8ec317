"""The keyword engine that is tantivy: terms in files of their own, beside the database."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import apsw
import tantivy
from tantivy import Occur, Query

from openclaw_memory.retrieval.bm25 import weight
from openclaw_memory.retrieval.breathing import breathing
from openclaw_memory.retrieval.engines.engine import Cut, Delta, Question
from openclaw_memory.retrieval.engines.marks import All, Condition, marks_of
from openclaw_memory.retrieval.moments import microseconds

HEAP_BYTES = 30_000_000
"""What tantivy may collect in memory before it writes a segment. The least that it takes for a thread is half of that;
then a commit of five thousand blocks is several segments, and merging them costs a tenth of the whole."""
SPARE = 8
"""Hits beyond those that are wanted, so that the few that mostly tie for the last place are seen at once."""
MOST_TIED = 65_536
"""Blocks that tie for the last place and are looked at for the newest; beyond it any of them is taken."""
FEW, FEW_SHARE = 8, 0.02
"""Deleted documents that make no difference to whom tantivy puts among the best."""
_TOKENIZER = "terms"
_MARKER = 1


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("id", indexed=True, fast=True)
    builder.add_integer_field("time", indexed=True, fast=True)
    # No positions: nobody asks for phrases.
    builder.add_text_field("words", tokenizer_name=_TOKENIZER, index_option="freq")
    builder.add_text_field("marks", tokenizer_name=_TOKENIZER, index_option="basic")
    # One document bears the marker and says which generation the index is of: it is committed with what it tells of.
    builder.add_integer_field("marker", indexed=True)
    builder.add_integer_field("generation", fast=True)
    return builder.build()


@dataclass(frozen=True, slots=True)
class View:
    """What a commit has made searchable, and how many documents tantivy counts in it: deleted ones too, for a while."""

    searcher: tantivy.Searcher
    documents: int

    def worth(self, word: str, question: Question) -> float:
        """Tell what a term weighs in tantivy's own score; 0.0 for one that it does not hold."""
        # Few of its documents are deleted ones: then it counts about as the rows do, and need not be asked.
        asked = self.documents - question.rows > FEW + question.rows * FEW_SHARE
        holders = self.searcher.doc_freq("words", word) if asked else question.held[word]
        return weight(max(self.documents, holders), holders) if holders else 0.0


class TantivyEngine:
    """Terms in a folder. Only one process may write; others read what was committed.

    Parameters: `folder`, which holds the index; it is made when `create`. `writable` tells whether to write it.

    Raises: whatever tantivy raises when the folder holds no sound index, or somebody else writes it.
    """

    name = "tantivy"
    spare = 8
    own_files = True

    def __init__(self, folder: Path, *, create: bool = False, writable: bool = True) -> None:
        self.folder = folder
        self._schema = _schema()
        self._index = (
            tantivy.Index(self._schema, path=str(folder), reuse=False) if create else tantivy.Index.open(str(folder))
        )
        # Terms are cut already, and hold no white space.
        tokenizer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        self._index.register_tokenizer(_TOKENIZER, tokenizer)
        self._index.config_reader(reload_policy="manual")
        self._writer = self._index.writer(heap_size=HEAP_BYTES, num_threads=1) if writable else None
        self._view = self._fresh()

    @property
    def view(self) -> View:
        """Give what the last commit made searchable."""
        return self._view

    @property
    def vanished(self) -> bool:
        """Tell whether somebody removed the folder or what names its files."""
        return not (self.folder / "meta.json").exists()

    def refresh(self) -> None:
        """Look at what another process committed."""
        self._view = self._fresh()

    def generation(self) -> int | None:
        """Tell which generation of the rows the terms belong to; None when nothing says so."""
        searcher = self._view.searcher
        found = searcher.search(self._term("marker", _MARKER), 1, count=False).hits
        if not found:
            return None
        (value,) = searcher.fast_field_values("generation", [found[0][1]])
        return None if value is None else int(value)

    def begin(self, delta: Delta) -> None:
        """Hand a delta over to tantivy's own thread."""
        self._enter([one.id for one in delta.gone], delta.new)

    def prepare(self, generation: int) -> None:
        """Commit what was begun, and the generation that it makes, to the folder."""
        self._commit(self._writing(), generation)

    def give_up(self) -> None:
        """Drop what was begun and not committed."""
        if self._writer is not None:
            self._writer.rollback()

    def restore(self, touched: Sequence[int], delta: Delta, generation: int) -> None:
        """Take out all blocks with the ids `touched`, enter those of the delta, and be of this generation."""
        try:
            self._enter(touched, delta.new)
            self.prepare(generation)
        except BaseException:
            self.give_up()
            raise

    def write(self, connection: apsw.Connection, delta: Delta) -> None:
        """Do nothing: the terms lie in the folder."""

    def fill(self, cuts: Iterable[Cut], generation: int) -> None:
        """Commit blocks to a folder that is empty as yet."""
        self._enter((), cuts)
        self.prepare(generation)

    def candidates(self, view: View, reader: apsw.Connection, question: Question, limit: int) -> list[int]:
        """Give the ids of the blocks that tantivy scores best; it rounds lengths above forty terms."""
        query, wanted = self._query(question, view), limit + SPARE
        searcher = view.searcher
        while True:
            hits = searcher.search(query, wanted, count=False).hits
            # Of equals tantivy takes those entered first, and we want the newest: all of them are looked at.
            if len(hits) < wanted or wanted > MOST_TIED or hits[-1][0] < hits[limit - 1][0]:
                break
            wanted *= 8
        if len(hits) > limit and hits[limit][0] == hits[limit - 1][0]:
            times = self._values(searcher, "time", [address for _, address in hits])
            ranked = sorted(zip(hits, times, strict=True), key=lambda one: (-one[0][0], -one[1]))
            hits = [hit for hit, _ in ranked]
        return self._values(searcher, "id", [address for _, address in hits[:limit]])

    def close(self) -> None:
        """Let go of the folder; what was not committed is dropped."""
        writer, self._writer = self._writer, None
        if writer is not None:
            # Where somebody removed the folder there is nothing to go back to, and nothing to save either.
            with suppress(ValueError, OSError):
                writer.rollback()
                writer.wait_merging_threads()

    def _enter(self, touched: Iterable[int], cuts: Iterable[Cut]) -> None:
        writer = self._writing()
        for id_ in touched:
            writer.delete_documents_by_term("id", id_)
        for cut in breathing(cuts):
            writer.add_document(self._document(cut))

    def _commit(self, writer: tantivy.IndexWriter, generation: int) -> None:
        writer.delete_documents_by_term("marker", _MARKER)
        writer.add_document(tantivy.Document(marker=_MARKER, generation=generation))
        writer.commit()
        self._view = self._fresh()

    def _document(self, cut: Cut) -> tantivy.Document:
        document = tantivy.Document()
        document.add_integer("id", cut.id)
        document.add_integer("time", microseconds(cut.block.time))
        document.add_text("words", cut.words)
        document.add_text("marks", " ".join(marks_of(cut.block)))
        return document

    def _writing(self) -> tantivy.IndexWriter:
        if self._writer is None:
            raise OSError(f"{self.folder} is open for reading only")
        return self._writer

    def _fresh(self) -> View:
        self._index.reload()
        searcher = self._index.searcher()
        return View(searcher, self._documents(searcher))

    def _documents(self, searcher: tantivy.Searcher) -> int:
        """Ask how many documents tantivy reckons with; it tells only where it explains a score."""
        query = self._term("marker", _MARKER)
        hits = searcher.search(query, 1, count=False).hits
        if hits:
            explained = json.loads(query.explain(searcher, hits[0][1]).to_json())
            for detail in (inner for outer in explained["details"] for inner in outer.get("details", ())):
                if detail["description"].startswith("N,"):
                    return round(float(detail["value"]))
        return searcher.num_docs

    def _values(self, searcher: tantivy.Searcher, field: str, addresses: list[tantivy.DocAddress]) -> list[int]:
        return [int(value or 0) for value in searcher.fast_field_values(field, addresses)]

    def _query(self, question: Question, view: View) -> Query:
        words = []
        for word, ours in question.words.items():
            theirs = view.worth(word, question)
            if theirs:
                # tantivy counts what is deleted, and does not know what waits: our weight takes the place of its own.
                term = Query.boost_query(self._term("words", word, "freq"), ours / theirs)
                words.append((Occur.Should, term))
        query = Query.boolean_query(words)
        asked = []
        if question.condition is not None:
            asked.append(self._condition(question.condition))
        if question.until is not None:
            upto = Query.range_query(self._schema, "time", tantivy.FieldType.Integer, None, question.until)
            asked.append(upto)
        if not asked:
            return query
        filters = [(Occur.Must, Query.const_score_query(part, 0.0)) for part in asked]
        return Query.boolean_query([(Occur.Must, query), *filters])

    def _condition(self, condition: Condition) -> Query:
        if isinstance(condition, str):
            return self._term("marks", condition, "basic")
        occur = Occur.Must if isinstance(condition, All) else Occur.Should
        return Query.boolean_query([(occur, self._condition(part)) for part in condition.parts])

    def _term(self, field: str, value: str | int, index_option: str = "basic") -> Query:
        return Query.term_query(self._schema, field, value, index_option)
