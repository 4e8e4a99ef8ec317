"""Which changes of a schema break somebody who relies on the old one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

JsonSchema = dict[str, Any]

_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_FIXED = ("pattern", "format", "const", "multipleOf", "uniqueItems", "additionalProperties")
_CHOICES = ("anyOf", "oneOf")


@dataclass(frozen=True, slots=True)
class Breaking:
    """One change that breaks somebody.

    Args:
        field: Path of the field, as on the wire; `[]` stands for every entry of a list.
        change: What became of it, in words.
    """

    field: str
    change: str

    def __str__(self) -> str:
        return f"{self.field or 'the payload'}: {self.change}"


def breaking_changes(old: JsonSchema, new: JsonSchema) -> list[Breaking]:
    """List the changes from `old` to `new` that need a new major version.

    Those are: a field is removed, gets another type or is newly required; a word of a closed set or one of several
    shapes is removed; a limit is tightened; a pattern, format or fixed value changes; a condition is added or changes.
    A new optional field, a new word and a wider limit are harmless.

    Args:
        old: The schema that others rely on, with its `$defs`.
        new: The schema that takes its place.
    """
    return list(_Comparison(old, new).changes("", old, new))


class _Comparison:
    """Walks two schemas side by side, each pair of definitions once, since they may refer to themselves."""

    def __init__(self, old: JsonSchema, new: JsonSchema) -> None:
        self._old = old.get("$defs", {})
        self._new = new.get("$defs", {})
        self._seen: set[tuple[str, str]] = set()

    def changes(self, field: str, old: JsonSchema, new: JsonSchema) -> Iterator[Breaking]:
        """Compare two schemas of one field."""
        pair = (old.get("$ref", ""), new.get("$ref", ""))
        if all(pair):
            if pair in self._seen:
                return
            self._seen.add(pair)
        old, new = _resolved(old, self._old), _resolved(new, self._new)
        yield from _types(field, old, new)
        yield from _limits(field, old, new)
        yield from _words(field, old, new)
        yield from self._fields(field, old, new)
        yield from self._entries(field, old, new)
        for choice in _CHOICES:
            if choice in new:
                yield from self._shapes(field, old.get(choice, [old]), new[choice])
        yield from self._conditions(field, old.get("allOf", []), new.get("allOf", []))

    def _fields(self, field: str, old: JsonSchema, new: JsonSchema) -> Iterator[Breaking]:
        before, after = old.get("properties", {}), new.get("properties", {})
        for name in before:
            path = f"{field}.{name}" if field else name
            if name not in after:
                yield Breaking(path, "removed")
            else:
                yield from self.changes(path, before[name], after[name])
        for name in new.get("required", []):
            if name not in old.get("required", []):
                yield Breaking(f"{field}.{name}" if field else name, "newly required")

    def _entries(self, field: str, old: JsonSchema, new: JsonSchema) -> Iterator[Breaking]:
        if "items" in old and "items" in new:
            yield from self.changes(f"{field}[]", old["items"], new["items"])

    def _shapes(self, field: str, old: list[JsonSchema], new: list[JsonSchema]) -> Iterator[Breaking]:
        """Each old shape must still be taken by one of the new ones; the closest is the one compared in words."""
        for position, shape in enumerate(old):
            against = [self._apart(field, shape, candidate) for candidate in new]
            if all(against):
                closest = min(against, key=len)
                same_kind = position < len(new) and _kind(shape) == _kind(new[position])
                yield from closest if same_kind else [Breaking(field, f"no longer takes {_kind(shape)}")]

    def _apart(self, field: str, old: JsonSchema, new: JsonSchema) -> list[Breaking]:
        """Compare on the side: what is seen while trying a candidate does not count as seen."""
        seen = set(self._seen)
        found = list(self.changes(field, old, new))
        self._seen = seen
        return found

    def _conditions(self, field: str, old: list[JsonSchema], new: list[JsonSchema]) -> Iterator[Breaking]:
        """Conditions (`if`, `then`) are told apart by what they ask; what follows is compared like any schema."""
        before = {json.dumps(each.get("if"), sort_keys=True): each for each in old}
        words = _closed_set(old, before)
        for asked, condition in {json.dumps(each.get("if"), sort_keys=True): each for each in new}.items():
            if asked in before:
                for branch in ("then", "else"):
                    yield from self.changes(field, before[asked].get(branch, {}), condition.get(branch, {}))
            elif not words or not before:
                yield Breaking(field, "newly restricted by a condition")


def _closed_set(old: list[JsonSchema], before: dict[str, JsonSchema]) -> bool:
    """Tell whether the old conditions each ask for one word, so that a condition on a new word restricts nobody."""
    return bool(before) and all(
        any("const" in value for value in each.get("if", {}).get("properties", {}).values()) for each in old
    )


def _resolved(schema: JsonSchema, definitions: JsonSchema) -> JsonSchema:
    """Follow a reference; what stands beside it is kept."""
    while (reference := schema.get("$ref")) is not None:
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**definitions[reference.removeprefix("#/$defs/")], **beside}
    return schema


def _kind(schema: JsonSchema) -> str:
    """Name a shape for a person."""
    named = schema.get("$ref", "").removeprefix("#/$defs/") or schema.get("type") or ""
    required = ", ".join(schema.get("required", []))
    return str(named) or (f"an object with {required}" if required else "one of its shapes")


def _types(field: str, old: JsonSchema, new: JsonSchema) -> Iterator[Breaking]:
    before, after = old.get("type"), new.get("type")
    widened = before == "integer" and after == "number"
    if before != after and after is not None and not widened:
        yield Breaking(field, f"was {before or 'of any type'}, is {after}")


def _limits(field: str, old: JsonSchema, new: JsonSchema) -> Iterator[Breaking]:
    for limits, tighter in ((_UPPER, -1), (_LOWER, 1)):
        for limit in limits:
            before, after = old.get(limit), new.get(limit)
            if after is not None and (before is None or (after - before) * tighter > 0):
                yield Breaking(field, f"{limit} was {'without limit' if before is None else before}, is {after}")
    for rule in _FIXED:
        if rule in new and old.get(rule) != new[rule]:
            yield Breaking(field, f"{rule} {'is another one' if rule in old else 'is new'}: {new[rule]!s:.40}")


def _words(field: str, old: JsonSchema, new: JsonSchema) -> Iterator[Breaking]:
    if "enum" in new and "enum" not in old and "const" not in old:
        yield Breaking(field, "newly restricted to certain words")
    for word in old.get("enum", [old["const"]] if "const" in old else []):
        if "enum" in new and word not in new["enum"]:
            yield Breaking(field, f"no longer takes {word!r}")
