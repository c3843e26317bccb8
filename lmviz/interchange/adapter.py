"""Adapters of peft: what was learned on top of a model, put into the weights of that model.

LoRA (Hu et al. 2021) learns for a matrix W two thin ones, A (rank, feature) and B (unit, rank); the model
then computes with W + s · B · A, where s is alpha / rank, or alpha / √rank (Kalajdzievski 2023). Beside them
an adapter may hold biases, whole modules, embeddings for tokens that were added, and single rows of them.
What it adds to one of embedding and output, it does not add to the other, though they were the same matrix in
the base (tied weights). The base is looked for where it may be read unasked: in the folder, beside it, and in
the cache of the Hugging Face hub. A person may choose another one.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from lmviz.base.errors import LmvizError
from lmviz.interchange.chosen_bases import NoBase, chosen_base
from lmviz.interchange.fields import Fields
from lmviz.interchange.layout import StoredLayout, some
from lmviz.interchange.stored_names import without_wrappers
from lmviz.interchange.stored_tensors import StoredTensors, read_json, stored_at
from lmviz.text.checkpoint_names import ADAPTER, ADAPTER_WEIGHTS

BEGINNINGS = ("gaussian", "eva", "orthogonal")
"""What A and B may begin as, beside peft's own, and the base stays as it is; "pissa" and others change it."""

LORA, TOKENS = "LORA", "TRAINABLE_TOKENS"

OTHERS = {
    "IA3": "IA³, which multiplies what a model computes",
    "PROMPT_TUNING": "prompt tuning, which puts learned vectors before a text",
    "P_TUNING": "p-tuning, which puts learned vectors before a text",
    "PREFIX_TUNING": "prefix tuning, which gives every layer learned keys and values",
    "ADAPTION_PROMPT": "LLaMA-Adapter, which gives layers learned keys and values",
    "LOHA": "LoHa, which multiplies two products",
    "LOKR": "LoKr, which learns Kronecker products",
    "ADALORA": "AdaLoRA, which learns singular values",
    "OFT": "OFT, which turns matrices",
    "BOFT": "BOFT, which turns matrices",
    "VERA": "VeRA, which shares its matrices among layers",
}
"""What peft learns otherwise, and lmviz does not add, by `peft_type`."""

REFUSED = {
    "use_dora": "directions and lengths that are learned apart (DoRA)",
    "alora_invocation_tokens": "changes that hold only after certain tokens (aLoRA)",
    "use_qalora": "matrices that read averages of features (QA-LoRA)",
    "use_bdlora": "matrices of blocks (BD-LoRA)",
    "layer_replication": "layers that are there several times",
    "arrow_config": "a choice among several adapters for each token (Arrow)",
    "kasa_config": "singular values that are learned (KaSA)",
}
"""Settings that change what is computed in a way that lmviz does not add."""

_BEFORE = "base_model.model."

_PARTS = {
    "A": r"(.+)\.lora_(?:embedding_)?A(?:\.default)?(?:\.weight)?",
    "B": r"(.+)\.lora_(?:embedding_)?B(?:\.default)?(?:\.weight)?",
    "added": r"(.+)\.lora_B(?:\.default)?\.(bias)",
    "begun": r"(.+?)(?:\.token_adapter)?\.base_layer\.(weight|bias)",
    "rows": r"(.+?)(?:\.token_adapter)?\.trainable_tokens_delta(?:\.default)?",
    "unused": r"(.+)\.(?:original_module|token_adapter|trainable_tokens_original)\b.*",
    "magnitude": r"(.+)\.lora_magnitude_vector.*",
    "saved": r"(.+)\.modules_to_save(?:\.default)?\.(weight|bias)",
    "plain": r"(.+)\.(weight|bias)",
}
"""What the end of a tensor's name says that it is, the first that fits.

Of a module that was `saved`, the plain name is a second copy, and `unused` is what it was before. What was
`begun` with is the base's own tensor, of which an adapter keeps a copy where tokens were added to it.
"""


@dataclass(frozen=True)
class Whole:
    """A model in its parts: how its tensors are laid out, its number of tokens, and the tensors."""

    layout: StoredLayout
    vocabulary_size: int
    stored: StoredTensors


