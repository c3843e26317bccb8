"""A list of directions: their files, their words, where they are strong, and how they are used."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.inspection.tracing import trace
from lmviz.readouts.direction import StateDirection
from lmviz.readouts.direction_file import read_directions
from lmviz.readouts.direction_places import two_sets
from lmviz.readouts.direction_use import DirectionUse

TAP = "layers/1/residual2"
TEXT = "Maya put the green stone in the barrel. Then she went home and put the"


@pytest.fixture(scope="module")
def model():
    return lmviz.open_model("stories-transformer")


@pytest.fixture(scope="module")
def red(model):
    return lmviz.word_direction(model, "red", TAP)


def test_several_directions_are_kept_in_one_file_with_their_names(red, tmp_path):
    named = StateDirection(TAP, red.vector, 2.5, "made up", "north ⇄ south")
    found = lmviz.open_direction(lmviz.save_directions([red, named], tmp_path / "two.safetensors"))
    assert [(one.address, one.origin, one.name, one.length) for one in found] == [
        (one.address, one.origin, one.name, one.length) for one in (red, named)
    ]
    assert np.array_equal(found[0].vector, red.vector)
    assert lmviz.open_direction(lmviz.save_directions((), tmp_path / "none.safetensors")) == ()
    [vector] = lmviz.open_direction(lmviz.save_directions(red, tmp_path / "red.gguf"))
    assert vector.vector == pytest.approx(red.vector, abs=1e-6)


@given(data=st.data())
@settings(max_examples=30)
def test_a_damaged_file_of_directions_says_so(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("damaged")
    one = StateDirection.of(TAP, np.arange(1.0, 5.0), "made up")
    whole = bytearray(lmviz.save_directions([one], folder / "whole.safetensors").read_bytes())
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] = data.draw(st.integers(0, 255))
    (folder / "damaged.safetensors").write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    try:
        [found] = read_directions(folder / "damaged.safetensors")
        assert np.linalg.norm(found.vector) == pytest.approx(1, abs=2e-3)
    except LmvizError:
        pass


def test_a_word_s_embedding_reads_that_word_and_its_unembedding_writes_it(model, red):
    [(written, _)] = red.words(model, 1)
    [(read, _)] = lmviz.word_direction(model, "red", TAP, of="embedding").words(model, 1, side="reads")
    assert {written.strip(), read.strip()} == {"red"}
    with pytest.raises(LmvizError, match="reads"):
        red.words(model, 1, side="hears")


def test_the_places_are_where_the_states_lie_farthest_along(model, red):
    texts = ["Maya put the red stone in the box.", "Nora has a bell.", "He went home and ate the bread."]
    found = lmviz.direction_places(model, red, texts, count=2)
    along = [red.along(trace(model, text)[TAP].array)[1:] for text in texts]
    assert found.tokens == sum(map(len, along))
    assert found.mean == pytest.approx(np.concatenate(along).mean(), abs=1e-5)
    assert found.deviation == pytest.approx(np.concatenate(along).std(), abs=1e-5)
    largest = sorted((float(one.max()) for one in along), reverse=True)[:2]
    assert [place.value for place in found.strongest] == pytest.approx(largest, abs=1e-4)
    first = found.strongest[0]
    own = trace(model, texts[first.text])
    assert red.along(own[TAP].array)[first.position] == pytest.approx(first.value, abs=1e-4)
    assert first.tokens[first.at] == own.tokens[first.position]
    assert list(first.ids) == list(own.ids[: first.position + 1])


@pytest.mark.parametrize("strength", [0.0, 0.5, 1.0])
def test_removing_and_swapping_go_as_far_as_the_strength(model, red, strength):
    other = red.random_like(2)
    before = trace(model, TEXT)[TAP].array
    for use in (DirectionUse(red, "remove"), DirectionUse(red, "swap", other, start=3)):
        after = trace(model, TEXT, interventions=[use.change(strength)])[TAP].array
        assert after[: use.start] == pytest.approx(before[: use.start], abs=1e-6)
        if use.how == "remove":
            assert red.along(after) == pytest.approx((1 - strength) * red.along(before), abs=1e-4)
        else:
            inverse = np.linalg.pinv(np.stack([red.vector, other.vector]))
            was = (before @ inverse)[3:]
            assert (after @ inverse)[3:] == pytest.approx(was + strength * (was[:, ::-1] - was), abs=1e-3)


def test_everywhere_is_at_every_layer(model, red):
    use = DirectionUse(red, "remove", everywhere=True)
    found = trace(model, TEXT, interventions=[use.change(1.0)])
    for layer in range(3):
        states = found[f"layers/{layer}/residual2"].array
        assert red.along(states) == pytest.approx(np.zeros(len(states)), abs=1e-4)


def test_steering_by_removal_is_what_the_interventions_give(model, red):
    found = lmviz.steer(
        model, red, TEXT, "probability: red", strengths=(0, 1), how="remove", start=4, held_out=[TEXT]
    )
    word = model.tokenizer.id_of(" red") or model.tokenizer.id_of("red")
    change = red.remove(position=slice(4, None))
    shares = lmviz.next_token(model, TEXT, interventions=[change]).probabilities
    assert found.array[1] == pytest.approx(shares[word], abs=1e-6)
    everywhere = trace(model, TEXT, interventions=[red.remove()])
    own = everywhere["probabilities"].array[np.arange(len(everywhere) - 1), everywhere.ids[1:]]
    assert found.loss[1] == pytest.approx(-np.log(own).mean(), rel=1e-4)
    assert found.random[0] == found.array[0]
    with pytest.raises(LmvizError, match="another direction"):
        lmviz.steer(model, red, TEXT, "loss", how="swap")
    with pytest.raises(LmvizError, match="choose one of"):
        lmviz.steer(model, red, TEXT, "loss", how="turn")


def test_two_sets_are_pairs_or_the_two_commonest_kinds():
    assert two_sets([("a", "b"), ("c", "d")], ["", ""]) == (("a", "c"), ("b", "d"), "texts − changed texts")
    found = two_sets([("a", None), ("b", None), ("c", None)], [" bell", " key", " bell"])
    assert found == (("a", "c"), ("b",), "“bell” − “key”")
    with pytest.raises(LmvizError, match="neither"):
        two_sets([("a", None)], [""])


def test_a_learned_direction_of_a_matrix_can_be_followed():
    two = ("stories-transformer", "stories-transformer")
    before, after = (lmviz.open_model(two[0]), lmviz.open_model(two[0]))
    tensors = after.tensors()
    name = next(name for name in tensors if name.endswith("1.attention.output.weight"))
    left = np.random.default_rng(0).standard_normal(tensors[name].shape[0]).astype(np.float32)
    left /= np.linalg.norm(left)
    right = np.random.default_rng(1).standard_normal(tensors[name].shape[1]).astype(np.float32)
    import torch

    with torch.no_grad():
        tensors[name] += torch.from_numpy(np.outer(left, right))
    from lmviz.differences.directions import learned_directions
    from lmviz.differences.matrices import changing_matrices
    from lmviz.differences.pair import ModelPair

    pair = ModelPair(before, after)
    change = next(one for *_, found in [list(changing_matrices(pair))] for one in found if one.name == name)
    [found] = learned_directions(pair, change, 1)
    address, vector, origin = found.along()
    assert address == "layers/1/residual2"
    assert abs(float(vector @ left)) == pytest.approx(1, abs=1e-4)
    assert origin


def test_where_there_are_no_states_there_is_no_direction(model):
    with pytest.raises(LmvizError, match="has head, query, key, and a direction is one of states"):
        lmviz.direction(model, ["a cat"], ["a dog"], "layers/1/attention/weights")
