"""Adapters of peft: the model that they change, wherever it lies."""

import json

import pytest
import torch
from foreign_models import add_tokenizer, peer, saved
from safetensors.torch import save_file

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.cli import run
from lmviz.interchange.checkpoint import open_checkpoint
from lmviz.interchange.chosen_bases import NoBase, choose_base
from lmviz.models.reading import evaluation

TOKENS = torch.arange(12)[None] * 7 % 50


def write_adapter(folder, base, changes, rank=2, **settings):
    """A folder as peft writes it, for these modules, and what is added to the weight of each."""
    folder.mkdir(exist_ok=True)
    config = {"peft_type": "LORA", "base_model_name_or_path": base, "r": rank, "lora_alpha": 6} | settings
    (folder / "adapter_config.json").write_text(json.dumps(config))
    random = torch.Generator().manual_seed(3)
    tensors, added = {}, {}
    for module, (units, features) in changes.items():
        first = torch.randn(rank, features, generator=random)
        second = torch.randn(units, rank, generator=random)
        tensors[f"base_model.model.{module}.lora_A.weight"] = first
        tensors[f"base_model.model.{module}.lora_B.weight"] = second
        added[module] = second @ first
    save_file(tensors, folder / "adapter_model.safetensors")
    return added


def logits(model):
    with torch.no_grad(), evaluation(model) as reading:
        return reading(TOKENS)


def expected(name, added, scale, on_side=False):
    """What transformers computes with the weights changed by hand."""
    import copy

    model = copy.deepcopy(peer(name))
    for module, change in added.items():
        weight = model.get_submodule(module).weight
        weight.data += scale * (change.t() if on_side else change)
    with torch.no_grad():
        return model(TOKENS).logits


LLAMA = {"model.layers.0.self_attn.q_proj": (24, 24), "model.layers.1.mlp.down_proj": (24, 40)}


@pytest.mark.parametrize(("settings", "scale"), [({}, 3.0), ({"use_rslora": True}, 6 / 2**0.5)])
def test_an_adapter_beside_its_base(settings, scale, tmp_path):
    add_tokenizer(saved("llama", tmp_path / "base"))
    added = write_adapter(tmp_path / "adapter", "somebody/base", LLAMA, **settings)
    checkpoint = open_checkpoint(tmp_path / "adapter")
    assert checkpoint.title == "Llama with an adapter (LoRA)"
    model = lmviz.open_model(tmp_path / "adapter")
    assert torch.allclose(logits(model), expected("llama", added, scale), rtol=0, atol=1e-4)
    assert model.name == "adapter"
    assert model.tokenizer is not None


@pytest.mark.parametrize(
    "pattern",
    [
        "down_proj",
        "^model.layers.1.mlp.down_proj$",
        r"model\.layers\.\d+\.mlp\.(?:gate|down)_proj",
        ".*[cd]own_proj",
    ],
)
def test_a_scale_of_its_own_for_some(pattern, tmp_path):
    saved("llama", tmp_path / "base")
    added = write_adapter(tmp_path / "adapter", "base", LLAMA, alpha_pattern={pattern: 2})
    weights = open_checkpoint(tmp_path / "adapter").stored
    name = "model.layers.1.mlp.down_proj"
    before = peer("llama").get_submodule(name).weight
    assert torch.allclose(weights.get(f"{name}.weight"), before + added[name], atol=1e-6)


def test_matrices_that_lie_on_their_side(tmp_path):
    saved("gpt2", tmp_path / "base")
    changes = {"transformer.h.1.attn.c_attn": (72, 24)}
    added = write_adapter(tmp_path / "adapter", "base", changes, fan_in_fan_out=True)
    model = open_checkpoint(tmp_path / "adapter" / "adapter_model.safetensors").model()
    assert torch.allclose(logits(model), expected("gpt2", added, 3.0, on_side=True), rtol=0, atol=1e-4)


def test_what_is_saved_again_holds_what_was_learned(tmp_path):
    saved("llama", tmp_path / "base")
    write_adapter(tmp_path / "adapter", "base", LLAMA)
    model = open_checkpoint(tmp_path / "adapter").model()
    again = open_checkpoint(lmviz.save_pretrained(model, tmp_path / "whole")).model()
    assert torch.equal(logits(again), logits(model))


