"""What nanoGPT and minGPT save: weights under GPT-2's names, with a description of a few words, or none.

nanoGPT's `ckpt.pt` says in `model_args` what the model is; minGPT's `model.pt` is bare, and its `config.json`
lies beside it. Sizes follow from the weights themselves, but for the number of heads. nanoGPT ties its output
to the embedding and computes the exact GELU; minGPT does neither.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.interchange.fields import Fields
from lmviz.interchange.kinds.gpt import GPT2
from lmviz.interchange.layout import StoredLayout, without_wrappers
from lmviz.interchange.stored_tensors import StoredTensors, read_json, read_saved
from lmviz.models.transformer_configuration import TransformerConfiguration

CHECKPOINT_FILES = ("ckpt.pt", "model.pt")
"""The names that nanoGPT and minGPT give."""

MINGPT_HEADS = {
    "openai-gpt": 12,
    "gpt2": 12,
    "gpt2-medium": 16,
    "gpt2-large": 20,
    "gpt2-xl": 25,
    "gopher-44m": 16,
    "gpt-mini": 6,
    "gpt-micro": 4,
    "gpt-nano": 3,
}
"""The heads of the models that minGPT knows by name."""


@dataclass(frozen=True)
class StateDictionary:
    """What a file holds: its kind in words, the tensors, how they are laid out, and the number of tokens."""

    title: str
    stored: StoredTensors
    layout: StoredLayout
    vocabulary_size: int


def read_state_dictionary(path: Path) -> StateDictionary:
    """The state dictionary in a file of nanoGPT or minGPT; LmvizError where there is none."""
    values = read_saved(path)
    arguments = values.get("model_args")
    arguments = arguments if isinstance(arguments, dict) else None
    state = next(
        (values[name] for name in ("model", "state_dict") if isinstance(values.get(name), dict)), values
    )
    stored = StoredTensors()
    stored.add_saved(path, state)
    plain = {without_wrappers(name).removeprefix(GPT2.inside): name for name in stored.shapes}
    if not {"wte.weight", "wpe.weight"} <= set(plain):
        raise LmvizError(
            f"{path} holds no weights of nanoGPT or minGPT: there is no transformer.wte.weight with a "
            "transformer.wpe.weight in it."
        )
    is_nano = arguments is not None or _is_tied(stored, plain)
    try:
        fields = Fields(arguments) if arguments is not None else _beside(path)
        configuration = _configuration(stored, plain, fields, is_nano)
    except LmvizError as error:
        raise LmvizError(
            f"{path} describes no model that can be opened ({str(error).rstrip('.')})."
        ) from None
    kind = replace(GPT2, ignored=(*GPT2.ignored, "lm_head.weight") if is_nano else GPT2.ignored)
    size = stored.shapes[plain["wte.weight"]][0]
    return StateDictionary(
        "nanoGPT" if is_nano else "minGPT", stored, StoredLayout(kind, configuration, transposed=False), size
    )


def _configuration(
    stored: StoredTensors, plain: Mapping[str, str], fields: Fields, is_nano: bool
) -> TransformerConfiguration:
    table, positions = (stored.shapes[plain[name]] for name in ("wte.weight", "wpe.weight"))
    if len(table) != 2 or len(positions) != 2:
        raise LmvizError("its embeddings are not matrices")
    numbers = [int(found[1]) for name in plain if (found := re.match(r"h\.(\d{1,6})\.", name))]
    hidden = stored.shapes.get(plain.get("h.0.mlp.c_fc.weight", ""), (4 * table[1], table[1]))
    if len(hidden) != 2:
        raise LmvizError("its mlp.c_fc.weight is not a matrix")
    return TransformerConfiguration(
        layers=max(numbers, default=-1) + 1,
        heads=_heads(fields),
        width=table[1],
        context=positions[0],
        feedforward=hidden[0],
        activation="gelu" if is_nano else "gelu_tanh",
        attention_bias="all" if "h.0.attn.c_attn.bias" in plain else "none",
        feedforward_bias="h.0.mlp.c_fc.bias" in plain,
        norm_bias="h.0.ln_1.bias" in plain,
        tied=is_nano,
    )


def _heads(fields: Fields) -> int:
    if fields.has("n_head"):
        return fields.whole("n_head")
    heads = MINGPT_HEADS.get(fields.word("model_type", ""))
    if heads is None:
        raise LmvizError(
            'the number of heads is not in the weights: put a config.json with "n_head" beside it'
        )
    return heads


def _beside(path: Path) -> Fields:
    """What the config.json beside a file says of the model; minGPT's has it in "model"."""
    beside = path.parent / "config.json"
    if not os.path.isfile(beside):
        return Fields({})
    values: dict[str, Any] = read_json(beside)
    inner = values.get("model")
    return Fields(inner if isinstance(inner, dict) else values)


def _is_tied(stored: StoredTensors, plain: Mapping[str, str]) -> bool:
    """Whether the output is the embedding, as nanoGPT's is."""
    if "lm_head.weight" not in plain:
        return True
    return stored.are_equal(plain["lm_head.weight"], plain["wte.weight"])
