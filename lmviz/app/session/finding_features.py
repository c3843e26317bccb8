"""Features that are being found in the shown model, on the open text: the plan, the training, its folder."""

from __future__ import annotations

from collections.abc import Generator
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.features.recipe import FeatureRecipe

if TYPE_CHECKING:
    from lmviz.app.session.library import Library
    from lmviz.app.session.open_text import OpenText
    from lmviz.app.session.opened_model import Moment
    from lmviz.app.session.work import Work
    from lmviz.app.workers.job import Job
    from lmviz.base.reporting import Report
    from lmviz.features.dictionary import Dictionary
    from lmviz.features.folder import FeatureFolder
    from lmviz.features.history import FeatureProgress
    from lmviz.features.plan import FeaturePlan
    from lmviz.features.stability import Stability
    from lmviz.models.model import Model
    from lmviz.text.corpus import Corpus

IDLE, RUNNING, PAUSED, FINISHED = "idle", "running", "paused", "finished"

NO_MODEL = "Open a model to find features in its states."
NO_TEXT = "Open a text under Corpus: features are found in the states of its tokens."


class FindingFeatures(Part):
    """Finds features in the background, one dictionary at a time.

    `changed` follows all that becomes known, `found` a dictionary that is finished, in its folder.
    """

    changed = Signal()
    found = Signal(object)  # the path of the folder

    def __init__(self, work: Work, text: OpenText, library: Library, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work, self._text, self._library = work, text, library
        self._recipe, self._tap = FeatureRecipe(), ""
        self._plan: tuple[object, FeaturePlan | str] | None = None
        self._asked: object = None
        self._phase = IDLE
        self._progress: FeatureProgress | None = None
        self._dictionary: Dictionary | None = None
        self._folder: FeatureFolder | None = None
        self._begun: tuple[Moment, Corpus, FeatureRecipe, str] | None = None
        self._job: Job | None = None
        self._enough = Event()
        self._stability: Stability | None = None
        self._testing: Job | None = None
        for signal in (library.model_changed, library.step_changed, text.changed):
            signal.connect(self.changed)

    @property
    def moment(self) -> Moment | None:
        """The model and the step in whose states features would be found."""
        model = self._library.model
        return None if model is None else (model, model.nearest_snapshot(self._library.shown_moment[1]))

    @property
    def obstacle(self) -> str:
        """Why none can be found, as a sentence; "" where they can."""
        if self.moment is None:
            return NO_MODEL
        return NO_TEXT if self._text.corpus is None else ""

    @property
    def noun(self) -> str:
        """What a token is called whose states are taken apart: "word", "character" or "token"."""
        moment = self.moment if self._begun is None else self._begun[0]
        return "word" if moment is None else moment[0].tokenizer.noun

    @property
    def recipe(self) -> FeatureRecipe:
        """How they would be found."""
        return self._recipe

    @property
    def tap(self) -> str:
        """Where; "" for the state after the middle layer."""
        return self._tap

    @property
    def phase(self) -> str:
        """How it stands: idle, running, paused or finished."""
        return self._phase

    @property
    def progress(self) -> FeatureProgress | None:
        """How far it has come."""
        return self._progress

    @property
    def dictionary(self) -> Dictionary | None:
        """What was found in the end."""
        return self._dictionary

    @property
    def stability(self) -> Stability | None:
        """Whether what was found comes again with another seed; None before that was tried."""
        return self._stability

    @property
    def is_testing(self) -> bool:
        """Whether that is being tried."""
        return self._testing is not None

    def test_stability(self) -> None:
        """Find features with another seed on a part of the text, and hold both beside one another."""
        if self._begun is None or self._dictionary is None or self._job is not None or self.is_testing:
            return
        (opened, step), corpus, recipe, _ = self._begun
        folder, dictionary = opened.folder, self._dictionary

        def work(report: Report) -> Generator[float, None, Stability]:
            from lmviz.features.stability import second_recipe, tested_stability
            from lmviz.features.texts import read_feature_texts
            from lmviz.runs.opening import open_model_of, open_recorded

            model = open_model_of(open_recorded(folder), step)
            second = second_recipe(dictionary)
            texts = read_feature_texts(
                model, corpus, tokens=second.tokens, length=recipe.length, seed=second.seed
            )
            testing = tested_stability(model, texts, dictionary, second)
            while True:
                try:
                    yield next(testing).share
                except StopIteration as end:
                    return end.value

        def take(stability: Stability) -> None:
            self._stability = stability

        self._testing = self._work.start_job("Trying another seed", work, take, self)
        self._testing.ended.connect(self._end_testing)
        self.changed.emit()

    def _end_testing(self) -> None:
        self._testing = None
        self.changed.emit()

    @property
    def folder(self) -> FeatureFolder | None:
        """Where it is kept."""
        return self._folder

    @property
    def size(self) -> int:
        """How many features are being found."""
        return self._recipe.size if self._begun is None else self._begun[2].size

    @property
    def plan(self) -> FeaturePlan | str | None:
        """What finding them takes, or why it cannot be, as a sentence; None while that is not known."""
        return None if self._plan is None or self._plan[0] != self._key else self._plan[1]

    def choose(self, recipe: FeatureRecipe, tap: str) -> None:
        """Find other features, or elsewhere."""
        if (recipe, tap) != (self._recipe, self._tap):
            self._recipe, self._tap = recipe, tap
            self.changed.emit()

    def measure(self) -> None:
        """Measure the plan beside the window, unless it is known or under way; `changed` follows."""
        key, moment, corpus = self._key, self.moment, self._text.corpus
        known = self._plan is not None and self._plan[0] == key
        if moment is None or corpus is None or known or self._asked == key:
            return
        self._asked = key
        recipe, tap = self._recipe, self._tap

        def work(model: Model) -> FeaturePlan:
            from lmviz.features.plan import measured_plan
            from lmviz.features.texts import read_feature_texts

            texts = read_feature_texts(
                model, corpus, tokens=recipe.tokens, length=recipe.length, seed=recipe.seed
            )
            return measured_plan(model, texts, recipe, tap or None)

        def take(plan: FeaturePlan | str) -> None:
            self._plan = key, plan
            self._asked = None
            self.changed.emit()

        self._work.ask_model(moment, "features plan", work, take, take)

    def begin(self) -> None:
        """Begin a new dictionary, in a folder of its own beside the run."""
        moment, corpus = self.moment, self._text.corpus
        if moment is None or corpus is None or self._job is not None:
            return
        self._begun = moment, corpus, self._recipe, self._tap
        self._folder = self._dictionary = self._progress = self._stability = None
        self._run()

    def pause(self) -> None:
        """Stop for now; what it goes on from is written."""
        if self._job is not None:
            self._job.cancel()

    def go_on(self) -> None:
        """Go on with what was paused, bit for bit."""
        if self._job is None and self._phase == PAUSED:
            self._run()

    def stop(self) -> None:
        """Be content with what was learned so far; it is judged and kept."""
        if self._phase in (RUNNING, PAUSED):
            self._enough.set()
            self.go_on()

    @property
    def _key(self) -> object:
        return self.moment, self._text.corpus, self._recipe, self._tap

    def _run(self) -> None:
        assert self._begun is not None, "it was begun"
        (opened, step), corpus, recipe, tap = self._begun
        folder, run_folder, spells_out = self._folder, opened.folder, opened.spells_out
        enough = self._enough
        if self._phase != PAUSED:
            enough.clear()

        def work(report: Report) -> Generator[FeatureProgress | FeatureFolder, None, Dictionary]:
            from lmviz.features.kept import name_for, new_folder
            from lmviz.features.learning import chosen_taps, learn_features
            from lmviz.features.texts import read_feature_texts
            from lmviz.runs.opening import open_model_of, open_recorded

            model = open_model_of(open_recorded(run_folder), step)
            model = model.spelling_out() if spells_out else model
            read, written = chosen_taps(model, recipe, tap or None)
            name = name_for(written or read, recipe.kind, recipe.size, recipe.k)
            place = folder or new_folder(run_folder, name)
            yield place
            texts = read_feature_texts(
                model, corpus, tokens=recipe.tokens, length=recipe.length, seed=recipe.seed
            )
            learning = learn_features(
                model, texts, recipe, tap or None, folder=place, resume=True, is_enough=enough.is_set
            )
            while True:
                try:
                    progress = next(learning)
                except StopIteration as end:
                    return end.value
                try:
                    report(progress.share)
                    yield progress
                except BaseException:  # it is cancelled: what it goes on from is written at once
                    learning.close()
                    raise

        self._phase = RUNNING
        self._job = self._work.start_job("Finding features", work, self._finish, self._fail, self._take)
        self._job.ended.connect(self._end)
        self.changed.emit()

    def _take(self, partial: FeatureProgress | FeatureFolder) -> None:
        from lmviz.features.folder import FeatureFolder

        if isinstance(partial, FeatureFolder):
            self._folder = partial
        else:
            self._progress = partial
        self.changed.emit()

    def _finish(self, dictionary: Dictionary) -> None:
        self._dictionary, self._phase = dictionary, FINISHED

    def _fail(self, sentence: str) -> None:
        self._phase = IDLE if self._progress is None else PAUSED
        self.failed.emit(sentence)

    def _end(self) -> None:
        self._job = None
        if self._phase == RUNNING:  # it was cancelled
            is_kept = self._folder is not None and self._folder.can_go_on
            self._phase = PAUSED if is_kept else IDLE
        self.changed.emit()
        if self._phase == FINISHED and self._folder is not None:
            self.found.emit(self._folder.path)
