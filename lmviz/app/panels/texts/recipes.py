"""The code that gives what is shown of a set; empty where nothing is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmviz.circuits.set_recipes import effects_recipe as of_effects
from lmviz.circuits.set_recipes import likeliest_recipe, values_recipe
from lmviz.runs.loss_recipes import loss_map_recipe

if TYPE_CHECKING:
    from lmviz.app.session.many_texts import ManyTexts
    from lmviz.app.session.session import Session

MOST_ROWS = 500
"""Of more rows there is no code: it would be longer than anybody reads."""


def rows_recipe(many: ManyTexts) -> str:
    """The measure of each row."""
    if many.moment is None or many.given is None or many.values is None or len(many.given) > MOST_ROWS:
        return ""
    return values_recipe(many.moment[0].reading("", many.moment[1]), many.given)


def effects_recipe(many: ManyTexts) -> str:
    """The mean effect of each part, in the rows that were done."""
    found = many.effects
    if many.moment is None or many.given is None or found is None or len(many.given) > MOST_ROWS:
        return ""
    subject = many.moment[0].reading("", many.moment[1])
    return of_effects(subject, many.given, found.effects)


def row_recipe(many: ManyTexts, at: int) -> str:
    """The likeliest words after one row."""
    if many.moment is None or many.given is None or many.values is None:
        return ""
    subject = many.moment[0].reading("", many.moment[1])
    return likeliest_recipe(subject, many.given[at], len(many.values.likeliest.get(at, ())))


def second_recipe(many: ManyTexts) -> str:
    """The measure of each row with the second model."""
    if many.second is None or many.given is None or len(many.given) > MOST_ROWS:
        return ""
    return values_recipe(many.second[0].reading("", many.second[1]), many.given)


def map_recipe(session: Session, *lines: str) -> str:
    """What is read off the map of `session.many.losses`, of which the last line binds the values."""
    losses, corpus = session.many.losses, session.text.corpus
    if losses.moment is None or corpus is None or not corpus.sources:
        return ""
    subjects = [moment[0].reading("", moment[1]) for moment in (losses.moment, losses.second) if moment]
    shown = subjects if losses.shows_difference else subjects[:1]
    return loss_map_recipe(shown, corpus, losses.part, lines)
