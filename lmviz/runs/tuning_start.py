"""Where a training begins that goes on from an opened model: the base, and what of it is learned."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.base.errors import LmvizError
from lmviz.base.places import shipped
from lmviz.interchange.chosen_bases import chosen_base
from lmviz.models.tuning_configuration import TuningConfiguration
from lmviz.runs.opening import base_at
from lmviz.runs.tuned import TunedRun, fingerprint, learned_numbers

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.models.tuned import Tuning
    from lmviz.text.corpus import Corpus
    from lmviz.training.description import RunDescription
    from lmviz.training.options import TrainingOptions


@dataclass(frozen=True, eq=False)
class TuningStart:
    """A model that was opened from a place, maybe at a step, and what of it is learned.

    `joined` says that its queries, keys and values are stored as one matrix.
    """

    base: Model
    place: Path
    step: int | None
    chosen: TuningConfiguration
    joined: bool

    @property
    def tuning(self) -> Tuning:
        """What is learned of a Transformer of this shape."""
        from lmviz.models.transformer_configuration import TransformerConfiguration
        from lmviz.models.tuned import Tuning

        assert isinstance(self.base.configuration, TransformerConfiguration), "checked when it was opened"
        return Tuning(self.base.configuration, self.chosen, self.joined)

    @property
    def learned_numbers(self) -> int:
        """How many numbers are learned."""
        return learned_numbers(self.tuning, self.base)

    def description(self, folder: str | Path, options: TrainingOptions, corpus: Corpus) -> RunDescription:
        """The description of the run in a folder; LmvizError where the corpus has other tokens."""
        from lmviz.training.description import RunDescription, describe_corpus

        tokenizer = self.base.tokenizer
        assert tokenizer is not None, "checked when it was opened"
        if corpus.task != "next-token":
            raise LmvizError(
                f"The text is one of {corpus.task}, and an opened model is trained further to go on with a "
                "text: choose task='next-token', or train a new model for the labels."
            )
        if corpus.tokenizer.json != tokenizer.json:
            raise LmvizError(
                f"The text was cut into other tokens than those of {self.base.name}: read it with "
                "the tokenizer of that model."
            )
        samples = shipped("sample_models")
        is_shipped = self.place.absolute().parent == samples.absolute()
        return RunDescription(
            name=Path(os.path.abspath(folder)).name,
            family=self.base.family,
            configuration=self.base.configuration.to_values(),
            vocabulary_size=self.base.vocabulary_size,
            training=options.to_values(),
            corpus=describe_corpus(corpus),
            tuned_from={
                "place": self.place.name if is_shipped else str(self.place.absolute()),
                "step": self.step,
                "name": self.base.name or self.place.name,
                "fingerprint": fingerprint(self.base),
                "joined": self.joined,
                "tuning": self.chosen.to_values(),
            },
        )


def begin_with(place: str | Path, chosen: TuningConfiguration, step: int | None = None) -> TuningStart:
    """A training that goes on from the model at a place; LmvizError where that cannot be trained further."""
    from lmviz.models.tuned import check_tunable

    base = base_at(Path(place), step)
    check_tunable(base)
    return TuningStart(base, Path(place), step, chosen, _is_joined(base))


def beginning_of(run: TunedRun, chosen: TuningConfiguration | None = None) -> TuningStart:
    """Where a run began, which may learn something else of the same model."""
    said, own = run.description.tuned_from, run.description.tuning
    assert said is not None, "asked of tuned runs alone"
    assert own is not None, "as above"
    place = chosen_base(run.folder) or Path(said["place"])
    if not place.is_absolute():
        place = shipped("sample_models") / place
    return TuningStart(run.base, place, said.get("step"), chosen or own, said["joined"])


def _is_joined(base: Model) -> bool:
    """Whether the folder that a model was opened from keeps queries, keys and values in one matrix."""
    if base.checkpoint is None:
        return False
    from lmviz.interchange.checkpoint import described_in

    layout, _ = described_in(base.checkpoint)
    return len(layout.stored_names("layers.0.attention.input.weight")) == 1
