"""Version of the events as a whole, by Semantic Versioning."""

from __future__ import annotations

VERSION = "1.0.0"
"""A new major version: somebody's valid payload is refused, or a field that somebody reads is gone."""
