"""Every example of the documentation runs."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "bus.md"


def test_examples(capsys, monkeypatch):
    """In order, as one program."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    module = types.ModuleType("bus_page")
    monkeypatch.setitem(sys.modules, "bus_page", module)
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), vars(module))
    assert "math:sum total=5" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["EventBus", "Gateway", "Transport", "RequestCycleError", "QueueFullError"])
def test_names_exist(name):
    """What the page speaks of can be imported."""
    import bus

    assert name in PAGE.read_text("utf-8")
    assert name in bus.__all__
