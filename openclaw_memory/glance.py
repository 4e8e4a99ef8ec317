"""Tell whether something stands in a text, in the time of one look at it: every message waits for some of these."""

from __future__ import annotations

from collections.abc import Callable

from pydantic_core import SchemaValidator, core_schema


def glance(pattern: str) -> Callable[[str | bytes], bool]:
    """Give what tells whether a text, or its UTF-8, holds what a pattern matches. Half of a character matches nothing.

    The engine is pydantic's, Rust's `regex`: it goes through a text once however many ways the pattern has, in a tenth
    of the time that `re` takes for a hundred words. `pattern` is in its syntax, without looking around.
    """
    return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex")).isinstance_python
