"""Explanations of single cells: the operands, the rule that combines them, and the functions used."""

from lmviz.models.arithmetic.arithmetic import Arithmetic
from lmviz.models.arithmetic.function import Function
from lmviz.models.arithmetic.functions import FUNCTIONS
from lmviz.models.arithmetic.rules.rule import Rule
from lmviz.models.arithmetic.rules.table import RULES
from lmviz.models.arithmetic.terms import Factor, Terms, constant

__all__ = [
    "FUNCTIONS",
    "RULES",
    "Arithmetic",
    "Factor",
    "Function",
    "Rule",
    "Terms",
    "constant",
]
