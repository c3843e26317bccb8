"""A beam search after the prefix, one step at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal

from lmviz.decoding.options import BeamOptions

if TYPE_CHECKING:
    from lmviz.app.session.work import Moment
    from lmviz.decoding.beam import BeamTree
    from lmviz.inspection.intervention import Intervention
    from lmviz.models.model import Model


class Searching:
    """The part of the session that searches. Mixed into a QObject beside the library.

    A search stays with the model, the moment and the interventions with which it began; another prefix,
    another model or other options end it.
    """

    beam_changed = Signal()

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._beam_options = BeamOptions()
        self._beam: BeamTree | None = None
        self._beam_moment: Moment | None = None
        self._beam_interventions: tuple[Intervention, ...] = ()
        self._search: _Search | None = None
        self.prefix_changed.connect(self.forget_beam)
        self.model_changed.connect(self.forget_beam)

    @property
    def beam(self) -> BeamTree | None:
        """The tree so far; None before the first step."""
        return self._beam

    @property
    def beam_step(self) -> int | None:
        """The training step of the model that searches."""
        return None if self._beam_moment is None else self._beam_moment[1]

    @property
    def beam_interventions(self) -> tuple[Intervention, ...]:
        """What is in force in the model that searches."""
        return self._beam_interventions

    @property
    def beam_options(self) -> BeamOptions:
        """The size of the search."""
        return self._beam_options

    @property
    def is_beam_grown(self) -> bool:
        """Whether the search is over: every text ended, or is as long as was asked."""
        beam = self._beam
        return beam is not None and (not beam.live or beam.depth >= beam.options.length)

    @property
    def is_searching(self) -> bool:
        """Whether a step is under way."""
        return self._reader.is_busy("beam")

    def set_beam(self, **changes: Any) -> None:
        """Change the options and begin anew; LmvizError when a value cannot be."""
        options = replace(self._beam_options, **changes)
        if options != self._beam_options:
            self._beam_options = options
            self.forget_beam()

    def grow_beam(self) -> None:
        """One step further; the first begins the search. Nothing happens once it is over."""
        if not self.can_write or self.is_searching or self.is_beam_grown:
            return
        if self._search is None:
            self._search = _Search(self.prefix, self._beam_options)
            self._beam_moment = (self._model, self._step)
            self._beam_interventions = self.interventions_in_force
        search = self._search
        depth = 1 if self._beam is None else self._beam.depth + 1
        self.ask_of(
            self._beam_moment,
            "beam",
            lambda model: search.grown(model, depth),
            self._take_beam,
            self._beam_interventions,
        )

    def forget_beam(self) -> None:
        """Take the search away."""
        self.silence("beam")
        self._search = self._beam = self._beam_moment = None
        self._beam_interventions = ()
        self.beam_changed.emit()

    def _take_beam(self, tree: BeamTree) -> None:
        self._beam = tree
        self.beam_changed.emit()


class _Search:
    """A beam search under way, in the reading thread."""

    def __init__(self, prefix: str, options: BeamOptions) -> None:
        self._prefix, self._options = prefix, options
        self._model: Model | None = None
        self._trees: Iterator[BeamTree] = iter(())
        self._tree: BeamTree | None = None

    def grown(self, model: Model, depth: int) -> BeamTree:
        """The tree of a depth, or the last one there is."""
        from lmviz.decoding.beam import grow_beam

        if model is not self._model:
            # The instance it began with was let go, and may carry the weights of another moment.
            self._model, self._trees = model, grow_beam(model, self._prefix, self._options)
            self._tree = next(self._trees)
        while self._tree.depth < depth and (tree := next(self._trees, None)) is not None:
            self._tree = tree
        return self._tree
