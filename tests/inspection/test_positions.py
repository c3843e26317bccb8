"""The picture of positions is what the model computes with, and its shifts are what they are said to be."""

import numpy as np
import pytest
import torch

from lmviz.base.errors import LmvizError
from lmviz.families import build_model
from lmviz.inspection.beyond_context import READS_ON, SENTENCES, measure_beyond
from lmviz.inspection.positions import picture_positions, shift_error, shift_matrix
from lmviz.inspection.tracing import trace
from lmviz.models.model import Model
from lmviz.models.transformer_configuration import TransformerConfiguration

VOCABULARY = 11
KINDS = ("learned", "sinusoidal", "rotary", "alibi", "relative", "none")


def build(kind: str, **settings: object) -> Model:
    values = {"layers": 1, "heads": 2, "width": 8, "context": 16, "positions": kind} | settings
    model = build_model("transformer", TransformerConfiguration.from_values(values), VOCABULARY, seed=1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)
    return model.eval()


IDS = np.random.default_rng(0).integers(0, VOCABULARY, 2000)


@pytest.mark.parametrize(("kind", "offset"), [("learned", 0), ("learned", 2), ("sinusoidal", 0)])
def test_the_table_is_what_is_added_to_embeddings(kind: str, offset: int) -> None:
    model = build(kind, position_offset=offset)
    picture = picture_positions(model)
    added = trace(model, IDS[:16])["embedding/position"].array
    assert picture.table == pytest.approx(np.asarray(added), abs=1e-6)
    assert picture.pairs == pytest.approx(picture.table @ picture.table.T)


@pytest.mark.parametrize("scaling", ["none", "dynamic"])
def test_rotary_angles_turn_queries_as_the_model_does(scaling: str) -> None:
    model = build("rotary", rotary_scaling=scaling, rotary_original=4)
    picture = picture_positions(model)
    values = trace(model, IDS[:16])
    query = np.asarray(values["layers/0/attention/query"].array)  # (head, position, channel)
    turned = np.asarray(values["layers/0/attention/query_rotated"].array)
    first, second = np.split(query, 2, axis=-1)
    angle = picture.table
    expected = [
        first * np.cos(angle) - second * np.sin(angle),
        second * np.cos(angle) + first * np.sin(angle),
    ]
    assert turned == pytest.approx(np.concatenate(expected, axis=-1), abs=1e-5)
    assert np.abs(picture.table).max() <= np.pi + 1e-6


@pytest.mark.parametrize("kind", ["alibi", "relative"])
@pytest.mark.parametrize("causal", [True, False])
def test_the_pairs_are_what_is_added_to_scores(kind: str, causal: bool) -> None:
    model = build(kind, causal=causal)
    bias = np.asarray(trace(model, IDS[:16])["layers/0/attention/bias"].array)
    for head in (0, 1):
        picture = picture_positions(model, head)
        seen = ~np.isnan(picture.pairs)
        assert seen.sum() == (136 if causal else 256)
        assert picture.pairs[seen] == pytest.approx(bias[head][seen], abs=1e-6)
        assert picture.table.shape == (2, 16 if causal else 31)
        back = picture.table[head][-16:]
        assert back == pytest.approx(bias[head][-1, ::-1], abs=1e-6)


def test_without_positions_there_is_nothing_to_draw() -> None:
    picture = picture_positions(build("none"))
    assert not picture.table.size
    assert picture.positions == 0


@pytest.mark.parametrize("width", [8, 9])
@pytest.mark.parametrize("shift", [0, 1, 5])
def test_one_matrix_shifts_all_sines(width: int, shift: int) -> None:
    model = build("sinusoidal", width=width, heads=1)
    picture = picture_positions(model)
    assert shift_error(picture, shift) < 1e-6
    matrix = shift_matrix(width, shift)
    assert matrix @ matrix.T == pytest.approx(np.eye(len(matrix)))
    other = picture.table[:-1, :8] @ shift_matrix(width, shift + 1).T
    if shift < 5:
        assert np.abs(other[: 15 - shift] - picture.table[shift:15, :8]).max() > 0.1


@pytest.mark.parametrize("kind", ["sinusoidal", "rotary", "alibi", "relative"])
def test_a_shift_is_the_same_everywhere(kind: str) -> None:
    picture = picture_positions(build(kind))
    for shift in (0, 1, 7, 15):
        values = picture.shifted(shift)
        assert len(values) == 16 - shift
        assert values == pytest.approx(np.full(16 - shift, values[0]), abs=1e-5)


def test_a_shift_of_learned_positions_is_not() -> None:
    picture = picture_positions(build("learned"))
    values = picture.shifted(2)
    expected = [picture.table[t] @ picture.table[t + 2] for t in range(14)]
    assert values == pytest.approx(expected, abs=1e-6)
    assert np.ptp(values) > 0.001


def test_waves_go_along_positions_or_distances() -> None:
    assert picture_positions(build("learned")).waves.shape == (8, 16)
    assert picture_positions(build("rotary")).waves.shape == (2, 16)
    assert picture_positions(build("alibi")).waves.shape == (2, 16)


@pytest.mark.parametrize("kind", KINDS)
def test_beyond_the_context_is_measured_where_the_model_can_read_on(kind: str) -> None:
    model = build(kind)
    found = measure_beyond(model, IDS, None)
    assert found.texts == 62 if kind in READS_ON else 64
    assert len(found.losses) == (16 if kind in READS_ON else 8)
    assert (found.beyond is not None) == (kind in READS_ON)
    assert SENTENCES[kind]
    assert model.context == 16, "the model itself is as it was"
    with pytest.raises(LmvizError, match="looks at 16 at most"):
        model(torch.zeros(1, 17, dtype=torch.long))


def test_where_angles_depend_on_the_length_the_sentence_says_it() -> None:
    found = measure_beyond(build("rotary", rotary_scaling="dynamic", rotary_original=16), IDS, None)
    assert SENTENCES[found.kind].startswith("All angles differ in so long a text")


@pytest.mark.parametrize("kind", READS_ON)
def test_within_the_context_the_losses_are_the_model_s(kind: str) -> None:
    model = build(kind)
    found = measure_beyond(model, IDS[:33], None)
    assert found.texts == 1
    ids = torch.from_numpy(IDS[:17])[None]
    expected = -model.log_probabilities(ids[:, :-1], ids[:, 1:]).detach().numpy()[0]
    assert found.losses[:8] == pytest.approx(expected.reshape(8, 2).mean(axis=1), abs=1e-5)
    assert found.within == pytest.approx(expected[8:].mean(), abs=1e-5)


def test_a_start_is_no_target() -> None:
    model = build("none")
    ids = np.tile([3, 4], 200)
    with_start, without = (measure_beyond(model, ids, ignored) for ignored in (4, None))
    assert with_start.within != pytest.approx(without.within)


def test_what_cannot_be_measured_is_said() -> None:
    with pytest.raises(LmvizError, match="fewer than 33 tokens"):
        measure_beyond(build("none"), IDS[:20], None)
    with pytest.raises(LmvizError, match="open a Transformer"):
        measure_beyond(build("none", causal=False), IDS, None)
    with pytest.raises(LmvizError, match="take too long"):
        measure_beyond(build("none", context=8192), IDS, None)
