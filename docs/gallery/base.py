"""What every room of widgets builds on: sentences, links, lines and cards."""

from __future__ import annotations

from gallery import Exhibit, show
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QPushButton, QWidget

from lmviz.app.widgets.base.beside import Beside
from lmviz.app.widgets.base.building import Pages
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.base.flow import FlowLayout
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.base.invitation import Invitation
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import InkedLabel
from lmviz.app.widgets.base.pointer_halo import PointerHalo
from lmviz.app.widgets.base.quiet_button import QuietButton
from lmviz.app.widgets.base.remark import Remark
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.base.toast import Toast
from lmviz.looks.ink import Inked


def flow() -> QWidget:
    """Controls that go on in the next line."""
    page = QWidget()
    layout = FlowLayout(page)
    for word in ("temperature", "top-k", "top-p", "min-p", "seed"):
        layout.addWidget(QPushButton(word))
    return page


def pages() -> QWidget:
    """The second of two pages."""
    stack = Pages()
    for words in ("The first page", "The second page"):
        stack.addWidget(EmptyText(words))
    stack.setCurrentIndex(1)
    return stack


def hover_card() -> QWidget:
    """A page that shows its hover card from the beginning."""
    page = QWidget()
    lines = ["layer 1 hidden · = o ⊙ tanh c = 0.99 × tanh 0.28"]
    page.showEvent = lambda event: HoverCard.beside(page, QPoint(10, 20), "h[17] at “night” = 0.284", lines)
    return page


def invitation() -> QWidget:
    """A sentence and the button that begins."""
    made = Invitation("play_button")
    made.invite("Name the word that comes next, and see who knew better.", "Play")
    return made


def scrolled() -> QWidget:
    """A page higher than its room."""
    return scrolling(EmptyText("\n".join(f"line {number}" for number in range(1, 31))))


def fitting_row() -> QWidget:
    """Three controls in the room of two: the first of those that give way is put away."""
    buttons = [QPushButton(word) for word in ("edit", "gradient", "in order")]
    row = FittingRow(buttons, giving_way=(buttons[2], buttons[0]))
    return Card("Values", row, EmptyText("one control has no room"))


def beside() -> QWidget:
    """Two sentences that would be narrow side by side."""
    return Beside(EmptyText("what comes first"), EmptyText("and what comes second"))


def halo() -> QWidget:
    """The ring around the pointer, at rest."""
    page = QWidget()
    ring = PointerHalo(page)
    ring.setGeometry(30, 10, 56, 56)
    ring.show()
    return page


def words() -> QWidget:
    """Words in several inks; what looks like HTML stands as it is written."""
    label = InkedLabel()
    label.set_pieces([Inked("<b>cat</b>", True, "query"), Inked(" looks back at "), Inked("the & a")])
    return label


def toast() -> QWidget:
    """A page over which a sentence confirms what was done."""
    page = QWidget()
    page.showEvent = lambda event: Toast(page).say("Saved state.csv.")
    return page


def remark() -> Remark:
    """A sentence about a head that is not the one in sight."""
    made = Remark("a_remark", "show this head", "look at the head of which this is said")
    made.say("“brown” looks at “stone”, 13 words back, with 89.8 %, in layer 1, head 1.", is_elsewhere=True)
    return made


EXHIBITS = (
    Exhibit("Too narrow", "", fitting_row, (240, 120)),
    Exhibit("Narrow", "", beside, (240, 140)),
    Exhibit("Done", "", toast, (260, 160)),
    Exhibit("Halo", "around the pointer", halo, (160, 130)),
    Exhibit("Nothing yet", "", lambda: EmptyText("Open a text or a run to begin."), (260, 120)),
    Exhibit("Pages", "one of which is shown", pages, (260, 120)),
    Exhibit("Controls", "", flow, (300, 160)),
    Exhibit("Hover", "the exact value", hover_card, (460, 200)),
    Exhibit("A game", "", invitation, (280, 160)),
    Exhibit("Actions", "", lambda: LinkButton("clear", "clear", "remove all branches"), (140, 90)),
    Exhibit(
        "Next", "a click leaves the keyboard where it is", lambda: QuietButton("next", "Next"), (240, 90)
    ),
    Exhibit("A line", "", lambda: MutedLine("61 % in common · divergence 0.21 bits"), (220, 90)),
    Exhibit("What stands out", "", remark, (300, 130)),
    Exhibit("As it is written", "", words, (260, 90)),
    Exhibit("A long page", "", scrolled, (220, 160)),
)

if __name__ == "__main__":
    show(EXHIBITS)
