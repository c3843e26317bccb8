"""A set of texts that are asked one question: rows, each a text, a pair of texts, or a text with a label."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

from lmviz.base.arguments import whole_number
from lmviz.base.errors import LmvizError
from lmviz.looks.shown import Shown

MOST_ROWS = 100_000
"""A set has no more rows: more are a text to be judged as a whole."""

_SLOT = re.compile(r"\{(\w+)\}")
_SENTENCE = re.compile(r"\S.*?(?:[.!?…]+[\"”’')\]]*(?=\s)|$)")


@dataclass(frozen=True)
class TextRow:
    """One row: a text, and what is known of it.

    `changed` is the text with something exchanged. `wanted` is the word that should follow the text, and
    `other` the one that it is held against, both as a tokenizer has them, spaces included. `label` is what
    the row is, by whatever division. `fields` have what varies from row to row, by name.
    """

    text: str
    changed: str | None = None
    wanted: str = ""
    other: str = ""
    label: str = ""
    fields: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not (self.changed is None or isinstance(self.changed, str)):
            raise LmvizError(f"{self.text!r} is no text: a row of a set begins with one.")

    @property
    def said(self) -> str:
        """The row in a few words: what varies, or else the text."""
        return " · ".join(self.fields.values()) if self.fields else self.text


@dataclass(frozen=True, repr=False)
class TextSet(Shown, Sequence[TextRow]):
    """Rows in an order. `name` says where they come from, and `pattern` which one they fill in, if any."""

    rows: tuple[TextRow, ...]
    name: str = ""
    pattern: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple(self.rows))
        if not self.rows:
            raise LmvizError("There is no text in this set: give at least one.")
        if len(self.rows) > MOST_ROWS:
            raise LmvizError(
                f"A set has at most {MOST_ROWS:,} rows, and this one has {len(self.rows):,}: draw some."
            )

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, place: int) -> TextRow: ...

    @overload
    def __getitem__(self, place: slice) -> TextSet: ...

    def __getitem__(self, place: int | slice) -> TextRow | TextSet:
        return replace(self, rows=self.rows[place]) if isinstance(place, slice) else self.rows[place]

    def __iter__(self) -> Iterator[TextRow]:
        return iter(self.rows)

    @property
    def texts(self) -> list[str]:
        """The text of each row."""
        return [row.text for row in self.rows]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of what varies, in the order in which the rows have them."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.fields))

    @property
    def labels(self) -> tuple[str, ...]:
        """The different labels, in the order in which they come."""
        return tuple(dict.fromkeys(row.label for row in self.rows if row.label))

    @property
    def are_pairs(self) -> bool:
        """Whether each row has a changed text."""
        return all(row.changed is not None for row in self.rows)

    def sample(self, count: int, seed: int = 0) -> TextSet:
        """So many rows drawn at random, in the order of the set; the same for the same seed."""
        count = whole_number("count", count, least=1)
        if count >= len(self):
            return self
        drawn = sorted(random.Random(seed).sample(range(len(self)), count))
        return replace(self, rows=tuple(self.rows[number] for number in drawn))


def set_of(rows: Iterable[Any], name: str = "") -> TextSet:
    """A set of rows as they are given: texts, pairs of texts, mappings or rows; LmvizError for others."""
    if isinstance(rows, TextSet):
        return rows
    if isinstance(rows, str) or not isinstance(rows, Iterable):
        raise LmvizError(f"{rows!r} is no set of texts: give a list of texts or rows.")
    return TextSet(tuple(row_of(row, number) for number, row in enumerate(rows, start=1)), name)


KEYS = {
    "text": ("text", "prompt", "sentence", "clean", "prefix"),
    "changed": ("changed", "corrupted", "corrupt", "counterfactual", "changed text"),
    "wanted": ("wanted", "answer", "target", "correct", "right"),
    "other": ("other", "wrong", "distractor", "foil", "incorrect"),
    "label": ("label", "class", "category", "group", "kind"),
}
"""What the parts of a row are called in files, the first one also in Python."""


def row_of(given: Any, number: int) -> TextRow:
    """One row as it is given; LmvizError, with its number from 1, for what is none."""
    if isinstance(given, TextRow):
        return given
    if isinstance(given, str):
        return TextRow(given)
    if isinstance(given, Mapping):
        return _from_mapping(given, number)
    if isinstance(given, Sequence) and len(given) == 2 and all(isinstance(one, str) for one in given):
        return TextRow(given[0], given[1])
    raise LmvizError(
        f"Row {number} is neither a text, nor a pair, nor a mapping with 'text': {str(given)[:60]!r}."
    )


def _from_mapping(given: Mapping[Any, Any], number: int) -> TextRow:
    named = {str(name).strip().lower(): name for name in given}
    found: dict[str, str] = {}
    used = set()
    for key, names in KEYS.items():
        name = next((named[one] for one in names if one in named), None)
        if name is not None:
            value = given[name]
            if isinstance(value, dict | list) or (key == "text" and not isinstance(value, str)):
                raise LmvizError(f"Row {number} has {name!r}, which is no text: {str(value)[:60]!r}.")
            used.add(name)
            if value is not None:
                found[key] = str(value)
    if "text" not in found:
        raise LmvizError(f"Row {number} has no 'text': it has {', '.join(map(str, given)) or 'nothing'}.")
    fields = {
        str(name): str(value)
        for name, value in given.items()
        if name not in used and value is not None and not isinstance(value, dict | list)
    }
    return TextRow(found.pop("text"), found.pop("changed", None) or None, **found, fields=fields)


def lines_of(text: str, name: str = "") -> TextSet:
    """One row for each line that is not empty."""
    return set_of([line.strip() for line in text.splitlines() if line.strip()], name)


def sentences_of(text: str, name: str = "") -> TextSet:
    """One row for each sentence: lines, cut after a full stop, a question mark or an exclamation mark."""
    lines = (line.strip() for line in text.splitlines() if line.strip())
    return set_of([part for line in lines for part in _SENTENCE.findall(line)], name)


def filled_in(
    pattern: str,
    lists: Mapping[str, Sequence[str]],
    *,
    changed: str = "",
    wanted: str = "",
    other: str = "",
    label: str = "",
    count: int | None = None,
    seed: int = 0,
) -> TextSet:
    """A row for each way to fill in the slots of a pattern, such as "{A} and {B} went to the {place}".

    `changed`, `wanted`, `other` and `label` may have the same slots. No row has one word in two slots. With
    `count`, so many rows are drawn at random, the same for the same seed. LmvizError for a slot without
    words.
    """
    parts = {"text": pattern, "changed": changed, "wanted": wanted, "other": other, "label": label}
    slots = tuple(dict.fromkeys(_SLOT.findall(" ".join(parts.values()))))
    if not slots:
        raise LmvizError("The pattern has no slots, such as {place}: write at least one.")
    if not isinstance(lists, Mapping):
        raise LmvizError(f"{lists!r} are no lists of words: give a list for each slot, by its name.")
    for slot in slots:
        words = lists.get(slot)
        if isinstance(words, str) or not isinstance(words, Sequence) or not words:
            raise LmvizError(f"There are no words for {{{slot}}}: give a list of them.")
    sizes = [len(lists[slot]) for slot in slots]
    total = 1
    for size in sizes:
        total *= size
    numbers: Iterable[int] = range(total)
    if count is not None:
        count = whole_number("count", count, least=1)
        numbers = _shuffled(total, seed)
    elif total > MOST_ROWS:
        raise LmvizError(f"This pattern has {total:,} rows: say how many are to be drawn.")
    rows: list[TextRow] = []
    for number in numbers:
        words_in = {}
        for slot, size in zip(reversed(slots), reversed(sizes), strict=True):
            number, at = divmod(number, size)
            words_in[slot] = str(lists[slot][at])
        words_in = {slot: words_in[slot] for slot in slots}
        if len(set(words_in.values())) < len(slots):
            continue
        filled = {key: _fill(part, words_in) for key, part in parts.items()}
        rows.append(TextRow(filled.pop("text"), filled.pop("changed") or None, **filled, fields=words_in))
        if count is not None and len(rows) == count:
            break
    if not rows:
        raise LmvizError("No row has another word in each slot: give the slots words that differ.")
    return TextSet(tuple(rows), "a pattern", pattern)


def read_pattern(text: str) -> TextSet:
    """The set that a few lines state: a pattern, the words of its slots, and what follows it.

    The first line is the pattern; the others are such as "place: store, school" for a slot, and
    "wanted: {A}", "other: {B}", "changed: …", "label: …", "rows: 60" and "seed: 0". The words of slots
    stand in the text as they are written; "wanted" and "other" keep the space after the colon. LmvizError
    with the line that is none of these.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise LmvizError("There is no pattern: write one, such as “The {animal} eats”.")
    stated: dict[str, str] = {}
    lists: dict[str, list[str]] = {}
    for line in lines[1:]:
        name, colon, rest = line.partition(":")
        name = name.strip()
        if not colon or not name:
            raise LmvizError(f"“{line.strip()[:60]}” is no line of a pattern: write “place: store, school”.")
        if name in ("wanted", "other", "changed", "label", "rows", "seed"):
            stated[name] = rest if name in ("wanted", "other") else rest.strip()
        else:
            lists[name] = [word.strip() for word in rest.split(",") if word.strip()]
    numbers = {}
    for name in ("rows", "seed"):
        if name in stated:
            if not stated[name].isdecimal() or len(stated[name]) > 9:
                raise LmvizError(f"“{name}: {stated[name][:20]}” is no whole number.")
            numbers[name] = int(stated.pop(name))
    return filled_in(
        lines[0].strip(), lists, count=numbers.get("rows"), seed=numbers.get("seed", 0), **stated
    )


def _shuffled(total: int, seed: int) -> Iterator[int]:
    """The numbers below a total in a random order, without keeping all of them."""
    chance = random.Random(seed)
    if total <= 2**20:
        yield from chance.sample(range(total), total)
        return
    seen: set[int] = set()
    for _ in itertools.repeat(None, 2**20):
        number = chance.randrange(total)
        if number not in seen:
            seen.add(number)
            yield number


def _fill(part: str, words: Mapping[str, str]) -> str:
    return _SLOT.sub(lambda met: words[met[1]], part)


def by_answer(given: TextSet) -> dict[str, list[str]]:
    """The texts of a set by the word that each wants, or else by label; LmvizError where neither is known."""
    found: dict[str, list[str]] = {}
    for row in given:
        answer = row.wanted or row.label
        if not answer:
            raise LmvizError(
                f"“{row.said}” has neither a wanted word nor a label: give a set with one of them."
            )
        found.setdefault(answer, []).append(row.text)
    return found
