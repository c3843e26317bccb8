"""The parts of an attribution by name, as a person counts them: the strongest, and the others by kind."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.counting import numbered
from lmviz.models.address import Address
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.circuits.attribution import Attribution

MANY = {
    "head": "heads",
    "cross head": "heads over the source",
    "bias": "biases",
    "unit": "units",
    "word": "tokens",
}

NAMED = 10
"""So many parts are named; the others are added up by kind."""


@dataclass(frozen=True)
class NamedPart:
    """A row: what it is called, its share, the word it reads most, and where its words are kept."""

    name: str
    share: float
    word: str = ""
    words: str = ""
    is_many: bool = False


def named_parts(found: Attribution) -> list[NamedPart]:
    """The strongest parts by name, as a person counts them, and what is left of each kind together."""
    parts: list[tuple[str, NamedPart]] = []
    for kind, numbers in found.kinds.items():
        for index in np.ndindex(numbers.array.shape):
            labels = [numbers.labels(axis)[at] for axis, at in zip(numbers.axes, index, strict=True)]
            counted = [
                str(int(label) + 1) if label.isdecimal() and axis != "order" else label
                for axis, label in zip(numbers.axes, labels, strict=True)
            ]
            name = f"{kind} {'·'.join(counted)}".strip()
            if kind == "bias":
                name = _bias_name(labels[0])
            elif kind.endswith("word"):
                name = f"“{visible(labels[0])}”"
            words = _words_of(found, kind, labels)
            parts.append(
                (kind, NamedPart(name, float(numbers.array[index]), _most_read(found, words), words))
            )
    order = sorted(range(len(parts)), key=lambda at: -abs(parts[at][1].share))
    kept = [parts[at][1] for at in order[:NAMED] if parts[at][1].share]
    others: dict[str, list[float]] = {}
    for at in order[NAMED:]:
        kind, part = parts[at]
        if kind != "rounding":
            others.setdefault(kind, []).append(part.share)
    ups = [part for part in kept if part.share > 0]
    downs = [part for part in kept if part.share <= 0]
    many = [NamedPart(_many(kind, len(shares)), sum(shares), is_many=True) for kind, shares in others.items()]
    return [*ups, *downs, *many]


def _bias_name(parameter: str) -> str:
    """A bias by what it belongs to: "bias of feed-forward 3"."""
    if parameter.endswith(" of nothing"):
        at = Address.parse(parameter.removesuffix(" of nothing"))
        return f"what layer {numbered(at.layer or 0)} gives of nothing"
    recurrent = re.search(r"bias_(ih|hh)_l(\d+)(_reverse)?$", parameter)
    if recurrent is not None:
        of = "input" if recurrent[1] == "ih" else "state"
        return f"{of} bias of layer {numbered(int(recurrent[2]))}{' backward' * bool(recurrent[3])}"
    parts = parameter.split(".")
    blocks = {"attention": "attention", "feedforward": "feed-forward", "cross": "cross-attention"}
    block = next((blocks[part] for part in parts if part in blocks), "")
    layer = next((numbered(int(part)) for part in parts if part.isdecimal()), None)
    if block and layer is not None:
        return f"bias of {block} {layer}"
    return f"bias of {'the ' if parts[-2] in ('norm', 'output') else ''}{parts[-2]}"


def _many(kind: str, count: int) -> str:
    """What so many parts of a kind are called together."""
    if count == 1:
        return f"1 other {kind}" if kind in MANY else kind
    plural = next((kind.replace(one, MANY[one]) for one in reversed(MANY) if one in kind), kind)
    return f"{count} other {plural}"


def _words_of(found: Attribution, kind: str, labels: list[str]) -> str:
    """Where the words of a part are kept; "" where it has none."""
    addresses = [Address.parse(place) for place in found.words]
    addresses = [at for at in addresses if (at.side == "encoder") == kind.startswith("source")]
    if kind.endswith("head") and len(labels) == 2:
        block = "cross" if kind == "cross head" else "attention"
        number = tuple(int(label) for label in labels)
        return next((str(at) for at in addresses if (at.layer, at.head) == number and block in at.parts), "")
    if "unit" in kind:
        direction = kind.removeprefix("source ").removeprefix("unit").strip()
        layers = (at for at in addresses if at.layer is not None and at.head is None)
        return next((str(at) for at in layers if at.direction == direction), "")
    return ""


def _most_read(found: Attribution, words: str) -> str:
    if not words or Address.parse(words).head is None:
        return ""
    numbers = found.words[words]
    return visible(numbers.labels(numbers.axes[0])[int(np.abs(numbers.array).argmax())])
