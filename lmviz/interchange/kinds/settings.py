"""What readers of `config.json` have in common: sizes, activations, rotary positions and windows.

Readers raise LmvizError, in a few words, for what the Transformer does not compute. Where a field may be
missing, its default is that of transformers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.interchange.fields import Fields

ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
    "relu2": "relu_squared",
    "silu": "silu",
    "swish": "silu",
    "tanh": "tanh",
    "sigmoid": "sigmoid",
    "linear": "identity",
}
"""The functions of transformers that lmviz has, by their names there."""

MOST_LAYERS = 1024
"""Layers that a pattern speaks of at most, whatever a file says."""


def read_sizes(
    fields: Fields,
    *,
    layers: int,
    heads: int,
    width: int,
    feedforward: int,
    context: int = 2048,
    key_value_heads: int = 0,
) -> dict[str, Any]:
    """The sizes under the names that most kinds have for them, or these where they are missing."""
    return {
        "layers": fields.whole("num_hidden_layers", layers),
        "heads": fields.whole("num_attention_heads", heads),
        "key_value_heads": fields.whole_or_none("num_key_value_heads", key_value_heads),
        "head_channels": fields.whole("head_dim", 0),
        "width": fields.whole("hidden_size", width),
        "context": fields.whole("max_position_embeddings", context),
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


def read_biases(fields: Fields) -> dict[str, Any]:
    return {
        "attention_bias": "all" if fields.flag("attention_bias", False) else "none",
        "feedforward_bias": fields.flag("mlp_bias", False),
    }


def read_rotary(
    fields: Fields,
    sizes: Mapping[str, Any],
    name: str = "rope_theta",
    default: float = 10000.0,
    share: float = 1.0,
) -> dict[str, Any]:
    """The settings of rotary positions, and the context where that depends on them.

    `share` is that of a head's channels which are turned, where the file says nothing. NTK scaling
    ("dynamic") begins behind the context of the file, and has no end of its own: ours is as many times as
    long as its factor says.
    """
    rotary = _rope(fields)
    share = rotary.number("partial_rotary_factor", fields.number("partial_rotary_factor", share))
    if not 0 <= share <= 1:
        raise LmvizError("its share of channels that are turned is not between 0 and 1")
    turned = int((sizes.get("head_channels") or sizes["width"] // max(sizes["heads"], 1)) * share)
    if not turned:
        return {"positions": "none"}
    settings: dict[str, Any] = {
        "positions": "rotary",
        "rotary_base": rotary.number("rope_theta", fields.number(name, default)),
        "rotary_channels": turned if share < 1 else 0,
    }
    scaling = _scaling_of(rotary)
    if scaling == "default":
        return settings
    if scaling not in ("linear", "dynamic", "llama3", "yarn", "longrope"):
        raise LmvizError(f"its rotary positions are scaled by {scaling[:40]!r}, which lmviz does not compute")
    if scaling == "dynamic":
        factor = rotary.number("factor")
        return settings | {
            "rotary_scaling": scaling,
            "rotary_factor": factor,
            "rotary_original": sizes["context"],
            "context": int(sizes["context"] * factor),
        }
    original = _original(fields, sizes["context"])
    if scaling == "longrope":
        factor = rotary.number("factor", sizes["context"] / max(original, 1))
        magnitude = math.sqrt(1 + math.log(factor) / math.log(original)) if factor > 1 < original else 1.0
        short, long = (rotary.numbers(f"{name}_factor") for name in ("short", "long"))
        return settings | {
            "rotary_scaling": scaling,
            "rotary_divisors": " ".join(map(repr, short)),
            "rotary_long_divisors": " ".join(map(repr, long)),
            "rotary_original": original,
            "rotary_magnitude": rotary.number("attention_factor", magnitude),
            "context": sizes["context"] if long else min(sizes["context"], original),
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


def read_two_bases(fields: Fields, all_seen: float, windowed: float) -> dict[str, Any]:
    """The base of layers that look at all, and that of those with a window."""
    rotary = fields.inner("rope_parameters", "rope_scaling")
    base = rotary.inner("full_attention").number("rope_theta", fields.number("rope_theta", all_seen))
    windowed = rotary.inner("sliding_attention").number("rope_theta", windowed)
    return {"rotary_base": base, "rotary_window_base": windowed}


def all_but_each(number: int) -> str:
    """The pattern of layers in which every so-manieth has not what the others have."""
    return "1" * (min(number, MOST_LAYERS) - 1) + "0"


def read_windows(fields: Fields, window: int, pattern: str) -> dict[str, Any]:
    """Which layers have a window: those that `layer_types` names, or else those of a pattern."""
    if not window:
        return {}
    kinds = fields.words("layer_types")
    return {
        "attention_window": window,
        "window_layers": pattern_of(kinds, "sliding_attention", "full_attention", pattern),
    }


def pattern_of(kinds: tuple[str, ...] | list[str], one: str, other: str, default: str) -> str:
    """A 1 for each of these kinds of layers that is `one`, and a 0 for each `other`."""
    for kind in kinds:
        if kind not in (one, other):
            raise LmvizError(f"its layers of kind {kind[:40]!r} are none that lmviz computes")
    return "".join("1" if kind == one else "0" for kind in kinds) or default or "0"


def read_activation(name: str) -> str:
    if name not in ACTIVATIONS:
        raise LmvizError(f"its activation {name[:40]!r} is none of {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]
