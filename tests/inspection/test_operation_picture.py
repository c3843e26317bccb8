"""The operation that is drawn has the numbers of the arithmetic, for every rule and every family."""

import numpy as np
import pytest
import torch

from lmviz.families import build_model, find_family
from lmviz.inspection.explain import explain
from lmviz.inspection.interventions import scale
from lmviz.inspection.operation_picture import PICTURES, operation_picture
from lmviz.inspection.tracing import trace
from lmviz.models.arithmetic import RULES
from lmviz.models.ngram.counts import count_ngrams


def drawn(model, found, address, index):
    arithmetic = explain(model, found, address, index)
    return arithmetic, operation_picture(arithmetic, found)


def test_every_rule_is_drawn():
    assert set(PICTURES) == set(RULES)


def test_the_blocks_of_a_sum_add_up_to_the_cell_and_every_number_is_where_it_says(model, text):
    found = trace(model, text)
    for address, traced in found.arrays.items():
        for first in (0, 3):
            check_picture(model, found, address, tuple(min(size - 1, first) for size in traced.array.shape))


def check_picture(model, found, address, index):
    """Its blocks add up to the cell, and their numbers stand where they are said to."""
    arithmetic, picture = drawn(model, found, address, index)
    assert picture.blocks
    assert picture.value == arithmetic.value
    if arithmetic.rule == "sum":
        total = sum(block.total for block in picture.blocks)
        assert total == pytest.approx(arithmetic.argument, abs=1e-9), address
    for block in picture.blocks:
        for band in block.bands:
            is_cell = band.source in found.arrays and "(" not in band.name and band.name[0] != "1"
            if is_cell:  # and no function of it, such as 1/total
                cells = [found[band.source].array[band.index(term)] for term in range(len(band.values))]
                np.testing.assert_allclose(band.values, cells, rtol=1e-6)


def test_where_nothing_was_counted_there_is_a_zero(a):
    model = a("ngram")
    found = trace(model, "corn corn")
    _, picture = drawn(model, found, "orders/3/total", (1,))
    [block] = picture.blocks
    assert (block.label, block.total, picture.value) == ("counts", 0, 0)
    assert [(band.name, *band.values) for band in block.bands] == [("nothing", 0)]


def test_a_root_mean_square_is_drawn_with_its_row_and_its_gain():
    configuration = find_family("transformer").configuration(
        layers=1, heads=1, width=6, context=8, norm_kind="rms"
    )
    model = build_model("transformer", configuration, 7, 0).eval()
    with torch.no_grad():
        model.get_parameter("norm.weight").copy_(torch.linspace(0.5, 2, 6))
    found = trace(model, [1, 4, 2])
    arithmetic, picture = drawn(model, found, "norm", (2, 3))
    row, scaled, regained = picture.blocks
    assert row.measure == "rms"
    assert row.total == pytest.approx(np.sqrt(np.mean(row.bands[0].values ** 2)), rel=0.01)
    own, size = (band.values[0] for band in scaled.bands)
    assert own == row.bands[0].values[row.bands[0].own]
    assert (size, scaled.total) == (pytest.approx(row.total), pytest.approx(own / size))
    assert [band.sign for band in regained.bands] == ["", "×"]
    assert regained.label == "gain"
    assert regained.total == pytest.approx(np.prod([band.values[0] for band in regained.bands]))
    assert regained.total == pytest.approx(arithmetic.value, abs=1e-6)


def test_a_fraction_is_drawn_as_what_is_divided_by_what():
    configuration = find_family("ngram").configuration(order=2, smoothing="add-k")
    model = build_model("ngram", configuration, 5, 0)
    model.fit(count_ngrams(np.array([1, 2, 3, 1, 2, 4]), 2, 5, start_id=None))
    found = trace(model.eval(), [1, 2])
    arithmetic, picture = drawn(model, found, "orders/2/probabilities", (1, 3))
    assert arithmetic.rule == "fraction"
    half = len(picture.blocks) // 2
    above, below = picture.blocks[:half], picture.blocks[half:]
    assert below[0].bands[0].sign == "÷"
    assert sum(block.total for block in above) / sum(block.total for block in below) == pytest.approx(
        found["orders/2/probabilities"].array[1, 3]
    )


def test_what_is_left_for_a_shorter_context_is_drawn_times_its_probability(a):
    model = a("ngram")
    found = trace(model, "the cows")
    _, picture = drawn(model, found, "orders/3/probabilities", (2, 5))
    block = picture.blocks[-1]
    assert [(band.sign, band.name.split()[0]) for band in block.bands] == [
        ("", "backoff"),
        ("×", "probabilities"),
    ]
    backoff, lower = (band.values[0] for band in block.bands)
    assert block.total == pytest.approx(backoff * lower)


def test_a_row_stands_over_the_weights_and_their_products(a, text):
    model = a("transformer-learned-pre")
    found = trace(model, text)
    _, picture = drawn(model, found, "layers/0/attention/query", (1, 3, 2))
    row, bias = picture.blocks
    assert [(band.sign, band.name) for band in row.bands] == [
        ("", "norm 1 of “eat”"),
        ("×", "weights"),
        ("=", "products"),
    ]
    norm, weights, products = (band.values for band in row.bands)
    np.testing.assert_allclose(norm * weights, products)
    assert bias.terms == 1
    assert bias.label == "bias"


def test_the_heads_and_the_words_of_a_window_are_one_row(a, text):
    model = a("transformer-learned-pre")
    found = trace(model, text)
    _, picture = drawn(model, found, "layers/0/attention/output", (3, 2))
    assert picture.blocks[0].breaks == (4,)
    assert picture.blocks[0].terms == 8
    model = a("window")
    _, picture = drawn(model, trace(model, text), "hidden", (3, 2))
    assert picture.blocks[0].breaks == (5, 10)
    assert picture.blocks[0].bands[0].name == "embedding of “the” “cows” “eat”"


def test_a_mixture_is_a_row_of_weights_over_a_column_of_values(a, text):
    model = a("transformer-learned-pre")
    found = trace(model, text)
    _, picture = drawn(model, found, "layers/0/attention/mixed", (1, 3, 2))
    assert [band.name for band in picture.blocks[0].bands] == [
        "weights of “eat”",
        "value, channel 3",
        "products",
    ]


def test_a_share_is_its_power_over_all_and_its_own_score_is_marked(a, text):
    model = a("lstm")
    found = trace(model, text)
    _, picture = drawn(model, found, "probabilities", (3, 4))
    row, share = picture.blocks
    assert row.bands[0].own == row.bands[1].own == 4
    assert share.total == pytest.approx(picture.value, rel=1e-5)


def test_normalisation_ends_at_the_cell(a, text):
    model = a("transformer-learned-pre")
    found = trace(model, text)
    _, picture = drawn(model, found, "layers/0/norm1", (3, 2))
    assert picture.blocks[-1].total == pytest.approx(picture.value, abs=1e-5)


def test_what_surgery_has_made_of_a_cell_is_drawn(a, text):
    model = a("lstm")
    found = trace(model, text, interventions=[scale("layers/0/hidden", 0.5, unit=2)])
    arithmetic, picture = drawn(model, found, "layers/0/hidden", (3, 2))
    assert sum(block.total for block in picture.blocks) == pytest.approx(arithmetic.value, abs=1e-6)
