"""Of which dictionaries the answer is taken apart: the open one, or those of all feed-forward layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import picker

if TYPE_CHECKING:
    from lmviz.features.dictionary import Dictionary

NO_MODEL = "Open a model to see which of its features write the answer."
NO_TEXT = "Type a text above to see which features write the answer to it."
NO_FEATURES = "Open features in the perspective Features, or find some: then the answer is a bill of them."
OPEN_ONES, FEED_FORWARD = "the open features", "all feed-forward layers"


class WhichFeatures:
    """A picker of what is open or lies beside the model, the files it stands for, and how they are loaded."""

    def __init__(self, session: Session, name: str) -> None:
        self._session = session
        self.picker = picker(name, "which features", (OPEN_ONES, FEED_FORWARD))

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the dictionaries; none where nothing is open."""
        opened = self._session.features.opened
        if self.picker.currentIndex() == 1 and len(self._feed_forward) > 1:
            return self._feed_forward
        return () if opened is None else (opened.file,)

    def show(self) -> None:
        """Offer a choice where there is one."""
        self.picker.setVisible(len(self._feed_forward) > 1)

    def missing(self) -> str:
        """What there has to be before anything can be asked; nothing where there are features."""
        if self.files:
            return ""
        return NO_MODEL if self._session.library.model is None else NO_FEATURES

    def loading(self, files: Sequence[Path]) -> Callable[[], list[Dictionary]]:
        """What loads the dictionaries, in another thread."""
        opened = self._session.features.opened

        def load() -> list[Dictionary]:
            from lmviz.api.features import open_features

            return [
                opened.dictionary if opened is not None and file == opened.file else open_features(file)
                for file in files
            ]

        return load

    def name_of(self, dictionary: Dictionary, feature: int) -> str:
        """What a feature of the open dictionary is called, as far as its text has been read."""
        opened, reading = self._session.features.opened, self._session.features.reading
        if opened is None or opened.dictionary is not dictionary:
            return ""
        return opened.name_of(feature) or ("" if reading is None else reading[feature].name)

    def choose(self, dictionary: Dictionary, feature: int) -> None:
        """Look at a feature, if it is one of the open dictionary."""
        opened = self._session.features.opened
        if opened is not None and opened.dictionary is dictionary:
            self._session.features.choose(feature)

    @property
    def _feed_forward(self) -> tuple[Path, ...]:
        """The dictionaries of feed-forward layers that lie beside the shown model."""
        return tuple(path for path in self._session.features.offers() if path.stem.startswith("feed-forward"))
