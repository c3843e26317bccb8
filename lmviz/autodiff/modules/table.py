"""The table of all modules by the words of the language."""

from __future__ import annotations

from lmviz.autodiff.modules.attention import Attention, CausalAttention
from lmviz.autodiff.modules.cell_by_cell import Add, Multiply, Subtract
from lmviz.autodiff.modules.elementwise import Exp, Identity, Log, Relu, Sigmoid, Square, Stop, Tanh
from lmviz.autodiff.modules.joining import Concatenate, Stack
from lmviz.autodiff.modules.layer_norm import LayerNorm
from lmviz.autodiff.modules.losses import CrossEntropy, SquaredError
from lmviz.autodiff.modules.module import Module
from lmviz.autodiff.modules.products import Linear, MatrixProduct, Transpose
from lmviz.autodiff.modules.softmax import Causal, Softmax
from lmviz.autodiff.modules.totals import Mean, Sum

_ALL: tuple[type[Module], ...] = (
    Linear,
    MatrixProduct,
    Transpose,
    Add,
    Subtract,
    Multiply,
    Sum,
    Mean,
    Identity,
    Sigmoid,
    Tanh,
    Relu,
    Log,
    Exp,
    Square,
    Stop,
    Softmax,
    Causal,
    Attention,
    CausalAttention,
    LayerNorm,
    Concatenate,
    Stack,
    CrossEntropy,
    SquaredError,
)

MODULES: dict[str, Module] = {kind.word: kind() for kind in _ALL}


def usage(module: Module) -> str:
    """How a module is written: "linear(weight, input, bias?)"."""
    must = len(module.arguments) - module.optional
    names = [name if place < must else f"{name}?" for place, name in enumerate(module.arguments)]
    return f"{module.word}({', '.join(names)}{', …' if module.many else ''})"
