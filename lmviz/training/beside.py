"""Texts that are measured beside the held-out one: what the model wrote before, and one of one's choice."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.models.interruption import look_up
from lmviz.models.model import Model
from lmviz.text.ordinary_files import read_file
from lmviz.training.validation import ValidationLoss
from lmviz.training.writing import write_bytes

OWN, SECOND = "own", "second"
"""The names of the two texts in a run's `beside.json`; its metrics have `own_loss` and `second_loss`."""

NAME = "beside.json"
LARGEST_FILE = 10_000_000
OWN_TEXTS, LONGEST = 6, 96
"""How many texts the model writes, and how many tokens each has at most."""

SECOND_TEXTS = 20
"""How many excerpts of the second text are read at most."""


@dataclass(frozen=True, eq=False)
class TextsBeside:
    """Rows of token ids (row, position) by the name of the text, and what the second one is called."""

    rows: Mapping[str, np.ndarray]
    second_name: str = ""

    def save(self, folder: Path) -> None:
        """Write `beside.json` into the folder of a run; raises NotWritten."""
        values = {name: rows.tolist() for name, rows in self.rows.items()} | {"second_name": self.second_name}
        write_bytes(folder / NAME, json.dumps(values).encode("utf-8"))

    @classmethod
    def load(cls, folder: Path, vocabulary_size: int) -> TextsBeside | None:
        """What was written there; None where nothing was, or nothing that can be read."""
        try:
            values = json.loads(read_file(folder / NAME, LARGEST_FILE))
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(values, dict):
            return None
        found = {name: _rows(values.get(name), vocabulary_size) for name in (OWN, SECOND)}
        name = values.get("second_name")
        return cls(
            {name: rows for name, rows in found.items() if rows is not None},
            name if isinstance(name, str) else "",
        )


def _rows(values: Any, vocabulary_size: int) -> np.ndarray | None:
    try:
        rows = np.array(values)
    except ValueError:  # rows of several lengths
        return None
    if rows.ndim != 2 or rows.dtype.kind not in "iu" or rows.shape[0] < 1 or rows.shape[1] < 2:
        return None
    return rows.astype(np.int64) if rows.min() >= 0 and rows.max() < vocabulary_size else None


@torch.no_grad()
def written_by(model: Model, length: int) -> np.ndarray:
    """Texts that a model writes at temperature 1, (text, position); each begins where its documents do.

    Every token but the first is drawn from what the model says, so its mean loss on them is its own entropy,
    but for chance. The draws are the same for every training of the model.
    """
    tokenizer = model.tokenizer
    begin = 0 if tokenizer is None else tokenizer.start_id
    if begin is None and tokenizer is not None:
        begin = tokenizer.end_id
    length = min(length, LONGEST, model.context or LONGEST)
    device = next(model.parameters()).device
    rows = torch.full((OWN_TEXTS, 1), begin or 0, dtype=torch.int64, device=device)
    chance = np.random.default_rng(0)
    state: Any = None
    was_training = model.training
    model.eval()
    for _ in range(length):
        given = rows if state is None else rows[:, -1:]
        logits, state = model.advance(given, state)
        shares = logits[:, -1].float().softmax(dim=-1).cpu().double().cumsum(dim=-1).numpy()
        draws = chance.random(OWN_TEXTS) * shares[:, -1]
        drawn = [
            int(np.searchsorted(row, draw, side="right")) for row, draw in zip(shares, draws, strict=True)
        ]
        last = min(shares.shape[-1] - 1, max(drawn))
        following = torch.tensor([[min(each, last)] for each in drawn], device=device)
        rows = torch.cat([rows, following], dim=1)
    model.train(was_training)
    return rows.cpu().numpy()


def excerpts_of(ids: np.ndarray, length: int) -> np.ndarray:
    """Evenly spread excerpts of a text (excerpt, position), read without what stands before them."""
    if len(ids) < 2:
        raise LmvizError("The second text has too few tokens to be measured: choose a longer one.")
    size = min(length + 1, len(ids))
    count = max(1, min(SECOND_TEXTS, len(ids) // size))
    starts = np.linspace(0, len(ids) - size, count).round().astype(np.int64)
    return np.stack([ids[start : start + size] for start in starts]).astype(np.int64)


class Measures(Protocol):
    """What measures the loss on a held-out part."""

    def measure(self, model: Model) -> ValidationLoss | None:
        """Nats per counted target; None where there is none."""


class WithBeside:
    """Measures the held-out text and, on the same occasions, those beside it."""

    def __init__(self, held_out: Measures, beside: TextsBeside, batch: int) -> None:
        self._held_out, self._beside, self._batch = held_out, beside, batch

    def measure(self, model: Model) -> ValidationLoss | None:
        """See Validation. Without a held-out text the loss on it is not a number."""
        measured = self._held_out.measure(model)
        further = {name: mean_loss(model, rows, self._batch) for name, rows in self._beside.rows.items()}
        return replace(measured or ValidationLoss(math.nan), further=further)


@torch.no_grad()
def mean_loss(model: Model, rows: np.ndarray, batch: int) -> float:
    """Nats per token of rows (row, position), each of whose tokens but the first counts."""
    device, was_training = next(model.parameters()).device, model.training
    model.eval()
    total = 0.0
    for start in range(0, len(rows), batch):
        look_up()
        ids = torch.from_numpy(rows[start : start + batch]).to(device)
        total -= float(model.log_probabilities(ids[:, :-1], ids[:, 1:]).cpu().double().sum())
    model.train(was_training)
    return total / rows[:, 1:].size
