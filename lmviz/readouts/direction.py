"""A direction at a tap: what adds it to states, removes it from them, or swaps two of them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.arguments import check_kind, file_to_write, finite_number, named_file, whole_number
from lmviz.base.errors import LmvizError
from lmviz.base.files import replacing
from lmviz.base.loading import loads
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.interventions import add, replace
from lmviz.looks.shown import Shown
from lmviz.models.other_names import hint
from lmviz.readouts.direction_map import DirectionMap

if TYPE_CHECKING:
    from lmviz.models.model import Model

FORMAT = "lmviz direction 1"
LARGEST = 10_000_000
"""Bytes of a file with one direction."""


@dataclass(frozen=True, eq=False, repr=False)
class StateDirection(Shown):
    """A unit vector (channel,) at a tap, and where it comes from.

    `length` is that of the vector it was made from, such as the distance of two means: an addition of 1 in
    its units moves a state from one mean to the other. `name` is one that a person gave.
    """

    address: str
    vector: np.ndarray
    length: float
    origin: str
    name: str = ""

    @classmethod
    def of(cls, address: str, vector: np.ndarray, origin: str) -> StateDirection:
        """The direction of a vector; LmvizError for one without length."""
        if not isinstance(vector, np.ndarray) or vector.ndim != 1 or vector.dtype.kind not in "fiu":
            raise LmvizError(f"{vector!r} is no vector: give an array of numbers (channel,).")
        length = float(np.linalg.norm(vector))
        if not np.isfinite(length) or length == 0:
            raise LmvizError(
                f"The vector of the {origin} has no length, so it has no direction: give others."
            )
        return cls(address, (vector / length).astype(np.float32), length, origin)

    @property
    def called(self) -> str:
        """Its name, or else where it comes from."""
        return self.name or self.origin

    @property
    def digest(self) -> str:
        """A mark of the tap and the numbers, by which code finds it in a file."""
        told = self.address.encode("utf-8", errors="replace") + np.ascontiguousarray(self.vector).tobytes()
        return hashlib.sha256(told).hexdigest()[:12]

    def along(self, states: np.ndarray) -> np.ndarray:
        """(...,) how far states (..., channel) lie along it; LmvizError for states of another width."""
        given = np.asarray(states)
        if given.shape[-1:] != self.vector.shape or given.dtype.kind not in "fiu":
            raise LmvizError(f"{self!r} is of states (..., {len(self.vector)}), and these are {given.shape}.")
        found: np.ndarray = given @ self.vector
        return found

    def cosine(self, other: StateDirection) -> float:
        """How alike two directions are; LmvizError where they are of states of different width."""
        check_kind("direction", other, StateDirection, "another one")
        if self.vector.shape != other.vector.shape:
            raise LmvizError(f"{self!r} and {other!r} are of states of different width.")
        return float(self.vector @ other.vector)

    def add(self, strength: float = 1.0, **where: int | slice | tuple[int, ...]) -> Intervention:
        """Moves states by `strength` × `length` along it, at all positions or where it is said."""
        strength = finite_number("strength", strength)
        return add(self.address, strength * self.length * self.vector, **where)

    def remove(self, strength: float = 1.0, **where: int | slice | tuple[int, ...]) -> Intervention:
        """Takes what states have along it out of them (projection), or so large a share of it."""
        own, strength = self.vector, finite_number("strength", strength)
        code = f"direction.remove({strength!r}).value"
        return replace(self.address, DirectionMap(-own[:, None], own[None], strength, code), **where)

    def swap(
        self, other: StateDirection, strength: float = 1.0, **where: int | slice | tuple[int, ...]
    ) -> Intervention:
        """Exchanges what states have along it and along another direction at the same tap, or part of it."""
        check_kind("direction", other, StateDirection, "another one at the same tap")
        strength = finite_number("strength", strength)
        if self.address != other.address:
            raise LmvizError(f"{other!r} is at another tap than {self!r}: take two of one tap.")
        pair = np.stack([self.vector, other.vector])
        if abs(float(pair[0] @ pair[1])) > 1 - 1e-6:
            raise LmvizError("These two directions are one, so there is nothing to swap.")
        back = np.linalg.pinv(pair.astype(np.float64)).astype(np.float32)
        code = f"direction.swap(other, {strength!r}).value"
        return replace(self.address, DirectionMap(back, pair[::-1] - pair, strength, code), **where)

    def save(self, path: str | Path) -> Path:
        """Write it as a safetensors file, with where it comes from; LmvizError where it cannot be written."""
        import torch

        from lmviz.models.tensor_file import write_tensor_file

        path = file_to_write(path)
        told = {"address": self.address, "length": self.length, "origin": self.origin, "name": self.name}
        try:
            with replacing(path) as unfinished:
                header = {"format": FORMAT, "direction": json.dumps(told, ensure_ascii=False)}
                write_tensor_file(unfinished, {"vector": torch.tensor(self.vector)}, header)
        except OSError as fault:
            raise LmvizError(f"{path} cannot be written ({fault.strerror}): choose another place.") from fault
        return path

    def scaled_to(self, states: np.ndarray) -> StateDirection:
        """The same with the length by which states (position, channel) lie from their mean, on average.

        For one whose own length means nothing, such as a row of weights. The first state is left out, as it
        is often unlike all others; of fewer than three, nothing is said.
        """
        rest = states[1:].astype(np.float64)
        if len(rest) < 2 or rest.shape[-1:] != self.vector.shape:
            return self
        far = float(np.sqrt(((rest - rest.mean(0)) ** 2).sum(1).mean()))
        return dataclasses.replace(self, length=far) if np.isfinite(far) and far > 0 else self

    def random_like(self, seed: int = 0) -> StateDirection:
        """A direction at the same tap that means nothing, of the same length: the control of a steering."""
        drawn = np.random.default_rng(whole_number("seed", seed)).standard_normal(len(self.vector))
        drawn /= np.linalg.norm(drawn)
        return StateDirection(self.address, drawn.astype(np.float32), self.length, "random")

    def words(self, model: Model, count: int = 10, side: str = "writes") -> tuple[tuple[str, float], ...]:
        """The words that a direction `writes`, or those that it `reads`, with their numbers, largest first.

        It writes the words whose logits rise most if a state moves by one along it and is read as the last,
        and reads those whose embeddings lie farthest along it. LmvizError where the states are not as wide
        as the last or as an embedding, or where the model has no tokenizer.
        """
        if side not in ("writes", "reads"):
            raise LmvizError(f"A direction 'reads' words and 'writes' words, and does not {side!r}.")
        count = whole_number("count", count)
        if not hasattr(model, "tokenizer") or model.tokenizer is None:
            raise LmvizError("This model has no tokenizer, so its tokens have no names: open it from a run.")
        matrix = _unembedding(model) if side == "writes" else _embedding(model)
        if matrix.shape[1] != len(self.vector):
            what = "the output layer cannot read" if side == "writes" else "are not as wide as embeddings"
            raise LmvizError(f"{self!r} is of states that {what}.")
        sizes = matrix @ self.vector
        best = np.argsort(-sizes, kind="stable")[:count]
        return tuple((model.tokenizer.token(int(id)), float(sizes[id])) for id in best)


@loads("direction")
def read_direction(path: str | Path) -> StateDirection:
    """A direction that `StateDirection.save` wrote; LmvizError where the file is none."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    from lmviz.text.ordinary_files import read_file

    data = read_file(named_file(path), LARGEST)
    try:
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])["__metadata__"]
        told, vector = json.loads(header["direction"]), load(data)["vector"]
        if header["format"] != FORMAT or vector.ndim != 1 or not np.isfinite(vector).all():
            raise ValueError(header["format"])
        if not np.isclose(np.linalg.norm(vector), 1, atol=1e-3):
            raise ValueError("its length is not 1")
        return StateDirection(
            str(told["address"]),
            vector,
            float(told["length"]),
            str(told["origin"]),
            str(told.get("name", "")),
        )
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as fault:
        raise LmvizError(f"{path} is no direction of lmviz: choose one that was saved.") from fault


