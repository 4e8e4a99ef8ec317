"""The commands that people copy run, say where the files lie, and stop when told to."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from examples import brain_simulator, demo, four_tier, gateway, two_layer
from examples.dialogue import read_dialogue
from examples.sample import SAMPLE

HERE = Path(__file__).resolve().parents[2]


def invoke(module, *arguments):
    """Run a command in this process."""
    return CliRunner().invoke(module.app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Run the whole demo once; give its folder and its result."""
    root = tmp_path_factory.mktemp("demo") / "root"
    return root, invoke(demo, "--no-live", "--root", root)


def test_demo_plays_and_asks(played):
    """Without a terminal: plain lines, the files, answers from memory, and no wait."""
    _, result = played
    assert result.exit_code == 0, result.output
    assert "TypeScript -> Go" in result.output
    assert "user-profile.md" in result.output
    assert "memory has nothing" not in result.output
    assert "trouble" not in result.output
    assert "\x1b[" not in result.output


def test_demo_leaves_what_was_said(played):
    """The files hold every day, the facts as they stand, the values that were replaced, the tasks as they ended."""
    memory = played[0] / "memory"
    days = [path.stem for path in sorted((memory / "conversations").glob("*.md"))]
    profile = (memory / "facts" / "user-profile.md").read_text()
    tasks = (memory / "tasks" / "active.md").read_text().split("### ")[1:]
    assert days == sorted({f"{turn.time:%Y-%m-%d}" for turn in read_dialogue(SAMPLE).turns})
    assert "- 主要语言: Go\n" in profile
    assert "TypeScript" not in profile
    assert "TypeScript" in (memory / "facts" / "archive" / "user-profile.md").read_text()
    assert ["已完成" in tasks[0], "进行中" in tasks[1], "待处理" in tasks[2]] == [True] * 3
    assert [task.count("- [x]") for task in tasks] == [5, 2, 0]


def test_demo_draws_pictures(tmp_path):
    """`--svg` leaves two pictures."""
    result = invoke(demo, "--no-live", "--turns", 12, "--root", tmp_path / "root", "--svg", tmp_path / "demo.svg")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "demo.svg").read_text().startswith("<svg")
    assert "user-profile.md" in (tmp_path / "demo-files.svg").read_text()


def test_demo_draws_in_place(tmp_path):
    """The live screen ends with the last turn."""
    result = invoke(demo, "--live", "--turns", 4, "--speed", 100, "--root", tmp_path / "root")
    assert result.exit_code == 0, result.output
    assert "turn 4/4" in result.output


@pytest.mark.parametrize("module", [demo, brain_simulator])
def test_folder_in_use_is_refused(module, tmp_path):
    """Nobody's memories are mixed with made-up ones."""
    (tmp_path / "memory").mkdir()
    result = invoke(module, "--root", tmp_path)
    assert result.exit_code == 1
    assert "not empty" in result.output.replace("\n", " ")


def test_simulator_tells_each_exchange(tmp_path):
    """What was said, what came back, what was written, and where."""
    result = invoke(brain_simulator, "--root", tmp_path / "root", "--turns", 12)
    assert result.exit_code == 0, result.output
    assert "我叫林夏" in result.output
    assert "tasks/active.md#OPEN-001" in result.output
    assert f"the files: {tmp_path / 'root'}" in result.output


def test_simulator_reads_locomo_files(tmp_path):
    """A file of LoCoMo's shape is replayed; quiet prints the report only."""
    said = [{"speaker": "Ann", "text": "Hi Bo"}, {"speaker": "Bo", "text": "Hi Ann"}]
    conversation = {"speaker_a": "Ann", "speaker_b": "Bo", "session_1_date_time": "1:56 pm on 8 May, 2023"}
    path = tmp_path / "conv-1.json"
    path.write_text(json.dumps({"conversation": {**conversation, "session_1": said}}))
    result = invoke(brain_simulator, "--dataset", path, "--root", tmp_path / "root", "--quiet")
    assert result.exit_code == 0, result.output
    assert result.output.startswith("2 turns in 1 exchanges")
    assert "marks no facts" in result.output
    assert (tmp_path / "root" / "memory" / "conversations" / "2023-05-08.md").is_file()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--dataset", "missing.jsonl"), 1, "missing.jsonl"),
        (("--max-tokens", 0), 2, "max-tokens"),
        (("--timezone", "Mars/Base"), 2, "Mars/Base"),
    ],
)
def test_simulator_refuses_what_it_cannot_use(arguments, code, words):
    """The refusal names the option or the file."""
    result = invoke(brain_simulator, *arguments)
    assert result.exit_code == code
    assert words in result.output


async def test_gateway_example_recalls(tmp_path, capsys):
    """The twenty lines that a newcomer copies."""
    await gateway.main(tmp_path)
    out = capsys.readouterr().out
    assert "stored at: conversations/" in out
    assert "我改用 Go 了" in out.partition("recalled:")[2]


def test_interrupt_stops_and_tells_where_the_files_are(tmp_path):
    """Ctrl-C in the middle: memory is closed in order, and nothing acknowledged is lost."""
    command = [sys.executable, "-m", "examples.brain_simulator", "--root", str(tmp_path / "root")]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=HERE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=20)
    assert "user" in first
    # The pipe may have let it finish first; then there was nothing to stop.
    assert process.returncode in (130, 0)
    said = [turn.content for turn in read_dialogue(SAMPLE).turns]
    kept = "".join(path.read_text() for path in (tmp_path / "root" / "memory" / "conversations").glob("*.md"))
    written = rest.count("  written") + first.count("  written")
    assert all(text.split("\n")[0] in kept for text in said[: 2 * written])
    assert str(tmp_path / "root") in errors + rest


async def test_two_layer_example_sees_the_agents_own_edits(tmp_path, capsys):
    """What the agent wrote with its file tool comes back at the next read."""
    await two_layer.main(tmp_path)
    printed = capsys.readouterr().out
    assert "- Answers in Go, never Java" in printed
    assert "- v2 goes out on Friday" in printed


async def test_four_tier_example_ends_a_session(tmp_path, capsys):
    """Key points of the first session are in the note that the next one loads; a group loads nothing."""
    await four_tier.main(tmp_path)
    printed = capsys.readouterr().out.splitlines()
    private, group = (line for line in printed if line.startswith(("private", "group")))
    assert "Decided: We decided to ship v2 on Friday" in private
    assert "staging server is called otter" in private
    assert group == "group  : MEMORY.md [], notes []"
    assert printed[-1].endswith("2 lines")
