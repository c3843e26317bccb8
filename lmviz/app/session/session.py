"""The session: the only object that panels share, and the only source of change signals.

A session is made of parts, one in each file. Each part gets the parts it depends on in its constructor, so
that the order below is also the order of dependence. Session only connects, starts and closes them. Parts
that one perspective alone shows are made when it first asks, so that the first paint does not import them.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from lmviz.app.session.attention_heads import AttentionHeads
from lmviz.app.session.chat import Chat
from lmviz.app.session.comparison import Comparison
from lmviz.app.session.current_reading import CurrentReading
from lmviz.app.session.explanation import Explanation
from lmviz.app.session.fitting_text import FittingText
from lmviz.app.session.focus import Focus
from lmviz.app.session.gradients import Gradients
from lmviz.app.session.lending import Lending, Lent
from lmviz.app.session.lesson import CurrentLesson
from lmviz.app.session.library import Library
from lmviz.app.session.open_text import OpenText
from lmviz.app.session.permission import Permission
from lmviz.app.session.reading import Reading
from lmviz.app.session.surgery import Surgery
from lmviz.app.session.training import Training
from lmviz.app.session.training_plan import TrainingPlan
from lmviz.app.session.work import Work
from lmviz.app.session.writing import Writing
from lmviz.inspection.attention import farthest_looking_head

if TYPE_CHECKING:
    from lmviz.app.session.beam import BeamSearch
    from lmviz.app.session.contrast import CurrentContrast
    from lmviz.app.session.descent import Descent
    from lmviz.app.session.directions import OpenDirections
    from lmviz.app.session.features import OpenFeatures
    from lmviz.app.session.followed_series import FollowedSeries
    from lmviz.app.session.lenses import Lenses
    from lmviz.app.session.lesson_results import LessonResults
    from lmviz.app.session.many_texts import ManyTexts
    from lmviz.app.session.module_checks import ModuleChecks
    from lmviz.app.session.network import OpenNetwork
    from lmviz.app.session.network_focus import NetworkFocus
    from lmviz.app.session.opened_model import OpenedModel
    from lmviz.app.session.pair import ShownPair
    from lmviz.app.session.polls import Polls
    from lmviz.app.session.race import CurrentRace
    from lmviz.app.session.race_lane import RaceLane
    from lmviz.app.session.scale import Scale
    from lmviz.app.session.scores import Scores
    from lmviz.app.session.trained_in_turn import TrainedInTurn
    from lmviz.app.session.tuning import CurrentTuning
    from lmviz.inspection.trace import Trace
    from lmviz.scaling.experiment import ExperimentOptions
    from lmviz.scaling.position_trial import TrialOptions


FINDING = "find_features"
"""The form in which a person has features found."""

STOPPED = "The training that was running is stopped, because this step begins one. Its run is kept."


class Session(QObject):
    """Everything that is open, chosen and pointed at.

    `said` carries a sentence about something that no part was asked for, such as a file that cannot be saved.
    `made_way` carries the sentence that a training was stopped for a step of a lesson.
    `wanted` carries a perspective that is to be looked at, such as that of the race, and a panel in it, empty
    where any will do, or the form of `FINDING`; `series_changed` that it is known anew how the training of
    another program stands.
    """

    said = Signal(str)
    made_way = Signal(str)
    wanted = Signal(str, str)
    series_changed = Signal()

    def __init__(self, runs_folder: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.work = Work(self)
        self.permission = Permission(self.work, runs_folder, self)
        self.text = OpenText(self.work, self.permission, self)
        self.library = Library(self.work, self)
        self.plan = TrainingPlan(self.work, self.text, self)
        self.training = Training(
            self.work, self.permission, self.text, self.library, self.plan, runs_folder, self
        )
        self.surgery = Surgery(self.library, self)
        self.focus = Focus(self)
        self.reading = CurrentReading(self.work, self.text, self.library, self.surgery, self.focus, self)
        self.attention = AttentionHeads(self.reading, self)
        self.chat = Chat(self.work, self.library, self.reading, self)
        self.fitting = FittingText(self.work, self.library, self.reading, self.chat, self.permission, self)
        self.comparison = Comparison(self.work, self.library, self.surgery, self.reading, self)
        self.gradients = Gradients(self.work, self.reading, self)
        self.explanation = Explanation(self.work, self.reading, self.focus, self.gradients, self)
        self.writing = Writing(self.work, self.library, self.surgery, self.focus, self.reading, self)
        self.lesson = CurrentLesson(self.reading, self.focus, self)
        self.library.models_changed.connect(self._follow_series)
        self.lending = Lending(self._things_to_lend())
        self.lesson.left.connect(lambda: self.lending.give_back("lesson"))
        self.training.changed.connect(self.lending.put_back)

    @property
    def is_racing(self) -> bool:
        """Whether a race is under way; asking does not make one."""
        return "race" in vars(self) and self.race.is_active

    @cached_property
    def race(self) -> CurrentRace:
        """Several trainings beside one another."""
        from lmviz.app.session.race import CurrentRace

        race = CurrentRace(
            self.work,
            self.permission,
            self.text,
            self.library,
            self.plan,
            self.training,
            self.comparison,
            self,
        )
        race.offered.connect(lambda: self.wanted.emit("race", ""))
        return race

    @cached_property
    def series(self) -> FollowedSeries:
        """The checkpoints of other programs that are open, as they come."""
        from lmviz.app.session.followed_series import FollowedSeries

        series = FollowedSeries(self.work, self.library, self)
        series.changed.connect(self.series_changed)
        series.failed.connect(self.said)
        return series

    @property
    def followed(self) -> FollowedSeries | None:
        """The same where one is looked at; asking does not make it."""
        return self.series if "series" in vars(self) else None

    def _follow_series(self) -> None:
        if any(each.run.was_trained_elsewhere and each.run.has_steps for each in self.library.models):
            self.series  # noqa: B018 - from now on they are looked at

    @cached_property
    def tuning(self) -> CurrentTuning:
        """What would be learned of the shown model by training it further."""
        from lmviz.app.session.tuning import CurrentTuning

        return CurrentTuning(self.work, self.text, self.library, self.training, self)

    @cached_property
    def scores(self) -> Scores:
        """How well the open models do on the open text."""
        from lmviz.app.session.scores import Scores

        return Scores(self.work, self.text, self)

    @cached_property
    def lenses(self) -> Lenses:
        """What was fitted to the states of models."""
        from lmviz.app.session.lenses import Lenses

        lenses = Lenses(self.work, self.text, self)
        lenses.probes.wanted.connect(lambda: self.wanted.emit("circuits", "probe"))
        return lenses

    @cached_property
    def features(self) -> OpenFeatures:
        """A dictionary of features, and what they do over the open text."""
        from lmviz.app.session.features import OpenFeatures

        features = OpenFeatures(self.work, self.text, self.library, self.surgery, self)
        features.finding_wanted.connect(lambda: self.wanted.emit("features", FINDING))
        return features

    @cached_property
    def directions(self) -> OpenDirections:
        """The directions of the shown model, and which is looked at."""
        from lmviz.app.session.directions import OpenDirections

        return OpenDirections(self.work, self.library, self.surgery, self)

    @cached_property
    def beam(self) -> BeamSearch:
        """The likeliest continuations, searched step by step."""
        from lmviz.app.session.beam import BeamSearch

        return BeamSearch(self.work, self.library, self.surgery, self.reading, self)

    @cached_property
    def contrast(self) -> CurrentContrast:
        """Two texts and the number between them."""
        from lmviz.app.session.contrast import CurrentContrast

        return CurrentContrast(self.work, self.library, self.reading, self)

    @cached_property
    def many(self) -> ManyTexts:
        """A set of texts that are asked one question."""
        from lmviz.app.session.many_texts import ManyTexts

        return ManyTexts(self.work, self.text, self.library, self.comparison, self)

    @cached_property
    def pair(self) -> ShownPair:
        """The shown model and the one that it is held against."""
        from lmviz.app.session.pair import ShownPair

        return ShownPair(self.library, self.comparison, self)

    @cached_property
    def network(self) -> OpenNetwork:
        """The net that is open in Autodiff."""
        from lmviz.app.session.network import OpenNetwork

        return OpenNetwork(self.work, self)

    @cached_property
    def network_focus(self) -> NetworkFocus:
        """What is chosen and pointed at in that net."""
        from lmviz.app.session.network_focus import NetworkFocus

        return NetworkFocus(self.network, self)

    @cached_property
    def module_checks(self) -> ModuleChecks:
        """What nudging has shown of its modules."""
        from lmviz.app.session.module_checks import ModuleChecks

        return ModuleChecks(self.network, self)

    @cached_property
    def descent(self) -> Descent:
        """The path of its parameters down the loss."""
        from lmviz.app.session.descent import Descent

        return Descent(self.network, self)

    @cached_property
    def polls(self) -> Polls:
        """The questions to a class, and the answers counted."""
        from lmviz.app.session.polls import Polls

        return Polls(self.work, self)

    @cached_property
    def lesson_results(self) -> LessonResults:
        """What was done and answered in lessons since it was first asked for."""
        from lmviz.app.session.lesson_results import LessonResults

        return LessonResults(self.lesson, self)

    @cached_property
    def scale(self) -> Scale:
        """What models of any size would cost."""
        from lmviz.app.session.scale import Scale

        return Scale(self.work, self.library, self.training, self.plan, self)

    @cached_property
    def experiment(self) -> TrainedInTurn[ExperimentOptions]:
        """Several widths trained in turn."""
        from lmviz.app.session.trained_in_turn import TrainedInTurn
        from lmviz.scaling.experiment import ExperimentOptions, lanes_of

        parts = (self.work, self.text, self.training, self)
        return TrainedInTurn(ExperimentOptions(), lanes_of, *parts, job_name="Scaling experiment")

    @cached_property
    def position_trial(self) -> TrainedInTurn[TrialOptions]:
        """Several kinds of positions trained in turn."""
        from lmviz.app.session.trained_in_turn import TrainedInTurn
        from lmviz.scaling.position_trial import TrialOptions, lanes_of

        parts = (self.work, self.text, self.training, self)
        return TrainedInTurn(
            TrialOptions(),
            lanes_of,
            *parts,
            job_name="Trying kinds of positions",
            gives_way_to=self.experiment,
        )

    def say(self, sentence: str) -> None:
        """Say in the window what could not be done; a part says with its `failed` what it could not do."""
        self.said.emit(sentence)

    def start(self) -> None:
        """Start the reading thread. Call it once the window is painted: it loads torch first."""
        self.work.start()

    def show_stored(self, model: OpenedModel, trace: Trace) -> None:
        """Show a model with a trace of it that was stored; the next reading replaces the trace."""
        self.reading.show_stored(Reading(trace, None, model, trace.step))
        head = farthest_looking_head(trace)
        if head is not None:
            self.attention.suggest_head(*head)

    def make_way(self) -> None:
        """Stop what is being trained: a step of a lesson begins a training of its own."""
        stopped = []
        if self.training.state.is_active:
            stopped.append(self.training.stop)
        if self.is_racing:
            stopped.append(self.race.let_go)
        for stop in stopped:
            stop()
        if stopped:  # said once the step has begun, which takes away what was said before
            QTimer.singleShot(0, self, lambda: self.made_way.emit(STOPPED))

    def _things_to_lend(self) -> dict[str, Lent]:
        """What a lesson, a lecture or a scene may set that goes on working when it is gone, out of sight."""

        def is_trained() -> bool:
            return self.training.is_awaited or self.training.state.is_active

        library, writing = self.library, self.writing
        return {
            "plan": Lent(self.plan.keep, self.plan.put_back, is_trained),
            "race": Lent(lambda: self.race.folder or self.race.lanes, self._put_race_back),
            "sampling": Lent(lambda: writing.sampling, lambda kept: writing.set_sampling(**kept.to_values())),
            "comparison": Lent(lambda: self.comparison.chosen, self.comparison.choose),
            "gradients": Lent(lambda: self.gradients.is_shown, self.gradients.show),
            "spelling": Lent(lambda: any(each.spells_out for each in library.models), library.spell_out),
        }

    def _put_race_back(self, race: Path | tuple[RaceLane, ...]) -> None:
        """Show the race that was there before; one whose lanes have begun since is a run, and stays."""
        if not any(lane.folder is not None for lane in self.race.lanes):
            self.race.open(race)

    def close(self) -> None:
        """Stop training, leaving a run that can be resumed, and wait a while for every thread."""
        self.lesson.close()
        for asked_for in ("polls", "lesson_results", "race", "series", "tuning"):
            if asked_for in vars(self):
                getattr(self, asked_for).close()
        self.plan.close()
        self.reading.close()
        self.training.close()
        self.library.stop_watching()
        self.work.close()
