"""Crash states of what is written beside the store: the file tool, init, exports, backups, imports, HISTORY.md."""

from __future__ import annotations

import pytest

from tests.reliability.beyond import PROOFS, done
from tests.reliability.harness import punctual  # noqa: F401 - a fixture for every test here


@pytest.mark.parametrize("name", PROOFS)
async def test_no_crash_breaks_a_promise(name: str) -> None:
    """Whatever state a crash leaves at any step."""
    assert await PROOFS[name](done) == []
