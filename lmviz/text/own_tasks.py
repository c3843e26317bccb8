"""The corpora of tasks that lmviz writes: the same text on every machine.

Of the random numbers only `random()` is used, which is the same in every version of Python.
"""

from __future__ import annotations

import datetime
import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from random import Random
from string import ascii_lowercase
from typing import TypeVar

from lmviz.text.grammar import Grammar
from lmviz.text.resources import resource_path

T = TypeVar("T")

BACKWARDS_SPAN, TWIN_SPAN, RECALL_SPAN = 20, 15, 10
"""The usual letters of the longest word, words of the longest source, and words between key and return."""

_SEED = 1
_SENTENCES = 6000
_REVIEWS = 4000
_WORDS = 20_000
_DATES = 10_000
_PAIRS = 10_000
_CLAUSES = 6000
_LINES = 5000
_ECHOES = 4000

ECHO_PAIRS, ECHO_DRAWS = 5, 16
"""How many pairs of words a line of `echo` has, and how often one of them is said."""

_KEYS = ("red", "blue", "green", "black", "white", "brown", "grey", "pink")
_FILLERS = [
    "apple",
    "bread",
    "chair",
    "drum",
    "egg",
    "fork",
    "glass",
    "hat",
    "ink",
    "jug",
    "kite",
    "lamp",
    "map",
    "nail",
    "oven",
    "pen",
    "queen",
    "rope",
    "salt",
    "tent",
]
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
]


def grammar_of(name: str) -> Grammar:
    """The grammar that a corpus is drawn from."""
    return Grammar.parse(resource_path("corpora", f"{name}.grammar").read_text(encoding="utf-8"))


def ambiguous() -> str:
    """Tagged sentences, a line each, in which what comes later often decides about a tag."""
    grammar, random = grammar_of("ambiguous"), Random(_SEED)
    told = (grammar.tell_forms("sentence", random) for _ in range(_SENTENCES))
    return _lines(
        " ".join(f"{word}/{tag}" for word, tag in zip(words.split(), tags.split(), strict=True))
        for words, tags in told
    )


def reviews() -> str:
    """Reviews with their label and a tab before them."""
    grammar, random = grammar_of("reviews"), Random(_SEED)
    told = (grammar.tell_forms("review", random) for _ in range(_REVIEWS))
    return _lines(f"{label}\t{words[0].upper()}{words[1:]}" for words, label in told)


def backwards(span: int = BACKWARDS_SPAN) -> str:
    """Letters and, behind a tab, the same in reverse; up to `span` of them."""
    random = Random(_SEED)
    words = (
        "".join(_one_of(ascii_lowercase, random) for _ in range(1 + _below(span, random)))
        for _ in range(_WORDS)
    )
    return _lines(f"{word}\t{word[::-1]}" for word in words)


def dates() -> str:
    """Dates as they are written out and, behind a tab, by ISO 8601."""
    random = Random(_SEED)
    first, days = datetime.date(1900, 1, 1), (datetime.date(2100, 1, 1) - datetime.date(1900, 1, 1)).days
    drawn = (first + datetime.timedelta(days=_below(days, random)) for _ in range(_DATES))
    return _lines(f"{_written_out(date, random)}\t{date.isoformat()}" for date in drawn)


def twin(span: int = TWIN_SPAN) -> str:
    """Sentences in English of up to `span` words and, behind a tab, the same in French."""
    grammar, random = grammar_of("twin"), Random(_SEED)
    drawn = [_both(grammar.tell_forms("clause", random)) for _ in range(_CLAUSES)]
    clauses = sorted(drawn, key=lambda clause: clause[0].count(" "))
    lengths = [clause[0].count(" ") + 1 for clause in clauses]
    return _lines("\t".join(_sentence(grammar, clauses, lengths, span, random)) for _ in range(_PAIRS))


