"""Conditions: what a step waits for, as a value. `model is stories-5-gram`, `step >= 200`, `prefix changes`.

A condition is one of

    EXPRESSION is WORDS          EXPRESSION is not WORDS        EXPRESSION contains WORDS
    EXPRESSION = EXPRESSION      also ≠ < <= > >= (or ≤ ≥), and “= EXPRESSION ± NUMBER”
    EXPRESSION changes           since the step was begun
    EXPRESSION                   is true while it is a number other than 0;  not EXPRESSION  while it is 0

Upper and lower case do not count in words, and quotation marks around them may be left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lmviz.base.faults import LineFault
from lmviz.lessons.expression import Expression, Result, constant, evaluate, parse
from lmviz.lessons.faults import NotKnown, StillComing

LookUp = Callable[[str, list[Result]], Result]

CLOSE = 1e-4
"""How far, relative to the number, two numbers called equal may lie apart where no ± is stated."""

_COMPARISONS: dict[str, Callable[[float, float, float], bool]] = {
    "=": lambda first, second, apart: abs(first - second) <= apart,
    "≠": lambda first, second, apart: abs(first - second) > apart,
    "<": lambda first, second, apart: first < second,
    "≤": lambda first, second, apart: first <= second,
    ">": lambda first, second, apart: first > second,
    "≥": lambda first, second, apart: first >= second,
}
_SPELLINGS = {"<=": "≤", ">=": "≥", "!=": "≠", "==": "="}
_RELATION = re.compile(r'"[^"]*"|(\s(?:is\s+not|is|contains)(?=\s|$)|\schanges\s*$|<=|>=|!=|==|[=≠<≤>≥])')


@dataclass(frozen=True)
class Condition:
    """`relation` is "is", "is not", "contains", "changes", "holds", "not", or a comparison.

    `words` is what it is compared with as words, `second` as a number; `apart` is what ± states.
    """

    text: str
    first: Expression
    relation: str
    words: str = ""
    second: Expression | None = None
    apart: float | None = None

    @property
    def expressions(self) -> Iterator[Expression]:
        """What has to be known to decide it."""
        yield self.first
        if self.second is not None:
            yield self.second

    def holds(self, look_up: LookUp, before: Result | None = None) -> bool:
        """Whether it is true now; `before` is what `state` was when the step was begun."""
        try:
            found = evaluate(self.first, look_up)
            if self.relation == "changes":
                return before is not None and found != before
            if self.relation in ("is", "is not", "contains"):
                return self._compare_words(plain(found))
            if self.relation in ("holds", "not"):
                return (found != 0 and found != "") == (self.relation == "holds")
            assert self.second is not None
            second = evaluate(self.second, look_up)
        except NotKnown:
            return False
        if isinstance(found, str) or isinstance(second, str):
            return False
        apart = CLOSE * max(abs(found), abs(second)) if self.apart is None else self.apart
        return _COMPARISONS[self.relation](found, second, apart)

    def coming(self, look_up: LookUp) -> StillComing | None:
        """Why it cannot be decided yet; None where it can."""
        try:
            for each in self.expressions:
                evaluate(each, look_up)
        except StillComing as reason:
            return reason
        except NotKnown:
            return None
        return None

    def state(self, look_up: LookUp) -> Result | None:
        """What a change is measured from; None where it is not known."""
        try:
            return evaluate(self.first, look_up)
        except NotKnown:
            return None

    def _compare_words(self, found: str) -> bool:
        wanted = plain(self.words)
        if self.relation == "contains":
            return wanted in found
        return (found == wanted) == (self.relation == "is")


def parse_condition(text: str) -> Condition:
    """Read a condition; LineFault where it is none."""
    found = next((match for match in _RELATION.finditer(text) if match[1] is not None), None)
    if found is None:
        negated = text.startswith("not ")
        return Condition(text, parse(text[4:] if negated else text), "not" if negated else "holds")
    relation = " ".join(found[1].split())
    first, rest = parse(text[: found.start()]), text[found.end() :].strip()
    if relation == "changes":
        return Condition(text, first, relation)
    if not rest:
        raise LineFault(f"nothing stands after “{relation}”.")
    if relation in ("is", "is not", "contains"):
        quoted = len(rest) > 1 and rest[0] == rest[-1] == '"'
        return Condition(text, first, relation, words=rest[1:-1] if quoted else rest)
    rest, plus_minus, stated = rest.partition("±")
    apart = constant(stated) if plus_minus else None
    if plus_minus and apart is None:
        raise LineFault("write a number after ±, such as 0.001.")
    return Condition(text, first, _SPELLINGS.get(relation, relation), second=parse(rest), apart=apart)


def plain(value: Result) -> str:
    """Words as they are compared; a number as it would be typed."""
    text = f"{value:g}" if isinstance(value, float) else value
    return " ".join(text.casefold().split())
