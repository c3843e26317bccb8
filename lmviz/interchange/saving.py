"""Saves a Transformer as a folder that Hugging Face's transformers loads, with the same logits."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from lmviz.base.errors import LmvizError
from lmviz.base.files import replacing, write_atomically
from lmviz.interchange.checkpoint import described_in
from lmviz.interchange.containers import LARGEST_DESCRIPTION
from lmviz.interchange.described import described
from lmviz.interchange.kinds import KINDS
from lmviz.interchange.layout import StoredLayout
from lmviz.interchange.stored_tensors import read_json
from lmviz.interchange.tokenizer_files import (
    DESCRIPTION,
    SMALL_FILES,
    TOKENIZER,
    TOKENIZER_FILES,
    TOKENIZER_SETTINGS,
)
from lmviz.models.model import Model
from lmviz.models.tensor_file import write_tensor_file
from lmviz.models.transformer import TransformerModel
from lmviz.text.ordinary_files import read_file
from lmviz.text.tokenizer import Tokenizer
from lmviz.text.tokenizer_file import LARGEST_FILE


def save_pretrained(model: Model, folder: str | Path) -> Path:
    """Write `model.safetensors`, `tokenizer.json` and `config.json` into a folder, which is made if need be.

    What was opened from a folder of transformers is written as it was: the same description, the same files
    beside it, special tokens and chat template included. The description comes last, so that a folder with
    one is whole. LmvizError for a model that transformers does not have, where a checkpoint lies there
    already, and where the folder cannot be written to, or that it was opened from is there no more.
    """
    if not isinstance(folder, str | os.PathLike) or folder == "":
        raise LmvizError("There is no folder to write the model into: name one.")
    if not isinstance(model, Model):
        raise LmvizError(
            f"{model!r} is not a model: give what open_model returns, the folder of a run, or the name of a "
            "sample model."
        )
    path = Path(folder)
    if not isinstance(model, TransformerModel):
        raise LmvizError(
            f"transformers has no {model.family} like that of lmviz: convert a Transformer, or an n-gram to "
            "OUT.arpa."
        )
    if not (model.causal and model.predicts.continues):
        raise LmvizError(
            "Only language models with a causal mask are converted, and this one "
            + ("sees the words after each position." if not model.causal else "gives labels.")
        )
    if model.checkpoint is None:
        layout, files = _described_files(model)
    else:
        layout, files = _files_of(model, model.checkpoint)
    if os.path.exists(path / "config.json"):
        raise LmvizError(f"{path} holds a checkpoint already: choose another folder.")
    try:
        path.mkdir(parents=True, exist_ok=True)
        with replacing(path / "model.safetensors") as beside:
            write_tensor_file(beside, _tensors(model, layout), _HEADER)
    except (OSError, ValueError) as error:  # ValueError for a name with a NUL in it
        reason = getattr(error, "strerror", None) or error
        raise LmvizError(f"{path} cannot be written to ({reason}): choose another folder.") from None
    for name in sorted(files, key=lambda name: name == DESCRIPTION):
        write_atomically(path / name, files[name])
    return path


def _described_files(model: TransformerModel) -> tuple[StoredLayout, dict[str, bytes]]:
    """How a model is stored that was made here, and the files beside its weights."""
    values = described(model.configuration)
    layout = StoredLayout(KINDS[values["model_type"]], model.configuration)
    ids, spellings = _special_tokens(model.tokenizer)
    kinds = {
        str(parameter.dtype).removeprefix("torch.") for parameter in model.parameters() if parameter.dim() > 1
    }
    values |= {"vocab_size": model.vocabulary_size, **ids, "torch_dtype": min(kinds)}
    files = {DESCRIPTION: _as_json(values)}
    if model.tokenizer is not None:
        settings = {"tokenizer_class": "PreTrainedTokenizerFast", **spellings}
        files |= {TOKENIZER: model.tokenizer.content, TOKENIZER_SETTINGS: _as_json(settings)}
    return layout, files


def _files_of(model: TransformerModel, folder: Path) -> tuple[StoredLayout, dict[str, bytes]]:
    """How what was opened from a folder of transformers was stored, and the files beside its weights.

    What an adapter has changed of the model, its number of tokens and whether its output is the embedding, is
    described as it is now.
    """
    layout, size = described_in(folder)
    try:
        files = {
            name: read_file(folder / name, LARGEST_FILE)
            for name in SMALL_FILES
            if os.path.exists(folder / name)
        }
    except OSError as error:
        raise LmvizError(
            f"{error.filename} cannot be read ({error.strerror}): open the model again."
        ) from None
    tied = model.configuration.tied
    files |= _in_single_precision(model, folder)
    if size != model.vocabulary_size or tied != layout.configuration.tied:
        values = json.loads(files[DESCRIPTION])
        values |= {"vocab_size": model.vocabulary_size, "tie_word_embeddings": tied}
        files[DESCRIPTION] = _as_json(values)
        layout = replace(layout, configuration=replace(layout.configuration, tied=tied))
    if size != model.vocabulary_size and model.tokenizer is not None:
        files = {name: content for name, content in files.items() if name not in TOKENIZER_FILES}
        files[TOKENIZER] = model.tokenizer.content
    return layout, files


def _in_single_precision(model: TransformerModel, folder: Path) -> dict[str, bytes]:
    """The description of a model with matrices in single precision that were not so where it lay."""
    values = read_json(folder / DESCRIPTION, LARGEST_DESCRIPTION)
    kinds = {name: values[name] for name in ("dtype", "torch_dtype") if name in values}
    is_single = any(
        parameter.dtype == torch.float32 for parameter in model.parameters() if parameter.dim() > 1
    )
    if not is_single or set(kinds.values()) <= {"float32"}:
        return {}
    return {DESCRIPTION: _as_json(values | dict.fromkeys(kinds, "float32"))}


_HEADER = {"format": "pt"}
"""What transformers wants to read in the header of safetensors."""


def _tensors(model: TransformerModel, layout: StoredLayout) -> dict[str, torch.Tensor]:
    """The weights under their names there; the output is left out where it is the embedding."""
    found: dict[str, torch.Tensor] = {}
    for parameter, value in model.named_parameters():
        inside = "" if parameter.startswith("output.") else layout.kind.inside
        names = layout.stored_names(parameter)
        for name, tensor in zip(names, layout.separated(parameter, value.detach()), strict=True):
            plain = tensor.cpu().contiguous().clone()
            halves = [found[inside + name]] if layout.is_half(parameter) and inside + name in found else []
            found[inside + name] = torch.cat([*halves, plain]) if halves else plain
    return found


def _special_tokens(tokenizer: Tokenizer | None) -> tuple[dict[str, int], dict[str, str]]:
    """The ids of START and END for the model, and their spellings for the tokenizer."""
    if tokenizer is None:
        return {}, {}
    ids = {"bos": tokenizer.start_id, "eos": tokenizer.end_id, "unk": tokenizer.unknown_id}
    spellings = tokenizer.spellings()
    return (
        {f"{name}_token_id": index for name, index in ids.items() if index is not None and name != "unk"},
        {f"{name}_token": spellings[index] for name, index in ids.items() if index is not None},
    )


def _as_json(values: dict[str, Any]) -> bytes:
    return json.dumps(values, indent=2, ensure_ascii=False).encode("utf-8") + b"\n"
