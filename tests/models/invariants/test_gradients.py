"""What holds for gradients in every family, whatever its options."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from cells import cells_of, check_operand, local_gradients
from closeness import relative_error
from family_cases import (
    IDS,
    beside,
    each_family_and_each_task,
    every_case,
    parameters_of,
    rows_beside,
    traced,
)

from lmviz.base.errors import LmvizError
from lmviz.inspection.backpropagation import gradient as gradient_of
from lmviz.inspection.explain import TraceReader
from lmviz.inspection.explain_gradient import explain_gradient
from lmviz.inspection.interventions import add


def gradient_over(model, number):
    return gradient_of(model, IDS, number, **beside(model))


@every_case
def test_local_gradients_are_those_of_autograd(model):
    """Of a cell with respect to every tap and every parameter that it is made from."""
    if not list(model.parameters()):  # counts are no weights, and sums of them leave the zeros out
        return
    found = traced(model, IDS)
    reader = TraceReader(model, found)
    leaves = Leaves(model, found)
    for tap in model.taps():
        for index in cells_of(found[tap.address].array):
            arithmetic = tap.operation.explain(reader, tap.address, index)
            expected = leaves.gradients(tap, index)
            for source, gradient in collected(arithmetic, leaves).items():
                wanted = expected.pop(source, np.zeros_like(gradient))
                where = f"{source} in {tap.address}{index}"
                np.testing.assert_allclose(gradient, wanted, rtol=1e-4, atol=1e-6, err_msg=where)
            assert not any(gradient.any() for gradient in expected.values()), (tap.address, index)


@every_case
def test_gradients_are_those_of_autograd_through_the_fused_path(model):
    if not list(model.parameters()):  # what counts has none, and says so
        with pytest.raises(LmvizError, match="counts and has no parameters"):
            gradient_of(model, IDS)
        return
    exact_number, exact = by_autograd(deepcopy(model).double())
    whole = np.linalg.norm([np.linalg.norm(gradient) for gradient in exact.values()])
    assert whole > 1e-4  # there is something to compare
    for kind, tolerance in ((torch.float32, 1e-5), (torch.float64, 1e-9)):
        _, rounded = by_autograd(deepcopy(model).to(kind))
        found = gradient_over(deepcopy(model).to(kind), chosen(model))
        assert found.value == pytest.approx(exact_number, rel=10 * tolerance)
        assert set(found.parameters) == exact.keys()
        for name, wanted in exact.items():
            as_rounded = relative_error(rounded[name], wanted, whole / 100)
            within = max(tolerance, 8 * as_rounded)  # three bits more than autograd loses itself
            assert relative_error(found.parameters[name], wanted, whole / 100) <= within, (name, kind)


def by_autograd(model):
    """The number and its gradient by every parameter, through the fused path."""
    model = model.requires_grad_()
    with torch.enable_grad():
        values = model(torch.from_numpy(IDS)[None], **rows_beside(model, 1))[0]
        number = chosen_number(model.predicts, values.log_softmax(dim=-1))
        number.backward()
    return float(number.detach()), {
        name: np.zeros(parameter.shape) if parameter.grad is None else parameter.grad.numpy()
        for name, parameter in model.named_parameters()
    }


@each_family_and_each_task
def test_gradients_are_the_slopes_that_small_changes_show(model):
    """Of the loss, by the cell of every tap that matters most, which is moved up and down a little."""
    if not list(model.parameters()):
        return
    model = deepcopy(model).double()
    found = gradient_over(model, chosen(model))
    for address, slopes in found.arrays.items():
        index = np.unravel_index(np.nanargmax(np.abs(slopes.array)), slopes.array.shape)
        where = {axis: int(at) for axis, at in zip(slopes.axes, index, strict=True)}
        value = found.trace[address].array[index]
        is_share = value > 0 and found.trace[address].scale == "share"  # of which a loss takes the logarithm
        step, tolerance = 1e-4 * value if is_share else 1e-6, 1e-5
        if value.dtype == np.float32:  # as tables of positions are
            step, tolerance = 1e-3, 1e-3
        losses = [loss_after(model, add(address, way * step, **where)) for way in (1, -1)]
        slope = (losses[0] - losses[1]) / (2 * step)
        assert slopes.array[index] == pytest.approx(slope, rel=tolerance, abs=1e-7), address


@each_family_and_each_task
def test_every_gradient_follows_from_what_reads_it(model):
    """Of taps and of parameters: the sum of all readers' gradients × local derivatives.

    What a mask keeps out has none.
    """
    if not list(model.parameters()):
        return
    found = gradient_over(model, chosen(model))
    for source in (*found.arrays, *found.parameters):
        array = found.array(source)
        unseen = found.trace.unseen(source) if source in found else np.zeros(array.shape, dtype=bool)
        np.testing.assert_array_equal(np.isfinite(array), ~unseen)
        for index in (index for index in cells_of(array) if not unseen[index]):
            arithmetic = explain_gradient(model, found, source, index)
            assert (arithmetic.address, arithmetic.index) == (f"gradient/{source}", index)
            assert arithmetic.value == array[index]
            assert abs(arithmetic.evaluate() - arithmetic.value) <= 1e-5 * np.nanmax(np.abs(array)) + 1e-7, (
                source
            )
            for group in arithmetic.terms:
                first = group.factors[0].source
                assert first.startswith("gradient/") or first == "constant"
                for factor in group.factors:
                    check_gradient_operand(model, found, factor)


def chosen(model):
    """The number whose gradient is taken: the loss of the text, or of a label, which no text gives."""
    if model.predicts.continues:
        return "loss"
    return "loss:verb" if model.predicts.per == "text" else "loss:verb@2"


def chosen_number(predicts, log_probabilities):
    """The same from the log-probabilities of all answers (*axes)."""
    if predicts.continues:
        return -log_probabilities[np.arange(len(IDS) - 1), IDS[1:]].sum()
    return -log_probabilities[1 if predicts.per == "text" else (2, 1)]


def loss_after(model, intervention):
    """The loss of the whole text with one thing changed, in nats."""
    probabilities = traced(model, IDS, interventions=[intervention])["probabilities"].array
    return chosen_number(model.predicts, np.log(probabilities))


def check_gradient_operand(model, found, factor):
    if factor.source.startswith("gradient/"):
        assert np.array_equal(found.array(factor.source)[tuple(factor.indices.T)], factor.values)
    else:
        check_operand(model, found.trace, factor)


class Leaves:
    """A scope whose values and parameters are leaves in float64, so that each has a gradient of its own."""

    def __init__(self, model, found):
        self.tokens, self.first, self.position = torch.from_numpy(IDS)[None], 0, None
        self.sequences = {"text": self.tokens, **rows_beside(model, 1)}
        self.values = {
            name: torch.from_numpy(traced.array.copy())[None] for name, traced in found.arrays.items()
        }
        self.parameters = {name: value.detach().double() for name, value in parameters_of(model).items()}
        for values in (self.values, self.parameters):
            for name, value in values.items():
                if value.is_floating_point():
                    values[name] = value.double().requires_grad_()

    def read(self, operand):
        value = self.values[operand.address]
        if operand.shift < 0:
            value = torch.cat([value[:, :1] * 0, value[:, :-1]], dim=1)
        if operand.shift > 0:
            value = torch.cat([value[:, 1:], value[:, :1] * 0], dim=1)
        return value

    read_keys = read

    def is_spare(self, operand):
        return False

    def weight(self, operand):
        parameter = self.parameters[operand.name]
        return parameter if operand.rows is None else parameter[slice(*operand.rows)]

    def rows_of(self, operand, chosen):
        return self.weight(operand)[chosen]

    def gradients(self, tap, index):
        """The gradient of a tap's cell with respect to every leaf that it depends on, by name."""
        value = tap.operation.compute(self)[0][index]
        leaves = {**self.values, **self.parameters}
        leaves = {name: leaf for name, leaf in leaves.items() if leaf.requires_grad}
        if not value.requires_grad:
            return {}
        found = torch.autograd.grad(value, list(leaves.values()), allow_unused=True)
        pairs = zip(leaves.items(), found, strict=True)
        return {
            name: (gradient[0] if name in self.values else gradient).numpy()
            for (name, _), gradient in pairs
            if gradient is not None
        }


def collected(arithmetic, leaves):
    """Local gradients by source, in arrays of the source's shape."""
    sums = {}
    for group, gradients in zip(arithmetic.terms, local_gradients(arithmetic), strict=True):
        for factor, gradient in zip(group.factors, gradients, strict=True):
            if factor.source in leaves.values:
                shape = leaves.values[factor.source].shape[1:]
            elif factor.source in leaves.parameters:
                shape = leaves.parameters[factor.source].shape
            else:  # a constant, or a table of an n-gram model
                continue
            total = sums.setdefault(factor.source, np.zeros(shape))
            np.add.at(total, tuple(factor.indices.T), gradient)
    return sums
