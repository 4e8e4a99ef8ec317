"""What the modes set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PRESETS: Mapping[str, Mapping[str, Any]] = {
    "four_layer": {},
    "two_layer": {"memory_file": "memory/MEMORY.md", "daily_log_days": 1},
    "four_tier": {"session_files": True, "promotion": {"automatic": True}},
    "history": {"memory_file": "memory/MEMORY.md", "history_file": True, "daily_log_messages": True},
}
"""What the modes set, where the configuration does not say otherwise (seeds 000, 002, 003, 004)."""


def preset_of(mode: str) -> Mapping[str, Any]:
    """Give what a mode sets where the configuration does not say otherwise."""
    return _PRESETS.get(mode, {})
