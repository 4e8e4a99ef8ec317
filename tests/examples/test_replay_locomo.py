"""The main job on a real conversation: replay, restart, everything is there."""

from collections import defaultdict

import pytest

from bus import Gateway
from contracts import prompt_text
from examples.dialogue import read_dialogue
from examples.replay import replay
from openclaw_memory import Memory, MemoryConfig
from openclaw_memory.clock import ManualClock
from openclaw_memory.context.tokens import make_counter
from openclaw_memory.markdown.frontmatter import split
from openclaw_memory.markdown.messages import parse_messages

MAX_TOKENS = 1_500


@pytest.fixture
def dialogue(locomo):
    """Give conv-26: 419 turns in 19 sessions over five months."""
    return read_dialogue(locomo / "conv-26.json", "UTC")


@pytest.mark.soak
async def test_conv_26_is_back_after_a_restart(dialogue, tmp_path):
    """Every turn byte for byte in its day's file, every context within its budget."""
    config = MemoryConfig(root=tmp_path, timezone="UTC")
    clock = ManualClock(dialogue.turns[0].time)
    async with Gateway() as gateway:
        await gateway.register(Memory(config, clock=clock))
        report = await replay(gateway, dialogue, clock=clock, max_tokens=MAX_TOKENS)
    assert report.trouble == ()
    assert report.turns == 419

    count = make_counter("cl100k_base").count
    contexts = [replayed.reply.context for replayed in report.exchanges]
    assert [count(prompt_text(context)) for context in contexts] == [context.tokens.used for context in contexts]
    assert max(context.tokens.used for context in contexts) <= MAX_TOKENS
    assert not any(context.degraded for context in contexts)
    assert report.recalled > len(contexts) * 0.8

    async with Gateway() as gateway:
        await gateway.register(Memory(config, clock=clock))
    expected = defaultdict(list)
    for turn in dialogue.turns:
        expected[f"{turn.time:%Y-%m-%d}"].append((turn.session, turn.time, turn.role, turn.content))
    found = {
        path.stem: [
            (block.message.session, block.message.time, block.message.role, block.message.content)
            for block in parse_messages(split(path.read_bytes().decode()).body).blocks
        ]
        for path in sorted((tmp_path / "memory" / "conversations").glob("*.md"))
    }
    assert found == expected
