"""Adapters of peft: what LoRA has learned, added to the weights of the model that it was learned on.

LoRA (Hu et al. 2021) learns for a matrix W two thin ones, A (rank, feature) and B (unit, rank); the model
then computes with W + s · B · A, where s is alpha / rank, or alpha / √rank (Kalajdzievski 2023). The base is
looked for where it may be read unasked: in the folder, beside it, and in the cache of the Hugging Face hub. A
person may choose another one.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import torch

from lmviz.base.errors import LmvizError
from lmviz.interchange.chosen_bases import NoBase, chosen_base
from lmviz.interchange.fields import Fields
from lmviz.interchange.layout import some
from lmviz.interchange.stored_tensors import StoredTensors, read_json, stored_at
from lmviz.text.checkpoint_names import ADAPTER, ADAPTER_WEIGHTS

BEGINNINGS = ("gaussian", "eva", "orthogonal")
"""What A and B may begin as, beside peft's own, and the base stays as it is; "pissa" and others change it."""

_BEFORE = "base_model.model."
_PART = re.compile(r"(.*)\.lora_(embedding_)?(A|B)(?:\.default)?(?:\.weight)?")


@dataclass(frozen=True)
class Adapter:
    """What a folder of peft says: where its base is said to be, and the tensors that it adds."""

    folder: Path
    base: str
    fields: Fields
    stored: StoredTensors

    def find_base(self) -> Path:
        """The folder or file of the base; NoBase where it is not there."""
        chosen = chosen_base(self.folder)
        if chosen is not None:
            return chosen
        name = re.split(r"[/\\]", self.base.rstrip("/\\"))[-1]
        places = [self.folder / name, self.folder.parent / name] if name not in ("", ".", "..") else []
        if re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", self.base, re.ASCII):
            snapshots = _hub_cache() / f"models--{self.base.replace('/', '--')}" / "snapshots"
            places += sorted(snapshots.glob("*"), key=lambda place: place.stat().st_mtime, reverse=True)
        for place in places:
            if os.path.exists(place):
                return place
        beside, base = self.folder.parent / name, repr(self.base) if self.base else "a model without a name"
        raise NoBase(
            f"{self.folder} is an adapter of {base:.200}, which is neither beside it nor in the cache of the "
            f"Hugging Face hub: choose its base, put the model at {beside}, or download it.",
            self.folder,
        )

    def merged(self, base: StoredTensors) -> StoredTensors:
        """The tensors of the base, with what was learned added; NoBase where the two do not fit."""
        changes = self._changes(base)
        found = StoredTensors()
        source = _Merged(base, self.stored, changes)
        for name, shape in base.shapes.items():
            changed = name in changes
            kind = torch.float32 if changed else base.kinds[name]
            found.add(self.folder, name, shape, kind, source, "float32" if changed else base.formats[name])
        found.packed = base.packed - changes.keys()
        found.made_float = base.made_float | changes.keys()
        found.files = [*base.files, *self.stored.files]
        return found

    def _changes(self, base: StoredTensors) -> dict[str, _Change]:
        """What happens to which tensor of the base."""
        pairs: dict[str, dict[str, str]] = {}
        changes: dict[str, _Change] = {}
        strange = []
        for name in self.stored.shapes:
            plain = name.removeprefix(_BEFORE)
            found = _PART.fullmatch(plain)
            target = f"{found[1]}.weight" if found else plain.replace(".modules_to_save.", ".")
            target = target if target in base.shapes else _without_prefix(target, base)
            if target not in base.shapes:
                strange.append(name)
            elif found is None:
                if base.shapes[target] != self.stored.shapes[name]:
                    strange.append(name)
                changes[target] = _Change(name)
            else:
                pairs.setdefault(target, {})[found[3]] = name
                pairs[target]["embedding"] = found[2] or ""
        for target, parts in pairs.items():
            if not {"A", "B"} <= parts.keys():
                strange.append(target)
                continue
            on_side = bool(parts["embedding"]) or self.fields.flag("fan_in_fan_out", False)
            first, second = self.stored.shapes[parts["A"]], self.stored.shapes[parts["B"]]
            shape = base.shapes[target][::-1] if on_side else base.shapes[target]
            rank = first[0] if first else 0
            if not rank or len(shape) != 2 or first != (rank, shape[1]) or second != (shape[0], rank):
                strange.append(parts["A"])
                continue
            scale = self._scale(target.removesuffix(".weight"), rank)
            changes[target] = _Change(parts["B"], parts["A"], scale, on_side)
        if strange:
            raise NoBase(
                f"{self.folder} holds {some(strange)}, which fits nothing in its base "
                f"{self.base!r}: choose the base that it was trained on.",
                self.folder,
            )
        return changes

    def _scale(self, module: str, rank: int) -> float:
        """What B · A is multiplied by."""
        alpha = self.fields.inner("alpha_pattern").matching(module, self.fields.number("lora_alpha", 8))
        return alpha / (rank**0.5 if self.fields.flag("use_rslora", False) else rank)


