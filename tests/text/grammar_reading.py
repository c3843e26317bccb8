"""How likely a grammar is to tell a given text: exactly, over all of its ways to do so.

The choices of the grammar are tried from left to right, and a way is given up where the text goes on
differently. `Grammar.tell` turns "a" into "an" before vowels, writes the beginnings of sentences with capital
letters, and closes up spaces; here each letter of the text is compared with what could have become it.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from lmviz.base.errors import LmvizError
from lmviz.text.grammar import BEGINNING, DEEPEST, Grammar, Slot, slots_of
from tests.text.grammar_outcomes import (
    NOTHING,
    Parts,
    RememberedForms,
    Weighed,
    forms_of,
    free_shares,
    listed,
    shares,
)

_BEGINNING = re.compile(BEGINNING.pattern.replace("[a-z]", "[A-Za-z]"))
_ADDED = re.compile(r"\b[Aa](n) (?=[aeiou])")

State = tuple[int, RememberedForms]
"""How much of the text has been told, and what is remembered."""


def nats_of(grammar: Grammar, start: str, text: str) -> float:
    """−log p of a text that `Grammar.tell` gives; infinite where it never does."""
    told = _Telling(grammar, text).told(start)
    return -math.log(told) if told else math.inf


@dataclass
class _Telling:
    """One text, and what is known of which list tells which stretch of it."""

    grammar: Grammar
    text: str
    _known: dict[tuple[str, int, int], Mapping[State, float]] = field(default_factory=dict)
    _plain: dict[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._names = {slot.name for slot in slots_of(self.grammar)}
        self._begins = {found.start(2) for found in _BEGINNING.finditer(self.text)}
        self._added = {found.start(1) for found in _ADDED.finditer(self.text)}

    def told(self, start: str) -> float:
        """The probability of the whole text."""
        ends = self._list(start, 0, (0, NOTHING), 0)
        return sum(share for (place, _), share in ends.items() if place == len(self.text))

    def _list(self, name: str, form: int, state: State, depth: int) -> Mapping[State, float]:
        """Where a form of one choice of a list can end, with the probability of each."""
        if depth > DEEPEST:
            return {}
        if not self._is_plain(name):
            return self._choices(name, form, state, depth)
        key = name, form, state[0]
        if key not in self._known:  # what remembers nothing is the same whatever is remembered
            self._known[key] = self._choices(name, form, (state[0], NOTHING), depth)
        return {(place, state[1]): share for (place, _), share in self._known[key].items()}

    def _choices(self, name: str, form: int, state: State, depth: int) -> Mapping[State, float]:
        found: Weighed[State] = defaultdict(float)
        choices = self.grammar.lists[name].choices
        for place, share in shares(choices, range(len(choices))):
            for end, chance in self._parts(choices[place].forms[form], state, depth + 1).items():
                found[end] += share * chance
        return found

    def _parts(self, parts: Parts, state: State, depth: int) -> Mapping[State, float]:
        states: Mapping[State, float] = {state: 1.0}
        for part in parts:
            after: Weighed[State] = defaultdict(float)
            for before, share in states.items():
                for end, chance in self._part(part, before, depth).items():
                    after[end] += share * chance
            states = after
            if not states:
                break
        return states

    def _part(self, part: str | Slot, state: State, depth: int) -> Mapping[State, float]:
        if isinstance(part, str):
            place = self._literal(part, state[0])
            return {} if place is None else {(place, state[1]): 1.0}
        found: Weighed[State] = defaultdict(float)
        chance = 0.5 if part.optional else 1.0
        if part.optional:
            found[state] += 0.5
        for end, share in self._slot(part, state, depth).items():
            found[end] += chance * share
        return found

    def _slot(self, slot: Slot, state: State, depth: int) -> Mapping[State, float]:
        place, memory = state
        known = None if slot.name else memory.recall(slot.source)
        if known is not None:
            source, forms = known
            end = self._literal(forms[self.grammar.lists[source].place(slot.form)], place)
            return {} if end is None else {(end, memory): 1.0}
        if not slot.name:
            name = listed(self.grammar, slot)
            if self.grammar.lists[name].forms and any(other.name for other in slots_of(self.grammar, name)):
                raise LmvizError(f"The list [{name}] remembers something in forms that are not told.")
            return self._list(name, self.grammar.lists[name].place(slot.form), state, depth)
        return self._another(slot, state, depth)

    def _another(self, slot: Slot, state: State, depth: int) -> Mapping[State, float]:
        """The same for a slot that remembers what it draws."""
        place, memory = state
        words = self.grammar.lists[slot.source]
        form = words.place(slot.form)
        found: Weighed[State] = defaultdict(float)
        for number, share in free_shares(words.choices, memory.places_taken(slot.source)):
            choice = words.choices[number]
            first = choice.forms[form][0] if choice.forms[form] else ""
            if isinstance(first, str) and self._literal(first, place) is None:
                continue  # nearly always: what is drawn is another word
            drawn = forms_of(self.grammar, choice, memory.take(slot.source, number), depth + 1)
            for (forms, after), chance in drawn.items():
                end = self._literal(forms[form], place)
                if end is not None:
                    found[end, after.remember(slot.name, slot.source, forms)] += share * chance
        return found

    def _literal(self, told: str, place: int) -> int | None:
        """Where the text goes on after some letters that the grammar tells; None where it differs."""
        text = self.text
        for letter in told:
            if place in self._added and letter == " ":
                place += 1  # "a" has become "an"
            if letter == " " and (place in (0, len(text)) or text[place - 1] == " "):
                continue  # spaces are closed up
            if place >= len(text):
                return None
            wanted = letter.upper() if place in self._begins and "a" <= letter <= "z" else letter
            if text[place] != wanted:
                return None
            place += 1
        return place

    def _is_plain(self, name: str) -> bool:
        """Whether a list remembers nothing, and says nothing that is remembered."""
        if name not in self._plain:
            self._plain[name] = False  # while it is looked at: a list that leads back to itself is none
            self._plain[name] = all(
                not slot.name and slot.source not in self._names and self._is_plain(slot.source)
                for slot in slots_of(self.grammar, name)
            )
        return self._plain[name]
