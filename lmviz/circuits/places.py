"""What there is in a model to carry over, switch off or count: its taps by what they are to a person."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from lmviz.base.arguments import words
from lmviz.base.errors import LmvizError
from lmviz.models.address import Address
from lmviz.models.model import Model
from lmviz.models.other_names import taps_matching
from lmviz.models.sequences import SOURCE, is_along
from lmviz.models.tap import Tap

PARTS = {
    "attention": ("attention", "output"),
    "cross-attention": ("cross", "output"),
    "feed-forward": ("feedforward", "output"),
    "head": ("attention", "mixed"),
    "cross head": ("cross", "mixed"),
}
"""The block and the name of the taps that a Transformer's parts write."""


def carried(model: Model) -> dict[str, tuple[str, ...]]:
    """The taps of each kind that states can be carried over at, in the order of computation.

    Of a Transformer "stream" (the words, and the stream after each layer), "attention", "feed-forward" and
    "head"; of a recurrent network "hidden" and "cell"; of an n-gram "order". What lies along a source has
    "source " before its name.
    """
    found: dict[str, list[str]] = {}
    for kind, tap in _streams(model.taps()):
        found.setdefault(kind, []).append(tap.address)
    for tap in model.taps():
        at = Address.parse(tap.address)
        kinds = [kind for kind, (block, name) in PARTS.items() if (at.block, at.name) == (block, name)]
        if (
            at.name in ("hidden", "cell")
            and (at.layer is not None or at.name == tap.address)
            and not at.block
        ):
            kinds.append(at.name)
        if at.order is not None and at.name == "probabilities":
            kinds.append("order")
        for kind in kinds:
            found.setdefault(_sided(kind, tap), []).append(tap.address)
    return {kind: tuple(addresses) for kind, addresses in found.items()}


def _streams(taps: Sequence[Tap]) -> list[tuple[str, Tap]]:
    """The words as they enter, and the last tap of width channels of each layer of a Transformer."""
    last: dict[str, Tap] = {}
    for tap in taps:
        at = Address.parse(tap.address)
        if (
            tap.axes[-1:] != ("channel",)
            or len(tap.axes) != 2
            or at.block in ("attention", "feedforward", "cross")
        ):
            continue
        if at.block == "embedding" or at.name == "embedding":
            last[f"{at.side}/words"] = tap
        elif at.layer is not None:
            last[at.place_of_layer] = tap
    return [(_sided("stream", tap), tap) for tap in last.values()]


def _sided(kind: str, tap: Tap) -> str:
    return f"source {kind}" if is_along(tap.axes, SOURCE) else kind


def matching(model: Model, patterns: str | Collection[str]) -> list[Tap]:
    """The taps that patterns mean, in the order of computation; "heads" means what heads write.

    LmvizError where a pattern means none.
    """
    patterns = words("pattern of addresses", patterns, "layers/*/attention/heads")
    if not patterns:
        raise LmvizError(
            "No tap is chosen: give an address, such as 'layers/0/residual2', or leave them out."
        )
    return taps_matching(model.taps(), patterns)


def axis_of(addresses: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Along what several taps lie side by side, and their names: layers, orders, or the taps themselves.

    Layers from the first one on need no names.
    """
    at = [Address.parse(address) for address in addresses]
    for axis in ("layer", "order"):
        numbers = [getattr(address, axis) for address in at]
        if None not in numbers and len(set(numbers)) == len(numbers):
            return axis, () if numbers == list(range(len(numbers))) else tuple(map(str, numbers))
    return "tap", tuple(addresses)
