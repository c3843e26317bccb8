"""Weights in one file without a config.json of transformers: known by their names, and described beside them.

nanoGPT's `ckpt.pt` and that of llama2.c say in `model_args` what the model is; minGPT's `model.pt` is bare,
and its `config.json` lies beside it. Sizes follow from the weights themselves, but for the number of heads.
nanoGPT ties its output to the embedding and computes the exact GELU; minGPT does neither.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lmviz.base.errors import LmvizError
from lmviz.interchange.fields import Fields
from lmviz.interchange.hooked import hooked, is_hooked
from lmviz.interchange.kinds import KINDS
from lmviz.interchange.kinds.gpt import GPT2
from lmviz.interchange.layout import StoredLayout
from lmviz.interchange.litgpt import DESCRIPTION as LITGPT_DESCRIPTION
from lmviz.interchange.litgpt import is_litgpt, kind_of_litgpt, litgpt, read_settings
from lmviz.interchange.llama2c import LLAMA2C, llama2c
from lmviz.interchange.stored_names import unwrap, without_wrappers
from lmviz.interchange.stored_tensors import StoredTensors, read_json, read_saved, state_in, stored_at
from lmviz.models.transformer_configuration import TransformerConfiguration

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
    """What a file holds: its kind in words, the tensors, how they are laid out, and the number of tokens.

    `taken_off` are the parts of their names that wrappers have put there.
    """

    title: str
    stored: StoredTensors
    layout: StoredLayout
    vocabulary_size: int
    taken_off: tuple[str, ...] = ()


def read_state_dictionary(path: Path) -> StateDictionary:
    """The state dictionary in a file of weights; LmvizError where it is none that can be opened."""
    if path.suffix == ".safetensors":
        return recognised(path, stored_at(path))
    values = read_saved(path)
    saved = StoredTensors()
    saved.add_saved(path, state_in(values))
    return recognised(path, saved, _arguments_in(values), isinstance(values.get("model_args"), dict))


def recognised(
    path: Path, saved: StoredTensors, arguments: Any = None, says_nano: bool = False
) -> StateDictionary:
    """The model that tensors by name are; LmvizError where it is none that can be opened.

    `path` is the file beside which a description may lie, `arguments` what it says of the model itself.
    """
    fields = Fields(arguments) if isinstance(arguments, dict) else None
    return state_dictionary_of(path, saved, fields, says_nano, beside=lambda: _beside(path))


def state_dictionary_of(
    place: object,
    saved: StoredTensors,
    fields: Fields | None,
    says_nano: bool = False,
    beside: Callable[[], Fields] = lambda: Fields({}),
) -> StateDictionary:
    """What tensors under their names are, wherever they are kept; LmvizError for those of no known kind.

    `fields` is what is said of the model with them, and `beside` gives what is said elsewhere.
    """
    ends = {name.rpartition(".")[0].rpartition(".")[2] for name in saved.shapes}
    try:
        if is_hooked(saved):
            return StateDictionary("TransformerLens", *hooked(saved, described=beside()))
        if "tok_embeddings" in ends:
            unwrapped = unwrap(place, saved, LLAMA2C)
            layout, size = llama2c(unwrapped.stored, fields or beside())
            return StateDictionary("llama2.c", unwrapped.stored, layout, size, unwrapped.taken_off)
        if is_litgpt(ends):
            kind = kind_of_litgpt(ends)
            unwrapped = unwrap(place, saved, kind)
            layout, size = litgpt(unwrapped.stored, kind, fields or beside())
            return StateDictionary("litgpt", unwrapped.stored, layout, size, unwrapped.taken_off)
        if {"wte", "wpe"} <= ends:
            return _of_gpt2_names(place, saved, fields or beside(), says_nano)
    except LmvizError as error:
        raise LmvizError(
            f"{place} describes no model that can be opened ({str(error).rstrip('.')})."
        ) from None
    raise LmvizError(f"{place} {_unknown(saved)}.")


def _arguments_in(values: Mapping[str, Any]) -> Any:
    """What a file says of its model: arguments, or the options of a training that name its heads."""
    if isinstance(values.get("model_args"), dict):
        return values["model_args"]
    named = (values.get(name) for name in ("config", "hyper_parameters", "args"))
    inner = (each.get("config", each) for each in named if isinstance(each, dict))
    return next(
        (each for each in inner if isinstance(each, dict) and {"n_head", "n_heads"} & each.keys()), None
    )


def _unknown(saved: StoredTensors) -> str:
    """Why weights are not opened that are under no names that say what they are."""
    if not saved.shapes:
        return "holds no tensors: choose another checkpoint"
    plain = {without_wrappers(name) for name in saved.shapes}
    if any(name.endswith("x0_lambdas") or ".value_embeds." in f".{name}" for name in plain):
        return "holds weights of nanochat, a Transformer of a kind that lmviz does not compute"
    for name in plain:
        for kind in KINDS.values():
            if name.endswith(f"{kind.names['embedding']}.weight"):
                return (
                    "holds weights under names of transformers, and no config.json beside it says what they "
                    f"are of (such as {kind.title}): put that of the model there"
                )
    return (
        f"holds weights whose names ({min(plain)[:80]}) are those of no model that lmviz knows: choose a "
        "folder of transformers, or a file of nanoGPT, minGPT, litgpt, llama2.c or TransformerLens"
    )


def _of_gpt2_names(place: object, saved: StoredTensors, fields: Fields, says_nano: bool) -> StateDictionary:
    """What nanoGPT and minGPT save, or the bare weights of GPT-2 of transformers."""
    unwrapped = unwrap(place, saved, GPT2)
    stored = unwrapped.stored
    plain = {name.removeprefix(GPT2.inside): name for name in stored.shapes}
    if not {"wte.weight", "wpe.weight"} <= set(plain):
        raise LmvizError("it holds no wte.weight beside its wpe.weight")
    on_side = _lies_on_its_side(stored, plain)
    is_nano = says_nano or (not on_side and _is_tied(stored, plain))
    configuration = _configuration(stored, plain, fields, is_nano)
    if on_side:
        configuration = replace(configuration, tied=_is_tied(stored, plain))
    kind = replace(GPT2, ignored=(*GPT2.ignored, "lm_head.weight") if configuration.tied else GPT2.ignored)
    size = stored.shapes[plain["wte.weight"]][0]
    title = GPT2.title if on_side else "nanoGPT" if is_nano else "minGPT"
    layout = StoredLayout(kind, configuration, transposed=on_side)
    return StateDictionary(title, stored, layout, size, unwrapped.taken_off)


def _lies_on_its_side(stored: StoredTensors, plain: Mapping[str, str]) -> bool:
    """Whether matrices are (feature, unit), as transformers has them for GPT-2."""
    shape = stored.shapes.get(plain.get("h.0.attn.c_attn.weight", ""), ())
    return len(shape) == 2 and shape[1] == 3 * shape[0]


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
        feedforward=hidden[1] if _lies_on_its_side(stored, plain) else hidden[0],
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
    if os.path.isfile(path.parent / LITGPT_DESCRIPTION):
        return Fields(read_settings(path.parent / LITGPT_DESCRIPTION))
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
