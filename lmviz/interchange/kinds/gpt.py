"""GPT-2 and its kin: positions that are learned, or one of what came after it."""

from __future__ import annotations

from itertools import chain, islice, repeat
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.interchange.fields import Fields
from lmviz.interchange.kinds.kind import QUERIES_KEYS_VALUES, Kind, Names
from lmviz.interchange.kinds.settings import MOST_LAYERS, pattern_of, read_activation, read_rotary, read_sizes
from lmviz.models.transformer_configuration import TransformerConfiguration


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
        activation=read_activation(fields.word("activation_function", activation)),
        norm_epsilon=fields.number("layer_norm_epsilon", 1e-5),
        tied=fields.flag("tie_word_embeddings", True),
        score_scale=0.0 if fields.flag("scale_attn_weights", True) else 1.0,
        **settings,
    )


def _gpt_neo(fields: Fields) -> TransformerConfiguration:
    layers = fields.whole("num_layers", 24)
    rounds = (repeat(words, times) for words, times in fields.pairs("attention_types") if words)
    kinds = [*islice((kind for words in chain.from_iterable(rounds) for kind in words), MOST_LAYERS)]
    return TransformerConfiguration(
        layers=layers,
        heads=fields.whole("num_heads", 16),
        width=fields.whole("hidden_size", 2048),
        context=fields.whole("max_position_embeddings", 2048),
        feedforward=fields.whole("intermediate_size", 0),
        activation=read_activation(fields.word("activation_function", "gelu_new")),
        norm_epsilon=fields.number("layer_norm_epsilon", 1e-5),
        tied=fields.flag("tie_word_embeddings", True),
        attention_bias="output",
        score_scale=1.0,
        attention_window=fields.whole("window_size", 256),
        window_layers=pattern_of(kinds or fields.words("attention_layers"), "local", "global", "01"),
    )


def _gptj(fields: Fields) -> TransformerConfiguration:
    return TransformerConfiguration(
        layers=fields.whole("n_layer", 28),
        heads=fields.whole("n_head", 16),
        width=fields.whole("n_embd", 4096),
        context=fields.whole("n_positions", 2048),
        feedforward=fields.whole("n_inner", 0),
        activation=read_activation(fields.word("activation_function", "gelu_new")),
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
    sizes = read_sizes(fields, layers=44, heads=64, width=6144, feedforward=24576)
    return TransformerConfiguration(
        **sizes | read_rotary(fields, sizes, "rotary_emb_base", share=fields.number("rotary_pct", 0.25)),
        activation=read_activation(fields.word("hidden_act", "gelu")),
        norm_epsilon=fields.number("layer_norm_eps", 1e-5),
        tied=fields.flag("tie_word_embeddings", False),
        parallel=fields.flag("use_parallel_residual", True),
        attention_bias="all" if fields.flag("attention_bias", True) else "none",
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
        activation=read_activation(fields.word("activation_function", "relu")),
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
        else read_rotary(fields, sizes)
    )
    return TransformerConfiguration(
        **sizes | positions,
        activation=read_activation(fields.word("activation", "gelu")),
        norm_epsilon=fields.number("layer_norm_epsilon", 1e-5),
        parallel=new or fields.flag("parallel_attn", True),
        parallel_norm="own" if new and norms == 2 else "shared",
        attention_bias="all" if biased else "none",
        feedforward_bias=biased,
        tied=fields.flag("tie_word_embeddings", True),
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
        raise LmvizError("its attn_type is one that transformers does not compute")
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
    "layers.*.attention.input": QUERIES_KEYS_VALUES,
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

MASKS = ("h.*.attn.bias", "h.*.attn.masked_bias")
"""The causal mask, which GPT-2 and its relatives once stored with their weights."""


GPT2 = Kind(
    "GPT-2",
    "learned positions",
    _gpt2,
    GPT2_NAMES,
    inside="transformer.",
    transposed=frozenset(name for name in GPT2_NAMES if "attention" in name or "feedforward" in name),
    ignored=MASKS,
)

GPT_KINDS: dict[str, Kind] = {
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
}
"""By the `model_type` of their `config.json`."""
