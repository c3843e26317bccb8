"""Python code that reproduces what is shown of features."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmviz.inspection.recipes.recipe import RecipeSubject, arguments_of, recipe_of
from lmviz.inspection.recipes.text import settings_of

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus


def over_texts_recipe(subject: RecipeSubject, file: str, corpus: Corpus, *lines: str) -> str:
    """Lines that use `model`, `dictionary` and `corpus`; the last binds what is shown. Empty without one."""
    if not corpus.sources:
        return ""
    source = corpus.sources[0] if len(corpus.sources) == 1 else list(corpus.sources)
    return recipe_of(
        subject,
        f"dictionary = lmviz.open_features({file!r})",
        f"corpus = lmviz.load_corpus({arguments_of(source, **settings_of(corpus))})",
        *lines,
    )
