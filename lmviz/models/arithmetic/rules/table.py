"""The table of all rules by name."""

from __future__ import annotations

from lmviz.base.errors import LmvizError
from lmviz.models.arithmetic.rules.fraction import FRACTION
from lmviz.models.arithmetic.rules.layer_norm import LAYER_NORM
from lmviz.models.arithmetic.rules.mask import MASK
from lmviz.models.arithmetic.rules.rms_norm import RMS_NORM
from lmviz.models.arithmetic.rules.rule import Rule
from lmviz.models.arithmetic.rules.softmax import SOFTMAX
from lmviz.models.arithmetic.rules.sum import SUM

RULES: dict[str, Rule] = {
    "sum": SUM,
    "fraction": FRACTION,
    "softmax": SOFTMAX,
    "layer norm": LAYER_NORM,
    "rms norm": RMS_NORM,
    "mask": MASK,
}


def check_rule(name: str) -> None:
    """LmvizError where no rule has that name."""
    if name not in RULES:
        raise LmvizError(
            f"There is no rule {name!r}: use {', '.join(map(repr, RULES))}, or add a row to RULES in "
            "lmviz/models/arithmetic/rules/table.py."
        )
