"""Small models of other programs with random weights, made by transformers itself."""

from __future__ import annotations

import json
from copy import deepcopy
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
YARN = {
    "rope_type": "yarn",
    "rope_theta": 500.0,
    "factor": 4.0,
    "original_max_position_embeddings": 8,
    "beta_fast": 2.0,
    "beta_slow": 0.5,
}
LONG = {
    "rope_type": "longrope",
    "rope_theta": 500.0,
    "short_factor": [1.0, 1.25, 1.5, 2.0],
    "long_factor": [2.0, 3.0, 4.0, 5.0],
}
DYNAMIC = {"rope_type": "dynamic", "rope_theta": 500.0, "factor": 2.0}
WINDOW = {"sliding_window": 4}
FOUR = {"num_hidden_layers": 4}
PADDED = {"pad_token_id": 0}
HEAD = {"head_dim": 8}
EIGHT = HEAD | PADDED | {"num_attention_heads": 4, "num_key_value_heads": 2}
NARROW = {"vocab_size": VOCABULARY, "hidden_size": 24, "max_position_embeddings": 32}
FALCON = OTHERS | {"num_attention_heads": 4, "ffn_hidden_size": 40}
OPT = NARROW | PADDED | {"num_hidden_layers": 2, "num_attention_heads": 3, "ffn_dim": 40}
MPT = {"vocab_size": VOCABULARY, "d_model": 24, "n_layers": 2, "n_heads": 3, "max_seq_len": 32}
BLOOM = {"vocab_size": VOCABULARY, "hidden_size": 24, "n_layer": 2, "n_head": 6}
BIGCODE = GPT2 | {"n_inner": 40}
GRANITE = {
    "embedding_multiplier": 3.0,
    "attention_multiplier": 0.4,
    "residual_multiplier": 0.5,
    "logits_scaling": 4.0,
}
SOFTLY = {"attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0, "query_pre_attn_scalar": 8}
CLIPPED = {"attn_config": {"clip_qkv": 0.7}}
SCALED = {"attn_config": {"softmax_scale": 0.5}}
ENDS = {"bos_token_id": 1, "eos_token_id": 2}

PEERS = {
    "gpt2": ("GPT2Config", GPT2),
    "gpt2 untied": ("GPT2Config", {**GPT2, "tie_word_embeddings": False, "activation_function": "gelu"}),
    "gpt2 narrow": ("GPT2Config", {**GPT2, "n_inner": 20, "layer_norm_epsilon": 1e-3}),
    "gpt2 by layer": ("GPT2Config", GPT2 | {"scale_attn_by_inverse_layer_idx": True}),
    "gpt2 unscaled": ("GPT2Config", GPT2 | {"scale_attn_weights": False}),
    "gpt_neox": ("GPTNeoXConfig", OTHERS | {"rotary_pct": 0.5}),
    "gpt_neox in turn": (
        "GPTNeoXConfig",
        OTHERS | {"use_parallel_residual": False, "attention_bias": False, "rotary_pct": 1.0},
    ),
    "llama": ("LlamaConfig", LLAMA),
    "llama 3": ("LlamaConfig", LLAMA | {"rope_parameters": LONGER, "tie_word_embeddings": True}),
    "llama biased": ("LlamaConfig", LLAMA | {"attention_bias": True, "mlp_bias": True, "head_dim": 8}),
    "llama yarn": ("LlamaConfig", LLAMA | HEAD | {"rope_parameters": YARN}),
    "llama yarn smooth": ("LlamaConfig", LLAMA | HEAD | {"rope_parameters": YARN | {"truncate": False}}),
    "llama dynamic": ("LlamaConfig", LLAMA | HEAD | {"rope_parameters": DYNAMIC}),
    "llama longrope": (
        "LlamaConfig",
        LLAMA | HEAD | {"rope_parameters": LONG | {"original_max_position_embeddings": 20}},
    ),
    "mistral": ("MistralConfig", LLAMA | {"sliding_window": None, "head_dim": 8}),
    "mistral window": ("MistralConfig", LLAMA | WINDOW),
    "ministral": (
        "MinistralConfig",
        LLAMA | HEAD | WINDOW | {"layer_types": ["full_attention", "sliding_attention"]},
    ),
    "qwen2": ("Qwen2Config", LLAMA),
    "qwen2 window": ("Qwen2Config", LLAMA | WINDOW | {"use_sliding_window": True, "max_window_layers": 1}),
    "qwen3": ("Qwen3Config", LLAMA | HEAD),
    "qwen3 biased": ("Qwen3Config", LLAMA | HEAD | {"attention_bias": True, "tie_word_embeddings": True}),
    "gemma": ("GemmaConfig", LLAMA | EIGHT),
    "gemma2": ("Gemma2Config", LLAMA | EIGHT | WINDOW | SOFTLY),
    "gemma2 without caps": (
        "Gemma2Config",
        LLAMA
        | EIGHT
        | WINDOW
        | {"attn_logit_softcapping": None, "final_logit_softcapping": None}
        | {"query_pre_attn_scalar": 12},
    ),
    "gemma3_text": ("Gemma3TextConfig", LLAMA | EIGHT | WINDOW | FOUR | {"sliding_window_pattern": 3}),
    "phi": ("PhiConfig", OTHERS),
    "phi normed": ("PhiConfig", LLAMA | {"qk_layernorm": True}),
    "phi3": ("Phi3Config", LLAMA | PADDED | WINDOW),
    "phi3 longrope": (
        "Phi3Config",
        OTHERS
        | PADDED
        | {"num_attention_heads": 3, "original_max_position_embeddings": 20, "rope_parameters": LONG},
    ),
    "phi3 longrope short": (
        "Phi3Config",
        OTHERS
        | PADDED
        | {"num_attention_heads": 3, "original_max_position_embeddings": 8, "rope_parameters": LONG},
    ),
    "gpt_neox dynamic": (
        "GPTNeoXConfig",
        OTHERS
        | {"max_position_embeddings": 10}
        | {"rope_parameters": DYNAMIC | {"partial_rotary_factor": 1.0}},
    ),
    "opt": ("OPTConfig", OPT),
    "opt post": ("OPTConfig", OPT | {"do_layer_norm_before": False, "enable_bias": False}),
    "opt narrow": ("OPTConfig", OPT | {"do_layer_norm_before": False, "word_embed_proj_dim": 10}),
    "gpt_neo": (
        "GPTNeoConfig",
        NARROW
        | {"num_layers": 4, "num_heads": 3, "window_size": 4, "attention_types": [[["global", "local"], 2]]},
    ),
    "gptj": ("GPTJConfig", GPT2 | {"rotary_dim": 4}),
    "olmo": ("OlmoConfig", LLAMA | {"clip_qkv": 0.8}),
    "olmo2": ("Olmo2Config", LLAMA),
    "olmo3": ("Olmo3Config", LLAMA | WINDOW | FOUR | {"rope_parameters": None, "rope_scaling": YARN}),
    "smollm3": ("SmolLM3Config", LLAMA | PADDED | FOUR | {"no_rope_layer_interval": 2}),
    "smollm3 window": (
        "SmolLM3Config",
        LLAMA | PADDED | WINDOW | FOUR | {"use_sliding_window": True, "no_rope_layers": [1, 0, 0, 1]},
    ),
    "stablelm": ("StableLmConfig", LLAMA | {"use_qkv_bias": True, "partial_rotary_factor": 0.5}),
    "stablelm normed": (
        "StableLmConfig",
        LLAMA | {"qk_layernorm": True, "use_parallel_residual": True, "partial_rotary_factor": 0.5},
    ),
    "starcoder2": ("Starcoder2Config", LLAMA | WINDOW),
    "gpt_bigcode": ("GPTBigCodeConfig", BIGCODE),
    "gpt_bigcode all keys": ("GPTBigCodeConfig", BIGCODE | {"multi_query": False}),
    "falcon": ("FalconConfig", FALCON),
    "falcon new": ("FalconConfig", FALCON | {"new_decoder_architecture": True, "num_kv_heads": 2}),
    "falcon 2": (
        "FalconConfig",
        FALCON | {"new_decoder_architecture": True, "num_kv_heads": 2, "num_ln_in_parallel_attn": 1},
    ),
    "falcon rw": (
        "FalconConfig",
        FALCON
        | {"alibi": True, "multi_query": False, "parallel_attn": False, "bias": True}
        | {"num_attention_heads": 6},
    ),
    "bloom": ("BloomConfig", BLOOM),
    "mpt": ("MptConfig", MPT),
    "mpt clipped": ("MptConfig", MPT | CLIPPED),
    "mpt scaled": ("MptConfig", MPT | SCALED),
    "granite": ("GraniteConfig", LLAMA | GRANITE),
    "cohere": ("CohereConfig", LLAMA | PADDED),
    "cohere normed": ("CohereConfig", LLAMA | PADDED | {"use_qk_norm": True, "attention_bias": True}),
    "cohere2": ("Cohere2Config", LLAMA | PADDED | WINDOW | FOUR),
    "nemotron": ("NemotronConfig", LLAMA | {"head_dim": 8}),
}
"""Configurations of transformers, by a name of ours."""

IMPLEMENTATIONS = {"falcon rw": "sdpa"}
"""Only "eager" gives its attention weights, and that of Falcon 5.23 adds ALiBi twice."""


@cache
def peer(name):
    """A model of transformers whose weights are random, and large enough to matter."""
    transformers = pytest.importorskip("transformers")
    kind, settings = PEERS[name]
    configuration = getattr(transformers, kind)(**deepcopy(settings), **ENDS)  # it writes into what is inside
    configuration._attn_implementation = IMPLEMENTATIONS.get(name, "eager")
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
