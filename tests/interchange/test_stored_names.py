"""What programs put before the names of weights: taken off in any order and number, and said."""

import argparse
import json

import pytest
import torch
from foreign_models import add_tokenizer, peer, saved
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.interchange.checkpoint import open_checkpoint
from lmviz.interchange.examination import examine_checkpoint
from lmviz.interchange.kinds import KINDS
from lmviz.interchange.stored_names import unwrap
from lmviz.interchange.stored_tensors import StoredTensors
from lmviz.models.reading import evaluation

TOKENS = torch.arange(12)[None] * 7 % 50

WRAPPERS = ("module", "_orig_mod", "model", "_forward_module", "_fsdp_wrapped_module", "net", "transformer")


def logits(model):
    with torch.no_grad(), evaluation(model) as reading:
        return reading(TOKENS)


def expected(name):
    with torch.no_grad():
        return peer(name)(TOKENS).logits


def rename(folder, change):
    path = folder / "model.safetensors"
    tensors = {change(name): value for name, value in load_file(path).items()}
    save_file(tensors, path, metadata={"format": "pt"})
    return folder


def stored_under(names):
    found = StoredTensors()
    for name in names:
        found.add("a file", name, (1,), torch.float32, torch.zeros(1))
    return found


NAMES = {
    "gpt2": (
        "transformer.wte.weight",
        "transformer.h.0.ln_1.weight",
        "transformer.ln_f.weight",
        "lm_head.weight",
    ),
    "llama": ("model.embed_tokens.weight", "model.layers.1.mlp.up_proj.weight", "lm_head.weight"),
    "gpt_neox": ("gpt_neox.embed_in.weight", "gpt_neox.layers.0.attention.dense.bias", "embed_out.weight"),
    "opt": ("model.decoder.embed_tokens.weight", "model.decoder.layers.0.fc1.weight", "lm_head.weight"),
    "mpt": ("transformer.wte.weight", "transformer.blocks.0.norm_1.weight"),
}


@given(st.sampled_from(sorted(NAMES)), st.lists(st.sampled_from(WRAPPERS), max_size=5), st.booleans())
def test_wrappers_in_any_order_and_number(kind, wrappers, is_within):
    before = "".join(f"{wrapper}." for wrapper in wrappers)
    names = [
        before + (name.replace(".0.", ".0._fsdp_wrapped_module.") if is_within else name)
        for name in NAMES[kind]
    ]
    found = unwrap("a file", stored_under(names), KINDS[kind])
    assert tuple(found.stored.shapes) == NAMES[kind]
    assert list(found.taken_off[: len(wrappers)]) == wrappers
    assert found.stored.get(NAMES[kind][0]) is not None


@given(st.lists(st.text(st.sampled_from("ab.0wte"), min_size=1, max_size=12), unique=True, max_size=8))
def test_names_of_any_kind_stay_apart(names):
    names = [f"{name}.weight" for name in names]
    said = ""
    try:
        assert len(unwrap("a file", stored_under(names), KINDS["gpt2"]).stored.shapes) == len(names)
    except LmvizError as sentence:
        said = str(sentence)
    assert not said or "models, whose names begin with" in said


@pytest.mark.parametrize("name", ["gpt2 untied", "llama", "opt"])
def test_a_wrapped_folder_gives_the_same_logits(name, tmp_path):
    folder = rename(add_tokenizer(saved(name, tmp_path / "wrapped")), lambda each: f"module._orig_mod.{each}")
    assert torch.allclose(logits(lmviz.open_model(folder)), expected(name), rtol=0, atol=1e-4)
    said = {what: sentence for what, _, sentence in examine_checkpoint(folder)}
    assert "'module' and '_orig_mod' was left out" in said["names"]
    assert "lacks" not in " ".join(said.values())


