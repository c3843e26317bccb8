"""The values of a file of JSON, one at a time: a value on each line, one array of them, or values one by one.

The array may be the only one of objects within an object, as in {"data": […]}. Only one value is parsed at a
time, so that the beginning of a file that is cut somewhere gives all that is whole in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator

Value = tuple[int, object, str]
"""The number of the line on which a value begins, the value, and what is wrong with it, or ""."""

_BLANK = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()
_BEGINNINGS = (1 << 16, 1 << 22)
"""Characters among which the first lines are looked for; more where there are no two in the fewer."""

_ABOUT = ("features", "columns", "schema", "classes", "labels", "categories")
"""Arrays within an object that say how the others are to be read."""


def json_values(data: bytes) -> Iterator[Value]:
    """The values of a file in UTF-8, in order; what is no JSON has a reason."""
    text = data.decode("utf-8", "replace")
    if _is_of_lines(text):
        yield from _values_of_lines(text)
        return
    place, number = 0, 1
    while (start := _skip(text, place)) < len(text):
        number += text.count("\n", place, start)
        inner = _array_within(text, start)
        try:
            if inner is not None:
                yield from _arrays(text, start, inner, number)
                return
            value, place = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            yield number, None, _not_json(error)
            return
        yield number, value, ""
        number += text.count("\n", start, place)


def arrays_by_name(data: bytes) -> dict[str, bytes]:
    """The arrays that are members of the only object of a file in UTF-8, by their names, as they are written.

    Empty where the file is anything else, or is cut.
    """
    text = data.decode("utf-8", "replace")
    found: dict[str, bytes] = {}
    try:
        start = _skip(text, 0)
        if text[start] != "{":
            return {}
        place = _skip(text, start + 1)
        while text[place] == '"':
            name, place = _DECODER.raw_decode(text, place)
            place = _skip(text, place)
            if text[place] != ":":
                return {}
            first = _skip(text, place + 1)
            _, place = _DECODER.raw_decode(text, first)
            if text[first] == "[":
                found[name] = text[first:place].encode()
            place = _skip(text, place)
            if text[place] == "}":
                return found if _skip(text, place + 1) == len(text) else {}
            place = _skip(text, place + 1)
    except (ValueError, IndexError, RecursionError):
        return {}
    return {}


def parse(line: str) -> tuple[object, str]:
    """The value of a line, and what is wrong with it, or ""."""
    try:
        return json.loads(line), ""
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, thousands of brackets
        return None, _not_json(error)


def _not_json(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"is not JSON ({error.msg} at column {error.colno})"
    return f"is not JSON that can be read ({error})"


def _is_of_lines(text: str) -> bool:
    """Whether each of the first lines is a value of its own, and there are several."""
    lines: list[str] = []
    for size in _BEGINNINGS:
        found = text[:size].split("\n")
        lines = [line for line in (found if len(text) <= size else found[:-1]) if line.strip()][:8]
        if len(lines) > 1:
            break
    good = sum(not parse(line)[1] for line in lines)
    return len(lines) > 1 and 2 * good > len(lines) and lines[0].strip() not in ("[", "{")


def _values_of_lines(text: str) -> Iterator[Value]:
    place = 0
    number = 0
    while place < len(text):
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        number += 1
        line = text[place:end]
        place = end + 1
        if line.strip():
            yield (number, *parse(line))


def _skip(text: str, place: int) -> int:
    found = _BLANK.match(text, place)
    return found.end() if found else place


def _array_within(text: str, start: int) -> int | None:
    """Where the array of values begins: here, or within the object that begins here; None for neither."""
    if text[start] == "[":
        return start
    if text[start] != "{":
        return None
    found = _array_of_members(text, _skip(text, start + 1))
    return found if found is not None and _has_nothing_else(text, start) else None


def _array_of_members(text: str, place: int) -> int | None:
    """Where the first array of values begins among the members of an object from this one on."""
    try:
        while place < len(text) and text[place] == '"':
            name, place = _DECODER.raw_decode(text, place)
            place = _skip(text, place)
            if text[place] != ":":
                return None
            place = _skip(text, place + 1)
            within = _skip(text, place + 1)
            if text[place] == "[" and text[within] in "{[" and name not in _ABOUT:
                return place
            _, place = _DECODER.raw_decode(text, place)
            place = _skip(text, place)
            if text[place] != ",":
                return None
            place = _skip(text, place + 1)
    except (ValueError, IndexError, RecursionError):
        return None
    return None


def _has_nothing_else(text: str, start: int) -> bool:
    """Whether the object that begins here is all of the text, or goes on beyond it."""
    try:
        _, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return True
    return _skip(text, end) == len(text)


def _arrays(text: str, start: int, inner: int, number: int) -> Iterator[Value]:
    """The elements of an array in what begins at `start`, and of others like it, as parts of a data set."""
    first: int | None = inner
    at = start
    while first is not None:
        number += text.count("\n", at, first)
        end = yield from _elements(text, first, number)
        if end is None or text[start] != "{":
            return
        number += text.count("\n", first, end)
        at = end
        comma = _skip(text, end)
        following = (
            _array_of_members(text, _skip(text, comma + 1)) if text[comma : comma + 1] == "," else None
        )
        first = (
            following if following is not None and _names(text, following) == _names(text, inner) else None
        )


def _names(text: str, array: int) -> object:
    """The names in the first object of an array; of another value its kind."""
    try:
        value, _ = _DECODER.raw_decode(text, _skip(text, array + 1))
    except (ValueError, RecursionError):
        return None
    return frozenset(value) if isinstance(value, dict) else type(value)


def _elements(text: str, start: int, number: int) -> Generator[Value, None, int | None]:
    """The elements of the array that begins here, on line `number`; and its end, None where it is cut."""
    place = start + 1
    while (at := _skip(text, place)) < len(text):
        number += text.count("\n", place, at)
        if text[at] == "]":
            return at + 1
        try:
            value, place = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            yield number, None, _not_json(error)
            return None
        yield number, value, ""
        number += text.count("\n", at, place)
        after = _skip(text, place)
        number += text.count("\n", place, after)
        place = after + 1
        if after < len(text) and text[after] not in ",]":
            yield number, None, "is not JSON (a comma is missing)"
            return None
        if after < len(text) and text[after] == "]":
            return after + 1
    return None
