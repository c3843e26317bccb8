"""Writes what was learned beside the matrices of a model as a folder that peft loads onto that model."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from lmviz.base.errors import LmvizError
from lmviz.base.files import replacing, write_atomically
from lmviz.interchange.checkpoint import described_in
from lmviz.interchange.layout import StoredLayout
from lmviz.models.tensor_file import write_tensor_file
from lmviz.models.tuned import Tuning
from lmviz.text.checkpoint_names import ADAPTER, ADAPTER_WEIGHTS

Pair = tuple[torch.Tensor, torch.Tensor]
"""A (rank, feature) and B (unit, rank)."""


def save_adapter(folder: Path, base: Path, tuning: Tuning, learned: Mapping[str, torch.Tensor]) -> Path:
    """Write `adapter_config.json` and `adapter_model.safetensors` for the model in the folder `base`.

    The description comes last, so that a folder with one is whole. LmvizError where an adapter lies there
    already, and where the folder cannot be written to.
    """
    if os.path.exists(folder / ADAPTER):
        raise LmvizError(f"{folder} holds an adapter already: choose another folder.")
    layout, _ = described_in(base)
    pairs = pairs_by_module(layout, tuning, learned)
    tensors = {}
    for module, (first, second) in pairs.items():
        tensors[f"base_model.model.{module}.lora_A.weight"] = first
        tensors[f"base_model.model.{module}.lora_B.weight"] = second
    plain = {name: value.detach().float().cpu().contiguous().clone() for name, value in tensors.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / ADAPTER_WEIGHTS[0]) as beside:
            write_tensor_file(beside, plain, {"format": "pt"})
    except (OSError, ValueError) as error:  # ValueError for a name with a NUL in it
        reason = getattr(error, "strerror", None) or error
        raise LmvizError(f"{folder} cannot be written to ({reason}): choose another folder.") from None
    content = json.dumps(_described(base, layout, tuning, pairs), indent=2, ensure_ascii=False)
    write_atomically(folder / ADAPTER, content.encode("utf-8") + b"\n")
    return folder


def pairs_by_module(
    layout: StoredLayout, tuning: Tuning, learned: Mapping[str, torch.Tensor]
) -> dict[str, Pair]:
    """A and B by the full name of the stored module whose weight they change.

    LmvizError where each head has a matrix of its own.
    """
    found: dict[str, list[Pair]] = {}
    for module, rows in tuning.products().items():
        names = [name.rpartition(".")[0] for name in layout.stored_names(f"{module}.weight")]
        for place, (start, _) in enumerate(rows):
            pair = learned[f"{module}.first.{place}"], learned[f"{module}.second.{place}"]
            if len(names) == 1:
                there = {names[0]: (pair[0], _as_stored(layout, f"{module}.weight", pair[1]))}
            elif len(names) != 3:
                raise LmvizError(
                    "The base keeps each head in a matrix of its own, which peft cannot add to: write the "
                    "whole model."
                )
            elif tuning.joined:  # one A for what is stored as three
                parts = layout.separated(f"{module}.weight", pair[1])
                there = {name: (pair[0], part) for name, part in zip(names, parts, strict=True)}
            else:
                there = {names[_part(tuning, start)]: pair}
            for stored, each in there.items():
                found.setdefault(layout.kind.inside + stored, []).append(each)
    return {name: _side_by_side(pairs) for name, pairs in found.items()}


def _part(tuning: Tuning, start: int) -> int:
    """Which of queries, keys and values begins with this unit."""
    configuration = tuning.configuration
    mixed = configuration.heads * configuration.head_width
    shared = configuration.groups * configuration.head_width
    return (0, mixed, mixed + shared).index(start)


def _as_stored(layout: StoredLayout, parameter: str, second: torch.Tensor) -> torch.Tensor:
    """B with its units in the order in which they are stored."""
    [stored] = replace(layout, transposed=False).separated(parameter, second)
    return stored


def _side_by_side(pairs: list[Pair]) -> Pair:
    """One A and B for what is stored as one matrix, of which each pair changes a share."""
    if len(pairs) == 1:
        return pairs[0]
    return torch.cat([first for first, _ in pairs]), torch.block_diag(*(second for _, second in pairs))


def _described(base: Path, layout: StoredLayout, tuning: Tuning, pairs: Mapping[str, Pair]) -> dict[str, Any]:
    """The content of `adapter_config.json`."""
    rank, alpha = tuning.chosen.rank, tuning.chosen.alpha
    ends = {name: re.sub(r"^.*?\.\d+\.", "", name, count=1) for name in pairs}
    wider = {ends[name]: len(first) for name, (first, _) in pairs.items() if len(first) != rank}
    on_side = any(layout.lies_on_its_side(f"{name}.weight") for name in pairs)
    return {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": str(base),
        "r": rank,
        "lora_alpha": alpha if alpha != int(alpha) else int(alpha),
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": sorted(set(ends.values())),
        "fan_in_fan_out": on_side,
        "rank_pattern": wider,
        "alpha_pattern": {name: alpha * size / rank for name, size in wider.items()},
        "use_rslora": False,
        "use_dora": False,
        "init_lora_weights": True,
        "modules_to_save": None,
        "inference_mode": True,
    }
