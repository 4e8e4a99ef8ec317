"""The bundled dialogue is what it promises to be, and its reader says what is wrong with another."""

import re
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from examples.dialogue import FactStated, StepsDone, TaskMoved, TaskOpened, exchanges, read_dialogue
from examples.errors import DialogueFormatError
from examples.sample import QUESTIONS, SAMPLE, parse, read_questions

TURNS = read_dialogue(SAMPLE).turns
NOTES = [note for turn in TURNS for note in turn.notes]


def test_sample_is_long_enough():
    """At least 70 turns on six days, in several sessions, none twice."""
    assert len(TURNS) >= 70
    assert len({turn.time.date() for turn in TURNS}) == 6
    assert len(read_dialogue(SAMPLE).sessions) >= 6
    assert len({turn.time for turn in TURNS}) == len(TURNS)


def test_turns_are_in_order_of_time():
    """A replay clock only goes forward."""
    times = [turn.time for turn in TURNS]
    assert times == sorted(times)


def test_a_session_goes_past_midnight():
    """One session has turns on two days, so that two files get its messages."""
    days = Counter(session for session, _ in {(turn.session, turn.time.date()) for turn in TURNS})
    assert max(days.values()) == 2


def test_both_languages_are_spoken():
    """Neither language is a garnish."""
    chinese = sum(bool(re.search("[\u4e00-\u9fff]", turn.content)) for turn in TURNS)
    english = sum(not re.search("[\u4e00-\u9fff]", turn.content) for turn in TURNS)
    assert chinese >= 30
    assert english >= 15


@pytest.mark.parametrize(
    "piece",
    [
        "```go",
        "````md",
        "\n---\n",
        "\n### 2026-",
        "👩‍👩‍👧",
        "🇯🇵",
        "| --",
        "https://",
        "DEC-0054",
        "Ignore previous instructions",
    ],
)
def test_sample_holds_what_breaks_others(piece):
    """Fences, rules, headers, long emoji, tables, addresses, ids, an injection: each is there."""
    assert any(piece in turn.content or piece.replace(" ", "") in turn.content for turn in TURNS)


def test_turns_are_short_and_long():
    """From one character to a page."""
    lengths = [len(turn.content) for turn in TURNS]
    assert min(lengths) <= 2
    assert max(lengths) > 1_000


def test_preferences_change():
    """At least three facts get another value later."""
    values: dict[tuple[str, str], set[str]] = {}
    for note in NOTES:
        if isinstance(note, FactStated):
            values.setdefault((note.section, note.key), set()).add(note.value)
    assert sum(len(found) > 1 for found in values.values()) >= 3
    assert values["技术栈", "主要语言"] == {"TypeScript", "Go"}


def test_one_task_is_finished_and_one_stays_open():
    """Each ticked step is a step of its task; one task ends, one with a due date doesn't."""
    opened = {note.ref: note for note in NOTES if isinstance(note, TaskOpened)}
    ticked: dict[str, set[str]] = {ref: set() for ref in opened}
    for note in NOTES:
        if isinstance(note, StepsDone):
            ticked[note.ref] |= set(note.steps)
    ended = {note.ref for note in NOTES if isinstance(note, TaskMoved) and note.state == "completed"}
    assert all(ticked[ref] <= set(opened[ref].steps) for ref in opened)
    assert all(ticked[ref] == set(opened[ref].steps) for ref in ended)
    assert ended
    assert any(task.due for ref, task in opened.items() if ref not in ended)


def test_questions_rest_on_turns():
    """Each question names a turn; a text it expects is said there or noted there."""
    by_time = {turn.time: turn for turn in TURNS}
    for question in read_questions():
        turn = by_time[question.evidence]
        noted = " ".join(str(note) for note in turn.notes)
        assert all(text in turn.content or text in noted for text in question.expect), question


def test_questions_are_asked_in_both_languages():
    """At least four each."""
    chinese = sum(bool(re.search("[\u4e00-\u9fff]", question.text)) for question in read_questions())
    assert 4 <= chinese <= len(read_questions()) - 4


def test_exchanges_lose_no_turn():
    """Pairing keeps every turn, in order."""
    assert tuple(turn for exchange in exchanges(TURNS) for turn in exchange.turns) == TURNS


def test_offsets_are_kept():
    """Times keep the offset that the file gives."""
    assert all(turn.time.utcoffset() == timedelta(hours=8) for turn in TURNS)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("{", "line 1"),
        ('{"session": "s", "time": "2026-03-02T08:00:00+08:00", "role": "user"}', "content"),
        ('{"session": "s", "time": "2026-03-02T08:00:00", "role": "user", "content": ""}', "time"),
        ('{"session": "s", "time": "2026-03-02T08:00:00Z", "role": "robot", "content": ""}', "role"),
        ('{"session": "s", "time": "2026-03-02T08:00:00Z", "role": "user", "content": "", "fact": []}', "fact"),
    ],
)
def test_wrong_line_is_named(line, named):
    """The refusal names the line and the field."""
    with pytest.raises(DialogueFormatError, match=named):
        parse(line, path=Path("x.jsonl"), timezone="UTC")


def test_empty_file_is_refused(tmp_path):
    """A dialogue without a turn is a mistake, not a replay of nothing."""
    path = tmp_path / "empty.jsonl"
    path.write_text("\n")
    with pytest.raises(DialogueFormatError, match="at least one turn"):
        read_dialogue(path)


def test_other_encoding_is_refused(tmp_path):
    """A file that is no UTF-8 is named, with the place."""
    path = tmp_path / "gb.jsonl"
    path.write_bytes("你好".encode("gb18030"))
    with pytest.raises(DialogueFormatError, match="byte 0"):
        read_dialogue(path)


def test_line_separators_inside_text_do_not_split_lines():
    """Lines of JSONL end at a line feed only."""
    line = '{"session": "s", "time": "2026-03-02T08:00:00Z", "role": "user", "content": "a\u2028b\u0085c"}'
    assert parse(line, path=QUESTIONS, timezone="UTC")[0].content == "a\u2028b\u0085c"
