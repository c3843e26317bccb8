"""The kinds of checkpoints that lmviz opens: how each describes a Transformer, and how it names its weights.

`KINDS` is the one table. A new kind is a reader of its `config.json` and a table of names. In names, `*` is
the number of a layer, and `#` that of a head. Readers raise LmvizError, in a few words, for what the
Transformer does not compute. Where a field may be missing, its default is that of transformers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.interchange.fields import Fields
from lmviz.models.transformer_configuration import TransformerConfiguration

ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
    "relu2": "relu_squared",
    "silu": "silu",
    "swish": "silu",
    "linear": "identity",
}
"""The functions of transformers that lmviz has, by their names there."""

MOST_LAYERS = 1024
"""Layers that a pattern speaks of at most, whatever a file says."""


@dataclass(frozen=True)
class Half:
    """One half of the rows of a module there: what a kind has joined to one matrix."""

    name: str
    second: bool = False


Name = str | tuple[str, ...] | Half
Names = dict[str, Name]


@dataclass(frozen=True)
class Kind:
    """One kind of checkpoint.

    `title` is what a person calls it, and `about` what is special about it, for the guide. `names` gives for
    each module of the Transformer its module there, or the three of queries, keys and values; where they
    differ within a kind, `renamed` gives those of a configuration. `inside` is what stands before the names
    of all but the output. `transposed` modules hold their matrices as (feature, unit). With `by_group`,
    queries, keys and values come group by group, the queries of the group first, and not one after the other.
    `by_head` modules hold what they have as (head, channel). `ignored` are patterns of names that hold
    nothing learned.
    """

    title: str
    about: str
    configuration: Callable[[Fields], TransformerConfiguration]
    names: Names
    inside: str = ""
    renamed: Callable[[TransformerConfiguration], Names] = lambda _: {}
    transposed: frozenset[str] = field(default_factory=frozenset)
    by_group: bool = False
    by_head: frozenset[str] = field(default_factory=frozenset)
    ignored: tuple[str, ...] = ()


# Readers


def _gpt2(fields: Fields) -> TransformerConfiguration:
    return _of_gpt2_kind(
        fields,
        activation="gelu_new",
        score_scale_by_layer=fields.flag("scale_attn_by_inverse_layer_idx", False),
    )


def _gpt_bigcode(fields: Fields) -> TransformerConfiguration:
    return _of_gpt2_kind(
        fields,
        activation="gelu_pytorch_tanh",
        key_value_heads=1 if fields.flag("multi_query", True) else 0,
    )


def _of_gpt2_kind(fields: Fields, activation: str, **settings: Any) -> TransformerConfiguration:
    fields.refuse("add_cross_attention", "cross-attention")
    return TransformerConfiguration(
        layers=fields.whole("n_layer", 12),
        heads=fields.whole("n_head", 12),
        width=fields.whole("n_embd", 768),
        context=fields.whole("n_positions", 1024),
        feedforward=fields.whole("n_inner", 0),
        activation=_activation(fields.word("activation_function", activation)),
        norm_epsilon=fields.number("layer_norm_epsilon", 1e-5),
        tied=fields.flag("tie_word_embeddings", True),
        score_scale=0.0 if fields.flag("scale_attn_weights", True) else 1.0,
        **settings,
    )


def _gpt_neo(fields: Fields) -> TransformerConfiguration:
    layers = fields.whole("num_layers", 24)
    kinds = [
        kind for words, times in fields.pairs("attention_types") for kind in words * min(times, MOST_LAYERS)
    ]
    return TransformerConfiguration(
        layers=layers,
        heads=fields.whole("num_heads", 16),
        width=fields.whole("hidden_size", 2048),
        context=fields.whole("max_position_embeddings", 2048),
        feedforward=fields.whole("intermediate_size", 0),
        activation=_activation(fields.word("activation_function", "gelu_new")),
        norm_epsilon=fields.number("layer_norm_epsilon", 1e-5),
        tied=fields.flag("tie_word_embeddings", True),
        attention_bias="output",
        score_scale=1.0,
        attention_window=fields.whole("window_size", 256),
        window_layers=_pattern(kinds or fields.words("attention_layers"), "local", "global", "01"),
    )


def _gptj(fields: Fields) -> TransformerConfiguration:
    return TransformerConfiguration(
        layers=fields.whole("n_layer", 28),
        heads=fields.whole("n_head", 16),
        width=fields.whole("n_embd", 4096),
        context=fields.whole("n_positions", 2048),
        feedforward=fields.whole("n_inner", 0),
        activation=_activation(fields.word("activation_function", "gelu_new")),
        norm_epsilon=fields.number("layer_norm_epsilon", 1e-5),
        tied=fields.flag("tie_word_embeddings", False),
        output_bias=True,
        attention_bias="none",
        parallel=True,
        parallel_norm="shared",
        positions="rotary",
        rotary_pairs="neighbours",
        rotary_channels=fields.whole("rotary_dim", 64),
    )


def _gpt_neox(fields: Fields) -> TransformerConfiguration:
    sizes = _sizes(fields, layers=44, heads=64, width=6144, feedforward=24576)
    return TransformerConfiguration(
        **sizes,
        activation=_activation(fields.word("hidden_act", "gelu")),
        norm_epsilon=fields.number("layer_norm_eps", 1e-5),
        tied=fields.flag("tie_word_embeddings", False),
        parallel=fields.flag("use_parallel_residual", True),
        attention_bias="all" if fields.flag("attention_bias", True) else "none",
        **_rotary(fields, sizes, "rotary_emb_base", share=fields.number("rotary_pct", 0.25)),
    )


def _llama(fields: Fields) -> TransformerConfiguration:
    return _of_llama_kind(fields, **_biases(fields))


_MISTRAL: dict[str, Any] = {"context": 131072, "feedforward": 14336, "key_value_heads": 8}
_QWEN: dict[str, Any] = {"context": 32768, "feedforward": 22016}


def _mistral(fields: Fields) -> TransformerConfiguration:
    return _of_llama_kind(fields, **_MISTRAL, attention_window=fields.whole_or_none("sliding_window", 4096))


def _ministral(fields: Fields) -> TransformerConfiguration:
    window = fields.whole_or_none("sliding_window", 4096)
    return _of_llama_kind(fields, **_MISTRAL, **_windows(fields, window, "1"))


def _qwen2(fields: Fields) -> TransformerConfiguration:
    return _of_llama_kind(fields, **_QWEN, attention_bias="query key value", **_qwen_windows(fields))


def _qwen3(fields: Fields) -> TransformerConfiguration:
    return _of_llama_kind(
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
    return _windows(fields, fields.whole_or_none("sliding_window", 4096), "0" * free + "1" * (layers - free))


def _smollm3(fields: Fields) -> TransformerConfiguration:
    pattern = "".join(str(min(abs(turned), 1)) for turned in fields.wholes("no_rope_layers"))
    pattern = pattern or _every(fields.whole("no_rope_layer_interval", 4))
    window = fields.whole_or_none("sliding_window", 0) if fields.flag("use_sliding_window", False) else 0
    return _of_llama_kind(
        fields,
        layers=36,
        heads=16,
        key_value_heads=4,
        width=2048,
        context=32768,
        base=2000000.0,
        tied=True,
        rotary_layers=pattern,
        **_windows(fields, window, pattern.translate(_TURNED_ROUND)),
        **_biases(fields),
    )


_TURNED_ROUND = str.maketrans("01", "10")


def _granite(fields: Fields) -> TransformerConfiguration:
    return _of_llama_kind(
        fields,
        embedding_factor=fields.number("embedding_multiplier", 1.0),
        score_scale=fields.number("attention_multiplier", 1.0),
        residual_factor=fields.number("residual_multiplier", 1.0),
        logit_factor=1 / fields.number("logits_scaling", 1.0),
        **_biases(fields),
    )


def _olmo(fields: Fields) -> TransformerConfiguration:
    return _of_llama_kind(
        fields,
        norm_kind="layer",
        norm_gain="none",
        norm_bias=False,
        norm_epsilon=1e-5,
        attention_clip=fields.number_or_none("clip_qkv", 0.0),
        attention_bias="all" if fields.flag("attention_bias", False) else "none",
    )


def _olmo2(fields: Fields, **settings: Any) -> TransformerConfiguration:
    return _of_llama_kind(
        fields,
        norm="result",
        norm_epsilon=fields.number("rms_norm_eps", 1e-5),
        query_key_norm="all",
        attention_bias="all" if fields.flag("attention_bias", False) else "none",
        **settings,
    )


def _olmo3(fields: Fields) -> TransformerConfiguration:
    windows = _windows(fields, fields.whole_or_none("sliding_window", 4096), "1110")
    return _olmo2(fields, base=500000.0, **windows, **_two_bases(fields, 500000.0, 500000.0))


def _phi3(fields: Fields) -> TransformerConfiguration:
    return _of_llama_kind(
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
    return _of_llama_kind(
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
        **_windows(fields, fields.whole_or_none("sliding_window", 4096), "10"),
    )


def _gemma3(fields: Fields) -> TransformerConfiguration:
    every = fields.whole("sliding_window_pattern", fields.whole("_sliding_window_pattern", 6))
    return _of_gemma2_kind(
        fields,
        context=131072,
        query_key_norm="head",
        score_cap=fields.number_or_none("attn_logit_softcapping", 0.0),
        logit_cap=fields.number_or_none("final_logit_softcapping", 0.0),
        **_windows(fields, fields.whole_or_none("sliding_window", 4096), _every(every)),
        **_two_bases(fields, 1000000.0, fields.number("rope_local_base_freq", 10000.0)),
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
        activation=_activation(fields.word("hidden_activation", "gelu_pytorch_tanh")),
        norm="both",
        score_scale=fields.number("query_pre_attn_scalar", 256) ** -0.5,
        **settings,
    )


def _phi(fields: Fields) -> TransformerConfiguration:
    sizes = _sizes(fields, layers=24, heads=32, width=2048, feedforward=8192)
    return TransformerConfiguration(
        **sizes,
        activation=_activation(fields.word("hidden_act", "gelu_new")),
        norm_epsilon=fields.number("layer_norm_eps", 1e-5),
        query_key_norm="head" if fields.flag("qk_layernorm", False) else "none",
        parallel=True,
        parallel_norm="shared",
        tied=fields.flag("tie_word_embeddings", False),
        output_bias=True,
        **_rotary(fields, sizes, share=0.5),
    )


def _stablelm(fields: Fields) -> TransformerConfiguration:
    sizes = _sizes(fields, layers=32, heads=32, width=2560, feedforward=6912, context=4096)
    return TransformerConfiguration(
        **sizes,
        activation=_activation(fields.word("hidden_act", "silu")),
        gated=True,
        norm_epsilon=fields.number("layer_norm_eps", 1e-5),
        query_key_norm="heads" if fields.flag("qk_layernorm", False) else "none",
        parallel=fields.flag("use_parallel_residual", False),
        parallel_norm="shared",
        attention_bias="query key value" if fields.flag("use_qkv_bias", False) else "none",
        feedforward_bias=False,
        tied=fields.flag("tie_word_embeddings", False),
        **_rotary(fields, sizes, share=fields.number("rope_pct", 0.25)),
    )


def _starcoder2(fields: Fields) -> TransformerConfiguration:
    sizes = _sizes(
        fields, layers=30, heads=24, width=3072, feedforward=12288, context=4096, key_value_heads=2
    )
    biased = fields.flag("use_bias", True)
    return TransformerConfiguration(
        **sizes,
        activation=_activation(fields.word("hidden_act", "gelu_pytorch_tanh")),
        norm_epsilon=fields.number("norm_epsilon", 1e-5),
        attention_bias="all" if biased else "none",
        feedforward_bias=biased,
        attention_window=fields.whole_or_none("sliding_window", 0),
        tied=fields.flag("tie_word_embeddings", True),
        **_rotary(fields, sizes),
    )


def _nemotron(fields: Fields) -> TransformerConfiguration:
    sizes = _sizes(fields, layers=32, heads=48, width=6144, feedforward=24576, context=4096)
    return TransformerConfiguration(
        **sizes,
        activation=_activation(fields.word("hidden_act", "relu2")),
        norm_epsilon=fields.number("norm_eps", 1e-5),
        norm_gain="one plus weight",
        tied=fields.flag("tie_word_embeddings", False),
        **_biases(fields),
        **_rotary(fields, sizes, share=0.5),
    )


def _cohere(fields: Fields) -> TransformerConfiguration:
    return _of_cohere_kind(
        fields, base=500000.0, query_key_norm="heads" if fields.flag("use_qk_norm", False) else "none"
    )


def _cohere2(fields: Fields) -> TransformerConfiguration:
    """Layers that look at all know nothing of positions."""
    every = fields.whole("sliding_window_pattern", 4)
    windows = _windows(fields, fields.whole_or_none("sliding_window", 4096), _every(every))
    return _of_cohere_kind(fields, **windows, rotary_layers=windows.get("window_layers", "0"))


def _of_cohere_kind(fields: Fields, base: float = 10000.0, **settings: Any) -> TransformerConfiguration:
    sizes = _sizes(fields, layers=40, heads=64, width=8192, feedforward=22528, context=8192)
    return TransformerConfiguration(
        **sizes
        | {
            "activation": _activation(fields.word("hidden_act", "silu")),
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
        | _rotary(fields, sizes, default=base)
        | settings
    )


def _opt(fields: Fields) -> TransformerConfiguration:
    width = fields.whole("hidden_size", 768)
    narrow = fields.whole("word_embed_proj_dim", width)
    fields.refuse("_remove_final_layer_norm", "an end of the stream that is not normalised")
    gains, biased = fields.flag("layer_norm_elementwise_affine", True), fields.flag("enable_bias", True)
    return TransformerConfiguration(
        layers=fields.whole("num_hidden_layers", 12),
        heads=fields.whole("num_attention_heads", 12),
        width=width,
        context=fields.whole("max_position_embeddings", 2048),
        feedforward=fields.whole("ffn_dim", 3072),
        activation=_activation(fields.word("activation_function", "relu")),
        norm="pre" if fields.flag("do_layer_norm_before", True) else "post",
        norm_gain="weight" if gains else "none",
        norm_bias=gains,
        attention_bias="all" if biased else "none",
        feedforward_bias=biased,
        position_offset=2,
        embedding_width=narrow if narrow != width else 0,
        tied=fields.flag("tie_word_embeddings", True),
    )


def _falcon(fields: Fields) -> TransformerConfiguration:
    width = fields.whole("hidden_size", fields.whole("n_embed", 4544))
    heads = fields.whole("num_attention_heads", fields.whole("n_head", 71))
    new, several = fields.flag("new_decoder_architecture", False), not fields.flag("multi_query", True)
    norms = fields.whole("num_ln_in_parallel_attn", 2 if new else 1)
    groups = fields.whole("num_kv_heads", heads) if new or several else 1
    biased = fields.flag("bias", False)
    sizes: dict[str, Any] = {
        "layers": fields.whole("num_hidden_layers", fields.whole("n_layer", 32)),
        "heads": heads,
        "key_value_heads": groups,
        "width": width,
        "context": fields.whole("max_position_embeddings", 2048),
        "feedforward": fields.whole("ffn_hidden_size", 0),
    }
    positions = (
        {"positions": "alibi", "alibi_slopes": "bfloat16"}
        if fields.flag("alibi", False)
        else _rotary(fields, sizes)
    )
    return TransformerConfiguration(
        **sizes,
        activation=_activation(fields.word("activation", "gelu")),
        norm_epsilon=fields.number("layer_norm_epsilon", 1e-5),
        parallel=new or fields.flag("parallel_attn", True),
        parallel_norm="own" if new and norms == 2 else "shared",
        attention_bias="all" if biased else "none",
        feedforward_bias=biased,
        tied=fields.flag("tie_word_embeddings", True),
        **positions,
    )


def _falcon_names(configuration: TransformerConfiguration) -> Names:
    if not configuration.parallel or configuration.norm_is_shared:
        return {}
    return {"layers.*.norm1": "h.*.ln_attn", "layers.*.norm2": "h.*.ln_mlp"}


def _bloom(fields: Fields) -> TransformerConfiguration:
    fields.refuse("apply_residual_connection_post_layernorm", "a stream that is normalised in passing")
    return TransformerConfiguration(
        layers=fields.whole("n_layer", fields.whole("num_hidden_layers", 2)),
        heads=fields.whole("n_head", fields.whole("num_attention_heads", 8)),
        width=fields.whole("hidden_size", fields.whole("n_embed", 64)),
        context=fields.whole("seq_length", 2048),
        activation="gelu_tanh",
        norm_epsilon=fields.number("layer_norm_epsilon", 1e-5),
        embedding_norm=True,
        tied=fields.flag("tie_word_embeddings", True),
        positions="alibi",
        alibi_slopes="powers",
    )


def _mpt(fields: Fields) -> TransformerConfiguration:
    attention = fields.inner("attn_config")
    attention.refuse("qk_ln", "normalised queries and keys in a way of its own")
    attention.refuse("prefix_lm", "a beginning that is read both ways")
    if attention.word("attn_type", "multihead_attention") != "multihead_attention":
        raise LmvizError("its attn_type is none that transformers computes")
    if not attention.flag("alibi", True):
        raise LmvizError(
            "its attn_config asks for positions that transformers does not compute for this kind"
        )
    if not fields.flag("no_bias", True):
        raise LmvizError("its no_bias asks for biases, which transformers does not compute for this kind")
    width = fields.whole("d_model", 2048)
    return TransformerConfiguration(
        layers=fields.whole("n_layers", 24),
        heads=fields.whole("n_heads", 16),
        width=width,
        context=fields.whole("max_seq_len", 2048),
        feedforward=fields.whole("expansion_ratio", 4) * width,
        activation="gelu",
        norm_epsilon=fields.number("layer_norm_epsilon", 1e-5),
        norm_bias=False,
        attention_bias="none",
        feedforward_bias=False,
        attention_clip=attention.number_or_none("clip_qkv", 0.0),
        score_scale=attention.number_or_none("softmax_scale", 0.0),
        tied=fields.flag("tie_word_embeddings", True),
        positions="alibi",
        alibi_slopes="powers",
        alibi_steepness=attention.number("alibi_bias_max", 8),
    )


# What readers have in common


def _of_llama_kind(
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
    sizes = _sizes(
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
        usual["activation"] = _activation(fields.word("hidden_act", "silu"))
    if "norm_epsilon" not in settings:
        usual["norm_epsilon"] = fields.number("rms_norm_eps", 1e-6)
    sizes |= {name: settings[name] for name in settings.keys() & {"head_channels"}}
    rotary = _rotary(fields, sizes, default=base)
    return TransformerConfiguration(**usual | sizes | rotary | settings)


def _sizes(
    fields: Fields,
    *,
    layers: int,
    heads: int,
    width: int,
    feedforward: int,
    context: int = 2048,
    key_value_heads: int = 0,
) -> dict[str, Any]:
    """The sizes under the names that most kinds have for them, or these where they are missing.

    A text that is longer than the original context would turn all positions anew where angles are scaled by
    longrope, so that what has been read of it could not be kept: the context ends there.
    """
    longest = fields.whole("max_position_embeddings", context)
    if _scaling_of(_rope(fields)) == "longrope":
        longest = min(longest, _original(fields, longest))
    return {
        "layers": fields.whole("num_hidden_layers", layers),
        "heads": fields.whole("num_attention_heads", heads),
        "key_value_heads": fields.whole_or_none("num_key_value_heads", key_value_heads),
        "head_channels": fields.whole("head_dim", 0),
        "width": fields.whole("hidden_size", width),
        "context": longest,
        "feedforward": fields.whole("intermediate_size", feedforward),
    }


def _rope(fields: Fields) -> Fields:
    """What is said of rotary positions; newer files keep all of it in `rope_parameters`."""
    rotary = fields.inner("rope_parameters", "rope_scaling")
    return rotary.inner("full_attention") if rotary.has("full_attention") else rotary


def _scaling_of(rotary: Fields) -> str:
    """How angles are scaled; Phi 3 first called longrope "su" and "yarn"."""
    return (
        "longrope" if rotary.has("short_factor") else rotary.word("rope_type", rotary.word("type", "default"))
    )


def _original(fields: Fields, context: int) -> int:
    """The context that the model was first trained on."""
    whole = fields.whole("original_max_position_embeddings", context)
    return _rope(fields).whole("original_max_position_embeddings", whole)


def _biases(fields: Fields) -> dict[str, Any]:
    return {
        "attention_bias": "all" if fields.flag("attention_bias", False) else "none",
        "feedforward_bias": fields.flag("mlp_bias", False),
    }


def _rotary(
    fields: Fields,
    sizes: Mapping[str, Any],
    name: str = "rope_theta",
    default: float = 10000.0,
    share: float = 1.0,
) -> dict[str, Any]:
    """The settings of rotary positions.

    `share` is that of a head's channels which are turned, where the file says nothing. NTK scaling
    ("dynamic") begins behind the context, and so changes nothing in it.
    """
    rotary = _rope(fields)
    share = rotary.number("partial_rotary_factor", fields.number("partial_rotary_factor", share))
    if not 0 <= share <= 1:
        raise LmvizError("its share of channels that are turned is no share")
    turned = int((sizes.get("head_channels") or sizes["width"] // max(sizes["heads"], 1)) * share)
    if not turned:
        return {"positions": "none"}
    settings: dict[str, Any] = {
        "positions": "rotary",
        "rotary_base": rotary.number("rope_theta", fields.number(name, default)),
        "rotary_channels": turned if share < 1 else 0,
    }
    scaling = _scaling_of(rotary)
    if scaling in ("default", "dynamic"):
        return settings
    if scaling not in ("linear", "llama3", "yarn", "longrope"):
        raise LmvizError(f"its rotary positions are scaled by {scaling[:40]!r}, which lmviz does not compute")
    original = _original(fields, sizes["context"])
    if scaling == "longrope":
        longest = fields.whole("max_position_embeddings", sizes["context"])
        factor = rotary.number("factor", longest / max(original, 1))
        magnitude = math.sqrt(1 + math.log(factor) / math.log(original)) if factor > 1 < original else 1.0
        return settings | {
            "rotary_scaling": scaling,
            "rotary_divisors": " ".join(map(repr, rotary.numbers("short_factor"))),
            "rotary_magnitude": rotary.number("attention_factor", magnitude),
        }
    if scaling == "yarn":
        factor = rotary.number("factor", sizes["context"] / max(original, 1))
        return settings | {
            "rotary_scaling": scaling,
            "rotary_factor": factor,
            "rotary_fast": rotary.number("beta_fast", 32.0) or 32.0,
            "rotary_slow": rotary.number("beta_slow", 1.0) or 1.0,
            "rotary_original": original,
            "rotary_whole": rotary.flag("truncate", True),
            "rotary_magnitude": rotary.number("attention_factor", _yarn_magnitude(rotary, factor)),
        }
    settings |= {"rotary_scaling": scaling, "rotary_factor": rotary.number("factor")}
    if scaling == "llama3":
        settings |= {
            "rotary_slow": rotary.number("low_freq_factor"),
            "rotary_fast": rotary.number("high_freq_factor"),
            "rotary_original": original,
        }
    return settings


def _yarn_magnitude(rotary: Fields, factor: float) -> float:
    """How much longer YaRN makes queries and keys (Peng et al. 2023, section 3.4)."""

    def magnitude(weight: float) -> float:
        return 0.1 * weight * math.log(factor) + 1.0 if factor > 1 else 1.0

    first, second = rotary.number("mscale", 0.0), rotary.number("mscale_all_dim", 0.0)
    return magnitude(first) / magnitude(second) if first and second else magnitude(1.0)


def _two_bases(fields: Fields, all_seen: float, windowed: float) -> dict[str, Any]:
    """The base of layers that look at all, and that of those with a window."""
    rotary = fields.inner("rope_parameters", "rope_scaling")
    base = rotary.inner("full_attention").number("rope_theta", fields.number("rope_theta", all_seen))
    windowed = rotary.inner("sliding_attention").number("rope_theta", windowed)
    return {"rotary_base": base, "rotary_window_base": windowed}


def _every(number: int) -> str:
    """The pattern of layers in which every so-manieth has not what the others have."""
    return "1" * (min(number, MOST_LAYERS) - 1) + "0"


def _windows(fields: Fields, window: int, pattern: str) -> dict[str, Any]:
    """Which layers have a window: those that `layer_types` names, or else those of a pattern."""
    if not window:
        return {}
    kinds = fields.words("layer_types")
    return {
        "attention_window": window,
        "window_layers": _pattern(kinds, "sliding_attention", "full_attention", pattern),
    }


def _pattern(kinds: tuple[str, ...] | list[str], one: str, other: str, default: str) -> str:
    """A 1 for each of these kinds of layers that is `one`, and a 0 for each `other`."""
    for kind in kinds:
        if kind not in (one, other):
            raise LmvizError(f"its layers of kind {kind[:40]!r} are none that lmviz computes")
    return "".join("1" if kind == one else "0" for kind in kinds) or default or "0"


def _activation(name: str) -> str:
    if name not in ACTIVATIONS:
        raise LmvizError(f"its activation {name[:40]!r} is none of {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]


# Names of weights

GPT2_NAMES: Names = {
    "embedding": "wte",
    "positions": "wpe",
    "layers.*.norm1": "h.*.ln_1",
    "layers.*.attention.input": "h.*.attn.c_attn",
    "layers.*.attention.output": "h.*.attn.c_proj",
    "layers.*.norm2": "h.*.ln_2",
    "layers.*.feedforward.hidden": "h.*.mlp.c_fc",
    "layers.*.feedforward.output": "h.*.mlp.c_proj",
    "norm": "ln_f",
    "output": "lm_head",
}


def _three(place: str, *ends: str) -> tuple[str, ...]:
    """The modules of queries, keys and values in a place."""
    return tuple(f"layers.*.{place}.{end}" for end in ends or ("q_proj", "k_proj", "v_proj"))


_LLAMA_NAMES: Names = {
    "embedding": "embed_tokens",
    "layers.*.norm1": "layers.*.input_layernorm",
    "layers.*.attention.input": _three("self_attn"),
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

_NORMED_RESULTS: Names = {
    "layers.*.attention.normed": "layers.*.post_attention_layernorm",
    "layers.*.feedforward.normed": "layers.*.post_feedforward_layernorm",
}

_GPT_NEOX_NAMES: Names = {
    "embedding": "embed_in",
    "layers.*.norm1": "layers.*.input_layernorm",
    "layers.*.attention.input": "layers.*.attention.query_key_value",
    "layers.*.attention.output": "layers.*.attention.dense",
    "layers.*.norm2": "layers.*.post_attention_layernorm",
    "layers.*.feedforward.hidden": "layers.*.mlp.dense_h_to_4h",
    "layers.*.feedforward.output": "layers.*.mlp.dense_4h_to_h",
    "norm": "final_layer_norm",
    "output": "embed_out",
}

_BLOOM_NAMES: Names = {
    "embedding": "word_embeddings",
    "embedding_norm": "word_embeddings_layernorm",
    "layers.*.norm1": "h.*.input_layernorm",
    "layers.*.attention.input": "h.*.self_attention.query_key_value",
    "layers.*.attention.output": "h.*.self_attention.dense",
    "layers.*.norm2": "h.*.post_attention_layernorm",
    "layers.*.feedforward.hidden": "h.*.mlp.dense_h_to_4h",
    "layers.*.feedforward.output": "h.*.mlp.dense_4h_to_h",
    "norm": "ln_f",
    "output": "lm_head",
}

_GPT_NEO_NAMES: Names = GPT2_NAMES | {
    "layers.*.attention.input": tuple(f"h.*.attn.attention.{letter}_proj" for letter in "qkv"),
    "layers.*.attention.output": "h.*.attn.attention.out_proj",
}

_GPTJ_NAMES: Names = GPT2_NAMES | {
    "layers.*.attention.input": tuple(f"h.*.attn.{letter}_proj" for letter in "qkv"),
    "layers.*.attention.output": "h.*.attn.out_proj",
    "layers.*.feedforward.hidden": "h.*.mlp.fc_in",
    "layers.*.feedforward.output": "h.*.mlp.fc_out",
}

_OPT_NAMES: Names = {
    "embedding": "embed_tokens",
    "embedding_input": "project_in",
    "embedding_output": "project_out",
    "positions": "embed_positions",
    "layers.*.norm1": "layers.*.self_attn_layer_norm",
    "layers.*.attention.input": _three("self_attn"),
    "layers.*.attention.output": "layers.*.self_attn.out_proj",
    "layers.*.norm2": "layers.*.final_layer_norm",
    "layers.*.feedforward.hidden": "layers.*.fc1",
    "layers.*.feedforward.output": "layers.*.fc2",
    "norm": "final_layer_norm",
    "output": "lm_head",
}

_MPT_NAMES: Names = {
    "embedding": "wte",
    "layers.*.norm1": "blocks.*.norm_1",
    "layers.*.attention.input": "blocks.*.attn.Wqkv",
    "layers.*.attention.output": "blocks.*.attn.out_proj",
    "layers.*.norm2": "blocks.*.norm_2",
    "layers.*.feedforward.hidden": "blocks.*.ffn.up_proj",
    "layers.*.feedforward.output": "blocks.*.ffn.down_proj",
    "norm": "norm_f",
    "output": "lm_head",
}

_PHI_NAMES: Names = _LLAMA_NAMES | {
    "layers.*.attention.query_norm": "layers.*.self_attn.q_layernorm",
    "layers.*.attention.key_norm": "layers.*.self_attn.k_layernorm",
    "layers.*.attention.output": "layers.*.self_attn.dense",
    "layers.*.feedforward.hidden": "layers.*.mlp.fc1",
    "layers.*.feedforward.output": "layers.*.mlp.fc2",
    "norm": "final_layernorm",
}

_PHI3_NAMES: Names = _LLAMA_NAMES | {
    "layers.*.attention.input": "layers.*.self_attn.qkv_proj",
    "layers.*.feedforward.gate": Half("layers.*.mlp.gate_up_proj"),
    "layers.*.feedforward.hidden": Half("layers.*.mlp.gate_up_proj", second=True),
}

_STABLELM_NAMES: Names = _LLAMA_NAMES | {
    "layers.*.attention.query_norm": "layers.*.self_attn.q_layernorm.norms.#",
    "layers.*.attention.key_norm": "layers.*.self_attn.k_layernorm.norms.#",
}

_STARCODER2_NAMES: Names = _LLAMA_NAMES | {
    "layers.*.feedforward.hidden": "layers.*.mlp.c_fc",
    "layers.*.feedforward.output": "layers.*.mlp.c_proj",
}

_GEMMA2_NAMES: Names = (
    _LLAMA_NAMES | _NORMED_RESULTS | {"layers.*.norm2": "layers.*.pre_feedforward_layernorm"}
)

MASKS = ("h.*.attn.bias", "h.*.attn.masked_bias")
"""The causal mask, which GPT-2 and its relatives once stored with their weights."""

_TURNS = ("layers.*.self_attn.rotary_emb.inv_freq",)
"""The speeds of rotary positions, which were once stored too."""

GPT2 = Kind(
    "GPT-2",
    "learned positions",
    _gpt2,
    GPT2_NAMES,
    inside="transformer.",
    transposed=frozenset(name for name in GPT2_NAMES if "attention" in name or "feedforward" in name),
    ignored=MASKS,
)


def _llama_like(
    title: str,
    about: str,
    configuration: Callable[[Fields], TransformerConfiguration],
    names: Names = _LLAMA_NAMES,
    by_head: tuple[str, ...] = (),
) -> Kind:
    return Kind(title, about, configuration, names, "model.", by_head=frozenset(by_head), ignored=_TURNS)


KINDS: dict[str, Kind] = {
    "gpt2": GPT2,
    "gpt_neo": Kind(
        "GPT-Neo",
        "every other layer looks at the last 256 tokens; scores are not scaled",
        _gpt_neo,
        _GPT_NEO_NAMES,
        "transformer.",
        ignored=("h.*.attn.attention.bias", "h.*.attn.attention.masked_bias"),
    ),
    "gptj": Kind(
        "GPT-J",
        "rotary positions that turn neighbouring channels; attention and feed-forward network side by side",
        _gptj,
        _GPTJ_NAMES,
        "transformer.",
        ignored=MASKS,
    ),
    "gpt_neox": Kind(
        "GPT-NeoX",
        "also Pythia: rotary positions on a part of each head; sublayers side by side",
        _gpt_neox,
        _GPT_NEOX_NAMES,
        "gpt_neox.",
        by_group=True,
        ignored=(
            "layers.*.attention.bias",
            "layers.*.attention.masked_bias",
            "layers.*.attention.rotary_emb.inv_freq",
        ),
    ),
    "gpt_bigcode": Kind(
        "GPT-BigCode",
        "also StarCoder: as GPT-2, with one head of keys and values for all heads",
        _gpt_bigcode,
        GPT2_NAMES,
        "transformer.",
        by_group=True,
        ignored=MASKS,
    ),
    "opt": Kind("OPT", "learned positions, counted from 2; ReLU", _opt, _OPT_NAMES, inside="model.decoder."),
    "bloom": Kind(
        "BLOOM",
        "ALiBi; what enters the stream is normalised",
        _bloom,
        _BLOOM_NAMES,
        "transformer.",
        by_group=True,
    ),
    "mpt": Kind("MPT", "ALiBi; no biases at all", _mpt, _MPT_NAMES, "transformer."),
    "falcon": Kind(
        "Falcon",
        "shared keys and values; sublayers side by side, or ALiBi rounded to bfloat16 (RW)",
        _falcon,
        _BLOOM_NAMES,
        "transformer.",
        renamed=_falcon_names,
        by_group=True,
        ignored=("h.*.self_attention.rotary.inv_freq", "h.*.self_attention.rotary_emb.inv_freq"),
    ),
    "llama": _llama_like(
        "Llama",
        "1 to 3: RMSNorm; gated feed-forward network; shared keys and values; scaled rotary positions",
        _llama,
    ),
    "mistral": _llama_like("Mistral", "as Llama, with an attention window in the first version", _mistral),
    "ministral": _llama_like("Ministral", "layers that alternate between a window and all", _ministral),
    "qwen2": _llama_like("Qwen 2", "also 2.5: as Llama, with biases on queries, keys and values", _qwen2),
    "qwen3": _llama_like("Qwen 3", "queries and keys are normalised head by head", _qwen3),
    "smollm3": _llama_like("SmolLM 3", "every fourth layer knows nothing of positions", _smollm3),
    "granite": _llama_like(
        "Granite", "multipliers on embeddings, scores, what is added, and logits", _granite
    ),
    "olmo": _llama_like("OLMo", "the first: layer normalisation that learns nothing; clipped queries", _olmo),
    "olmo2": _llama_like(
        "OLMo 2",
        "what sublayers give is normalised, not what they read; queries and keys over all heads",
        _olmo2,
        _LLAMA_NAMES | _NORMED_RESULTS,
    ),
    "olmo3": _llama_like(
        "OLMo 3", "as OLMo 2, three in four layers with a window", _olmo3, _LLAMA_NAMES | _NORMED_RESULTS
    ),
    "gemma": _llama_like("Gemma", "the first: norms by 1 + weight; embeddings times √width", _gemma),
    "gemma2": _llama_like(
        "Gemma 2",
        "norms before and after each sublayer; soft caps on scores and logits; windows in every other layer",
        _gemma2,
        _GEMMA2_NAMES,
    ),
    "gemma3_text": _llama_like(
        "Gemma 3",
        "of text alone: five in six layers have a window and a rotary base of their own",
        _gemma3,
        _GEMMA2_NAMES,
    ),
    "phi": _llama_like(
        "Phi",
        "1, 1.5 and 2: sublayers side by side that share one norm; rotary positions on a part of each head",
        _phi,
        _PHI_NAMES,
    ),
    "phi3": _llama_like("Phi 3", "also 3.5 and 4: as Llama, with joined matrices", _phi3, _PHI3_NAMES),
    "stablelm": _llama_like(
        "StableLM", "layer normalisation; rotary positions on a part of each head", _stablelm, _STABLELM_NAMES
    ),
    "starcoder2": _llama_like(
        "StarCoder 2", "layer normalisation, biases, shared keys and values", _starcoder2, _STARCODER2_NAMES
    ),
    "nemotron": _llama_like("Nemotron", "squared ReLU; layer normalisation by 1 + weight", _nemotron),
    "cohere": _llama_like(
        "Cohere",
        "Command R: sublayers side by side that share one norm; neighbouring channels turn; scaled logits",
        _cohere,
        by_head=("layers.*.attention.query_norm", "layers.*.attention.key_norm"),
    ),
    "cohere2": _llama_like(
        "Cohere 2", "Command R7B: as Cohere; layers that look at all know nothing of positions", _cohere2
    ),
}
"""The kinds by the `model_type` of their `config.json`."""

OTHERS: dict[str, str] = {
    "a mixture of experts, of which lmviz shows one network alone": (
        "mixtral qwen2_moe qwen3_moe phimoe olmoe deepseek_v2 deepseek_v3 dbrx gpt_oss granitemoe "
        "granitemoeshared jetmoe llama4 llama4_text glm4_moe ernie4_5_moe hunyuan_v1_moe flex_olmo "
        "minimax minimax_m2 dots1"
    ),
    "a state space model, or has layers of one": (
        "mamba mamba2 falcon_mamba jamba zamba zamba2 bamba falcon_h1 nemotron_h granitemoehybrid "
        "recurrent_gemma rwkv xlstm qwen3_next lfm2 lfm2_moe"
    ),
    "an encoder with a decoder": (
        "t5 mt5 umt5 longt5 switch_transformers bart mbart marian pegasus pegasus_x blenderbot "
        "blenderbot-small m2m_100 fsmt prophetnet led mvp encoder-decoder nllb-moe t5gemma plbart "
        "bigbird_pegasus"
    ),
    "an encoder, which fills in words and continues no text": (
        "bert roberta distilbert albert electra deberta deberta-v2 xlm-roberta camembert modernbert "
        "mpnet mobilebert squeezebert funnel longformer big_bird roformer ernie nomic_bert eurobert "
        "xlm xlnet esm"
    ),
    "a model of pictures, or of pictures and words": (
        "clip siglip vit deit swin dinov2 blip blip-2 llava llava_next paligemma gemma3 gemma3n "
        "mllama idefics idefics2 idefics3 smolvlm qwen2_vl qwen2_5_vl qwen3_vl mistral3 pixtral "
        "internvl phi4_multimodal git kosmos-2 florence2 vision-encoder-decoder chameleon imagegpt"
    ),
    "a model of sounds": (
        "whisper wav2vec2 hubert wavlm speecht5 musicgen bark seamless_m4t speech_to_text moshi "
        "qwen2_audio granite_speech voxtral"
    ),
}
"""What is another kind of thing: what that is, and the `model_type` of each."""


def kind_of(name: str) -> Kind:
    """The kind of a `model_type`; LmvizError with what it is where it is none that can be opened."""
    if name in KINDS:
        return KINDS[name]
    for what, names in OTHERS.items():
        if name in names.split():
            raise LmvizError(f"its model_type {name!r} is {what}")
    raise LmvizError(f"its model_type {name[:40]!r} is none of {', '.join(KINDS)}")
