"""Which part of a schema speaks of a value: follows references, conditions and choices."""

from __future__ import annotations

from typing import Any

JsonSchema = dict[str, Any]

DECIDING = "x-deciding"
"""Key under which a shape names the fields without which another shape would hold."""

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def resolved(schema: JsonSchema, definitions: JsonSchema) -> JsonSchema:
    """Follow a reference; what stands beside it is kept."""
    while (reference := schema.get("$ref")) is not None:
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**definitions[reference.removeprefix("#/$defs/")], **beside}
    return schema


def conditions_of(schema: JsonSchema, kind: str, definitions: JsonSchema) -> JsonSchema:
    """Apply the conditions on `type`: give the schema of objects whose `type` is `kind`."""
    fields = dict(schema["properties"])
    fields["type"] = {"const": kind}
    for condition in schema.get("allOf", []):
        if condition["if"]["properties"]["type"]["const"] == kind:
            for name, shape in condition["then"]["properties"].items():
                fields[name] = {**fields[name], **shape} if "if" in shape else resolved(shape, definitions)
    return {**schema, "properties": fields, "allOf": []}


def shape_for(value: Any, schema: JsonSchema, definitions: JsonSchema) -> JsonSchema:
    """Give the schema that a valid value is to be seen by: references followed, conditions and choices decided."""
    schema = resolved(schema, definitions)
    if schema.get("allOf") and isinstance(value, dict):
        schema = conditions_of(schema, value["type"], definitions)
    if "if" in schema and isinstance(value, dict):
        deciding = schema["if"]["required"]
        if all(name in value for name in deciding):
            return {**shape_for(value, schema["then"], definitions), DECIDING: deciding}
        return shape_for(value, schema["else"], definitions)
    if "type" not in schema:
        for choice in schema.get("anyOf", []):
            if fits(value, choice, definitions):
                return shape_for(value, choice, definitions)
    return schema


def fits(value: Any, schema: JsonSchema, definitions: JsonSchema) -> bool:
    """Tell whether a valid value can be meant by one of several choices."""
    schema = resolved(schema, definitions)
    if "const" in schema:
        return bool(value == schema["const"])
    if not isinstance(value, _TYPES[schema["type"]]):
        return False
    if isinstance(value, str):
        return (len(value) == len("2026-05-04")) == (schema.get("format") == "date") or "format" not in schema
    if isinstance(value, dict):
        fields = schema.get("properties", {})
        fixed = {name: field["const"] for name, field in fields.items() if "const" in field}
        return set(schema.get("required", [])) <= set(value) and all(value[name] == fixed[name] for name in fixed)
    return True
