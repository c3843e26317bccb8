"""The same network as a module of PyTorch: `__init__`, `forward`, and one step of SGD; it runs as it stands.

`pytorch.program` writes every value as a line of its own and prints the gradients; this is how one would
write the network by hand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lmviz.autodiff.graph import Graph
from lmviz.autodiff.node import INPUT, PARAMETER, Node
from lmviz.autodiff.pytorch import identifiers, numbers_of, reached_by_gradients
from lmviz.autodiff.running_code import CodeLine, RunningCode, last_node

INDENT = "    "
OWN_NAMES = frozenset({"self", "net", "loss", "optimizer", "Network"})
OF_MODULES = frozenset(
    re.findall(
        r"\w+",
        "add_module apply bfloat16 buffers call_super_init children compile cpu cuda double dump_patches "
        "eval extra_repr float forward get_buffer get_extra_state get_parameter get_submodule half ipu "
        "load_state_dict modules mtia named_buffers named_children named_modules named_parameters "
        "parameters register_buffer register_module register_parameter requires_grad_ set_extra_state "
        "set_submodule share_memory state_dict to to_empty train training type xpu zero_grad T_destination",
    )
)
"""Names that a module of PyTorch has for something else."""


@dataclass(frozen=True)
class _Program:
    """The lines, the line of each value that a module computes, and where the gradients are made."""

    lines: tuple[str, ...]
    line_of: dict[str, int]
    backward: int


def module_program(net: Graph, rate: float) -> str:
    """A program: a class with the parameters and the forward pass, and one step of SGD with a rate.

    It prints the loss before and after the step. Without a parameter that the output depends on it makes no
    step, as there is none to make.
    """
    return "\n".join(_program(net, rate).lines) + "\n"


def module_code(net: Graph, rate: float) -> RunningCode:
    """The same program with the line lit that the tape has come to.

    A push lights the line that computes the value. PyTorch goes back over all of them in one line, which a
    pop lights.
    """
    found, last = _program(net, rate), last_node(net)
    lines = tuple(
        CodeLine(line.strip(), (len(line) - len(line.lstrip())) // len(INDENT)) for line in found.lines
    )
    if last is None:
        return RunningCode(lines)
    at = found.backward if net.tape.popped else found.line_of[last.name]
    return RunningCode(lines, at, len(lines) - 1)


def current_line(net: Graph, rate: float) -> int:
    """The line that computes the value whose module was popped last; −1 where none was."""
    last = last_node(net)
    return -1 if last is None or not net.tape.popped else _program(net, rate).line_of[last.name]


def _program(net: Graph, rate: float) -> _Program:
    numbers = tuple(
        (node.name, node.numbers.tobytes(), None if node.held is None else node.held.tobytes())
        for node in net.nodes
        if node.module is None or node.held is not None
    )
    return _written(net, rate, numbers)


@lru_cache(maxsize=2)  # a step of the tape changes nothing of it
def _written(net: Graph, rate: float, _numbers: object) -> _Program:
    names = identifiers(net, OWN_NAMES | OF_MODULES)
    given = [node for node in net.nodes if node.kind == INPUT and "·" not in node.name]
    arguments = "".join(f", {names[node.name]}" for node in given)
    lines = [
        "import torch",
        "",
        "torch.set_default_dtype(torch.float64)",
        "",
        "",
        "class Network(torch.nn.Module):",
    ]
    lines += [f"{INDENT}def __init__(self):", f"{INDENT * 2}super().__init__()"]
    for node in net.nodes:
        if node.kind == PARAMETER:
            tensor = f"torch.tensor({numbers_of(node.numbers)})"
            lines.append(f"{INDENT * 2}self.{names[node.name]} = torch.nn.Parameter({tensor})")
    lines += ["", f"{INDENT}def forward(self{arguments}):"]
    line_of: dict[str, int] = {}
    for node in net.tape.modules:
        if not _is_nested(node):
            line_of |= dict.fromkeys(_nested_in(node), len(lines))
            lines.append(f"{INDENT * 2}{names[node.name]} = {_expression(node, names)}")
            if node.held is not None:
                lines.append(f"{INDENT * 2}{names[node.name]} = {_held(node, names)}")
    output = names[net.output.name] + (".sum()" if net.output.shape else "")
    if net.output.module is None:
        output = _value(net.output, names)
    lines += [f"{INDENT * 2}return {output}", "", ""]
    for node in given:
        lines.append(f"{names[node.name]} = torch.tensor({numbers_of(node.numbers)})")
    call = f"net({', '.join(names[node.name] for node in given)})"
    lines += ["net = Network()", f"loss = {call}"]
    backward = len(lines) - 1
    reached = reached_by_gradients(net)
    if any(node in reached for node in net.parameters):
        lines.insert(len(lines) - 1, f"optimizer = torch.optim.SGD(net.parameters(), lr={float(rate)!r})")
        backward = len(lines)
        lines += ["loss.backward()", "optimizer.step()", f"print(loss.item(), {call}.item())"]
    else:
        lines.append("print(loss.item())")
    return _Program(tuple(lines), line_of, backward)


def _is_nested(node: Node) -> bool:
    """Whether it is a call within a call, and stands there."""
    return "·" in node.name and len(node.consumers) == 1 and node.held is None


def _nested_in(node: Node) -> list[str]:
    """The values that the line of a value computes: its own, and those of the calls in it."""
    found = [node.name]
    for each in node.inputs:
        if each.module is not None and _is_nested(each):
            found += _nested_in(each)
    return found


def _expression(node: Node, names: dict[str, str]) -> str:
    """What a value is computed by, with parentheses only where they are needed."""
    assert node.module is not None
    places = [f"OPERAND{at}_" for at in range(len(node.inputs))]
    written = node.module.torch(places, [each.shape for each in node.inputs])
    for place, each in zip(places, node.inputs, strict=True):
        value = _value(each, names)
        if _is_sum(value):
            alone = rf"(?<![(\[])(?<!, ){place}|{place}(?![)\],])"
            written = re.sub(alone, f"({place})", written)
        written = written.replace(place, value)
    return written


def _is_sum(written: str) -> bool:
    """Whether something has an operator outside all parentheses."""
    depth = 0
    for character in written:
        depth += (character in "([") - (character in ")]")
        if character in " -" and not depth:
            return True
    return False


def _value(node: Node, names: dict[str, str]) -> str:
    """How the forward pass calls a value."""
    if node.kind == PARAMETER:
        return f"self.{names[node.name]}"
    if node.kind == INPUT:
        return f"torch.tensor({numbers_of(node.numbers)})" if "·" in node.name else names[node.name]
    return _expression(node, names) if _is_nested(node) else names[node.name]


def _held(node: Node, names: dict[str, str]) -> str:
    """A value of which cells were set by hand."""
    assert node.held is not None
    free, held = np.isnan(node.held), np.nan_to_num(node.held)
    return f"torch.where(torch.tensor({free.tolist()}), {names[node.name]}, torch.tensor({numbers_of(held)}))"
