"""From numbers back through a whole Transformer, with all that is not linear held, many numbers at once.

The weights of attention, the scales of normalisations and the gates of feed-forward networks are held at what
they are in this pass. An activation function f is then its ratio f(x) / x at each unit: for ReLU that is its
gradient, for others the rule of layer-wise relevance propagation (Bach et al. 2015; Ali et al. 2022), with
which, unlike with the gradient, parts add up to the whole. Transcoders stand for a feed-forward network, so
that none is passed where there is one (Dunefsky et al. 2024; Ameisen et al. 2025).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import torch

from lmviz.circuits.cached_pass import CachedPass
from lmviz.models.arithmetic import FUNCTIONS
from lmviz.models.interruption import look_up
from lmviz.models.operations import (
    Activation,
    Affine,
    JoinedHeads,
    Linear,
    Mix,
    Norm,
    Rotate,
    Row,
    SplitHeads,
    SumOfProducts,
    TokenLookup,
)
from lmviz.models.positions import rotate, rotations
from lmviz.models.tap import Tap, Weight

Slopes = np.ndarray
"""(row, *axes) by how much each of some numbers changes per unit of the cells of a tap."""

Stop = Callable[[Slopes], Mapping[str, Slopes]]
"""What a stop hands on to other taps, or to what it is computed from, of the slopes that came to it."""


@dataclass(frozen=True, eq=False)
class WalkedBack:
    """Where a walk ended: the slopes at each stop, at the words, and what all else adds, (row,)."""

    stopped: dict[str, Slopes] = field(default_factory=dict)
    words: dict[str, Slopes] = field(default_factory=dict)
    rest: np.ndarray = field(default_factory=lambda: np.zeros(0))


class HeldWalk:
    """Walks back through one kept pass; what cannot be taken apart counts as it is, in the rest."""

    def __init__(self, read: CachedPass) -> None:
        self.read = read
        self._parameters = read.model.tensors()
        self._values: dict[str, np.ndarray] = {}
        self._weights: dict[Weight, np.ndarray] = {}
        self._ratios: dict[str, np.ndarray | None] = {}
        self._slopes: dict[str, Slopes] = {}
        self._rest = np.zeros(0)

    def back(self, begun: Mapping[str, Slopes], stops: Mapping[str, Stop], below: str = "") -> WalkedBack:
        """From slopes at some taps to the stops, the words and the rest.

        A walk that begins at the stop `below` goes on through it: it asks what the state there is made of.
        """
        rows = len(next(iter(begun.values())))
        found = WalkedBack(rest=np.zeros(rows))
        self._slopes, self._rest = dict(begun), found.rest
        for tap in reversed(self.read.taps):
            slopes = self._slopes.pop(tap.address, None)
            if slopes is None:
                continue
            look_up()
            if tap.address in stops and tap.address != below:
                found.stopped[tap.address] = slopes
                for address, given in stops[tap.address](slopes).items():
                    if address != tap.address:
                        self._give(address, given)
                    else:
                        self._pass(tap, given, found)
                continue
            self._pass(tap, slopes, found)
        return found

    def value(self, address: str) -> np.ndarray:
        """A tap's value (*axes), float64."""
        if address not in self._values:
            self._values[address] = self.read.values[address][0].detach().cpu().double().numpy()
        return self._values[address]

    def _weight(self, operand: Weight) -> np.ndarray:
        if operand not in self._weights:
            whole = self._parameters[operand.name]
            rows = whole if operand.rows is None else whole[slice(*operand.rows)]
            self._weights[operand] = rows.detach().cpu().double().numpy()
        return self._weights[operand]

    def _give(self, address: str, slopes: Slopes) -> None:
        before = self._slopes.get(address)
        self._slopes[address] = slopes if before is None else before + slopes

    def _pass(self, tap: Tap, slopes: Slopes, found: WalkedBack) -> None:
        """Hand the slopes at a tap on to what it is computed from, or count what it adds as it is."""
        changed = any(item.concerns(tap.address) for item in self.read.interventions)
        if isinstance(tap.operation, TokenLookup) and not changed:
            found.words[tap.address] = slopes
            return
        if changed or tap.scan or not self._passed(tap, slopes):
            self._rest += (slopes * self.value(tap.address)).reshape(len(slopes), -1).sum(axis=1)

    def _passed(self, tap: Tap, slopes: Slopes) -> bool:
        operation = tap.operation
        if isinstance(operation, Affine):
            return self._affine(tap.address, operation, slopes)
        if isinstance(operation, SplitHeads):
            together = np.moveaxis(slopes, 1, 2)
            return self._affine(tap.address, operation.affine, together.reshape(*together.shape[:2], -1))
        if isinstance(operation, Norm):
            return self._norm(operation, slopes)
        if isinstance(operation, Rotate):
            return self._rotate(operation, slopes)
        if isinstance(operation, Mix):
            return self._mix(operation, slopes)
        if isinstance(operation, SumOfProducts):
            return self._sum(operation, slopes)
        if isinstance(operation, Activation) and not operation.value.shift:
            ratio = self._ratio(tap.address, operation.function, lambda: self.value(operation.value.address))
            if ratio is None:
                return False
            self._give(operation.value.address, slopes * ratio)
            return True
        return False

    def _affine(self, address: str, operation: Affine, slopes: Slopes) -> bool:
        for summand in operation.summands:
            if not isinstance(summand.input, Row | JoinedHeads):
                return False
            if isinstance(summand.input, Row) and (
                summand.input.value.shift or self.value(summand.input.value.address).ndim != 2
            ):
                return False
        ratio = self._ratio(address, operation.function, lambda: sum(map(self._mapped, operation.summands)))
        if ratio is None:
            return False
        for summand in operation.summands:
            self._linear(summand, slopes * ratio)
        return True

    def _mapped(self, summand: Linear) -> np.ndarray:
        """What a summand comes to (position, unit)."""
        (operand, *_) = summand.input.operands
        read = self.value(operand.address)
        if isinstance(summand.input, JoinedHeads):
            read = np.moveaxis(read, 0, 1).reshape(read.shape[1], -1)
        mapped = read @ self._weight(summand.weight).T
        if summand.bias is not None:
            mapped = mapped + self._weight(summand.bias)
        return mapped if summand.gate is None else mapped * self.value(summand.gate.address)

    def _linear(self, summand: Linear, slopes: Slopes) -> None:
        if summand.gate is not None:
            slopes = slopes * self.value(summand.gate.address)
        if summand.bias is not None:
            self._rest += (slopes @ self._weight(summand.bias)).sum(axis=1)
        back = slopes @ self._weight(summand.weight)
        if isinstance(summand.input, JoinedHeads):
            heads = self.value(summand.input.address).shape[0]
            back = np.moveaxis(back.reshape(*back.shape[:2], heads, -1), 2, 1)
            self._give(summand.input.address, back)
        elif isinstance(summand.input, Row):
            self._give(summand.input.value.address, back)

    def _ratio(
        self, address: str, function: str, before: Callable[[], np.ndarray | int]
    ) -> np.ndarray | float | None:
        """f(x) / x at each cell, None of a function that is not 0 at 0."""
        if not function:
            return 1.0
        if address not in self._ratios:
            of = FUNCTIONS[function].tensor
            inputs = torch.as_tensor(np.asarray(before(), dtype=np.float64))
            safe = torch.where(inputs.abs() < 1e-9, torch.full_like(inputs, 1e-9), inputs)
            is_zero = bool(of(torch.zeros(1, dtype=torch.float64)).abs() < 1e-12)
            self._ratios[address] = (of(safe) / safe).numpy() if is_zero else None
        return self._ratios[address]

    def _norm(self, operation: Norm, slopes: Slopes) -> bool:
        values, form = self.value(operation.address), operation.form
        if form.over:
            return False
        centred = form.kind == "layer"
        squares = values.var(axis=-1) if centred else (values**2).mean(axis=-1)
        gain = 1.0 if operation.gain is None else self._weight(operation.gain) + form.one_plus
        back = slopes * gain / np.sqrt(squares + form.epsilon)[..., None]
        if operation.bias is not None:
            self._rest += (slopes @ self._weight(operation.bias)).sum(axis=1)
        self._give(operation.address, back - back.mean(axis=-1, keepdims=True) if centred else back)
        return True

    def _rotate(self, operation: Rotate, slopes: Slopes) -> bool:
        """Turned back by the same angles."""
        sines, cosines = rotations(slopes.shape[2], operation.rotary).cpu().double()
        back = rotate(torch.as_tensor(slopes), torch.stack([-sines, cosines]), operation.rotary.pairs)
        self._give(operation.address, back.numpy())
        return True

    def _mix(self, operation: Mix, slopes: Slopes) -> bool:
        given = np.swapaxes(self.value(operation.weights), 1, 2) @ slopes
        if operation.shared > 1:
            count, heads = given.shape[:2]
            given = given.reshape(count, heads // operation.shared, operation.shared, *given.shape[2:]).sum(2)
        self._give(operation.values, given)
        return True

    def _sum(self, operation: SumOfProducts, slopes: Slopes) -> bool:
        """Each product by its last factor, all others held."""
        ratios = []
        for product in operation.products:
            if any(factor.value.shift for factor in product.factors):
                return False
            last = product.factors[-1]
            address = last.value.address
            ratio = self._ratio(f"{address} {last.function}", last.function, partial(self.value, address))
            if ratio is None:
                return False
            for factor in product.factors[:-1]:
                given = torch.as_tensor(self.value(factor.value.address))
                ratio = ratio * FUNCTIONS[factor.function].tensor(given).numpy()
            ratios.append(ratio)
        for product, ratio in zip(operation.products, ratios, strict=True):
            self._give(product.factors[-1].value.address, slopes * ratio * product.times)
        return True
