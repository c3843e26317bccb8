"""Ablation: each part off is what an intervention and PyTorch's hooks say, of a measure and of a loss."""

from dataclasses import replace as replaced

import numpy as np
import pytest
import torch
from contrasts import contrast_of, contrasts_of, in_float64
from family_cases import IDS, each_family_and_each_task, trained
from torch.nn import functional

from lmviz.base.errors import LmvizError
from lmviz.circuits.ablation import ablate, ablating, missed_since, stretches
from lmviz.circuits.by_row import band
from lmviz.circuits.places import carried
from lmviz.circuits.read_contrast import read_contrast
from lmviz.inspection.interventions import replace, zero
from lmviz.inspection.tracing import trace

TEXTS = [np.array([1, 2, 3, 4, 5]), np.array([5, 2, 6, 1, 2, 3, 4]), np.array([2, 6, 2])]


def measured(model, contrast, change):
    scalar = read_contrast(model, contrast).scalar
    beside = {} if contrast.source is None else {"source": np.array(contrast.source)}
    traced = trace(model, np.array(contrast.text), interventions=[change] if change else [], **beside)
    numbers = traced[scalar.address].array.astype(np.float64)
    return numbers[scalar.cells[0]] - numbers[scalar.against[0]]


@each_family_and_each_task
def test_a_part_that_is_off_is_a_part_set_to_zero_in_a_whole_pass(family, options):
    model = trained(family, tuple(options.items()))
    contrast = contrasts_of(model)[0]
    for addresses in carried(model).values():
        if family == "ngram":
            with pytest.raises(LmvizError, match="Without orders/3/probabilities there is no"):
                ablate(model, contrast, addresses, by="zero")
            continue
        found = ablate(model, contrast, addresses)
        for cell in {
            np.unravel_index(np.abs(found.array).argmax(), found.array.shape),
            (0,) * found.array.ndim,
        }:
            where = {axis: int(at) for axis, at in zip(found.axes[1:], cell[1:], strict=True)}
            wanted = measured(model, contrast, zero(addresses[cell[0]], **where)) - measured(
                model, contrast, None
            )
            assert found.array[cell] == pytest.approx(wanted, abs=2e-5 * (1 + abs(found.intact)))
        assert found.low is None


@pytest.mark.parametrize("double", [False, True])
def test_the_loss_without_a_head_is_that_of_hooks(double):
    model = trained("transformer", ())
    model = in_float64(model) if double else model
    found = ablate(model, TEXTS)
    width = model.configuration.head_width

    def loss():
        total = 0.0
        with torch.no_grad():
            for ids in TEXTS:
                logits = model(torch.tensor(ids)[None])[0, :-1].double()
                total += float(functional.cross_entropy(logits, torch.tensor(ids[1:]), reduction="sum"))
        return total / found.tokens

    intact = loss()
    assert found.intact == pytest.approx(intact, abs=1e-9 if double else 1e-5)
    assert found.tokens == 4 + 6 + 2
    for layer, head in np.ndindex(found.array.shape):

        def off(module, given, head=head):
            mixed = given[0].clone()
            mixed[..., head * width : (head + 1) * width] = 0
            return (mixed,)

        handle = model.layers[layer].attention.output.register_forward_pre_hook(off)
        assert found.array[layer, head] == pytest.approx(loss() - intact, abs=1e-9 if double else 1e-5)
        handle.remove()


def test_with_its_mean_a_part_says_what_it_says_on_average():
    model = trained("gru", ())
    contrast = contrast_of(model)
    found = ablate(model, contrast, "layers/1/hidden", by="mean", over=TEXTS, each=("unit",))
    states = np.concatenate([trace(model, ids)["layers/1/hidden"].array for ids in TEXTS])
    for unit in range(found.array.shape[1]):
        change = replace("layers/1/hidden", float(states[:, unit].mean()), unit=unit)
        wanted = measured(model, contrast, change) - measured(model, contrast, None)
        assert found.array[0, unit] == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("smoothing", ["kneser-ney", "add-k", "maximum-likelihood"])
def test_without_an_order_the_one_below_says_all(smoothing):
    """By hand: own share + backoff × lower, order by order, with one order left out."""
    model = trained("ngram", (("smoothing", smoothing),))
    contrast = contrast_of(model, measure="probability:3-6@4")
    found = ablate(model, contrast)
    assert (found.by, found.axes, found.labels("order")) == ("lower", ("order",), ("1", "2", "3"))
    traced = trace(model, np.array(contrast.text))

    def at(order, name):
        return traced[f"orders/{order}/{name}"].array[4].astype(np.float64)

    start = model.tokenizer.start_id if model.tokenizer is not None else None
    uniform = np.full(model.vocabulary_size, 1.0)
    if start is not None:
        uniform[start] = 0
    uniform /= uniform.sum()

    def without(left_out):
        lower = uniform
        for order in (1, 2, 3):
            whole = at(order, "probabilities")
            below = at(order - 1, "probabilities") if order > 1 else uniform
            if order != left_out:
                chained = smoothing == "kneser-ney" or (smoothing == "maximum-likelihood" and order > 1)
                share = at(order, "backoff") if chained else 0.0
                lower = whole + share * (lower - below)
        return lower[3] - lower[6]

    for row, order in enumerate((1, 2, 3)):
        assert found.intact + found.array[row] == pytest.approx(without(order), abs=1e-6)
    assert np.abs(found.array).max() > 0.01


def test_an_order_alone_is_left_to_the_one_below():
    with pytest.raises(LmvizError, match="'zero' or to its 'mean', and not to 'lower'"):
        ablate(trained("gru", ()), contrast_of(trained("gru", ())), by="lower")
    with pytest.raises(LmvizError, match="an order of an n-gram to what is 'lower', and not to 'half'"):
        ablate(trained("gru", ()), contrast_of(trained("gru", ())), by="half")


