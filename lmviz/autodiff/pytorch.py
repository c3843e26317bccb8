"""The same network as a program for PyTorch, which runs as it stands and prints the same gradients."""

from __future__ import annotations

import keyword
import re
import unicodedata

import numpy as np

from lmviz.autodiff.graph import Graph
from lmviz.autodiff.node import PARAMETER


def program(net: Graph) -> str:
    """Lines of Python that compute the values with torch and the gradients with its autograd."""
    names = _identifiers(net)
    lines = ["import torch", "", "torch.set_default_dtype(torch.float64)"]
    for node in net.nodes:
        name = names[node.name]
        if node.module is None:
            lines.append(f"{name} = torch.tensor({_numbers(node.numbers)}, requires_grad=True)")
            continue
        inputs, shapes = [names[each.name] for each in node.inputs], [each.shape for each in node.inputs]
        lines.append(f"{name} = {node.module.torch(inputs, shapes)}")
        if node.held is not None:
            free, held = np.isnan(node.held), np.nan_to_num(node.held)
            lines.append(
                f"{name} = torch.where(torch.tensor({free.tolist()}), {name}, torch.tensor({_numbers(held)}))"
            )
    lines += ["", f"{names[net.output.name]}.sum().backward()"]
    learned = [node.name for node in net.nodes if node.kind == PARAMETER] or [
        node.name for node in net.inputs
    ]
    lines += [f"print({name!r}, {names[name]}.grad)" for name in learned]
    return "\n".join(lines) + "\n"


def _numbers(array: np.ndarray) -> str:
    return repr(array.astype(np.float64).tolist())


def _identifiers(net: Graph) -> dict[str, str]:
    """A name of Python for each value; Python takes "ﬁ" and "fi" for the same."""
    taken: set[str] = {"torch"}
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
