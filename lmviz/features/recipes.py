"""Python code that reproduces what is shown of features."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.circuits.recipes import answer_recipe
from lmviz.inspection.recipes.recipe import RecipeSubject, arguments_of, recipe_of
from lmviz.inspection.recipes.text import settings_of

if TYPE_CHECKING:
    from lmviz.circuits.contrast import Contrast
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


def through_features_recipe(
    subject: RecipeSubject, contrast: Contrast, files: Sequence[Path], call: str, read: str
) -> str:
    """A call about `contrast` and `dictionaries` that lacks its last bracket, and what it gives."""
    opened = ", ".join(f"lmviz.open_features({str(file)!r})" for file in files)
    return answer_recipe(subject, contrast, call, read, before=(f"dictionaries = [{opened}]",))
