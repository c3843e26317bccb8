"""What is open now: the only object that panels share, and the only source of change signals.

A session is made of layers, each a file with one idea, each knowing only those before it:
`Tasks` (work in other threads), `Library` (corpus, models, the moment shown), `Learning` (training);
beside them `Focus` (position, stage, cell), `Explaining` (why a cell has its value), `Surgery`
(interventions), `Writing` (the branches after the prefix) and `Searching` (a beam search). Here they
meet: the prefix is read by the model, at the moment, under the interventions.

Properties are read-only; verbs change them; a signal `…_changed` without arguments follows each change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from lmviz.app.session.beam import Searching
from lmviz.app.session.explanation import Explaining
from lmviz.app.session.focus import Focus
from lmviz.app.session.reading import Reading, read
from lmviz.app.session.surgery import Surgery
from lmviz.app.session.training import Learning
from lmviz.app.session.writing import Writing
from lmviz.decoding.options import SamplingOptions
from lmviz.inspection.attention import farthest_looking_head
from lmviz.text.tokenizer import Encoding

if TYPE_CHECKING:
    from lmviz.app.session.opened_models import OpenedModel
    from lmviz.inspection.trace import Trace
    from lmviz.models.model import Model
    from lmviz.text.tokenizer import Tokenizer

T = TypeVar("T")


class Session(Explaining, Focus, Surgery, Writing, Searching, Learning):
    """Everything that is open, chosen and pointed at."""

    prefix_changed = Signal()
    encoding_changed = Signal()
    reading_changed = Signal()
    sampling_changed = Signal()

    def __init__(self, runs_folder: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(runs_folder, parent)
        self._prefix = ""
        self._encoding: Encoding | None = None
        self._dropped = 0
        self._reading: Reading | None = None
        self._sampling = SamplingOptions()
        self._read_soon = QTimer(self)
        self._read_soon.setSingleShot(True)  # several changes in one turn are one reading
        self._read_soon.timeout.connect(self._read)
        self.corpus_changed.connect(self._encode)
        self.model_changed.connect(self._forget_interventions)
        self.model_changed.connect(self._encode)
        for changed in (self.model_changed, self.step_changed, self.interventions_changed):
            changed.connect(self._read_soon.start)

    @property
    def prefix(self) -> str:
        """The text that is typed."""
        return self._prefix

    @property
    def tokenizer(self) -> Tokenizer | None:
        """How the prefix falls into tokens: the model's way, without a model the corpus's."""
        if self._model is not None:
            return self._model.tokenizer
        return None if self._corpus is None else self._corpus.tokenizer

    @property
    def encoding(self) -> Encoding | None:
        """The prefix as tokens, as far as the model can see back; offsets refer to the whole prefix."""
        return self._encoding

    @property
    def dropped(self) -> int:
        """How many tokens at the front of the prefix lie beyond the model's context."""
        return self._dropped

    @property
    def reading(self) -> Reading | None:
        """What the model computes for the prefix. It lags behind the prefix by some milliseconds."""
        return self._reading

    @property
    def is_reading(self) -> bool:
        """Whether a newer reading is on its way."""
        return self._read_soon.isActive() or self._reader.is_busy("reading")

    @property
    def reading_position(self) -> int:
        """`shown_position`, within the positions that the present reading has."""
        last = len(self._reading.trace.tokens) - 1 if self._reading is not None else -1
        return min(self.shown_position, last)

    @property
    def sampling(self) -> SamplingOptions:
        """How the next token is drawn."""
        return self._sampling

    def set_prefix(self, text: str) -> None:
        """Type a text."""
        if text != self._prefix:
            self._prefix = text
            self.prefix_changed.emit()
            self._encode()
            if self._encoding is not None and len(self._encoding):
                self._read()  # at once: the window would first paint what has been typed
            else:
                self._read_soon.start()

    def show_stored(self, model: OpenedModel, trace: Trace) -> None:
        """Show a model with a trace of it that was stored; the next reading replaces the trace."""
        self._models, self._model, self._step = (model,), model, trace.step
        self._prefix = trace.text
        for changed in (self.models_changed, self.model_changed, self.step_changed, self.prefix_changed):
            changed.emit()
        head = farthest_looking_head(trace)
        if head is not None:
            self.choose_head(*head)
        self._take_reading(Reading(trace, None, model, trace.step))

    def set_sampling(self, **changes: Any) -> None:
        """Change some of the sampling options; LmvizError when a value cannot be."""
        sampling = replace(self._sampling, **changes)
        if sampling != self._sampling:
            self._sampling = sampling
            self.sampling_changed.emit()

    def ask(self, key: str, work: Callable[[Model], T], answer: Callable[[T], None]) -> None:
        """Run `work` on the model as it is shown, in the reading thread; the newest per key is answered.

        The interventions in force are part of what is shown. `work` must know no widget. Without a
        model nothing happens.
        """
        if self._model is not None:
            self.ask_of((self._model, self._step), key, work, answer, self.interventions_in_force)

    def ask_about(
        self, reading: Reading, key: str, work: Callable[[Model], T], answer: Callable[[T], None]
    ) -> None:
        """Run `work` on the model of a reading; it is answered only while nothing newer has been read."""

        def take(result: T) -> None:
            if reading is self._reading:
                answer(result)

        self.ask_of((reading.model, reading.step), key, work, take)

    def _encode(self) -> None:
        self._encoding, self._dropped = None, 0
        if self.tokenizer is not None:
            encoding = self.tokenizer.encode_prefix(self._prefix)
            context = self._model.context if self._model is not None else None
            self._dropped = max(0, len(encoding) - context) if context is not None else 0
            self._encoding = _without_first(encoding, self._dropped)
        has_moved = self._fit_positions(len(self._encoding) if self._encoding is not None else 0)
        self.encoding_changed.emit()
        if has_moved:
            self.position_changed.emit()

    def _read(self) -> None:
        model, step, text, interventions = self._model, self._step, self._prefix, self.interventions
        if model is None or self._encoding is None or not len(self._encoding):
            self._reader.silence("reading")
            self._take_reading(None)
            return

        def work() -> Reading:
            return read(cache.model(model.folder, step), model, step, text, interventions, previous)

        cache, previous = self._cache, self._reading
        self._in_reader("reading", work, self._take_reading)

    def _take_reading(self, reading: Reading | None) -> None:
        if reading is None and self._reading is None:
            return
        self._reading = reading
        self._fit_cells(lambda cell: reading is not None and reading.has_cell(*cell))
        self._fit_stages(len(reading.trace.stages) if reading is not None else 0)
        self._explain()
        self.reading_changed.emit()


def _without_first(encoding: Encoding, count: int) -> Encoding:
    parts = (encoding.ids, encoding.tokens, encoding.offsets, encoding.unknown)
    return Encoding(*(part[count:] for part in parts))
