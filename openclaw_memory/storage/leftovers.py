"""Temporary files that a crash left behind: ours are removed, and what a person may have written is kept."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from pathlib import Path

from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.storage.documents import Format
from openclaw_memory.storage.durable import TEMPORARY_SUFFIX
from openclaw_memory.storage.files import Files

log = logging.getLogger(__name__)

_NAME = re.compile(rf"\.(?P<name>.+)\.[0-9a-f]{{12}}{re.escape(TEMPORARY_SUFFIX)}")


def is_temporary(name: str) -> bool:
    """Tell whether a file has the name of a temporary file of ours."""
    return _NAME.fullmatch(name) is not None


def clean_up(
    root: Path,
    files: Files,
    folders: Iterable[str],
    format_of: Callable[[str], Format],
    versions: Collection[str],
    now: datetime,
) -> dict[str, str]:
    """Remove temporary files of ours in these folders of a root. Call it from a thread, as the owner of the root.

    For a moment while a file is exchanged, a temporary name may stand for what a person has just saved. So only what is
    certainly ours goes: a file that is empty, that fits its checksum, or that names a version which we were about to
    write (`versions`). Any other is kept as `<name>.recovered-<time>`, and told: by document, in words.
    """
    told: dict[str, str] = {}
    for folder in folders:
        try:
            names = list(files.scan(root / folder))
        except OSError as error:
            log.warning("%s can't be looked through: %s", root / folder, error)
            continue
        for temporary in names:
            match = _NAME.fullmatch(temporary)
            if match is None:
                continue
            path, document = root / folder / temporary, f"{folder}/{match['name']}"
            try:
                if not document.endswith(".md") or _is_ours(files.read_now(path), document, format_of, versions):
                    files.remove(path)
                    continue
                kept = f"{document}.recovered-{now:%Y%m%dT%H%M%S}"
                files.rename(path, root / kept)
            except OSError as error:
                log.warning("%s is left over and can't be removed: %s", path, error)
                continue
            told[document] = f"a crash interrupted somebody's save of {document}; what it was is in {kept}"
            log.error("%s", told[document])
    return told


def _is_ours(data: bytes, path: str, format_of: Callable[[str], Format], versions: Collection[str]) -> bool:
    # A power cut may leave a file of the right length with nothing but zeroes in it.
    if not data.strip(b"\0 \t\r\n"):
        return True
    form = format_of(path)
    try:
        document = form.parse(path, data)
    except UnreadableDocumentError:
        return False
    return form.fits(document) is True or form.version(document) in versions
