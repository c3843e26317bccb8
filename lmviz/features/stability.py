"""Do the same features come again? A second dictionary from another seed, and the nearest of each there."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from lmviz.base.errors import LmvizError
from lmviz.base.figures import whole_percentage
from lmviz.features.dictionary import Dictionary
from lmviz.features.history import FeatureProgress
from lmviz.features.learning import learn_features
from lmviz.features.matching import ALIKE, NEARLY_THE_SAME, MatchedFeatures, match_features
from lmviz.features.recipe import LEARNED, FeatureRecipe
from lmviz.features.texts import FeatureTexts
from lmviz.looks.shown import Shown
from lmviz.models.model import Model

PART = 3
"""The second is learned from a third of the tokens."""


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Shown):
    """A dictionary learned with another seed, and in `matched` the nearest of it for each feature."""

    other: Dictionary
    matched: MatchedFeatures

    @property
    def sentence(self) -> str:
        """How many features come again, in a sentence."""
        same, alike = (self.matched.share(cosine) for cosine in (NEARLY_THE_SAME, ALIKE))
        return (
            f"With another seed {whole_percentage(same)} of the features come again nearly the same (cosine "
            f"{NEARLY_THE_SAME} or more), and {whole_percentage(alike)} alike ({ALIKE} or more)."
        )


def second_recipe(dictionary: Dictionary, tokens: int | None = None) -> FeatureRecipe:
    """The recipe of a dictionary with another seed, for a part of the tokens.

    LmvizError for a dictionary that lmviz could not learn.
    """
    worth = dictionary.worth
    k = dictionary.k or (None if worth is None else max(1, round(worth.active)))
    if dictionary.kind not in LEARNED or k is None:
        raise LmvizError(
            f"{dictionary!r} is of a kind that lmviz does not learn, so no second one can be: find features "
            "of your own."
        )
    count = (dictionary.tokens or FeatureRecipe().tokens) // PART if tokens is None else tokens
    return FeatureRecipe(
        kind=dictionary.kind,
        size=dictionary.size,
        k=k,
        transcoder=dictionary.is_transcoder,
        tokens=max(2, count),
        batch=max(2, min(FeatureRecipe().batch, count)),
        seed=(dictionary.seed or 0) + 1,
    )


def tested_stability(
    model: Model, texts: FeatureTexts, dictionary: Dictionary, recipe: FeatureRecipe
) -> Generator[FeatureProgress, None, Stability]:
    """A second dictionary is learned by a recipe of another seed, and held beside the first."""
    other = yield from learn_features(model, texts, recipe, dictionary.target)
    return Stability(other, match_features(dictionary, other))
