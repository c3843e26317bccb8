"""The recurrent families against torch.nn, and surgery on a state in the middle of a recurrence."""

import pytest
import torch
from torch import nn

from lmviz.families import FAMILIES, build_model

IDS = torch.tensor([[3, 1, 4, 1, 5, 0], [2, 6, 5, 3, 5, 1]])
MODULES = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
every_family = pytest.mark.parametrize("family", MODULES)


def build(family, **settings):
    configuration = FAMILIES[family].configuration(**{"layers": 2, "width": 6, **settings})
    return build_model(family, configuration, 7, seed=0).eval().requires_grad_(False)


def values(model, tokens, change=None):
    """Every tap's value by address; `change(address, position, value)` may return another."""
    found = {}

    def listener(tap, value, position):
        changed = None if change is None else change(tap.address, position, value)
        value = value if changed is None else changed
        if position is None:
            found[tap.address] = value
        else:
            found.setdefault(tap.address, []).append(value)
        return value

    model.listen(tokens, listener)
    return {
        address: torch.stack(value, dim=1) if isinstance(value, list) else value
        for address, value in found.items()
    }


@every_family
def test_hidden_states_are_those_of_torch(family):
    model = build(family)
    peer = MODULES[family](6, 6, num_layers=2, batch_first=True)
    peer.load_state_dict(model.recurrence.state_dict())
    found = values(model, IDS)
    hidden, _ = peer(found["embedding"])
    torch.testing.assert_close(found["layers/1/hidden"], hidden)


def test_the_last_cells_are_those_of_torch():
    model = build("lstm")
    found = values(model, IDS)
    _, (hidden, cell) = model.recurrence(found["embedding"])
    for layer in range(2):
        torch.testing.assert_close(found[f"layers/{layer}/cell"][:, -1], cell[layer])
        torch.testing.assert_close(found[f"layers/{layer}/hidden"][:, -1], hidden[layer])


def test_the_sigmoid_network_follows_its_formula():
    model = build("rnn", activation="sigmoid", layers=1)
    recurrence = model.recurrence
    hidden, states = torch.zeros(2, 6), []
    for inputs in model.embedding(IDS).unbind(dim=1):
        total = inputs @ recurrence.weight_ih_l0.T + recurrence.bias_ih_l0
        total = total + hidden @ recurrence.weight_hh_l0.T + recurrence.bias_hh_l0
        hidden = 1 / (1 + torch.exp(-total))
        states.append(hidden)
    features, last = model.features(IDS)
    torch.testing.assert_close(features, torch.stack(states, dim=1))
    torch.testing.assert_close(last[0], hidden)


@every_family
def test_a_hidden_state_replaced_midway_changes_all_that_follows_as_computed_by_hand(family):
    model = build(family)
    place, new = 2, torch.full((2, 6), 0.5)

    def replace(address, position, value):
        return new if (address, position) == ("layers/0/hidden", place) else None

    before, after = values(model, IDS), values(model, IDS, replace)
    for address, value in after.items():
        torch.testing.assert_close(value[:, :place], before[address][:, :place], rtol=0, atol=0)

    first, second = layers_apart(model)
    head, state = first(model.embedding(IDS[:, : place + 1]))
    state = (new[None], state[1]) if family == "lstm" else new[None]
    tail, _ = first(model.embedding(IDS[:, place + 1 :]), state)
    expected, _ = second(torch.cat([head[:, :place], new[:, None], tail], dim=1))
    torch.testing.assert_close(after["layers/1/hidden"], expected)
    torch.testing.assert_close(after["logits"], expected @ model.output.weight.T + model.output.bias)
    assert not torch.allclose(after["logits"][:, -1], before["logits"][:, -1])


def layers_apart(model):
    """Each layer of a model as torch's module of one layer."""
    layers = []
    for layer in range(model.configuration.layers):
        module = type(model.recurrence)(6, 6, batch_first=True)
        weights = {
            name: getattr(model.recurrence, name.replace("_l0", f"_l{layer}"))
            for name, _ in module.named_parameters()
        }
        module.load_state_dict(weights)
        layers.append(module.requires_grad_(False))
    return layers


def test_the_cell_kept_after_a_change_is_the_one_that_was_changed():
    model = build("lstm", layers=1)
    after = values(
        model, IDS, lambda address, position, value: value * 0 if address == "layers/0/forget" else None
    )
    torch.testing.assert_close(after["layers/0/cell"], after["layers/0/input"] * after["layers/0/candidate"])


@every_family
def test_loss_carries_the_state_on_but_no_gradient(family):
    model = build(family).requires_grad_(True)
    loss, state = model.loss(IDS[:, :3], IDS[:, 1:4])
    carried, _ = model.loss(IDS[:, 3:5], IDS[:, 4:], state)
    assert not any(item.requires_grad for item in (state if isinstance(state, tuple) else (state,)))
    whole = model.log_probabilities(IDS[:, :5], IDS[:, 1:])
    torch.testing.assert_close(-whole[:, :3].mean(), loss)
    torch.testing.assert_close(-whole[:, 3:].mean(), carried)


def test_an_lstm_begins_with_open_forget_gates():
    model = build("lstm", width=32, layers=1)
    gates = values(model, IDS)
    assert gates["layers/0/forget"].mean() > 0.65
    assert 0.4 < gates["layers/0/input"].mean() < 0.6


@pytest.mark.parametrize("activation", ["tanh", "sigmoid"])
def test_dropout_acts_in_training_only(activation):
    model = build("rnn", dropout=0.5, activation=activation)
    torch.testing.assert_close(model(IDS), model(IDS), rtol=0, atol=0)
    model.train()
    assert not torch.equal(model(IDS), model(IDS))


@every_family
@pytest.mark.parametrize("tied", [False, True])
def test_a_new_model_finds_every_token_about_equally_likely(family, tied):
    configuration = FAMILIES[family].configuration(width=256, tied=tied)
    model = build_model(family, configuration, 100, seed=0)
    tokens = torch.randint(100, (2, 64), generator=torch.Generator().manual_seed(0))
    loss, _ = model.loss(tokens, tokens.roll(-1, dims=1))
    assert loss.item() == pytest.approx(4.6, abs=0.3)


@every_family
def test_the_rows_of_a_tied_embedding_have_a_length_of_about_one(family):
    configuration = FAMILIES[family].configuration(width=256, tied=True)
    rows = build_model(family, configuration, 100, seed=0).embedding.weight
    torch.testing.assert_close(rows.norm(dim=1), torch.ones(100), rtol=0, atol=0.3)
