"""What litgpt saves: a model under names of its own, described by the `model_config.yaml` beside it.

Older versions deal queries, keys and values out by group, in `attn.attn`; newer ones put them one after the
other, in `attn.qkv` (https://github.com/Lightning-AI/litgpt, litgpt/model.py).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.interchange.fields import Fields
from lmviz.interchange.kinds import KINDS
from lmviz.interchange.kinds.kind import Kind, Names
from lmviz.interchange.layout import StoredLayout
from lmviz.interchange.stored_tensors import StoredTensors
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.text.ordinary_files import read_text_file

DESCRIPTION = "model_config.yaml"

LARGEST_DESCRIPTION = 1_000_000

NETWORKS = {"GptNeoxMLP": False, "LLaMAMLP": True}
"""The feed-forward networks that are computed here, and whether they are gated."""

NORMS = {"LayerNorm": "layer", "RMSNorm": "rms"}

REFUSED = {
    "scale_embeddings": "an embedding that is scaled",
    "attention_logit_softcapping": "scores that are capped",
    "final_logit_softcapping": "logits that are capped",
    "sliding_window_size": "layers that look at the last tokens alone",
    "post_attention_norm": "results that are normalised",
    "post_mlp_norm": "results that are normalised",
    "norm_qk": "queries and keys that are normalised",
    "attention_scores_scalar": "scores that are scaled in another way",
    "rope_adjustments": "rotary positions that are stretched",
    "rope_local_base_freq": "two speeds of rotary positions",
    "attn_bias": "biases of queries, keys and values alone",
    "latent_attention": "keys and values that are compressed",
    "n_expert": "a mixture of experts",
}
"""What is not read of it, by the names of the settings that ask for it."""

_NAMES: Names = {
    "embedding": "wte",
    "layers.*.norm1": "h.*.norm_1",
    "layers.*.attention.input": "h.*.attn.qkv",
    "layers.*.attention.output": "h.*.attn.proj",
    "layers.*.norm2": "h.*.norm_2",
    "layers.*.feedforward.hidden": "h.*.mlp.fc",
    "layers.*.feedforward.output": "h.*.mlp.proj",
    "norm": "ln_f",
    "output": "lm_head",
}

_GATED: Names = {"layers.*.feedforward.gate": "h.*.mlp.fc_1", "layers.*.feedforward.hidden": "h.*.mlp.fc_2"}


def _renamed(configuration: TransformerConfiguration) -> Names:
    return _GATED if configuration.gated else {}


def _kind(names: Names, by_group: bool) -> Kind:
    return Kind(
        "litgpt",
        "a model of many kinds, as litgpt names it",
        KINDS["llama"].configuration,
        names,
        inside="transformer.",
        renamed=_renamed,
        by_group=by_group,
        ignored=("cos", "sin", "h.*.attn.mask_cache"),
    )


LITGPT = _kind(_NAMES, by_group=False)

OLDER = _kind(_NAMES | {"layers.*.attention.input": "h.*.attn.attn"}, by_group=True)


def is_litgpt(ends: set[str]) -> bool:
    """Whether tensors are called as litgpt calls them, by the last parts of their modules' names."""
    return {"wte", "norm_1", "ln_f"} <= ends


def kind_of_litgpt(ends: set[str]) -> Kind:
    """How these tensors are dealt out."""
    return LITGPT if "qkv" in ends else OLDER


def litgpt(stored: StoredTensors, kind: Kind, fields: Fields) -> tuple[StoredLayout, int]:
    """How tensors of litgpt are laid out, and for how many tokens; LmvizError, in a few words."""
    if not fields.has("n_head"):
        raise LmvizError(f"there is no {DESCRIPTION} beside it that says what its weights are of")
    table = stored.shapes.get("transformer.wte.weight", ())
    if len(table) != 2:
        raise LmvizError("its embedding is no matrix")
    for name, what in REFUSED.items():
        fields.refuse(name, what)
    network, norm = fields.word("mlp_class_name", "GptNeoxMLP"), fields.word("norm_class_name", "LayerNorm")
    if network not in NETWORKS or norm not in NORMS:
        raise LmvizError(f"its {network} or its {norm} is none that lmviz translates")
    heads, width = fields.whole("n_head"), table[1]
    head_width = fields.whole_or_none("head_size", width // max(heads, 1))
    turned = int(fields.number("rotary_percentage", 0.25) * head_width)
    stretched = fields.number("rope_condense_ratio", 1.0)
    parallel = fields.flag("parallel_residual", True)
    biased = fields.flag("bias", True)
    is_tied = "lm_head.weight" not in stored or stored.are_equal("lm_head.weight", "transformer.wte.weight")
    further: dict[str, Any] = {"positions": "none"}
    if turned:
        further = {
            "positions": "rotary",
            "rotary_base": fields.number("rope_base", 10000.0),
            "rotary_channels": 0 if turned == head_width else turned,
        }
    if turned and stretched != 1:
        further |= {"rotary_scaling": "linear", "rotary_factor": stretched}
    if parallel:
        further["parallel_norm"] = "shared" if fields.flag("shared_attention_norm", False) else "own"
    configuration = TransformerConfiguration(
        layers=fields.whole("n_layer"),
        heads=heads,
        key_value_heads=fields.whole_or_none("n_query_groups", 0),
        head_channels=head_width if head_width * heads != width else 0,
        width=width,
        context=fields.whole("block_size", 4096),
        feedforward=fields.whole_or_none("intermediate_size", 4 * width),
        gated=NETWORKS[network],
        activation="silu" if NETWORKS[network] else _gelu(fields),
        norm_kind=NORMS[norm],
        norm_epsilon=fields.number("norm_eps", 1e-5),
        attention_bias="all" if biased else "none",
        feedforward_bias=biased,
        parallel=parallel,
        output_bias=fields.flag("lm_head_bias", False),
        tied=is_tied,
        **further,
    )
    return StoredLayout(kind, configuration, transposed=False), table[0]


def _gelu(fields: Fields) -> str:
    return "gelu_tanh" if fields.word("gelu_approximate", "none") == "tanh" else "gelu"


def read_settings(path: Path) -> dict[str, Any]:
    """The plain values of a YAML file that is one list of names with values, as litgpt writes it.

    What is nested stays as it is written. LmvizError where there is no such file.
    """
    try:
        text = read_text_file(path, LARGEST_DESCRIPTION)
    except (OSError, ValueError):
        raise LmvizError(f"there is no {path.name} beside it that says what the weights are of") from None
    values: dict[str, Any] = {}
    name = ""
    for line in text.splitlines():
        found = re.fullmatch(r"([A-Za-z_]\w*):(?:\s+(.*?))?\s*", line)
        if found:
            name = found[1]
            values[name] = _value(found[2] or "")
        elif line.startswith((" ", "-")) and name and not values[name]:
            values[name] = line.strip()  # the beginning of what is nested
    return values


def _value(word: str) -> Any:
    plain = {"": None, "null": None, "~": None, "true": True, "false": False}
    if word.lower() in plain:
        return plain[word.lower()]
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word.strip("'\"")
