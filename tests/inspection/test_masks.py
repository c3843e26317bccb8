"""What a mask keeps out of the computation: known from the model, and without a gradient everywhere."""

import dataclasses

import numpy as np
import pytest
from covering import covering
from family_cases import CASES, IDS, beside, choices, parameters_of, traced, trained

from lmviz.base.errors import LmvizError
from lmviz.inspection.attention import signed_thumbnails, unseen_by_all
from lmviz.inspection.backpropagation import gradient
from lmviz.inspection.backward_sentence import backward_sentence
from lmviz.inspection.explain_gradient import explain_gradient
from lmviz.inspection.gradient_views import gradient_view
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.interventions import paint_attention, replace
from lmviz.inspection.strongest import strongest_cell
from lmviz.inspection.trace import Trace
from lmviz.inspection.tracing import trace
from lmviz.inspection.views import matrix, strip
from lmviz.inspection.whole_model import squares_of_gradient
from lmviz.models.address import Address

ATTENTION = "layers/0/attention/"
WEIGHTS = f"{ATTENTION}weights"
SQUARE = ("query", "key")

ATTENDING = [
    case
    for case in CASES
    if case.values[0] == "transformer" or case.values[1].get("attention", "none") != "none"
]
attending = pytest.mark.parametrize(
    ("family", "options"), covering(ATTENDING, [choices(*case.values) for case in ATTENDING])
)


def a_number(model):
    """One that every model of the cases has."""
    axis = model.predicts.axis
    return ("logits", (1,)) if model.predicts.per == "text" else ("logits", (len(IDS) - 1, 1 if axis else 0))


def is_masked(model, address):
    """Whether the self-attention at an address is that of a model that may not look ahead."""
    return address.startswith("decoder/") or (not address.startswith("encoder/") and model.causal)


@attending
def test_what_is_unseen_is_what_the_model_masks(family, options):
    model = trained(family, tuple(options.items()))
    found = traced(model, IDS)
    for address, one in found.arrays.items():
        hidden = np.zeros(one.shape, dtype=bool)
        if one.axes[-2:] == SQUARE and is_masked(model, address):
            later = np.triu(np.ones(one.shape[-2:], dtype=bool), 1)
            window = model.configuration.window_of(Address.parse(address).layer)
            before = np.tril(np.ones_like(later), -window) if window else np.zeros_like(later)
            hidden |= later | before
        np.testing.assert_array_equal(found.unseen(address), hidden, err_msg=address)
        if address.endswith("/weights"):
            np.testing.assert_array_equal(one.array == 0, hidden, err_msg=address)


@attending
def test_a_masked_cell_has_no_gradient_and_every_other_has_one(family, options):
    model = trained(family, tuple(options.items()))
    found = gradient(model, IDS, a_number(model), **beside(model))
    for address, one in found.arrays.items():
        np.testing.assert_array_equal(np.isnan(one.array), found.trace.unseen(address), err_msg=address)
    assert all(np.isfinite(found.parameters[name]).all() for name in found.parameters)
    assert set(found.parameters) <= set(parameters_of(model))


@attending
def test_the_strongest_of_a_gradient_is_never_masked(family, options):
    model = trained(family, tuple(options.items()))
    found = gradient(model, IDS, a_number(model), **beside(model))
    for address, one in found.arrays.items():
        if one.axes[-2:] != SQUARE:
            continue
        for position in range(len(IDS)):
            for view in (
                matrix(found.trace, address, 0, position, ()),
                strip(found.trace, address, position, 0, ()),
            ):
                drawn = gradient_view(view, found)
                index = drawn.index(*strongest_cell(drawn, position))
                assert not found.trace.unseen(address)[index], (address, position)
    for address, square in squares_of_gradient(found).items():
        for head, row, column in np.argwhere(np.isfinite(square.values)):
            assert np.isfinite(found[address].array[square.source(found[address].array, head, row, column)])


@attending
def test_the_explanation_of_a_masked_gradient_says_that_it_does_not_enter(family, options):
    model = trained(family, tuple(options.items()))
    found = gradient(model, IDS, a_number(model), **beside(model))
    for address, one in found.arrays.items():
        hidden = np.argwhere(found.trace.unseen(address))
        seen = np.argwhere(~found.trace.unseen(address))
        if one.axes[-2:] != SQUARE or not len(hidden):
            continue
        said = explain_gradient(model, found, address, tuple(map(int, hidden[0])))
        assert "does not enter" in said.terms[0].label
        assert np.isnan(said.value)
        other = explain_gradient(model, found, address, tuple(map(int, seen[-2])))
        assert other.evaluate() == pytest.approx(other.value, rel=1e-3, abs=1e-5)