def test_a_base_in_the_cache_of_the_hub(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    saved("llama", tmp_path / "hub" / "models--some--one" / "snapshots" / "abc")
    write_adapter(tmp_path / "adapter", "some/one", LLAMA)
    assert open_checkpoint(tmp_path / "adapter").model() is not None


def test_a_base_that_is_chosen(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path / "data"))
    base = add_tokenizer(saved("llama", tmp_path / "elsewhere" / "one"))
    (tmp_path / "here").mkdir()
    adapter = tmp_path / "here" / "adapter"
    added = write_adapter(adapter, "some/one", LLAMA)
    model = lmviz.open_model(adapter, base=base)
    assert torch.allclose(logits(model), expected("llama", added, 3.0), rtol=0, atol=1e-4)
    run(["doctor", str(adapter), "--base", str(base)])
    assert "with an adapter" in capsys.readouterr().out
    assert run(["sample", str(adapter), "--base", str(base), "--prefix", "w1", "--tokens", "2"]) == 0
    with pytest.raises(NoBase):
        open_checkpoint(adapter)
    choose_base(adapter, base)
    assert torch.equal(logits(open_checkpoint(adapter).model()), logits(model))
    for other in (base, "stories-5-gram"):
        with pytest.raises(LmvizError, match="not an adapter"):
            lmviz.open_model(other, base=base)


@pytest.mark.parametrize("base", ["some/one", "/somewhere/else/one", "../../one", ""])
def test_a_base_that_is_not_there(base, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    write_adapter(tmp_path / "adapter", base, LLAMA)
    with pytest.raises(LmvizError, match=r"put the model at .*, or download it"):
        open_checkpoint(tmp_path / "adapter")


def test_a_base_that_is_named_elsewhere_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    elsewhere = saved("llama", tmp_path / "elsewhere" / "one")
    (tmp_path / "here").mkdir()
    write_adapter(tmp_path / "here" / "adapter", str(elsewhere), LLAMA)
    with pytest.raises(LmvizError, match="neither beside it"):
        open_checkpoint(tmp_path / "here" / "adapter")


@pytest.mark.parametrize(
    ("settings", "changes", "words"),
    [
        ({"peft_type": "PREFIX_TUNING"}, LLAMA, "PREFIX_TUNING"),
        ({"use_dora": True}, LLAMA, "DoRA"),
        ({}, {"model.layers.7.self_attn.q_proj": (24, 24)}, "fits nothing in its base"),
        ({}, {"model.layers.0.self_attn.q_proj": (24, 20)}, "fits nothing in its base"),
        ({"alpha_pattern": {"(": 2}}, LLAMA, "not a pattern"),
        ({"alpha_pattern": {r"((.|\w)*)!": 2}}, LLAMA, "not a pattern"),
        ({"alpha_pattern": {".*" * 30 + "!": 2}}, LLAMA, "not a pattern"),
        ({"alpha_pattern": {"(a*|b)*!": 2}}, LLAMA, "not a pattern"),
        ({"lora_alpha": "much"}, LLAMA, "adapter_config.json describes .*lora_alpha"),
        ({"use_rslora": 3}, LLAMA, "adapter_config.json describes .*use_rslora"),
        ({"alpha_pattern": {"(": 2}}, LLAMA, "adapter_config.json describes .*pattern"),
        ({"init_lora_weights": "pissa_niter_4"}, LLAMA, "takes something away from the base"),
        ({"init_lora_weights": "olora"}, LLAMA, "takes something away from the base"),
        ({"alora_invocation_tokens": [1, 2]}, LLAMA, "aLoRA"),
    ],
)
def test_what_is_not_added(settings, changes, words, tmp_path):
    saved("llama", tmp_path / "base")
    write_adapter(tmp_path / "adapter", "base", changes, **settings)
    with pytest.raises(LmvizError, match=words):
        open_checkpoint(tmp_path / "adapter")


@pytest.mark.parametrize(("module", "rank"), [("norm", 2), ("layers.0.self_attn.q_proj", 0)])
def test_what_cannot_be_added_to_a_tensor(module, rank, tmp_path):
    """A vector is no matrix, and no matrix has the rank 0."""
    saved("llama", tmp_path / "base")
    write_adapter(tmp_path / "adapter", "base", {})
    parts = {"A": torch.zeros(rank, 24), "B": torch.zeros(24, rank)}
    save_file(
        {f"base_model.model.model.{module}.lora_{part}.weight": values for part, values in parts.items()},
        tmp_path / "adapter" / "adapter_model.safetensors",
    )
    with pytest.raises(NoBase, match="fits nothing in its base"):
        open_checkpoint(tmp_path / "adapter")
