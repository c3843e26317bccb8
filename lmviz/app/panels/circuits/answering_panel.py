"""What the panels of Circuits that answer the contrast have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.invitation import Invitation
from lmviz.app.widgets.base.plain import Label

if TYPE_CHECKING:
    from lmviz.circuits.contrast import MeasuredContrast
    from lmviz.circuits.growing import Growing

Answer = TypeVar("Answer")
Asked = TypeVar("Asked")


class AnsweringPanel(Panel, Generic[Answer, Asked]):
    """A panel that draws an answer about the two texts, and says it in a sentence of its own.

    Subclasses say what they ask as the controls stand, `_asks`, and as a `_question`, and draw `found`, the
    answer to `_of`, or nothing where there is none.
    """

    draws = ("reading", "contrast")
    key: ClassVar[Key]
    """The key under which it asks."""

    needs_pair = False
    """Whether a text alone is not enough."""

    _card: Card
    """What the answer stands in; made by the subclass and given to `_answer_in`."""

    def __init__(self, session: Session, sentence: str) -> None:
        """`sentence` is the name by which the sentence is found."""
        super().__init__(session)
        self._said = Label(name=sentence, wraps=True)
        self._invitation: Invitation | None = None  # to ask a question where a text alone is not enough
        self.found: Answer | None = None  # what is drawn
        self._of: Asked | None = None  # what that answers
        self._has_all = False  # whether the whole of an answer that grows is drawn
        self._growing: Growing[Any] | None = None  # that of which it is a part, while there is more to find

    @property
    def is_whole(self) -> bool:
        """Whether what is asked now is drawn."""
        return (
            self.found is not None
            and not self.is_behind
            and self._of is not None
            and self.has_drawn(self._question(self._of))
        )

    def page_results(self) -> Sequence[Any]:
        return () if self.found is None else (self.found,)

    def have_asked(self) -> None:
        self.session.contrast.renew()

    def refresh(self) -> None:
        measured, reading = self.session.contrast.found, self.session.contrast.reading
        if measured is None or reading is None or (self.needs_pair and not measured.others):
            self._show_instead(self._missing())
            return
        self._card.set_placeholder("")
        self._ask_once(self._asks(reading, measured))

    def handle_failure(self, key: str) -> None:
        if key == self.key:
            self._draw_nothing()

    @abstractmethod
    def _missing(self) -> str:
        """What there has to be before anything can be answered."""

    @abstractmethod
    def _asks(self, reading: Reading, measured: MeasuredContrast) -> Asked:
        """What is asked, as the controls stand."""

    @abstractmethod
    def _question(self, asked: Asked) -> Question[Any, Answer]:
        """The same as a question, about all that it depends on."""

    @abstractmethod
    def _draw(self) -> None:
        """Draw what was found."""

    def _ask_once(self, asked: Asked) -> None:
        """Ask, unless that is waited for, or drawn: then it is drawn again, marked as is now chosen."""
        question = self._question(asked)
        if self.must_ask(question):
            self.ask(question, lambda found: self._take(asked, found))
        elif self.has_drawn(question):
            self._draw()

    def _take(self, asked: Asked, found: Answer) -> None:
        """Draw an answer."""
        self.found, self._of = found, asked
        self._draw()

    def _go_on(self, reading: Reading, growing: Growing[Any]) -> None:
        """Draw what is known of an answer that grows, and have more of it found."""
        if growing is not self._growing:
            return
        is_done = growing.is_done  # what is found later, in the other thread, is not what is drawn here
        self._draw()
        self._has_all = is_done
        if not is_done:
            self.ask(
                Question(self.key, reading, growing.go_on, grows=True),
                lambda _: self._go_on(reading, growing),
            )

    def _give_up(self) -> None:
        """What is asked of the text before is no longer waited for: it may take long, and others wait."""
        self.silence(self.key)

    def _draw_nothing(self) -> None:
        self.found = self._of = self._growing = None
        self._has_all = False
        self._draw()

    def _show_instead(self, sentence: str) -> None:
        """Say why there is no answer."""
        self._give_up()
        self._draw_nothing()
        self._card.set_placeholder(sentence)
        if self._invitation is not None:
            offers = self.session.contrast.offers()
            self._invitation.invite(sentence, f"Ask “{offers[0].title}”" if offers else "")

    def _answer_in(self, card: Card) -> None:
        """Have a card hold what is drawn, or what there has to be before."""
        self._card = card
        if self.needs_pair:
            self._invitation = Invitation(f"{self.key}_question_button")
            self._invitation.accepted.connect(self._ask_offered)
            card.set_invitation(self._invitation)

    def _ask_offered(self) -> None:
        """Ask the question that the button names."""
        offers = self.session.contrast.offers()
        if offers:
            self.session.contrast.open(offers[0])


def heads_missing(model: OpenedModel) -> str:
    """Why nothing can be said of heads within one text, or "" where a model has some."""
    if not model.predicts.continues:
        return f"{model.name} predicts {model.predicts.describe()}. Open a Transformer that predicts words."
    if model.has_heads and not model.reads_source:
        return ""
    return f"{model.name} has no heads that look at its own text alone. Open a Transformer of one text."


def briefly(said: str) -> str:
    """What is asked about, as a title has it: “stone” − “bell” for the logits of two words."""
    return said.removeprefix("logit of ")
