"""The Jacobian lens against its published definition, by `torch.autograd.functional.jacobian`.

J = the mean over passages and source positions of the sum over target positions of ∂ end / ∂ state, where the
positions that count leave out the first and the last. The networks are written here once more, in PyTorch's
own cells and functions: nothing of how lmviz runs or differentiates a model is used.
"""

from collections.abc import Callable, Mapping

import numpy as np
import pytest
import torch
from small_models import shaken
from torch.nn import functional

from lmviz.families import FAMILIES
from lmviz.models.model import Model
from lmviz.readouts.fitting import fit_lens
from lmviz.readouts.passages import Passages

PASSAGES = Passages(
    (np.array([5, 2, 6, 1, 2, 3, 4, 4, 1]), np.array([5, 1, 3, 3, 2, 6])),
    (np.array([5, 2, 6, 1]),),
    skipped=2,
)
CELLS = {"rnn": torch.nn.RNNCell, "gru": torch.nn.GRUCell, "lstm": torch.nn.LSTMCell}

End = Callable[[torch.Tensor, Mapping[str, torch.Tensor]], torch.Tensor]
"""The states (position, channel) at the end, for ids and for what is added to the states at each place."""


def recurrent_end(model: Model, family: str) -> End:
    """Two layers of PyTorch's cells with the weights of the model."""
    cells = []
    for layer in (0, 1):
        inner = model.embedding.weight.shape[1] if layer == 0 else model.recurrence.hidden_size
        cell = CELLS[family](inner, model.recurrence.hidden_size).double()
        for name, parameter in cell.named_parameters():
            parameter.data = getattr(model.recurrence, f"{name}_l{layer}").detach()
        cells.append(cell)

    def end(ids: torch.Tensor, added: Mapping[str, torch.Tensor]) -> torch.Tensor:
        inputs = model.embedding.weight.detach()[ids]
        for layer, cell in enumerate(cells):
            hidden = torch.zeros(cell.hidden_size, dtype=torch.float64)
            state: tuple[torch.Tensor, torch.Tensor] = hidden, hidden
            outputs = []
            for at, row in enumerate(inputs):
                if family == "lstm":
                    hidden, kept = cell(row, state)
                else:
                    hidden = kept = cell(row, state[0])
                move = added.get(f"layers/{layer}/hidden")
                hidden = hidden if move is None else hidden + move[at]
                state = hidden, kept
                outputs.append(hidden)
            inputs = torch.stack(outputs)
        return inputs

    return end


def transformer_end(model: Model) -> End:
    """Two blocks with norms before, by the functions of PyTorch."""
    tensors = {name: tensor.detach() for name, tensor in model.tensors().items()}
    heads = model.configuration.heads

    def linear(values: torch.Tensor, name: str) -> torch.Tensor:
        return functional.linear(values, tensors[f"{name}.weight"], tensors[f"{name}.bias"])

    def norm(values: torch.Tensor, name: str) -> torch.Tensor:
        return functional.layer_norm(
            values, values.shape[-1:], tensors[f"{name}.weight"], tensors[f"{name}.bias"], 1e-5
        )

    def moved(states: torch.Tensor, place: str, added: Mapping[str, torch.Tensor]) -> torch.Tensor:
        return states + added[place] if place in added else states

    def end(ids: torch.Tensor, added: Mapping[str, torch.Tensor]) -> torch.Tensor:
        states = tensors["embedding.weight"][ids] + tensors["positions.weight"][: len(ids)]
        states = moved(states, "embedding/sum", added)
        for layer in (0, 1):
            within = f"layers.{layer}"
            inner = linear(norm(states, f"{within}.norm1"), f"{within}.attention.input")
            query, key, value = (
                part.reshape(len(ids), heads, -1).transpose(0, 1) for part in inner.chunk(3, -1)
            )
            mixed = functional.scaled_dot_product_attention(
                query[None], key[None], value[None], is_causal=True
            )
            states = states + linear(
                mixed[0].transpose(0, 1).reshape(len(ids), -1), f"{within}.attention.output"
            )
            hidden = functional.gelu(linear(norm(states, f"{within}.norm2"), f"{within}.feedforward.hidden"))
            states = states + linear(hidden, f"{within}.feedforward.output")
            states = moved(states, f"layers/{layer}/residual2", added)
        return states

    return end


@pytest.mark.parametrize("family", [*CELLS, "transformer"])
def test_each_map_is_the_averaged_jacobian(family: str) -> None:
    model = shaken(family)
    end = transformer_end(model) if family == "transformer" else recurrent_end(model, family)
    *_, lens = fit_lens(model, PASSAGES, "jacobian")
    for place in lens.places[:-1]:
        width, expected = lens.maps[place].shape[1], []
        for ids in PASSAGES.fitted:

            def ended(move: torch.Tensor, ids: np.ndarray = ids, place: str = place) -> torch.Tensor:
                return end(torch.from_numpy(ids), {place: move})

            nothing = torch.zeros(len(ids), width, dtype=torch.float64)
            whole = torch.autograd.functional.jacobian(ended, nothing)  # (target, channel, source, channel)
            counts = range(min(2, len(ids) // 4), len(ids) - 1)
            expected.append(whole[counts].sum(0)[:, counts].mean(1).numpy())
        assert lens.maps[place] == pytest.approx(np.mean(expected, axis=0), abs=1e-5), place
        assert np.abs(expected).max() > 0.05


def test_these_are_all_families_that_have_a_lens() -> None:
    """Of the others one counts, and one has a single state."""
    assert {"ngram", "window", *CELLS, "transformer"} == set(FAMILIES)
