"""Learns a dictionary, batch after batch of states.

The states are centred and scaled so that a channel has a mean square of 1 (Gao et al. 2024), and the scale is
folded into the weights in the end. The directions of features have length 1. The loss is the share of the
variance that is not explained. Features that are dead are revived by the auxiliary loss of Gao et al. (2024):
the best of them should explain what the others have left. Thresholds are learned as Rajamanoharan et al.
(2024) do, with a penalty that aims at k features at a token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.features.coding import largest
from lmviz.features.dictionary import Dictionary
from lmviz.features.recipe import FeatureRecipe

AUXILIARY = 1 / 32
"""The weight of the auxiliary loss."""

REVIVED = 32
"""So many dead features at most explain what is left of a token."""

BANDWIDTH = 0.1
"""How near to a threshold a score must lie to move it, in units of the scaled states."""

FIRST_THRESHOLD = 0.1

KEPT = 0.01
"""The weight of a batch in the running mean of the threshold of all features (batchtopk)."""


class DictionaryLearner:
    """A dictionary that is being learned, and its optimizer, where a model computes.

    `mean` and `scale` are those of the states that are read; `written` is the pair of those that are
    reconstructed, where these are others.
    """

    def __init__(
        self,
        recipe: FeatureRecipe,
        mean: torch.Tensor,
        scale: float,
        written: tuple[torch.Tensor, float] | None = None,
    ) -> None:
        self.recipe = recipe
        self.mean, self.scale = mean, scale
        self.written = written
        target_mean = mean if written is None else written[0]
        device, size = mean.device, recipe.size
        drawn = torch.Generator().manual_seed(recipe.seed)
        directions = _unit(torch.randn(size, len(target_mean), generator=drawn))
        readers = directions if written is None else _unit(torch.randn(size, len(mean), generator=drawn))
        made = {
            "encoder": readers.clone(),
            "encoder_bias": torch.zeros(size),
            "decoder": directions,
            "decoder_bias": torch.zeros(len(target_mean)),
        }
        if recipe.kind == "jumprelu":
            made["log_threshold"] = torch.full((size,), float(np.log(FIRST_THRESHOLD)))
        self.parts = {name: part.to(device).requires_grad_() for name, part in made.items()}
        self.is_fused = device.type in ("cpu", "cuda")
        self.optimizer = torch.optim.Adam(list(self.parts.values()), lr=recipe.rate, fused=self.is_fused)
        self.step = self.seen = 0
        self.unused = torch.zeros(size, dtype=torch.int64, device=device)
        self.threshold = torch.zeros((), device=device)
        self.unexplained = torch.zeros((), device=device)
        self.active = torch.zeros((), device=device)

    @property
    def dead(self) -> torch.Tensor:
        """(feature,) which have not been on for `dead_after` tokens."""
        return self.unused >= self.recipe.dead_after

    def learn(self, states: torch.Tensor, written: torch.Tensor | None = None) -> None:
        """One step on states (state, channel), and on what is written there, if that is something else."""
        self._set_rate()
        read = (states - self.mean) / self.scale
        target = read
        if self.written is not None and written is not None:
            target = (written - self.written[0]) / self.written[1]
        scores = self._scores(read)
        activations, sparsity = self._activations(scores)
        left = target - activations @ self.parts["decoder"] - self.parts["decoder_bias"]
        # the scaled states have a mean square of 1, so that this is a share of the variance
        unexplained = left.square().mean()
        loss = unexplained if sparsity is None else unexplained + sparsity
        revived = self._revived(scores, left.detach())
        loss = loss if revived is None else loss + AUXILIARY * revived
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            decoder = self.parts["decoder"]
            decoder /= decoder.norm(dim=1, keepdim=True).clamp_min(1e-12)
            on = activations > 0
            self.unused = torch.where(on.any(0), 0, self.unused + len(states))
            self.unexplained, self.active = unexplained.detach(), on.sum() / len(states)
            if self.recipe.kind == "batchtopk":
                self._note_threshold(activations)
        self.step += 1
        self.seen += len(states)

    def _set_rate(self) -> None:
        recipe, steps = self.recipe, self.recipe.steps
        rising = min(1.0, (self.step + 1) / max(1, steps // 10))
        falling = min(1.0, (steps - self.step) / max(1, steps // 3))
        for group in self.optimizer.param_groups:
            group["lr"] = recipe.rate * rising * falling

    def _scores(self, read: torch.Tensor) -> torch.Tensor:
        if self.written is None:  # what is written without any feature is no feature's to read
            read = read - self.parts["decoder_bias"]
        return torch.nn.functional.linear(read, self.parts["encoder"], self.parts["encoder_bias"])

    def _activations(self, scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
        """(state, feature) what is on, and what it costs that more or fewer are on than k."""
        recipe = self.recipe
        if recipe.kind == "topk":
            return largest(scores, recipe.k), None
        if recipe.kind == "batchtopk":
            return largest(scores.flatten(), recipe.k * len(scores)).view_as(scores), None
        threshold = self.parts["log_threshold"].exp()
        activations = _Jump.apply(scores, threshold)  # type: ignore[no-untyped-call]  # torch's
        on = _Step.apply(scores, threshold)  # type: ignore[no-untyped-call]  # torch's
        return activations, recipe.penalty * (on.sum(-1).mean() / recipe.k - 1).square()

    def _revived(self, scores: torch.Tensor, left: torch.Tensor) -> torch.Tensor | None:
        """How much of what is left the dead features leave, as a share; None where none is dead."""
        if self.seen < self.recipe.dead_after:  # none can be
            return None
        dead = self.dead
        count = int(dead.sum())
        if not count:
            return None
        best = largest(scores.masked_fill(~dead, -torch.inf), min(REVIVED, count))
        missing = left - best @ self.parts["decoder"]
        return missing.square().mean() / left.square().mean().clamp_min(1e-12)

    def _note_threshold(self, activations: torch.Tensor) -> None:
        """The smallest activation of a batch, in the running mean (Bussmann et al. 2024)."""
        smallest = activations.masked_fill(activations <= 0, torch.inf).min()
        smallest = torch.where(smallest.isfinite(), smallest, self.threshold)
        weight = KEPT if self.step else 1.0
        self.threshold = (1 - weight) * self.threshold + weight * smallest

    def folded(self) -> dict[str, np.ndarray | None]:
        """The arrays of the dictionary so far, in the units of the model."""
        parts = {name: part.detach().double() for name, part in self.parts.items()}
        mean, scale = self.mean.double(), self.scale
        target_mean, target_scale = (mean, scale) if self.written is None else self.written
        encoder = parts["encoder"] * (target_scale / scale)
        centre = mean / scale + (parts["decoder_bias"] if self.written is None else 0)
        bias = target_scale * (parts["encoder_bias"] - parts["encoder"] @ centre)
        written = target_mean.double() + target_scale * parts["decoder_bias"]
        threshold = None
        if self.recipe.kind == "jumprelu":
            threshold = parts["log_threshold"].exp() * target_scale
        elif self.recipe.kind == "batchtopk":
            threshold = (self.threshold.double() * target_scale).expand(self.recipe.size)
        arrays = {
            "encoder": encoder,
            "encoder_bias": bias,
            "decoder": parts["decoder"],
            "decoder_bias": written,
            "threshold": threshold,
        }
        return {
            name: None if array is None else array.float().cpu().contiguous().numpy().copy()
            for name, array in arrays.items()
        }

    def dictionary(self, tap: str, written: str, **known: Any) -> Dictionary:
        """The dictionary so far."""
        recipe = self.recipe
        return Dictionary(
            kind=recipe.kind,  # type: ignore[arg-type]  # a recipe has checked that it is one
            tap=tap,
            written=written,
            k=recipe.k,
            seed=recipe.seed,
            tokens=self.seen,
            **self.folded(),  # type: ignore[arg-type]  # only a threshold may be missing
            **known,
        )

    def state(self) -> dict[str, torch.Tensor]:
        """All that the training goes on from, on the CPU."""
        found = {name: part.detach() for name, part in self.parts.items()}
        for name, part in self.parts.items():
            for moment, value in self.optimizer.state.get(part, {}).items():
                found[f"{moment}/{name}"] = value
        found |= {"unused": self.unused, "threshold": self.threshold, "mean": self.mean}
        found |= {"unexplained": self.unexplained, "active": self.active}
        found["scales"] = torch.tensor(
            [self.scale] if self.written is None else [self.scale, self.written[1]], dtype=torch.float64
        )
        found["counts"] = torch.tensor([self.step, self.seen])
        if self.written is not None:
            found["written_mean"] = self.written[0]
        return {name: value.detach().cpu().clone() for name, value in found.items()}

    @classmethod
    def from_state(
        cls, recipe: FeatureRecipe, state: Mapping[str, torch.Tensor], device: str | torch.device
    ) -> DictionaryLearner:
        """The learner that `state` was taken from; LmvizError where it is one of another recipe."""
        try:
            scales = state["scales"].tolist()
            written = (state["written_mean"].to(device), scales[1]) if "written_mean" in state else None
            learner = cls(recipe, state["mean"].to(device), scales[0], written)
            for name, part in learner.parts.items():
                if state[name].shape != part.shape:
                    raise ValueError(name)
                with torch.no_grad():
                    part.copy_(state[name])
                moments = {}
                for moment in ("step", "exp_avg", "exp_avg_sq"):
                    if f"{moment}/{name}" in state:
                        stays = moment == "step" and not learner.is_fused
                        moments[moment] = state[f"{moment}/{name}"].to("cpu" if stays else device)
                if moments:
                    learner.optimizer.state[part] = moments
            for name in ("unused", "threshold", "unexplained", "active"):
                setattr(learner, name, state[name].to(device))
            learner.step, learner.seen = state["counts"].tolist()
        except (KeyError, ValueError, IndexError) as fault:
            raise LmvizError(
                f"What is kept of this training does not fit its settings ({fault}): begin anew."
            ) from fault
        return learner


def _unit(rows: torch.Tensor) -> torch.Tensor:
    return rows / rows.norm(dim=1, keepdim=True)


def _near(scores: torch.Tensor, threshold: torch.Tensor) -> torch.Tensor:
    """The rectangular kernel of width `BANDWIDTH` around a threshold, divided by that width."""
    return ((scores - threshold).abs() < BANDWIDTH / 2).to(scores.dtype) / BANDWIDTH


class _Jump(torch.autograd.Function):
    """score × [score > threshold]; towards the threshold the derivative is −threshold × kernel."""

    @staticmethod
    def forward(context: Any, scores: torch.Tensor, threshold: torch.Tensor) -> torch.Tensor:
        context.save_for_backward(scores, threshold)
        return torch.where(scores > threshold, scores, torch.zeros_like(scores))

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scores, threshold = context.saved_tensors
        by_score = torch.where(scores > threshold, gradient, torch.zeros_like(gradient))
        by_threshold = -(gradient * threshold * _near(scores, threshold)).sum(0)
        return by_score, by_threshold


class _Step(torch.autograd.Function):
    """[score > threshold]; towards the threshold the derivative is −kernel."""

    @staticmethod
    def forward(context: Any, scores: torch.Tensor, threshold: torch.Tensor) -> torch.Tensor:
        context.save_for_backward(scores, threshold)
        return (scores > threshold).to(scores.dtype)

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[None, torch.Tensor]:
        scores, threshold = context.saved_tensors
        return None, -(gradient * _near(scores, threshold)).sum(0)
