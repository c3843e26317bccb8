"""The matrix of a head with the strips that it is made of, and in projector mode what it says in words."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.widgets.base.building import column, named
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.base.growing_canvas import growth_of
from lmviz.app.widgets.base.invitation import Invitation
from lmviz.app.widgets.base.plain import InkedLabel
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.matrix.strips import StripList
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.looks.ink import Inked

LABELS = QSize(100, 60)  # pixels at scale 1 that the names of rows and columns take beside the cells
STRIPS_WIDTH = 230
STRIPS_SIZE = (320, 200)  # in more room they are drawn larger
LINE = 17  # pixels of a line of what is said
CLAIMED = 0.065  # the height of such a line, as a share of the matrix, above which it would cover cells
LARGEST_CLAIM = 0.4  # the height of what is said where it stands beside the matrix, as a share of the panel
LARGE = 250  # the side of a matrix that is large enough to give room to strips
SMALL = 130  # or so small that nothing may stand beside it
WORTH = 0.75  # or the share that is left of the side it could have


class AttentionBody(QWidget):
    """Shows a matrix and its strips, or a sentence in place of both: `show_invitation(bool)`.

    The strips stand where they leave the matrix the most room, and nowhere while they would make it small or
    in projector mode, where the matrix has to be read from the last row.
    Below them `show_bars(bool)` shows bars of one row of a long text.
    `set_claim(word, other, weight)` says which word looks most at which: beside the matrix where there is
    room, else in the half that the causal mask leaves empty. It is shown in projector mode, for the last row.
    """

    def __init__(
        self, matrix: HeatmapView, strips: StripList, invitation: Invitation, bars: BarsView
    ) -> None:
        super().__init__()
        self._matrix, self._strips, self._invitation, self._bars = matrix, strips, invitation, bars
        self._has_bars = False
        self._invites = False
        self._said: tuple[str, str, float] | None = None
        self._placed_for = 0  # the height of the strips, as they were drawn when places were given
        self._claim = named(InkedLabel("", self), "attention_claim")
        self._claim.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._claim.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.addWidget(matrix, 1)
        self._row.addWidget(invitation, 1)
        bars.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self._row.addLayout(column(strips, (bars, 1), gap=8))
        self.setLayout(self._row)
        theme_switch().theme_changed.connect(self._adopt_theme)
        self.show_invitation(False)

    def show_invitation(self, invites: bool) -> None:
        """Show the sentence that says what to do, or the matrix."""
        self._invites = invites
        self._invitation.setVisible(invites)
        self._matrix.setVisible(not invites)
        self._arrange()

    def show_bars(self, shows: bool) -> None:
        """Have a row in words below the strips, where these stand beside the matrix."""
        if shows != self._has_bars:
            self._has_bars = shows
            self._arrange()

    def set_claim(self, word: str, other: str, weight: float) -> None:
        """Say that a word looks at another with a weight, or at itself, which has no name then; without words
        nothing is said."""
        self._said = (word, other, weight) if word else None
        self._say()

    def _say(self) -> None:
        self._claim.setVisible(self._said is not None and theme_switch().projector and not self._invites)
        if self._said is None or self._claim.isHidden():
            return
        cells = self._matrix.cell_rectangle(0, self._matrix.shape[1] - 1)
        corner = self._matrix.mapTo(self, cells.topRight().toPoint())
        line = LINE * current_theme().scale
        self._write_claim(line)
        if corner.x() + 2 * LINE + self._claim.width() <= self.width():
            room = (self.width() - corner.x() - 2 * LINE) / self._claim.width()
            self._write_claim(line * min(room, LARGEST_CLAIM * self.height() / self._claim.height()))
            self._claim.move(self.width() - self._claim.width(), corner.y())
        else:
            across = cells.right() - self._matrix.cell_rectangle(0, 0).left()
            self._write_claim(min(LINE * current_theme().scale, CLAIMED * across))
            self._claim.move(corner - self._claim.rect().topRight())
        self._claim.raise_()

    def _write_claim(self, size: float) -> None:
        """The claim in type of this height, in pixels."""
        if self._said is None:
            return
        word, other, weight = self._said
        pieces = (
            Inked(word, True, "query"),
            Inked("\nlooks back at\n" if other else "\nlooks at\n"),
            Inked(f"{other or 'itself'} {percentage(weight)}", True, "key"),
        )
        self._claim.set_pieces(pieces, round(size))
        self._claim.adjustSize()

    def _adopt_theme(self) -> None:
        self._arrange()
        self._say()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
        self._say()

    def fit_strips(self) -> None:
        """Give strips that have just been drawn, or taken away, the room that they need: Qt lays nothing out
        anew for a widget of fixed size."""
        if self._usual_height() != self._placed_for:
            self._arrange()

    def _usual_height(self) -> int:
        """The strips' height before they grow with the panel."""
        return round(self._strips.sizeHint().height() / self._strips.growth)

    def _arrange(self) -> None:
        self._placed_for = self._usual_height()
        scale = current_theme().scale
        width = self.width() - LABELS.width() * scale
        height = self.height() - LABELS.height() * scale
        beside = min(width - STRIPS_WIDTH * scale, height)
        under = min(width, height - self._placed_for)
        side, alone = max(beside, under), min(width, height)
        is_small = alone < SMALL * scale  # then it needs all of the room
        has_room = side >= min(LARGE * scale, WORTH * alone) and not is_small and not theme_switch().projector
        self._strips.setVisible(not self._invites and has_room)
        self._bars.setVisible(not self._invites and has_room and self._has_bars)
        if beside >= under or self._has_bars:
            self._row.setDirection(QBoxLayout.Direction.LeftToRight)
            self._strips.setFixedWidth(round(max(STRIPS_WIDTH * scale, width - beside)))
            self._strips.setMinimumHeight(1)  # or the panel could never be lower again
            self._strips.setMaximumHeight(max(1, self._placed_for if self._has_bars else self.height()))
            self._bars.setFixedWidth(self._strips.minimumWidth())
            room = QSize(self._strips.minimumWidth(), self.height())
            self._strips.set_growth(growth_of(room, STRIPS_SIZE))
        else:
            self._row.setDirection(QBoxLayout.Direction.TopToBottom)
            self._strips.setFixedWidth(self.width())
            self._strips.set_growth(1.0)
            self._strips.setFixedHeight(self._strips.sizeHint().height())
