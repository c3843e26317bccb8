"""What a GGUF file describes, in the words of transformers, so that `KINDS` reads it like a config.json.

`ARCHITECTURES` is the one table. It gives for each architecture of llama.cpp the kind of transformers that it
was converted from, and what the conversion did to the numbers. Fields that mean the same have the same name
in all of them (`FIELDS`), and the `gguf` package knows which tensor is which. The facts are those of
llama.cpp's convert_hf_to_gguf.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import torch

from lmviz.base.errors import LmvizError
from lmviz.interchange.fields import Fields
from lmviz.interchange.gguf_file import GgufFile, PackedTensor
from lmviz.interchange.kinds import KINDS
from lmviz.interchange.kinds.kind import Kind
from lmviz.interchange.layout import StoredLayout
from lmviz.interchange.stored_tensors import StoredTensors
from lmviz.models.blocks import BlockMatrix
from lmviz.models.shapes import without_numbers
from lmviz.models.transformer import TransformerModel


@dataclass(frozen=True)
class Architecture:
    """How one architecture of llama.cpp differs from the kind of transformers that it was converted from.

    With `pairs_apart`, the rows of queries and keys were put in the order in which llama.cpp turns them. With
    `norms_from_one`, one was added to the weights of every normalisation. Norms that each head has of its own
    are joined to one matrix (head, channel).
    """

    kind: str
    pairs_apart: bool = False
    norms_from_one: bool = False


ARCHITECTURES = {
    "gpt2": Architecture("gpt2"),
    "gptneox": Architecture("gpt_neox"),
    "llama": Architecture("llama", pairs_apart=True),
    "qwen2": Architecture("qwen2"),
    "qwen3": Architecture("qwen3"),
    "gemma": Architecture("gemma", norms_from_one=True),
    "gemma2": Architecture("gemma2", norms_from_one=True),
    "gemma3": Architecture("gemma3_text", norms_from_one=True),
    "phi2": Architecture("phi"),
    "phi3": Architecture("phi3"),
    "olmo": Architecture("olmo", pairs_apart=True),
    "olmo2": Architecture("olmo2"),
    "smollm3": Architecture("smollm3", pairs_apart=True),
    "granite": Architecture("granite", pairs_apart=True),
    "starcoder2": Architecture("starcoder2"),
    "stablelm": Architecture("stablelm"),
    "falcon": Architecture("falcon"),
    "mpt": Architecture("mpt"),
    "nemotron": Architecture("nemotron", norms_from_one=True),
    "command-r": Architecture("cohere"),
    "bloom": Architecture("bloom"),
    "starcoder": Architecture("gpt_bigcode"),
    "cohere2": Architecture("cohere2"),
}

FIELDS = {
    "block_count": ("num_hidden_layers", "n_layer", "n_layers"),
    "embedding_length": ("hidden_size", "n_embd", "d_model"),
    "feed_forward_length": ("intermediate_size", "n_inner", "ffn_hidden_size"),
    "context_length": ("max_position_embeddings", "n_positions", "seq_length", "max_seq_len"),
    "attention.head_count": ("num_attention_heads", "n_head", "n_heads"),
    "attention.head_count_kv": ("num_key_value_heads", "num_kv_heads"),
    "attention.key_length": ("head_dim",),
    "attention.layer_norm_rms_epsilon": ("rms_norm_eps", "norm_eps"),
    "attention.layer_norm_epsilon": ("layer_norm_eps", "layer_norm_epsilon", "norm_epsilon", "norm_eps"),
    "attention.sliding_window": ("sliding_window",),
    "attn_logit_softcapping": ("attn_logit_softcapping",),
    "final_logit_softcapping": ("final_logit_softcapping",),
    "attention.clamp_kqv": ("clip_qkv",),
    "logit_scale": ("logit_scale", "logits_scaling"),
    "embedding_scale": ("embedding_multiplier",),
    "residual_scale": ("residual_multiplier",),
    "attention.scale": ("attention_multiplier",),
    "rope.freq_base": ("rope_theta", "rotary_emb_base"),
    "use_parallel_residual": ("use_parallel_residual",),
}
"""The fields of a file, without the name of its architecture, and what transformers calls them."""

EACH_HEAD = ".norms.#"
"""The end of names of norms that each head has of its own."""

_LONGROPE = {"short_factor": "rope_factors_short.weight", "long_factor": "rope_factors_long.weight"}
_WITHOUT_MODEL = ("rope_freqs.weight", *_LONGROPE.values())
"""Tensors that say what the description says."""


def described_by(file: GgufFile) -> tuple[StoredLayout, int, StoredTensors]:
    """The layout of the model in a file, its number of tokens, and its tensors as transformers names them.

    LmvizError where lmviz does not compute such a model.
    """
    try:
        name = Fields(file.said).word("general.architecture", "")
        if name not in ARCHITECTURES or ARCHITECTURES[name].kind not in KINDS:
            known = (each for each, made in ARCHITECTURES.items() if made.kind in KINDS)
            raise LmvizError(f"its architecture {name[:40]!r} is none of {', '.join(known)}")
        architecture = ARCHITECTURES[name]
        table = file.tensors.get("token_embd.weight")
        if table is None or len(table.shape) != 2:
            raise LmvizError("it holds no token embeddings")
        values = _values(file, name)
        kind = KINDS[architecture.kind]
        # Queries, keys and values that belong together are joined there, and no matrix lies on its side.
        kind = replace(_with_joined_norms(kind), by_group=False)
        layout = StoredLayout(kind, kind.configuration(Fields(values)), transposed=False)
        stored = _stored(file, name, architecture, layout, table.shape[0])
    except (LmvizError, ZeroDivisionError, OverflowError) as error:
        reason = str(error).rstrip(".")
        raise LmvizError(f"{file.path} describes no model that can be opened: {reason}.") from None
    return layout, table.shape[0], stored


def _with_joined_norms(kind: Kind) -> Kind:
    """The kind with one matrix (head, channel) where each head has a norm of its own."""
    joined = {
        module: name.removesuffix(EACH_HEAD)
        for module, name in kind.names.items()
        if isinstance(name, str) and name.endswith(EACH_HEAD)
    }
    return replace(kind, names={**kind.names, **joined}, by_head=kind.by_head | joined.keys())


def _values(file: GgufFile, name: str) -> dict[str, Any]:
    """What a config.json would say."""
    said = {key.removeprefix(f"{name}."): value for key, value in file.said.items()}
    fields = Fields(said)
    if experts := fields.whole("expert_count", 0):
        raise LmvizError(f"it is a mixture of {experts} experts, which lmviz does not compute")
    values: dict[str, Any] = {
        ours: said[key] for key, names in FIELDS.items() if key in said for ours in names
    }
    first = {key.removeprefix("blk.0.") for key in file.tensors if key.startswith("blk.0.")}
    values |= {
        "tie_word_embeddings": "output.weight" not in file.tensors,
        "attention_bias": bool({"attn_q.bias", "attn_qkv.bias"} & first),
        "use_qkv_bias": bool({"attn_q.bias", "attn_qkv.bias"} & first),
        "mlp_bias": "ffn_up.bias" in first,
        "use_bias": "ffn_up.bias" in first,
        "use_qk_norm": "attn_q_norm.weight" in first,
        "qk_layernorm": "attn_q_norm.weight" in first,
    }
    if name == "falcon":
        values |= {
            "new_decoder_architecture": True,
            "num_ln_in_parallel_attn": 1 + ("attn_norm_2.weight" in first),
        }
    if name == "mpt":
        values |= _of_mpt(said, "attn_qkv.bias" in first)
    if name == "stablelm":
        values["use_parallel_residual"] = "ffn_norm.weight" not in first
    channels = fields.whole("attention.key_length", 0)
    channels = channels or _quotient(said, "embedding_length", "attention.head_count")
    turned = fields.whole("rope.dimension_count", 0)
    if channels and fields.has("rope.dimension_count"):
        values |= dict.fromkeys(("partial_rotary_factor", "rotary_pct"), turned / channels)
    if name in ("gemma2", "gemma3"):
        # The largest of either generation divides by the width of a head as it would be without `head_dim`.
        is_largest = said.get("block_count") in (46, 62)
        width = _quotient(said, "embedding_length", "attention.head_count") if is_largest else channels
        values["query_pre_attn_scalar"] = width or 256
    scaling = _scaling(file, said, values, turned or channels)
    return values | ({"rope_scaling": scaling} if scaling else {})


def _of_mpt(said: dict[str, Any], biased: bool) -> dict[str, Any]:
    """What the config.json of an MPT says otherwise than others."""
    heads, groups = (said.get(f"attention.head_count{end}") for end in ("", "_kv"))
    if groups not in (None, heads):
        raise LmvizError("it shares keys and values, which transformers does not compute for this kind")
    steepness = said.get("attention.max_alibi_bias", 0.0)
    attention = {
        "alibi": bool(steepness),
        "alibi_bias_max": steepness,
        "clip_qkv": said.get("attention.clamp_kqv"),
    }
    return {
        "attn_config": attention,
        "no_bias": not biased,
        "expansion_ratio": _quotient(said, "feed_forward_length", "embedding_length"),
    }


def _quotient(said: dict[str, Any], whole: str, parts: str) -> int:
    """The number of channels of a head, where a file does not say it; 0 where it cannot be told."""
    size, count = said.get(whole), said.get(parts)
    return size // count if type(size) is int and type(count) is int and count > 0 else 0


def _scaling(
    file: GgufFile, said: dict[str, Any], values: dict[str, Any], turned: int
) -> dict[str, Any] | None:
    """How angles are scaled, as transformers writes it."""
    if _LONGROPE.values() & file.tensors.keys():
        factors_by_name = {ours: file.tensors.get(there) for ours, there in _LONGROPE.items()}
        return {
            "rope_type": "longrope",
            "original_max_position_embeddings": said.get("rope.scaling.original_context_length"),
            "attention_factor": said.get("rope.scaling.attn_factor", 1.0),
            **{
                ours: _factors(packed).tolist()
                for ours, packed in factors_by_name.items()
                if packed is not None
            },
        }
    factors = file.tensors.get("rope_freqs.weight")
    if factors is not None:
        return _of_llama3(factors, Fields(values).number("rope_theta", 10000.0), turned)
    kind = said.get("rope.scaling.type", "none")
    if kind == "none":
        return None
    return {
        "rope_type": kind,
        "factor": said.get("rope.scaling.factor"),
        "original_max_position_embeddings": said.get("rope.scaling.original_context_length"),
    }


def _factors(packed: PackedTensor) -> torch.Tensor:
    """What angles are divided by: a number for each pair of channels, in no blocks."""
    if packed.packed_as:
        raise LmvizError(f"the factors of its rotary positions are stored as {packed.kind}")
    return packed.values().double().flatten()


def _of_llama3(factors: PackedTensor, base: float, turned: int) -> dict[str, Any]:
    """The settings from which these factors follow: a file holds what Llama 3 makes of them for each pair."""
    given = _factors(factors)
    largest = float(given.max())
    if turned == 2 * len(given) and largest > 1:
        lengths = 2 * math.pi * base ** (torch.arange(0, turned, 2).double() / turned)
        for original in (1 << power for power in range(4, 21)):
            settings = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
            share = ((original / lengths - 1.0) / 3.0).clamp(0, 1)
            expected = 1 / ((1 - share) / largest + share)
            if torch.allclose(given, expected, rtol=1e-4, atol=0):
                scaled = {"rope_type": "llama3", "factor": largest, **settings}
                return scaled | {"original_max_position_embeddings": original}
    raise LmvizError("its rotary positions are scaled pair by pair, in a way that lmviz does not compute")


@dataclass(frozen=True)
class _Converted:
    """Tensors of a file under the names of transformers, with what the conversion did undone."""

    tensors: dict[str, tuple[str, PackedTensor]]
    architecture: Architecture
    heads: int
    groups: int

    def get_tensor(self, name: str) -> torch.Tensor:
        there, packed = self.tensors[name]
        values = packed.values()
        if self.architecture.norms_from_one and there.endswith("norm.weight"):
            values = values.float() - 1
        heads = _turned_in(there, self.heads, self.groups) if self.architecture.pairs_apart else None
        if heads is not None:
            # (head, pair, first or second) there, and (head, first or second, pair) here
            order = torch.arange(len(values)).reshape(heads, -1, 2).transpose(1, 2).flatten()
            values = values.rows(order) if isinstance(values, BlockMatrix) else values[order]
        return values


def tensor_names(name: str, layout: StoredLayout, vocabulary_size: int) -> dict[str, str]:
    """What llama.cpp calls the tensors of an architecture, by their full names in a layout."""
    import gguf

    numbers = {spelling: number for number, spelling in gguf.MODEL_ARCH_NAMES.items()}
    known = gguf.get_tensor_name_map(numbers[name], layout.configuration.layers)
    with without_numbers():
        model = TransformerModel(layout.configuration, vocabulary_size)
    found = {}
    for parameter, _ in model.named_parameters():
        inside = "" if parameter.startswith("output.") else layout.kind.inside
        for stored_name in layout.stored_names(parameter):
            there = known.get_name(inside + stored_name, try_suffixes=(".weight", ".bias"))
            there = there or known.get_name(stored_name, try_suffixes=(".weight", ".bias"))
            if there is not None:
                found[inside + stored_name] = there
    return found


def with_pairs_apart(there: str, values: torch.Tensor, heads: int, groups: int) -> torch.Tensor:
    """Units of queries or keys (unit, …) in the order of llama.cpp; those of other tensors as they are."""
    if (count := _turned_in(there, heads, groups)) is None:
        return values
    return values.unflatten(0, (count, 2, -1)).transpose(1, 2).flatten(0, 2)


def _turned_in(there: str, heads: int, groups: int) -> int | None:
    """The number of heads of a tensor whose pairs llama.cpp turns; None where it turns none."""
    return heads if ".attn_q." in there else groups if ".attn_k." in there else None


def _stored(
    file: GgufFile, name: str, architecture: Architecture, layout: StoredLayout, vocabulary_size: int
) -> StoredTensors:
    """The tensors of a file, as the layout names them; what it does not name keeps its own name."""
    configuration = layout.configuration
    named = {
        there: ours
        for ours, there in tensor_names(name, layout, vocabulary_size).items()
        if there in file.tensors
    }
    tensors = {
        named.get(there, there): (there, packed)
        for there, packed in file.tensors.items()
        if there not in _WITHOUT_MODEL
    }
    stored = StoredTensors()
    source = _Converted(tensors, architecture, configuration.heads, configuration.groups)
    for ours, (_, packed) in tensors.items():
        stored.add(file.path, ours, packed.shape, packed.stored_as, source, packed.packed_as)
        if packed.packed_as:
            (stored.packed if packed.stays_packed else stored.made_float).add(ours)
    stored.files += file.parts
    stored.maps += file.maps
    return stored
