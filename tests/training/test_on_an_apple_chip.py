"""Where a device has no float64, the same is learned, measured and tried; see tests/apple_chip.py."""

import copy

import numpy as np
import pytest
from apple_chip import CHIP, apple_chip, is_on_chip
from contrasts import contrasts_of
from family_cases import (
    IDS,
    LABELS,
    TEXT,
    each_family_and_each_task,
    trained,
    translates,
    untrained,
)

from lmviz.base.errors import LmvizError
from lmviz.circuits.ablation import ablate
from lmviz.circuits.attribution import attribute
from lmviz.circuits.patching import patch
from lmviz.decoding.translation_evaluation import evaluate_translations
from lmviz.text.examples import Examples, Sequences
from lmviz.training.controls import Controls
from lmviz.training.gradient_noise import gradient_noise
from lmviz.training.gradient_training import learn
from lmviz.training.label_evaluation import evaluate_examples
from lmviz.training.options import TrainingOptions
from lmviz.training.weight_sizes import weight_sizes

OPTIONS = TrainingOptions(
    steps=3,
    batch=2,
    warmup=0,
    learning_rate=0.01,
    validate_every=1,
    validation_batches=2,
    sampling="sentences",
)


def examples_for(model):
    """What a model of a task learns from: a text whose documents begin with 1, or five examples."""
    if model.predicts.continues and not translates(model):
        return TEXT
    rows = [np.roll(IDS, shift)[: 3 + shift] for shift in range(4)]
    if model.task == "captioning":
        return Examples(Sequences.of([np.arange(49) % 2] * 4, 2), Sequences.of([[0, 3, 2, 1]] * 4, 6))
    if translates(model):
        rows = [row % 5 for row in rows]
        return Examples(Sequences.of(rows, 4), Sequences.of([[0, *row, 1] for row in rows], 6))
    answers = [row[:1] % 3 if model.predicts.per == "text" else row % 3 for row in rows]
    return Examples(Sequences.of(rows, 6), Sequences.of(answers, len(LABELS)))


def learned(model):
    """The losses of a training, of its batches and held out; its updates are looked at as well."""
    given, controls = examples_for(model), Controls(observe=True)
    told = list(learn(model, given, given, OPTIONS, None, ignored_target=1, controls=controls))
    assert told[-1].finished
    return [progress.validation_loss for progress in told] + [progress.loss for progress in told[1:]]


@each_family_and_each_task
def test_the_same_is_learned_and_held_out(family, options):
    if family == "ngram":
        pytest.skip("it is counted, on the processor")
    wanted = learned(untrained(family, options))
    with apple_chip():
        model = untrained(family, options)
        assert learned(model) == pytest.approx(wanted, rel=1e-6)  # torch's fused step of Adam is not there
        assert all(map(is_on_chip, model.parameters()))


@each_family_and_each_task
def test_the_same_is_measured(family, options):
    if family == "ngram":
        pytest.skip("it is counted, on the processor")

    def measured(model):
        given = examples_for(model)
        *_, (_, noise) = gradient_noise(model, given, OPTIONS, ignored_target=1, examples=4)
        judge = evaluate_translations if translates(model) else evaluate_examples
        score = judge(model, given).negative_log_likelihood if isinstance(given, Examples) else 0.0
        return weight_sizes(model), noise.variance, score

    wanted = measured(untrained(family, options))
    with apple_chip():
        assert measured(untrained(family, options).to(CHIP)) == wanted


@pytest.mark.slow
@each_family_and_each_task
def test_the_same_is_found_out_about_a_contrast(family, options):
    here = copy.deepcopy(trained(family, tuple(options.items())))
    with apple_chip():
        there = copy.deepcopy(here).to(CHIP)
    for contrast in contrasts_of(here):
        for ask in (patch, attribute, ablate, mean_ablation):
            try:
                wanted = ask(here, contrast)
            except LmvizError:
                continue  # no such question for this family
            with apple_chip():
                found = ask(there, contrast)
            np.testing.assert_array_equal(found.array, wanted.array)


def mean_ablation(model, contrast):
    """An ablation that sets parts to their mean, which is taken in float64."""
    return ablate(model, contrast, by="mean")
