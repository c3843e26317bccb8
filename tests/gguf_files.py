"""GGUF files of small random models, written as llama.cpp converts what transformers has saved."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from foreign_models import peer

ARCHITECTURES = {
    "gpt_neox": "gptneox",
    "phi": "phi2",
    "gemma3_text": "gemma3",
    "cohere": "command-r",
    "gpt_bigcode": "starcoder",
    "mistral": "llama",
}
"""The architectures of llama.cpp that are not called as transformers calls their kind."""

WIDTHS = ("n_inner", "intermediate_size", "ffn_hidden_size")

PAIRS_APART = ("llama", "olmo", "smollm3", "granite")
FROM_ONE = ("gemma", "gemma2", "gemma3", "nemotron")

SCALES = {
    "Q2_K": (84, (80, 82)),
    "Q3_K": (110, (108,)),
    "Q4_K": (144, (0, 2)),
    "Q5_K": (176, (0, 2)),
    "Q6_K": (210, (208,)),
}
"""The bytes of a block of 256 numbers, and where its half-precision scales stand."""


def write_gguf(model, path, packed="F32", said=None):
    """Write a model of transformers as a GGUF file; matrices are packed as said, or by their names.

    Blocks that the package cannot pack are random, with scales that keep their numbers small.
    """
    gguf = pytest.importorskip("gguf")
    configuration = model.config
    name = ARCHITECTURES.get(configuration.model_type, configuration.model_type)
    writer = gguf.GGUFWriter(str(path), name)
    describe(writer, configuration)
    for key, value in (said or {}).items():
        add_value(writer, key, value)
    numbers = {spelling: number for number, spelling in gguf.MODEL_ARCH_NAMES.items()}
    known = gguf.get_tensor_name_map(numbers[name], configuration.num_hidden_layers)
    random = np.random.default_rng(0)
    for ours, value in joined_norms(model.state_dict()).items():
        if ours == "lm_head.weight" and configuration.tie_word_embeddings:
            continue
        there = known.get_name(ours, try_suffixes=(".weight", ".bias"))
        there = there or known.get_name(ours.removeprefix("transformer."), try_suffixes=(".weight", ".bias"))
        values = converted(name, there, value.float(), configuration).contiguous().numpy()
        form = packed(there) if callable(packed) else packed
        if values.ndim == 1 or form == "F32":
            writer.add_tensor(there, values)
            continue
        kind = gguf.GGMLQuantizationType[form]
        if form in SCALES:
            size, places = SCALES[form]
            blocks = random.integers(0, 256, (values.size // 256, size), dtype=np.uint8)
            for place in places:
                scale = random.uniform(-1e-3, 1e-3, (len(blocks), 1)).astype(np.float16)
                blocks[:, place : place + 2] = scale.view(np.uint8)
            data = blocks.reshape(len(values), -1)
        else:
            data = gguf.quants.quantize(values, kind)
        writer.add_tensor(there, data, raw_dtype=kind)
    if factors := getattr(configuration, "rope_parameters", {}) or {}:
        add_factors(writer, configuration, factors)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def add_value(writer, key, value):
    """One more field."""
    kinds = {str: writer.add_string, bool: writer.add_bool, int: writer.add_uint32, list: writer.add_array}
    kinds[type(value)](key, value)


def tokenizer_fields(backend, model, roles):
    """What a converter writes of a tokenizer of the library; special tokens are those that it calls so."""
    content = json.loads(backend.to_str())
    vocabulary = backend.get_vocab(with_added_tokens=True)
    tokens = sorted(vocabulary, key=vocabulary.__getitem__)
    added = {token["id"]: 3 if token["special"] else 4 for token in content["added_tokens"]}
    kinds = [6 if token.startswith("<0x") else 1 for token in tokens]
    kinds = [added.get(index, kind) for index, kind in enumerate(kinds)]
    fields = {"model": model, "tokens": tokens, "token_type": kinds} | roles
    merges = [" ".join(merge) for merge in content["model"]["merges"]]
    if model == "gpt2":
        fields["merges"] = merges
    else:
        order = {merge.replace(" ", ""): -float(place) for place, merge in reversed(list(enumerate(merges)))}
        fields["scores"] = [order.get(token, -1e6) for token in tokens]
    return {f"tokenizer.ggml.{name}": value for name, value in fields.items()}


def describe(writer, configuration):
    """The fields that every converter writes."""
    heads = configuration.num_attention_heads
    width = getattr(configuration, "head_dim", None) or configuration.hidden_size // heads
    writer.add_context_length(getattr(configuration, "max_position_embeddings", 2048))
    writer.add_embedding_length(configuration.hidden_size)
    writer.add_block_count(configuration.num_hidden_layers)
    inner = next(filter(None, (getattr(configuration, name, None) for name in WIDTHS)), None)
    writer.add_feed_forward_length(inner or 4 * configuration.hidden_size)
    writer.add_head_count(heads)
    shared = getattr(configuration, "num_key_value_heads", None) or heads
    if configuration.model_type == "falcon":
        shared = configuration.num_kv_heads if configuration.new_decoder_architecture else 1
    writer.add_head_count_kv(shared)
    attention = getattr(configuration, "attn_config", None)
    if attention is not None:
        writer.add_max_alibi_bias(float(attention.alibi_bias_max))
        if attention.clip_qkv:
            writer.add_clamp_kqv(attention.clip_qkv)
    writer.add_vocab_size(configuration.vocab_size)
    rotary = getattr(configuration, "rope_parameters", None) or {}
    if configuration.model_type != "gpt2":
        writer.add_key_length(width)
        rotary = rotary.get("full_attention", rotary)
        writer.add_rope_freq_base(rotary.get("rope_theta", 10000.0))
        writer.add_rope_dimension_count(int(width * rotary.get("partial_rotary_factor", 1.0)))
    for ours in ("rms_norm_eps",):
        if hasattr(configuration, ours):
            writer.add_layer_norm_rms_eps(getattr(configuration, ours))
    for ours in ("layer_norm_eps", "layer_norm_epsilon", "norm_epsilon", "norm_eps"):
        if hasattr(configuration, ours):
            writer.add_layer_norm_eps(getattr(configuration, ours))
            break
    if hasattr(configuration, "use_parallel_residual"):
        writer.add_parallel_residual(configuration.use_parallel_residual)
    if getattr(configuration, "sliding_window", None):
        writer.add_sliding_window(configuration.sliding_window)
    for ours, add in (
        ("attn_logit_softcapping", writer.add_attn_logit_softcapping),
        ("final_logit_softcapping", writer.add_final_logit_softcapping),
        ("clip_qkv", writer.add_clamp_kqv),
        ("embedding_multiplier", writer.add_embedding_scale),
        ("attention_multiplier", writer.add_attention_scale),
        ("residual_multiplier", writer.add_residual_scale),
        ("logits_scaling", writer.add_logit_scale),
        ("logit_scale", writer.add_logit_scale),
    ):
        if getattr(configuration, ours, None):
            add(getattr(configuration, ours))


def joined_norms(tensors):
    """The tensors of a model, norms that each head has of its own joined to one matrix."""
    found, joined = {}, {}
    for name, value in tensors.items():
        module, is_norm, _ = name.partition(".norms.")
        if is_norm:
            joined.setdefault(f"{module}.weight", []).append(value)
        else:
            found[name] = value
    return found | {name: torch.stack(values) for name, values in joined.items()}


def converted(name, there, value, configuration):
    """A tensor as the converter of an architecture writes it."""
    heads = configuration.num_attention_heads
    if name in PAIRS_APART and (".attn_q." in there or ".attn_k." in there):
        shared = getattr(configuration, "num_key_value_heads", None) or heads
        count = heads if ".attn_q." in there else shared
        return value.reshape(count, 2, -1, *value.shape[1:]).transpose(1, 2).reshape(value.shape)
    if name in FROM_ONE and there.endswith("norm.weight"):
        return value + 1
    if name == "gpt2" and value.dim() == 2 and there.startswith("blk."):
        return value.t()
    if name == "falcon" and ".attn_qkv." in there:
        groups = configuration.num_kv_heads if configuration.new_decoder_architecture else 1
        width = configuration.hidden_size // heads
        by_group = value.reshape(groups, heads // groups + 2, width, -1)
        parts = (by_group[:, :-2], by_group[:, -2], by_group[:, -1])
        return torch.cat([part.reshape(-1, *value.shape[1:]) for part in parts])
    if name in ("gptneox", "bloom") and ".attn_qkv." in there:
        return value.reshape(heads, 3, -1, *value.shape[1:]).transpose(0, 1).reshape(value.shape)
    return value


def add_factors(writer, configuration, rotary):
    """What Llama 3, or a model with longrope scaling, divides its angles by, pair by pair."""
    if rotary.get("rope_type") == "longrope":
        original = rotary["original_max_position_embeddings"]
        longer = configuration.max_position_embeddings / original
        writer.add_rope_scaling_orig_ctx_len(original)
        writer.add_rope_scaling_attn_factors(float(np.sqrt(1 + np.log(longer) / np.log(original))))
        for name in ("short", "long"):
            divisors = np.array(rotary[f"{name}_factor"], np.float32)
            writer.add_tensor(f"rope_factors_{name}.weight", divisors)
    if rotary.get("rope_type") != "llama3":
        return
    width = getattr(configuration, "head_dim", None)
    width = width or configuration.hidden_size // configuration.num_attention_heads
    lengths = 2 * np.pi * rotary["rope_theta"] ** (np.arange(0, width, 2) / width)
    original, factor = rotary["original_max_position_embeddings"], rotary["factor"]
    slow, fast = rotary["low_freq_factor"], rotary["high_freq_factor"]
    share = (original / lengths - slow) / (fast - slow)
    between = 1 / ((1 - share) / factor + share)
    factors = np.where(lengths < original / fast, 1, np.where(lengths > original / slow, factor, between))
    writer.add_tensor("rope_freqs.weight", factors.astype(np.float32))


def gguf_of(name, path, **options):
    """The file of a model in `foreign_models.PEERS`."""
    return write_gguf(peer(name), path, **options)


def large_llama():
    """A small Llama whose rows are whole blocks of 256."""
    transformers = pytest.importorskip("transformers")
    configuration = transformers.LlamaConfig(
        vocab_size=64,
        hidden_size=256,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=2,
        intermediate_size=256,
        max_position_embeddings=32,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return transformers.AutoModelForCausalLM.from_config(configuration).eval()
