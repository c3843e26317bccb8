"""What follows from an intervention in the rest of a reading, and what does not."""

import numpy as np
import pytest
import torch
from covering import parametrize_few

from lmviz.base.errors import LmvizError
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.interventions import (
    add,
    remove_positions,
    replace,
    scale_head,
    swap_tokens,
    zero,
)
from lmviz.inspection.tracing import trace
from lmviz.models.prefix import read_prefix


def forward_by_hand(model, ids, position, unit, value):
    """An Elman network of one layer, step by step, with one cell of its hidden state set on the way."""
    parameters = dict(model.named_parameters())
    weights = [
        parameters[f"recurrence.{name}_l0"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    ]
    hidden = torch.zeros(model.configuration.width)
    states = []
    for at, id in enumerate(ids):
        inputs = model.embedding.weight[id]
        hidden = torch.tanh(weights[0] @ inputs + weights[2] + weights[1] @ hidden + weights[3])
        if at == position:
            hidden = hidden.clone()
            hidden[unit] = value
        states.append(hidden)
    return torch.stack(states).detach().numpy()


def test_a_state_changed_in_the_middle_changes_what_comes_after_and_nothing_before(a, text):
    model = a("rnn")
    ids = read_prefix(model, text).ids
    found = trace(model, text, interventions=[replace("layers/0/hidden", 0.9, position=2, unit=3)])
    expected = forward_by_hand(model, ids, 2, 3, 0.9)
    assert found["layers/0/hidden"].array == pytest.approx(expected, abs=1e-6)
    plain = trace(model, text)
    for address in ("layers/0/hidden", "layers/1/hidden", "logits"):
        assert np.array_equal(found[address].array[:2], plain[address].array[:2])
        assert not np.allclose(found[address].array[3:], plain[address].array[3:])


@pytest.mark.parametrize("kind", ["lstm", "gru", "rnn"])
def test_everything_downstream_of_a_gate_follows(a, text, kind):
    model = a(kind)
    address = {"lstm": "layers/0/forget", "gru": "layers/0/update", "rnn": "layers/0/preactivation"}[kind]
    plain, found = trace(model, text), trace(model, text, interventions=[zero(address, position=3)])
    assert (found[address].array[3] == 0).all()
    assert np.array_equal(found[address].array[:3], plain[address].array[:3])
    assert not np.allclose(found[address].array[4], plain[address].array[4])
    assert not np.allclose(found["probabilities"].array[3], plain["probabilities"].array[3])


def test_an_lstm_that_only_remembers_keeps_its_empty_cell(a, text):
    changes = [replace("layers/0/forget", 1.0), replace("layers/0/input", 0.0)]
    found = trace(a("lstm"), text, interventions=changes)
    assert (found["layers/0/cell"].array == 0).all()


@parametrize_few("kind", ["replace", "scale", "add"])
def test_every_kind_changes_exactly_the_cells_that_are_meant(model, text, kind):
    plain = trace(model, text)
    for tap in model.taps():
        if tap.scale == "token":
            continue
        array = plain[tap.address].array
        where = {axis: (0, size - 1) for axis, size in zip(tap.axes, array.shape, strict=True) if size > 1}
        change = Intervention(tap.address, kind, 0.5, where)
        found = trace(model, text, interventions=[change])[tap.address].array
        grid = np.ix_(*[[0, size - 1] if size > 1 else [0] for size in array.shape])
        old = array[grid]
        expected = {"replace": np.full_like(old, 0.5), "scale": old * 0.5, "add": old + 0.5}[kind]
        if not tap.scan:
            assert found[grid] == pytest.approx(expected, abs=1e-6)
        else:
            assert found[grid][0] == pytest.approx(expected[0], abs=1e-6)
        untouched = np.ones(array.shape, dtype=bool)
        untouched[grid] = False
        untouched &= np.isfinite(array)
        if not tap.scan:
            assert np.array_equal(found[untouched], array[untouched])


def test_nothing_above_a_tap_is_changed_by_it(model, text):
    plain = trace(model, text)
    taps = [tap for tap in model.taps() if not tap.scan and tap.scale != "token"]
    middle = taps[len(taps) // 2]
    found = trace(model, text, interventions=[add(middle.address, 0.5)])
    for tap in model.taps():
        if tap.address == middle.address:
            break
        assert np.array_equal(found[tap.address].array, plain[tap.address].array)


def test_a_removed_head_contributes_nothing(a, text):
    model = a("transformer-learned-pre")
    plain, found = trace(model, text), trace(model, text, interventions=[scale_head(1, 0)])
    weights = model.layers[1].attention.output
    others = plain["layers/1/attention/mixed"].array[1]
    expected = others @ weights.weight.detach().numpy()[:, 4:].T + weights.bias.detach().numpy()
    assert found["layers/1/attention/output"].array == pytest.approx(expected, abs=1e-5)


def test_switched_off_it_has_no_effect(a, text):
    change = Intervention("layers/0/hidden", "replace", where={"unit": 1}, enabled=False)
    found = trace(a("rnn"), text, interventions=[change])
    assert np.array_equal(found["logits"].array, trace(a("rnn"), text)["logits"].array)
    assert found.interventions == ()


@pytest.mark.parametrize("kind", ["learned", "sinusoidal", "rotary", "alibi", "relative"])
def test_without_positions_the_order_of_earlier_words_does_not_matter(a, text, kind):
    model = a(f"transformer-{kind}-pre")
    blind = remove_positions(model)
    swapped = [*blind, swap_tokens(2, 3)]
    address = "layers/0/attention/output"
    seeing = [trace(model, text, interventions=each)[address].array[-1] for each in ((), swapped[-1:])]
    unseeing = [trace(model, text, interventions=each)[address].array[-1] for each in (blind, swapped)]
    assert not np.allclose(seeing[0], seeing[1], atol=1e-4)
    assert unseeing[0] == pytest.approx(unseeing[1], abs=1e-5)
    assert not np.allclose(seeing[0], unseeing[0], atol=1e-4)


@pytest.mark.parametrize("kind", ["transformer-none-pre", "lstm", "ngram", "window"])
def test_there_may_be_no_positions_to_remove(a, kind):
    with pytest.raises(LmvizError, match="no position"):
        remove_positions(a(kind))


def test_swapped_tokens_are_read_in_their_new_order(model):
    found = trace(model, "the cows eat corn", interventions=[swap_tokens(2, 4)])
    assert found.tokens[1:] == ("the", "corn", "eat", "cows")
    expected = trace(model, "the corn eat cows")
    assert found.ids.tolist() == expected.ids.tolist()
    assert np.array_equal(found["logits"].array, expected["logits"].array)
    assert found.text == "the cows eat corn"


def test_a_token_is_replaced_by_its_id(model):
    corn = model.tokenizer.id_of("corn")
    found = trace(model, "the cows eat grass", interventions=[replace("tokens", corn, position=4)])
    assert np.array_equal(found["logits"].array, trace(model, "the cows eat corn")["logits"].array)


def test_a_sublayer_can_be_passed_by(a, text):
    model = a("transformer-learned-pre")
    found = trace(model, text, interventions=[Intervention("layers/0/residual1", "bypass")])
    assert np.array_equal(found["layers/0/residual1"].array, found["embedding/sum"].array)


def test_inside_a_recurrence_the_operand_of_the_same_step_passes_through(a, text):
    change = Intervention("layers/1/hidden", "bypass", where={"unit": 2})
    found = trace(a("rnn"), text, interventions=[change])
    hidden, before = found["layers/1/hidden"].array, found["layers/1/preactivation"].array
    assert np.array_equal(hidden[:, 2], before[:, 2])
    assert hidden[:, 3] == pytest.approx(np.tanh(before[:, 3]))