@dataclass(frozen=True)
class Adapter:
    """What a folder of peft says: where its base is said to be, and the tensors that it adds."""

    folder: Path
    base: str
    fields: Fields
    stored: StoredTensors

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return "LoRA" if self.fields.word("peft_type", LORA) == LORA else "trained tokens"

    def find_base(self) -> Path:
        """The folder or file of the base; NoBase where it is not there."""
        chosen = chosen_base(self.folder)
        if chosen is not None:
            return chosen
        name = re.split(r"[/\\]", self.base.rstrip("/\\"))[-1]
        folder = self.folder.absolute()
        around = (folder, folder.parent, folder.parent.parent)  # the last beside the folder of a training
        places = [place / name for place in around] if name not in ("", ".", "..") else []
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

    def added_to(self, base: Whole) -> Whole:
        """The model that the base becomes with what was learned; NoBase where the two do not fit."""
        changes, is_tied = _Learned(self, base).changes()
        table, output = base.layout.table, base.layout.output
        shapes = base.stored.shapes | {name: change.shape for name, change in changes.items()}
        if is_tied:
            shapes.pop(output, None)  # a copy of the embedding, which may have changed
        size = shapes[table][0] if shapes.get(table) else base.vocabulary_size
        rows = shapes[output][0] if shapes.get(output) else size
        if rows != size:
            raise LmvizError(
                f"{self.folder} has embeddings of {size:,} tokens and an output for {rows:,}: the rest was "
                "not saved with it, so merge it into its base with peft, and save that whole."
            )
        found = StoredTensors()
        source = _Merged(base.stored, self.stored, changes)
        for name, shape in shapes.items():
            is_changed = name in changes
            kind = torch.float32 if is_changed else base.stored.kinds[name]
            packed_as = "float32" if is_changed else base.stored.formats[name]
            found.add(self.folder, name, shape, kind, source, packed_as)
        found.packed = (base.stored.packed & shapes.keys()) - changes.keys()
        found.made_float = (base.stored.made_float & shapes.keys()) | changes.keys()
        found.files = [*base.stored.files, *self.stored.files]
        found.maps = base.stored.maps
        configuration = replace(base.layout.configuration, tied=is_tied)
        return Whole(replace(base.layout, configuration=configuration), size, found)

    def scale(self, module: str, rank: int) -> float:
        """What B · A of a module is multiplied by."""
        alpha = self.fields.inner("alpha_pattern").matching(module, self.fields.number("lora_alpha", 8))
        return alpha / (rank**0.5 if self.fields.flag("use_rslora", False) else rank)

    def token_ids(self, module: str) -> tuple[int, ...]:
        """The tokens whose rows of a module were learned anew."""
        if self.fields.word("peft_type", LORA) == TOKENS:
            return self.fields.wholes("token_indices")
        if not self.fields.is_object("trainable_token_indices"):
            return self.fields.wholes("trainable_token_indices")
        by_module = self.fields.inner("trainable_token_indices")
        ends = (name for name in by_module.names() if f".{module}".endswith(f".{name}"))
        return by_module.wholes(next(ends, ""))

    def saves(self, module: str) -> bool:
        """Whether a copy of a module was trained and saved whole."""
        return any(f".{module}".endswith(f".{name}") for name in self.fields.words("modules_to_save"))


@dataclass(frozen=True)
class _Change:
    """What becomes of a tensor, and its shape then.

    It begins as one of the base, or as one that was learned; B · A times `scale` is added to it, or `added`
    times `scale`; then the rows of some tokens are others.
    """

    begin: str
    is_learned: bool
    shape: tuple[int, ...]
    first: str = ""
    second: str = ""
    scale: float = 1.0
    on_side: bool = False
    added: str = ""
    rows: str = ""
    ids: tuple[int, ...] = ()


