"""Fields that hold a text, a number, a flag or a time: each with its limit, refused in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, Strict, TypeAdapter, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema

from contracts.limits import (
    FIRST_YEAR,
    LAST_YEAR,
    MAX_CONTENT_CHARS,
    MAX_DESCRIPTION_CHARS,
    MAX_LINES,
    MAX_QUERY_CHARS,
    MAX_REASON_CHARS,
    MAX_RESULTS,
    MAX_TOKENS,
    MAX_VALUE_CHARS,
)
from contracts.wording import refusal, show


@dataclass(frozen=True, slots=True)
class FreeText:
    """A text of any characters, lone halves of surrogate pairs and NUL included, as an annotation of `str`.

    Those two are not refused: a program that cuts a text in the middle of an emoji sends such a half, and what was said
    is worth more than its form. Memory stores U+FFFD in their place and says so. (pydantic's own limits would refuse
    them, since they look at the text as UTF-8.)

    Args:
        most: Longest text, in characters.
        blank: Whether a text of nothing but white space is one.
    """

    most: int
    blank: bool = True

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        def check(value: str) -> str:
            if len(value) > self.most:
                hint = "shorten it or split it into several"
                raise refusal(
                    "text_too_long", f"has {len(value):,} characters, at most {self.most:,} are taken; {hint}"
                )
            if not self.blank and (not value or value.isspace()):
                raise refusal("text_blank", "is blank; leave the event out when there is nothing to say")
            return value

        return core_schema.no_info_after_validator_function(check, core_schema.str_schema(strict=True))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        limits: JsonSchemaValue = {"type": "string", "maxLength": self.most}
        return limits if self.blank else {**limits, "minLength": 1, "pattern": r"\S"}


Text = Annotated[str, FreeText(MAX_CONTENT_CHARS)]
SaidText = Annotated[str, FreeText(MAX_CONTENT_CHARS, blank=False)]
Query = Annotated[str, FreeText(MAX_QUERY_CHARS)]
Description = Annotated[str, FreeText(MAX_DESCRIPTION_CHARS)]
Reason = Annotated[str, FreeText(MAX_REASON_CHARS)]
ForgetText = Annotated[str, FreeText(10_000, blank=False)]
FactValue = Annotated[
    str,
    FreeText(MAX_VALUE_CHARS, blank=False),
    Field(description="Value of the fact: any text that is not blank, up to 100,000 characters."),
]


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number within limits, as an annotation of `int`. Neither true and false nor digits in quotes are numbers.

    Args:
        unit: What is counted.
        least: Smallest number taken.
        most: Largest number taken; None: no limit.
    """

    unit: str
    least: int = 0
    most: int | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        def check(value: Any) -> int:
            number = int(value) if isinstance(value, float) and value.is_integer() else value
            counts = isinstance(number, int) and not isinstance(number, bool)
            if counts and self.least <= number and (self.most is None or number <= self.most):
                return int(number)
            upto = "upwards" if self.most is None else f"to {self.most:,}"
            rule = f"must be a whole number ({self.unit}) from {self.least:,} {upto}"
            raise refusal("whole_number", f"{rule}, not {show(value)}")

        return core_schema.no_info_before_validator_function(check, core_schema.int_schema())

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        limits: JsonSchemaValue = {"type": "integer", "minimum": self.least}
        return {**limits, **({} if self.most is None else {"maximum": self.most}), "x-unit": self.unit}


@dataclass(frozen=True, slots=True)
class Several:
    """A list within limits, as an annotation of a tuple. Counted before anything in it is validated.

    Args:
        what: What the list holds.
        most: Most entries taken.
        least: Fewest entries taken.
    """

    what: str
    most: int
    least: int = 0

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        def check(value: Any) -> Any:
            if isinstance(value, list | tuple) and not self.least <= len(value) <= self.most:
                rule = f"{self.least} to {self.most:,} are taken"
                raise refusal("list_size", f"has {len(value):,} {self.what}, {rule}; split them into several events")
            return value

        return core_schema.no_info_before_validator_function(check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        least = {"minItems": self.least} if self.least else {}
        return {**handler(schema), **least, "maxItems": self.most}


TokenBudget = Annotated[int, Whole("tokens", 1, MAX_TOKENS)]
Tokens = Annotated[int, Whole("tokens", 0, MAX_TOKENS)]
HitCount = Annotated[int, Whole("hits", 1, MAX_RESULTS)]
LineNumber = Annotated[int, Whole("line number, the first is 1", 1)]
LineCount = Annotated[int, Whole("lines", 1, MAX_LINES)]
MessageCount = Annotated[int, Whole("messages")]
PlaceCount = Annotated[int, Whole("places")]
Flag = Annotated[bool, Strict()]
Score = Annotated[
    float, Strict(), Field(allow_inf_nan=False, json_schema_extra={"x-unit": "score, comparable within one reply only"})
]

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_EXAMPLE_TIME, _EXAMPLE_DAY = "2026-05-04T14:30:00+08:00", "2026-05-04"
_YEARS = f"{FIRST_YEAR} to {LAST_YEAR}"
YEAR_PATTERN = r"^(?:19|2[0-9])[0-9]{2}-"
_PARSER = TypeAdapter(datetime)


def check_time(value: Any) -> datetime:
    """Read a time: a `datetime` or text in ISO 8601, either with an offset. A bare number is no time."""
    time = value if isinstance(value, datetime) else None
    if isinstance(value, str) and len(value) <= 64 and len(value) > 10 and _DAY.match(value):
        try:
            time = _PARSER.validate_python(value)
        except ValidationError:
            time = None
    if time is not None and time.utcoffset() is not None and FIRST_YEAR <= time.year <= LAST_YEAR:
        return time
    form = f"in ISO 8601 with an offset, such as {_EXAMPLE_TIME}, in the years {_YEARS}"
    given = value.isoformat() if isinstance(value, date) else show(value)
    raise refusal("time", f"must be a time {form}, not {given}")


def check_day(value: Any) -> date:
    """Read a day: a `date` or `YYYY-MM-DD`."""
    day = value if isinstance(value, date) and not isinstance(value, datetime) else None
    if isinstance(value, str) and _DAY.fullmatch(value):
        try:
            day = date.fromisoformat(value)
        except ValueError:
            day = None
    if day is not None and FIRST_YEAR <= day.year <= LAST_YEAR:
        return day
    given = value.isoformat() if isinstance(value, date) else show(value)
    raise refusal("day", f"must be a day such as {_EXAMPLE_DAY}, in the years {_YEARS}, not {given}")


def check_due(value: Any) -> date | datetime:
    """Read a day, or a time with an offset."""
    is_day = (isinstance(value, str) and len(value) <= 10) or type(value) is date
    return check_day(value) if is_day else check_time(value)


@dataclass(frozen=True, slots=True)
class _When:
    """A kind of time, as an annotation: read by `check`, written as ISO 8601."""

    check: Callable[[Any], date]
    formats: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(lambda when: when.isoformat(), when_used="json")
        return core_schema.no_info_plain_validator_function(self.check, serialization=written)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        kinds = [{"type": "string", "format": name, "pattern": YEAR_PATTERN} for name in self.formats]
        return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}


Timestamp = Annotated[datetime, _When(check_time, ("date-time",)), Field(description="ISO 8601 with an offset.")]
Day = Annotated[date, _When(check_day, ("date",))]
Due = Annotated[date | datetime, _When(check_due, ("date", "date-time"))]
