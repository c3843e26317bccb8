"""Activation patching: against interventions on whole passes and against PyTorch's own hooks."""

import numpy as np
import pytest
import torch
from contrasts import CHANGED, changed_for, contrast_of, contrasts_of, in_float64
from covering import parametrize_few
from family_cases import IDS, each_family_and_each_task, one_of_each, trained, translates

from lmviz.base.errors import LmvizError
from lmviz.circuits.contrast import Contrast
from lmviz.circuits.patching import patch, patching
from lmviz.circuits.places import carried
from lmviz.circuits.read_contrast import read_contrast
from lmviz.inspection.interventions import replace, scale, zero
from lmviz.inspection.tracing import trace


def traced_numbers(model, contrast, into, tap, where):
    """The measure where some cells of a tap are replaced in a pass of its own, without anything cached."""
    question = read_contrast(model, contrast)
    beside = {} if contrast.source is None else {"source": contrast.source}
    changed_beside = {} if contrast.source is None else {"source": contrast.changed_source or contrast.source}
    readings = {
        "clean": (contrast.text, beside),
        "changed": (contrast.text if contrast.changed is None else contrast.changed, changed_beside),
    }
    other = "clean" if into == "changed" else "changed"
    given = trace(model, np.array(readings[other][0]), **as_arrays(readings[other][1]))[tap].at(**where)
    patched = trace(
        model,
        np.array(readings[into][0]),
        interventions=[replace(tap, given, **where)],
        **as_arrays(readings[into][1]),
    )
    cells = [*question.scalar.cells, *question.scalar.against]
    numbers = patched[question.scalar.address].array.astype(np.float64)
    return numbers[cells[0]] - numbers[cells[1]]


def as_arrays(read):
    return {name: np.array(ids) for name, ids in read.items()}


@each_family_and_each_task
def test_a_state_carried_over_is_that_state_replaced_in_a_whole_pass(family, options):
    """Whatever the family and the task, for each kind of state, in both directions."""
    model = trained(family, tuple(options.items()))
    for contrast in contrasts_of(model):
        for kind, addresses in carried(model).items():
            for into in ("changed", "clean"):
                effect = patch(model, contrast, addresses, into=into)
                assert not np.isnan(effect.array).any()
                strongest = [np.unravel_index(np.abs(effect.array).argmax(), effect.array.shape)]
                for cell in [*strongest, (len(addresses) - 1, *(0 for _ in effect.axes[1:]))]:
                    where = dict(zip(effect.axes[1:], map(int, cell[1:]), strict=True))
                    wanted = traced_numbers(model, contrast, into, addresses[cell[0]], where)
                    size = abs(effect.clean) + abs(effect.changed) + 1
                    assert effect.measured[cell] == pytest.approx(wanted, abs=2e-5 * size), (kind, where)


@parametrize_few("family", ["rnn", "lstm", "gru", "transformer", "window"], quick=2)
def test_in_float64_it_is_the_same_to_nine_places(family):
    model = in_float64(trained(family, ()))
    contrast = contrast_of(model)
    for addresses in carried(model).values():
        effect = patch(model, contrast, addresses)
        for cell in np.ndindex(effect.array.shape):
            where = dict(zip(effect.axes[1:], cell[1:], strict=True))
            wanted = traced_numbers(model, contrast, "changed", addresses[cell[0]], where)
            assert effect.measured[cell] == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("double", [False, True])
