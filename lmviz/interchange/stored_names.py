"""What programs put before and between the names of weights, taken off where what remains is a known kind.

A model may be wrapped several times before it is saved: by torch.compile (`_orig_mod.`), by data parallel
training (`module.`), by FSDP, DeepSpeed or Lightning, and by whatever class somebody has written around it.
So no list of beginnings is tried. The embedding of the kind is looked for at the end of a name, and what
stands before it there is what stands before all the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lmviz.base.errors import LmvizError
from lmviz.interchange.kinds.kind import Half, Kind
from lmviz.interchange.stored_tensors import StoredTensors

BETWEEN = ("_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module", "_forward_module")
"""Parts of names that wrappers of single layers put anywhere: no model has parts that are called so."""


@dataclass(frozen=True)
class Unwrapped:
    """Tensors under the names of their kind; `taken_off` are the parts of names that were left out."""

    stored: StoredTensors
    taken_off: tuple[str, ...] = ()


def unwrap(place: object, stored: StoredTensors, kind: Kind) -> Unwrapped:
    """The tensors of a checkpoint under the names that the kind has for them.

    Names in which nothing of the kind is found stay as they are. LmvizError where the file holds several
    models under different beginnings.
    """
    plain = {name: without_wrappers(name) for name in stored.shapes}
    before = _before(place, plain.values(), kind)
    before = kind.inside if before is None else before
    names: dict[str, str] = {}
    met: set[str] = set()
    for name, short in plain.items():
        known = _known_name(short, before, kind)
        names[name] = name if known in met else known  # of two that would be called alike, one stays
        met.add(names[name])
    return Unwrapped(stored.renamed(names), tuple(_taken_off(names, before, kind)))


def without_wrappers(name: str) -> str:
    """A name without the parts that wrappers of single layers put into it."""
    return ".".join(part for part in name.split(".") if part not in BETWEEN)


def _known_name(name: str, before: str, kind: Kind) -> str:
    """What the kind calls a tensor, if it is one of its own; otherwise its name without the beginning."""
    outer = _outer(before, kind)
    for end in (".weight", ".bias"):
        output = f"{kind.names['output']}{end}"
        if name == output or (name.endswith(f".{output}") and before.startswith(name.removesuffix(output))):
            return output
    if name.startswith(before):
        return kind.inside + name.removeprefix(before)
    return name.removeprefix(outer)


def _outer(before: str, kind: Kind) -> str:
    """What stands before the names of the whole model, the output included."""
    inside = kind.inside
    ends = inside and (before == inside or before.endswith(f".{inside}"))
    return before.removesuffix(inside) if ends else before


def _before(place: object, names: Iterable[str], kind: Kind) -> str | None:
    """What stands before the names of the kind; None where none of them is there."""
    listed = list(names)
    anchor = f"{kind.names['embedding']}.weight"
    candidates = {
        name.removesuffix(anchor) for name in listed if name == anchor or name.endswith(f".{anchor}")
    }
    modules = _modules(kind)
    counts = {
        before: sum(
            _module(name.removeprefix(before)) in modules for name in listed if name.startswith(before)
        )
        for before in candidates
    }
    if not counts:
        return None
    most = max(counts.values())
    whole = sorted(before for before, count in counts.items() if count == most)
    if len(whole) > 1:
        told = " and ".join(repr(before[:80]) for before in whole[:2])
        raise LmvizError(
            f"{place} holds {len(whole)} models, whose names begin with {told}: save one of them alone."
        )
    return whole[0]


def _modules(kind: Kind) -> set[str]:
    """The modules of a kind, as `_module` writes them."""
    found = set()
    for name in kind.names.values():
        several = (name,) if isinstance(name, str) else (name.name,) if isinstance(name, Half) else name
        found |= set(several)
    return found


def _module(name: str) -> str:
    """The module of a tensor, a `*` in place of the number of its layer."""
    return re.sub(r"\.\d{1,6}\.", ".*.", name.rpartition(".")[0] + ".", count=1).removesuffix(".")


def _taken_off(names: Mapping[str, str], before: str, kind: Kind) -> Iterable[str]:
    """The parts of names that are left out, as they are written there, in the order in which they stand."""
    first = next((name for name in names if without_wrappers(name).startswith(before)), "")
    outer = _outer(before, kind)
    parts = outer.split(".")[:-1]
    for part in first.split("."):
        if part in BETWEEN:
            yield part
        elif parts and part == parts[0]:
            yield parts.pop(0)
        else:
            break
    inner = (part for name in names for part in name.split(".") if part in BETWEEN)
    yield from (part for part in dict.fromkeys(inner) if part not in first.split("."))
