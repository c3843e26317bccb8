"""Whether the run that is shown can be trained further, and with which options."""

from __future__ import annotations

from dataclasses import replace

from lmviz.app.session.library import Library
from lmviz.app.session.open_text import OpenText
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.training_plan import TrainingPlan
from lmviz.base.errors import LmvizError
from lmviz.families import find_family
from lmviz.runs.further import check_further, further_options, is_planned_by
from lmviz.training.options import TrainingOptions

NO_RUN = "There is no run to continue: open one, or train a new model."


class GoingFurther:
    """The shown run goes on to the steps of the plan, where that describes it, or to its own.

    One that has come to its end gets as many steps again.
    """

    def __init__(self, text: OpenText, library: Library, plan: TrainingPlan) -> None:
        self._text, self._library, self._plan = text, library, plan

    @property
    def obstacle(self) -> str:
        """Why the shown model cannot be trained further; "" when it can."""
        model, corpus = self._library.model, self._text.corpus
        if model is None:
            return NO_RUN
        if model.unsaved:
            return model.unsaved
        try:
            fingerprint = corpus.fingerprint if corpus is not None else ""
            check_further(model.description, model.snapshots[-1], fingerprint=fingerprint)
        except LmvizError as sentence:
            return str(sentence)
        return ""

    @property
    def steps(self) -> int:
        """How many steps it would make; 0 where it can make none."""
        model = self._library.model
        if model is None or self.obstacle:
            return 0
        return self.options(model).steps - model.snapshots[-1]

    def options(self, model: OpenedModel) -> TrainingOptions:
        """With which options a run goes on: those of the plan, where that describes it, at its own rate.

        A plan for another text, and so for another task, describes another model.
        """
        plan, corpus, description = self._plan.current, self._text.corpus, model.description
        is_of_its_text = corpus is None or corpus.fingerprint == description.fingerprint
        planned = None
        if (
            description.tuned_from is None
            and is_of_its_text
            and is_planned_by(description, plan.family, plan.configuration.to_values(), plan.training_options)
        ):
            planned = replace(plan.training_options, learning_rate=description.options.learning_rate)
        return further_options(description, model.snapshots[-1], planned)

    def plan_run(self, model: OpenedModel, options: TrainingOptions) -> None:
        """Make the plan, and so the form that shows it, that of a run."""
        description = model.description
        if description.tuned_from is not None:
            return  # its shape is that of another model, and no plan for a new one
        configuration = find_family(model.family).configuration.from_values(description.configuration)
        self._plan.set(model.family, configuration, options, description.task)