class _Learned:
    """The tensors of an adapter, by what they change in a base."""

    def __init__(self, adapter: Adapter, base: Whole) -> None:
        self._adapter, self._base = adapter, base
        self._stored, self._shapes = adapter.stored, base.stored.shapes
        self._table, self._output = base.layout.table, base.layout.output
        self._was_tied = base.layout.configuration.tied
        self._strange: list[str] = []
        self._parts: dict[str, dict[str, str]] = {}
        self._targets = [*self._shapes, self._output]
        for name in self._stored.shapes:
            self._take(name)

    def changes(self) -> tuple[dict[str, _Change], bool]:
        """What becomes of which tensor, and whether the output is the embedding."""
        is_tied = self._was_tied and not self._are_parted()
        parts = set(self._parts)
        if self._was_tied and parts & {self._table, self._output}:
            parts |= {self._table, self._output}
        if is_tied:
            parts.discard(self._output)
        made = {name: self._change(name) for name in sorted(parts)}
        if self._strange:
            raise NoBase(
                f"{self._adapter.folder} holds {some(self._strange)}, which fits nothing in its base "
                f"{self._adapter.base!r}: choose the base that it was trained on.",
                self._adapter.folder,
            )
        return {name: change for name, change in made.items() if change is not None}, is_tied

    def _take(self, name: str) -> None:
        """Note what a tensor changes, and how."""
        plain = without_wrappers(name).removeprefix(_BEFORE)
        fitting = ((role, re.fullmatch(pattern, plain)) for role, pattern in _PARTS.items())
        role, found = next((pair for pair in fitting if pair[1]), ("", None))
        if found is None:
            self._strange.append(name)
            return
        if role == "magnitude":
            raise LmvizError(
                f"{self._adapter.folder} holds {name[:80]}, lengths that were learned apart from directions "
                "(DoRA), which lmviz does not add: have peft merge them into the base."
            )
        if role == "unused":
            return
        end = found[2] if found.re.groups > 1 else "weight"
        target = self._target(f"{found[1]}.{end}")
        if target is None:
            self._strange.append(name)
        else:
            self._parts.setdefault(target, {})[role] = name

    def _target(self, name: str) -> str | None:
        """What the base calls a tensor; some are saved without what stands before all of them."""
        if name in self._shapes or name == self._output:
            return name
        ends = (known for known in self._targets if known.endswith(f".{name}") or name.endswith(f".{known}"))
        return next(ends, None)

    def _are_parted(self) -> bool:
        """Whether embedding and output, which were one matrix, are two now."""
        first, second = (self._parts.get(name, {}) for name in (self._table, self._output))
        if self._is_own(self._table, first) or self._is_own(self._output, second):
            return True
        rows = [each["rows"] for each in (first, second) if "rows" in each]
        ids = {self._adapter.token_ids(_module(name)) for name in (self._table, self._output)} - {()}
        return len(rows) == 2 and (len(ids) > 1 or not self._stored.are_equal(*rows))

    def _is_own(self, target: str, parts: dict[str, str]) -> bool:
        """Whether a matrix is changed alone, and not with the one that it is tied to."""
        is_copy = "plain" in parts and self._adapter.saves(_module(target))
        return is_copy or "saved" in parts or "A" in parts or "B" in parts

    def _change(self, target: str) -> _Change | None:
        parts = self._parts.get(target, {})
        other = self._parts.get(self._other(target), {})
        begun = parts.get("saved") or parts.get("plain") or parts.get("begun")
        if begun is None:  # what was put in the place of the one matrix was put in that of both
            is_copy = self._adapter.saves(_module(self._other(target)))
            begun = other.get("begun") if is_copy else other.get("plain") or other.get("begun")
        there = target if target in self._shapes and not self._is_second(target) else self._table
        if there not in self._shapes:
            return self._refuse(parts)
        expected = self._shapes[there]
        shape = expected if begun is None else self._stored.shapes[begun]
        may_grow = target in (self._table, self._output)
        if shape != expected and not (may_grow and len(shape) == 2 and shape[1:] == expected[1:]):
            return self._refuse(parts)
        change: _Change | None = _Change(there if begun is None else begun, begun is not None, shape)
        if change is not None and parts.keys() & {"A", "B"}:
            change = self._with_product(target, parts, change)
        if change is not None and "added" in parts:
            change = self._with_bias(target, parts, change)
        rows = parts.get("rows") or other.get("rows")
        return self._with_rows(target, rows, change) if change is not None and rows else change

    def _with_product(self, target: str, parts: dict[str, str], change: _Change) -> _Change | None:
        if not {"A", "B"} <= parts.keys():
            return self._refuse(parts)
        on_side = "lora_embedding_" in parts["A"] or self._base.layout.lies_on_its_side(target)
        first, second = (self._stored.shapes[parts[part]] for part in "AB")
        shape = change.shape[::-1] if on_side else change.shape
        rank = first[0] if first else 0
        if not rank or len(shape) != 2 or first != (rank, shape[1]) or second != (shape[0], rank):
            return self._refuse(parts)
        scale = self._adapter.scale(_module(target), rank)
        return replace(change, first=parts["A"], second=parts["B"], scale=scale, on_side=on_side)

    def _with_bias(self, target: str, parts: dict[str, str], change: _Change) -> _Change | None:
        """What `lora_bias` has learned, which is multiplied as B · A of the same module is."""
        matrix = self._parts.get(f"{_module(target)}.weight", {}).get("A", "")
        rank = self._stored.shapes[matrix][0] if matrix and self._stored.shapes[matrix] else 0
        if not rank or self._stored.shapes[parts["added"]] != change.shape:
            return self._refuse(parts)
        return replace(change, added=parts["added"], scale=self._adapter.scale(_module(target), rank))

    def _with_rows(self, target: str, rows: str, change: _Change) -> _Change | None:
        ids = self._adapter.token_ids(_module(target)) or self._adapter.token_ids(
            _module(self._other(target))
        )
        count = change.shape[0] if len(change.shape) == 2 else 0
        fits = self._stored.shapes[rows] == (len(ids), *change.shape[1:])
        if not fits or not ids or not all(0 <= index < count for index in ids):
            return self._refuse({"rows": rows})
        return replace(change, rows=rows, ids=ids)

    def _refuse(self, parts: dict[str, str]) -> _Change | None:
        """None, and what cannot be put into the base is remembered."""
        self._strange += parts.values()
        return None

    def _other(self, target: str) -> str:
        """The matrix that one is tied to in the base; "" for all that are tied to none."""
        pair = {self._table: self._output, self._output: self._table} if self._was_tied else {}
        return pair.get(target, "")

    def _is_second(self, target: str) -> bool:
        """Whether a base holds its embedding once more as its output."""
        return self._was_tied and target == self._output


