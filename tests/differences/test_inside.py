"""States, heads and matrices of two models are compared as numpy compares them."""

import numpy as np
import pytest
import torch
from family_cases import IDS, trained, untrained
from two_models import other_of, two_of

from lmviz.base.errors import LmvizError
from lmviz.differences.directions import learned_directions
from lmviz.differences.matrices import directions_of, matrix_changes, singular_values
from lmviz.differences.moved_heads import moved_heads
from lmviz.differences.pair import paired
from lmviz.differences.states import state_addresses, state_distance, state_similarity
from lmviz.inspection.tracing import trace

NEURAL = ("window", "rnn", "lstm", "gru", "transformer")


@pytest.mark.parametrize("family", NEURAL)
def test_states_are_as_far_apart_as_numpy_says(family):
    pair = two_of(family)
    found = state_distance(pair, IDS)
    assert found.array.shape == (len(found.addresses), len(IDS))
    traces = [trace(model, IDS) for model in (pair.before, pair.after)]
    for row, address in enumerate(found.addresses):
        one, other = (read[address].array.astype(np.float64) for read in traces)
        lengths = np.sqrt((one**2).sum(axis=1)), np.sqrt((other**2).sum(axis=1))
        assert found.array[row] == pytest.approx(
            np.sqrt(((other - one) ** 2).sum(axis=1)) / lengths[0], rel=1e-4
        )
        assert found.cosine[row] == pytest.approx(
            (one * other).sum(axis=1) / lengths[0] / lengths[1], abs=1e-5
        )
    assert found.array[found.furthest] == np.nanmax(found.array)


def test_the_states_of_a_transformer_are_its_stream_after_each_part():
    assert state_addresses(trained("transformer", ()))[:3] == (
        "embedding/sum",
        "layers/0/residual1",
        "layers/0/residual2",
    )
    found = state_distance(two_of("lstm"), IDS)
    assert found.labels("place") == ("words", "cell 1", "hidden 1", "cell 2", "hidden 2")


def centred_kernel(values):
    kernel = values @ values.T
    middle = np.eye(len(kernel)) - 1 / len(kernel)
    return middle @ kernel @ middle


def test_similarity_is_the_alignment_of_centred_kernels():
    """By kernels (position, position), which is another way than by features."""
    one = trained("transformer", ())
    for other in (other_of(one), untrained("transformer", {"width": 12}, seed=2)):
        found = state_similarity(paired(one, other), [IDS, IDS[::-1].copy()])
        assert found.positions == 14
        assert found.axes == ("place",)
        for row, names in enumerate(zip(*found.addresses, strict=True)):
            kernels = []
            for model, name in zip((one, other), names, strict=True):
                read = [trace(model, ids)[name].array for ids in (IDS, IDS[::-1].copy())]
                kernels.append(centred_kernel(np.concatenate(read).astype(np.float64)))
            wanted = (kernels[0] * kernels[1]).sum() / np.linalg.norm(kernels[0]) / np.linalg.norm(kernels[1])
            assert found.array[row] == pytest.approx(wanted, abs=1e-6)


def test_similarity_of_models_of_unequal_depth_is_of_every_two_layers():
    pair = paired(trained("gru", ()), untrained("gru", {"layers": 1}))
    found = state_similarity(pair, [IDS])
    assert found.axes == ("before", "after")
    assert found.array.shape == (3, 2)
    assert not np.isnan(found.array).any()
    assert "shape" in pair.why_not_alike
    with pytest.raises(LmvizError, match="differ in shape"):
        state_distance(pair, IDS)


def test_a_model_is_wholly_similar_to_itself_turned():
    model = trained("rnn", ())
    assert state_similarity(paired(model, model), [IDS]).array == pytest.approx(1.0)


@pytest.mark.parametrize("options", [(), (("heads", 4), ("key_value_heads", 2))])
def test_heads_have_moved_by_half_the_sum_of_differences(options):
    pair = two_of("transformer", options)
    found = moved_heads(pair, IDS)
    traces = [trace(model, IDS) for model in (pair.before, pair.after)]
    for layer, head in np.ndindex(found.array.shape):
        one, other = (read[f"layers/{layer}/attention/weights"].array[head] for read in traces)
        rows = np.abs(other.astype(np.float64) - one).sum(axis=1) / 2
        assert found.by_position[layer, head] == pytest.approx(rows, abs=1e-6)
        assert found.array[layer, head] == pytest.approx(rows.mean(), abs=1e-6)
    assert found.at(-1)[found.most(-1)] == found.at(-1).max()


