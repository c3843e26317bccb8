"""The same network as a program for PyTorch, which runs as it stands and prints the same gradients."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from collections.abc import Collection

import numpy as np

from lmviz.autodiff.graph import Graph
from lmviz.autodiff.modules.elementwise import Stop
from lmviz.autodiff.node import Node


def program(net: Graph) -> str:
    """Lines of Python that compute the values with torch and the gradients with its autograd."""
    names = identifiers(net)
    lines = ["import torch", "", "torch.set_default_dtype(torch.float64)"]
    for node in net.nodes:
        name = names[node.name]
        if node.module is None:
            lines.append(f"{name} = torch.tensor({numbers_of(node.numbers)}, requires_grad=True)")
            continue
        inputs, shapes = [names[each.name] for each in node.inputs], [each.shape for each in node.inputs]
        lines.append(f"{name} = {node.module.torch(inputs, shapes)}")
        if node.held is not None:
            free, held = np.isnan(node.held), np.nan_to_num(node.held)
            chosen = f"torch.tensor({free.tolist()}), {name}, torch.tensor({numbers_of(held)})"
            lines.append(f"{name} = torch.where({chosen})")
    reached = reached_by_gradients(net)
    lines.append("")
    if any(node.module is None for node in reached):
        lines.append(f"{names[net.output.name]}.sum().backward()")
    for node in net.parameters or net.inputs:
        name = names[node.name]
        gradient = f"{name}.grad" if node in reached else f"torch.zeros_like({name})"
        lines.append(f"print({node.name!r}, {gradient})")
    return "\n".join(lines) + "\n"


def reached_by_gradients(net: Graph) -> set[Node]:
    """The values that a gradient comes back to. Of the others torch keeps None, and not zeros."""
    reached = {net.output}
    for node in reversed(net.tape.modules):
        if node in reached and not isinstance(node.module, Stop):
            reached |= set(node.inputs)
    return reached


def numbers_of(array: np.ndarray) -> str:
    """An array as the list that Python writes of it."""
    return repr(array.astype(np.float64).tolist())


def identifiers(net: Graph, others: Collection[str] = ()) -> dict[str, str]:
    """A name of Python for each value, none that the program could use itself, and none of some `others`.

    Python takes "ﬁ" and "fi" for the same.
    """
    taken: set[str] = {"torch", *dir(builtins), *others}
    found: dict[str, str] = {}
    for node in net.nodes:
        plain = unicodedata.normalize("NFKC", node.name)
        name = re.sub(r"\W+", "_", plain).strip("_") or "value"
        if not name.isidentifier() or keyword.iskeyword(name):
            name = f"value_{name}"
        if not name.isidentifier():
            name = "value"
        unique, count = name, 1
        while unique in taken:
            count += 1
            unique = f"{name}_{count}"
        taken.add(unique)
        found[node.name] = unique
    return found
