"""Explains any cell of any tap: the operands and the operation it was computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from lmviz.inspection.agreement import check_made_by
from lmviz.inspection.equations import number
from lmviz.inspection.indices import cell
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.surgery import amount_at
from lmviz.inspection.trace import Trace
from lmviz.models.arithmetic import Arithmetic, Terms, constant
from lmviz.models.model import Model
from lmviz.models.operations.factors import value_cell
from lmviz.models.sequences import TEXT
from lmviz.models.tap import Weight


@dataclass(frozen=True, repr=False)
class ReplacedArithmetic(Arithmetic):
    """The arithmetic of a cell that an intervention has changed.

    Its own terms are the interventions'; `formula` is what the model would have computed from the same
    operands, and `interventions` say in words what was done.
    """

    formula: Arithmetic | None = None
    interventions: tuple[str, ...] = ()


class TraceReader:
    """Where explanations find numbers: a trace, and the parameters of the model that it was made by."""

    def __init__(self, model: Model, trace: Trace) -> None:
        self._model = model
        self._trace = trace

    def array(self, address: str) -> np.ndarray:
        """The value of a tap, without a batch axis."""
        return self._trace[address].array

    def weight(self, weight: Weight) -> np.ndarray:
        """The rows of a parameter that a Weight names."""
        parameter = self._model.get_parameter_or_buffer(weight.name).detach()
        rows = parameter if weight.rows is None else parameter[slice(*weight.rows)]
        return (rows if rows.dtype == torch.float64 else rows.float()).cpu().numpy()

    def ids(self, sequence: str = TEXT) -> np.ndarray:
        """The token ids of a sequence that was read, (position,)."""
        return self._trace.sequences[sequence].ids


def explain(model: Model, trace: Trace, address: str, index: Sequence[int]) -> Arithmetic:
    """The arithmetic of one cell, with every operand's number and its place.

    The index follows the tap's axes; negative ones count from the end. Where an intervention changed the
    cell, the answer is a `ReplacedArithmetic`. LmvizError when there is no such cell, when an operand was
    not recorded, or when the trace was made by another model than this, or at another snapshot.
    """
    check_made_by(trace, model)
    taps = {tap.address: tap for tap in model.taps()}
    shape = trace[address].shape
    index = cell(trace[address].axes, index, shape)
    reader = TraceReader(model, trace)
    operation = taps[address].operation
    arithmetic = formula = operation.explain(reader, address, index)
    for intervention in trace.interventions:
        if not intervention.concerns(address):
            continue
        amount = amount_at(intervention, trace[address].axes, shape, index)
        if amount is not None:
            terms = _terms_after(arithmetic, formula, intervention, amount)
            if intervention.kind == "bypass":
                passed = value_cell(reader, operation.operands[0], index)
                terms = (Terms("passed through", (passed,)),)
            arithmetic = _replaced(formula, arithmetic, terms, intervention)
    return arithmetic


def _terms_after(
    before: Arithmetic, formula: Arithmetic, intervention: Intervention, amount: float
) -> tuple[Terms, ...]:
    """What is added up to the cell's value after one more intervention."""
    if intervention.kind == "replace":
        return (Terms("set to", (constant(amount),)),)
    terms = (Terms("computed", (constant(formula.evaluate()),)),) if before is formula else before.terms
    if intervention.kind == "scale":
        return tuple(Terms(group.label, (*group.factors, constant(amount))) for group in terms)
    return (*terms, Terms("added", (constant(amount),)))


def _replaced(
    formula: Arithmetic, before: Arithmetic, terms: tuple[Terms, ...], intervention: Intervention
) -> ReplacedArithmetic:
    earlier = before.interventions if isinstance(before, ReplacedArithmetic) else ()
    done = (*earlier, intervention.describe())
    return ReplacedArithmetic(
        address=formula.address,
        index=formula.index,
        value=formula.value,
        operation=f"{'; '.join(done)} (the formula gives {number(formula.evaluate())})",
        rule="sum",
        terms=terms,
        formula=replace(formula, value=formula.evaluate()),
        interventions=done,
    )
