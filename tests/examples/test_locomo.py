"""LoCoMo files are read as they are."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from examples.dialogue import read_dialogue
from examples.errors import DialogueFormatError
from examples.locomo import parse, parse_time

FILE = Path("conv-7.json")


def conversation(**changes):
    """Give a file of the true shape, changed."""
    content = {
        "speaker_a": "Ann",
        "speaker_b": "Bo",
        "session_2_date_time": "11:59 pm on 31 December, 2023",
        "session_2": [
            {"speaker": "Bo", "dia_id": "D2:1", "text": "Happy"},
            {"speaker": "Ann", "dia_id": "D2:2", "text": "new"},
            {"speaker": "Bo", "dia_id": "D2:3", "text": "year"},
        ],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {
                "speaker": "Ann",
                "dia_id": "D1:1",
                "text": "Look",
                "blip_caption": "a photo of a cat",
                "img_url": ["http://x"],
            }
        ],
        "session_3_date_time": "9:00 am on 1 January, 2024",
    }
    return json.dumps({"sample_id": "conv-7", "conversation": content | changes, "qa": []})


def test_sessions_come_in_order_of_their_numbers():
    """Not in the order of the file; a date without turns is no session."""
    turns = parse(conversation(), path=FILE, timezone="UTC")
    assert [turn.session for turn in turns] == ["conv-7-01", "conv-7-02", "conv-7-02", "conv-7-02"]


def test_speakers_become_user_and_assistant():
    """The first speaker is the user."""
    turns = parse(conversation(), path=FILE, timezone="UTC")
    assert [turn.role for turn in turns] == ["user", "assistant", "user", "assistant"]


def test_caption_is_a_line_in_brackets():
    """What the picture shows is part of the turn."""
    assert parse(conversation(), path=FILE, timezone="UTC")[0].content == "Look\n[image: a photo of a cat]"


def test_turns_follow_each_other_past_midnight():
    """Thirty seconds a turn, into the new year."""
    times = [turn.time for turn in parse(conversation(), path=FILE, timezone="UTC")][1:]
    assert [time.isoformat() for time in times] == [
        "2023-12-31T23:59:00+00:00",
        "2023-12-31T23:59:30+00:00",
        "2024-01-01T00:00:00+00:00",
    ]


def test_times_cross_a_change_of_clocks():
    """Turns are thirty seconds apart also where the clock jumps."""
    changed = conversation(session_2_date_time="1:59 am on 10 March, 2024")
    times = [turn.time for turn in parse(changed, path=FILE, timezone="America/New_York")][1:]
    assert [(time - times[0]).total_seconds() for time in (time.astimezone(UTC) for time in times)] == [0, 30, 60]
    assert times[-1].hour == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("12:09 am on 13 September, 2023", datetime(2023, 9, 13, 0, 9, tzinfo=UTC)),
        ("12:30 PM on 1 sep 2023", datetime(2023, 9, 1, 12, 30, tzinfo=UTC)),
        ("9 a.m. on May 8th, 2023", datetime(2023, 5, 8, 9, tzinfo=UTC)),
        ("23:15, 2nd of February 2024", datetime(2024, 2, 2, 23, 15, tzinfo=UTC)),
        ("2023-05-08 13:56", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("2023-05-08T13:56:00Z", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("13:56 pm on 8 May, 2023", None),
        ("0:10 am on 8 May, 2023", None),
        ("1:56 pm on 31 February, 2023", None),
        ("1:56 pm on 8 Mai-ish, 2023", None),
        ("1:56 pm on 8 Foo, 2023", None),
        ("", None),
    ],
)
def test_dates(text, expected):
    """Unusual dates are read; what is no date is no date."""
    assert parse_time(text, "UTC") == expected


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[]", "conversation"),
        ("{", "conversation"),
        ('{"conversation": {"speaker_a": "Ann"}}', "speaker_b"),
        (conversation(session_1_date_time="soon"), "session_1_date_time"),
        (conversation(session_1=[{"speaker": "Cy", "text": "hi"}]), r"session_1\[0\]"),
        (conversation(session_1=["hi"]), r"session_1\[0\]"),
    ],
)
def test_other_shapes_are_refused(text, named):
    """The refusal names the place."""
    with pytest.raises(DialogueFormatError, match=named):
        parse(text, path=FILE, timezone="UTC")


def test_real_file(locomo):
    """conv-26 has 419 turns in 19 sessions, from May to October 2023."""
    dialogue = read_dialogue(locomo / "conv-26.json", "UTC")
    assert len(dialogue.turns) == 419
    assert len(dialogue.sessions) == 19
    assert dialogue.turns[0].time == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert dialogue.turns[-1].time.date().isoformat() == "2023-10-22"
