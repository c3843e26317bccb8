"""How a Transformer of lmviz is described in a `config.json`: the way back from `lmviz.interchange.kinds`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.interchange.fields import Fields
from lmviz.interchange.kinds import KINDS
from lmviz.interchange.kinds.settings import ACTIVATIONS
from lmviz.models.transformer_configuration import TransformerConfiguration

LEARNED_ONLY = frozenset({"dropout"})
"""Settings that say nothing of what a model computes once it has learned."""


def _gpt2(configuration: TransformerConfiguration) -> dict[str, Any]:
    return {
        "architectures": ["GPT2LMHeadModel"],
        "n_layer": configuration.layers,
        "n_head": configuration.heads,
        "n_embd": configuration.width,
        "n_positions": configuration.context,
        "n_inner": configuration.feedforward or None,
        "activation_function": _activation(configuration, "gelu_new"),
        "layer_norm_epsilon": configuration.norm_epsilon,
        "tie_word_embeddings": configuration.tied,
        **dict.fromkeys(("attn_pdrop", "embd_pdrop", "resid_pdrop"), configuration.dropout),
    }


def _gpt_neox(configuration: TransformerConfiguration) -> dict[str, Any]:
    return {
        "architectures": ["GPTNeoXForCausalLM"],
        **_sizes(configuration),
        "hidden_act": _activation(configuration, "gelu_new"),
        "layer_norm_eps": configuration.norm_epsilon,
        "use_parallel_residual": configuration.parallel,
        "attention_bias": configuration.attention_bias == "all",
        "rotary_pct": configuration.rotary_width / configuration.head_width,
        "rotary_emb_base": configuration.rotary_base,
    }


def _llama(configuration: TransformerConfiguration) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        **_sizes(configuration),
        **_llama_parts(configuration),
        "attention_bias": configuration.attention_bias == "all",
        "mlp_bias": configuration.feedforward_bias,
        "head_dim": configuration.head_width,
    }


def _qwen2(configuration: TransformerConfiguration) -> dict[str, Any]:
    return {
        "architectures": ["Qwen2ForCausalLM"],
        **_sizes(configuration),
        **_llama_parts(configuration),
    }


def _qwen3(configuration: TransformerConfiguration) -> dict[str, Any]:
    return {
        "architectures": ["Qwen3ForCausalLM"],
        **_sizes(configuration),
        **_llama_parts(configuration),
        "attention_bias": configuration.attention_bias == "all",
        "head_dim": configuration.head_width,
    }


def _mistral(configuration: TransformerConfiguration) -> dict[str, Any]:
    return {
        "architectures": ["MistralForCausalLM"],
        **_sizes(configuration),
        **_llama_parts(configuration),
        "head_dim": configuration.head_width,
        "sliding_window": configuration.attention_window or None,
    }


def _sizes(configuration: TransformerConfiguration) -> dict[str, Any]:
    begins_longer = configuration.positions == "rotary" and configuration.rotary_scaling == "dynamic"
    return {
        "num_hidden_layers": configuration.layers,
        "num_attention_heads": configuration.heads,
        "hidden_size": configuration.width,
        "max_position_embeddings": configuration.rotary_original if begins_longer else configuration.context,
        "intermediate_size": configuration.feedforward_width,
        "tie_word_embeddings": configuration.tied,
    }


def _llama_parts(configuration: TransformerConfiguration) -> dict[str, Any]:
    return {
        "num_key_value_heads": configuration.groups,
        "hidden_act": _activation(configuration, "gelu_pytorch_tanh"),
        "rms_norm_eps": configuration.norm_epsilon,
        "rope_theta": configuration.rotary_base,
        "rope_scaling": _scaling(configuration),
    }


def _scaling(configuration: TransformerConfiguration) -> dict[str, Any] | None:
    if configuration.rotary_scaling == "none":
        return None
    scaling = {"rope_type": configuration.rotary_scaling, "factor": configuration.rotary_factor}
    if configuration.rotary_scaling == "longrope":
        scaling = {
            "rope_type": "longrope",
            "short_factor": list(configuration.rotary.divisors),
            "long_factor": list(configuration.rotary.long_divisors or configuration.rotary.divisors),
            "attention_factor": configuration.rotary_magnitude,
            "original_max_position_embeddings": configuration.rotary_original,
        }
    if configuration.rotary_scaling == "llama3":
        scaling |= {
            "low_freq_factor": configuration.rotary_slow,
            "high_freq_factor": configuration.rotary_fast,
            "original_max_position_embeddings": configuration.rotary_original,
        }
    return scaling


def _activation(configuration: TransformerConfiguration, tanh: str) -> str:
    known = {own: name for name, own in ACTIVATIONS.items()} | {"gelu_tanh": tanh, "silu": "silu"}
    return known.get(configuration.activation, configuration.activation)


WRITERS: dict[str, Callable[[TransformerConfiguration], dict[str, Any]]] = {
    "gpt2": _gpt2,
    "gpt_neox": _gpt_neox,
    "llama": _llama,
    "qwen2": _qwen2,
    "qwen3": _qwen3,
    "mistral": _mistral,
}
"""The kinds in which a Transformer is written, by `model_type`; the first that says all of it is taken."""


def described(configuration: TransformerConfiguration) -> dict[str, Any]:
    """The fields of a `config.json`, `model_type` among them, from which the same configuration is read.

    LmvizError where no kind can say all that the configuration does, naming what GPT-2 cannot.
    """
    wanted = _meant(configuration)
    for name, write in WRITERS.items():
        values = {"model_type": name, **write(configuration)}
        if _differing(wanted, values) == []:
            return values
    first = _differing(wanted, {"model_type": "gpt2", **_gpt2(configuration)})
    usual = TransformerConfiguration().used()  # other settings only say more of what one of these chooses
    told = [f"{name}={wanted[name]}" for name in first or () if name in usual and wanted[name] is not None]
    said = ", ".join(told) if first is not None else "sizes like these"
    raise LmvizError(
        f"A Transformer with {said} cannot be written in a form that transformers reads: train one like "
        "GPT-2 "
        "(learned positions, pre-norm), GPT-NeoX or Llama."
    )


def _differing(wanted: dict[str, Any], values: dict[str, Any]) -> list[str] | None:
    """The settings that come back as others, when these values are read again; None where they cannot be."""
    try:
        read = _meant(KINDS[values["model_type"]].configuration(Fields(values)))
    except LmvizError:
        return None
    return [name for name in wanted if read[name] != wanted[name]]


def _meant(configuration: TransformerConfiguration) -> dict[str, Any]:
    """What a configuration comes to: sizes in place of zeros that stand for them, without what is unused."""
    used = configuration.used() - LEARNED_ONLY
    values = {name: value if name in used else None for name, value in configuration.to_values().items()}
    sizes: dict[str, Any] = {
        "feedforward": configuration.feedforward_width or None,
        "key_value_heads": configuration.groups,
        "head_channels": configuration.head_width,
    }
    if configuration.positions == "rotary":
        sizes["rotary_channels"] = configuration.rotary_width
        sizes["rotary_divisors"] = configuration.rotary.divisors
        sizes["rotary_long_divisors"] = configuration.rotary.long_divisors
    return values | sizes
