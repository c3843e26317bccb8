"""Parts of one model in another: as hybrids made by hand, and all at once are the other model."""

import copy
import dataclasses

import numpy as np
import pytest
import torch
from family_cases import IDS, trained
from two_models import other_of, two_of

from lmviz.base.errors import LmvizError
from lmviz.circuits.contrast import Contrast
from lmviz.differences.between import between, strength_curve
from lmviz.differences.pair import paired
from lmviz.differences.transplant import EACH, parts_of_model, transplant
from lmviz.training.evaluation import evaluate_ids

NEURAL = ("window", "rnn", "lstm", "gru", "transformer")
TEXT = tuple(map(int, IDS))
GROUPED = (("heads", 4), ("key_value_heads", 2))


def logits(model, ids=IDS):
    with torch.inference_mode():
        return model(torch.tensor(ids)[None])[0].double().numpy()


def measured(model):
    found = logits(model)[-1]
    return found[3] - found[6]


def hybrid(pair, parts):
    """The first model with some parts of the second, made without lmviz: a deep copy that is written to."""
    made = copy.deepcopy(pair.before)
    given = pair.after.tensors()
    with torch.no_grad():
        for part in parts:
            for name in part.whole:
                made.tensors()[name].copy_(given[name])
            for name, rows in part.rows.items():
                for first, end in rows:
                    made.tensors()[name][first:end] = given[name][first:end]
            for name, columns in part.columns.items():
                for first, end in columns:
                    made.tensors()[name][:, first:end] = given[name][:, first:end]
    return made


@pytest.mark.parametrize("each", EACH)
@pytest.mark.parametrize("family", NEURAL)
def test_parts_are_all_of_a_model_and_none_twice(family, each):
    pair = two_of(family)
    if each == "head" and family != "transformer":
        with pytest.raises(LmvizError, match="no heads"):
            parts_of_model(pair.before, each)
        return
    parts = parts_of_model(pair.before, each)
    together = hybrid(pair, parts)
    assert all(torch.equal(part, pair.after.tensors()[name]) for name, part in together.tensors().items())
    counted = {name: torch.zeros(part.shape) for name, part in pair.before.tensors().items()}
    for part in parts:
        for name in part.whole:
            counted[name] += 1
        for name, slices in part.rows.items():
            for at in slices:
                counted[name][slice(*at)] += 1
        for name, slices in part.columns.items():
            for at in slices:
                counted[name][:, slice(*at)] += 1
    assert all((count == 1).all() for count in counted.values())


@pytest.mark.parametrize("family", NEURAL)
def test_each_part_alone_and_from_either_end_is_what_a_hybrid_says(family):
    pair = two_of(family)
    found = transplant(pair, Contrast(TEXT, measure="logit:3-6"))
    parts = parts_of_model(pair.before)
    start, end = measured(pair.before), measured(pair.after)
    assert (found.before, found.after) == pytest.approx((start, end), abs=1e-4)
    for number in range(len(parts)):
        for array, chosen in (
            (found.array, parts[number : number + 1]),
            (found.from_below, parts[: number + 1]),
            (found.from_above, parts[number:]),
        ):
            wanted = (measured(hybrid(pair, chosen)) - start) / (end - start)
            assert array[number] == pytest.approx(wanted, abs=1e-4 / abs(end - start) * 2)


@pytest.mark.parametrize("each", ["part", "layer", "matrix"])
@pytest.mark.parametrize("family", NEURAL)
def test_everything_at_once_is_the_other_model_to_the_last_bit(family, each):
    found = transplant(two_of(family), Contrast(TEXT, measure="loss"), each)
    assert found.from_below[-1] == 1.0
    assert found.from_above[0] == 1.0


@pytest.mark.parametrize("options", [(), GROUPED])
def test_heads_are_transplanted_with_their_keys_and_what_they_write(options):
    pair = two_of("transformer", options)
    found = transplant(pair, Contrast(TEXT, measure="logit:3-6"), "head")
    parts = parts_of_model(pair.before, "head")
    assert [part.name for part in parts if part.columns][:2] == (
        ["head 1·1–2", "head 1·3–4"] if options else ["head 1·1", "head 1·2"]
    )
    start, end = measured(pair.before), measured(pair.after)
    for number, part in enumerate(parts):
        wanted = (measured(hybrid(pair, [part])) - start) / (end - start)
        assert found.array[number] == pytest.approx(wanted, abs=2e-4 / abs(end - start))
    assert found.from_below is None


def test_what_is_the_same_in_both_carries_nothing():
    model = trained("transformer", ())
    other = other_of(model, names=("layers.1.feedforward.hidden.weight",))
    found = transplant(paired(model, other), TEXT)
    assert found.parts[found.most] == "feed-forward 2"
    assert found.array[found.most] == 1.0
    assert not np.delete(found.array, found.most).any()
    with pytest.raises(LmvizError, match="no change to carry over"):
        transplant(paired(model, model), Contrast(TEXT, measure="loss"))


def test_without_a_measure_the_word_that_rose_is_held_against_the_one_that_fell():
    pair = two_of("gru")
    found = transplant(pair, TEXT)
    shares = [np.exp(row) / np.exp(row).sum() for row in (logits(pair.before)[-1], logits(pair.after)[-1])]
    change = shares[1] - shares[0]
    assert found.measure == f"logit:{change.argmax()}-{change.argmin()}@6"
    assert found.after > found.before


@pytest.mark.parametrize("family", NEURAL)
def test_between_two_models_weights_go_in_a_straight_line(family):
    pair = two_of(family)
    for strength in (-0.5, 0.0, 0.3, 1.0, 1.5):
        made = between(pair, strength)
        for name, part in made.tensors().items():
            one, other = (model.tensors()[name].double() for model in (pair.before, pair.after))
            assert part.double().numpy() == pytest.approx((one + strength * (other - one)).numpy(), abs=1e-6)
    assert np.array_equal(logits(between(pair, 1.0)), logits(pair.after))
    assert np.array_equal(logits(between(pair, 0.0)), logits(pair.before))
    with pytest.raises(LmvizError, match="strength of a change is a number"):
        between(pair, float("nan"))


def test_the_curve_over_the_strength_is_what_evaluation_says():
    pair, ids = two_of("transformer"), [np.random.default_rng(0).integers(1, 7, size=40)]
    *_, found = strength_curve(pair, ids, strengths=(-0.5, 0.0, 0.5, 1.0))
    wanted = [evaluate_ids(between(pair, one), ids, None).negative_log_likelihood for one in found.strengths]
    assert found.array == pytest.approx(wanted)
    assert found.tokens == 39
    assert found.best == found.strengths[int(np.argmin(wanted))]


def test_a_transplant_is_a_frozen_value():
    found = transplant(two_of("rnn"), TEXT)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.before = 0.0
    with pytest.raises(ValueError, match="read-only"):
        found.array[0] = 1.0