def _module(tensor: str) -> str:
    return tensor.rpartition(".")[0]


@dataclass(frozen=True)
class _Merged:
    base: StoredTensors
    learned: StoredTensors
    changes: dict[str, _Change]

    def get_tensor(self, name: str) -> torch.Tensor:
        change = self.changes.get(name)
        if change is None:
            return self.base.get(name)
        value = (self.learned if change.is_learned else self.base).get(change.begin).float()
        if change.first:
            product = self.learned.get(change.second).float() @ self.learned.get(change.first).float()
            value = value + change.scale * (product.t() if change.on_side else product)
        if change.added:
            value = value + change.scale * self.learned.get(change.added).float()
        if change.rows:
            ids = torch.tensor(change.ids)
            value = value.index_copy(0, ids, self.learned.get(change.rows).float())
        return value


def open_adapter(folder: Path) -> Adapter:
    """What a folder of peft holds; LmvizError where it is none, or is not LoRA."""
    values = read_json(folder / ADAPTER)
    fields, beginning = Fields(values), values.get("init_lora_weights")
    try:
        kind = fields.word("peft_type", "LORA")
        if kind not in (LORA, TOKENS):
            what = f" stands for {OTHERS[kind]}" if kind in OTHERS else f" is not {LORA}"
            raise LmvizError(f"its peft_type {kind[:40]!r}{what}")
        for name, meaning in REFUSED.items():
            fields.refuse(name, meaning)
        if isinstance(beginning, str) and beginning not in BEGINNINGS:
            raise LmvizError(
                f"its init_lora_weights {beginning[:40]!r} takes something away from the base as well; have "
                "peft save it as plain LoRA (path_initial_model_for_weight_conversion)"
            )
        base = fields.word("base_model_name_or_path", "")
        fields.number("lora_alpha", 8)  # all that is asked for later is told here, with the file's name
        fields.inner("alpha_pattern").matching("", 0.0)
        fields.flag("use_rslora", False)
        fields.words("modules_to_save")
    except LmvizError as error:
        reason = str(error).rstrip(".")
        raise LmvizError(f"{folder / ADAPTER} describes no adapter that can be added: {reason}.") from None
    weights = next((folder / name for name in ADAPTER_WEIGHTS if os.path.exists(folder / name)), None)
    if weights is None:
        raise LmvizError(
            f"{folder} holds no weights: there is neither {' nor '.join(ADAPTER_WEIGHTS)} in it."
        )
    return Adapter(folder, base, fields, stored_at(weights))


def _hub_cache() -> Path:
    """Where the hub's own library keeps what was downloaded."""
    home = os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")
