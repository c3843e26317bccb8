"""Recurrent networks that read both ways: against torch.nn, by reach, and with the lecture's numbers."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES, build_model
from lmviz.inspection.tracing import trace
from lmviz.models.strand import turned
from lmviz.tasks import TASKS

MODULES = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
IDS = torch.tensor([[3, 1, 4, 1, 5, 0], [2, 6, 5, 3, 5, 1], [1, 2, 3, 0, 0, 0]])
LENGTHS = torch.tensor([6, 4, 3])
every_family = pytest.mark.parametrize("family", MODULES)


def build(family, task="tagging", labels=("n", "v", "d"), vocabulary=7, **settings):
    configuration = FAMILIES[family].configuration(
        **{"layers": 2, "width": 5, "direction": "both", **settings}
    )
    model = build_model(family, configuration, vocabulary, 0, TASKS[task].predicts(labels))
    return model.eval().requires_grad_(False)


@every_family
def test_states_of_padded_texts_are_those_of_packed_sequences_in_torch(family):
    model = build(family)
    peer = MODULES[family](5, 5, num_layers=2, batch_first=True, bidirectional=True)
    peer.load_state_dict(model.recurrence.state_dict())
    packed = pack_padded_sequence(model.embedding(IDS), LENGTHS, batch_first=True, enforce_sorted=False)
    expected, _ = pad_packed_sequence(peer(packed)[0], batch_first=True)
    found, state = model.features(IDS, None, LENGTHS)
    assert state is None
    for row, length in enumerate(LENGTHS.tolist()):
        torch.testing.assert_close(found[row, :length], expected[row, :length])


@every_family
def test_the_last_states_are_those_that_torch_returns(family):
    model = build(family, "classification", pooling="last")
    _, last = model.recurrence(model.embedding(IDS))
    hidden = last[0] if family == "lstm" else last  # (layer × direction, batch, unit)
    found = trace(model, IDS[0].numpy())["pooled"].array
    np.testing.assert_allclose(found, torch.cat([hidden[-2, 0], hidden[-1, 0]]), atol=1e-6)


@every_family
def test_a_backward_network_is_a_forward_one_on_the_text_turned_round(family):
    backward, forward = build(family, direction="backward"), build(family, direction="forward")
    forward.load_state(backward.state())
    torch.testing.assert_close(backward(IDS), forward(IDS.flip(1)).flip(1))


@every_family
def test_a_word_moves_what_each_direction_has_still_to_read(family):
    model, place = build(family), 2
    changed = IDS[0].numpy().copy()
    changed[place] = 6
    before, after = trace(model, IDS[0].numpy()), trace(model, changed)
    for tap in model.taps():
        if not tap.address.startswith("layers/0") and tap.address != "logits":
            continue
        pairs = zip(before[tap.address].array, after[tap.address].array, strict=True)
        moved = {position for position, (one, other) in enumerate(pairs) if (one != other).any()}
        if "/forward/" in tap.address:
            assert moved == set(range(place, 6)), tap.address
        elif "/backward/" in tap.address:
            assert moved == set(range(place + 1)), tap.address
        else:
            assert moved == set(range(6)), tap.address


def adding():
    """Identity activation, W = 1, U = ½, no bias; a token's embedding is its id, the output a sum."""
    model = build("rnn", labels=("y",), vocabulary=4, layers=1, width=1, activation="identity")
    with torch.no_grad():
        for name, parameter in model.recurrence.named_parameters():
            parameter.fill_({"weight_ih": 1.0, "weight_hh": 0.5}.get(name[:9], 0.0))
        model.embedding.weight.copy_(torch.arange(4.0)[:, None])
        model.output.weight.fill_(1.0)
    return model


def test_the_lectures_three_words_read_both_ways():
    found = trace(adding(), np.array([1, 2, 3]))
    np.testing.assert_allclose(found["layers/0/forward/hidden"].array[:, 0], [1, 2.5, 4.25])
    np.testing.assert_allclose(found["layers/0/backward/hidden"].array[:, 0], [2.75, 3.5, 3])
    np.testing.assert_allclose(found["logits"].array[:, 0], [3.75, 6, 7.25])