def test_two_models_in_one_file_are_told_apart(tmp_path):
    folder = saved("gpt2", tmp_path / "two")
    tensors = load_file(folder / "model.safetensors")
    both = {
        f"{who}.{name}": value.clone() for who in ("policy", "reference") for name, value in tensors.items()
    }
    save_file(both, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(LmvizError, match=r"'policy\.transformer\.' and 'reference\.transformer\.'"):
        lmviz.open_model(folder)


def test_what_lightning_saves_beside_a_description(tmp_path):
    folder = add_tokenizer(saved("gpt2 untied", tmp_path / "trained"))
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    values = {
        "epoch": 3,
        "global_step": 400,
        "state_dict": {f"model.{name}": value for name, value in tensors.items()},
        "optimizer_states": [{"state": {0: {"exp_avg": torch.zeros(3)}}}],
        "hyper_parameters": argparse.Namespace(rate=0.1, deep={"of": [1]}),
    }
    torch.save(values, folder / "epoch=3-step=400.ckpt")
    for place in (folder, folder / "epoch=3-step=400.ckpt"):
        assert torch.allclose(logits(lmviz.open_model(place)), expected("gpt2 untied"), rtol=0, atol=1e-4)


# what the names of TransformerLens mean


def as_transformer_lens(tensors, heads, prefix=""):
    """GPT-2's weights as a HookedTransformer has them."""
    found = {
        "embed.W_E": tensors["transformer.wte.weight"],
        "pos_embed.W_pos": tensors["transformer.wpe.weight"],
    }
    width = found["embed.W_E"].shape[1]
    layers = 1 + max(int(name.split(".")[2]) for name in tensors if ".h." in name)
    for layer in range(layers):
        there, here = f"transformer.h.{layer}.", f"blocks.{layer}."
        for norm, name in (("ln_1", "ln1"), ("ln_2", "ln2")):
            for end in ("weight", "bias"):
                found[f"{here}{name}.{end[0]}"] = tensors[f"{there}{norm}.{end}"]
        joined = tensors[f"{there}attn.c_attn.weight"].split(width, dim=1)
        biases = tensors[f"{there}attn.c_attn.bias"].split(width)
        for letter, matrix, bias in zip("QKV", joined, biases, strict=True):
            found[f"{here}attn.W_{letter}"] = matrix.unflatten(1, (heads, -1)).transpose(0, 1)
            found[f"{here}attn.b_{letter}"] = bias.unflatten(0, (heads, -1))
        found[f"{here}attn.W_O"] = tensors[f"{there}attn.c_proj.weight"].unflatten(0, (heads, -1))
        found[f"{here}attn.b_O"] = tensors[f"{there}attn.c_proj.bias"]
        found[f"{here}attn.mask"] = torch.ones(32, 32, dtype=torch.bool).tril()
        found[f"{here}attn.IGNORE"] = torch.tensor(-1e5)
        for end, name in (("in", "c_fc"), ("out", "c_proj")):
            found[f"{here}mlp.W_{end}"] = tensors[f"{there}mlp.{name}.weight"]
            found[f"{here}mlp.b_{end}"] = tensors[f"{there}mlp.{name}.bias"]
    found["ln_final.w"], found["ln_final.b"] = (
        tensors[f"transformer.ln_f.{end}"] for end in ("weight", "bias")
    )
    found["unembed.W_U"] = tensors.get("lm_head.weight", tensors["transformer.wte.weight"]).t()
    found["unembed.b_U"] = torch.zeros(len(found["embed.W_E"]))
    return {prefix + name: value.clone().contiguous() for name, value in found.items()}


def folded(tensors):
    """The same with the gain and bias of every normalisation folded into what reads it."""
    found = dict(tensors)

    def fold(norm, pairs):
        gain, bias = found.pop(f"{norm}.w"), found.pop(f"{norm}.b")
        for matrix, offset in pairs:
            found[offset] = found[offset] + torch.einsum("f,...fu->...u", bias, found[matrix])
            found[matrix] = gain[:, None] * found[matrix]

    for layer in range(2):
        here = f"blocks.{layer}."
        fold(f"{here}ln1", [(f"{here}attn.W_{letter}", f"{here}attn.b_{letter}") for letter in "QKV"])
        fold(f"{here}ln2", [(f"{here}mlp.W_in", f"{here}mlp.b_in")])
    fold("ln_final", [("unembed.W_U", "unembed.b_U")])
    return found


@pytest.mark.parametrize("is_folded", [False, True])
def test_names_of_transformer_lens_in_a_folder_of_transformers(is_folded, tmp_path):
    folder = add_tokenizer(saved("gpt2", tmp_path / "hooked"))
    tensors = as_transformer_lens(load_file(folder / "model.safetensors"), heads=3, prefix="module.")
    plain = {name.removeprefix("module."): value for name, value in tensors.items()}
    save_file(
        folded(plain) if is_folded else tensors, folder / "model.safetensors", metadata={"format": "pt"}
    )
    checkpoint = open_checkpoint(folder)
    assert checkpoint.title == "TransformerLens"
    assert checkpoint.taken_off == (() if is_folded else ("module",))
    assert not checkpoint.fit().unexpected
    assert torch.allclose(logits(lmviz.open_model(folder)), expected("gpt2"), rtol=0, atol=1e-4)


def test_a_file_of_transformer_lens_with_its_own_description(tmp_path):
    tensors = as_transformer_lens(load_file(saved("gpt2", tmp_path / "gpt") / "model.safetensors"), heads=3)
    (tmp_path / "own").mkdir()
    torch.save(tensors, tmp_path / "own" / "model_final.pth")
    with pytest.raises(LmvizError, match="nothing says its activation"):
        lmviz.open_model(tmp_path / "own")
    described = {"act_fn": "gelu_new", "n_ctx": 32, "normalization_type": "LN", "eps": 1e-5, "d_head": 8}
    (tmp_path / "own" / "config.json").write_text(json.dumps(described))
    assert torch.allclose(logits(lmviz.open_model(tmp_path / "own")), expected("gpt2"), rtol=0, atol=1e-4)
    (tmp_path / "own" / "config.json").write_text(json.dumps(described | {"act_fn": "solu_ln"}))
    with pytest.raises(LmvizError, match="solu_ln"):
        lmviz.open_model(tmp_path / "own")


# llama2.c


def as_llama2c(tensors, heads, groups):
    """Llama's weights under Meta's names, their pairs of channels side by side."""
    names = {"model.embed_tokens": "tok_embeddings", "model.norm": "norm", "lm_head": "output"}
    inner = {
        "input_layernorm": "attention_norm",
        "post_attention_layernorm": "ffn_norm",
        "self_attn.o_proj": "attention.wo",
        "mlp.gate_proj": "feed_forward.w1",
        "mlp.down_proj": "feed_forward.w2",
        "mlp.up_proj": "feed_forward.w3",
    } | {f"self_attn.{letter}_proj": f"attention.w{letter}" for letter in "qkv"}
    found = {}
    for name, value in tensors.items():
        module = name.removesuffix(".weight")
        layer = module.split(".")[2] if ".layers." in module else ""
        there = inner[module.split(".", 3)[3]] if layer else names[module]
        for letter, count in (("wq", heads), ("wk", groups)):
            if there.endswith(letter):
                value = value.unflatten(0, (count, 2, -1)).transpose(1, 2).flatten(0, 2)
        found[(f"layers.{layer}." if layer else "") + there + ".weight"] = value
    return found


@pytest.mark.parametrize("prefix", ["", "_orig_mod."])
def test_llama2c(prefix, tmp_path):
    tensors = as_llama2c(
        load_file(saved("llama", tmp_path / "llama") / "model.safetensors"), heads=6, groups=2
    )
    arguments = {"dim": 24, "n_layers": 2, "n_heads": 6, "n_kv_heads": 2, "vocab_size": 50, "max_seq_len": 32}
    arguments["norm_eps"] = peer("llama").config.rms_norm_eps
    state = {prefix + name: value for name, value in tensors.items()}
    (tmp_path / "out").mkdir()
    torch.save({"model": state, "model_args": arguments, "iter_num": 7}, tmp_path / "out" / "ckpt.pt")
    checkpoint = open_checkpoint(tmp_path / "out")
    assert (checkpoint.title, checkpoint.configuration.context) == ("llama2.c", 32)
    assert not checkpoint.fit().unexpected
    assert torch.allclose(logits(checkpoint.model()), expected("llama"), rtol=0, atol=1e-4)


def test_bare_weights_of_transformers_say_what_they_need(tmp_path):
    gpt2 = peer("gpt2 untied").state_dict()
    torch.save(gpt2, tmp_path / "weights.pt")
    with pytest.raises(LmvizError, match=r'config\.json with "n_head"'):
        lmviz.open_model(tmp_path / "weights.pt")
    (tmp_path / "config.json").write_text(json.dumps({"n_head": 3}))
    model = lmviz.open_model(tmp_path / "weights.pt")
    for layer in model.layers:
        layer.feedforward.activation = torch.nn.functional.gelu  # as the peer has it
    assert torch.allclose(logits(model), expected("gpt2 untied"), rtol=0, atol=1e-4)
    (tmp_path / "llama").mkdir()
    torch.save(peer("llama").state_dict(), tmp_path / "llama" / "weights.pt")
    with pytest.raises(LmvizError, match=r"no config\.json beside it says what they are of"):
        lmviz.open_model(tmp_path / "llama")
    nanochat = {"transformer.wte.weight": torch.ones(3, 4), "x0_lambdas": torch.ones(2)}
    torch.save(nanochat, tmp_path / "llama" / "weights.pt")
    with pytest.raises(LmvizError, match="holds weights of nanochat"):
        lmviz.open_model(tmp_path / "llama")
