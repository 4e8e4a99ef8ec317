"""Temporary files that a crash left behind: ours are removed, and what a person may have written is kept."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime

from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.storage.areas import area_of, folders_of
from openclaw_memory.storage.documents import Format
from openclaw_memory.storage.durable import TEMPORARY_SUFFIX, free_path, move
from openclaw_memory.storage.files import Files
from openclaw_memory.storage.integrity import adds_nothing, digest_of
from openclaw_memory.storage.places import Places

log = logging.getLogger(__name__)

_NAME = re.compile(rf"\.(?P<name>.+)\.[0-9a-f]{{12}}{re.escape(TEMPORARY_SUFFIX)}")


def is_temporary(name: str) -> bool:
    """Tell whether a file has the name of a temporary file of ours."""
    return _NAME.fullmatch(name) is not None


def clean_up(
    places: Places,
    files: Files,
    folders: Iterable[str],
    format_of: Callable[[str], Format],
    versions: Collection[str],
    now: datetime,
) -> dict[str, str]:
    """Remove temporary files of ours in these folders of a root. Call it from a thread, as the owner of the root.

    For a moment while a file is exchanged, a temporary name may stand for what a person has just saved. So only what is
    certainly ours goes: a file that is empty, that fits its checksum, or whose version, or digest where it names none,
    is one of ours (`versions`). Any other is kept as `<name>.recovered-<time>`, and told: by document, in words.
    """
    told: dict[str, str] = {}
    for folder in _all_folders(folders, places, files):
        try:
            names = list(files.scan(places.of(folder)))
        except OSError as error:
            log.warning("%s can't be looked through: %s", places.of(folder), error)
            continue
        for temporary in names:
            match = _NAME.fullmatch(temporary)
            if match is None:
                continue
            path, document = places.of(folder) / temporary, f"{folder}/{match['name']}"
            try:
                data = files.read_now(path)
                if (
                    not (places.is_elsewhere(document) or _may_be_a_persons(document))
                    or _is_ours(data, document, format_of, versions)
                    or (places.is_elsewhere(document) and adds_nothing(data, _now(files, places, document)))
                ):
                    files.remove(path)
                    continue
                kept = free_path(files, places.companion(document, f".recovered-{now:%Y%m%dT%H%M%S}"))
                move(files, path, kept)
            except OSError as error:
                log.warning("%s is left over and can't be removed: %s", path, error)
                continue
            place = places.shown(kept)
            told[document] = f"a crash interrupted somebody's save of {document}; what it was is in {place}"
            log.error("%s", told[document])
    return told


def _all_folders(areas: Iterable[str], places: Places, files: Files) -> Iterator[str]:
    """Give the folders of all areas, each once."""
    yield from dict.fromkeys(
        folder for area in areas for folder in folders_of(area_of(area), places, files, problems={})
    )


def _now(files: Files, places: Places, document: str) -> bytes:
    """Read what a document holds now; nothing where there is none."""
    try:
        return files.read_now(places.of(document))
    except FileNotFoundError:
        return b""


def _may_be_a_persons(document: str) -> bool:
    return document.endswith((".md", ".jsonl"))


def _is_ours(data: bytes, path: str, format_of: Callable[[str], Format], versions: Collection[str]) -> bool:
    # A power cut may leave a file of the right length with nothing but zeroes in it.
    if not data.strip(b"\0 \t\r\n"):
        return True
    form = format_of(path)
    try:
        document = form.parse(path, data)
    except UnreadableDocumentError:
        return False
    return form.fits(document) is True or form.version(document) in versions or digest_of(data) in versions
