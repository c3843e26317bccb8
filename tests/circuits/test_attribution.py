"""Attribution: parts add up to the measure, for every family and task, and are what PyTorch's hooks find."""

import numpy as np
import pytest
import torch
from contrasts import contrast_of, contrasts_of, in_float64
from family_cases import IDS, one_of_each, trained

from lmviz.base.errors import LmvizError
from lmviz.circuits.attribution import attribute
from lmviz.circuits.contrast import Contrast
from lmviz.inspection.held_words import held_words
from lmviz.inspection.interventions import scale, zero
from lmviz.inspection.tracing import trace

MEASURES = {
    "next": ("logit:3", "logit:3-6", "loss@4", "loss"),
    "label": ("logit:verb", "logit:verb-noun", "loss:noun"),
}


@one_of_each
def test_the_parts_add_up_to_the_measure(family, options):
    """Exactly, and but for the rounding of the model itself without a rest."""
    model = trained(family, tuple(options.items()))
    for measure in MEASURES["next" if model.predicts.continues else "label"]:
        contrast = contrasts_of(model)[0]
        contrast = Contrast(contrast.text, None, measure, contrast.source)
        if family == "ngram":
            contrast = Contrast(contrast.text, None, "probability:3@4")
        parts = attribute(model, contrast)
        assert parts.total == pytest.approx(parts.value, rel=1e-14, abs=1e-14)
        size = np.abs(parts.array).sum() + 1
        assert abs(parts["rounding"].total) < 2e-6 * size
        assert len(parts.array) > 1


@one_of_each
def test_they_do_so_below_every_recurrent_layer_down_to_the_words(family, options):
    model = trained(family, tuple(options.items()))
    exact = model if family == "ngram" else in_float64(model)
    for contrast in contrasts_of(model):
        depth = attribute(exact, contrast).depth
        for through in range(1, depth + 1):
            parts = attribute(exact, contrast, through=through)
            assert parts.total == pytest.approx(parts.value, rel=1e-14, abs=1e-14)
            assert abs(parts["rounding"].total) < 1e-12
            assert ("word" in parts) == (through == depth)
        with pytest.raises(LmvizError, match=f"has {depth} recurrent layers to go through"):
            attribute(exact, contrast, through=depth + 1)


def held(function, made_of):
    """What a function makes of a number, the share of it that it lets through being no variable."""
    return (function(made_of) / made_of).detach() * made_of


