"""The special tokens of another program's model in the prefix: read as such or as letters, or given by id."""

from __future__ import annotations

from PySide6.QtCore import QObject

from lmviz.app.session.current_reading import CurrentReading
from lmviz.app.session.library import Library
from lmviz.app.session.part import Part
from lmviz.base.errors import LmvizError


class SpecialTokensOfPrefix(Part):
    """Whether there can be any, and what they are read as; `reading.encoding_changed` says when to ask."""

    def __init__(self, library: Library, reading: CurrentReading, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library, self._reading = library, reading

    @property
    def are_possible(self) -> bool:
        """Whether a prefix could hold special tokens of the shown model."""
        model = (
            self._library.model
        )  # one of lmviz has none, and is not asked for its tokenizer before the paint
        return model is not None and model.run.was_trained_elsewhere and model.tokenizer.has_special

    @property
    def are_letters(self) -> bool:
        """Whether they are letters like any others."""
        return self._library.model is not None and self._library.model.spells_out

    def read_as_letters(self, on: bool) -> None:
        """Read them as letters, or as such again; so do all open models."""
        self._library.spell_out(on)

    def insert(self, index: int, place: int) -> int:
        """Type the token with an id into the prefix, before a character; where it ends.

        LmvizError where there is no such token, or where it would be read as others.
        """
        if self._reading.tokenizer is None:
            raise LmvizError("There are no tokens yet: open a model.")
        text, end = self._reading.tokenizer.with_token(self._reading.prefix, place, index)
        self._reading.set_prefix(text)
        return end
