"""Generates texts from a grammar that is easy to read and change.

A grammar is a text file of lists. `resources/corpora/stories.grammar` begins with the rules of the
format; in short: `[place]` begins a list, every line is one choice, `{place}` draws one, `{home:place}`
draws one and remembers it, `{home}` repeats it, and `{hero.him}` repeats it in another form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from lmviz.base.errors import LmvizError

_HEADER = re.compile(r"\[(\w+)(?::((?: \w+)+))?\]")
_SLOT = re.compile(r"\{(?:(\w+):)?(\w+)(?:\.(\w+))?(\?)?\}")
_WEIGHT = re.compile(r"(\d+) \* ")
DEEPEST = 50

_ARTICLE = re.compile(r"\b([Aa]) (?=[aeiou])")
BEGINNING = re.compile(r'(^"?|[.!?] "?|[.!?]" "|\." |[,:] ")([a-z])')


@dataclass(frozen=True)
class Slot:
    """A place to fill: draw from a list, or say again what was drawn as `name`."""

    name: str
    source: str
    form: str
    optional: bool


@dataclass(frozen=True)
class GrammarLine:
    """One line of a list: how likely it is, and each of its forms as text and slots in turn."""

    weight: int
    forms: tuple[tuple[str | Slot, ...], ...]


@dataclass(frozen=True)
class WordList:
    """A list: the names of the forms of its choices, if they have several, and the choices."""

    forms: tuple[str, ...]
    choices: tuple[GrammarLine, ...]

    def place(self, form: str) -> int:
        """The index of the form; the first if none is named."""
        return self.forms.index(form) if form else 0


@dataclass
class _Telling:
    """What has been drawn so far in one text."""

    random: Random
    drawn: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    taken: dict[str, set[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Grammar:
    """Lists by name, from which `tell` makes texts."""

    lists: Mapping[str, WordList]

    @classmethod
    def parse(cls, text: str) -> Grammar:
        """Read the format; LmvizError names the line that does not fit."""
        lists = {name: WordList(forms, tuple(choices)) for name, forms, choices in _sections(text)}
        grammar = cls(lists)
        grammar._check()
        return grammar

    def tell(self, start: str, random: Random) -> str:
        """One text, with capital letters at the beginnings of sentences and "an" before vowels."""
        text = self._draw(start, _Telling(random), 0)[0]
        text = _ARTICLE.sub(r"\1n ", " ".join(text.split()))
        return BEGINNING.sub(lambda found: found[1] + found[2].upper(), text)

    def tell_forms(self, start: str, random: Random) -> tuple[str, ...]:
        """All forms of one choice, as they stand in the grammar."""
        return tuple(" ".join(form.split()) for form in self._draw(start, _Telling(random), 0))

    def _draw(self, name: str, telling: _Telling, depth: int, place: int = -1) -> tuple[str, ...]:
        """All forms of one choice of a list."""
        if depth > DEEPEST:
            raise LmvizError(f"The list [{name}] of the grammar never ends: it leads back to itself.")
        choices = self.lists[name].choices
        choice = choices[place if place >= 0 else _pick(choices, range(len(choices)), telling.random)]
        return tuple(self._write(form, telling, depth + 1) for form in choice.forms)

    def _write(self, parts: tuple[str | Slot, ...], telling: _Telling, depth: int) -> str:
        return "".join(part if isinstance(part, str) else self._fill(part, telling, depth) for part in parts)

    def _fill(self, slot: Slot, telling: _Telling, depth: int) -> str:
        if slot.optional and telling.random.random() < 0.5:
            return ""
        if slot.name:
            telling.drawn[slot.name] = slot.source, self._draw_another(slot.source, telling, depth)
        name = slot.name or slot.source
        if name in telling.drawn:
            source, forms = telling.drawn[name]
            return forms[self.lists[source].place(slot.form)]
        if name not in self.lists:
            raise LmvizError(f"The grammar uses {{{name}}} before anything is drawn as {name}.")
        return self._draw(name, telling, depth)[self.lists[name].place(slot.form)]

    def _draw_another(self, name: str, telling: _Telling, depth: int) -> tuple[str, ...]:
        """A choice of a list that no other name of this text has drawn, while there is one."""
        choices = self.lists[name].choices
        taken = telling.taken.setdefault(name, set())
        free = [place for place in range(len(choices)) if place not in taken]
        place = _pick(choices, free or range(len(choices)), telling.random)
        taken.add(place)
        return self._draw(name, telling, depth, place)

    def _check(self) -> None:
        for name, words in self.lists.items():
            if not words.choices:
                raise LmvizError(f"The list [{name}] of the grammar is empty.")
        slots = list(slots_of(self))
        for slot in slots:
            drawn = {other.source for other in slots if other.name and other.name == slot.source}
            sources = drawn | ({slot.source} & self.lists.keys())
            if not sources:
                raise LmvizError(f"The grammar has no list [{slot.source}], which {{{slot.source}}} needs.")
            if slot.form and not any(slot.form in self.lists[source].forms for source in sources):
                raise LmvizError(f"The list [{slot.source}] of the grammar has no form {slot.form!r}.")


def slots_of(grammar: Grammar, name: str = "") -> Iterator[Slot]:
    """The slots in the choices of a list, or of all lists."""
    for words in [grammar.lists[name]] if name else grammar.lists.values():
        for choice in words.choices:
            for form in choice.forms:
                yield from (part for part in form if isinstance(part, Slot))


def _pick(choices: tuple[GrammarLine, ...], places: range | list[int], random: Random) -> int:
    """One of the places by weight; only `random()` of Random is the same in every Python."""
    left = random.random() * sum(choices[place].weight for place in places)
    for place in places:
        left -= choices[place].weight
        if left < 0:
            return place
    return places[-1]


def _sections(text: str) -> Iterator[tuple[str, tuple[str, ...], list[GrammarLine]]]:
    """Name, forms and choices of each list."""
    header: tuple[str, tuple[str, ...]] | None = None
    choices: list[GrammarLine] = []
    seen: set[str] = set()
    for number, line in _logical_lines(text):
        found = _HEADER.fullmatch(line)
        if found is None:
            if header is None:
                raise LmvizError(f"Line {number} of the grammar is before the first [list].")
            choices.append(_choice(line, len(header[1]) or 1, number))
            continue
        if header is not None:
            yield *header, choices
        header, choices = (found[1], tuple((found[2] or "").split())), []
        if found[1] in seen:
            raise LmvizError(f"Line {number} of the grammar begins the list [{found[1]}] a second time.")
        seen.add(found[1])
    if header is not None:
        yield *header, choices


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments, with indented ones joined to the line above."""
    number, current = 0, ""
    for place, line in enumerate(text.splitlines(), start=1):
        if line.startswith("#") or not line.strip():
            continue
        if line[0].isspace() and current:
            current += " " + line.strip()
            continue
        if current:
            yield number, current
        number, current = place, line.strip()
    if current:
        yield number, current


def _choice(line: str, forms: int, number: int) -> GrammarLine:
    weight = _WEIGHT.match(line)
    parts = line[weight.end() :] if weight else line
    written = tuple(form.strip() for form in parts.split("|"))
    if len(written) != forms:
        raise LmvizError(f"Line {number} of the grammar has {len(written)} forms in place of {forms}.")
    return GrammarLine(int(weight[1]) if weight else 1, tuple(_parts(form, number) for form in written))


def _parts(text: str, number: int) -> tuple[str | Slot, ...]:
    parts: list[str | Slot] = []
    end = 0
    for found in _SLOT.finditer(text):
        parts.append(text[end : found.start()])
        parts.append(Slot(found[1] or "", found[2], found[3] or "", bool(found[4])))
        end = found.end()
    parts.append(text[end:])
    if any(isinstance(part, str) and ("{" in part or "}" in part) for part in parts):
        raise LmvizError(f"Line {number} of the grammar has a brace without its partner.")
    return tuple(part for part in parts if part != "")