def recurred(family, inputs, module, layer):
    """The hidden states of a layer by PyTorch's formulas, its gates being no variables."""
    weight_ih, weight_hh, bias_ih, bias_hh = (
        getattr(module, f"{name}_l{layer}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    hidden = cell = torch.zeros(weight_hh.shape[1], dtype=torch.float64)
    states = []
    for x in inputs:
        given, before = weight_ih @ x + bias_ih, weight_hh @ hidden + bias_hh
        if family == "rnn":
            hidden = held(torch.tanh, given + before)
        elif family == "lstm":
            entered, forgotten, candidate, shown = (given + before).chunk(4)
            cell = forgotten.sigmoid().detach() * cell + entered.sigmoid().detach() * held(
                torch.tanh, candidate
            )
            hidden = shown.sigmoid().detach() * held(torch.tanh, cell)
        else:
            (reset, update, new), (old_reset, old_update, old) = given.chunk(3), before.chunk(3)
            reset, update = (reset + old_reset).sigmoid().detach(), (update + old_update).sigmoid().detach()
            hidden = (1 - update) * held(torch.tanh, new + reset * old) + update * hidden
        states.append(hidden)
    return torch.stack(states)


@pytest.mark.parametrize("family", ["rnn", "lstm", "gru"])
def test_below_the_top_layer_they_are_what_torch_finds_with_gates_held(family):
    model = in_float64(trained(family, ()))
    words = model.embedding.weight[torch.tensor(IDS)].detach().requires_grad_()
    below = recurred(family, words, model.recurrence, 0)
    below.retain_grad()
    top = recurred(family, below, model.recurrence, 1)
    assert top[-1].detach().numpy() == pytest.approx(trace(model, IDS)["layers/1/hidden"].array[-1], abs=1e-6)
    ((model.output_weight[3] - model.output_weight[6]) @ top[-1]).backward()
    contrast = contrast_of(model, measure="logit:3-6")
    units = attribute(model, contrast, through=1)["unit"].array
    assert units == pytest.approx((below.grad * below).sum(dim=0).detach().numpy(), abs=1e-9)
    by_word = attribute(model, contrast, through=2)["word"].array
    assert by_word == pytest.approx((words.grad * words).sum(dim=1).detach().numpy(), abs=1e-9)


def test_below_the_top_a_gated_layer_still_says_what_it_has_kept_of_each_word():
    model = in_float64(trained("lstm", ()))
    parts = attribute(model, contrast_of(model), through=1)
    assert list(parts.words) == ["layers/0"]
    assert parts.words["layers/0"].total == pytest.approx(parts["unit"].total, abs=1e-6)


def test_what_surgery_sets_is_not_gone_through():
    model = in_float64(trained("gru", ()))
    parts = attribute(model, contrast_of(model), through=2, interventions=[scale("layers/1/candidate", 2.0)])
    assert parts["surgery"].labels("tap") == ("layers/1/candidate",)
    assert abs(parts["rounding"].total) < 1e-6


@pytest.mark.parametrize("family", ["rnn", "lstm", "gru", "transformer", "window"])
def test_in_float64_nothing_is_left_over(family):
    model = in_float64(trained(family, ()))
    parts = attribute(model, contrast_of(model))
    assert abs(parts["rounding"].total) < 1e-12


@pytest.mark.parametrize("norm", ["pre", "post", "none"])
def test_a_head_and_a_feed_forward_network_have_the_share_that_hooks_find(norm):
    """What the module wrote, through the last normalisation with its scale held, times the unembedding."""
    model = in_float64(trained("transformer", (("norm", norm),)))
    written, last = {}, {}

    def keep(name):
        def hook(module, given, made):
            written[name] = made.detach() if not isinstance(made, tuple) else made[0].detach()
            last[name] = given[0].detach()

        return hook

    handles = [
        module.register_forward_hook(keep((kind, at)))
        for at, layer in enumerate(model.layers)
        for kind, module in (
            ("attention", layer.attention.output),
            ("feedforward", layer.feedforward),
            ("norm1", layer.norm1),
            ("norm2", layer.norm2),
        )
    ]
    with torch.no_grad():
        model(torch.tensor(IDS)[None])
    for handle in handles:
        handle.remove()
    parts = attribute(model, contrast_of(model, measure="logit:3-6"))
    direction = (model.output_weight[3] - model.output_weight[6]).detach()
    if norm == "post":  # the last layer's own norm is all that is behind its feed-forward network
        scale, stream = model.layers[-1].norm2, last["norm2", 1][0, -1]
    elif norm == "pre":
        stream = trace(model, IDS)["layers/1/residual2"].array[-1]
        scale, stream = model.norm, torch.tensor(stream).double()
    else:
        scale, stream = None, None

    def share(wrote):
        if scale is None:
            return float(wrote @ direction)
        deviation = (stream.var(unbiased=False) + model.configuration.norm_epsilon).sqrt()
        return float((wrote - wrote.mean()) / deviation * scale.weight @ direction)

    layer = model.layers[1]
    wrote = written["feedforward", 1][0, -1]
    bias = layer.feedforward.output.bias
    found = parts["feed-forward"].array[1] + _of_bias(share, bias)
    assert found == pytest.approx(share(wrote), abs=1e-5)
    if norm != "post":
        width = model.configuration.head_width
        for head in range(2):
            mixed = last["attention", 1][0, -1, head * width : (head + 1) * width]
            wrote = layer.attention.output.weight[:, head * width : (head + 1) * width] @ mixed
            assert parts["head"].array[1, head] == pytest.approx(share(wrote.detach()), abs=1e-5)


def _of_bias(share, bias):
    return share(bias.detach())


@one_of_each
def test_a_heads_share_falls_apart_into_the_words_that_it_read(family, options):
    model = trained(family, tuple(options.items()))
    contrast = contrasts_of(model)[0]
    if family == "ngram":
        pytest.skip("an n-gram has no states")
    parts = attribute(model, contrast)
    for kind, block in (("head", "attention"), ("cross head", "cross")):
        for index, share in np.ndenumerate(parts[kind].array) if kind in parts else ():
            layer, head = parts[kind].labels("layer")[index[0]], index[1]
            ending = f"layers/{layer}/{block}/heads/{head}"
            [place] = [place for place in parts.words if place.endswith(ending)]
            assert parts.words[place].total == pytest.approx(share, abs=1e-5)
    gated = {place: words for place, words in parts.words.items() if place.split("/")[-2:-1] == ["layers"]}
    if len(gated) == 1:
        [words] = gated.values()
        assert words.total == pytest.approx(
            sum(parts[kind].total for kind in parts.kinds if "unit" in kind), abs=1e-5
        )


def test_a_gru_keeps_of_each_word_what_its_gates_let_through():
    model = trained("gru", (("layers", 1), ("embedding", 5)))
    parts = attribute(model, contrast_of(model))
    held = held_words(trace(model, IDS), "layers/0")
    direction = (model.output_weight[3] - model.output_weight[6]).detach().double().numpy()
    assert parts.words["layers/0"].array[:-1] == pytest.approx(held.parts @ direction, abs=1e-6)
    assert parts.words["layers/0"].array[-1] == pytest.approx(0, abs=1e-6)


def test_an_n_gram_is_taken_apart_by_what_each_order_changes():
    model = trained("ngram", (("smoothing", "kneser-ney"),))
    parts = attribute(model, contrast_of(model))
    traced = trace(model, IDS)
    differences = [
        float(row.array[4, 3]) - float(row.array[4, 6])
        for row in (traced[f"orders/{order}/probabilities"] for order in (1, 2, 3))
    ]
    assert np.cumsum(parts["order"].array) == pytest.approx(differences, abs=1e-7)


def test_what_surgery_puts_in_has_a_share_of_its_own():
    model = trained("transformer", ())
    off = [zero("layers/0/attention/mixed", head=1), scale("layers/0/residual1", 2.0)]
    parts = attribute(model, contrast_of(model), interventions=off)
    assert abs(parts["rounding"].total) < 1e-5
    assert parts["surgery"].labels("tap") == ("layers/0/residual1",)
    assert "embedding" not in parts


def test_a_probability_is_no_sum_of_parts_and_says_so():
    model = trained("rnn", ())
    contrast = contrast_of(model, measure="probability:3")
    with pytest.raises(LmvizError, match="choose the logit of a word, such as logit:3@6"):
        attribute(model, contrast)


def test_the_strongest_are_named():
    model = trained("transformer", ())
    parts = attribute(model, contrast_of(model))
    name, share = parts.strongest(1)[0]
    assert share == parts.array[np.abs(parts.array).argmax()]
    assert name in parts.names["component"]
    with pytest.raises(LmvizError, match="no parts called 'heads': there are"):
        parts["heads"]
