"""The loss on whole validation sentences or examples, measured repeatedly on the same ones."""

from __future__ import annotations

import numpy as np
import torch

from lmviz.models.float64 import in_float64
from lmviz.models.interruption import look_up
from lmviz.models.model import IGNORED, Model
from lmviz.training.distributed import Team
from lmviz.training.options import TrainingOptions
from lmviz.training.pieces import Pieces
from lmviz.training.validation import ValidationLoss


class PieceValidation:
    """Pieces of the validation part: all of them where they are few, evenly spread ones where not.

    With `counts_right` it also counts how many targets are found likeliest; one that is `unknown` is never
    right, for nobody has said which word it is. The processes of a team share the pieces.
    """

    def __init__(
        self,
        pieces: Pieces | None,
        options: TrainingOptions,
        team: Team,
        *,
        counts_right: bool,
        unknown: int | None = None,
    ) -> None:
        self._team = team
        self._unknown = unknown
        self._counts_right = counts_right
        self._batches: list[np.ndarray] = []
        if pieces is None:
            return
        self._pieces = pieces
        count = min(len(pieces), options.validation_batches * options.batch * team.size)
        chosen = np.linspace(0, len(pieces) - 1, count).round().astype(np.int64)
        chosen = chosen[np.argsort(pieces.sizes[chosen], kind="stable")]
        self._batches = [chosen[at : at + options.batch] for at in range(0, count, options.batch)]

    def measure(self, model: Model) -> ValidationLoss | None:
        """Nats per target, and the share of them that the model finds likeliest; None without targets.

        The model is left in the mode, training or not, in which it was.
        """
        device = next(model.parameters()).device
        total = torch.zeros(3, dtype=torch.float64)  # nats, right answers, targets
        was_training = model.training
        model.eval()
        with torch.no_grad():
            for chosen in self._batches[self._team.rank :: self._team.size]:
                look_up()
                arrays = (torch.from_numpy(array).to(device) for array in self._pieces.side_by_side(chosen))
                tokens, targets, lengths = arrays
                given = self._pieces.beside(chosen).items()
                beside = {name: torch.from_numpy(array).to(device) for name, array in given}
                total += summed_answers(model, tokens, targets, lengths, self._unknown, **beside)
        model.train(was_training)
        nats, right, counted = self._team.sum(total).tolist()
        if not counted:
            return None
        return ValidationLoss(nats / counted, right / counted if self._counts_right else None)


def summed_answers(
    model: Model,
    tokens: torch.Tensor,
    targets: torch.Tensor,
    lengths: torch.Tensor,
    unknown: int | None,
    **beside: torch.Tensor,
) -> torch.Tensor:
    """The nats of all targets that count, how many of them are likeliest, and how many there are, (3,)."""
    logits = model(tokens, lengths, **beside)
    rows, wanted = logits.reshape(-1, logits.shape[-1]), targets.flatten()
    counts = wanted != IGNORED
    losses = torch.nn.functional.cross_entropy(rows, wanted, ignore_index=IGNORED, reduction="none")
    right = (rows.argmax(dim=-1) == wanted) & counts
    if unknown is not None:
        right &= wanted != unknown
    return torch.stack([in_float64(part).sum() for part in (losses, right, counts)]).cpu()
