"""The demo fits its screen, in both widths, with and without colours."""

import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from contracts import StepContent
from examples.dialogue import FactStated, read_dialogue
from examples.notes import KnownTask
from examples.sample import SAMPLE
from examples.scene import found_in, opening, with_fact
from examples.transcript import folded
from examples.views import one_line, steps_bar, turn_lines, turn_screen

DIALOGUE = read_dialogue(SAMPLE)


@pytest.fixture
def scene(context):
    """Give a moment with much to show."""
    facts = with_fact(
        with_fact((), FactStated("技术栈", "主要语言", "TypeScript")), FactStated("技术栈", "主要语言", "Go")
    )
    for number in range(20):
        facts = with_fact(facts, FactStated("s", f"k{number}", "很长的值" * 40))
    steps = (StepContent(text="a", done=True), StepContent(text="b"))
    tasks = tuple(KnownTask(f"OPEN-{number:03}", "很长的标题" * 20, "in_progress", steps) for number in range(9))
    given_context = context(recalled=("一段 TypeScript 代码 `x`\n" * 30,) * 30, citations=())
    return replace(
        opening(DIALOGUE),
        played=50,
        now=DIALOGUE.turns[50].time,
        session="0306-golang",
        said=DIALOGUE.turns[40:51],
        found=found_in(given_context, "TypeScript 代码"),
        tokens=given_context.tokens,
        facts=facts,
        tasks=tasks,
        notices=("memory:write: disk full",),
    )


def drawn(renderable, width, *, colour=True):
    """Draw and give the lines, without styles."""
    system = "truecolor" if colour else None
    console = Console(file=io.StringIO(), width=width, color_system=system, no_color=not colour, legacy_windows=False)
    return [
        "".join(segment.text for segment in line)
        for line in console.render_lines(renderable, console.options.update(width=width), pad=False)
    ]


@pytest.mark.parametrize(("width", "height"), [(80, 23), (80, 31), (99, 24), (100, 24), (120, 32), (200, 32)])
def test_screen_is_as_large_as_asked(scene, width, height):
    """No line is too wide, none is missing or left over."""
    lines = drawn(turn_screen(scene, width, height), width)
    assert len(lines) == height
    assert max(cell_len(line) for line in lines) <= width


def test_every_turn_fits_the_screen(scene):
    """Code, tables, long emoji: none breaks the frame."""
    for end in range(1, len(DIALOGUE.turns) + 1):
        lines = drawn(turn_screen(replace(scene, said=DIALOGUE.turns[max(0, end - 12) : end]), 80, 23), 80)
        assert len(lines) == 23
        assert max(cell_len(line) for line in lines) <= 80


def test_screen_shows_what_matters(scene):
    """Newest turn, recalled piece, changed fact, task, budget."""
    text = "\n".join(drawn(turn_screen(scene, 120, 32), 120))
    assert one_line(DIALOGUE.turns[50].content)[:10] in text
    assert all(piece in text for piece in ("OPEN-008", "■□", "recalled 150", "k19"))


def test_parts_of_the_budget_differ_without_colours(scene):
    """Each part has its own sign where NO_COLOR takes the colours away."""
    text = "".join(drawn(turn_screen(scene, 80, 23), 80, colour=False)[-3:])
    assert all(sign * 3 in text for sign in "█▞▚")


def test_trouble_is_shown(scene):
    """What memory refused stands in the frame, not only in a log."""
    assert "trouble: memory:write: disk full" in "\n".join(drawn(turn_screen(scene, 80, 23), 80))


def test_opening_is_drawn():
    """Before the first word there is a screen too."""
    assert len(drawn(turn_screen(opening(DIALOGUE), 80, 23), 80)) == 23


def test_plain_lines_tell_the_same(scene):
    """Pipes get the turn, the change and the trouble."""
    lines = "\n".join(turn_lines(scene))
    assert DIALOGUE.turns[50].content[:20] in lines
    assert "k19" in lines
    assert "trouble: memory:write: disk full" in lines
    assert turn_lines(opening(DIALOGUE)) == []


def test_steps_bar():
    """Filled where done."""
    task = KnownTask("OPEN-001", "t", "pending", (StepContent(text="a", done=True), StepContent(text="b")))
    assert steps_bar(task) == "■□"


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("我改用了新的语言。", 8, ["我改用了", "新的语", "言。"]),
        ("two words here", 9, ["two words", "here"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("```go\nx := 1\n```\n\nend", 20, ["x := 1", "end"]),
        ("", 5, [""]),
    ],
)
def test_folded(text, width, lines):
    """Chinese breaks anywhere but before a full stop; words only where they must."""
    assert folded(text, width) == lines


@given(st.text(alphabet=st.sampled_from("ab 中。👍\n`"), max_size=60), st.integers(min_value=4, max_value=12))
def test_folded_lines_fit_and_lose_nothing(text, width):
    """Every line fits, and all that is neither space, backtick nor fence is there."""
    lines = folded(text, width)
    kept = "".join(line for line in text.split("\n") if not line.startswith("```"))
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(kept.replace("`", "").split())
