"""What a network does, as pseudocode of which one line runs.

`tape_code` has the module and its tape, as a lecture writes them; `loop_code` has the lines of a network that
goes through time, with the step it has come to. Both say beside a line what came of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lmviz.autodiff.folding import FUNCTIONS
from lmviz.autodiff.graph import Graph
from lmviz.autodiff.names import label, step_of
from lmviz.autodiff.node import INPUT, Node
from lmviz.autodiff.tape import GATHER
from lmviz.base.figures import number

MOST_CELLS = 3  # of a value that is written beside a line
DIGITS = 4
INFIX = {"linear": "·", "matmul": "·", "multiply": " ⊙ ", "add": " + ", "subtract": " − "}


@dataclass(frozen=True)
class CodeLine:
    """A line, how far it is indented, what came of it, and whether it is the slip."""

    code: str
    depth: int = 0
    figures: str = ""
    is_slip: bool = False


@dataclass(frozen=True)
class RunningCode:
    """Lines, and the one that has just run, −1 for none; figures are known `through` a line."""

    lines: tuple[CodeLine, ...]
    lit: int = -1
    through: int = -1


@dataclass(frozen=True)
class StepLoss:
    """What one step of a loop adds to the output: a name, and None before it is computed."""

    name: str
    step: int
    value: float | None


def tape_code(net: Graph, *, has_slip: bool = False) -> RunningCode:
    """The pseudocode of module and tape; the line that pushed or popped last is lit.

    With the slip, the line that lets every gradient begin at 1 stands where 0 is right.
    """
    tape = net.tape
    last = last_node(net)
    is_back = bool(tape.popped)
    pushed, popped = (None, last) if is_back else (last, None)
    forward = [
        CodeLine("class Module:"),
        CodeLine(
            f"out_gradient = {1 if has_slip else 0}", 1, "slip: 0 is right" if has_slip else "", has_slip
        ),
        CodeLine("def apply_fwd(self):", 1),
        CodeLine("x = outputs of inputs", 2, _inputs(pushed)),
        CodeLine("self.output = f(x)", 2, _said(pushed)),
        CodeLine("tape.push(self)", 2, f"{len(tape)} on it" if pushed else ""),
        CodeLine("last.out_gradient = 1", 0, _gradient(net.output) if is_back else ""),
        CodeLine("while tape:", 0, f"{len(tape)} left" if is_back else ""),
        CodeLine("m = tape.pop()", 1, _said(popped)),
    ]
    if tape.version == GATHER:
        own = [] if popped in (None, net.output) else [popped]
        gathered = [*own, *_complete_leaves(net, popped)]
        users = dict.fromkeys(consumer for node in own for consumer in node.consumers)
        back = [
            CodeLine("for u in m.consumers:", 1, _names(users)),
            CodeLine("g = u.backward()[m]", 2),
            CodeLine("m.out_gradient += g", 2, _gradients(gathered)),
        ]
    else:
        back = [
            CodeLine("for i in m.inputs:", 1, _inputs(popped)),
            CodeLine("g = m.backward()[i]", 2),
            CodeLine("i.out_gradient += g", 2, _handed(popped)),
        ]
    lines = (*forward, *back)
    if popped is not None:
        return RunningCode(lines, 8, len(lines) - 1)
    return RunningCode(lines, 5 if pushed is not None else -1, 5)


def loop_code(net: Graph) -> RunningCode | None:
    """The lines of a network with a loop, each with what it came to at the step that has been reached.

    None where the network has no loop. While gradients go back, they stand where the values stood.
    """
    by_line: dict[int, list[Node]] = {}
    for node in net.tape.modules:
        if "·" not in node.name:
            by_line.setdefault(node.line, []).append(node)
    looped = {line for line, nodes in by_line.items() if len(nodes) > 1}
    if not looped:
        return None
    last, is_back = last_node(net), bool(net.tape.popped)
    steps = [at for line in looped for node in by_line[line] if (at := step_of(node.name)) is not None]
    step = None if last is None else step_of(last.name)
    if last is not None and step is None:  # after the loop, its last step is the one that was reached
        step = max(steps)
    lines: list[CodeLine] = []
    lit, is_open = -1, False
    for line, nodes in sorted(by_line.items()):
        is_inside = line in looped
        if is_inside and not is_open:
            reached = "" if step is None else f"t = {step} back" if is_back else f"t = {step}"
            lines.append(CodeLine(f"for t in {min(steps)} … {max(steps)}:", 0, reached))
        is_open = is_inside
        shown = next((node for node in nodes if step_of(node.name) == step), None) if is_inside else nodes[0]
        figures = "" if shown is None else _numbers(shown, is_back)
        own = step_of(nodes[0].name) if is_inside else None
        if last is not None and last.line == line:
            lit = len(lines)
        written = f"{_relative(nodes[0].name, own)} = {_expression(nodes[0], own)}"
        lines.append(CodeLine(written, int(is_inside)))
        lines.append(CodeLine("", int(is_inside), figures))
    return RunningCode(tuple(lines), lit, len(lines) - 1)


def losses_over_steps(net: Graph) -> tuple[StepLoss, ...]:
    """The losses of the steps, in their order, whose sum is the output; empty where it is none."""
    found = [node for node in _summands(net.output) if step_of(node.name) is not None and not node.shape]
    if len(found) < 2:
        return ()
    return tuple(
        StepLoss(label(node.name), step_of(node.name) or 0, None if node.value is None else float(node.value))
        for node in found
    )


def last_node(net: Graph) -> Node | None:
    """The value whose module was pushed or popped last; None while the tape is empty."""
    tape = net.tape
    if tape.popped:
        return tape.modules[tape.pushed - tape.popped]
    return tape.modules[tape.pushed - 1] if tape.pushed else None


def _summands(node: Node) -> list[Node]:
    word = "" if node.module is None else node.module.word
    is_between = step_of(node.name) is None or "·" in node.name
    if word in ("sum", "stack", "add", "concatenate", "identity") and is_between:
        return [found for input in node.inputs for found in _summands(input)]
    return [node]


def _complete_leaves(net: Graph, node: Node | None) -> list[Node]:
    """Parameters that all who use them have handed something back to."""
    leaves = () if node is None else node.inputs
    return [leaf for leaf in leaves if leaf.module is None and leaf.kind != INPUT and net.tape.is_final(leaf)]


def _said(node: Node | None) -> str:
    if node is None or node.module is None:
        return ""
    name = "" if "·" in node.name else f" {label(node.name)}"
    return f"{node.module.word.replace('_', ' ')}{name}"


def _inputs(node: Node | None) -> str:
    return "" if node is None else _names(node.inputs)


def _names(nodes: Iterable[Node]) -> str:
    return ", ".join(label(node.name) for node in nodes if "·" not in node.name)


def _handed(node: Node | None) -> str:
    inputs = [] if node is None else [each for each in node.inputs if each.kind != INPUT]
    return _gradients(inputs)


def _gradients(nodes: list[Node]) -> str:
    return ", ".join(f"g {label(node.name)}" for node in nodes if "·" not in node.name)


def _gradient(node: Node) -> str:
    return f"g {label(node.name)}"


def _numbers(node: Node, is_back: bool) -> str:
    """The cells of a value, or of its gradient, as far as they are known and few."""
    array = node.gradient if is_back else node.value
    if array is None:
        return ""
    if array.size > MOST_CELLS:
        return f"{array.size} numbers"
    cells = "  ".join(number(float(cell), DIGITS) for cell in np.ravel(array))
    return f"g  {cells}" if is_back else cells


def _expression(node: Node, own: int | None) -> str:
    """What a line computes, as a lecture writes it: "σ(U·h[t−1] + W·x[t])"."""
    assert node.module is not None
    parts = [
        _expression(each, own) if each.module is not None and "·" in each.name else _relative(each.name, own)
        for each in node.inputs
    ]
    word = node.module.word
    if word == "stack" and len(parts) > 2:
        return f"[{parts[0]} … {parts[-1]}]"
    if word == "cross_entropy":
        return f"−{parts[0]}ᵀ log {parts[1]}"
    if word in INFIX and (word != "linear" or len(parts) == 2):
        around = [f"({part})" if " " in part and word not in ("add", "subtract") else part for part in parts]
        return INFIX[word].join(around)
    return f"{FUNCTIONS.get(word) or word}({', '.join(parts)})"


def _relative(name: str, own: int | None) -> str:
    """A name with its step as the loop writes it, "h[t−1]"; a number within a call is that number."""
    at = step_of(name)
    base = name.partition("[")[0]
    if at is None or own is None:
        return label(name)
    by = at - own
    return f"{base}[t{'' if not by else f'−{-by}' if by < 0 else f'+{by}'}]"
