"""What nanoGPT and minGPT save, compared with GPT-2 of transformers with the same weights."""

import json
import pickle

import numpy as np
import pytest
import torch
from foreign_models import add_tokenizer, peer

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.interchange.checkpoint import open_checkpoint
from lmviz.runs.opening import find_model

IDS = np.array([5, 2, 6, 1, 2, 3, 4])
NANO = {
    "n_layer": 2,
    "n_head": 3,
    "n_embd": 24,
    "block_size": 32,
    "bias": True,
    "vocab_size": 50,
    "dropout": 0.0,
}


def state(name, prefix=""):
    """The weights of a peer as these programs name them: GPT-2's names, with torch's own matrices."""
    turned = ("c_attn.weight", "c_proj.weight", "c_fc.weight")
    tensors = peer(name).state_dict()
    return {
        prefix + key: value.t().contiguous() if key.endswith(turned) else value
        for key, value in tensors.items()
    }


def logits(name):
    with torch.no_grad():
        return peer(name)(torch.from_numpy(IDS)[None]).logits[0]


@pytest.mark.parametrize("prefix", ["", "_orig_mod."])
def test_nanogpt(prefix, tmp_path):
    saved = {"model": state("gpt2", prefix), "model_args": NANO, "iter_num": 7, "config": {"out_dir": "out"}}
    torch.save(saved, tmp_path / "ckpt.pt")
    for place in (tmp_path, tmp_path / "ckpt.pt"):
        assert find_model(place) == place
        model = lmviz.open_model(place)
        assert model.configuration.activation == "gelu"
        assert model.configuration.tied
        # the peer has the approximation of GELU, so that it is compared with that
        tanh = model.layers[0].feedforward.activation
        for layer in model.layers:
            layer.feedforward.activation = lambda x: torch.nn.functional.gelu(x, approximate="tanh")
        found = model(torch.from_numpy(IDS)[None])[0]
        np.testing.assert_allclose(found, logits("gpt2"), rtol=1e-4, atol=1e-4)
        assert tanh(torch.tensor(1.0)) == torch.nn.functional.gelu(torch.tensor(1.0))


def test_nanogpt_without_biases(tmp_path):
    tensors = {key: value for key, value in state("gpt2").items() if not key.endswith(".bias")}
    torch.save({"model": tensors, "model_args": NANO | {"bias": False}}, tmp_path / "ckpt.pt")
    configuration = lmviz.open_model(tmp_path).configuration
    assert (configuration.attention_bias, configuration.feedforward_bias) == ("none", False)
    assert not configuration.norm_bias


@pytest.mark.parametrize("prefix", ["module._orig_mod.", "_forward_module.module.", "lit.net."])
def test_nanogpt_in_any_wrapper(prefix, tmp_path):
    torch.save({"model": state("gpt2", prefix), "model_args": NANO}, tmp_path / "ckpt.pt")
    found = open_checkpoint(tmp_path)
    assert found.taken_off == tuple(prefix.split(".")[:-1])
    assert found.model().configuration.tied


def test_the_options_of_a_training_say_the_heads(tmp_path):
    values = {"state_dict": state("gpt2 untied", "model."), "hyper_parameters": {"n_head": 3, "rate": 0.1}}
    torch.save(values, tmp_path / "epoch=1-step=3.ckpt")
    configuration = lmviz.open_model(tmp_path).configuration
    assert (configuration.heads, configuration.tied) == (3, False)


def test_mingpt_says_beside_its_weights_what_it_is(tmp_path):
    tensors = state("gpt2 untied") | {"transformer.h.0.attn.bias": torch.ones(1, 1, 32, 32).tril()}
    torch.save(tensors, tmp_path / "model.pt")
    with pytest.raises(LmvizError, match="number of heads is not in the weights"):
        lmviz.open_model(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model": {"model_type": "gpt-nano", "n_head": None}}))
    model = lmviz.open_model(tmp_path / "model.pt")
    assert (model.configuration.heads, model.configuration.activation) == (3, "gelu_tanh")
    for layer in model.layers:
        layer.feedforward.activation = torch.nn.functional.gelu  # as the peer has it
    found = model(torch.from_numpy(IDS)[None])[0]
    np.testing.assert_allclose(found, logits("gpt2 untied"), rtol=1e-4, atol=1e-4)


def test_the_old_form_of_torch_save_is_read(tmp_path):
    saved = {"model": state("gpt2"), "model_args": NANO}
    torch.save(saved, tmp_path / "ckpt.pt", _use_new_zipfile_serialization=False)
    assert lmviz.open_model(add_tokenizer(tmp_path)).tokenizer is not None


class Harmful:
    def __reduce__(self):
        import os

        return os.mkdir, (str(self.place),)


def test_no_code_of_a_file_is_run(tmp_path):
    Harmful.place = tmp_path / "made"
    torch.save({"model": Harmful()}, tmp_path / "ckpt.pt")
    with pytest.raises(LmvizError, match="cannot be read as a file of weights"):
        lmviz.open_model(tmp_path)
    with (tmp_path / "model.pt").open("wb") as file:
        pickle.dump(Harmful(), file)
    with pytest.raises(LmvizError, match="cannot be read as a file of weights"):
        lmviz.open_model(tmp_path / "model.pt")
    assert not (tmp_path / "made").exists()


class Evaluated:
    def __reduce__(self):
        return eval, (f"open({str(self.place)!r}, 'w')",)


def test_objects_of_a_training_are_left_out_and_not_made(tmp_path):
    Evaluated.place = tmp_path / "made"
    saved = {"model": state("gpt2"), "model_args": NANO, "config": Evaluated(), "loss": np.float64(1.5)}
    torch.save(saved, tmp_path / "ckpt.pt")
    assert lmviz.open_model(tmp_path).vocabulary_size == 50
    assert not (tmp_path / "made").exists()


EMBEDDINGS = {"transformer.wte.weight": torch.ones(3, 4), "transformer.wpe.weight": torch.ones(5, 4)}


@pytest.mark.parametrize(
    ("saved", "sentence"),
    [
        ([1, 2], "holds no tensors by name"),
        ({"model": {"a": torch.ones(3)}}, "those of no model that lmviz knows"),
        (
            {"transformer.wte.weight": torch.ones(3), "transformer.wpe.weight": torch.ones(3)},
            "are not matrices",
        ),
        (
            {
                "transformer.wte.weight": torch.ones(1).expand(10**6, 10**6),
                "transformer.wpe.weight": torch.ones(3, 4),
            },
            "that is not a plain one",
        ),
        ({"transformer.wte.weight": torch.ones(3, 4).to_sparse()}, "that is not a plain one"),
        (EMBEDDINGS | {"transformer.h.0.mlp.c_fc.weight": torch.tensor(1.0)}, "c_fc.weight is not a matrix"),
        (EMBEDDINGS | {"lm_head.weight": torch.ones(3, 4).to(torch.float8_e4m3fn)}, "number of heads is not"),
    ],
)
def test_what_is_no_checkpoint_is_refused_in_a_sentence(saved, sentence, tmp_path):
    torch.save(saved, tmp_path / "ckpt.pt")
    with pytest.raises(LmvizError, match=sentence):
        open_checkpoint(tmp_path)
