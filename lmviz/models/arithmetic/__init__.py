"""Explanations of single cells: the operands, the rule that combines them, and the functions used."""

from lmviz.models.arithmetic.arithmetic import Arithmetic
from lmviz.models.arithmetic.rules.rule import Rule
from lmviz.models.arithmetic.rules.table import RULES
from lmviz.models.arithmetic.terms import Factor, Terms, constant
from lmviz.models.function import Function
from lmviz.models.functions import FUNCTIONS

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