def test_what_reads_or_makes_masked_cells_is_explained_without_them(a, text):
    model = a("transformer-learned-pre")
    found = gradient(model, text, "loss")
    for name, index in (
        ("value", (1, 0, 2)),
        ("key", (1, 2, 2)),
        ("query", (1, 2, 2)),
        ("scores", (1, 3, 2)),
    ):
        said = explain_gradient(model, found, ATTENTION + name, index)
        assert said.evaluate() == pytest.approx(said.value, rel=1e-3, abs=1e-6)
        for group in said.terms:
            assert np.isfinite(group.products).all()


def test_its_size_in_words_leaves_masked_cells_out(a, text):
    found = gradient(a("transformer-learned-pre"), text, "loss")
    stage = next(i for i, stage in enumerate(found.trace.stages) if WEIGHTS in stage.results)
    written = "".join(piece.text for piece in backward_sentence(found, stage, 2, "the loss"))
    seen = found[WEIGHTS].array[:, 2, :3].astype(np.float64)
    assert f"{np.linalg.norm(seen):.3g}" in written


def test_small_pictures_of_a_gradient_are_empty_where_everything_is_masked(a, text):
    found = gradient(a("transformer-learned-pre"), text, "loss")
    count = len(found)
    small = signed_thumbnails([found[WEIGHTS]], side=-(-count // 2))
    whole = signed_thumbnails([found[WEIGHTS]])
    assert np.isnan(small[0, :, 0, -1]).all()
    assert np.isfinite(small[0, :, 0, 0]).all()
    np.testing.assert_array_equal(np.isnan(whole[0]), found.trace.unseen(WEIGHTS))


def test_without_its_mask_a_model_sees_everything(a, text):
    model = a("transformer-learned-pre")
    bypassed = Intervention(f"{ATTENTION}scores", "bypass")
    found = gradient(model, text, "loss", interventions=[bypassed])
    assert not found.trace.unseen(WEIGHTS).any()
    assert np.isfinite(found[WEIGHTS].array).all()
    assert found.trace.unseen("layers/1/attention/weights").any()


def test_a_weight_that_was_put_behind_the_mask_enters(a, text):
    model = a("transformer-learned-pre")
    found = gradient(model, text, "loss", interventions=[replace(WEIGHTS, 0.5, head=1, query=1, key=3)])
    assert not found.trace.unseen(WEIGHTS)[1, 1, 3]
    assert np.isfinite(found[WEIGHTS].array[1, 1, 3])
    assert found.trace.unseen(WEIGHTS)[0, 1, 3]
    assert found.trace.unseen(WEIGHTS, head=1, query=1).tolist()[:5] == [False, False, True, False, True]


def test_several_heads_hide_what_each_of_them_hides(a, text):
    model = a("transformer-learned-pre")
    plain = trace(model, text)
    assert np.array_equal(unseen_by_all(plain, [(0, 0), (1, 1)]), np.tri(len(plain)) == 0)
    opened = trace(model, text, interventions=[Intervention(f"{ATTENTION}scores", "bypass")])
    assert not unseen_by_all(opened, [(0, 0), (1, 1)]).any()


def test_a_trace_without_scores_hides_nothing_and_a_file_keeps_them(a, text, tmp_path):
    model = a("transformer-learned-pre")
    assert not trace(model, text, taps=["layers/*/attention/weights"]).unseen(WEIGHTS).any()
    plain = trace(model, text)
    plain.save(tmp_path / "trace.npz")
    again = Trace.load(tmp_path / "trace.npz")
    np.testing.assert_array_equal(again.unseen(WEIGHTS), plain.unseen(WEIGHTS))


def test_a_local_attention_needs_nothing_more(a, text):
    """Whatever hides a pair, as a sliding window would, does so by a score of −∞."""
    plain = trace(a("transformer-learned-pre"), text)
    distance = np.subtract.outer(np.arange(len(plain)), np.arange(len(plain)))
    outside = (distance < 0) | (distance > 2)
    arrays = dict(plain.arrays)
    for name, kept_out in (("scores", -np.inf), ("weights", 0.0)):
        one = arrays[ATTENTION + name]
        cells = np.where(outside, np.float32(kept_out), one.array)
        arrays[ATTENTION + name] = dataclasses.replace(one, array=cells)
    local = dataclasses.replace(plain, arrays=arrays)
    np.testing.assert_array_equal(local.unseen(WEIGHTS, head=0), outside)
    painted = paint_attention(local, 0, 0, query=4, key=3, weight=0.5)
    assert painted.where["key"] == slice(2, 5)
    with pytest.raises(LmvizError, match="hides this key"):
        paint_attention(local, 0, 0, query=4, key=1, weight=0.5)


def test_a_later_word_may_be_painted_where_it_is_seen():
    model = trained("transformer", (("causal", False),))
    plain = trace(model, IDS)
    changed = trace(model, IDS, interventions=[paint_attention(plain, 0, 1, query=0, key=4, weight=0.7)])
    row = changed[WEIGHTS].array[1, 0]
    assert row[4] == pytest.approx(0.7)
    assert row.sum() == pytest.approx(1.0)