@dataclass(frozen=True)
class _Change:
    """The tensor that takes the place of another, or the two that are added to it."""

    second: str
    first: str = ""
    scale: float = 1.0
    on_side: bool = False


@dataclass(frozen=True)
class _Merged:
    base: StoredTensors
    learned: StoredTensors
    changes: dict[str, _Change]

    def get_tensor(self, name: str) -> torch.Tensor:
        change = self.changes.get(name)
        if change is None:
            return self.base.get(name)
        second = self.learned.get(change.second).float()
        if not change.first:
            return second
        added = change.scale * (second @ self.learned.get(change.first).float())
        return self.base.get(name).float() + (added.t() if change.on_side else added)


def open_adapter(folder: Path) -> Adapter:
    """What a folder of peft holds; LmvizError where it is none, or is not LoRA."""
    values = read_json(folder / ADAPTER)
    fields, beginning = Fields(values), values.get("init_lora_weights")
    try:
        kind = fields.word("peft_type", "LORA")
        if kind != "LORA":
            raise LmvizError(f"its peft_type {kind[:40]!r} is not LORA")
        fields.refuse("use_dora", "directions and lengths that are learned apart (DoRA)")
        fields.refuse("alora_invocation_tokens", "changes that hold only after certain tokens (aLoRA)")
        if isinstance(beginning, str) and beginning not in BEGINNINGS:
            raise LmvizError(
                f"its init_lora_weights {beginning[:40]!r} takes something away from the base as well; have "
                "peft save it as plain LoRA (path_initial_model_for_weight_conversion)"
            )
        base = fields.word("base_model_name_or_path", "")
        fields.number("lora_alpha", 8)  # all that is asked for later is told here, with the file's name
        fields.inner("alpha_pattern").matching("", 0.0)
        for name in ("fan_in_fan_out", "use_rslora"):
            fields.flag(name, False)
    except LmvizError as error:
        reason = str(error).rstrip(".")
        raise LmvizError(f"{folder / ADAPTER} describes no adapter that can be added: {reason}.") from None
    weights = next((folder / name for name in ADAPTER_WEIGHTS if os.path.exists(folder / name)), None)
    if weights is None:
        raise LmvizError(
            f"{folder} holds no weights: there is neither {' nor '.join(ADAPTER_WEIGHTS)} in it."
        )
    return Adapter(folder, base, fields, stored_at(weights))


def _without_prefix(name: str, base: StoredTensors) -> str:
    """The name under which the base has a tensor: some are saved without what stands before all of them."""
    return next(
        (known for known in base.shapes if known.endswith(f".{name}") or name.endswith(f".{known}")), name
    )


def _hub_cache() -> Path:
    """Where the hub's own library keeps what was downloaded."""
    home = os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")
