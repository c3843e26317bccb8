"""Why is a value what it is, and why a gradient? The arithmetic of single cells."""

from __future__ import annotations

from lmviz.autodiff.graph import Graph
from lmviz.autodiff.names import label
from lmviz.autodiff.node import COMPUTED, Node
from lmviz.models.address import gradient_of
from lmviz.models.arithmetic import Arithmetic, Terms, constant


def explain(net: Graph, node: Node, index: tuple[int, ...]) -> Arithmetic | None:
    """A cell of a value from its operands; None for inputs and parameters, and before it is computed."""
    if node.module is None or node.value is None:
        return None
    value = float(node.value[index])
    if node.held is not None and node.held[index] == node.held[index]:
        terms = (Terms("set by hand", (constant(value),)),)
        return Arithmetic(node.address, index, value, "set by hand", "sum", terms)
    formula = node.module.explain(node.use, index)
    return Arithmetic(
        node.address, index, value, node.module.word, formula.rule, formula.terms, formula.function
    )


def explain_gradient(net: Graph, node: Node, index: tuple[int, ...]) -> Arithmetic | None:
    """A cell of a gradient: the sum over the value's consumers of *their gradient × local derivative*.

    While the sweep is under way, over the consumers that have been popped. None before the sweep has
    reached the value.
    """
    if node.gradient is None:
        return None
    groups = []
    if node is net.output:
        groups.append(Terms("it is what is differentiated", (constant(1.0),)))
    elif node.begins_at:
        groups.append(Terms("where it begins", (constant(node.begins_at),)))
    for consumer in dict.fromkeys(node.consumers):
        if consumer.module is None or consumer.gradient is None or not net.tape.is_reached(consumer):
            continue
        for place, input in enumerate(consumer.inputs):
            if input is node:
                factors = consumer.module.explain_gradient(consumer.use, place, index)
                groups.append(Terms(f"through {label(consumer.name)}", factors))
    if not groups:
        groups.append(Terms("nothing uses it", (constant(0.0),)))
    address, value = gradient_of(node.name), float(node.gradient[index])
    words = "their gradient × local derivative" if node.kind == COMPUTED else "all that is handed back"
    return Arithmetic(address, index, value, words, "sum", tuple(groups))
