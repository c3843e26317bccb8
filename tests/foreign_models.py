"""Small models of other programs with random weights, made by transformers itself."""

from __future__ import annotations

import json
from functools import cache

import pytest
import torch

VOCABULARY = 50
GPT2 = {"vocab_size": VOCABULARY, "n_positions": 32, "n_embd": 24, "n_layer": 2, "n_head": 3}
OTHERS = {
    "vocab_size": VOCABULARY,
    "max_position_embeddings": 32,
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "intermediate_size": 40,
}
LLAMA = {**OTHERS, "num_key_value_heads": 2}
LONGER = {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
ENDS = {"bos_token_id": 1, "eos_token_id": 2}

PEERS = {
    "gpt2": ("GPT2Config", GPT2),
    "gpt2 untied": ("GPT2Config", {**GPT2, "tie_word_embeddings": False, "activation_function": "gelu"}),
    "gpt2 narrow": ("GPT2Config", {**GPT2, "n_inner": 20, "layer_norm_epsilon": 1e-3}),
    "gpt_neox": ("GPTNeoXConfig", OTHERS | {"rotary_pct": 0.5}),
    "gpt_neox in turn": (
        "GPTNeoXConfig",
        OTHERS | {"use_parallel_residual": False, "attention_bias": False, "rotary_pct": 1.0},
    ),
    "llama": ("LlamaConfig", LLAMA),
    "llama 3": ("LlamaConfig", LLAMA | {"rope_parameters": LONGER, "tie_word_embeddings": True}),
    "llama biased": ("LlamaConfig", LLAMA | {"attention_bias": True, "mlp_bias": True, "head_dim": 8}),
    "mistral": ("MistralConfig", LLAMA | {"sliding_window": None, "head_dim": 8}),
    "qwen2": ("Qwen2Config", LLAMA),
}
"""Configurations of transformers, by a name of ours."""


@cache
def peer(name):
    """A model of transformers whose weights are random, and large enough to matter."""
    transformers = pytest.importorskip("transformers")
    kind, settings = PEERS[name]
    configuration = getattr(transformers, kind)(**settings, **ENDS)
    configuration._attn_implementation = "eager"  # the only one that gives its attention weights
    with torch.random.fork_rng():
        torch.manual_seed(len(name))
        model = transformers.AutoModelForCausalLM.from_config(configuration).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += 0.2 * torch.randn_like(parameter)
    return model.requires_grad_(False)


def saved(name, folder, **options):
    """A folder that transformers has written."""
    peer(name).save_pretrained(folder, **options)
    return folder


def as_torch_save(folder):
    """The same folder with `pytorch_model.bin` in place of safetensors."""
    from safetensors.torch import load_file

    tensors = load_file(folder / "model.safetensors")
    torch.save(tensors, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    return folder


def add_tokenizer(folder, words=VOCABULARY):
    """A tokenizer.json of so many plain words, some fewer than the model has tokens if one likes."""
    vocabulary = {"<unk>": 0, **{f"w{index}": index for index in range(1, words)}}
    description = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"},
    }
    (folder / "tokenizer.json").write_text(json.dumps(description))
    return folder
