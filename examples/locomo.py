"""Read LoCoMo files: long chats of two people over months (arXiv 2402.17753). The data are not part of this project.

`speaker_a` becomes the user and `speaker_b` the assistant. The files state no facts and no tasks in a form that a
program could take over without guessing ("I'm a big fan of ...", "I'm a mix of ..."), so the turns carry no notes.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from examples.dialogue import Turn
from examples.errors import DialogueFormatError

SECONDS_PER_TURN = 30
"""LoCoMo dates a session, not its turns: each turn is set this many seconds after the one before it."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TIME = r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?\s*(?P<half>[ap]\.?m\.?)?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DATES = tuple(
    re.compile(rf"{_TIME},?\s+(?:on\s+)?{date}", re.IGNORECASE)
    for date in (
        rf"{_DAY}\s+(?:of\s+)?(?P<month>[a-z]{{3,9}})\.?,?\s+(?P<year>\d{{4}})",
        rf"(?P<month>[a-z]{{3,9}})\.?\s+{_DAY},?\s+(?P<year>\d{{4}})",
    )
)


def parse(text: str, *, path: Path, timezone: str) -> tuple[Turn, ...]:
    """Read the turns of a LoCoMo file, in the order of its session numbers.

    `path` is for errors, and its stem begins the session ids; `timezone` is the IANA name of the zone in which the
    clock times are taken. Raises `DialogueFormatError`, which names the place, where a key is missing or a date can't
    be read.
    """
    try:
        conversation = json.loads(text)["conversation"]
        speakers = {conversation["speaker_a"]: "user", conversation["speaker_b"]: "assistant"}
    except (ValueError, TypeError, KeyError) as error:
        problem = f"expected an object with `conversation`, `speaker_a`, `speaker_b` ({type(error).__name__}: {error})"
        raise DialogueFormatError(path, "the file", problem) from error
    turns: list[Turn] = []
    for number in _session_numbers(conversation):
        place = f"session_{number}"
        start = parse_time(str(conversation.get(f"{place}_date_time", "")), timezone)
        if start is None:
            raise DialogueFormatError(path, f"{place}_date_time", "expected such as `1:56 pm on 8 May, 2023`")
        for position, raw in enumerate(conversation[place]):
            turns.append(_turn(raw, speakers, f"{path.stem}-{number:02}", start, position, path, place))
    return tuple(turns)


def parse_time(text: str, timezone: str) -> datetime | None:
    """Read a session's date, such as `1:56 pm on 8 May, 2023`, `12:09 am on May 8th 2023` or ISO 8601.

    Gives the time in `timezone` (an ISO time keeps its own offset), or None where the text is no date.
    """
    zone = ZoneInfo(timezone)
    try:
        iso = datetime.fromisoformat(text.strip())
        return iso if iso.tzinfo is not None else iso.replace(tzinfo=zone)
    except ValueError:
        match = next((match for date in _DATES if (match := date.fullmatch(text.strip()))), None)
    if match is None or (name := match["month"][:3].lower()) not in _MONTHS:
        return None
    hour, half = int(match["hour"]), (match["half"] or "").lower()
    if half and not 1 <= hour <= 12:
        return None
    if half:
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    try:
        month, minute = _MONTHS.index(name) + 1, int(match["minute"] or 0)
        return datetime(int(match["year"]), month, int(match["day"]), hour, minute, tzinfo=zone)
    except ValueError:
        return None


def _session_numbers(conversation: dict[str, Any]) -> list[int]:
    """Give the numbers of the sessions that have turns (files also date sessions that have none)."""
    found = (re.fullmatch(r"session_(\d+)", key) for key in conversation)
    return sorted(int(match[1]) for match in found if match)


def _turn(
    raw: Any, speakers: dict[str, str], session: str, start: datetime, position: int, path: Path, place: str
) -> Turn:
    """Read one turn; an image's caption becomes a line in brackets."""
    try:
        role = speakers[raw["speaker"]]
        text = str(raw["text"])
    except (TypeError, KeyError) as error:
        problem = f"expected `speaker` (one of {', '.join(speakers)}) and `text`"
        raise DialogueFormatError(path, f"{place}[{position}]", problem) from error
    if caption := raw.get("blip_caption"):
        text = f"{text}\n[image: {caption}]"
    # Counted in UTC: adding to a local time would go wrong in the night when the clocks change.
    time = (start.astimezone(UTC) + timedelta(seconds=position * SECONDS_PER_TURN)).astimezone(start.tzinfo)
    return Turn(session, time, "user" if role == "user" else "assistant", text)
