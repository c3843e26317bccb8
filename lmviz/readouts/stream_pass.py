"""A forward pass up to the end of the stream, whose states can be differentiated by one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.inspection.backpropagation import check_differentiable, differentiating
from lmviz.inspection.logit_lens import lens_places
from lmviz.inspection.recording import needed_taps
from lmviz.inspection.stream import ANSWERS
from lmviz.models.explicit import ForwardPass, in_order
from lmviz.models.model import Model
from lmviz.models.precision import widened, widened_when_read
from lmviz.models.reading import evaluation, on_device
from lmviz.models.tap import Tap


class StreamPass:
    """The states of a model along its stream: which places there are, and passes that stop at the end.

    LmvizError for a model whose stream has a single place, or none.
    """

    def __init__(self, model: Model) -> None:
        if len(model.inputs) > 1:
            raise LmvizError(
                f"{model.name or 'This model'} reads a source beside its text, and lenses are fitted to "
                "models of one text: open a language model."
            )
        check_differentiable(model)
        self.model = model
        self.places = lens_places(model, after_layers=True)
        taps = {tap.address: tap for tap in model.taps()}
        if any(taps[place].axes[-1] in ANSWERS for place in self.places):
            raise LmvizError("This model has a distribution at each place, and no state to be carried on.")
        if len(self.places) < 2:
            raise LmvizError(
                f"{model.name or 'This model'} has one state, so there is nothing before it that a lens "
                "could be fitted to: open a model of several layers."
            )
        self.taps = needed_taps(model.taps(), [taps[self.places[-1]]], ())

    def states(self, ids: np.ndarray) -> dict[str, torch.Tensor]:
        """(position, channel) at each place, for a row of ids (position,)."""
        with evaluation(self.model):
            forward = ForwardPass(on_device(self.model, ids), self.model.tensors())
            values = forward.run(self.taps, lambda tap, value, position: value, keep=self.places)
            return {place: widened(values[place])[0].cpu() for place in self.places}

    def widths(self) -> dict[str, int]:
        """How many channels each place has, the end last."""
        first = np.array([0])
        return {place: found.shape[-1] for place, found in self.states(first).items()}

    def cells(self, ids: np.ndarray) -> int:
        """How many numbers one row of a pass keeps for its way back."""
        with evaluation(self.model):
            counted = 0

            def count(tap: Tap, value: torch.Tensor, position: int | None) -> torch.Tensor:
                nonlocal counted
                counted += value.numel()
                return value

            ForwardPass(on_device(self.model, ids), self.model.tensors()).run(self.taps, count, keep=())
        return counted

    def parameters(self) -> dict[str, torch.Tensor]:
        """The tensors of the model as derivatives need them; none is differentiated by."""
        found = {}
        for name, tensor in self.model.tensors().items():
            value = tensor.clone() if tensor.is_inference() else tensor.detach()
            found[name] = value
        return found

    def rows_of_jacobian(
        self, ids: np.ndarray, channels: Sequence[int], judged: slice, parameters: Mapping[str, torch.Tensor]
    ) -> dict[str, torch.Tensor]:
        """For each place (channel chosen, position, channel): what the end becomes by each state.

        The derivative of a channel of the end, summed over the judged positions, by the state at each
        position.
        """
        with differentiating():
            leaves: dict[str, dict[int | None, torch.Tensor]] = {place: {} for place in self.places}

            def listen(tap: Tap, value: torch.Tensor, position: int | None) -> torch.Tensor:
                if tap.address not in leaves:
                    return value
                value = widened(value)
                leaf = (
                    value.view_as(value) if value.requires_grad else value.detach().clone().requires_grad_()
                )
                leaves[tap.address][position] = leaf
                return leaf

            tokens = on_device(self.model, ids).repeat(len(channels), 1)
            read = {name: widened_when_read(tensor) for name, tensor in parameters.items()}
            values = ForwardPass(tokens, read).run(self.taps, listen, keep=self.places)
            end = values[self.places[-1]]
            chosen = torch.tensor(list(channels), device=end.device)
            asked = end[:, judged].gather(-1, chosen[:, None, None].expand(-1, end[:, judged].shape[1], 1))
            flat = [leaf for place in self.places[:-1] for leaf in leaves[place].values()]
            gradients = iter(torch.autograd.grad(asked.sum(), flat, allow_unused=True))
            found = {}
            for place in self.places[:-1]:
                steps = {}
                for position, leaf in leaves[place].items():
                    gradient = next(gradients)
                    steps[position] = torch.zeros_like(leaf) if gradient is None else gradient
                joined = (
                    steps[None]
                    if None in steps
                    else in_order({at: step for at, step in steps.items() if at is not None})
                )
                found[place] = joined.cpu()
        return found
