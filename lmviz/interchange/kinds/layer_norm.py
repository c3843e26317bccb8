"""Kin of Llama that normalise by the layer's mean and variance."""

from __future__ import annotations

from typing import Any

from lmviz.interchange.fields import Fields
from lmviz.interchange.kinds.kind import Kind, Names
from lmviz.interchange.kinds.llama import LLAMA_NAMES, llama_like, of_llama_kind
from lmviz.interchange.kinds.settings import (
    all_but_each,
    read_activation,
    read_biases,
    read_rotary,
    read_sizes,
    read_windows,
)
from lmviz.models.transformer_configuration import TransformerConfiguration

_PHI_NAMES: Names = LLAMA_NAMES | {
    "layers.*.attention.query_norm": "layers.*.self_attn.q_layernorm",
    "layers.*.attention.key_norm": "layers.*.self_attn.k_layernorm",
    "layers.*.attention.output": "layers.*.self_attn.dense",
    "layers.*.feedforward.hidden": "layers.*.mlp.fc1",
    "layers.*.feedforward.output": "layers.*.mlp.fc2",
    "norm": "final_layernorm",
}

_STABLELM_NAMES: Names = LLAMA_NAMES | {
    "layers.*.attention.query_norm": "layers.*.self_attn.q_layernorm.norms.#",
    "layers.*.attention.key_norm": "layers.*.self_attn.k_layernorm.norms.#",
}

_STARCODER2_NAMES: Names = LLAMA_NAMES | {
    "layers.*.feedforward.hidden": "layers.*.mlp.c_fc",
    "layers.*.feedforward.output": "layers.*.mlp.c_proj",
}


def _olmo(fields: Fields) -> TransformerConfiguration:
    return of_llama_kind(
        fields,
        norm_kind="layer",
        norm_gain="none",
        norm_bias=False,
        norm_epsilon=1e-5,
        attention_clip=fields.number_or_none("clip_qkv", 0.0),
        attention_bias="all" if fields.flag("attention_bias", False) else "none",
    )


def _phi(fields: Fields) -> TransformerConfiguration:
    sizes = read_sizes(fields, layers=24, heads=32, width=2048, feedforward=8192)
    return TransformerConfiguration(
        **sizes | read_rotary(fields, sizes, share=0.5),
        activation=read_activation(fields.word("hidden_act", "gelu_new")),
        norm_epsilon=fields.number("layer_norm_eps", 1e-5),
        query_key_norm="head" if fields.flag("qk_layernorm", False) else "none",
        parallel=True,
        parallel_norm="shared",
        tied=fields.flag("tie_word_embeddings", False),
        output_bias=True,
    )


def _stablelm(fields: Fields) -> TransformerConfiguration:
    sizes = read_sizes(fields, layers=32, heads=32, width=2560, feedforward=6912, context=4096)
    return TransformerConfiguration(
        **sizes | read_rotary(fields, sizes, share=fields.number("rope_pct", 0.25)),
        activation=read_activation(fields.word("hidden_act", "silu")),
        gated=True,
        norm_epsilon=fields.number("layer_norm_eps", 1e-5),
        query_key_norm="heads" if fields.flag("qk_layernorm", False) else "none",
        parallel=fields.flag("use_parallel_residual", False),
        parallel_norm="shared",
        attention_bias="query key value" if fields.flag("use_qkv_bias", False) else "none",
        feedforward_bias=False,
        tied=fields.flag("tie_word_embeddings", False),
    )


def _starcoder2(fields: Fields) -> TransformerConfiguration:
    sizes = read_sizes(
        fields, layers=30, heads=24, width=3072, feedforward=12288, context=4096, key_value_heads=2
    )
    biased = fields.flag("use_bias", True)
    return TransformerConfiguration(
        **sizes | read_rotary(fields, sizes),
        activation=read_activation(fields.word("hidden_act", "gelu_pytorch_tanh")),
        norm_epsilon=fields.number("norm_epsilon", 1e-5),
        attention_bias="all" if biased else "none",
        feedforward_bias=biased,
        attention_window=fields.whole_or_none("sliding_window", 0),
        tied=fields.flag("tie_word_embeddings", True),
    )


def _nemotron(fields: Fields) -> TransformerConfiguration:
    sizes = read_sizes(fields, layers=32, heads=48, width=6144, feedforward=24576, context=4096)
    return TransformerConfiguration(
        **sizes | read_rotary(fields, sizes, share=0.5),
        activation=read_activation(fields.word("hidden_act", "relu2")),
        norm_epsilon=fields.number("norm_eps", 1e-5),
        norm_gain="one plus weight",
        tied=fields.flag("tie_word_embeddings", False),
        **read_biases(fields),
    )


def _cohere(fields: Fields) -> TransformerConfiguration:
    return _of_cohere_kind(
        fields, base=500000.0, query_key_norm="heads" if fields.flag("use_qk_norm", False) else "none"
    )


def _cohere2(fields: Fields) -> TransformerConfiguration:
    """Layers that look at all know nothing of positions."""
    every = fields.whole("sliding_window_pattern", 4)
    windows = read_windows(fields, fields.whole_or_none("sliding_window", 4096), all_but_each(every))
    return _of_cohere_kind(fields, **windows, rotary_layers=windows.get("window_layers", "0"))


def _of_cohere_kind(fields: Fields, base: float = 10000.0, **settings: Any) -> TransformerConfiguration:
    sizes = read_sizes(fields, layers=40, heads=64, width=8192, feedforward=22528, context=8192)
    return TransformerConfiguration(
        **sizes
        | {
            "activation": read_activation(fields.word("hidden_act", "silu")),
            "gated": True,
            "norm_epsilon": fields.number("layer_norm_eps", 1e-5),
            "norm_bias": False,
            "parallel": True,
            "parallel_norm": "shared",
            "attention_bias": "all" if fields.flag("attention_bias", False) else "none",
            "feedforward_bias": False,
            "logit_factor": fields.number("logit_scale", 0.0625),
            "tied": fields.flag("tie_word_embeddings", True),
            "rotary_pairs": "neighbours",
        }
        | read_rotary(fields, sizes, default=base)
        | settings
    )


LAYER_NORM_KINDS: dict[str, Kind] = {
    "olmo": llama_like("OLMo", "the first: layer normalisation that learns nothing; clipped queries", _olmo),
    "phi": llama_like(
        "Phi",
        "1, 1.5 and 2: sublayers side by side that share one norm; rotary positions on a part of each head",
        _phi,
        _PHI_NAMES,
    ),
    "stablelm": llama_like(
        "StableLM", "layer normalisation; rotary positions on a part of each head", _stablelm, _STABLELM_NAMES
    ),
    "starcoder2": llama_like(
        "StarCoder 2", "layer normalisation, biases, shared keys and values", _starcoder2, _STARCODER2_NAMES
    ),
    "nemotron": llama_like("Nemotron", "squared ReLU; layer normalisation by 1 + weight", _nemotron),
    "cohere": llama_like(
        "Cohere",
        "Command R: sublayers side by side that share one norm; neighbouring channels turn; scaled logits",
        _cohere,
        by_head=("layers.*.attention.query_norm", "layers.*.attention.key_norm"),
    ),
    "cohere2": llama_like(
        "Cohere 2", "Command R7B: as Cohere; layers that look at all know nothing of positions", _cohere2
    ),
}
"""By the `model_type` of their `config.json`."""