def test_it_is_what_hooks_of_pytorch_find(norm, double):
    """On the fused path of the model, without a tap: the stream after each layer, and each head."""
    model = trained("transformer", (("norm", norm),))
    model = in_float64(model) if double else model
    tolerance = 1e-9 if double else 1e-5
    contrast = contrast_of(model)
    kinds = carried(model)
    streams = [address for address in kinds["stream"] if address.startswith("layers/")]
    effect = patch(model, contrast, streams)
    clean_tokens, changed_tokens = torch.tensor(IDS)[None], torch.tensor(CHANGED)[None]
    kept = {}

    def keep(name, value):
        kept[name] = value.clone()

    handles = [
        layer.register_forward_hook(lambda module, given, made, at=at: keep(("stream", at), made[0]))
        for at, layer in enumerate(model.layers)
    ]
    handles += [
        layer.attention.output.register_forward_pre_hook(
            lambda module, given, at=at: keep(("mixed", at), given[0])
        )
        for at, layer in enumerate(model.layers)
    ]
    with torch.no_grad():
        model(clean_tokens)
    for handle in handles:
        handle.remove()

    def measured(logits):
        return float(logits[0, -1, 3].double() - logits[0, -1, 6].double())

    for (layer, position), found in np.ndenumerate(effect.measured):

        def put(module, given, made, layer=layer, position=position):
            stream = made[0].clone()
            stream[:, position] = kept["stream", layer][:, position]
            return stream, made[1]

        handle = model.layers[layer].register_forward_hook(put)
        with torch.no_grad():
            assert found == pytest.approx(measured(model(changed_tokens)), abs=tolerance)
        handle.remove()

    heads = patch(model, contrast, kinds["head"])
    width = model.configuration.head_width
    for (layer, head), found in np.ndenumerate(heads.measured):

        def put_head(module, given, layer=layer, head=head):
            mixed = given[0].clone()
            mixed[..., head * width : (head + 1) * width] = kept["mixed", layer][
                ..., head * width : (head + 1) * width
            ]
            return (mixed,)

        handle = model.layers[layer].attention.output.register_forward_pre_hook(put_head)
        with torch.no_grad():
            assert found == pytest.approx(measured(model(changed_tokens)), abs=tolerance)
        handle.remove()


@one_of_each
def test_carrying_everything_over_gives_the_other_text_and_nothing_gives_this_one(family, options):
    """All words together bring back all of it; a word that is the same in both brings back nothing."""
    model = trained(family, tuple(options.items()))
    if family == "ngram" or translates(model):
        pytest.skip("an n-gram has no states of words, and a translator reads two sequences")
    address = carried(model).get("stream", ("embedding",))[0]
    words = patch(model, contrast_of(model), [address], each=())
    assert words.measured == pytest.approx(np.array([words.clean]), abs=2e-5)
    alone = patch(model, contrast_of(model), [address])
    differing = changed_for(model) != IDS
    assert alone.measured[0, differing] == pytest.approx(np.array([words.clean]), abs=2e-5)
    assert not alone.array[0, ~differing].any()


def test_of_a_causal_model_what_stands_behind_the_measure_and_before_the_change_does_nothing():
    model = trained("transformer", ())
    effect = patch(model, contrast_of(model, measure="logit:3-6@4"))
    assert not effect.array[:, :2].any()
    assert not effect.array[:, 5:].any()
    assert effect.array[-1, 4] == pytest.approx(1, abs=1e-5)


def test_surgery_stays_in_force():
    model = trained("transformer", ())
    contrast = contrast_of(model)
    off = [
        zero("layers/0/attention/mixed", head=1),
        scale("layers/1/feedforward/activation", 2.0, position=5),
    ]
    effect = patch(model, contrast, "layers/*/residual2", interventions=off)
    clean = trace(model, np.array(contrast.text), interventions=off)
    changed = trace(model, np.array(contrast.changed), interventions=off)
    assert effect.clean == pytest.approx(float(clean["logits"].array[-1, 3] - clean["logits"].array[-1, 6]))
    for layer, position in ((0, 2), (0, 5), (1, 6)):
        carried_over = replace(
            f"layers/{layer}/residual2", clean[f"layers/{layer}/residual2"].array[position], position=position
        )
        patched = trace(model, np.array(contrast.changed), interventions=[*off, carried_over])
        wanted = float(patched["logits"].array[-1, 3] - patched["logits"].array[-1, 6])
        assert effect.measured[layer, position] == pytest.approx(wanted, abs=1e-5)
    assert effect.changed == pytest.approx(
        float(changed["logits"].array[-1, 3] - changed["logits"].array[-1, 6])
    )


