"""Llama and its kin with RMS normalisation: gated feed-forward networks and rotary positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lmviz.interchange.fields import Fields
from lmviz.interchange.kinds.kind import QUERIES_KEYS_VALUES, Half, Kind, Names
from lmviz.interchange.kinds.settings import (
    MOST_LAYERS,
    all_but_each,
    read_activation,
    read_biases,
    read_rotary,
    read_sizes,
    read_two_bases,
    read_windows,
)
from lmviz.models.transformer_configuration import TransformerConfiguration


def of_llama_kind(
    fields: Fields,
    *,
    layers: int = 32,
    heads: int = 32,
    key_value_heads: int = 0,
    width: int = 4096,
    context: int = 2048,
    feedforward: int = 11008,
    tied: bool = False,
    base: float = 10000.0,
    **settings: Any,
) -> TransformerConfiguration:
    """RMS normalisation, a gated network without biases, and rotary positions, unless settings say else."""
    sizes = read_sizes(
        fields,
        layers=layers,
        heads=heads,
        key_value_heads=key_value_heads,
        width=width,
        context=context,
        feedforward=feedforward,
    )
    usual: dict[str, Any] = {
        "gated": True,
        "norm_kind": "rms",
        "attention_bias": "none",
        "feedforward_bias": False,
        "tied": fields.flag("tie_word_embeddings", tied),
    }
    if "activation" not in settings:
        usual["activation"] = read_activation(fields.word("hidden_act", "silu"))
    if "norm_epsilon" not in settings:
        usual["norm_epsilon"] = fields.number("rms_norm_eps", 1e-6)
    sizes |= {name: settings[name] for name in settings.keys() & {"head_channels"}}
    rotary = read_rotary(fields, sizes, default=base)
    return TransformerConfiguration(**usual | sizes | rotary | settings)


LLAMA_NAMES: Names = {
    "embedding": "embed_tokens",
    "layers.*.norm1": "layers.*.input_layernorm",
    "layers.*.attention.input": QUERIES_KEYS_VALUES,
    "layers.*.attention.query_norm": "layers.*.self_attn.q_norm",
    "layers.*.attention.key_norm": "layers.*.self_attn.k_norm",
    "layers.*.attention.output": "layers.*.self_attn.o_proj",
    "layers.*.norm2": "layers.*.post_attention_layernorm",
    "layers.*.feedforward.gate": "layers.*.mlp.gate_proj",
    "layers.*.feedforward.hidden": "layers.*.mlp.up_proj",
    "layers.*.feedforward.output": "layers.*.mlp.down_proj",
    "norm": "norm",
    "output": "lm_head",
}

_TURNS = ("layers.*.self_attn.rotary_emb.inv_freq",)
"""The speeds of rotary positions, which were once stored too."""

_NORMED_RESULTS: Names = {
    "layers.*.attention.normed": "layers.*.post_attention_layernorm",
    "layers.*.feedforward.normed": "layers.*.post_feedforward_layernorm",
}

_PHI3_NAMES: Names = LLAMA_NAMES | {
    "layers.*.attention.input": "layers.*.self_attn.qkv_proj",
    "layers.*.feedforward.gate": Half("layers.*.mlp.gate_up_proj"),
    "layers.*.feedforward.hidden": Half("layers.*.mlp.gate_up_proj", second=True),
}

_GEMMA2_NAMES: Names = (
    LLAMA_NAMES | _NORMED_RESULTS | {"layers.*.norm2": "layers.*.pre_feedforward_layernorm"}
)

_MISTRAL: dict[str, Any] = {"context": 131072, "feedforward": 14336, "key_value_heads": 8}

_QWEN: dict[str, Any] = {"context": 32768, "feedforward": 22016}


def llama_like(
    title: str,
    about: str,
    configuration: Callable[[Fields], TransformerConfiguration],
    names: Names = LLAMA_NAMES,
    by_head: tuple[str, ...] = (),
) -> Kind:
    return Kind(title, about, configuration, names, "model.", by_head=frozenset(by_head), ignored=_TURNS)


def _llama(fields: Fields) -> TransformerConfiguration:
    return of_llama_kind(fields, **read_biases(fields))


def _mistral(fields: Fields) -> TransformerConfiguration:
    return of_llama_kind(fields, **_MISTRAL, attention_window=fields.whole_or_none("sliding_window", 4096))


def _ministral(fields: Fields) -> TransformerConfiguration:
    window = fields.whole_or_none("sliding_window", 4096)
    return of_llama_kind(fields, **_MISTRAL, **read_windows(fields, window, "1"))


def _qwen2(fields: Fields) -> TransformerConfiguration:
    return of_llama_kind(fields, **_QWEN, attention_bias="query key value", **_qwen_windows(fields))


def _qwen3(fields: Fields) -> TransformerConfiguration:
    return of_llama_kind(
        fields,
        **_QWEN,
        head_channels=fields.whole("head_dim", 128),
        query_key_norm="head",
        attention_bias="all" if fields.flag("attention_bias", False) else "none",
        **_qwen_windows(fields),
    )


def _qwen_windows(fields: Fields) -> dict[str, Any]:
    """The first layers look at all, and those from `max_window_layers` on have the window."""
    if not fields.flag("use_sliding_window", False):
        return {}
    layers = min(fields.whole("num_hidden_layers", 32), MOST_LAYERS)
    free = min(fields.whole("max_window_layers", 28), layers)
    return read_windows(
        fields, fields.whole_or_none("sliding_window", 4096), "0" * free + "1" * (layers - free)
    )


def _smollm3(fields: Fields) -> TransformerConfiguration:
    pattern = "".join(str(min(abs(turned), 1)) for turned in fields.wholes("no_rope_layers"))
    pattern = pattern or all_but_each(fields.whole("no_rope_layer_interval", 4))
    window = fields.whole_or_none("sliding_window", 0) if fields.flag("use_sliding_window", False) else 0
    return of_llama_kind(
        fields,
        layers=36,
        heads=16,
        key_value_heads=4,
        width=2048,
        context=32768,
        base=2000000.0,
        tied=True,
        rotary_layers=pattern,
        **read_windows(fields, window, pattern.translate(_TURNED_ROUND)),
        **read_biases(fields),
    )


_TURNED_ROUND = str.maketrans("01", "10")


def _granite(fields: Fields) -> TransformerConfiguration:
    return of_llama_kind(
        fields,
        embedding_factor=fields.number("embedding_multiplier", 1.0),
        score_scale=fields.number("attention_multiplier", 1.0),
        residual_factor=fields.number("residual_multiplier", 1.0),
        logit_factor=1 / fields.positive("logits_scaling", 1.0),
        **read_biases(fields),
    )


def _olmo2(fields: Fields, **settings: Any) -> TransformerConfiguration:
    return of_llama_kind(
        fields,
        norm="result",
        norm_epsilon=fields.number("rms_norm_eps", 1e-5),
        query_key_norm="all",
        attention_bias="all" if fields.flag("attention_bias", False) else "none",
        **settings,
    )


def _olmo3(fields: Fields) -> TransformerConfiguration:
    windows = read_windows(fields, fields.whole_or_none("sliding_window", 4096), "1110")
    return _olmo2(fields, base=500000.0, **windows, **read_two_bases(fields, 500000.0, 500000.0))


def _phi3(fields: Fields) -> TransformerConfiguration:
    return of_llama_kind(
        fields,
        width=3072,
        context=4096,
        feedforward=8192,
        norm_epsilon=fields.number("rms_norm_eps", 1e-5),
        attention_window=fields.whole_or_none("sliding_window", 0),
    )


def _gemma(fields: Fields, **settings: Any) -> TransformerConfiguration:
    if fields.has("use_bidirectional_attention"):
        fields.refuse("use_bidirectional_attention", "attention to later words")
    width = fields.whole("hidden_size", 3072)
    defaults: dict[str, Any] = {"heads": 16, "layers": 28, "width": 3072, "feedforward": 24576}
    return of_llama_kind(
        fields,
        **defaults
        | {
            "context": 8192,
            "head_channels": fields.whole("head_dim", 256),
            "activation": "gelu_tanh",  # Gemma 1 was trained with it where its files say "gelu"
            "norm_gain": "one plus weight",
            "embedding_factor": max(width, 0) ** 0.5,
            "tied": True,
            "attention_bias": "all" if fields.flag("attention_bias", False) else "none",
        }
        | settings,
    )


def _gemma2(fields: Fields) -> TransformerConfiguration:
    return _of_gemma2_kind(
        fields,
        score_cap=fields.number_or_none("attn_logit_softcapping", 50.0),
        logit_cap=fields.number_or_none("final_logit_softcapping", 30.0),
        **read_windows(fields, fields.whole_or_none("sliding_window", 4096), "10"),
    )


def _gemma3(fields: Fields) -> TransformerConfiguration:
    every = fields.whole("sliding_window_pattern", fields.whole("_sliding_window_pattern", 6))
    return _of_gemma2_kind(
        fields,
        context=131072,
        query_key_norm="head",
        score_cap=fields.number_or_none("attn_logit_softcapping", 0.0),
        logit_cap=fields.number_or_none("final_logit_softcapping", 0.0),
        **read_windows(fields, fields.whole_or_none("sliding_window", 4096), all_but_each(every)),
        **read_two_bases(fields, 1000000.0, fields.number("rope_local_base_freq", 10000.0)),
    )


def _of_gemma2_kind(fields: Fields, **settings: Any) -> TransformerConfiguration:
    return _gemma(
        fields,
        layers=26,
        heads=8,
        key_value_heads=4,
        width=2304,
        feedforward=9216,
        embedding_factor=max(fields.whole("hidden_size", 2304), 0) ** 0.5,
        activation=read_activation(fields.word("hidden_activation", "gelu_pytorch_tanh")),
        norm="both",
        score_scale=fields.positive("query_pre_attn_scalar", 256) ** -0.5,
        **settings,
    )


LLAMA_KINDS: dict[str, Kind] = {
    "llama": llama_like(
        "Llama",
        "1 to 3: RMSNorm; gated feed-forward network; shared keys and values; scaled rotary positions",
        _llama,
    ),
    "mistral": llama_like("Mistral", "as Llama, with an attention window in the first version", _mistral),
    "ministral": llama_like("Ministral", "layers that alternate between a window and all", _ministral),
    "qwen2": llama_like("Qwen 2", "also 2.5: as Llama, with biases on queries, keys and values", _qwen2),
    "qwen3": llama_like("Qwen 3", "queries and keys are normalised head by head", _qwen3),
    "smollm3": llama_like("SmolLM 3", "every fourth layer knows nothing of positions", _smollm3),
    "granite": llama_like(
        "Granite", "multipliers on embeddings, scores, what is added, and logits", _granite
    ),
    "olmo2": llama_like(
        "OLMo 2",
        "what sublayers give is normalised, not what they read; queries and keys over all heads",
        _olmo2,
        LLAMA_NAMES | _NORMED_RESULTS,
    ),
    "olmo3": llama_like(
        "OLMo 3", "as OLMo 2, three in four layers with a window", _olmo3, LLAMA_NAMES | _NORMED_RESULTS
    ),
    "phi3": llama_like("Phi 3", "also 3.5 and 4: as Llama, with joined matrices", _phi3, _PHI3_NAMES),
    "gemma": llama_like("Gemma", "the first: norms by 1 + weight; embeddings times √width", _gemma),
    "gemma2": llama_like(
        "Gemma 2",
        "norms before and after each sublayer; soft caps on scores and logits; windows in every other layer",
        _gemma2,
        _GEMMA2_NAMES,
    ),
    "gemma3_text": llama_like(
        "Gemma 3",
        "of text alone: five in six layers have a window and a rotary base of their own",
        _gemma3,
        _GEMMA2_NAMES,
    ),
}
"""By the `model_type` of their `config.json`."""
