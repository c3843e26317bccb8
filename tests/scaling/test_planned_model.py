"""The calculator: exact parameters, memory, compute, time, and what fits into a time."""

import itertools

import pytest

from lmviz.base.errors import LmvizError
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.scaling.compute import (
    amount_in_words,
    best_size,
    bytes_in_words,
    duration_in_words,
    parse_amount,
    tokens_for,
    training_compute,
)
from lmviz.scaling.planned_model import PlannedModel, what_fits
from lmviz.scaling.public_models import find_public
from lmviz.scaling.report import built_parameters


@pytest.mark.parametrize(
    "settings",
    [
        {"layers": 2, "heads": 3, "width": 48, "context": 20},
        {"heads": 5, "width": 51, "head_channels": 7, "tied": False},
        {"positions": "rotary", "gated": True, "key_value_heads": 2, "feedforward_bias": False},
        {"positions": "relative", "norm": "none", "parallel": True},
    ],
)
def test_parameters_are_those_of_a_built_model(settings):
    planned = PlannedModel(TransformerConfiguration(**settings), 101, 1000)
    assert planned.parameters == built_parameters(planned.configuration, 101)


def test_the_terms_of_the_approximation():
    planned = PlannedModel(TransformerConfiguration(layers=2, heads=1, width=10, context=7), 30, 5)
    assert planned.parts == (12 * 2 * 100, 300, 70)
    assert planned.approximation == 2770


def test_memory_of_each_part():
    planned = PlannedModel(TransformerConfiguration(layers=3, heads=4, width=32, context=16), 50, 100)
    memory, parameters = planned.memory, planned.parameters
    assert (memory.weights, memory.gradients, memory.optimizer) == (
        4 * parameters,
        4 * parameters,
        8 * parameters,
    )
    assert memory.cache == 4 * 2 * 3 * 32 * 16
    cost = planned.configuration.estimate(50, 1, 16)
    assert memory.training == cost.bytes
    assert memory.running == memory.weights + memory.cache
    assert memory.activations > 0


def test_a_cache_is_as_small_as_the_heads_that_are_shared():
    whole = find_public("LLaMA-2").planned
    assert whole.memory.cache == 4 * 2 * 80 * 8 * 128 * 4096


def test_compute_and_time():
    planned = find_public("GPT-3").planned
    assert planned.compute == pytest.approx(6 * planned.parameters * 300e9)
    assert planned.seconds(1e15) == planned.compute / 1e15
    assert tokens_for(training_compute(7, 11), 7) == pytest.approx(11)


@pytest.mark.parametrize("seconds", [600, 3600, 86_400, 31_557_600])
def test_what_fits_takes_the_time_that_there_is_with_about_twenty_tokens_a_parameter(seconds):
    found = what_fits(seconds, 6e10, 2000, 128)
    assert found.seconds(6e10) == pytest.approx(seconds, rel=1e-3)
    assert 20 <= found.tokens_per_parameter < 26
    assert found.parameters <= best_size(seconds * 6e10)
    assert found.configuration.context == 128


def test_a_model_is_taken_as_soon_as_its_size_is_not_too_large():
    """As little more time as it takes to pay for the model, found by halving."""
    found = what_fits(3600, 6e10, 2000, 128)
    short, enough = 0.0, 3600.0
    while enough - short > 1e-6:
        middle = (short + enough) / 2
        pays = best_size(middle * 6e10) >= found.parameters
        short, enough = (short, middle) if pays else (middle, enough)
    assert what_fits(enough, 6e10, 2000, 128).parameters == found.parameters
    assert what_fits(short, 6e10, 2000, 128).parameters < found.parameters


def test_memory_is_said_in_the_unit_that_three_figures_round_to():
    assert [bytes_in_words(size) for size in (0.9995e12, 0.999e12, 1536)] == ["1.00 TB", "999 GB", "1.54 kB"]


def test_more_time_fits_more():
    sizes = [what_fits(seconds, 6e10, 500, 64).parameters for seconds in (60, 600, 6000, 60_000)]
    assert all(before < after for before, after in itertools.pairwise(sizes))


@pytest.mark.parametrize(("vocabulary", "tokens"), [(0, 5), (5, 0), (10**9, 5), (5, 10**18)])
def test_sizes_out_of_range_are_refused_in_a_sentence(vocabulary, tokens):
    with pytest.raises(LmvizError, match="out of range: choose"):
        PlannedModel(TransformerConfiguration(), vocabulary, tokens)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "under a second"),
        (1, "1 second"),
        (90, "1.5 minutes"),
        (3600, "1 hour"),
        (5 * 86_400, "5 days"),
        (31_557_600, "1 year"),
        (31_557_600 * 103_412, "100,000 years"),
    ],
)
def test_durations_in_words(seconds, words):
    assert duration_in_words(seconds) == words


@pytest.mark.parametrize(
    ("amount", "words"),
    [(12, "12"), (480_000, "480 k"), (1.4e12, "1.4 tn"), (175e9, "175 bn"), (10e9, "10 bn"), (1e6, "1 M")],
)
def test_amounts_in_words(amount, words):
    assert amount_in_words(amount) == words


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("300 bn", 300 * 10**9),
        ("1.4tn", 1_400 * 10**9),
        ("5e9", 5 * 10**9),
        ("12,000", 12_000),
        (" 20 M ", 20 * 10**6),
    ],
)
def test_amounts_as_one_types_them(text, amount):
    assert parse_amount(text) == amount


@pytest.mark.parametrize("text", ["", "many", "1e999", "-5", "3 bnn", "nan", "1 2", "1e300 tn"])
def test_what_is_no_amount_is_refused(text):
    with pytest.raises(LmvizError, match="is not an amount: type one"):
        parse_amount(text)
