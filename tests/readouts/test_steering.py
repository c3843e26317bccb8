"""Steering by a direction, its controls, and the files of directions."""

import gguf
import numpy as np
import pytest
import torch

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.readouts.control_vector import read_control_vector, write_control_vector
from lmviz.readouts.direction import StateDirection, differing

TAP = "layers/1/residual2"
TEXT = "Maya put the green stone in the barrel. Then she went home and put the"


@pytest.fixture(scope="module")
def model():
    return lmviz.open_model("stories-transformer")


@pytest.fixture(scope="module")
def direction(model):
    texts = {
        colour: [f"Maya put the {colour} {thing}" for thing in ("stone", "key", "bell")]
        for colour in ("red", "green")
    }
    return lmviz.direction(model, texts["red"], texts["green"], TAP)


def test_each_number_is_that_of_a_model_with_a_plain_hook(model, direction):
    """The vector is added by hand behind the second layer, and the rest of the network run on."""
    heard: list[float] = []
    found = lmviz.steer(
        model,
        direction,
        TEXT,
        "probability: red",
        strengths=(-1, 0, 2),
        held_out=["Maya put the key in the box."],
        progress=heard.append,
    )
    assert found.strengths.tolist() == [-1, 0, 2]
    state = torch.from_numpy(lmviz.trace(model, TEXT)[TAP].array.copy())
    tensors = model.tensors()
    token = model.tokenizer.id_of(" red") or model.tokenizer.id_of("red")
    for strength, share in zip(found.strengths, found.array, strict=True):
        moved = state + float(strength) * direction.length * torch.from_numpy(direction.vector)
        ended = _third_layer(model, moved)
        norm = torch.nn.functional.layer_norm(
            ended, ended.shape[-1:], tensors["norm.weight"], tensors["norm.bias"], 1e-5
        )
        logits = norm @ tensors["embedding.weight"].T
        assert share == pytest.approx(float(logits[-1].softmax(-1)[token]), abs=1e-5)
    assert found.random[1] == found.array[1]  # nothing is added
    assert found.loss is not None
    plain = lmviz.trace(model, "Maya put the key in the box.")
    own = plain["probabilities"].array[np.arange(len(plain) - 1), plain.ids[1:]]
    assert found.loss[1] == pytest.approx(-np.log(own).mean(), rel=1e-5)
    assert found.is_complete
    assert heard == sorted(heard)


def _third_layer(model, states: torch.Tensor) -> torch.Tensor:
    functional, tensors = torch.nn.functional, model.tensors()
    width, heads = states.shape[-1], model.configuration.heads

    def norm(values: torch.Tensor, name: str) -> torch.Tensor:
        names = f"layers.2.{name}.weight", f"layers.2.{name}.bias"
        return functional.layer_norm(values, (width,), *(tensors[each] for each in names), 1e-5)

    def linear(values: torch.Tensor, name: str) -> torch.Tensor:
        return functional.linear(values, tensors[f"layers.2.{name}.weight"], tensors[f"layers.2.{name}.bias"])

    query, key, value = (
        part.reshape(len(states), heads, -1).transpose(0, 1)
        for part in linear(norm(states, "norm1"), "attention.input").split(width, -1)
    )
    mixed = functional.scaled_dot_product_attention(query[None], key[None], value[None], is_causal=True)[0]
    states = states + linear(mixed.transpose(0, 1).reshape(len(states), width), "attention.output")
    hidden = functional.gelu(linear(norm(states, "norm2"), "feedforward.hidden"))
    return states + linear(hidden, "feedforward.output")


def test_a_direction_is_kept_in_a_file_and_read_again(direction, tmp_path):
    [found] = lmviz.open_direction(direction.save(tmp_path / "red.safetensors"))
    assert np.array_equal(found.vector, direction.vector)
    assert (found.address, found.origin) == (direction.address, direction.origin)
    assert found.length == pytest.approx(direction.length)
    whole = (tmp_path / "red.safetensors").read_bytes()
    for cut in (0, 5, 60, len(whole) - 2):
        (tmp_path / "cut.safetensors").write_bytes(whole[:cut])
        with pytest.raises(LmvizError):
            lmviz.open_direction(tmp_path / "cut.safetensors")


def test_a_control_vector_is_as_llama_cpp_reads_it_and_comes_back(direction, tmp_path):
    other = StateDirection.of("layers/2/residual2", np.arange(1.0, len(direction.vector) + 1), "made up")
    path = write_control_vector([other, direction], tmp_path / "red.gguf", "llama")
    reader = gguf.GGUFReader(path)  # the reader of llama.cpp's own package
    assert {tensor.name for tensor in reader.tensors} == {"direction.1", "direction.2"}
    first = next(tensor for tensor in reader.tensors if tensor.name == "direction.1")
    assert np.array(first.data) == pytest.approx(direction.length * direction.vector)
    assert reader.get_field("controlvector.layer_count").contents() == 2
    found = lmviz.open_direction(path)
    assert [one.address for one in found] == [TAP, "layers/2/residual2"]
    assert found[0].vector == pytest.approx(direction.vector, abs=1e-6)
    assert found[1].length == pytest.approx(other.length)


def test_what_has_no_place_in_a_control_vector_says_so(direction, tmp_path):
    with pytest.raises(LmvizError, match="no place"):
        write_control_vector(
            [StateDirection.of("layers/0/residual2", np.ones(3), "one")], tmp_path / "a.gguf"
        )
    with pytest.raises(LmvizError, match="no place"):
        write_control_vector([direction, direction], tmp_path / "a.gguf")
    (tmp_path / "b.gguf").write_bytes(b"GGUF")
    with pytest.raises(LmvizError):
        read_control_vector(tmp_path / "b.gguf")


def test_places_at_which_two_texts_are_alike_give_no_direction(model):
    places = ("embedding/sum", "layers/0/residual2", "layers/2/residual2")
    assert differing(model, "the dog ran", "the cat ran", places) == places[1:]
    with pytest.raises(LmvizError, match="are the same"):
        differing(model, "the dog ran", "the dog ran", places)


def test_what_cannot_be_steered_says_so(model, direction):
    with pytest.raises(LmvizError, match="no position 99 in the text to begin at: there are 4"):
        lmviz.steer(model, direction, "Maya owned a", "logit:stone-bell", start=99)
    with pytest.raises(LmvizError, match="strengths"):
        lmviz.steer(model, direction, TEXT, "loss", strengths=[float("nan")])
    with pytest.raises(LmvizError):
        lmviz.steer(model, StateDirection.of("layers/9/residual2", np.ones(96), "one"), TEXT, "loss")
