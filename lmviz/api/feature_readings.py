"""The public functions that look at features: what they do over texts, in an answer, and over a training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lmviz.api.given import listed, opened_model, run_with_steps
from lmviz.base.arguments import check_callable, whole_number, words
from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, part_of, unheard

if TYPE_CHECKING:
    import numpy as np

    from lmviz.api.given import Given, Steps, Texts
    from lmviz.circuits.contrast import Contrast
    from lmviz.features.bill import FeatureBill
    from lmviz.features.dictionary import Dictionary
    from lmviz.features.feature_reading import FeatureReading
    from lmviz.features.matching import MatchedFeatures
    from lmviz.features.remembered import RememberedWords
    from lmviz.features.since import FeaturesOverTime
    from lmviz.features.staying import StayingFeatures
    from lmviz.features.written_words import TurnedFeature, WrittenWords
    from lmviz.inspection.intervention import Intervention
    from lmviz.models.model import Model
    from lmviz.text.corpus import Corpus

MATCH = "give what find_features or open_features returns"


def read_features(
    model: Given,
    dictionary: Dictionary,
    texts: Corpus | Texts,
    *,
    tokens: int = 60_000,
    needed: bool = False,
    seed: int = 0,
    progress: Report | None = None,
) -> FeatureReading:
    """The features of a dictionary over texts: how often, how strongly, at which words, what is next.

    `texts` is a corpus or a list of texts, of which `tokens` are read. `reading[443]` is one feature, with
    its `.name` of two words, passages where it is `.strongest()` and from the `.middle()` of its range, and
    a `.histogram`; `.table()` has all. With `needed` it is measured by how much the loss rises without each.
    `progress` hears of the share that is done. LmvizError where the dictionary is of another model.
    """
    from lmviz.features.feature_reading import reading_features
    from lmviz.features.needed import needed as measured
    from lmviz.models.interruption import heard_by

    check_callable("progress", progress)
    opened, report = opened_model(model), progress or unheard
    _check_dictionary(dictionary)
    rows = _rows(opened, texts, whole_number("tokens", tokens, least=1), whole_number("seed", seed))
    with heard_by(part_of(report, 0.0, 0.4) if needed else report):
        *_, reading = reading_features(opened, dictionary, rows, seed=seed)
    if needed:
        with heard_by(part_of(report, 0.4, 1.0)):
            *_, found = measured(opened, reading)
        reading = found.of(reading)
    return reading


def written_words(model: Given, reading: FeatureReading, feature: int) -> WrittenWords:
    """The words that a feature writes: by how much the logit of each rises through it, measured.

    `.rises` (token,) is the mean over the places of the reading where it is strongest, `.top()` names the
    first words, and `.group` is how many of them rise together. LmvizError where there is no such feature.
    """
    from lmviz.features.feature_reading import FeatureReading
    from lmviz.features.written_words import written_words as measured

    if not isinstance(reading, FeatureReading):
        raise LmvizError(f"{reading!r} is no reading of features: give what read_features returns.")
    return measured(opened_model(model), reading, reading.check(feature))


def turn_feature(
    model: Given,
    dictionary: Dictionary,
    feature: int,
    text: str,
    factors: Sequence[float] | None = None,
) -> TurnedFeature:
    """The next tokens after a text as a feature is multiplied by `factors`, with the error kept.

    `.probabilities` is (factor, token), `.share(tokens)` what some tokens have together. LmvizError where
    there is no such feature.
    """
    from lmviz.features.written_words import FACTORS
    from lmviz.features.written_words import turned_feature as turned

    _check_dictionary(dictionary)
    feature = dictionary.check(feature)
    if not isinstance(text, str):
        raise LmvizError(f"{text!r} is no text: give a string.")
    try:
        asked = FACTORS if factors is None else [float(one) for one in factors]
    except (TypeError, ValueError):
        raise LmvizError(f"{factors!r} are no factors: give some numbers, such as [0, 1, 2].") from None
    if not asked:
        raise LmvizError("There are no factors: give some numbers, such as [0, 1, 2].")
    return turned(opened_model(model), dictionary, feature, text, asked)


def change_feature(
    dictionary: Dictionary, feature: int, *, times: float | None = None, to: float | None = None
) -> Intervention:
    """The intervention that multiplies a feature where it is on, `times`, or sets it at every state, `to`.

    What the dictionary does not explain stays as it is. 0 switches the feature off. LmvizError where there is
    no such feature, or where the dictionary is a transcoder.
    """
    from lmviz.features.feature_changes import feature_change

    _check_dictionary(dictionary)
    return feature_change(dictionary, feature, times=times, to=to)


def feature_bill(
    model: Given,
    contrast: Contrast,
    dictionaries: Dictionary | Sequence[Dictionary],
    *,
    interventions: Sequence[Intervention] = (),
) -> FeatureBill:
    """The measure of a contrast as a sum of features, of what they leave unexplained, and of all other parts.

    `.features` has the share of each, the largest first, `.errors` that of each dictionary's error, and
    `.total` is `.value`. With a changed text `.alone` says how much of the measure goes if only the features,
    or only the errors, are those of the changed text. LmvizError as of `attribute`, and where what a
    dictionary stands for is no part of the sum.
    """
    from lmviz.features.bill import feature_bill as billed

    given = several_dictionaries(dictionaries)
    check_contrast(contrast)
    return billed(opened_model(model), contrast, given, interventions=listed(interventions))


def check_contrast(contrast: Contrast) -> None:
    """LmvizError where it is none."""
    from lmviz.circuits.contrast import Contrast

    if not isinstance(contrast, Contrast):
        raise LmvizError(f"{contrast!r} is no contrast: make one with lmviz.contrast.")


def several_dictionaries(dictionaries: Dictionary | Sequence[Dictionary]) -> tuple[Dictionary, ...]:
    """One dictionary or several, as several; LmvizError where they are none."""
    from lmviz.features.dictionary import Dictionary

    given = [dictionaries] if isinstance(dictionaries, Dictionary) else dictionaries
    if not isinstance(given, list | tuple) or not given:
        raise LmvizError(f"{dictionaries!r} are no features: {MATCH}, or several of these.")
    for one in given:
        _check_dictionary(one)
    return tuple(given)


def match_features(one: Dictionary, other: Dictionary) -> MatchedFeatures:
    """For each feature of one dictionary the nearest of another, by the directions that they write.

    `.partners` and `.cosines` are (feature,), `.share(0.9)` the share of those with one so near. LmvizError
    where they write states of different width.
    """
    from lmviz.features.matching import match_features as matched

    _check_dictionary(one)
    _check_dictionary(other)
    return matched(one, other)


def staying_features(
    model: Given,
    dictionary: Dictionary,
    texts: Corpus | Texts,
    *,
    tokens: int = 10_000,
    seed: int = 0,
    progress: Report | None = None,
) -> StayingFeatures:
    """The features that stay on over the words of texts, as something that remembers would.

    `.still` (distance,) is the share of firings at which the same feature is on so many tokens later, beside
    `.chance`; `.longest` (feature,) how many tokens a stay lasts. LmvizError where the dictionary is of
    another model.
    """
    from lmviz.features.staying import staying_features as staying
    from lmviz.models.interruption import heard_by

    check_callable("progress", progress)
    _check_dictionary(dictionary)
    opened = opened_model(model)
    rows = _rows(opened, texts, whole_number("tokens", tokens, least=1), whole_number("seed", seed))
    with heard_by(progress or unheard):
        *_, found = staying(opened, dictionary, rows)
    return found


def remembered_words(
    model: Given,
    text: str,
    tap: str,
    *,
    alike: Sequence[Sequence[str]] | None = None,
    untrained: Given | None = None,
    texts: int = 2000,
    seed: int = 0,
    progress: Report | None = None,
) -> RememberedWords:
    """The words of a text that can still be read off the states after them, beside controls.

    Words that have others of their kind are exchanged for these in so many `texts`, and a linear discriminant
    at each token says which it was: `.accuracy` (word, position), on a quarter of the texts. Of a kind are
    words with embeddings near one another, or as `alike` says: [["red", "blue"], ["dog", "cat"]].
    `.untrained` is the same of the network before its training, found as in `probe`, and `.chance` (word,)
    what the commonest word gives; `.lasts(0)` is for how many tokens the first word is read in half of the
    texts. LmvizError where no word can be exchanged, or where the tap holds no states of a text.
    """
    from lmviz.api.readouts import untrained_or_given
    from lmviz.features.remembered import remembered_words as remembered
    from lmviz.models.interruption import heard_by
    from lmviz.models.prefix import read_prefix

    check_callable("progress", progress)
    for name, value in (("text", text), ("tap", tap)):
        if not isinstance(value, str):
            raise LmvizError(f"{value!r} is no {name}: give a string.")
    count, seed = whole_number("texts", texts, least=8), whole_number("seed", seed)
    if count > MOST_MADE:
        raise LmvizError(f"texts must be at most {MOST_MADE:,}, not {count:,}: more say no more.")
    groups = None if alike is None else _groups(alike)
    opened = opened_model(model)
    before = untrained_or_given(model, opened, untrained, seed)
    prefix = read_prefix(opened, text).last(opened.context)
    with heard_by(progress or unheard):
        return remembered(
            opened,
            tap,
            prefix.ids,
            tuple(prefix.tokens),
            alike=groups,
            untrained=before,
            texts=count,
            seed=seed,
        )


MOST_MADE = 20_000


def _groups(alike: object) -> list[tuple[str, ...]]:
    """Words that are of a kind, as several groups of several words."""
    if not isinstance(alike, list | tuple) or not alike or any(isinstance(group, str) for group in alike):
        raise LmvizError(f'{alike!r} are no groups of words: give some, such as [["red", "blue"]].')
    return [words("word", group, "stone") for group in alike]


def features_over_time(
    run: Given,
    dictionary: Dictionary,
    texts: Corpus | Texts,
    *,
    steps: Steps = "all",
    tokens: int = 6_000,
    seed: int = 0,
    progress: Report | None = None,
) -> FeaturesOverTime:
    """When each feature came to be: a dictionary of one step, read at other steps of the run.

    `.agreement` (step, feature) is how far a feature's activations go with those at its own step, the last
    one where the dictionary names none; `.since` (feature,) the step since which they do. LmvizError where
    the run has no such steps.
    """
    from lmviz.api.training import open_model
    from lmviz.features.since import features_over_time as over_time
    from lmviz.models.interruption import heard_by, look_up

    check_callable("progress", progress)
    _check_dictionary(dictionary)
    found, asked = run_with_steps(run, steps)
    if not asked:
        raise LmvizError("There are no steps to read features at: give some, such as [0, 100].")
    own = open_model(found.folder) if dictionary.step is None else open_model(found.folder, dictionary.step)
    rows = _rows(own, texts, whole_number("tokens", tokens, least=1), whole_number("seed", seed))

    def models() -> Iterator[tuple[int, Model]]:
        for number, step in enumerate(asked):
            look_up(number / len(asked))
            yield step, open_model(found.folder, step)

    with heard_by(progress or unheard):
        *_, last = over_time(own, dictionary, models(), rows)
    return last


def _check_dictionary(dictionary: Dictionary) -> None:
    from lmviz.features.dictionary import Dictionary

    if not isinstance(dictionary, Dictionary):
        raise LmvizError(f"{dictionary!r} are no features: {MATCH}.")


def _rows(model: Model, texts: Corpus | Texts, tokens: int, seed: int) -> list[np.ndarray]:
    """Rows of ids: what is held out first, then what was learned from."""
    from lmviz.features.reading_rows import reading_rows
    from lmviz.text.corpus import Corpus

    is_list = isinstance(texts, list | tuple) and all(isinstance(text, str) for text in texts)
    if not isinstance(texts, Corpus) and not (is_list and texts):
        raise LmvizError(
            f"{texts!r} is no corpus and no list of texts: give what load_corpus returns, or some strings."
        )
    return reading_rows(model, texts, tokens=tokens, seed=seed)
