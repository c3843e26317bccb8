"""Adapters of peft: the model that they change, wherever it lies."""

import contextlib
import json
from pathlib import Path

import pytest
import torch
from covering import in_turn
from foreign_models import add_tokenizer, peer, saved
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.cli import run
from lmviz.interchange.adapter import Adapter, Whole
from lmviz.interchange.checkpoint import open_checkpoint
from lmviz.interchange.chosen_bases import NoBase, choose_base
from lmviz.interchange.fields import Fields
from lmviz.interchange.stored_tensors import StoredTensors
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


# what peft itself writes


BASES = {"untied": {"tie_word_embeddings": False}, "tied": {"tie_word_embeddings": True}}


def base_of_peft(kind, folder):
    """A small Llama or GPT-2 as transformers writes it."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(1)
    if kind == "gpt2":
        sizes = {"n_embd": 24, "n_layer": 2, "n_head": 3, "n_positions": 32}
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=50, **sizes))
    else:
        sizes = {"hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4}
        configuration = transformers.LlamaConfig(vocab_size=50, **sizes, **BASES[kind])
        model = transformers.LlamaForCausalLM(configuration)
    for parameter in model.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    model.save_pretrained(folder)
    return type(model).from_pretrained(folder)


def trained(model, configuration):
    """An adapter of peft on a model, all of whose numbers have been learned a little."""
    peft = pytest.importorskip("peft")
    adapter = peft.get_peft_model(model, configuration)
    torch.manual_seed(2)
    for parameter in adapter.parameters():
        if parameter.requires_grad:
            parameter.data += 0.1 * torch.randn_like(parameter)
    return adapter.eval()


LEARNED = {
    "queries": {"target_modules": ["q_proj"]},
    "output": {"target_modules": ["q_proj", "lm_head"]},
    "embedding": {"target_modules": ["q_proj", "embed_tokens"]},
    "embedding and output": {"target_modules": ["embed_tokens", "lm_head"]},
    "a saved output": {"target_modules": ["q_proj"], "modules_to_save": ["lm_head"]},
    "a saved embedding": {"target_modules": ["q_proj"], "modules_to_save": ["embed_tokens"]},
    "both saved": {"target_modules": ["q_proj"], "modules_to_save": ["embed_tokens", "lm_head"]},
    "a saved norm": {"target_modules": ["q_proj"], "modules_to_save": ["norm"]},
    "rows": {"target_modules": ["q_proj"], "trainable_token_indices": [3, 48]},
    "rows by name": {"target_modules": ["q_proj"], "trainable_token_indices": {"embed_tokens": [3, 48]}},
    "ranks of their own": {"target_modules": ["q_proj", "up_proj"], "rank_pattern": {"up_proj": 3}},
    "by the root": {"target_modules": "all-linear", "use_rslora": True},
}
"""What is learned of a Llama."""

SPLIT_BY_MERGING = {("tied", "output"), ("tied", "embedding"), ("tied", "embedding and output")}
"""Where merging in peft changes the one matrix, and so the other module with it, which was not trained so."""

GROWN = {name: LEARNED[name] for name in ("queries", "both saved", "embedding and output", "rows")}


def check_against_peft(adapter, folder, size, merges_alike):
    """The model that lmviz makes of a folder computes what the adapter does, and what it is merged to."""
    tokens = TOKENS % size
    with torch.no_grad():
        theirs = adapter(tokens).logits
        merged = adapter.merge_and_unload()(tokens).logits if merges_alike else theirs
        checkpoint = open_checkpoint(folder)
        assert not checkpoint.fit().unexpected
        with evaluation(checkpoint.model()) as reading:
            ours = reading(tokens)
    assert checkpoint.vocabulary_size == size
    for wanted in (theirs, merged):
        assert float((ours - wanted).abs().max() / wanted.abs().max()) <= 1e-6
    return checkpoint


@pytest.mark.parametrize(("name", "base"), in_turn(LEARNED, list(BASES)))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_peft_saves_computes_what_it_merges(base, name, tmp_path):
    peft = pytest.importorskip("peft")
    model = base_of_peft(base, tmp_path / "base")
    adapter = trained(model, peft.LoraConfig(task_type="CAUSAL_LM", r=4, **LEARNED[name]))
    adapter.save_pretrained(tmp_path / "adapter")
    found = check_against_peft(adapter, tmp_path / "adapter", 50, (base, name) not in SPLIT_BY_MERGING)
    parts = name in ("output", "embedding", "embedding and output") or "saved" in name
    assert found.configuration.tied == (base == "tied" and not (parts and "norm" not in name))


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", GROWN)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_tokens_that_were_added_come_with_the_adapter(base, name, tmp_path):
    peft = pytest.importorskip("peft")
    model = base_of_peft(base, tmp_path / "base")
    model.resize_token_embeddings(53)
    adapter = trained(model, peft.LoraConfig(task_type="CAUSAL_LM", r=4, **GROWN[name]))
    adapter.save_pretrained(tmp_path / "adapter", save_embedding_layers=True)
    add_tokenizer(tmp_path / "adapter", 53)
    check_against_peft(adapter, tmp_path / "adapter", 53, (base, name) not in SPLIT_BY_MERGING)
    model = lmviz.open_model(tmp_path / "adapter")
    assert model.tokenizer.encode("w52").tolist() == [52]
    again = open_checkpoint(lmviz.save_pretrained(model, tmp_path / "whole"))
    assert torch.equal(logits(again.model()), logits(model))
    assert again.tokenizer.vocabulary_size == again.vocabulary_size == 53


@pytest.mark.parametrize("bias", ["all", "lora_only"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_biases_that_were_learned(bias, tmp_path):
    peft = pytest.importorskip("peft")
    model = base_of_peft("gpt2", tmp_path / "base")
    modules = ["attn.c_attn", "attn.c_proj"]
    settings = peft.LoraConfig(task_type="CAUSAL_LM", r=4, target_modules=modules, bias=bias)
    adapter = trained(model, settings)
    adapter.save_pretrained(tmp_path / "adapter")
    check_against_peft(adapter, tmp_path / "adapter", 50, merges_alike=True)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_bias_of_the_product(tmp_path):
    peft = pytest.importorskip("peft")
    model = base_of_peft("gpt2", tmp_path / "base")
    settings = peft.LoraConfig(task_type="CAUSAL_LM", r=4, target_modules=["c_fc"], lora_bias=True)
    adapter = trained(model, settings)
    adapter.save_pretrained(tmp_path / "adapter")
    check_against_peft(adapter, tmp_path / "adapter", 50, merges_alike=True)


@pytest.mark.parametrize("base", BASES)
def test_rows_alone(base, tmp_path):
    peft = pytest.importorskip("peft")
    model = base_of_peft(base, tmp_path / "base")
    adapter = trained(
        model, peft.TrainableTokensConfig(token_indices=[1, 7], target_modules=["embed_tokens"])
    )
    adapter.save_pretrained(tmp_path / "adapter")
    found = check_against_peft(adapter, tmp_path / "adapter", 50, merges_alike=True)
    assert found.title == "Llama with an adapter (trained tokens)"


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_output_that_was_not_saved_is_missed(tmp_path):
    peft = pytest.importorskip("peft")
    model = base_of_peft("untied", tmp_path / "base")
    model.resize_token_embeddings(53)
    adapter = trained(
        model, peft.LoraConfig(r=4, target_modules=["q_proj"], modules_to_save=["embed_tokens"])
    )
    adapter.save_pretrained(tmp_path / "adapter", save_embedding_layers=False)
    with pytest.raises(LmvizError, match="embeddings of 53 tokens and an output for 50"):
        open_checkpoint(tmp_path / "adapter")


@pytest.mark.parametrize(
    ("kind", "settings", "words"),
    [
        ("IA3Config", {"target_modules": ["k_proj"], "feedforward_modules": []}, "IA³, which multiplies"),
        ("PromptTuningConfig", {"num_virtual_tokens": 2}, "learned vectors before a text"),
        ("PrefixTuningConfig", {"num_virtual_tokens": 2}, "every layer learned keys and values"),
        ("LoraConfig", {"use_dora": True, "target_modules": ["q_proj"]}, "DoRA"),
    ],
)
def test_what_peft_learns_otherwise_is_refused_for_what_it_is(kind, settings, words, tmp_path):
    peft = pytest.importorskip("peft")
    model = base_of_peft("tied", tmp_path / "base")
    trained(model, getattr(peft, kind)(task_type="CAUSAL_LM", **settings)).save_pretrained(
        tmp_path / "adapter"
    )
    with pytest.raises(LmvizError, match=words) as caught:
        lmviz.open_model(tmp_path / "adapter")
    assert "choose the base" not in str(caught.value)


MODULES = ("model.layers.0.self_attn.q_proj", "model.embed_tokens", "lm_head", "model.norm", "q_proj", "")
ENDS = (
    *(f".lora_{letter}.weight" for letter in "AB"),
    *(f".lora_embedding_{letter}" for letter in "AB"),
    *(".lora_B.bias", ".bias", ".weight", ".modules_to_save.weight", ".base_layer.weight"),
    *(".token_adapter.trainable_tokens_delta", ".original_module.weight", ".what", ""),
)
SIZES = st.lists(st.sampled_from([0, 1, 2, 24, 50, 53]), max_size=3).map(tuple)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "trainable_token_indices": st.lists(st.integers(-2, 60)) | st.just({"embed_tokens": [3]}),
        "modules_to_save": st.lists(st.sampled_from(["lm_head", "embed_tokens", "x"])),
    },
)


@pytest.fixture(scope="module", params=BASES)
def whole(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    base_of_peft(request.param, folder)
    found = open_checkpoint(folder)
    return Whole(found.layout, found.vocabulary_size, found.stored)


@given(
    st.dictionaries(st.tuples(st.sampled_from(MODULES), st.sampled_from(ENDS)), SIZES, max_size=5), SETTINGS
)
def test_any_tensors_in_an_adapter_are_a_model_or_a_sentence(whole, shapes, settings):
    stored = StoredTensors()
    for (module, end), shape in shapes.items():
        name = f"base_model.model.{module}{end}"
        stored.add(Path("adapter"), name, shape, torch.float32, torch.ones(shape))
    adapter = Adapter(Path("adapter"), "base", Fields(settings), stored)
    with contextlib.suppress(LmvizError):
        found = adapter.added_to(whole)
        for name, shape in found.stored.shapes.items():
            assert found.stored.get(name).shape == shape
