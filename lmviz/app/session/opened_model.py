"""An open model: everything the window knows of it, without its weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.families import FAMILIES
from lmviz.models.prediction import Prediction
from lmviz.tasks import Task, find_task
from lmviz.text.tokenizer import Tokenizer
from lmviz.training.description import RunDescription
from lmviz.training.run import Run

if TYPE_CHECKING:
    from lmviz.inspection.intervention import Intervention
    from lmviz.inspection.recipes.recipe import RecipeSubject


@dataclass(frozen=True)
class OpenedModel:
    """A run that is open. Two of them are equal when they are the same folder, however it has grown, and read
    special tokens alike.

    `snapshots` are the steps that can be shown; `context` is the largest number of positions, None
    where there is no limit; `color_index` is the model's place among the theme's series. `find_tokenizer`
    gives how it cuts a text, the same each time. `parameters` is how many it has, None while that is not
    known; where a model learns by counting, their number grows, and it is that at the step `sized_at`.
    `without_numbers` names the parameters in which NaN or infinity stands. `damaged` says what is wrong with
    a later snapshot than those that can be shown.
    `spells_out` says that special tokens in a text are letters to it.
    """

    folder: Path
    name: str = field(compare=False)
    family: str = field(compare=False)
    snapshots: tuple[int, ...] = field(compare=False)
    run: Run = field(compare=False, repr=False)
    find_tokenizer: Callable[[], Tokenizer] = field(compare=False, repr=False)
    context: int | None = field(compare=False)
    parameters: int | None = field(compare=False)
    sized_at: int | None = field(default=None, compare=False)
    color_index: int = field(default=0, compare=False)
    without_numbers: tuple[str, ...] = field(default=(), compare=False)
    damaged: str = field(default="", compare=False)
    spells_out: bool = False

    @property
    def tokenizer(self) -> Tokenizer:
        """How it cuts a text into tokens."""
        tokenizer = self.find_tokenizer()
        return tokenizer.literal if self.spells_out else tokenizer

    @property
    def description(self) -> RunDescription:
        """What was trained, how and on what."""
        return self.run.description

    @property
    def task(self) -> Task:
        """What it is asked."""
        return find_task(self.description.task)

    @property
    def predicts(self) -> Prediction:
        """What it answers with: the next token, or labels."""
        return self.task.predicts(tuple(self.description.labels))

    @property
    def reads_source(self) -> bool:
        """Whether it translates or writes captions, and so reads a source beside its text."""
        return self.description.source_vocabulary_size is not None

    @property
    def reads_picture(self) -> bool:
        """Whether its source is a picture."""
        return self.reads_source and self.task.name == "captioning"

    @property
    def has_heads(self) -> bool:
        """Whether its layers attend with heads, which is known before it has read anything."""
        return hasattr(FAMILIES[self.family].configuration, "heads")

    @property
    def does(self) -> str:
        """What it does, in words: "translates", "predicts the next token"."""
        if self.reads_picture:
            return "writes captions for pictures"
        return "translates" if self.reads_source else f"predicts {self.predicts.describe()}"

    def when(self, step: int) -> str:
        """At which step of its training: "at step 2,000"; empty where another program has trained it."""
        return "" if self.run.was_trained_elsewhere else f"at step {step:,}"

    def parameters_at(self, step: int) -> int | None:
        """How many numbers it has learned at a step; None while that is not known."""
        return None if FAMILIES[self.family].counts and step != self.sized_at else self.parameters

    def reading(
        self,
        text: str,
        step: int,
        interventions: tuple[Intervention, ...] = (),
        source: str | None = None,
    ) -> RecipeSubject:
        """It at a step, reading a text, as the recipes of Python code take it."""
        from lmviz.inspection.recipes.recipe import RecipeSubject

        folder, spells_out = str(self.folder), self.spells_out
        return RecipeSubject(folder, text, step, interventions, source, spells_out=spells_out)

    def nearest_snapshot(self, step: int) -> int:
        """The snapshot closest to a step, the earlier of two."""
        return min(self.snapshots, key=lambda snapshot: (abs(snapshot - step), snapshot))


Moment = tuple[OpenedModel, int]
"""A model at a step of its training."""