def test_only_attention_has_heads():
    assert moved_heads(two_of("gru"), IDS) is None


@pytest.mark.parametrize("family", NEURAL)
def test_every_number_of_a_model_is_in_one_matrix_or_vector(family):
    pair = two_of(family)
    found = matrix_changes(pair)
    assert sum(int(np.prod(change.shape)) for change in found) == sum(
        part.numel() for part in pair.before.tensors().values()
    )
    for change in found:
        one, other = (
            model.tensors()[change.name].numpy().astype(np.float64)[slice(*change.rows or (None,))]
            for model in (pair.before, pair.after)
        )
        assert change.relative == pytest.approx(
            np.sqrt(((other - one) ** 2).sum() / (one**2).sum()), rel=1e-6
        )
        if one.ndim == 2:
            assert change.singular == pytest.approx(np.linalg.svd(other - one, compute_uv=False), abs=1e-6)
            assert change.singular_before == pytest.approx(np.linalg.svd(one, compute_uv=False), abs=1e-6)
        else:
            assert change.singular is None
            assert change.directions is None
    labels = [change.label for change in found if change.singular is not None]
    assert len(set(labels)) == len(labels)


def test_singular_values_of_a_large_matrix_are_those_of_numpy():
    matrix = torch.randn(700, 150, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for one in (matrix, matrix.T):
        assert singular_values(one) == pytest.approx(np.linalg.svd(one.numpy(), compute_uv=False), rel=1e-9)


def test_directions_hold_nine_tenths_of_the_squares():
    assert directions_of(np.array([3.0, 1.0, 0.0])) == 1  # 9 of 10
    assert directions_of(np.array([2.0, 1.0, 1.0])) == 3
    assert directions_of(np.zeros(2)) is None
    assert directions_of(None) is None


def test_an_adapter_is_of_its_rank_and_its_directions_have_words():
    model = trained("transformer", ())
    name = "layers.1.feedforward.output.weight"
    other = other_of(model, names=())
    written, read = torch.zeros(8), torch.zeros(other.tensors()[name].shape[1])
    score = other.output_weight[3] * other.norm.weight
    written[:], read[1] = score, 1.0
    with torch.no_grad():
        other.tensors()[name].add_(torch.outer(written, read))
    pair = paired(model, other)
    [change] = [found for found in matrix_changes(pair) if found.change > 0]
    assert (change.address, change.rank, change.directions) == ("layers/1/feedforward/output", 1, 1)
    [direction] = learned_directions(pair, change, 1)
    assert direction.share == pytest.approx(1.0)
    assert direction.reads is None
    scores = (other.output_weight * other.norm.weight).double() @ written.double()
    order = (
        np.argsort(-scores.numpy())
        if scores.abs().argmax() == scores.argmax()
        else np.argsort(scores.numpy())
    )
    assert direction.writes == tuple(map(str, order))
    assert direction.writes_against == direction.writes[::-1]
    [query] = [
        found
        for found in matrix_changes(two_of("transformer"))
        if found.label == "layers/0/attention/query" and found.singular is not None
    ]
    pair = two_of("transformer")
    direction = learned_directions(pair, query, 1)[0]
    difference = (
        pair.after.tensors()[query.name][slice(*query.rows)]
        - pair.before.tensors()[query.name][slice(*query.rows)]
    )
    right = np.linalg.svd(difference.double().numpy())[2][0]
    table = pair.after.tensors()["embedding.weight"] * pair.after.tensors()["layers.0.norm1.weight"]
    scores = np.abs(table.double().numpy() @ right)
    assert direction.reads[0] == str(int(scores.argmax()))
    assert direction.writes is None


def test_directions_of_a_large_matrix_are_the_same(monkeypatch):
    pair = two_of("transformer")
    for label in ("layers/0/feedforward/hidden", "layers/1/feedforward/output"):
        [change] = [one for one in matrix_changes(pair) if one.label == label and one.singular is not None]
        whole = learned_directions(pair, change, 3)
        monkeypatch.setattr("lmviz.differences.directions.LARGE", 0)
        for one, other in zip(learned_directions(pair, change, 3), whole, strict=True):
            assert one.singular == pytest.approx(other.singular)
            assert (one.reads, one.writes) == (other.reads, other.writes)
        monkeypatch.undo()