def test_a_palindrome_has_a_palindrome_of_answers():
    found = trace(adding(), np.array([1, 0, 1]))
    np.testing.assert_allclose(found["logits"].array[:, 0], [2.25, 1, 2.25])


@every_family
def test_one_matrix_for_both_directions_is_the_sum_of_one_for_each(family):
    """y = V→ h→ + V← h← + b."""
    model = build(family, layers=1)
    found, (left, right) = trace(model, IDS[0].numpy()), model.output.weight.chunk(2, dim=1)
    parts = [
        found[f"layers/0/{way}/hidden"].array @ weight.numpy().T
        for way, weight in (("forward", left), ("backward", right))
    ]
    np.testing.assert_allclose(found["logits"].array, sum(parts) + model.output.bias.numpy(), atol=1e-6)


@pytest.mark.parametrize("direction", ["forward", "both"])
def test_of_a_text_of_one_word_it_is_a_network_with_one_hidden_layer(direction):
    model = build("rnn", "classification", layers=1, direction=direction, pooling="last")
    weights = dict(model.recurrence.named_parameters())
    embedded = model.embedding.weight[4]
    hidden = [
        torch.tanh(weights[f"weight_ih_l0{way}"] @ embedded + sum_of_biases(weights, way))
        for way in ("", "_reverse")[: 2 if direction == "both" else 1]
    ]
    found = trace(model, np.array([4]))["logits"].array
    expected = model.output.weight @ torch.cat(hidden) + model.output.bias
    np.testing.assert_allclose(found, expected.numpy(), atol=1e-6)


def sum_of_biases(weights, way):
    return weights[f"bias_ih_l0{way}"] + weights[f"bias_hh_l0{way}"]


@pytest.mark.parametrize(("inputs", "units"), [(3, 5), (8, 8)])
def test_parameters_are_as_many_as_the_lecture_counts(inputs, units):
    """J(I + J) + J for each direction, 2J in the place of I above, and J for PyTorch's second bias."""

    def count(**settings):
        model = build("rnn", width=units, embedding=inputs, **settings)
        return sum(parameter.numel() for parameter in model.recurrence.parameters())

    one = units * (inputs + units) + units
    above = 2 * (units * (2 * units + units) + units)
    assert count(layers=1, direction="forward") == one + units
    assert count(layers=1) == 2 * (one + units)
    assert count(layers=2) == 2 * (one + units) + above + 2 * units


@every_family
def test_the_estimate_counts_the_parameters_of_both_directions(family):
    configuration = FAMILIES[family].configuration(layers=3, width=5, direction="both", embedding=4)
    model = build_model(family, configuration, 7, seed=0)
    assert configuration.estimate(7, 1, 1).parameters == model.parameter_count()


def test_a_language_model_may_not_read_from_right_to_left():
    configuration = FAMILIES["gru"].configuration(direction="backward")
    with pytest.raises(LmvizError, match="has read the next word"):
        build_model("gru", configuration, 7, seed=0)


def test_one_that_reads_both_ways_warns_that_it_reads_the_answer():
    model = build_model("gru", FAMILIES["gru"].configuration(direction="both", width=4), 7, seed=0)
    assert "the very token that it should predict" in model.caution
    assert not model.causal
    assert not model.recurrent
    assert build("gru").caution == ""


def test_turning_twice_is_as_before_and_padding_stays_behind():
    values = torch.arange(18.0).view(3, 6, 1)
    once = turned(values, LENGTHS)
    assert once[1, :, 0].tolist() == [9, 8, 7, 6, 10, 11]
    torch.testing.assert_close(turned(once, LENGTHS), values)


def test_stages_of_the_backward_direction_read_the_position_after():
    model = build("lstm")
    stages = {stage.results[0]: stage for stage in model.stages()}
    later = stages["layers/0/backward/cell"]
    assert dict(zip(later.operands, later.shifts, strict=True))["layers/0/backward/cell"] == 1
    assert "{t+1}" in later.equation
    earlier = stages["layers/0/forward/cell"]
    assert dict(zip(earlier.operands, earlier.shifts, strict=True))["layers/0/forward/cell"] == -1