@pytest.mark.parametrize("family", ["rnn", "lstm", "gru", "transformer", "window"])
def test_the_fast_estimate_is_right_for_small_differences(family):
    """Where a state is changed by little, difference × gradient is the change."""
    model = in_float64(trained(family, ()))
    with torch.no_grad():
        model.embedding.weight[3] = model.embedding.weight[6] + 1e-5 * torch.randn(
            model.embedding.weight.shape[1]
        )
    contrast = contrast_of(model, measure="logit:1-2")
    effect = patch(model, contrast, estimate=True)
    assert effect.estimate == pytest.approx(effect.array, abs=1e-3)
    assert effect.error < 1e-3


def test_the_estimate_is_compared_where_the_texts_differ_alone():
    model = trained("transformer", ())
    effect = patch(model, contrast_of(model), estimate=True)
    apart = (effect.array != 0) | (effect.estimate != 0)
    assert 0 < apart.sum() < apart.size
    assert (effect.compared == apart).all()
    assert effect.agreement == pytest.approx(np.corrcoef(effect.estimate[apart], effect.array[apart])[0, 1])
    assert effect.error == pytest.approx(np.abs(effect.estimate - effect.array)[apart].mean())
    without = patch(model, contrast_of(model))
    assert np.isnan([without.agreement, without.error]).all()


def test_what_counts_has_no_estimate():
    model = trained("ngram", ())
    assert patch(model, contrast_of(model), estimate=True).estimate is None


def test_cells_come_as_they_are_known(monkeypatch):
    model = trained("transformer", ())
    monkeypatch.setattr("lmviz.circuits.patching.AT_ONCE", 2 * len(IDS))
    grids = list(patching(model, contrast_of(model)))
    unknown = [int(np.isnan(grid.array).sum()) for grid in grids]
    assert unknown == sorted(unknown, reverse=True)
    assert len(set(unknown)) > 3
    whole = patch(model, contrast_of(model))
    assert grids[-1].array == pytest.approx(whole.array, abs=1e-6)


def test_heads_can_be_carried_over_at_each_position():
    model = trained("transformer", ())
    effect = patch(model, contrast_of(model), "layers/*/attention/heads", each=("head", "position"))
    assert effect.axes == ("layer", "head", "position")
    assert effect.array.shape == (2, 2, 7)
    assert not effect.array[:, :, :2].any()


@pytest.mark.parametrize(
    ("contrast", "options", "sentence"),
    [
        (
            Contrast((1, 2, 3), (1, 2, 3, 4), "logit:3"),
            {},
            "have 3 and 4 tokens and first differ at token 4, the end and",
        ),
        (Contrast((1, 5, 3), (1, 2, 3, 4), "logit:3"), {}, "first differ at token 2, “5” and “2”"),
        (Contrast((1, 2, 3), (1, 2, 3), "logit:3"), {}, "The two texts are the same"),
        (Contrast((1, 2, 3), None, "logit:3"), {}, "give a changed text"),
        (Contrast((1, 2, 3), (1, 2, 4), "logit:3@1"), {}, "there is no difference to bring back"),
        (Contrast((1, 2, 3), (1, 2, 4), "logit:9"), {}, "give a token's id"),
        (Contrast((1, 2, 3), (1, 2, 4), "logit:3"), {"into": "both"}, "into 'changed' or 'clean'"),
        (Contrast((1, 2, 3), (1, 2, 4), "logit:3"), {"taps": "layers/9/*"}, "No tap matches"),
        (Contrast((1, 2, 3), (1, 2, 4), "logit:3"), {"each": ("head",)}, "has no axis 'head'"),
    ],
)
def test_what_cannot_be_carried_over_is_refused_in_a_sentence(contrast, options, sentence):
    with pytest.raises(LmvizError, match=sentence):
        patch(trained("transformer", ()), contrast, **options)
