"""Ids that become the names of files: checked first, so that none leads elsewhere, on any system."""

from __future__ import annotations

import re

from openclaw_memory.errors import Refused

MAX_NAME_BYTES = 200
"""Longest name made of an id, in bytes; file systems take 255, and what is written beside the file needs some."""

SUFFIX = ".jsonl"

_ESCAPES = {"%": "%25", ":": "%3A"}
"""Characters of ids that Windows does not take in names, and the one that marks them."""
_FORBIDDEN = re.compile('[\x00-\x1f\x7f-\x9f\\s/\\\\<>"|?*\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]')
_RESERVED = re.compile(r"(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³])(?:\.|$)", re.IGNORECASE)


def file_name(field: str, given: str) -> str:
    """Give the name that an id has as a file or folder; `agent:main:main` becomes `agent%3Amain%3Amain`.

    Parameters: `field`, what the id is for, such as `sessionId`.

    Raises: `Refused`, naming the field, the limit and what to do.
    """
    if not given:
        raise Refused(field, "is empty; give it at least one letter or digit")
    if match := _FORBIDDEN.search(given):
        raise Refused(field, f"holds {match[0]!r}, which no name of a file may; use letters, digits and . _ - :")
    if given[0] in ".-~" or given[-1] == ".":
        raise Refused(
            field, f"{given!r} begins with one of . - ~ or ends with a dot; begin and end with a letter or digit"
        )
    if _RESERVED.match(given):
        raise Refused(field, f"{given!r} is a device on Windows; choose another name")
    name = "".join(_ESCAPES.get(char, char) for char in given)
    if (size := len(name.encode())) > MAX_NAME_BYTES:
        raise Refused(field, f"takes {size} bytes as a name of a file, at most {MAX_NAME_BYTES} are taken; shorten it")
    return name


def session_path(agent_id: str, session_id: str) -> str:
    """Give the file of a session, relative to the root (seed 003 section 26.2.1).

    Raises: `Refused` with the field `agentId` or `sessionId`.
    """
    return f"agents/{file_name('agentId', agent_id)}/sessions/{file_name('sessionId', session_id)}{SUFFIX}"


def session_of(path: str) -> str:
    """Give the id of the session that a file is named after."""
    name = path.rpartition("/")[2].removesuffix(SUFFIX)
    for char, escape in reversed(_ESCAPES.items()):
        name = re.sub(re.escape(escape), char, name, flags=re.IGNORECASE)
    return name
