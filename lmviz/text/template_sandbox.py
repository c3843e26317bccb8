"""Jinja's sandbox for templates of strangers, in which nothing grows without bound.

The sandbox keeps a template from importing and from changing anything, but one call of Python's may still
make a text of gigabytes, and no limit of time can stop it. So what would grow is measured before it is made,
and all that is made is counted.
"""

from __future__ import annotations

import functools
import json
import re
import time
from collections.abc import Callable, Iterable
from typing import Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment

from lmviz.base.errors import LmvizError

LONGEST_TEXT = 10_000_000
"""Characters of a text, or of a list with all that lies in it."""

MOST_MADE = 10 * LONGEST_TEXT
"""Characters that a template may make in all."""

LARGEST_NUMBER = 100_000
"""Of what a filter or a method of a text is given, such as a width; published templates indent by 4."""

MOST_BITS = 4096
"""Of a factor: multiplying longer numbers takes a time that nothing can end."""

REFUSED_FILTERS = ("batch", "center", "lipsum", "pprint", "slice", "sum", "wordwrap", "xmlattr")
REFUSED_METHODS = frozenset({"center", "expandtabs", "format_map", "ljust", "rjust", "translate", "zfill"})
"""What makes much of little, and what no template of a chat needs."""

WIDE = re.compile(r"\d{6}|\*|\{[^{}]*\{")
"""A width in a format that is long, or that is given by a value."""


class Generation(Extension):
    """`{% generation %}` marks what the assistant says, for training; here it changes nothing."""

    tags = {"generation"}

    def parse(self, parser: Any) -> Any:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body, lineno=line)


class _Generator(CodeGenerator):
    """Has texts joined by the environment, which looks at their length."""

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        self.write("environment.joined((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")


class TemplateSandbox(ImmutableSandboxedEnvironment):
    """The environment of one template, with what transformers adds to Jinja; it is used once."""

    intercepted_binops = frozenset({"*", "**", "+", "%"})
    code_generator_class = _Generator

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[Generation, "jinja2.ext.loopcontrols"],
            finalize=self._look_at,
        )
        self._made = 0
        self.filters["tojson"] = _as_json
        for name in REFUSED_FILTERS:
            self.filters.pop(name, None)
        self.filters = {name: self._bounded(name, function) for name, function in self.filters.items()}
        del self.globals["lipsum"]
        self.globals |= {"raise_exception": _refuse, "strftime_now": time.strftime}

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Compute `left operator right`, if what comes of it is of a bounded size."""
        if operator == "**" or max(_bits(left), _bits(right)) > MOST_BITS:
            raise SecurityError("it computes with something that is too large")
        if operator == "*":
            _allow(max(_size(left) * _times(right), _size(right) * _times(left)))
        elif operator == "%" and isinstance(left, str):
            self._check_format(left, right)
        return self._counted(super().call_binop(context, operator, left, right))

    def call(self, context: Any, function: Any, /, *given: Any, **named: Any) -> Any:
        """Call a function or a method, if what comes of it is of a bounded size."""
        method = getattr(function, "__wrapped__", function)  # Jinja wraps `format`
        text = getattr(method, "__self__", None)
        name = getattr(function, "__name__", "")
        if isinstance(text, str):
            if name in REFUSED_METHODS:
                raise SecurityError(f"it asks for {name}")
            self._check(name, (text, *given, *named.values()))
        return self._counted(super().call(context, function, *given, **named))

    def joined(self, parts: Iterable[Any]) -> str:
        """The texts of some values, one after the other."""
        return self.concat([str(self._look_at(part)) for part in parts])

    def concat(self, parts: Iterable[str]) -> str:
        """One text of several."""
        pieces = list(parts)
        _allow(sum(map(len, pieces)))
        return str(self._counted("".join(pieces)))

    def _bounded(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A filter that looks at what it is given, and whose results are counted."""

        @functools.wraps(function)  # which says, too, whether Jinja hands it the context first
        def within_bounds(*given: Any, **named: Any) -> Any:
            first = 1 if hasattr(function, "jinja_pass_arg") else 0
            self._check(name, (*given[first:], *named.values()))
            return self._counted(function(*given, **named))

        return within_bounds

    def _check(self, name: str, values: tuple[Any, ...]) -> None:
        """SecurityError where a filter or a method would make too much of these values."""
        for value in values:
            self._look_at(value)
            if value is not values[0] and _times(value) > LARGEST_NUMBER:
                raise SecurityError("it asks for something that is too large")
        if name == "format":
            self._check_format(values[0], values[1:])
        _allow(_would_make(name, *values))

    def _check_format(self, pattern: Any, values: Any) -> None:
        if WIDE.search(str(pattern)):
            raise SecurityError("it asks for something that is too wide")
        self._look_at(values)

    def _look_at(self, value: Any) -> Any:
        """The same value, if it is of a bounded size when it is written out."""
        _allow(_extent(value))
        return value

    def _counted(self, value: Any) -> Any:
        self._made += _size(value)
        if self._made > MOST_MADE:
            raise SecurityError("it makes too much")
        return value


def _allow(size: float) -> None:
    if size > LONGEST_TEXT:
        raise SecurityError("it makes something that is too large")


def _would_make(name: str, first: Any = "", second: Any = "", third: Any = "", *_: Any) -> float:
    """About how many characters come of a filter or a method that lengthens a text; 0 of any other."""
    if name == "replace":
        text, old, new = str(first), str(second), str(third)
        return len(text) + text.count(old) * len(new)
    if name == "join":  # as a method the text comes first, as a filter the list
        parts, between = (second, first) if isinstance(first, str) else (first, second)
        return _extent(parts) + (len(parts) if isinstance(parts, list | tuple | str) else 0) * len(
            str(between)
        )
    if name == "indent":
        return (str(first).count("\n") + 1) * max(_size(second), _times(second)) + _size(first)
    if name == "tojson":
        return _extent(first) * (1 + max((_times(value) for value in (second, third)), default=0))
    return 0


def _extent(value: Any) -> int:
    """How many characters and items a value has with all that lies in it, as often as it lies there.

    It is not counted beyond what is allowed: a list that holds itself twice over, many times, has no end.
    """
    found, waiting = 0, [value]
    while waiting and found <= LONGEST_TEXT:
        one = waiting.pop()
        found += 1 + _size(one)
        if isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple | set | frozenset):
            waiting += one
    return found


def _size(value: Any) -> int:
    """The characters of a text; of a list eight for each item, which takes so many bytes."""
    if isinstance(value, str):
        return len(value)
    return 8 * len(value) if isinstance(value, list | tuple | dict) else 0


def _times(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _bits(value: Any) -> int:
    return value.bit_length() if isinstance(value, int) else 0


def _refuse(words: object) -> None:
    raise LmvizError(str(words))


def _as_json(value: Any, indent: int | None = None, **options: Any) -> str:
    """JSON as transformers writes it: letters of any script as they are."""
    return json.dumps(value, ensure_ascii=False, indent=indent)
