"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

# A loaded machine is slow, and slowness is no wrong answer: speed is measured in benchmarks. The same cases are tried
# each time, so that a change is judged by what it changes; `make soak` looks for new ones.
settings.register_profile("checks", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None)
settings.load_profile("checks")
