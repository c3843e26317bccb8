"""What a grammar can say, and how likely each of it is: exactly, by going through all of its choices.

A choice has the share of its weight; an optional place is empty every other time; what is remembered from
one list under several names all differs. This is how `Grammar.tell` draws.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from lmviz.base.errors import LmvizError
from lmviz.text.grammar import DEEPEST, Grammar, GrammarLine, Slot

T = TypeVar("T")
Weighed = dict[T, float]
Forms = tuple[str, ...]
Parts = tuple[str | Slot, ...]

MOST_OUTCOMES = 1_000_000
"""More than so many are not gone through."""


@dataclass(frozen=True)
class RememberedForms:
    """What has been remembered so far: by name its list and forms, and the places taken of each list."""

    drawn: tuple[tuple[str, str, Forms], ...] = ()
    taken: tuple[tuple[str, frozenset[int]], ...] = ()

    def recall(self, name: str) -> tuple[str, Forms] | None:
        """The list and the forms of what was drawn under a name; None where nothing was."""
        return next(((source, forms) for known, source, forms in self.drawn if known == name), None)

    def remember(self, name: str, source: str, forms: Forms) -> RememberedForms:
        """With something drawn under a name."""
        others = (item for item in self.drawn if item[0] != name)
        return replace(self, drawn=tuple(sorted((*others, (name, source, forms)))))

    def places_taken(self, source: str) -> frozenset[int]:
        """Which choices of a list are remembered."""
        return dict(self.taken).get(source, frozenset())

    def take(self, source: str, place: int) -> RememberedForms:
        """With one more choice of a list taken."""
        taken = dict(self.taken) | {source: self.places_taken(source) | {place}}
        return replace(self, taken=tuple(sorted(taken.items(), key=lambda item: item[0])))


NOTHING = RememberedForms()


def outcomes(grammar: Grammar, start: str) -> dict[Forms, float]:
    """Everything that `Grammar.tell_forms` can give, with its probability.

    LmvizError where the grammar can say more than a million things, or leads back to itself.
    """
    found: Weighed[Forms] = defaultdict(float)
    for (forms, _), share in draw(grammar, start, NOTHING).items():
        found[tuple(" ".join(form.split()) for form in forms)] += share
    return dict(found)


def draw(
    grammar: Grammar, name: str, memory: RememberedForms, depth: int = 0
) -> Weighed[tuple[Forms, RememberedForms]]:
    """All forms of the choices of a list, and what is remembered then."""
    if depth > DEEPEST:
        raise LmvizError(f"The list [{name}] of the grammar never ends: it leads back to itself.")
    choices = grammar.lists[name].choices
    return _mixed(
        (share, forms_of(grammar, choices[place], memory, depth + 1))
        for place, share in shares(choices, range(len(choices)))
    )


def draw_another(
    grammar: Grammar, slot: Slot, memory: RememberedForms, depth: int
) -> Weighed[tuple[Forms, RememberedForms]]:
    """All forms of what a slot with a name of its own draws, remembered under that name."""
    choices = grammar.lists[slot.source].choices
    found: Weighed[tuple[Forms, RememberedForms]] = defaultdict(float)
    for place, share in free_shares(choices, memory.places_taken(slot.source)):
        drawn = forms_of(grammar, choices[place], memory.take(slot.source, place), depth + 1)
        for (forms, after), part in drawn.items():
            found[forms, after.remember(slot.name, slot.source, forms)] += share * part
    return found


def free_shares(choices: tuple[GrammarLine, ...], taken: Collection[int]) -> list[tuple[int, float]]:
    """Each place that is not taken with its probability; each place where all are."""
    return shares(
        choices, [place for place in range(len(choices)) if place not in taken] or range(len(choices))
    )


def shares(choices: tuple[GrammarLine, ...], places: Iterable[int]) -> list[tuple[int, float]]:
    """Each of the places with its probability."""
    weights = {place: choices[place].weight for place in places}
    total = sum(weights.values())
    return [(place, weight / total) for place, weight in weights.items()]


def forms_of(
    grammar: Grammar, choice: GrammarLine, memory: RememberedForms, depth: int
) -> Weighed[tuple[Forms, RememberedForms]]:
    """All forms of one choice, and what is remembered then."""
    states: Weighed[tuple[Forms, RememberedForms]] = {((), memory): 1.0}
    for parts in choice.forms:
        longer: Weighed[tuple[Forms, RememberedForms]] = defaultdict(float)
        for (forms, before), share in states.items():
            for (text, after), part in _write(grammar, parts, before, depth).items():
                longer[(*forms, text), after] += share * part
        states = _counted(longer)
    return states


def _write(
    grammar: Grammar, parts: Parts, memory: RememberedForms, depth: int
) -> Weighed[tuple[str, RememberedForms]]:
    states: Weighed[tuple[str, RememberedForms]] = {("", memory): 1.0}
    for part in parts:
        longer: Weighed[tuple[str, RememberedForms]] = defaultdict(float)
        for (text, before), share in states.items():
            filled = {(part, before): 1.0} if isinstance(part, str) else _fill(grammar, part, before, depth)
            for (more, after), chance in filled.items():
                longer[text + more, after] += share * chance
        states = _counted(longer)
    return states


def _fill(
    grammar: Grammar, slot: Slot, memory: RememberedForms, depth: int
) -> Weighed[tuple[str, RememberedForms]]:
    found: Weighed[tuple[str, RememberedForms]] = defaultdict(float)
    chance = 0.5 if slot.optional else 1.0
    if slot.optional:
        found["", memory] += 0.5
    known = None if slot.name else memory.recall(slot.source)
    if known is not None:
        source, forms = known
        found[forms[grammar.lists[source].place(slot.form)], memory] += chance
        return found
    drawn = (
        draw_another(grammar, slot, memory, depth)
        if slot.name
        else draw(grammar, listed(grammar, slot), memory, depth)
    )
    place = grammar.lists[slot.source].place(slot.form)
    for (forms, after), share in drawn.items():
        found[forms[place], after] += chance * share
    return found


def listed(grammar: Grammar, slot: Slot) -> str:
    """The list that a slot draws from; LmvizError where it names what nothing has drawn yet."""
    if slot.source not in grammar.lists:
        raise LmvizError(f"The grammar uses {{{slot.source}}} before anything is drawn as {slot.source}.")
    return slot.source


def _mixed(parts: Iterable[tuple[float, Mapping[T, float]]]) -> Weighed[T]:
    found: Weighed[T] = defaultdict(float)
    for share, outcomes in parts:
        for outcome, chance in outcomes.items():
            found[outcome] += share * chance
    return _counted(found)


def _counted(states: Weighed[T]) -> Weighed[T]:
    if len(states) > MOST_OUTCOMES:
        raise LmvizError(f"The grammar can say more than {MOST_OUTCOMES:,} things: it is too large for this.")
    return states
