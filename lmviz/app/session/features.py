"""The features that are open: a dictionary, what its features do over the open text, which is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from os.path import isdir
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.families import FAMILIES

if TYPE_CHECKING:
    from lmviz.app.session.finding_features import FindingFeatures
    from lmviz.app.session.library import Library
    from lmviz.app.session.open_text import OpenText
    from lmviz.app.session.opened_model import Moment, OpenedModel
    from lmviz.app.session.surgery import Surgery
    from lmviz.app.session.work import Work
    from lmviz.app.workers.job import Job
    from lmviz.base.reporting import Report
    from lmviz.features.dictionary import Dictionary
    from lmviz.features.feature_reading import FeatureReading
    from lmviz.text.corpus import Corpus

TOKENS = 60_000
"""So many tokens of the open text are read."""

KEPT = 4
"""Readings of the open text that are kept, of so many models or steps."""

SHIPPED = "features"
"""The folder in that of a run in which dictionaries of its model lie."""


@dataclass(frozen=True, eq=False)
class OpenedDictionary:
    """A dictionary, the file that it is from, and the names that a person gave its features.

    `of` is the model that was shown when it was opened; None where there was none.
    """

    dictionary: Dictionary
    file: Path
    names: dict[int, str]
    of: OpenedModel | None = None

    def name_of(self, feature: int) -> str:
        """The name that a person gave a feature; empty where none was given."""
        return self.names.get(feature, "")


class OpenFeatures(Part):
    """Opens a dictionary, reads its features over the open text, and remembers which one is looked at.

    `changed` follows another dictionary and all that becomes known of it, `chosen_changed` another feature,
    `named` a name that a person gave. `taken` says that another dictionary was opened, and `finding_wanted`
    that some are to be found, where a person does that.
    """

    changed = Signal()
    chosen_changed = Signal()
    named = Signal()
    taken = Signal()
    finding_wanted = Signal()

    def __init__(
        self,
        work: Work,
        text: OpenText,
        library: Library,
        surgery: Surgery,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._work, self._text, self._library, self._surgery = work, text, library, surgery
        self._opened: OpenedDictionary | None = None
        self._chosen = -1
        self._readings: dict[tuple[Moment, Corpus], FeatureReading] = {}
        self._complete: set[tuple[Moment, Corpus]] = set()  # those in which all features are measured
        self._job: Job | None = None
        self._under_way: tuple[Moment, Corpus] | None = None
        self._refused: tuple[Moment, Corpus] | None = None  # what could not be read, and is not tried again
        self._offered: dict[Path, tuple[Path, ...]] = {}  # of the run that was looked into last
        library.model_changed.connect(self.changed)
        library.step_changed.connect(self.changed)
        text.changed.connect(self._forget_texts)

    @cached_property
    def finding(self) -> FindingFeatures:
        """Features that are being found in the shown model; a finished dictionary is opened."""
        from lmviz.app.session.finding_features import FindingFeatures

        finding = FindingFeatures(self._work, self._text, self._library, self)
        finding.found.connect(self.open_file)
        return finding

    @property
    def opened(self) -> OpenedDictionary | None:
        """What is open of the shown model; None where nothing is. For another model it waits."""
        shown, of = self._library.model, None if self._opened is None else self._opened.of
        is_of_another = shown is not None and of is not None and shown.identity != of.identity
        return None if is_of_another else self._opened

    @property
    def dictionary(self) -> Dictionary | None:
        """The dictionary that is open."""
        return None if self.opened is None else self.opened.dictionary

    @property
    def chosen(self) -> int:
        """The feature that is looked at, −1 for none."""
        return self._chosen

    @property
    def moment(self) -> Moment | None:
        """The model and the step whose states are read."""
        model = self._library.model
        return None if model is None else (model, model.nearest_snapshot(self._library.shown_moment[1]))

    @property
    def reading(self) -> FeatureReading | None:
        """What is known of the features over the open text."""
        asked = self._asked
        return None if asked is None else self._readings.get(asked)

    @property
    def is_reading(self) -> bool:
        """Whether the open text is being read."""
        return self._job is not None

    @property
    def needs_text(self) -> bool:
        """Whether a text has to be opened first."""
        return self._corpus is None

    def ask_to_find(self) -> None:
        """Have that shown where features are found."""
        self.finding_wanted.emit()

    @property
    def has_no_offers(self) -> bool:
        """Whether it is known that there are no dictionaries of the shown model."""
        model = self._library.model
        return model is not None and self._offered.get(model.folder) == ()

    def offers(self) -> tuple[Path, ...]:
        """The dictionaries that lie in the shown model's run, and those that were found in it."""
        model = self._library.model
        if model is None:
            return ()
        from lmviz.features.kept import kept_features

        folder, is_late = model.folder, False

        def look() -> tuple[Path, ...]:
            shipped = folder / SHIPPED
            beside = tuple(sorted(shipped.glob("*.safetensors"))) if isdir(shipped) else ()
            return (*beside, *(each.path for each in kept_features(folder) if each.is_finished))

        def take(found: tuple[Path, ...]) -> None:
            is_new = found != self._offered.get(folder)
            self._offered = {folder: found}
            if is_new and is_late:
                self.changed.emit()

        self._work.look_into(f"features of {folder}", look, take, lambda sentence: None)
        is_late = True
        return self._offered.get(folder, ())

    def open_file(self, path: Path) -> None:
        """Open a file or a folder of features; `failed` says what is wrong with it."""

        moment, corpus = self.moment, self._corpus

        def work() -> OpenedDictionary:
            from lmviz.api.features import open_features
            from lmviz.features.dictionary_file import is_foreign
            from lmviz.features.own_names import names_beside
            from lmviz.runs.opening import open_model_of, open_recorded

            if moment is None or not is_foreign(path):
                return OpenedDictionary(open_features(path), path, names_beside(path))
            # another program's: the model knows its names of taps, and its loss says if they belong there
            model = open_model_of(open_recorded(moment[0].folder), moment[1])
            return OpenedDictionary(open_features(path, model, corpus), path, names_beside(path))

        self._work.open_file(path, work, self._take, self)

    def close_dictionary(self) -> None:
        """Look at no features any more."""
        self._take(None)

    def choose(self, feature: int) -> None:
        """Look at a feature."""
        size = 0 if self.dictionary is None else self.dictionary.size
        if feature != self._chosen and -1 <= feature < size:
            self._chosen = feature
            self.chosen_changed.emit()

    def give_name(self, feature: int, name: str) -> None:
        """Give a feature a name of one's own, kept beside its file; an empty one takes it away."""
        opened = self.opened
        if opened is None or name.strip() == opened.name_of(feature):
            return
        names = {**opened.names, feature: name.strip()}
        names = {number: given for number, given in sorted(names.items()) if given}
        self._opened = replace(opened, names=names)

        def work() -> None:
            from lmviz.features.own_names import write_names

            write_names(opened.file, names)

        self._work.save_file(opened.file, work, lambda _: None, self)
        self.named.emit()

    def change(self, feature: int, *, times: float | None = None, to: float | None = None) -> None:
        """Put a change of a feature into surgery, in the place of an earlier one of any feature there."""
        opened = self.opened
        if opened is None:
            return
        from lmviz.base.errors import LmvizError
        from lmviz.features.feature_changes import feature_change

        self.begun.emit()
        try:
            made = feature_change(opened.dictionary, feature, times=times, to=to, file=str(opened.file))
        except LmvizError as error:
            self.failed.emit(str(error))
        else:
            self._surgery.add(made)

    def renew(self) -> None:
        """Have the features read over the open text, where that is not done or under way."""
        asked = self._asked
        is_waited_for = self._job is not None and self._under_way == asked
        if asked is None or is_waited_for or asked == self._refused or self.dictionary is None:
            return
        if asked in self._complete:
            return
        if self._job is not None:
            self._job.cancel()
            return  # its end asks again
        self._start(asked, self.dictionary)

    def stop(self) -> None:
        """Read no further; what is known stays."""
        if self._job is not None:
            self._refused = self._under_way
            self._job.cancel()

    def _start(self, asked: tuple[Moment, Corpus], dictionary: Dictionary) -> None:
        (opened, step), corpus = asked

        def work(report: Report) -> Iterator[Any]:
            from lmviz.base.reporting import part_of
            from lmviz.features.feature_reading import reading_features
            from lmviz.features.needed import needed
            from lmviz.features.reading_rows import reading_rows
            from lmviz.models.interruption import heard_by
            from lmviz.runs.opening import open_model_of, open_recorded

            model = open_model_of(open_recorded(opened.folder), step)
            model = model.spelling_out() if opened.spells_out else model
            with heard_by(part_of(report, 0.0, 0.25)):
                rows = reading_rows(model, corpus, tokens=TOKENS)
                reading = None
                for reading in reading_features(model, dictionary, rows):
                    yield reading
            assert reading is not None, "what is read gives at least one reading"
            with heard_by(part_of(report, 0.25, 1.0)):
                for number, found in enumerate(needed(model, reading)):
                    if number % 4 == 0 or found.is_complete:
                        yield found.of(reading)

        def take(found: FeatureReading) -> None:
            is_open = self._opened is not None and self._opened.dictionary is dictionary
            if is_open and self._corpus is corpus:
                self._readings[asked] = found
                while len(self._readings) > KEPT:
                    self._complete.discard(first := next(iter(self._readings)))
                    del self._readings[first]
                if self._chosen < 0:
                    self.choose(int((found.on > 0).argmax()))
                self.changed.emit()

        def end(_: object) -> None:
            if asked in self._readings:
                self._complete.add(asked)

        self.begun.emit()
        self._under_way = asked
        self._job = self._work.start_job("What features do in the text", work, end, self._fail, take)
        self._job.ended.connect(self._end)
        self.changed.emit()

    def _forget_texts(self) -> None:
        """What was found of a text keeps that text: of those before nothing is kept."""
        corpus = self._corpus
        self._readings = {asked: found for asked, found in self._readings.items() if asked[1] is corpus}
        self._complete &= self._readings.keys()
        if self._refused is not None and self._refused[1] is not corpus:
            self._refused = None
        if self._job is not None and self._under_way is not None and self._under_way[1] is not corpus:
            self._job.cancel()
        self.changed.emit()

    def _take(self, opened: OpenedDictionary | None) -> None:
        if self._job is not None:
            self._job.cancel()
        self.begun.emit()
        self._opened = None if opened is None else replace(opened, of=self._library.model)
        self._readings, self._complete, self._refused = {}, set(), None
        self._chosen = -1
        self.taken.emit()
        self.chosen_changed.emit()
        self.changed.emit()

    @property
    def _corpus(self) -> Corpus | None:
        corpus = self._text.corpus
        return corpus if corpus is not None and corpus.task == "next-token" else None

    @property
    def _asked(self) -> tuple[Moment, Corpus] | None:
        moment, corpus = self.moment, self._corpus
        return None if moment is None or corpus is None or self.opened is None else (moment, corpus)

    def _fail(self, sentence: str) -> None:
        self._refused = self._under_way
        self.failed.emit(sentence)

    def _end(self, job: Job) -> None:
        self._job = self._under_way = None
        self.changed.emit()


def why_no_features(model: OpenedModel) -> str:
    """Why a model has no features to look at, or "" where it can have some."""
    if FAMILIES[model.family].counts:
        return f"{model.name} counts, and has no states to find features in. Open a neural network."
    if model.predicts.continues and not model.reads_source:
        return ""
    return f"{model.name} does not continue one text. Open a language model to look at its features."