def mean_difference(
    model: Model, texts: Sequence[str], others: Sequence[str], tap: str, *, at: str = "last"
) -> StateDirection:
    """The direction from the mean state of `others` to that of `texts`, at their last tokens or at "all".

    LmvizError where one of the two is empty, or where the tap is not there or holds no states.
    """
    from lmviz.inspection.tracing import trace

    if at not in ("last", "all"):
        raise LmvizError(f"States are taken at the 'last' token or at 'all', not at {at!r}.")
    means = []
    for given in (texts, others):
        if isinstance(given, str) or not given:
            raise LmvizError("A difference of means needs two lists with at least one text each.")
        states = [trace(model, text, taps=[tap])[tap].array for text in given]
        if states[0].ndim != 2:
            axes = ", ".join(next(each.axes for each in model.taps() if each.address == tap))
            raise LmvizError(
                f"{tap} has {axes}, and a direction is one of states, a row for each token: choose another "
                "tap, such as layers/1/residual2."
            )
        means.append(np.mean([state[-1] if at == "last" else state.mean(0) for state in states], axis=0))
    return StateDirection.of(tap, means[0] - means[1], "difference of means")


def word_direction(model: Model, word: str, tap: str, of: str = "unembedding") -> StateDirection:
    """The row of a word in the output layer, or in the table of embeddings, as a direction at a tap.

    LmvizError where there is no such word, or no such table.
    """
    from lmviz.inspection.scalar import token_named

    if of not in ("unembedding", "embedding"):
        raise LmvizError(f"A word has an 'unembedding' and an 'embedding', and no {of!r}.")
    taps = {each.address for each in model.taps()}
    if tap not in taps:
        raise LmvizError(f"No tap is called {tap!r}: {hint(tap, taps)}")
    id = token_named(model, word)
    if id is None:
        raise LmvizError(f"{word!r} is no token of this model: give one of its vocabulary.")
    table = _unembedding(model) if of == "unembedding" else _embedding(model)
    return StateDirection.of(tap, table[id], f"{of} of “{word.strip()}”")


def differing(model: Model, text: str, other: str, taps: Sequence[str]) -> tuple[str, ...]:
    """Those of some taps whose states at the last tokens of two texts differ; LmvizError where none does."""
    from lmviz.inspection.tracing import trace

    one, two = (trace(model, given, taps=list(taps)) for given in (text, other))
    found = tuple(tap for tap in taps if not np.array_equal(one[tap].array[-1], two[tap].array[-1]))
    if not found:
        raise LmvizError("The states at the ends of these two texts are the same: change another word.")
    return found


def _embedding(model: Model) -> np.ndarray:
    """(token, channel) the table of embeddings."""
    from lmviz.models.precision import widened

    tensors = model.tensors()
    if "embedding.weight" not in tensors:
        raise LmvizError(f"A model of the family {model.family} has no table of embeddings.")
    return widened(tensors["embedding.weight"]).detach().cpu().numpy()


def _unembedding(model: Model) -> np.ndarray:
    """(token, channel) the weights of the output layer."""
    from lmviz.models.precision import widened

    tensors = model.tensors()
    for name in ("output.weight", "embedding.weight"):
        if name in tensors:
            return widened(tensors[name]).detach().cpu().numpy()
    raise LmvizError(f"The output layer of a model of the family {model.family} is no matrix of words.")
