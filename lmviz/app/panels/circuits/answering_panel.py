"""What the panels of Circuits that answer the contrast have in common."""

from __future__ import annotations

from lmviz.app.panels.panel import Panel
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.plain import Label


class AnsweringPanel(Panel):
    """A panel that draws an answer about the two texts, and says it in a sentence of its own."""

    draws = ("reading", "contrast")

    def __init__(self, session: Session, sentence: str) -> None:
        """`sentence` is the name by which the sentence is found."""
        super().__init__(session)
        self._said = Label(name=sentence, wraps=True)

    @property
    def sentence(self) -> str:
        """What the panel says of its answer."""
        return self._said.text()

    def have_asked(self) -> None:
        self.session.contrast.renew()


def heads_missing(model: OpenedModel) -> str:
    """Why nothing can be said of heads within one text, or "" where a model has some."""
    if model.has_heads and not model.reads_source:
        return ""
    return f"{model.name} has no heads that look at its own text alone. Open a Transformer of one text."


def briefly(said: str) -> str:
    """What is asked about, as a title has it: “stone” − “bell” for the logits of two words."""
    return said.removeprefix("logit of ")
