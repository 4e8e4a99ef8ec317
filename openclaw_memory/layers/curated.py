"""MEMORY.md: what is worth knowing in every session, chosen with care (seed 002, seed 003 section 26.4).

One file, or an index that links to others beside it. An entry's address is `MEMORY.md#<digest>`, eight digits that
follow from its text: it stays when lines are added, moved or taken away around it, and changes with the entry.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from openclaw_memory.errors import Refused
from openclaw_memory.layers.documents import MarkdownDocument, tags_of
from openclaw_memory.layers.pieces import free_text
from openclaw_memory.layers.plain import PlainFormat
from openclaw_memory.markdown.curated import (
    Entry,
    add_entry,
    digest_of,
    fold,
    one_line,
    parse_curated,
    remove_entries,
    replace_entry,
    section_title,
)
from openclaw_memory.markdown.errors import UnwritableValueError
from openclaw_memory.markdown.links import MAX_DEPTH, MAX_FILES, Reach, reach
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.notes import MAX_PARSED_CHARS, append_plain
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.operations import Operation

NAME = "MEMORY.md"
PLACES = (NAME, f"memory/{NAME}")
"""Where a workspace may have it, the first that exists counts; a new one is the first (seed 003 26.4.1, 002)."""

Similar = Callable[[str, Sequence[str]], int | None]
"""Tells which of the entries says the same as a text, by its place among them; None: none of them."""


@dataclass(frozen=True, slots=True)
class EntryPlan:
    """What becomes of an entry.

    `outcome`: `added`; `known`, it was there already and nothing changed; `updated`, it took the place of an entry of
    ours with the same meaning, whose text is `replaced`; `beside`, it stands below one that a person wrote, which
    stays. `digest` is to be remembered as ours, unless it was known.
    """

    key: str
    digest: str
    outcome: Literal["added", "known", "updated", "beside"]
    replaced: str | None = None


def plan_entry(
    draft: Draft,
    path: str,
    text: str,
    *,
    section: str | None,
    language: Language,
    ours: Collection[str] = (),
    similar: Similar | None = None,
) -> EntryPlan:
    """Put an entry into MEMORY.md, unless it says so already.

    Parameters: `path`, a document of the draft; `text`, which `clean` has gone over; `section`, None for the project's
    context; `ours`, digests of the entries that we wrote, the only ones that may be replaced; `similar`, where
    meanings can be compared.

    Raises: `Refused` when the text is no entry, or the file too long to be kept in order; nothing changes.
    """
    document: MarkdownDocument = draft.document(path)
    if len(document.body) > MAX_PARSED_CHARS:
        raise Refused(
            "text",
            f"{path} has {len(document.body):,} characters, entries are added up to {MAX_PARSED_CHARS:,}; "
            "move parts of it into files that it links to",
        )
    try:
        line = one_line(text)
    except UnwritableValueError as error:
        raise Refused(error.field, error.reason) from error
    entries = entries_in(document)
    known = next((entry for entry in entries if fold(entry.text) == fold(line)), None)
    if known is not None:
        return EntryPlan(f"{path}#{known.digest}", known.digest, "known")
    place = similar(line, [entry.text for entry in entries]) if similar is not None and entries else None
    like = None if place is None else entries[place]
    digest = digest_of(line)
    arguments = {"section": section_title(section, language), "text": line, "language": language}
    if like is not None and like.digest in ours:
        draft.apply(Operation(path, "replace", {**arguments, "old": like.digest}))
    else:
        draft.apply(Operation(path, "add", {**arguments, "beside": None if like is None else like.digest}))
    if not any(entry.text == line for entry in entries_in(draft.document(path))):
        raise Refused("text", "it would be read back as something else; write it as a plain sentence")
    key = f"{path}#{digest}"
    if like is None:
        return EntryPlan(key, digest, "added")
    if like.digest in ours:
        return EntryPlan(key, digest, "updated", like.text)
    return EntryPlan(key, digest, "beside")


def linked_files(
    start: str, held: Mapping[str, MarkdownDocument | None], *, depth: int = MAX_DEPTH, most: int = MAX_FILES
) -> Reach:
    """Follow the links of an index to files of the same workspace, nearest first.

    Parameters: `held`, the documents that are loaded, by path, None for one that does not exist or can't be read; load
    what the answer calls `missing` and ask again. That no symbolic link leads out of the workspace, the loader sees to.
    """
    bodies = {path: "" if document is None else document.body for path, document in held.items()}
    return reach(start, bodies, depth=depth, most=most)


def entries_in(document: MarkdownDocument) -> tuple[Entry, ...]:
    """Read the entries of a document, once. Of one that is too long to be parsed at once there are none."""
    if len(document.body) > MAX_PARSED_CHARS:
        return ()
    return document.once("entries", lambda: parse_curated(document.body))


def text_of(document: MarkdownDocument) -> str:
    """Give MEMORY.md as the prompt holds it."""
    return document.body.replace("\r\n", "\n").strip()


def blocks(document: MarkdownDocument, prefix: str = "") -> list[Block]:
    """Give the entries, and what else stands in the file, as addressable pieces.

    Parameters: `prefix`, what stands before the path in addresses, such as `workspace/main/`.
    """
    entries = entries_in(document)
    start = document.body_start - 1
    pieces = [
        Block(
            key=f"{document.path}#{entry.digest}",
            layer="memory",
            path=document.path,
            start_line=start + entry.start_line,
            end_line=start + entry.end_line,
            text=entry.text,
            time=None,
            section=entry.section or None,
            tags=tags_of(document.front),
        )
        for entry in entries
    ]
    taken = {line for entry in entries for line in range(entry.start_line, entry.end_line + 1)}
    pieces += free_text(document, "memory", time=None, taken=taken)
    return [piece._replace(key=f"{prefix}{piece.key}", path=f"{prefix}{piece.path}") for piece in pieces]


def _add(body: str, arguments: Mapping[str, Any], newline: str) -> str:
    if len(body) > MAX_PARSED_CHARS:
        return append_plain(body, f"- {arguments['text']}", newline)
    try:
        return add_entry(
            body,
            arguments["section"],
            arguments["text"],
            beside=arguments["beside"],
            language=arguments["language"],
            newline=newline,
        ).body
    except UnwritableValueError:
        # Planned on another text than a person has made of it since: the words are what must not be lost.
        return append_plain(body, f"- {arguments['text']}", newline)


def _replace(body: str, arguments: Mapping[str, Any], newline: str) -> str:
    try:
        edit = (
            None
            if len(body) > MAX_PARSED_CHARS
            else replace_entry(body, arguments["old"], arguments["text"], newline=newline)
        )
    except UnwritableValueError:
        edit = None
    # A person has changed the old entry meanwhile: theirs stays, ours is added.
    return edit.body if edit is not None else _add(body, {**arguments, "beside": None}, newline)


def _replace_collision(body: str, arguments: Mapping[str, Any]) -> str | None:
    digests = {entry.digest for entry in parse_curated(body)} if len(body) <= MAX_PARSED_CHARS else set()
    if arguments["old"] in digests or digest_of(arguments["text"]) in digests:
        return None
    return f"{arguments['old']}: changed by hand and by the agent; both are kept"


def _retire(body: str, arguments: Mapping[str, Any], newline: str) -> str:
    return body if len(body) > MAX_PARSED_CHARS else remove_entries(body, arguments["digests"], newline=newline)


FORMAT = PlainFormat({"add": _add, "replace": _replace, "retire": _retire}, {"replace": _replace_collision})
