"""A text that the shown model can read, where it knows few of the words that are typed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from lmviz.app.session.part import Part
from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.app.session.chat import Chat
    from lmviz.app.session.current_reading import CurrentReading
    from lmviz.app.session.library import Library
    from lmviz.app.session.opened_model import OpenedModel
    from lmviz.app.session.permission import Permission
    from lmviz.app.session.work import Work
    from lmviz.models.model import Model
    from lmviz.text.first_example import Example
    from lmviz.text.tokenizer import Encoding

MOST_UNKNOWN = 0.5
"""The share of unknown words from which on a model is shown nothing that it has learned about."""

SENTENCE = "When Mary and John went to the store, John gave a drink to"
"""Whom one does not name again but looks for: heads are seen to do that (Wang et al. 2022)."""

QUESTION = "What is the capital of France?"

Sources = tuple[str, ...] | None


class FittingText(Part):
    """Types an example of a model's own text when the model is shown and could read little of what is typed.

    So it does for a model of labels where nothing is typed, and where no person has typed what stands there:
    an example of another text gives way to one of the model's own.

    What was typed before comes back with a model that can read it. A text that may not be read unasked gives
    no example, unless it is wanted: then a person is asked, and a language model meanwhile writes a line
    itself, as it does where its text is not there. A model of another program gets a question where it was
    trained to answer, and a sentence otherwise, as long as nobody has typed anything.
    """

    def __init__(
        self,
        work: Work,
        library: Library,
        reading: CurrentReading,
        chat: Chat,
        permission: Permission,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._permission = permission
        self._chat = chat
        self._work, self._library, self._reading = work, library, reading
        self._left: tuple[str, str] | None = None  # the prefix and the source that were put away
        self._left_of: Sources = None
        self._example = "", ""  # the prefix and the source that were typed here
        self._example_of: Sources = None  # the text that they are of
        self._written = ""  # by a model itself
        library.model_changed.connect(self._follow_model)

    def want_example(self) -> None:
        """Show an example of the shown model's own text where nothing is typed, or a line that it writes."""
        model = self._library.model
        is_blank = self._reading.prefix in ("", self._written) and not self._chat.is_on
        if model is not None and is_blank:
            self._ask(model, self.want_example)

    def _follow_model(self) -> None:
        """Another model is shown."""
        model = self._library.model
        begins_with = self._reading.prefix if self._reading.is_untouched else ""
        if model is not None and begins_with and self._example_of is None:  # of the first model's text
            self._example, self._example_of = (begins_with, ""), _sources(model)
        if model is not None and model.run.was_trained_elsewhere and self._reading.is_untouched:
            self._show_example(model)
            return
        if model is None or not self._is_out_of_place(model):
            return
        left = self._left
        if left is not None and self._can_read(model, *left) and self._left_of in (None, _sources(model)):
            self._type(*left, self._left_of)
        else:
            self._ask(model, None)

    def _is_out_of_place(self, model: OpenedModel) -> bool:
        """Whether a model could read little of what stands there, or it is an example of another text."""
        if not _is_readable(model, self._reading.encoding, self._reading.source):
            return True
        stands_of = self._stands_of
        return bool(stands_of and _sources(model)) and stands_of != _sources(model)

    @property
    def _stands_of(self) -> Sources:
        """The text of which an example stands there that no person has typed; None where a person has."""
        stands = self._reading.prefix, self._reading.source
        return self._example_of if stands == self._example else None

    def _show_example(self, model: OpenedModel) -> None:
        """What a model of another program can be seen to do, in a chat if it has a template for one."""
        if self._chat.is_possible:
            self._chat.begin(QUESTION, lambda: self._show_sentence(model))
        else:
            self._show_sentence(model)

    def _show_sentence(self, model: OpenedModel) -> None:
        is_wanted = self._library.model == model and self._reading.is_untouched
        if is_wanted and self._can_read(model, SENTENCE, ""):
            self._reading.set_prefix(SENTENCE)

    def _can_read(self, model: OpenedModel, prefix: str, source: str) -> bool:
        try:
            encoding = model.tokenizer.encode_prefix(prefix)
        except LmvizError:
            return True  # the reading itself will say what is wrong
        return _is_readable(model, encoding, source)

    def _ask(self, model: OpenedModel, once_allowed: Callable[[], None] | None) -> None:
        """Read an example of a model's text, if it may be read; else `once_allowed` by a person, or not."""
        is_wanted = once_allowed is not None

        def write() -> None:
            if is_wanted:
                self._have_written(model)

        if not model.description.corpus.get("sources"):
            write()
            return
        typed = self._reading.prefix, self._reading.source
        read = partial(self._read_example, model, typed, is_wanted)
        self._permission.read_once_allowed("example", model.run, read, once_allowed, lambda _: write(), write)

    def _read_example(self, model: OpenedModel, typed: tuple[str, str], is_wanted: bool) -> None:
        """Read an example of a model's text, to stand where something else was `typed`."""
        recorded = model.description.corpus
        sources, targets = recorded.get("sources") or [], recorded.get("target_sources") or []

        def work() -> Example | None:
            from lmviz.text.corpus_options import recorded_options
            from lmviz.text.first_example import first_example

            try:
                return first_example(sources, recorded_options(recorded), targets)
            except LmvizError:
                return None  # nobody has asked for an example

        def take(found: Example | None) -> None:
            now = self._reading.prefix, self._reading.source
            if found is None:
                if is_wanted:
                    self._have_written(model)
            elif self._library.model == model and now == typed:
                self._left, self._left_of = typed, self._stands_of
                self._type(found.text, found.source, _sources(model))

        self._work.ask("fitting text", work, take, self)

    def _have_written(self, model: OpenedModel) -> None:
        """Show a line that a language model writes, where nothing is typed."""
        moment = self._library.moment
        if moment is None or moment[0] != model or not model.predicts.continues or model.reads_source:
            return

        def work(opened: Model) -> str:
            from lmviz.decoding.sampling import write_line

            try:
                return write_line(opened)
            except LmvizError:
                return ""  # as where its tokenizer leaves nothing to begin with: nobody has asked for a line

        def take(line: str) -> None:
            is_blank = not self._reading.prefix and not self._chat.is_on
            if line and self._library.model == model and is_blank:
                self._written = line
                self._type(line, "", None)

        self._work.ask_model(moment, "own line", work, take, self)

    def _type(self, prefix: str, source: str, example_of: Sources) -> None:
        """Type an example of a text, or with None what a person has typed before."""
        if self._reading.has_source:  # what a translator has read waits for the next one
            self._reading.set_source(source)
        self._example, self._example_of = (prefix, self._reading.source), example_of
        self._reading.set_prefix(prefix)


def _sources(model: OpenedModel) -> tuple[str, ...]:
    """The files, or the name in the catalogue, of the text that a model learned from."""
    return tuple(model.description.corpus.get("sources") or ())


def _is_readable(model: OpenedModel, encoding: Encoding | None, source: str) -> bool:
    """Whether a model knows enough of a prefix, as it cuts it, and has a source if it reads one.

    A model of labels has nothing to say of an empty one.
    """
    known = encoding is None or _share_unknown(encoding) <= MOST_UNKNOWN
    is_there = encoding is None or len(encoding) > 0 or model.predicts.continues
    return known and is_there and bool(source or not model.reads_source)


def _share_unknown(encoding: Encoding) -> float:
    """The share of the words that are typed, without START, that are not in the vocabulary."""
    typed = [
        unknown
        for unknown, (first, last) in zip(encoding.unknown, encoding.offsets, strict=True)
        if last > first
    ]
    return sum(typed) / len(typed) if typed else 0.0