def recall(span: int = RECALL_SPAN) -> str:
    """Lines in which a key comes back after `span` other words and a question mark."""
    random = Random(_SEED)
    lines = []
    for _ in range(_LINES):
        key = _one_of(_KEYS, random)
        lines.append(" ".join([key, *(_one_of(_FILLERS, random) for _ in range(span)), "?", key]))
    return _lines(lines)


def recall_nats(span: int) -> float:
    """Nats of one line of `recall`: the key and the words after it are drawn, the rest follows from them."""
    return math.log(len(_KEYS)) + (span or RECALL_SPAN) * math.log(len(_FILLERS))


def echo() -> str:
    """Lines in which each word is followed by its partner; who that is, is drawn anew for each line."""
    random = Random(_SEED)
    return _lines(_echoing(random) for _ in range(_ECHOES))


def _echoing(random: Random) -> str:
    left = [*_KEYS, *_FILLERS]
    drawn = [left.pop(_below(len(left), random)) for _ in range(2 * ECHO_PAIRS)]
    pairs = [f"{first} {second}" for first, second in zip(drawn[::2], drawn[1::2], strict=True)]
    return " ".join(_one_of(pairs, random) for _ in range(ECHO_DRAWS))


def echo_nats() -> float:
    """Nats of one line of `echo` for who knows the rule: a pair that was said before costs its first word."""
    shares, nats = {0: 1.0}, 0.0  # the probability that so many pairs have been said
    for _ in range(ECHO_DRAWS):
        after: dict[int, float] = {}
        for said, share in shares.items():
            unsaid, words = ECHO_PAIRS - said, len(_KEYS) + len(_FILLERS) - 2 * said
            nats += share * math.log(ECHO_PAIRS)
            after[said] = after.get(said, 0.0) + share * said / ECHO_PAIRS
            if unsaid:
                new = share * unsaid / ECHO_PAIRS
                nats += new * (math.log(words * (words - 1)) - math.log(unsaid))
                after[said + 1] = after.get(said + 1, 0.0) + new
        shares = after
    return nats


def _sentence(
    grammar: Grammar, clauses: list[tuple[str, str]], lengths: list[int], span: int, random: Random
) -> tuple[str, str]:
    """Clauses joined to a sentence of at most a length that is drawn.

    `clauses` are sorted by their `lengths`, the number of English words.
    """
    left = lengths[0] + _below(span - lengths[0] + 1, random)
    parts: list[tuple[str, str]] = []
    while (fitting := bisect_right(lengths, left)) > 0:
        chosen = _below(fitting, random)
        parts.append(clauses[chosen])
        left -= lengths[chosen] + 1
        if left < lengths[0]:
            break
        parts.append(_both(grammar.tell_forms("link", random)))
    english, french = zip(*parts, strict=True)
    return " ".join(english), " ".join(french)


def _both(forms: tuple[str, ...]) -> tuple[str, str]:
    english, french = forms
    return english, french


def _written_out(date: datetime.date, random: Random) -> str:
    month, year = _MONTHS[date.month - 1], date.year
    ways = (
        f"{date.day} {month} {year}",
        f"{month} {date.day}, {year}",
        f"{date.day} {month[:3]} {year}",
        f"{_DAYS[date.weekday()]}, {date.day} {month} {year}",
        f"the {date.day}{_ending(date.day)} of {month} {year}",
        f"the {_ordinal(date.day)} of {month}, {year}",
        f"{_DAYS[date.weekday()]} the {_ordinal(date.day)} of {month} {year}",
    )
    return _one_of(ways, random)


def _ending(day: int) -> str:
    return "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _ordinal(day: int) -> str:
    if day <= 20:
        return _ORDINALS[day - 1]
    if day == 30:
        return "thirtieth"
    return f"{'twenty' if day < 30 else 'thirty'}-{_ORDINALS[day % 10 - 1]}"


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _below(count: int, random: Random) -> int:
    return int(random.random() * count)


def _one_of(choices: Sequence[T], random: Random) -> T:
    return choices[_below(len(choices), random)]
