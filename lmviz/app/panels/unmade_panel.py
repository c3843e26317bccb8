"""What stands in the place of a panel that failed as it was made: the others of its perspective go on."""

from __future__ import annotations

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named
from lmviz.app.widgets.base.empty_text import EmptyText


class UnmadePanel(Panel):
    """`UnmadePanel(session, name, title, sentence)`: a card that says what failed."""

    def __init__(self, session: Session, name: str, title: str, sentence: str) -> None:
        super().__init__(session)
        self.setObjectName(f"{name}_view")
        self.add_card(title, body=named(EmptyText(sentence), "unmade_sentence"))

    def refresh(self) -> None:
        """Nothing follows from what is open."""
