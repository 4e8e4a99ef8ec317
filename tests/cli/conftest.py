"""The terminal speaks English, whatever the machine does, and its own configuration is no part of a test."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    for name in [name for name in os.environ if name.startswith("OPENCLAW_MEMORY_")]:
        monkeypatch.delenv(name)
