"""Hypothesis strategies from the JSON Schemas of the events: what a stranger would send who has only those.

Our own, since `hypothesis-jsonschema` knows neither a pattern together with a format nor text of the kind that people
write, and the schemas use a small part of the language. Needs the extra `conformance`.
"""

from __future__ import annotations

import datetime
import re
from typing import Any

from hypothesis import strategies as st

from contracts.conformance.shapes import JsonSchema, conditions_of, resolved
from contracts.limits import FIRST_YEAR, LAST_YEAR

Strategy = st.SearchStrategy[Any]

_LONGEST = 60
"""Texts and lists are kept short; limits are for the mutations."""
_MOST_ITEMS = 4
_ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=_LONGEST)
"""Lone surrogates and NUL included."""
_SAID = st.sampled_from(
    ("我改用 Go 了", "Let's roll back to v1.8.0", "```\n---\n### x\n```", "- [ ] a\r\n- b: c", "👩‍👩‍👧 ok", "\u2028")
)

_NAMES = (
    *(
        "user-profile",
        "用户画像",
        "技术栈",
        "主要语言",
        "C#",
        "a b",
        "v1.8.0",
        "**bold**",
        "e\u0301",
        "x" * 100,
        "x" * 200,
    ),
    *(
        "字" * 50,
        "agent:main:main",
        "agent:main:telegram:group:-1001",
        "subagent:7f",
        "a@b.example",
        "&amp;",
        "<b>",
        "[x](y)",
    ),
    *("OPEN-001", "OPEN-999", "Z-1", "A1-999999999999", "MEMORY.md", "memory/facts/user-profile.md", "a/b c/用户.md"),
)
"""Names as they are met in practice, and the longest ones."""


def payloads(schema: JsonSchema) -> Strategy:
    """Make a strategy of valid payloads.

    Args:
        schema: The JSON Schema of an event, with its `$defs`.
    """
    return _values(schema, schema.get("$defs", {}))


def _values(schema: JsonSchema, definitions: JsonSchema) -> Strategy:
    schema = resolved(schema, definitions)
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "if" in schema:
        return st.one_of(_values(schema["then"], definitions), _values(schema["else"], definitions))
    if schema.get("allOf"):
        kinds = schema["properties"]["type"]["enum"]
        return st.one_of([_values(conditions_of(schema, kind, definitions), definitions) for kind in kinds])
    kind = schema.get("type")
    if kind is None:
        return st.one_of([_values(choice, definitions) for choice in schema["anyOf"]])
    if kind == "object":
        return _objects(schema, definitions)
    if kind == "array":
        return st.lists(_values(schema["items"], definitions), min_size=schema.get("minItems", 0), max_size=_MOST_ITEMS)
    return _scalars(kind, schema)


def _scalars(kind: str, schema: JsonSchema) -> Strategy:
    if kind == "string":
        return _texts(schema)
    if kind == "integer":
        return st.integers(schema.get("minimum"), schema.get("maximum", 1_000_000))
    if kind == "number":
        return st.floats(schema.get("minimum"), 1e6, allow_nan=False, allow_infinity=False)
    return st.booleans() if kind == "boolean" else st.none()


def _objects(schema: JsonSchema, definitions: JsonSchema) -> Strategy:
    """Objects with all required fields, some of the others, and exactly one of the ways where there are several."""
    fields: dict[str, JsonSchema] = schema["properties"]
    ways: list[list[str]] = [
        way["required"]
        for choice in schema.get("oneOf") or schema.get("anyOf") or []
        for way in choice.get("anyOf", [choice])
    ]
    exclusive = {name for way in ways for name in way} if "oneOf" in schema else set()

    def having(way: list[str]) -> Strategy:
        required = {*schema.get("required", []), *way}
        given = {
            name: _values(_without_null(fields[name], name in way), definitions) for name in fields if name in required
        }
        others = {
            name: _values(field, definitions) for name, field in fields.items() if name not in {*required, *exclusive}
        }
        return st.fixed_dictionaries(given, optional=others)

    return st.one_of([having(way) for way in ways or [[]]])


def _without_null(schema: JsonSchema, given: bool) -> JsonSchema:
    """Leave out null where the field has to be given."""
    if given and "type" not in schema and "anyOf" in schema:
        return {"anyOf": [choice for choice in schema["anyOf"] if choice.get("type") != "null"]}
    return schema


def _texts(schema: JsonSchema) -> Strategy:
    if schema.get("format") == "date":
        return _days().map(datetime.date.isoformat)
    if schema.get("format") == "date-time":
        offsets = st.integers(-14 * 60, 14 * 60).map(
            lambda minutes: datetime.timezone(datetime.timedelta(minutes=minutes))
        )
        return st.builds(
            lambda day, clock, zone: datetime.datetime.combine(day, clock, zone).isoformat(),
            _days(),
            st.times(),
            offsets,
        )
    if schema.get("pattern") == r"\S":
        return st.one_of(_SAID, _ANY_TEXT).filter(lambda text: bool(text.strip()))
    if "pattern" in schema:
        return _matching(schema["pattern"], schema.get("maxLength", _LONGEST))
    return st.one_of(_SAID, _ANY_TEXT)


def _matching(pattern: str, most: int) -> Strategy:
    """Names that match: some that people use, some as long as can be, and random ones.

    Not hypothesis's `from_regex`, which takes a second to take one of these patterns apart.
    """
    matches = re.compile(pattern).match
    met = [name for name in _NAMES if len(name) <= most and matches(name)]
    letters = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=20)
    visible = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=20)
    random = [texts.filter(lambda text: bool(matches(text))) for texts in (letters, visible)] if matches("aé用") else []
    return st.one_of(st.sampled_from(met), *random)


def _days() -> Strategy:
    return st.dates(datetime.date(FIRST_YEAR, 1, 1), datetime.date(LAST_YEAR, 12, 31))
