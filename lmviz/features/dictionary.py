"""A dictionary of sparse features: what reads them off a state, and the direction that each writes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from lmviz.base.arguments import named_file
from lmviz.base.errors import LmvizError
from lmviz.base.files import replacing
from lmviz.looks.shown import Shown

if TYPE_CHECKING:
    import torch

    from lmviz.features.coding import Coding
    from lmviz.features.worth import Worth
    from lmviz.inspection.trace import Trace
    from lmviz.readouts.direction import StateDirection

Kind = Literal["topk", "batchtopk", "jumprelu", "relu"]
KINDS: tuple[Kind, ...] = get_args(Kind)

FORMAT = "lmviz dictionary 1"
ARRAYS = ("encoder", "encoder_bias", "decoder", "decoder_bias", "threshold", "skip", "rates")


@dataclass(frozen=True, eq=False, repr=False)
class Dictionary(Shown):
    """Features of the states at a tap: score = `encoder` x + `encoder_bias`, and what is on by its `kind`.

    `encoder` (feature, channel) reads the states of `tap`. `decoder` (feature, channel) holds the directions
    that features write, and `decoder_bias` (channel,) what is written without any: a reconstruction of the
    same states, or, in a transcoder, of the states of another tap, `written`. All in the units of the model:
    nothing is normalised any more. Of a state the `k` largest scores are on in the kind "topk", and those
    above their `threshold` (feature,) in "batchtopk" and "jumprelu", where `k` is how many that are on
    average, if known. `skip` (channel, channel) is what a transcoder hands on of the state beside its
    features. `tokens` is how many it was learned from, `model` and `step` of which model; `rates` (feature,)
    is the share of held-out tokens at which each is on, and `worth` what was measured there. What is not
    known is None.
    """

    kind: Kind
    tap: str
    encoder: np.ndarray
    encoder_bias: np.ndarray
    decoder: np.ndarray
    decoder_bias: np.ndarray
    k: int | None = None
    threshold: np.ndarray | None = None
    written: str = ""
    skip: np.ndarray | None = None
    tokens: int | None = None
    seed: int | None = None
    model: str = ""
    step: int | None = None
    rates: np.ndarray | None = None
    worth: Worth | None = None

    @property
    def size(self) -> int:
        """The number of features."""
        return len(self.encoder)

    @property
    def width(self) -> int:
        """The number of channels of the states that are read."""
        return self.encoder.shape[1]

    @property
    def is_transcoder(self) -> bool:
        """Whether features write something other than what they are read from."""
        return bool(self.written) and self.written != self.tap

    @property
    def target(self) -> str:
        """The tap whose states are reconstructed."""
        return self.written or self.tap

    @cached_property
    def directions(self) -> np.ndarray:
        """(feature, channel) the rows of the decoder with length 1; zeros where a feature writes nothing."""
        lengths = np.linalg.norm(self.decoder, axis=1, keepdims=True)
        return self.decoder / np.where(lengths > 0, lengths, 1)

    def check(self, feature: int) -> int:
        """The number of a feature; LmvizError where there is none."""
        is_number = isinstance(feature, int | np.integer) and not isinstance(feature, bool)
        if not is_number or not 0 <= feature < self.size:
            raise LmvizError(
                f"There is no feature {feature!r}: they are counted from 0 to {self.size - 1:,} as in files."
            )
        return int(feature)

    def scores(self, states: np.ndarray | Trace) -> np.ndarray:
        """(..., feature) how well states (..., channel), or those of a trace, fit each feature."""
        return self._numpy(self.coding().scores(self._states(states)))

    def encode(self, states: np.ndarray | Trace) -> np.ndarray:
        """(..., feature) the activations of states (..., channel), or of those of a trace: 0 where not on.

        LmvizError for states of another width.
        """
        return self._numpy(self.coding().encoded(self._states(states)))

    def decode(self, activations: np.ndarray) -> np.ndarray:
        """(..., channel) what activations (..., feature) write; LmvizError for another number of features."""
        import torch

        given = _numbers(activations)
        if given.shape[-1:] != (self.size,):
            raise LmvizError(f"{self!r} has {self.size:,} features, and {given.shape[-1:]} were given.")
        return self._numpy(self.coding().decoded(torch.tensor(given)))

    def reconstruct(self, states: np.ndarray | Trace) -> np.ndarray:
        """(..., channel) what features put in the place of states (..., channel), with any `skip`."""
        return self._numpy(self.coding().reconstructed(self._states(states)))

    def direction(self, feature: int) -> StateDirection:
        """The direction that a feature writes, to add, remove or swap; LmvizError if it is not there."""
        from lmviz.inspection.indices import from_start
        from lmviz.readouts.direction import StateDirection

        at = from_start("feature", feature, self.size)
        return StateDirection.of(self.target, self.decoder[at], f"feature {at}")

    def coding(self, device: str | torch.device = "cpu") -> Coding:
        """The same as tensors, where a model computes."""
        import torch

        from lmviz.features.coding import Coding

        def tensor(array: np.ndarray | None) -> torch.Tensor | None:
            return None if array is None else torch.tensor(array, dtype=torch.float32, device=device)

        def known(array: np.ndarray) -> torch.Tensor:
            return torch.tensor(array, dtype=torch.float32, device=device)

        return Coding(
            self.kind,
            known(self.encoder),
            known(self.encoder_bias),
            known(self.decoder),
            known(self.decoder_bias),
            self.k,
            tensor(self.threshold),
            tensor(self.skip),
        )

    def save(self, path: str | Path) -> Path:
        """Write a safetensors file, with all else in its header; LmvizError where it cannot be written."""
        import torch

        from lmviz.models.tensor_file import write_tensor_file

        path = named_file(path)
        told: dict[str, Any] = {name: value for name, value in vars(self).items() if name in TOLD}
        told["worth"] = None if self.worth is None else asdict(self.worth)
        tensors = {
            name: torch.tensor(array, dtype=torch.float32)
            for name in ARRAYS
            if (array := getattr(self, name)) is not None
        }
        header = {"format": FORMAT, "dictionary": json.dumps(told, ensure_ascii=False)}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as unfinished:
                write_tensor_file(unfinished, tensors, header)
        except OSError as fault:
            raise LmvizError(
                f"The features cannot be written to {path}: {fault.strerror}. Choose another place."
            ) from fault
        except ValueError as fault:
            raise LmvizError(f"{str(path)!r} cannot be written ({fault}): choose another name.") from fault
        return path

    def _states(self, states: np.ndarray | Trace) -> torch.Tensor:
        import torch

        from lmviz.inspection.trace import Trace

        if isinstance(states, Trace):
            states = states[self.tap].array
        found = _numbers(states)
        if found.shape[-1:] != (self.width,):
            raise LmvizError(
                f"{self!r} reads states of {self.width:,} channels, and not of shape {found.shape}: give "
                f"those of {self.tap}."
            )
        return torch.tensor(found)

    def _numpy(self, found: torch.Tensor) -> np.ndarray:
        return found.numpy()


TOLD = frozenset(field.name for field in fields(Dictionary)) - {*ARRAYS}
"""What is written in the header of a file."""


def _numbers(given: Any) -> np.ndarray:
    """What is given as an array of numbers; LmvizError where it is none."""
    try:
        return np.ascontiguousarray(given, dtype=np.float32)
    except (TypeError, ValueError):
        raise LmvizError(f"{given!r} is no array of numbers: give states, or a trace.") from None
