"""Sparse features of a model's states: found in texts, and opened from files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.api.given import opened_model
from lmviz.base.arguments import check_callable, named_file, whole_number
from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.api.given import Given, Texts
    from lmviz.features.dictionary import Dictionary
    from lmviz.features.featured_model import FeaturedModel
    from lmviz.features.history import FeatureProgress
    from lmviz.features.plan import FeaturePlan
    from lmviz.features.recipe import FeatureRecipe
    from lmviz.features.stability import Stability
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


def features_plan(
    model: Given, texts: Corpus | Texts | str | Path, tap: str | None = None, **settings: Any
) -> FeaturePlan:
    """The cost of `find_features`, in time and memory, before anything begins; its arguments are the same.

    The plan has `.seconds` here, `.bytes` of memory, `.tokens` to learn from, of which `.read` are
    different, `.tap`, and a `.sentence`. LmvizError as of `find_features`, and where the machine has not the
    memory.
    """
    from lmviz.features.plan import measured_plan

    opened, recipe = opened_model(model), _recipe(settings)
    _check_tap(tap)
    return measured_plan(opened, _read(opened, texts, recipe), recipe, tap)


def stability(
    model: Given,
    texts: Corpus | Texts | str | Path,
    dictionary: Dictionary,
    *,
    tokens: int | None = None,
    progress: Callable[[FeatureProgress], None] | None = None,
) -> Stability:
    """The features that come again in a second dictionary, from another seed and a part of the text.

    It is learned from a third of the tokens of the first, or from `tokens`. `.sentence` says how many have a
    twin, `.matched` has for each feature the nearest of `.other` and their cosine. LmvizError for features
    of a kind that lmviz does not learn.
    """
    from lmviz.features.stability import second_recipe, tested_stability

    check_callable("progress", progress)
    _check_dictionary(dictionary)
    opened = opened_model(model)
    recipe = second_recipe(dictionary, None if tokens is None else whole_number("tokens", tokens, least=2))
    learning = tested_stability(opened, _read(opened, texts, recipe), dictionary, recipe)
    while True:
        try:
            heard = next(learning)
        except StopIteration as end:
            return end.value
        if progress is not None:
            progress(heard)


def with_features(model: Given, dictionary: Dictionary) -> FeaturedModel:
    """The same model, whose state at the tap is what the features write, and the error, added up.

    It has further taps, such as "layers/1/residual2/features/activations" (position, feature), which are
    traced, explained, differentiated and changed like all others: an intervention on activations leaves the
    error as it is. LmvizError where the dictionary does not fit the model.
    """
    from lmviz.features.featured_model import FeaturedModel

    _check_dictionary(dictionary)
    return FeaturedModel(opened_model(model), dictionary)


def open_features(
    path: str | Path,
    model: Given | None = None,
    texts: Corpus | Texts | str | Path | None = None,
    *,
    tap: str | None = None,
    written: str | None = None,
) -> Dictionary:
    """A dictionary of features: the folder that `find_features` wrote, a saved file, or another program's.

    These are a folder of SAELens, the `params.npz` of Gemma Scope, and a transcoder of circuit-tracer. Where
    they do not say at which `tap` they read, or what is `written`, a person must. With a `model`, what other
    programs call a tap is found in it, and the widths are compared; with `texts` as well, the loss with the
    features in place on 20 passages says whether they belong there. LmvizError where they do not, or where
    there are none.
    """
    _check_tap(tap)
    _check_tap(written)
    found = _opened(named_file(path))
    opened = None if model is None else opened_model(model)
    if opened is None:
        from dataclasses import replace

        return replace(found, tap=tap or found.tap, written=written or found.written)
    from lmviz.features.places import placed

    found = placed(opened, found, tap or "", written or "")
    if texts is None:
        return found
    from lmviz.features.belonging import belonging
    from lmviz.features.recipe import FeatureRecipe

    rows = _read(opened, texts, FeatureRecipe(tokens=4000))
    return belonging(opened, found, rows.held_out)


def save_features(dictionary: Dictionary, path: str | Path, form: str = "lmviz") -> Path:
    """Write a dictionary for another program: "saelens", "gemma-scope" or "circuit-tracer"; or "lmviz".

    Returns what was written, a folder for SAELens and otherwise a file. LmvizError where the program has
    nothing like it.
    """
    _check_dictionary(dictionary)
    if form == "lmviz":
        return dictionary.save(path)
    if form == "saelens":
        from lmviz.features.saelens import save_saelens

        return save_saelens(dictionary, path)
    if form == "gemma-scope":
        from lmviz.features.gemma_scope import save_gemma_scope

        return save_gemma_scope(dictionary, named_file(path))
    if form == "circuit-tracer":
        from lmviz.features.circuit_tracer import save_transcoder

        return save_transcoder(dictionary, path)
    raise LmvizError(
        f"Features are saved as lmviz, saelens, gemma-scope or circuit-tracer, and not as {form!r}."
    )


def _opened(path: Path) -> Dictionary:
    """The dictionary in a folder or a file, whoever wrote it."""
    from lmviz.features.dictionary_file import is_own_file, read_dictionary
    from lmviz.features.folder import FeatureFolder
    from lmviz.features.saelens import is_saelens, read_saelens

    if is_saelens(path):
        return read_saelens(path)
    if os.path.isdir(path):
        return FeatureFolder(path).dictionary()
    if path.suffix == ".npz":
        from lmviz.features.gemma_scope import read_gemma_scope

        return read_gemma_scope(path)
    if not is_own_file(path):
        from lmviz.features.circuit_tracer import read_transcoder

        return read_transcoder(path)
    return read_dictionary(path)


def _check_dictionary(dictionary: Any) -> None:
    from lmviz.features.dictionary import Dictionary

    if not isinstance(dictionary, Dictionary):
        raise LmvizError(f"{dictionary!r} is no dictionary: give what lmviz.find_features returns.")


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
