"""The n-gram's learner: slice by slice to the same counts, stopped and resumed at will."""

import itertools
import math

import numpy as np
import pytest
import torch
from covering import others_slow, parametrize_few

from lmviz.base.errors import LmvizError
from lmviz.models.ngram.configuration import NgramConfiguration
from lmviz.models.ngram.counts import count_ngrams
from lmviz.models.ngram.model import Ngram
from lmviz.training.controls import Controls
from lmviz.training.counting import learn_counts, mean_loss
from lmviz.training.description import RunDescription
from lmviz.training.options import TrainingOptions
from lmviz.training.references import reference_losses
from lmviz.training.run import Run

VOCABULARY = 20
START = 0


def text(seed: int, length: int) -> np.ndarray:
    """Ids in which each is mostly one or two more than the last, with a START now and then."""
    chance = np.random.default_rng(seed)
    ids = (np.cumsum(chance.choice([1, 2, 7], p=[0.6, 0.3, 0.1], size=length)) % (VOCABULARY - 1)) + 1
    ids[:: length // 20] = START
    return ids.astype(np.uint8)


TRAINING, VALIDATION = text(0, 3000), text(1, 400)


def learning(run=None, steps=100, order=3, smoothing="kneser-ney", training=TRAINING, **settings):
    model = Ngram(NgramConfiguration(order, smoothing), VOCABULARY)
    resume, controls = settings.pop("resume", False), settings.pop("controls", None)
    options = TrainingOptions(steps=steps, **({"validate_every": 10} | settings))
    told = learn_counts(
        model, training, VALIDATION, options, run, ignored_target=START, controls=controls, resume=resume
    )
    return model, told


def new_run(folder) -> Run:
    configuration = NgramConfiguration(3).to_values()
    return Run.create(folder, RunDescription("counted", "ngram", configuration, VOCABULARY))


def assert_equal_states(one, other):
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("steps", others_slow([1, 7, 100, 5000], 1, 7, 100))
def test_slices_add_up_to_the_whole_text(steps):
    model, told = learning(steps=steps)
    progress = list(told)
    assert [item.step for item in progress] == list(range(steps + 1))
    assert progress[-1].finished
    assert all(item.update_ratios == {} for item in progress)  # nothing is moved by gradients
    whole = Ngram(NgramConfiguration(3), VOCABULARY)
    whole.fit(count_ngrams(TRAINING, 3, VOCABULARY, START))
    assert_equal_states(model.state(), whole.state())


def test_losses_are_of_text_not_yet_counted():
    _, told = learning()
    progress = list(told)
    validated = [item.validation_loss for item in progress if item.validation_loss is not None]
    assert len(validated) == 11
    assert validated[0] == pytest.approx(math.log(VOCABULARY - 1), rel=0.05)
    assert validated[-1] < validated[3] < validated[0]
    assert progress[0].loss is None
    assert progress[1].loss == pytest.approx(math.log(VOCABULARY), rel=0.05)
    assert progress[-1].loss == pytest.approx(validated[-1], rel=0.3)


def test_snapshots_are_of_the_text_counted_until_then(tmp_path):
    run = new_run(tmp_path / "run")
    _, told = learning(run, steps=200)
    written = [item.snapshot for item in told if item.snapshot is not None]
    assert run.snapshots() == written
    assert len(written) >= 16
    assert (written[0], written[-1]) == (0, 200)
    step = written[len(written) // 2]
    model = Ngram(NgramConfiguration(3), VOCABULARY)
    model.fit(count_ngrams(TRAINING[: len(TRAINING) * step // 200], 3, VOCABULARY, START))
    assert_equal_states(run.load_snapshot(step), model.state())
    assert [line["step"] for line in run.metrics()] == list(range(201))


@parametrize_few("how", ["closed", "stopped"])
def test_a_resumed_training_is_an_undisturbed_one(tmp_path, how):
    undisturbed = new_run(tmp_path / "undisturbed")
    list(learning(undisturbed)[1])
    run, controls = new_run(tmp_path / "run"), Controls()
    _, told = learning(run, controls=controls)
    begun = list(itertools.islice(told, 38))
    if how == "closed":
        told.close()
    else:
        controls.stop = True
        [last] = told
        assert "stopped after step 37" in last.trouble
    assert begun[-1].step == 37
    model, told = learning(run, resume=True)
    assert next(told).step == 37
    assert list(told)[-1].finished
    assert_equal_states(run.load_snapshot(100), undisturbed.load_snapshot(100))
    assert_equal_states(model.state(), undisturbed.load_snapshot(100))
    losses, expected = (
        {line["step"]: line["loss"] for line in each.metrics() if "loss" in line}
        for each in (run, undisturbed)
    )
    assert losses == expected


def test_resuming_between_two_validations_changes_no_loss(tmp_path):
    settings = {"snapshots": 2, "validate_every": 5}
    undisturbed = new_run(tmp_path / "undisturbed")
    list(learning(undisturbed, **settings)[1])
    run = new_run(tmp_path / "run")
    _, told = learning(run, **settings)
    list(itertools.islice(told, 38))
    told.close()
    list(learning(run, resume=True, **settings)[1])
    assert [line.get("loss") for line in run.metrics()] == [
        line.get("loss") for line in undisturbed.metrics()
    ]


def test_without_validations_only_the_beginning_and_the_end_are_measured():
    _, told = learning(steps=30, validate_every=0)
    assert [item.step for item in told if item.validation_loss is not None] == [0, 30]


def test_maximum_likelihood_reports_an_infinite_loss_and_goes_on(tmp_path):
    surprise = VALIDATION.copy()
    surprise[100:103] = (5, 4, 5)
    model = Ngram(NgramConfiguration(2, "maximum-likelihood"), VOCABULARY)
    options = TrainingOptions(steps=20, validate_every=5)
    run = new_run(tmp_path / "run")
    progress = list(learn_counts(model, TRAINING, surprise, options, run, ignored_target=START))
    assert progress[-1].finished
    assert progress[-1].validation_loss == run.metrics()[-1]["validation_loss"] == math.inf
    assert 20 in run.snapshots()


def test_a_text_too_short_to_count_is_refused():
    with pytest.raises(LmvizError, match="fewer than two tokens"):
        learning(training=TRAINING[:1])


def test_a_loss_reads_what_stands_before_it():
    model, told = learning(order=4)
    list(told)
    whole = mean_loss(model, VALIDATION, 0, 400, START)
    targets = np.flatnonzero(VALIDATION[1:] != START) + 1
    single = [mean_loss(model, VALIDATION, place, place + 1, START) for place in targets.tolist()]
    assert whole == pytest.approx(np.mean(single), rel=1e-6)
    assert mean_loss(model, VALIDATION, 0, 1, START) is None


def test_references_are_the_losses_of_the_models_they_name():
    references = reference_losses(TRAINING, VALIDATION, VOCABULARY, ignored_target=START)
    assert list(references) == ["unigram", "bigram", "5-gram Kneser-Ney"]
    _, told = learning(order=2, steps=3)
    assert references["bigram"] == pytest.approx(list(told)[-1].validation_loss)
    assert references["bigram"] < references["unigram"]
    assert reference_losses(TRAINING, VALIDATION[:1], VOCABULARY) == {}


def test_between_validations_a_slice_is_judged_by_what_the_last_one_had_counted():
    _, told = learning(steps=100, snapshots=2, validate_every=10)
    losses = {item.step: item.loss for item in told}
    counted = Ngram(NgramConfiguration(3), VOCABULARY)
    counted.fit(count_ngrams(TRAINING[:300], 3, VOCABULARY, START))
    for step in (11, 12, 15, 20):
        expected = mean_loss(counted, TRAINING, 30 * (step - 1), 30 * step, START)
        assert losses[step] == pytest.approx(expected)
