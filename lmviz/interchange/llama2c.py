"""What llama2.c saves: a small Llama under the names that Meta gave it.

Its rotary positions turn neighbouring channels, and it ties its output to the embedding
(https://github.com/karpathy/llama2.c, model.py).
"""

from __future__ import annotations

import re

from lmviz.base.errors import LmvizError
from lmviz.interchange.fields import Fields
from lmviz.interchange.kinds import KINDS
from lmviz.interchange.kinds.kind import Kind, Names
from lmviz.interchange.layout import StoredLayout
from lmviz.interchange.stored_tensors import StoredTensors
from lmviz.models.transformer_configuration import TransformerConfiguration

_NAMES: Names = {
    "embedding": "tok_embeddings",
    "layers.*.norm1": "layers.*.attention_norm",
    "layers.*.attention.input": tuple(f"layers.*.attention.w{letter}" for letter in "qkv"),
    "layers.*.attention.output": "layers.*.attention.wo",
    "layers.*.norm2": "layers.*.ffn_norm",
    "layers.*.feedforward.gate": "layers.*.feed_forward.w1",
    "layers.*.feedforward.hidden": "layers.*.feed_forward.w3",
    "layers.*.feedforward.output": "layers.*.feed_forward.w2",
    "norm": "norm",
    "output": "output",
}

LLAMA2C = Kind(
    "llama2.c",
    "a small Llama whose rotary positions turn neighbouring channels",
    KINDS["llama"].configuration,
    _NAMES,
    ignored=("freqs_cos", "freqs_sin", "freqs_cis", "layers.*.attention.mask"),
)


def llama2c(stored: StoredTensors, fields: Fields) -> tuple[StoredLayout, int]:
    """How tensors under Meta's names are laid out, and for how many tokens; LmvizError, in a few words."""
    table = stored.shapes.get("tok_embeddings.weight", ())
    gate = stored.shapes.get("layers.0.feed_forward.w1.weight", ())
    if len(table) != 2 or len(gate) != 2:
        raise LmvizError("its embeddings or its feed-forward networks are no matrices")
    if not fields.has("n_heads"):
        raise LmvizError("the number of heads is not in the weights: choose a file with its model_args")
    numbers = [int(found[1]) for name in stored.shapes if (found := re.match(r"layers\.(\d{1,6})\.", name))]
    is_tied = "output.weight" not in stored or stored.are_equal("output.weight", "tok_embeddings.weight")
    configuration = TransformerConfiguration(
        layers=max(numbers, default=-1) + 1,
        heads=fields.whole("n_heads"),
        key_value_heads=fields.whole_or_none("n_kv_heads", 0),
        width=table[1],
        context=fields.whole("max_seq_len", 2048),
        feedforward=gate[0],
        gated=True,
        activation="silu",
        norm_kind="rms",
        norm_epsilon=fields.number("norm_eps", 1e-5),
        attention_bias="none",
        feedforward_bias=False,
        positions="rotary",
        rotary_base=fields.number("rope_theta", 10000.0),
        rotary_pairs="neighbours",
        tied=is_tied,
    )
    return StoredLayout(LLAMA2C, configuration, transposed=False), table[0]
