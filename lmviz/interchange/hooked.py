"""Weights under the names of TransformerLens, for models of transformers and for its own.

There a model is a HookedTransformer: every head has a matrix of its own, matrices are (feature, unit), and
normalisation may have been folded into the matrices that read it. What it is beside its sizes, a
`config.json` says: that of transformers for the model it was made from, or the `cfg` of TransformerLens
(https://github.com/TransformerLensOrg/TransformerLens).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import torch

from lmviz.base.errors import LmvizError
from lmviz.interchange.fields import Fields
from lmviz.interchange.kinds import KINDS
from lmviz.interchange.kinds.kind import Kind, Names
from lmviz.interchange.kinds.settings import read_activation
from lmviz.interchange.layout import StoredLayout
from lmviz.interchange.stored_names import without_wrappers
from lmviz.interchange.stored_tensors import StoredTensors
from lmviz.models.transformer_configuration import TransformerConfiguration

_NAMES: Names = {
    "embedding": "embed.E",
    "positions": "pos_embed.pos",
    "layers.*.norm1": "blocks.*.ln1",
    "layers.*.attention.input": tuple(f"blocks.*.attn.{letter}" for letter in "QKV"),
    "layers.*.attention.query_norm": "blocks.*.attn.q_norm",
    "layers.*.attention.key_norm": "blocks.*.attn.k_norm",
    "layers.*.attention.output": "blocks.*.attn.O",
    "layers.*.norm2": "blocks.*.ln2",
    "layers.*.feedforward.gate": "blocks.*.mlp.gate",
    "layers.*.feedforward.hidden": "blocks.*.mlp.in",
    "layers.*.feedforward.output": "blocks.*.mlp.out",
    "norm": "ln_final",
    "output": "unembed.U",
}

_IGNORED = (
    "blocks.*.attn.mask",
    "blocks.*.attn.IGNORE",
    "blocks.*.attn.rotary_sin",
    "blocks.*.attn.rotary_cos",
)

MADE_FROM = ("gpt2", "gpt_neo", "gptj", "gpt_neox", "llama", "mistral", "qwen2", "qwen3")
"""The kinds of transformers whose numbers it takes over as they are, but for their order."""

_MATRIX = re.compile(r"_?([Wb])_(E|pos|Q|K|V|O|in|out|gate|U)")
_EACH_HEAD = ("Q", "K", "V")


def can_be_hooked(kind: Kind) -> bool:
    """Whether TransformerLens takes over the numbers of a kind of transformers."""
    return any(kind is KINDS[name] for name in MADE_FROM)


def is_hooked(stored: StoredTensors) -> bool:
    """Whether tensors are called as TransformerLens calls them."""
    ends = {".".join(without_wrappers(name).split(".")[-2:]) for name in stored.shapes}
    return {"embed.W_E", "attn.W_Q"} <= ends


def hooked(
    stored: StoredTensors, described: Fields, configuration: TransformerConfiguration | None = None
) -> tuple[StoredTensors, StoredLayout, int, tuple[str, ...]]:
    """The tensors as torch has them, how they are laid out, for how many tokens, and what was taken off.

    `configuration` is that of the model of transformers; without one, `described` is a `cfg` of
    TransformerLens. LmvizError, in a few words, where this says no model that lmviz computes.
    """
    before = next(name.removesuffix("embed.W_E") for name in stored.shapes if name.endswith("embed.W_E"))
    names = {name: without_wrappers(name.removeprefix(before)) for name in stored.shapes}
    found = _Found(stored, {short: name for name, short in names.items()})
    sizes = found.sizes()
    if configuration is None:
        configuration = _of_cfg(described, sizes, found)
    configuration = replace(configuration, **sizes, **found.parts())
    kind = Kind("TransformerLens", "", lambda _: configuration, _NAMES, ignored=_IGNORED)
    taken_off = tuple(part for part in before.split(".") if part)
    table = found.shape("embed.W_E")
    return (
        found.turned(configuration),
        StoredLayout(kind, configuration, transposed=False),
        table[0],
        taken_off,
    )


class _Found:
    """Tensors by their names in TransformerLens; some that it leaves out are zeros."""

    def __init__(self, stored: StoredTensors, names: dict[str, str]) -> None:
        self._stored, self._names = stored, names

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def shape(self, name: str, axes: int = 2) -> tuple[int, ...]:
        """The shape of a tensor that has to be there, with so many axes."""
        for each in (name, re.sub(r"\.([Wb]_)", r"._\1", name)):  # keys and values that heads share
            if each in self._names and len(self._stored.shapes[self._names[each]]) == axes:
                return self._stored.shapes[self._names[each]]
        raise LmvizError(f"its {name} is missing, or has not {axes} axes")

    def sizes(self) -> dict[str, Any]:
        """The sizes, which follow from the shapes."""
        numbers = [int(found[1]) for name in self._names if (found := re.match(r"blocks\.(\d{1,6})\.", name))]
        heads, width, channels = self.shape("blocks.0.attn.W_Q", 3)
        groups = self.shape("blocks.0.attn.W_K", 3)[0]
        sizes: dict[str, Any] = {
            "layers": max(numbers) + 1,
            "heads": heads,
            "key_value_heads": groups if groups != heads else 0,
            "width": width,
            "head_channels": channels if channels * heads != width else 0,
        }
        if "blocks.0.mlp.W_in" in self:
            sizes["feedforward"] = self.shape("blocks.0.mlp.W_in")[1]
        if "pos_embed.W_pos" in self:
            sizes["context"] = self.shape("pos_embed.W_pos")[0]
        return sizes

    def parts(self) -> dict[str, Any]:
        """The settings that follow from which tensors are there."""
        is_folded = "blocks.0.ln1.w" not in self
        return {
            "tied": False,
            "output_bias": "unembed.b_U" in self,
            "attention_bias": "all" if "blocks.0.attn.b_Q" in self else "none",
            "feedforward_bias": "blocks.0.mlp.b_in" in self,
            "norm_gain": "none" if is_folded else "weight",
            "norm_bias": "blocks.0.ln1.b" in self,
            "parallel_norm": "own",
            "gated": "blocks.0.mlp.W_gate" in self,
            "attention_alone": "blocks.0.mlp.W_in" not in self,
        }

    def turned(self, configuration: TransformerConfiguration) -> StoredTensors:
        """All tensors under `_NAMES`, in the shapes that torch has."""
        made = StoredTensors()
        source = _Turned(self._stored, {}, {})
        for short, name in self._names.items():
            module, _, end = short.rpartition(".")
            found = _MATRIX.fullmatch(end)
            ours = f"{module}.{found[2]}.{'weight' if found[1] == 'W' else 'bias'}" if found else short
            ours = re.sub(r"\.(w|b)$", lambda each: ".weight" if each[1] == "w" else ".bias", ours)
            source.names[ours] = name
            kind = self._stored.kinds[name]
            shape = _shape(self._stored.shapes[name], found[1] + found[2] if found else "")
            made.add(self._stored.files[0], ours, shape, kind, source, self._stored.formats[name])
            if ours.endswith("mlp.in.bias") and configuration.gated:  # the gate has none of its own
                gate = ours.replace("mlp.in", "mlp.gate")
                source.zeros[gate] = shape
                made.add(self._stored.files[0], gate, shape, torch.float32, source, "float32")
        made.files = list(self._stored.files)
        return made


def _shape(shape: tuple[int, ...], what: str) -> tuple[int, ...]:
    """The shape that torch has of what is called so there."""
    if what in ("WQ", "WK", "WV") and len(shape) == 3:
        return shape[0] * shape[2], shape[1]
    if what == "WO" and len(shape) == 3:
        return shape[2], shape[0] * shape[1]
    if what in ("bQ", "bK", "bV") and len(shape) == 2:
        return (shape[0] * shape[1],)
    return shape[::-1] if what in ("Win", "Wout", "Wgate", "WU") else shape


class _Turned:
    """Gives tensors of TransformerLens in the shapes of torch."""

    def __init__(
        self, stored: StoredTensors, names: dict[str, str], zeros: dict[str, tuple[int, ...]]
    ) -> None:
        self._stored, self.names, self.zeros = stored, names, zeros

    def get_tensor(self, name: str) -> torch.Tensor:
        if name in self.zeros:
            return torch.zeros(self.zeros[name])
        tensor = self._stored.get(self.names[name])
        what = name.split(".")[-2] if name.endswith(".weight") else ""
        if what in _EACH_HEAD and tensor.dim() == 3:
            return tensor.transpose(1, 2).flatten(0, 1)  # (head, feature, channel) there
        if what == "O" and tensor.dim() == 3:
            return tensor.flatten(0, 1).t()  # (head, channel, feature) there
        if what in ("in", "out", "gate", "U"):
            return tensor.t()
        return tensor.flatten() if name.endswith(".bias") else tensor


def _of_cfg(described: Fields, sizes: dict[str, Any], found: _Found) -> TransformerConfiguration:
    """What a `cfg` of TransformerLens says that the shapes do not."""
    if not described.has("act_fn"):
        raise LmvizError(
            "nothing says its activation: put the config.json of transformers, or the cfg of TransformerLens "
            "as config.json, beside it"
        )
    norm = described.word("normalization_type", described.word("normalization", "LN"))
    if norm not in ("LN", "LNPre", "RMS", "RMSPre"):
        raise LmvizError(f"its normalization_type {norm[:40]!r} is none that lmviz computes")
    positions = described.word("positional_embedding_type", "standard")
    if positions not in ("standard", "rotary") or described.flag("shortformer_pos", False):
        raise LmvizError(f"its positions ({positions[:40]}) are none that lmviz computes")
    settings: dict[str, Any] = {
        "activation": read_activation(described.word("act_fn", "")),
        "norm_kind": "rms" if norm.startswith("RMS") else "layer",
        "norm_epsilon": described.number("eps", described.number("ln_eps", 1e-5)),
        "parallel": described.flag("parallel_attn_mlp", False),
        "score_scale": 0.0 if described.flag("use_attn_scale", True) else 1.0,
        "score_scale_by_layer": described.flag("scale_attn_by_inverse_layer_idx", False),
        "context": described.whole("n_ctx", sizes.get("context", 1024)),
    }
    if positions == "rotary":
        channels = sizes["head_channels"] or sizes["width"] // sizes["heads"]
        turned = described.whole("rotary_dim", channels)
        settings |= {
            "positions": "rotary",
            "rotary_base": described.number("rotary_base", 10000.0),
            "rotary_channels": turned if turned != channels else 0,
            "rotary_pairs": "neighbours" if described.flag("rotary_adjacent_pairs", False) else "halves",
        }
    described.refuse("use_local_attn", "windows of attention that are described nowhere else")
    described.refuse("final_rms", "a last normalisation of another kind than the others")
    return TransformerConfiguration(**settings)
