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
from torch.nn.functional import embedding_bag

from lmviz.base.errors import LmvizError
from lmviz.features.coding import above, largest
from lmviz.features.dictionary import Dictionary
from lmviz.features.recipe import FeatureRecipe
from lmviz.models.float64 import in_float64

AUXILIARY = 1 / 32
"""The weight of the auxiliary loss."""

REVIVED = 32
"""So many dead features at most explain what is left of a token."""

BANDWIDTH = 0.1
"""How near to a threshold a score must lie to move it, in units of the scaled states."""

FIRST_THRESHOLD = 0.1

GATHERED = 2**24
"""So many numbers of directions are gathered at most, 64 MB; where there are more, all take part."""

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
        with torch.no_grad():
            read = (states - self.mean) / self.scale
            target = read
            if self.written is not None and written is not None:
                target = (written - self.written[0]) / self.written[1]
            gradients, activations = self.gradients(read, target)
            for name, part in self.parts.items():
                part.grad = gradients[name]
        self.optimizer.step()
        with torch.no_grad():
            decoder = self.parts["decoder"]
            decoder /= decoder.norm(dim=1, keepdim=True).clamp_min(1e-12)
            on = activations > 0
            self.unused = torch.where(on.any(0), 0, self.unused + len(states))
            self.active = on.sum() / len(states)
            if self.recipe.kind == "batchtopk":
                self._note_threshold(activations)
        self.step += 1
        self.seen += len(states)

    def gradients(
        self, read: torch.Tensor, target: torch.Tensor
    ) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
        """The gradient of the loss by each part, and the activations (state, feature), of scaled states.

        The loss is the share of the variance that is not explained: the scaled states have a mean square
        of 1. Gradients are written out: of a state few features are on, and autograd would go through all.
        """
        parts, recipe = self.parts, self.recipe
        encoder, decoder = parts["encoder"], parts["decoder"]
        # what is written without any feature is no feature's to read
        read = read - parts["decoder_bias"] if self.written is None else read
        scores = torch.addmm(parts["encoder_bias"], read, encoder.T)
        places = values = None
        if recipe.kind == "topk":
            values, places = scores.topk(recipe.k, dim=-1)
            values = values.clamp_min(0)
            activations = torch.zeros_like(scores).scatter_(-1, places, values)
            written = embedding_bag(places, decoder, per_sample_weights=values, mode="sum")
        else:
            activations = self._activations(scores)
            written = activations @ decoder
        left = target - written - parts["decoder_bias"]
        self.unexplained = left.square().mean()
        upstream = left * (-2 / left.numel())
        found = {"decoder": activations.T @ upstream}
        if places is not None and values is not None and places.numel() * decoder.shape[1] <= GATHERED:
            by_value = torch.bmm(decoder[places], upstream[:, :, None])[..., 0] * (values > 0)
            by_score = torch.zeros_like(scores).scatter_(-1, places, by_value)
        else:
            by_activation = upstream @ decoder.T
            by_score = by_activation * (activations > 0)
            if recipe.kind == "jumprelu":
                found["log_threshold"] = self._by_threshold(scores, by_activation, activations)
        revived = self._revived(scores, left)
        if revived is not None:
            best, upward = revived
            found["decoder"] += best.T @ upward
            by_score += (upward @ decoder.T) * (best > 0)
        found["encoder"] = by_score.T @ read
        found["encoder_bias"] = by_score.sum(0)
        found["decoder_bias"] = upstream.sum(0)
        if self.written is None:
            found["decoder_bias"] -= found["encoder_bias"] @ encoder
        return found, activations

    def _set_rate(self) -> None:
        recipe, steps = self.recipe, self.recipe.steps
        rising = min(1.0, (self.step + 1) / max(1, steps // 10))
        falling = min(1.0, (steps - self.step) / max(1, steps // 3))
        for group in self.optimizer.param_groups:
            group["lr"] = recipe.rate * rising * falling

    def _activations(self, scores: torch.Tensor) -> torch.Tensor:
        """(state, feature) what is on by a border that is no state's own."""
        if self.recipe.kind == "batchtopk":
            return largest(scores.flatten(), self.recipe.k * len(scores)).view_as(scores)
        return above(scores, self.parts["log_threshold"].exp())

    def _by_threshold(
        self, scores: torch.Tensor, by_activation: torch.Tensor, activations: torch.Tensor
    ) -> torch.Tensor:
        """The derivative of the loss by the logarithms of thresholds, estimated from the scores near them.

        The loss has a penalty where more or fewer features are on than k.
        """
        recipe, threshold = self.recipe, self.parts["log_threshold"].exp()
        near = ((scores - threshold).abs() < BANDWIDTH / 2) / BANDWIDTH
        on = (activations > 0).sum() / len(scores)
        by_count = 2 * recipe.penalty * (on / recipe.k - 1) / recipe.k
        by_threshold = -(by_activation * near).sum(0) * threshold - near.sum(0) * (by_count / len(scores))
        return by_threshold * threshold

    def _revived(self, scores: torch.Tensor, left: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor] | None:
        """(state, feature) the best dead features, and the gradient of the auxiliary loss by what they write.

        That loss is the share of what is left that they leave. None where no feature is dead.
        """
        if self.seen < self.recipe.dead_after:  # none can be
            return None
        dead = self.dead
        count = int(dead.sum())
        if not count:
            return None
        best = largest(scores.masked_fill(~dead, -torch.inf), min(REVIVED, count))
        missing = left - best @ self.parts["decoder"]
        share = left.square().mean().clamp_min(1e-12)
        return best, missing * (-2 * AUXILIARY / missing.numel() / share)

    def _note_threshold(self, activations: torch.Tensor) -> None:
        """The smallest activation of a batch, in the running mean (Bussmann et al. 2024)."""
        smallest = activations.masked_fill(activations <= 0, torch.inf).min()
        smallest = torch.where(smallest.isfinite(), smallest, self.threshold)
        weight = KEPT if self.step else 1.0
        self.threshold = (1 - weight) * self.threshold + weight * smallest

    def folded(self) -> dict[str, np.ndarray | None]:
        """The arrays of the dictionary so far, in the units of the model."""
        parts = {name: in_float64(part.detach()) for name, part in self.parts.items()}
        mean, scale = in_float64(self.mean), self.scale
        target_mean, target_scale = (mean, scale) if self.written is None else self.written
        encoder = parts["encoder"] * (target_scale / scale)
        centre = mean / scale + (parts["decoder_bias"] if self.written is None else 0)
        bias = target_scale * (parts["encoder_bias"] - parts["encoder"] @ centre)
        written = in_float64(target_mean) + target_scale * parts["decoder_bias"]
        threshold = None
        if self.recipe.kind == "jumprelu":
            threshold = parts["log_threshold"].exp() * target_scale
        elif self.recipe.kind == "batchtopk":
            threshold = (in_float64(self.threshold) * target_scale).expand(self.recipe.size)
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
