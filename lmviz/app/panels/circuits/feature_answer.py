"""What the panels have in common that take an answer apart into features."""

from __future__ import annotations

from lmviz.app.panels.circuits.answering_panel import Answer, AnsweringPanel, Asked
from lmviz.app.panels.circuits.which_features import NO_MODEL, NO_TEXT, WhichFeatures
from lmviz.app.session.features import why_no_features
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session


class FeatureAnswerPanel(AnsweringPanel[Answer, Asked]):
    """A panel that asks for a contrast through features, and offers which."""

    def __init__(self, session: Session, name: str) -> None:
        """Its sentence and its picker are found by `name`, with "_sentence" and "_picker" behind it."""
        super().__init__(session, f"{name}_sentence")
        self._which = WhichFeatures(session, f"{name}_picker")
        self._which.picker.activated.connect(lambda _: self.refresh_soon())
        self.follow(
            session.contrast.changed,
            session.library.model_changed,
            session.features.changed,
            session.features.named,
        )

    def out_of_place(self, model: OpenedModel) -> str:
        return why_no_features(model)

    def refresh(self) -> None:
        self._which.show()
        if self._which.missing():
            self._show_instead(self._which.missing())
            return
        super().refresh()

    def _missing(self) -> str:
        return NO_MODEL if self.session.library.model is None else NO_TEXT
