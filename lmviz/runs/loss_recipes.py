"""Python code that reproduces what is shown of the losses of a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmviz.inspection.recipes.recipe import RecipeSubject, recipe_of
from lmviz.inspection.recipes.text import loading_of

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus


def loss_map_recipe(
    subjects: Sequence[RecipeSubject], corpus: Corpus, part: str, lines: Sequence[str]
) -> str:
    """The map over a part of a corpus, or that of one model minus another's, as `found`; then the lines."""
    made = [
        loading_of(corpus),
        f"found = lmviz.loss_map(model, corpus, part={part!r})",
    ]
    if len(subjects) > 1:
        made += [
            f"other = {subjects[1].opening}",
            f"found = found.minus(lmviz.loss_map(other, corpus, part={part!r}))",
        ]
    return recipe_of(subjects[0], *made, *lines)
