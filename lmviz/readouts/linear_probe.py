"""A linear probe: multinomial logistic regression with a ridge, solved to its optimum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

ROUNDS = 200


@dataclass(frozen=True, eq=False)
class LinearProbe:
    """Weights (label, channel) and biases (label,) for states as they are, not standardised."""

    weights: np.ndarray
    biases: np.ndarray

    def scores(self, states: np.ndarray) -> np.ndarray:
        """(row, label) how well each label fits states (row, channel): their softmax is the probability."""
        return np.asarray(states @ self.weights.T + self.biases)

    def answers(self, states: np.ndarray) -> np.ndarray:
        """(row,) the label of each state (row, channel)."""
        return np.asarray(self.scores(states).argmax(axis=1))


def fit_probe(states: np.ndarray, labels: np.ndarray, count: int, strength: float = 1.0) -> LinearProbe:
    """The probe that makes the labels (row,) of states (row, channel) likeliest.

    Minimised is the sum of −log probabilities plus ‖W‖² / (2 `strength`), over states of mean 0 and
    variance 1, as scikit-learn's LogisticRegression(C=strength) does after a StandardScaler; biases are free.
    """
    mean, deviation = states.mean(0), states.std(0)
    deviation = np.where(deviation > 1e-12, deviation, 1.0)
    rows = torch.from_numpy(((states - mean) / deviation).astype(np.float64))
    wanted = torch.from_numpy(labels.astype(np.int64))
    with torch.inference_mode(False), torch.enable_grad():
        rows, wanted = rows.clone(), wanted.clone()
        weights = torch.zeros(count, rows.shape[1], dtype=torch.float64, requires_grad=True)
        biases = torch.zeros(count, dtype=torch.float64, requires_grad=True)
        solver = torch.optim.LBFGS(
            [weights, biases],
            max_iter=ROUNDS,
            history_size=20,
            tolerance_grad=1e-6 * len(rows) ** 0.5,
            tolerance_change=1e-10,
            line_search_fn="strong_wolfe",
        )

        def closure() -> torch.Tensor:
            solver.zero_grad()
            told = torch.nn.functional.cross_entropy(rows @ weights.T + biases, wanted, reduction="sum")
            loss = told + (weights**2).sum() / (2 * strength)
            loss.backward()
            return loss

        solver.step(closure)
    own = weights.detach().numpy() / deviation
    return LinearProbe(own, biases.detach().numpy() - own @ mean)
