"""How a Transformer knows the order of words: what each kind of position has to show, as numbers.

Learned and sinusoidal positions are vectors that are added to embeddings (Vaswani et al. 2017); rotary ones
turn queries and keys (Su et al. 2021); ALiBi lowers scores with distance (Press et al. 2022); relative ones
add a learned number for each distance (Raffel et al. 2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from lmviz.models.positions import distance_bias, distance_rows, sinusoids
from lmviz.models.rotary import frequencies
from lmviz.models.transformer_configuration import TransformerConfiguration

if TYPE_CHECKING:
    from lmviz.models.model import Model

MOST = 512
"""How many positions are drawn at most."""

ADDED = ("learned", "sinusoidal")
BY_DISTANCE = ("alibi", "relative")


@dataclass(frozen=True, eq=False)
class PositionPicture:
    """What a model's positions look like; `kind` is the setting `positions` of its configuration.

    `table` is (position, channel) of what is added, (position, pair) of the angles in radians by which pairs
    of channels are turned, or (head, distance) of what is added to scores. `pairs` is (position, position):
    p_t · p_s, or the mean of cos((t − s) θ) over the pairs that are turned, or the bias of one head for each
    query and key, NaN for keys that the mask hides. Both are empty where there are no positions. Where angles
    depend on the length of the text (`by_length`), they are those of a text of as many positions.
    """

    kind: str
    context: int
    causal: bool
    table: np.ndarray
    pairs: np.ndarray
    by_length: bool = False

    @property
    def positions(self) -> int:
        """How many positions are drawn."""
        return len(self.pairs)

    @property
    def waves(self) -> np.ndarray:
        """(wave, position) or (wave, distance): a row for each channel, pair of channels or head."""
        if self.kind == "rotary":
            return np.asarray(np.cos(self.table).T)
        return np.asarray(self.table if self.kind in BY_DISTANCE else self.table.T)

    def shifted(self, shift: int) -> np.ndarray:
        """(position,) What `pairs` says of each position and the one `shift` after it: a diagonal.

        Of scores it is the other way round: each query and the key `shift` before it.
        """
        return np.asarray(np.diagonal(self.pairs, -shift if self.kind in BY_DISTANCE else shift))


def picture_positions(model: Model, head: int = 0) -> PositionPicture:
    """The picture of a Transformer's positions; of scores, that of one head counted from 0."""
    configuration = model.configuration
    assert isinstance(configuration, TransformerConfiguration), "only Transformers have positions"
    count = min(configuration.context, MOST)
    table, pairs = np.zeros((0, 0), np.float32), np.zeros((0, 0), np.float32)
    kind, by_length = configuration.positions, False
    if kind in ADDED:
        table = _added(model, configuration, count)
        pairs = table @ table.T
    elif kind == "rotary":
        speeds, by_length = (
            configuration.rotary.in_text(count).frequencies,
            configuration.rotary.depends_on_length,
        )
        angles = np.outer(np.arange(count), speeds)
        table = ((angles + np.pi) % (2 * np.pi) - np.pi).astype(np.float32)
        between = np.arange(count)[:, None] - np.arange(count)[None, :]
        # One pair at a time, for there may be many.
        pairs = (sum(np.cos(between * speed) for speed in speeds) / len(speeds)).astype(np.float32)
    elif kind in BY_DISTANCE:
        biases = _biases(model, configuration, count)
        table = _by_distance(biases, both_ways=not configuration.causal)
        hidden = np.triu(np.ones((count, count), dtype=bool), 1) & configuration.causal
        pairs = np.where(hidden, np.nan, biases[min(head, len(biases) - 1)])
    return PositionPicture(kind, configuration.context, configuration.causal, table, pairs, by_length)


def shift_matrix(width: int, shift: int) -> np.ndarray:
    """(channel, channel) The matrix M with p_{t+k} = M p_t for sines, whatever t is (Vaswani et al. 2017).

    It turns each pair of a sine and its cosine by `shift` times the pair's frequency. Of an odd width the
    last channel, a sine without its cosine, is left out: the matrix is (width − 1) square.
    """
    pairs = width // 2
    matrix = np.zeros((2 * pairs, 2 * pairs))
    for pair, angle in enumerate(shift * frequencies(width)[:pairs]):
        sine, cosine = np.sin(angle), np.cos(angle)
        at = slice(2 * pair, 2 * pair + 2)
        matrix[at, at] = [[cosine, sine], [-sine, cosine]]
    return matrix


def shift_error(picture: PositionPicture, shift: int) -> float:
    """The largest difference between M p_t and p_{t+k} over all t that are drawn, for sines."""
    table = picture.table[:, : 2 * (picture.table.shape[1] // 2)].astype(np.float64)
    if shift >= len(table):
        return 0.0
    moved = table[: len(table) - shift] @ shift_matrix(picture.table.shape[1], shift).T
    return float(np.abs(moved - table[shift:]).max())


def _added(model: Model, configuration: TransformerConfiguration, count: int) -> np.ndarray:
    """(position, channel) What is added to the embeddings."""
    if configuration.positions == "sinusoidal":
        return sinusoids(count, configuration.width).numpy()
    weight = model.get_parameter_or_buffer("positions.weight")[configuration.position_offset :]
    return weight[:count].detach().float().cpu().numpy()


def _biases(model: Model, configuration: TransformerConfiguration, count: int) -> np.ndarray:
    """(head, query, key) What is added to scores."""
    both_ways, here = not configuration.causal, torch.device("cpu")
    if configuration.positions == "alibi":
        return distance_bias(configuration.alibi, count, here, both_ways=both_ways).numpy()
    rows = distance_rows(count, configuration.distances, here, both_ways=both_ways)
    weight = model.get_parameter_or_buffer("distances.weight").detach().float().cpu()
    return weight[rows].permute(2, 0, 1).numpy()


def _by_distance(biases: np.ndarray, *, both_ways: bool) -> np.ndarray:
    """(head, distance) The bias for keys 0, 1, 2 … back; with later keys, from the farthest later one on."""
    back = biases[:, -1, ::-1]
    return np.asarray(np.concatenate([biases[:, 0, :0:-1], back], axis=1) if both_ways else back)
