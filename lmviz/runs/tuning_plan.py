"""What training an opened model further takes, before it begins: numbers, memory, and time here."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lmviz.base.errors import LmvizError
from lmviz.base.machine_memory import GIGABYTE, machine_memory
from lmviz.looks.shown import Shown
from lmviz.models.tuning_configuration import LAST, LORA, TuningConfiguration
from lmviz.runs.tuning_start import TuningStart
from lmviz.training.options import DEFAULT_LENGTH, TrainingOptions

if TYPE_CHECKING:
    from lmviz.models.transformer_configuration import TransformerConfiguration
    from lmviz.text.corpus import Corpus

NUMBER = 4
"""Bytes of a number in single precision."""

MOMENTS = {"adamw": 2, "adam": 2, "momentum": 1, "sgd": 0}
"""Numbers that an optimizer keeps of each that it moves."""

MOST_PARTS = 64


@dataclass(frozen=True, repr=False)
class TuningPlan(Shown):
    """What a training takes: `trained` of `parameters` numbers, and bytes of memory by what they are for.

    `activations` are what a pass forward keeps for the way back: estimated, or measured where `seconds`,
    those that a step takes here, are known. Where values are computed again, they stay estimated.
    """

    trained: int
    parameters: int
    weights: int
    gradients: int
    optimizer: int
    activations: int
    seconds: float | None = None

    @property
    def bytes(self) -> int:
        """The memory that it takes in all, without what libraries need beside."""
        return self.weights + self.gradients + self.optimizer + self.activations


def counted_plan(start: TuningStart, options: TrainingOptions) -> TuningPlan:
    """The plan as it can be counted, without a step."""
    configuration, size = start.tuning.configuration, start.base.vocabulary_size
    trained, parameters = start.learned_numbers, start.base.parameter_count()
    added = trained if start.chosen.adapter == LORA else 0
    rows = -(-options.batch // options.batch_parts)
    length = options.length or configuration.context or DEFAULT_LENGTH
    return TuningPlan(
        trained,
        parameters,
        weights=NUMBER * (parameters + added),
        gradients=NUMBER * trained,
        optimizer=NUMBER * MOMENTS[options.optimizer] * trained,
        activations=_activations(configuration, size, rows, length, start.chosen),
    )


def _activations(
    configuration: TransformerConfiguration, size: int, rows: int, length: int, chosen: TuningConfiguration
) -> int:
    """Bytes that a pass keeps of the layers that a gradient goes through.

    Those of all, or where they are computed again, those of one, and before each its stream, keys and values.
    """
    layers = min(chosen.last_layers, configuration.layers) if chosen.adapter == LAST else configuration.layers

    def kept(layers: int) -> int:
        estimate = replace(configuration, layers=layers).estimate(size, rows, length)
        return max(0, estimate.bytes - 4 * NUMBER * estimate.parameters)

    if not chosen.recompute:
        return kept(layers)
    shared = configuration.groups * configuration.head_width
    return kept(1) + NUMBER * rows * length * layers * (configuration.width + 2 * shared)


def check_fits(start: TuningStart, options: TrainingOptions, memory: int | None = None) -> TuningPlan:
    """The counted plan; LmvizError where this machine has not the memory for it, with a setting that fits."""
    plan = counted_plan(start, options)
    memory = machine_memory() if memory is None else memory
    if memory is None or plan.bytes <= memory:
        return plan
    raise LmvizError(
        f"This training takes about {plan.bytes / GIGABYTE:,.1f} GB of memory and the machine has "
        f"{memory / GIGABYTE:,.1f} GB: {_way_out(start, options, memory)}."
    )


def _way_out(start: TuningStart, options: TrainingOptions, memory: int) -> str:
    """What would fit, the smallest change first."""
    for words, other, chosen in _ways_out(start, options):
        if counted_plan(other, chosen).bytes <= memory:
            return words
    return "choose a smaller model"


def _ways_out(
    start: TuningStart, options: TrainingOptions
) -> Iterator[tuple[str, TuningStart, TrainingOptions]]:
    """Changes that take less and less memory, each in words."""
    parts = options.batch_parts * 2
    while parts <= min(options.batch, MOST_PARTS):
        yield f"compute each batch in batch_parts={parts}", start, replace(options, batch_parts=parts)
        parts *= 2
    least = replace(options, batch_parts=1, batch=1)
    yield "choose batch=1", start, least
    again = replace(start, chosen=replace(start.chosen, recompute=True))
    yield "choose batch=1 and recompute=True", again, least
    if start.chosen.adapter != LORA:
        adapter = replace(start, chosen=TuningConfiguration())
        yield "choose adapter=lora and batch=1", adapter, least
        again = replace(start, chosen=TuningConfiguration(recompute=True))
        yield "choose adapter=lora, batch=1 and recompute=True", again, least
    yield "choose batch=1, recompute=True and length=32", again, replace(least, length=32)


def measured_plan(
    start: TuningStart, options: TrainingOptions, corpus: Corpus
) -> Generator[None, None, TuningPlan]:
    """The plan, measured by two steps of which nothing is kept; yields between them, and can be left.

    Of the two the second counts, as the first one fetches memory. LmvizError as `check_fits`, and where the
    training could not begin.
    """
    import torch

    from lmviz.models.tuned import TunedTransformer
    from lmviz.training.batching import with_sentences
    from lmviz.training.devices import choose_device
    from lmviz.training.distributed import Team
    from lmviz.training.learner import GradientLearner

    plan = check_fits(start, options)
    options = options if corpus.training_examples is None else with_sentences(options)
    yield
    start.description("rehearsal", options, corpus)  # refuses a text with other tokens
    model = TunedTransformer.of(start.base, start.tuning, options.seed)
    device, team = choose_device(options.device), Team()
    ignored = corpus.tokenizer.start_id if corpus.marks_boundaries else None
    training = corpus.training if corpus.training_examples is None else corpus.training_examples
    learner = GradientLearner(model, training, options, ignored_target=ignored, device=device, team=team)
    yield
    kept = _Kept(model)
    with torch.autograd.graph.saved_tensors_hooks(kept.note, lambda tensor: tensor):
        learner.update(options.learning_rate)
    yield
    began = time.perf_counter()
    learner.update(options.learning_rate)
    seconds = time.perf_counter() - began
    if start.chosen.recompute:  # what is kept apart from torch is not seen
        return replace(plan, seconds=seconds)
    return replace(plan, activations=kept.largest // max(1, options.batch_parts), seconds=seconds)


class _Kept:
    """Counts the bytes of the tensors that a pass keeps for the way back, weights left out."""

    def __init__(self, model: object) -> None:
        import torch

        assert isinstance(model, torch.nn.Module)
        self._weights = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
        self._seen: set[int] = set()
        self.largest = 0

    def note(self, tensor: object) -> object:
        import torch

        assert isinstance(tensor, torch.Tensor)
        storage = tensor.untyped_storage()
        place = storage.data_ptr()
        if place not in self._weights and place not in self._seen:
            self._seen.add(place)
            self.largest += storage.nbytes()
        return tensor
