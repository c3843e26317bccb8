"""The kinds of checkpoints that lmviz opens: how each describes a Transformer, and how it names its weights.

`KINDS` is the one table. A new kind is a reader of its `config.json` and a table of names. In names, `*` is
the number of a layer. Readers raise LmvizError, in a few words, for what the Transformer does not compute.
"""

from __future__ import annotations

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
    "silu": "silu",
    "swish": "silu",
    "linear": "identity",
}
"""The functions of transformers that lmviz has, by their names there."""


@dataclass(frozen=True)
class Kind:
    """One kind of checkpoint.

    `names` gives for each module of the Transformer its module there, or the three of queries, keys and
    values. `inside` is what stands before the names of all but the output. `transposed` modules hold their
    matrices as (feature, unit). With `by_head`, queries, keys and values come head by head and not one after
    the other. `ignored` are patterns of names that hold nothing learned.
    """

    title: str
    configuration: Callable[[Fields], TransformerConfiguration]
    names: Mapping[str, str | tuple[str, str, str]]
    inside: str = ""
    transposed: frozenset[str] = field(default_factory=frozenset)
    by_head: bool = False
    ignored: tuple[str, ...] = ()


def _gpt2(fields: Fields) -> TransformerConfiguration:
    fields.refuse("scale_attn_by_inverse_layer_idx", "scores that are scaled by the layer")
    fields.refuse("add_cross_attention", "cross-attention")
    if not fields.flag("scale_attn_weights", True):
        raise LmvizError("its scale_attn_weights asks for unscaled scores, which lmviz does not compute")
    return TransformerConfiguration(
        layers=fields.whole("n_layer", 12),
        heads=fields.whole("n_head", 12),
        width=fields.whole("n_embd", 768),
        context=fields.whole("n_positions", 1024),
        feedforward=fields.whole("n_inner", 0),
        activation=_activation(fields.word("activation_function", "gelu_new")),
        norm_epsilon=fields.number("layer_norm_epsilon", 1e-5),
        tied=fields.flag("tie_word_embeddings", True),
    )