def test_groups_of_units_go_together():
    model = trained("lstm", ())
    contrast = contrast_of(model)
    found = ablate(model, contrast, "layers/*/hidden", units=[[0, 3], [1]])
    assert found.axes == ("layer", "group")
    wanted = measured(model, contrast, zero("layers/0/hidden", unit=(0, 3))) - measured(model, contrast, None)
    assert found.array[0, 0] == pytest.approx(wanted, abs=1e-5)
    assert found.labels("group") == ("0,3", "1")


def test_the_band_holds_the_change_and_grows_narrow_with_more_texts():
    model = trained("transformer", ())
    few, many = ablate(model, TEXTS * 3), ablate(model, TEXTS * 20)
    for found in (few, many):
        assert (found.low <= found.array + 1e-12).all()
        assert (found.array <= found.high + 1e-12).all()
    assert (many.high - many.low).mean() < 0.5 * (few.high - few.low).mean()
    assert ablate(model, TEXTS).low is None


def test_of_few_rows_no_band_is_made_that_would_be_called_95_per_cent():
    """Of two, the means of those drawn anew lie between the two, where the true mean is half of the time."""
    random = np.random.default_rng(0)
    for rows in (1, 2, 7):
        assert band(random.standard_normal((rows, 3))) == (None, None)
    held = []
    for _ in range(200):
        low, high = band(random.standard_normal((8, 1)))
        held.append(low[0] <= 0 <= high[0])
    assert np.mean(held) > 0.8


def test_a_part_is_missed_from_where_its_band_stays_above_zero():
    found = ablate(trained("transformer", ()), TEXTS * 3)
    lows = {0: -1.0, 10: 0.2, 20: -0.1, 30: 0.1, 40: 0.3}
    steps = {step: replaced(found, low=np.full_like(found.low, low)) for step, low in lows.items()}
    assert missed_since(steps, (0, 1)) == 30
    assert missed_since({step: steps[step] for step in (10, 20)}, (0, 1)) is None
    assert missed_since({0: replaced(found, low=None)}, (0, 1)) is None


def test_a_part_that_does_nothing_changes_nothing():
    """A head whose output is read with zeros."""
    model = in_float64(trained("transformer", ()))
    width = model.configuration.head_width
    model.layers[0].attention.output.weight[:, :width] = 0
    found = ablate(model, TEXTS)
    assert found.array[0, 0] == pytest.approx(0, abs=1e-12)
    assert np.abs(found.array[0, 1]) > 1e-6


def test_a_long_text_is_read_in_stretches_and_each_token_is_predicted_once():
    document = np.arange(40)
    found = stretches([document, np.array([7]), np.array([1, 2])], context=16)
    assert [piece[0] for piece in found] == [0, 15, 30, 1]
    assert np.concatenate([piece[1:] for piece in found]).tolist() == [*range(1, 40), 2]
    assert sum(len(piece) - 1 for piece in stretches([document], 16, most=20)) == 20


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"by": "median"}, "to 'zero' or to its 'mean'"),
        ({"parts": "layers/7/*"}, "No tap matches"),
        ({"each": ("unit",)}, "has no axis 'unit'"),
        ({"parts": "layers/0/feedforward/activation", "units": [[99]]}, "units, counted from 0"),
    ],
)
def test_what_is_no_part_is_refused_in_a_sentence(options, sentence):
    with pytest.raises(LmvizError, match=sentence):
        ablate(trained("transformer", ()), TEXTS, **options)


def test_a_mean_of_several_numbers_is_called_what_they_all_are():
    model = trained("transformer", ())
    asked = [contrast_of(model, measure=measure) for measure in ("logit:3-6", "logit:2-6", "probability:3")]
    both = ablate(model, asked[:2])
    assert both.measure == "logit"
    assert both.intact == pytest.approx(np.mean([ablate(model, [one]).intact for one in asked[:2]]))
    assert ablate(model, asked[:1] * 2).measure.startswith("logit:3-6@")
    assert ablate(model, TEXTS).measure == "loss"
    with pytest.raises(LmvizError, match=r"several kinds \(logit, probability\)"):
        ablate(model, asked)


def test_without_a_text_there_is_nothing_to_ask():
    with pytest.raises(LmvizError, match="nothing to ask about"):
        ablate(trained("transformer", ()), [])


def test_ids_of_one_text_are_read_as_they_stand():
    assert ablate(trained("rnn", ()), [IDS], "layers/*/hidden").tokens == 6


def test_what_grows_is_what_is_found_at_once(monkeypatch):
    model = trained("transformer", ())
    contrast = contrast_of(model)
    whole = ablate(model, contrast)
    parts = list(ablating(model, contrast))
    assert [np.isfinite(part.array).all(axis=1).sum() for part in parts] == list(
        range(1, len(whole.array) + 1)
    )
    for part in parts:
        known = np.isfinite(part.array)
        assert np.array_equal(part.array[known], whole.array[known])
    texts = [np.array([1, 2, 3, 4, 5]), np.array([2, 6, 1]), np.array([5, 2, 6, 1])]
    monkeypatch.setattr("lmviz.circuits.together.AT_ONCE", 5)  # little enough for each to come alone
    parts = list(ablating(model, texts, by="mean"))
    whole = ablate(model, texts, by="mean")
    assert [part.tokens for part in parts] == [2, 5, 9]
    assert np.array_equal(parts[-1].array, whole.array)
    assert np.array_equal(parts[-1].low, whole.low)
