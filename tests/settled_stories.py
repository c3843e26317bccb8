"""Fresh stories in which one earlier word settles the answer, to hold *Back in time* against.

The stories come from the grammar of `stories`, drawn with seeds that its text was not drawn with. An answer
counts where the model is right, where another word in the place of one earlier word, and of no other one,
turns it into another answer of the same kind (“her” into “his”), and where other words in the place of all
that could be others before that word leave it as it is. Other words are drawn from the lists of the
grammar.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random

import numpy as np
import torch

from lmviz.models.model import Model
from lmviz.models.prefix import read_prefix
from lmviz.text.grammar import Grammar
from lmviz.text.resources import resource_path

SURE = 0.5
"""By so much an answer leads, in logits, with the word as without it."""

LEAST, LONGEST = 2, 100
"""Tokens from the word that settles to the last, and of a story."""

ALIKE = (("is", "are"), ("was", "were"), ("has", "have"), ("it", "they"), ("its", "their"), ("her", "him"))
"""Answers of one kind that stand in no list of words."""


@dataclass(frozen=True, eq=False)
class SettledAnswer:
    """A story up to the answer, by ids (token,), the place of the word that settles it, and two answers."""

    ids: np.ndarray
    settled: int
    word: int
    against: int


@cache
def story_grammar() -> Grammar:
    return Grammar.parse(resource_path("corpora", "stories.grammar").read_text(encoding="utf-8"))


def other_words(known: frozenset[str]) -> tuple[dict[str, list[str]], set[tuple[str, str]]]:
    """For each word those that may stand in its place, and which answers are of one kind."""
    others: dict[str, set[str]] = {}
    kinds = {pair for one, two in ALIKE for pair in ((one, two), (two, one))}

    def single(form: tuple[object, ...]) -> str:
        return form[0] if len(form) == 1 and isinstance(form[0], str) and form[0] in known else ""

    for words in story_grammar().lists.values():
        for column in zip(*(choice.forms for choice in words.choices), strict=True):
            own = {single(form) for form in column} - {""}
            for word in own:
                others.setdefault(word, set()).update(own - {word})
                kinds |= {(word, other) for other in own - {word}}
        for choice in words.choices:
            own = {single(form) for form in choice.forms} - {""}
            for word in own:
                others.setdefault(word, set()).update(own - {word})
            if len(choice.forms) == 2:  # one and many, as in “is wise” and “are wise”
                texts = [
                    form[0].split() if form and isinstance(form[0], str) else [] for form in choice.forms
                ]
                kinds |= {pair for one, two in zip(*texts, strict=False) for pair in ((one, two), (two, one))}
    return {word: sorted(own) for word, own in others.items() if own}, kinds


def settled_answers(model: Model, seed: int, told: int, known: frozenset[str]) -> Iterator[SettledAnswer]:
    """At most one answer of each of so many stories that are not `known`."""
    tokenizer = model.tokenizer
    names = tokenizer.tokens()
    others, kinds = other_words(frozenset(name.strip() for name in names))
    random = Random(seed)
    for _ in range(told):
        story = story_grammar().tell("story", random)
        if story in known:
            continue
        ids = np.asarray(read_prefix(model, story).ids)[:LONGEST]
        places, rows = [], []
        for place, id in enumerate(ids):
            word = names[int(id)].strip()
            own = word if word in others else word.lower()
            if own not in others:
                continue
            drawn = others[own][int(random.random() * len(others[own]))]
            new = tokenizer.id_of(drawn if own == word else drawn.capitalize())
            if new is not None and new != id:
                row = ids.copy()
                row[place] = new
                places.append(place)
                rows.append(row)
        if not rows:
            continue
        with torch.no_grad():
            logits = model(torch.from_numpy(np.stack([ids, *rows]))).numpy()
        found = []
        for last in range(6, len(ids) - 1):
            word = int(logits[0, last].argmax())
            if word != ids[last + 1]:
                continue
            turning = []
            for row, place in enumerate(places, start=1):
                other = int(logits[row, last].argmax())
                leads = logits[[0, row], last, word] - logits[[0, row], last, other]
                if place <= last and other != word and leads[0] > SURE and leads[1] < -SURE:
                    turning.append((place, other))
            if len(turning) != 1 or last - turning[0][0] < LEAST:
                continue
            [(settled, other)] = turning
            if tuple(names[id].strip().lower() for id in (word, other)) not in kinds:
                continue
            before = ids[: last + 1].copy()
            for place, row in zip(places, rows, strict=True):
                if place < settled:
                    before[place] = row[place]
            with torch.no_grad():
                left = model(torch.from_numpy(before)[None]).numpy()[0, -1]
            if left[word] - left[other] > SURE:
                found.append(SettledAnswer(ids[: last + 1], settled, word, other))
        if found:
            yield found[int(random.random() * len(found))]
