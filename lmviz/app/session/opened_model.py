"""An open model: everything the window knows of it, without its weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True, eq=False, repr=False)
class OpenedModel:
    """A run that is open. Two of them are equal when they are the same run in the same folder, however it has
    grown, and read special tokens and are spoken of alike.

    `snapshots` are the steps that can be shown, and `gone` those whose checkpoints another program has
    deleted since it was opened; `context` is the largest number of positions, None
    where there is no limit; `color_index` is the model's place among the theme's series. `find_tokenizer`
    gives how it cuts a text, the same each time. `parameters` is how many it has, None while that is not
    known; where a model learns by counting, their number grows, and it is that at the step `sized_at`.
    `without_numbers` names the parameters in which NaN or infinity stands. `damaged` says what is wrong with
    a later snapshot than those that can be shown. `unsaved` says why there is no saved state from which it
    could be trained further, as it was when one last looked.
    `spells_out` says that special tokens in a text are letters to it; where its layers and heads are spoken
    of, they are counted from `counted_from`.
    """

    folder: Path
    name: str
    family: str
    snapshots: tuple[int, ...]
    run: Run
    find_tokenizer: Callable[[], Tokenizer]
    context: int | None
    parameters: int | None
    sized_at: int | None = None
    color_index: int = 0
    without_numbers: tuple[str, ...] = ()
    damaged: str = ""
    unsaved: str = ""
    gone: tuple[int, ...] = ()
    spells_out: bool = False
    counted_from: int = 1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OpenedModel):
            return NotImplemented
        alike = (self.spells_out, self.counted_from) == (other.spells_out, other.counted_from)
        return alike and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.folder)

    def __repr__(self) -> str:
        return f"<OpenedModel {self.name} in {self.folder}>"

    @property
    def identity(self) -> tuple[Path, str]:
        """Which run it is: the folder, and when it was begun, for another may take its place there."""
        return self.folder, self.description.created

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
        """At which step of its training: "at step 2,000"; empty where no steps of it are known."""
        return f"at step {step:,}" if self.run.has_steps else ""

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