def _gpt_neox(fields: Fields) -> TransformerConfiguration:
    heads, width = fields.whole("num_attention_heads", 64), fields.whole("hidden_size", 6144)
    rotary = fields.inner("rope_parameters", "rope_scaling")
    share = rotary.number("partial_rotary_factor", fields.number("rotary_pct", 0.25))
    if not 0 <= share <= 1:
        raise LmvizError("its rotary_pct is no share")
    turned = int(width // max(heads, 1) * share)
    return TransformerConfiguration(
        layers=fields.whole("num_hidden_layers", 44),
        heads=heads,
        width=width,
        context=fields.whole("max_position_embeddings", 2048),
        feedforward=fields.whole("intermediate_size", 24576),
        activation=_activation(fields.word("hidden_act", "gelu")),
        norm_epsilon=fields.number("layer_norm_eps", 1e-5),
        tied=fields.flag("tie_word_embeddings", False),
        parallel=fields.flag("use_parallel_residual", True),
        attention_bias="all" if fields.flag("attention_bias", True) else "none",
        positions="rotary" if turned else "none",
        **(_rotary(fields, "rotary_emb_base", turned) if turned else {}),
    )


def _llama(fields: Fields) -> TransformerConfiguration:
    return _of_llama_kind(
        fields,
        attention_bias="all" if fields.flag("attention_bias", False) else "none",
        feedforward_bias=fields.flag("mlp_bias", False),
    )


def _mistral(fields: Fields) -> TransformerConfiguration:
    _refuse_window(fields, "sliding_window")
    return _of_llama_kind(fields, attention_bias="none", feedforward_bias=False)


def _qwen2(fields: Fields) -> TransformerConfiguration:
    if fields.flag("use_sliding_window", False):
        _refuse_window(fields, "sliding_window")
    return _of_llama_kind(fields, attention_bias="query key value", feedforward_bias=False)


def _of_llama_kind(fields: Fields, **biases: Any) -> TransformerConfiguration:
    heads = fields.whole("num_attention_heads", 32)
    return TransformerConfiguration(
        layers=fields.whole("num_hidden_layers", 32),
        heads=heads,
        key_value_heads=fields.whole("num_key_value_heads", heads),
        head_channels=fields.whole("head_dim", 0),
        width=fields.whole("hidden_size", 4096),
        context=fields.whole("max_position_embeddings", 2048),
        feedforward=fields.whole("intermediate_size", 11008),
        activation=_activation(fields.word("hidden_act", "silu")),
        gated=True,
        norm_kind="rms",
        norm_epsilon=fields.number("rms_norm_eps", 1e-6),
        tied=fields.flag("tie_word_embeddings", False),
        positions="rotary",
        **biases,
        **_rotary(fields, "rope_theta", 0),
    )


def _rotary(fields: Fields, base: str, channels: int) -> dict[str, Any]:
    """The settings of rotary positions; newer files keep all that is about them in `rope_parameters`."""
    rotary = fields.inner("rope_parameters", "rope_scaling")
    settings: dict[str, Any] = {
        "rotary_base": rotary.number("rope_theta", fields.number(base, 10000.0)),
        "rotary_channels": channels,
    }
    scaling = rotary.word("rope_type", rotary.word("type", "default"))
    if scaling == "default":
        return settings
    if scaling not in ("linear", "llama3"):
        raise LmvizError(f"its rotary positions are scaled by {scaling!r}, which lmviz does not compute")
    settings |= {"rotary_scaling": scaling, "rotary_factor": rotary.number("factor")}
    if scaling == "llama3":
        settings |= {
            "rotary_slow": rotary.number("low_freq_factor"),
            "rotary_fast": rotary.number("high_freq_factor"),
            "rotary_original": rotary.whole("original_max_position_embeddings"),
        }
    return settings


def _refuse_window(fields: Fields, name: str) -> None:
    """A window as long as the context, or longer, hides nothing."""
    if fields.has(name) and fields.whole(name) < fields.whole("max_position_embeddings", 2048):
        raise LmvizError(f"its {name} hides what is far back, which lmviz does not compute")


def _activation(name: str) -> str:
    if name not in ACTIVATIONS:
        raise LmvizError(f"its activation {name[:40]!r} is none of {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]


GPT2_NAMES: dict[str, str | tuple[str, str, str]] = {
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

_GPT_NEOX_NAMES: dict[str, str | tuple[str, str, str]] = {
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

_LLAMA_NAMES: dict[str, str | tuple[str, str, str]] = {
    "embedding": "embed_tokens",
    "layers.*.norm1": "layers.*.input_layernorm",
    "layers.*.attention.input": (
        "layers.*.self_attn.q_proj",
        "layers.*.self_attn.k_proj",
        "layers.*.self_attn.v_proj",
    ),
    "layers.*.attention.output": "layers.*.self_attn.o_proj",
    "layers.*.norm2": "layers.*.post_attention_layernorm",
    "layers.*.feedforward.gate": "layers.*.mlp.gate_proj",
    "layers.*.feedforward.hidden": "layers.*.mlp.up_proj",
    "layers.*.feedforward.output": "layers.*.mlp.down_proj",
    "norm": "norm",
    "output": "lm_head",
}

MASKS = ("h.*.attn.bias", "h.*.attn.masked_bias")
"""The causal mask, which GPT-2 and its relatives once stored with their weights."""

GPT2 = Kind(
    "GPT-2",
    _gpt2,
    GPT2_NAMES,
    inside="transformer.",
    transposed=frozenset(name for name in GPT2_NAMES if "attention" in name or "feedforward" in name),
    ignored=MASKS,
)

_LLAMA = Kind("Llama", _llama, _LLAMA_NAMES, "model.", ignored=("layers.*.self_attn.rotary_emb.inv_freq",))

KINDS: dict[str, Kind] = {
    "gpt2": GPT2,
    "gpt_neox": Kind(
        "GPT-NeoX",
        _gpt_neox,
        _GPT_NEOX_NAMES,
        "gpt_neox.",
        by_head=True,
        ignored=(
            "layers.*.attention.bias",
            "layers.*.attention.masked_bias",
            "layers.*.attention.rotary_emb.inv_freq",
        ),
    ),
    "llama": _LLAMA,
    "mistral": Kind("Mistral", _mistral, _LLAMA_NAMES, "model.", ignored=_LLAMA.ignored),
    "qwen2": Kind("Qwen 2", _qwen2, _LLAMA_NAMES, "model.", ignored=_LLAMA.ignored),
}
"""The kinds by the `model_type` of their `config.json`."""
