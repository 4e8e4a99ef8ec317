"""Secrets that are known by where they stand: below the name, in a table, between two tags."""

from __future__ import annotations

import re
from collections.abc import Iterator

from openclaw_memory.masking.kinds import Kind
from openclaw_memory.masking.names import NAMES, named
from openclaw_memory.masking.phrases import VALUE, span_of
from openclaw_memory.masking.shapes import Span

# The value has a line for itself: a sentence that begins below a name is none.
_BELOW: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (
        kind,
        re.compile(
            rf"(?:{name}[ \t]*(?:[(（][^()（）\n]{{0,30}}[)）][ \t]*)?[\"*_`]{{0,3}}[ \t]*[:：=][ \t]*[\"*_`]{{0,3}}"
            rf"|(?<![^\n])[ \t]{{0,3}}#{{1,6}}[ \t][^\n#]{{0,60}}?{name}[ \t]*)"
            rf"[ \t]*\r?\n(?:[ \t]*\r?\n)?(?:```\w{{0,10}}[ \t]*\r?\n)?[ \t]*(?:[-*+>][ \t]+)?[*_]{{0,2}}{VALUE}"
            r"[\"'`*]{0,3}[ \t]*(?=[\r\n]|\Z)",
            re.IGNORECASE,
        ),
    )
    for kind, name in NAMES
)
_TAGS: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (
        kind,
        re.compile(
            rf"<(?:[\w.-]{{0,40}}[:_.-])?{name}(?:[ \t][^<>\n]{{0,100}})?>[ \t]*(?:<!\[CDATA\[)?{VALUE}"
            r"[ \t]*(?:\]\]>)?</",
            re.IGNORECASE,
        ),
    )
    for kind, name in NAMES
)
_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
_RULE = re.compile(r"[ \t]*\|[-:| \t]+\|[ \t]*")
_CELL = re.compile(r"(?<=\|)(?:[^|\\\n]|\\.)*(?=\|)")
_CELL_VALUE = re.compile(rf"[ \t]*\*{{0,2}}{VALUE}[\"'`*]{{0,3}}[ \t]*\Z")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+")


def by_form(text: str) -> Iterator[Span]:
    """Find secrets by where they stand: where each begins and ends, and what it is."""
    if "\n" in text:
        for kind, pattern in _BELOW:
            yield from _matched(text, kind, pattern, explicit=False)
    if "</" in text:
        for kind, pattern in _TAGS:
            yield from _matched(text, kind, pattern, explicit=True)
    if "|" in text:
        yield from _tables(text)


def _matched(text: str, kind: Kind, pattern: re.Pattern[str], *, explicit: bool) -> Iterator[Span]:
    for match in pattern.finditer(text):
        if (span := span_of(text, match, "value", kind, explicit)) is not None:
            yield span


def _tables(text: str) -> Iterator[Span]:
    """Find those in tables: in the cell beside a name, and in those below one."""
    columns: list[Kind | None] = []
    end_before, row_before = -1, ""
    for row in _ROW.finditer(text):
        if row.start() != end_before + 1:
            columns, row_before = [], ""
        if _RULE.fullmatch(row[0]):
            columns = [named(cell[0].strip()) for cell in _CELL.finditer(row_before)]
        else:
            cells = [cell.span() for cell in _CELL.finditer(text, row.start(), row.end())]
            kinds = [*columns, *[None] * len(cells)]
            if not any(columns) and len(cells) > 1:
                kinds[1] = named(text[slice(*cells[0])].strip())
            for kind, cell in zip(kinds, cells, strict=False):
                if kind is not None and (span := _in_cell(text, cell, kind)) is not None:
                    yield span
        end_before, row_before = row.end(), row[0]


def _in_cell(text: str, cell: tuple[int, int], kind: Kind) -> Span | None:
    match = _CELL_VALUE.match(text, *cell)
    if match is None or _VERSION.fullmatch(match["value"]):
        return None
    return span_of(text, match, "value", kind, explicit=bool(match["quote"]))
