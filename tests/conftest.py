"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

# A loaded machine is slow, and slowness is no wrong answer: speed is measured in benchmarks.
settings.register_profile("checks", deadline=None)
settings.load_profile("checks")
