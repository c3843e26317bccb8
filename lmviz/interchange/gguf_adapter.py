"""Writes what was learned beside the matrices of a model as an adapter in GGUF, which llama.cpp adds to it.

The format is that of llama.cpp's convert_lora_to_gguf.py: for each matrix `NAME.lora_a` (rank, feature) and
`NAME.lora_b` (unit, rank), in the order of units in which llama.cpp keeps the matrix, and one alpha for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import torch

from lmviz.base.errors import LmvizError
from lmviz.base.files import replacing
from lmviz.interchange.adapter_saving import pairs_by_module
from lmviz.interchange.checkpoint import open_checkpoint
from lmviz.interchange.gguf_checkpoint import ARCHITECTURES, tensor_names, with_pairs_apart
from lmviz.interchange.kinds import KINDS
from lmviz.interchange.layout import StoredLayout
from lmviz.models.tuned import Tuning

CONVERTED_AS = {made.kind: name for name, made in ARCHITECTURES.items()} | {"mistral": "llama"}
"""The architecture that llama.cpp makes of each kind of transformers."""


VOCABULARY = 2
"""Of the model whose matrices are named: their names do not depend on it."""


def save_gguf_adapter(path: Path, base: Path, tuning: Tuning, learned: Mapping[str, torch.Tensor]) -> Path:
    """Write the adapter for the model at `base`, a checkpoint in any form; returns the file.

    LmvizError where llama.cpp has no such model, and where the file cannot be written.
    """
    import gguf

    name, layout = _converted(base, tuning)
    names = tensor_names(name, layout, VOCABULARY)
    heads, groups = tuning.configuration.heads, tuning.configuration.groups
    try:
        with replacing(path) as unfinished:
            writer = gguf.GGUFWriter(unfinished, name)
            writer.add_type(gguf.GGUFType.ADAPTER)
            writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
            writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, tuning.chosen.alpha)
            for module, (first, second) in pairs_by_module(layout, tuning, learned).items():
                there = names[f"{module}.weight"]
                if ARCHITECTURES[name].pairs_apart:
                    second = with_pairs_apart(there, second, heads, groups)
                # llama.cpp multiplies by alpha / rank, and the rank of joined matrices is larger
                second = second * (len(first) / tuning.chosen.rank)
                writer.add_tensor(f"{there}.lora_a", first.detach().float().cpu().contiguous().numpy())
                writer.add_tensor(f"{there}.lora_b", second.detach().float().cpu().contiguous().numpy())
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
            writer.write_tensors_to_file()
            writer.close()
    except OSError as fault:
        raise LmvizError(f"{path} cannot be written ({fault.strerror}): choose another place.") from fault
    return path


def _converted(base: Path, tuning: Tuning) -> tuple[str, StoredLayout]:
    """The architecture of llama.cpp that a model is of, and its layout as transformers names it."""
    title = open_checkpoint(base).layout.kind.title
    found = next((each for each, kind in KINDS.items() if kind.title == title), "")
    if found not in CONVERTED_AS:
        raise LmvizError(f"{base} is {title}, for which llama.cpp has no model: write a folder instead.")
    kind = replace(KINDS[found], by_group=False)
    return CONVERTED_AS[found], StoredLayout(kind, tuning.configuration, transposed=False)
