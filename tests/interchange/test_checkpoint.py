"""Checkpoints of other programs, compared with what transformers computes from the same files."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from foreign_models import add_tokenizer, as_torch_save, peer, saved
from safetensors.torch import load_file, save_file

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.interchange.checkpoint import open_checkpoint

IDS = np.array([5, 2, 6, 1, 2, 3, 4, 47, 30, 2, 9])


@pytest.mark.parametrize("name", ["gpt2", "gpt_neox", "llama"])
@pytest.mark.parametrize("form", ["parts", "torch.save", "half", "old names"])
def test_weights_may_be_stored_in_several_ways(name, form, tmp_path):
    folder = saved(name, tmp_path / "it", **({"max_shard_size": "8KB"} if form == "parts" else {}))
    if form == "parts":
        assert len(list(folder.glob("model-*.safetensors"))) > 1
    elif form == "torch.save":
        as_torch_save(folder)
    else:
        tensors = load_file(folder / "model.safetensors")
        if form == "half":
            tensors = {key: value.bfloat16() for key, value in tensors.items()}
        else:  # the first GPT-2 was stored without a prefix, and with its masks
            inside = {"gpt2": "transformer.", "gpt_neox": "gpt_neox.", "llama": "model."}[name]
            tensors = {key.removeprefix(inside): value for key, value in tensors.items()}
            tensors |= {"h.0.attn.bias": torch.ones(1, 1, 32, 32)} if name == "gpt2" else {}
        save_file(tensors, folder / "model.safetensors")
    model = open_checkpoint(folder).model()
    with torch.no_grad():
        expected = peer(name)(torch.from_numpy(IDS)[None]).logits[0]
    apart = 0.3 if form == "half" else 1e-4
    np.testing.assert_allclose(lmviz.trace(model, IDS)["logits"].array, expected, rtol=apart, atol=apart)
    if form == "half":
        kinds = {parameter.dtype for parameter in model.parameters() if parameter.dim() == 2}
        assert kinds == {torch.bfloat16}


def test_numbers_are_mapped_from_the_file_and_not_copied(tmp_path):
    folder = saved("gpt2", tmp_path / "it")
    model = open_checkpoint(folder).model()
    maps = Path("/proc/self/maps")
    if maps.exists():
        lines = [line.split() for line in maps.read_text().splitlines() if str(folder) in line]
        places = [[int(place, 16) for place in line[0].split("-")] for line in lines]
        for name, parameter in model.named_parameters():
            if parameter.dim() == 2:
                assert any(first <= parameter.data_ptr() < end for first, end in places), name
    assert not model.layers[0].attention.input.weight.is_contiguous()  # GPT-2 stores it the other way round


def test_a_folder_is_opened_with_its_tokenizer(tmp_path):
    folder = add_tokenizer(saved("llama", tmp_path / "it"), words=40)
    model = lmviz.open_model(folder)
    assert model.name == "it"
    assert lmviz.trace(model, "w3 w4 w5").ids.tolist() == [3, 4, 5]
    assert model.tokenizer.vocabulary_size == model.vocabulary_size == 50
    assert model.tokenizer.token(45) == "⟨45⟩"  # a token that the tokenizer does not know
    assert [step.token for step in lmviz.sample(model, "w3", tokens=3, seed=0)]


def test_vocab_and_merges_make_a_tokenizer(tmp_path):
    folder = saved("gpt2", tmp_path / "it")
    letters = [chr(code) for code in range(33, 127)] + ["Ġ", "Ċ"]
    pieces = [*letters, "th", "the", "Ġc", "Ġca", "Ġcat", "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({piece: index for index, piece in enumerate(pieces)}))
    (folder / "merges.txt").write_text("#version: 0.2\nt h\nth e\nĠ c\nĠc a\nĠca t\n")
    (folder / "generation_config.json").unlink()
    tokenizer = open_checkpoint(changed(folder, eos_token_id=None)).tokenizer
    assert tokenizer.encode_prefix("the cat thus").tokens == ("the", " cat", " ", "th", "u", "s")
    assert tokenizer.decode(tokenizer.encode("the cat\n")) == "the cat\n"
    assert tokenizer.end_id == len(pieces) - 1
    assert tokenizer.kind == "bpe"


def test_the_window_of_a_longer_text_is_read_with_a_cache(tmp_path):
    model = open_checkpoint(saved("llama 3", tmp_path / "it")).model()
    tokens = torch.from_numpy(IDS)[None]
    first, state = model.advance(tokens[:, :5])
    rest, _ = model.advance(tokens[:, 5:], state)
    assert state.layers[0][0].shape == (1, 2, 5, 4)  # keys of the two heads that all others share
    torch.testing.assert_close(torch.cat([first, rest], dim=1), model(tokens), rtol=1e-4, atol=1e-5)


# What is refused


def changed(folder, **values):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))
    return folder


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("gpt2", {"model_type": "bert"}, "model_type 'bert' is an encoder"),
        ("gpt2", {"n_head": 5}, "width of 24 cannot be shared by 5 heads"),
        ("gpt2", {"n_head": 0}, "Heads must be at least 1"),
        ("gpt2", {"n_layer": 3}, r"lacks transformer.h.2.ln_1.weight, .* and 9 more"),
        ("gpt2", {"n_layer": 10**9}, "Layers must be at most"),
        ("gpt2", {"n_embd": "24"}, "its n_embd is not a whole number"),
        ("gpt2", {"vocab_size": 2**30}, "its vocabulary cannot have"),
        (
            "gpt2",
            {"vocab_size": 9_000_000},
            "of shape 50 × 24, and its configuration asks for 9,000,000 × 24",
        ),
        ("gpt2", {"n_inner": 21}, r"mlp.c_fc.weight of shape 24 × 96, .* 24 × 21"),
        ("gpt2", {"activation_function": "mish"}, "its activation 'mish' is none of"),
        ("gpt2", {"add_cross_attention": True}, "cross-attention, which lmviz does not compute"),
        ("gpt2", {"n_layer": 1}, "holds transformer.h.1.* a part of a layer that lmviz does not compute"),
        ("gpt_neox", {"rope_parameters": {"rope_type": "proportional"}}, "scaled by 'proportional'"),
        ("gpt_neox", {"rope_parameters": {"partial_rotary_factor": 1e9}}, "is not between 0 and 1"),
        ("llama", {"rope_parameters": [1]}, "its rope_parameters is not an object"),
        ("llama", {"num_key_value_heads": 4}, "6 heads cannot share 4"),
        ("mistral", {"sliding_window": -8}, "Attention window must be at least 0"),
    ],
)
def test_what_cannot_be_computed_is_refused_in_a_sentence(name, values, sentence, tmp_path):
    folder = changed(saved(name, tmp_path / "it"), **values)
    with pytest.raises(LmvizError, match=sentence) as refused:
        lmviz.open_model(folder)
    assert str(refused.value).startswith(str(folder))
    assert str(refused.value).count("\n") == 0


def test_a_part_that_is_missing_is_named(tmp_path):
    folder = saved("gpt2", tmp_path / "it", max_shard_size="8KB")
    part = sorted(folder.glob("model-*.safetensors"))[1]
    part.unlink()
    with pytest.raises(LmvizError, match=f"{part.name} is not there: the checkpoint is not complete"):
        lmviz.open_model(folder)


def test_an_index_names_no_files_of_other_folders(tmp_path):
    folder = saved("gpt2", tmp_path / "it", max_shard_size="8KB")
    index = folder / "model.safetensors.index.json"
    for names in ({"a": "../secret"}, {"a": 3}, {}, [], {"a": ""}):
        index.write_text(json.dumps({"weight_map": names}))
        with pytest.raises(LmvizError, match="names no files of its folder"):
            lmviz.open_model(folder)


def test_numbers_in_eight_bits_are_refused(tmp_path):
    folder = saved("gpt2", tmp_path / "it")
    tensors = load_file(folder / "model.safetensors")
    tensors["transformer.wte.weight"] = tensors["transformer.wte.weight"].to(torch.int8)
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(LmvizError, match="as whole numbers or in eight bits"):
        lmviz.open_model(folder)


def test_a_folder_without_weights_says_so(tmp_path):
    folder = saved("gpt2", tmp_path / "it")
    (folder / "model.safetensors").unlink()
    with pytest.raises(LmvizError, match="holds no weights"):
        open_checkpoint(folder)


@pytest.mark.slow
def test_gpt2_at_its_full_size_is_that_of_transformers(tmp_path):
    transformers = pytest.importorskip("transformers")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        peer_model = transformers.GPT2LMHeadModel(transformers.GPT2Config()).eval().requires_grad_(False)
    peer_model.save_pretrained(tmp_path / "gpt2")
    model = lmviz.open_model(tmp_path / "gpt2")
    assert model.parameter_count() == 124_439_808
    ids = np.random.default_rng(0).integers(0, 50_257, 40)
    expected = peer_model(torch.from_numpy(ids)[None]).logits[0]
    found = lmviz.trace(model, ids)
    np.testing.assert_allclose(found["logits"].array, expected, rtol=1e-3, atol=1e-3)
    assert (found["logits"].array.argmax(axis=-1) == expected.argmax(dim=-1).numpy()).all()
