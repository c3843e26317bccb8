"""Sparse features of a model's states: found in texts, and opened from files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.api.given import opened_model
from lmviz.base.arguments import check_callable, named_file
from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.api.given import Given, Texts
    from lmviz.features.dictionary import Dictionary
    from lmviz.features.history import FeatureProgress
    from lmviz.features.recipe import FeatureRecipe
    from lmviz.features.texts import FeatureTexts
    from lmviz.models.model import Model
    from lmviz.text.corpus import Corpus


def find_features(
    model: Given,
    texts: Corpus | Texts | str | Path,
    tap: str | None = None,
    *,
    out: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    progress: Callable[[FeatureProgress], None] | None = None,
    **settings: Any,
) -> Dictionary:
    """A dictionary of sparse features, learned of the states at a tap, and judged on held-out text.

    `tap` has a row of channels or units for each token; by default it is the state after the middle layer.
    `texts` is a corpus, a list of texts or a file. `settings` are `size`, `k`, how many features are on at a
    token, `kind` ("topk", "batchtopk" or "jumprelu"), `tokens` to learn from, `seed`, and `transcoder`, with
    which `tap` is the output of a feed-forward network, whose input is read. In the folder `out`
    the curves and snapshots are kept; a training that was stopped there goes on bit for bit with `resume`.
    `progress` hears a `FeatureProgress` a hundred times. LmvizError where there is no such tap, or too little
    text.
    """
    from lmviz.features.folder import FeatureFolder
    from lmviz.features.learning import learn_features

    check_callable("progress", progress)
    opened = opened_model(model)
    recipe = _recipe(settings)
    _check_tap(tap)
    folder = None if out is None else FeatureFolder(named_file(out))
    if resume and folder is not None and folder.is_finished:
        return folder.dictionary()
    read = _read(opened, texts, recipe)
    learning = learn_features(opened, read, recipe, tap, folder=folder, resume=resume, overwrite=overwrite)
    while True:
        try:
            heard = next(learning)
        except StopIteration as end:
            return end.value
        if progress is not None:
            try:
                progress(heard)
            except BaseException:
                learning.close()  # what it goes on from is written
                raise


def open_features(path: str | Path) -> Dictionary:
    """A dictionary of features: the folder that `find_features` wrote, or a file that was saved.

    LmvizError where there is none.
    """
    from lmviz.features.dictionary_file import read_dictionary
    from lmviz.features.folder import FeatureFolder

    path = named_file(path)
    if os.path.isdir(path):
        return FeatureFolder(path).dictionary()
    return read_dictionary(path)


def _recipe(settings: dict[str, Any]) -> FeatureRecipe:
    from lmviz.features.recipe import FeatureRecipe

    return FeatureRecipe.from_values(settings)


def _check_tap(tap: Any) -> None:
    if tap is not None and not isinstance(tap, str):
        raise LmvizError(f"{tap!r} is no address of a tap: give one, such as 'layers/1/residual2'.")


def _read(model: Model, texts: Corpus | Texts | str | Path, recipe: FeatureRecipe) -> FeatureTexts:
    """Rows to learn from, and rows that are held out."""
    from lmviz.api.readouts import read_texts
    from lmviz.features.texts import read_feature_texts
    from lmviz.text.corpus import Corpus

    given = texts if isinstance(texts, Corpus) else read_texts(model, texts)
    return read_feature_texts(model, given, tokens=recipe.tokens, length=recipe.length, seed=recipe.seed)
