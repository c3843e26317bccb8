"""A beam search after the prefix, one step at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.app.session.reading import of_source
from lmviz.decoding.options import BeamOptions

if TYPE_CHECKING:
    from lmviz.app.session.current_reading import CurrentReading
    from lmviz.app.session.library import Library
    from lmviz.app.session.opened_model import Moment
    from lmviz.app.session.surgery import Surgery
    from lmviz.app.session.work import Work
    from lmviz.decoding.beam import BeamTree
    from lmviz.inspection.intervention import Intervention
    from lmviz.models.model import Model


class BeamSearch(Part):
    """Searches for the likeliest continuation.

    A search keeps the model, the step and the interventions with which it began; another prefix or source,
    another model or other options end it.
    """

    changed = Signal()

    def __init__(
        self,
        work: Work,
        library: Library,
        surgery: Surgery,
        reading: CurrentReading,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._work, self._library, self._surgery, self._reading = work, library, surgery, reading
        self._options = BeamOptions()
        self._tree: BeamTree | None = None
        self._moment: Moment | None = None
        self._interventions: tuple[Intervention, ...] = ()
        self._search: _Search | None = None
        reading.prefix_changed.connect(self.forget)
        reading.source_changed.connect(self.forget)
        library.model_changed.connect(self.forget)

    @property
    def tree(self) -> BeamTree | None:
        """The tree so far; None before the first step."""
        return self._tree

    @property
    def step(self) -> int | None:
        """The training step of the model that searches."""
        return None if self._moment is None else self._moment[1]

    @property
    def interventions(self) -> tuple[Intervention, ...]:
        """What is in force in the model that searches."""
        return self._interventions

    @property
    def options(self) -> BeamOptions:
        """The size of the search."""
        return self._options

    @property
    def is_grown(self) -> bool:
        """Whether the search is over: every text ended, or is as long as was asked."""
        tree = self._tree
        return tree is not None and (not tree.live or tree.depth >= tree.options.length)

    @property
    def is_searching(self) -> bool:
        """Whether a step is under way."""
        return self._work.is_busy("beam")

    def set_options(self, **changes: Any) -> None:
        """Change the options and start again; LmvizError when a value is invalid."""
        options = replace(self._options, **changes)
        if options != self._options:
            self._options = options
            self.forget()

    def grow(self) -> None:
        """One step further; the first begins the search. Nothing happens once it is over."""
        moment = self._library.moment if self._moment is None else self._moment
        if moment is None or self._reading.question is None or self.is_searching or self.is_grown:
            return
        if self._search is None:
            source = self._reading.source if self._reading.has_source else None
            self._search = _Search(self._reading.prefix, self._options, source)
            self._moment = moment
            self._interventions = self._surgery.in_force
        search = self._search
        depth = 1 if self._tree is None else self._tree.depth + 1
        self._work.ask_model(
            moment,
            "beam",
            lambda model: search.grown(model, depth),
            self._show_tree,
            self,
            self._interventions,
        )

    def forget(self) -> None:
        """Take the search away."""
        self.begun.emit()
        self._work.silence("beam")
        self._search = self._tree = self._moment = None
        self._interventions = ()
        self.changed.emit()

    def _show_tree(self, tree: BeamTree) -> None:
        self._tree = tree
        self.changed.emit()


class _Search:
    """A beam search under way, in the reading thread; `source` is None but for translators."""

    def __init__(self, prefix: str, options: BeamOptions, source: str | None) -> None:
        self._prefix, self._options, self._source = prefix, options, source
        self._model: Model | None = None
        self._trees: Iterator[BeamTree] = iter(())
        self._tree: BeamTree | None = None

    def grown(self, model: Model, depth: int) -> BeamTree:
        """The tree of a depth, or the last one there is."""
        try:
            return self._grow(model, depth)
        except BaseException:
            self._model = None  # nothing more comes from where it failed: it is begun anew
            raise

    def _grow(self, model: Model, depth: int) -> BeamTree:
        from lmviz.decoding.beam import grow_beam

        if model is not self._model:
            # The cache may have dropped the instance that it began with, or changed its weights.
            read = of_source(model, self._source)
            self._model, self._trees = model, grow_beam(read, self._prefix, self._options)
            self._tree = None
        tree = next(self._trees) if self._tree is None else self._tree
        while tree.depth < depth and (grown := next(self._trees, None)) is not None:
            tree = grown
        self._tree = tree
        return tree
