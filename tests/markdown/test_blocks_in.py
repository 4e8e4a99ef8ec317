"""A body is read piece by piece, and what is found is what the parser finds in the whole of it."""

from __future__ import annotations

import random

import pytest

from openclaw_memory.markdown import blocks_in as module
from openclaw_memory.markdown.blocks_in import Blocks, blocks_in, read_whole

LINES = [
    "",
    "",
    "# top",
    "## section",
    "#\ttabbed",
    "### closing ##",
    "#no heading",
    " # one space",
    "- key: value",
    "- **城市**：柏林",
    "* other: marker",
    "+ third: marker",
    "-\ttabbed: item",
    "- ",
    "-",
    "- - nested: at once",
    "- ## a heading in an item",
    "- ```",
    "- > quoted",
    "  continued",
    "  - nested: item",
    "    - deeper: item",
    "\t- tabbed: nested",
    "  ```",
    "   ```js",
    "```",
    "````",
    "~~~",
    "<!-- comment",
    "-->",
    "<!-- whole -->",
    "<div>",
    "</div>",
    "<pre>",
    "</pre>",
    "<b>inline</b> text",
    "text",
    "text: with colon",
    "---",
    "===",
    "- - -",
    "***",
    "> quote",
    "> - quoted: item",
    "> # quoted heading",
    "1. first: ordered",
    "2) second",
    "    indented code",
    "\r",
    "lone\rreturn",
    "\r<!-- comment",
    "\r```",
    "* **bold**: key",
    "- [ ] open: task",
    "- [x] done",
    "[reference]: https://example.com",
    "| a | b |",
    "\x0c- form feed",
    "- \x00nul",
]


def some_text(chance: random.Random, plain: bool) -> str:
    lines = [line for line in LINES if not plain or not line.lstrip(" -\r").startswith(("`", "~", "<"))]
    end = chance.choice(["\n", "\n", "\r\n"])
    text = end.join(chance.choices(lines, k=chance.randrange(1, 40)))
    return chance.choice(["", "", "\ufeff"]) + text + chance.choice(["", end])


@pytest.mark.parametrize("each", [1, 3, 16])
@pytest.mark.parametrize("plain", [True, False], ids=["no fence", "with fences and HTML"])
def test_pieces_say_what_the_whole_says(monkeypatch: pytest.MonkeyPatch, each: int, plain: bool) -> None:
    """Whatever stands in it: headings, items and their lines, what is nested, and where the last block begins."""
    monkeypatch.setattr(module, "_EACH", each)
    chance = random.Random(each + 100 * plain)
    cut = 0
    for _ in range(1_500):
        text = some_text(chance, plain)
        assert blocks_in(text) == read_whole(text), text
        cut += sum(1 for _ in module._pieces(text)) > 1
    assert cut > 400


def test_an_edit_reads_only_the_piece_that_it_touches() -> None:
    """Of ten thousand facts in one list nearly everything is known from before."""
    lines = [f"- key {number}: value\n" for number in range(10_000)]
    blocks_in("".join(lines))
    before = module._read_before.cache_info().misses
    lines[5_000:5_001] = ["- key 5000: other\n", "- new: one\n"]
    found = blocks_in("".join(lines))
    assert [item.value for item in found.items[4_999:5_003]] == ["value", "other", "one", "value"]
    assert module._read_before.cache_info().misses - before <= 3


def test_a_long_piece_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each edit makes another: two thousand of them would be gigabytes."""
    known: list[str] = []

    def read(piece: str) -> Blocks:
        known.append(piece)
        return read_whole(piece)

    monkeypatch.setattr(module, "_read_before", read)
    text = "# title\n" + "".join(f"- `key {number}`: value\n" for number in range(1_000)) + "# last\n- one: item\n"
    assert len(blocks_in(text).items) == 1_001
    assert sum(map(len, known)) < 100


def test_bullets_in_bold_are_read_piece_by_piece_too() -> None:
    """As people write facts by hand."""
    text = "".join(f"- **键{number}**：值\n" for number in range(1_000))
    assert max(map(len, module._pieces(text))) < 4_000


def test_a_fence_that_is_open_to_the_end_is_not_read_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time twice as much is looked at, so that all of it costs what reading it a few times costs."""
    text = "```\n" + "".join(f"- key {number}: value\n# heading {number}\n" for number in range(2_000))
    asked: list[str] = []
    closes = module._closes

    def ask(piece: str) -> bool:
        asked.append(piece)
        return closes(piece)

    monkeypatch.setattr(module, "_closes", ask)
    before = module._closed_before.cache_info().misses
    assert blocks_in(text).items == ()
    assert asked
    assert len(asked) + module._closed_before.cache_info().misses - before < 20
