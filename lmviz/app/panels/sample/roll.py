"""The roll: a uniform random number falls on the cumulative distribution and selects a token."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QCheckBox, QPushButton, QSpinBox, QWidget

from lmviz.app.look.icons import icon
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.panels.panel import Panel
from lmviz.app.session.prospect import Prospect
from lmviz.app.session.session import Session
from lmviz.app.session.surgery import in_words
from lmviz.app.widgets.base.building import named, picker
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.flow import FlowLayout
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.base.remark import Remark
from lmviz.app.widgets.base.steady import SpinBox
from lmviz.app.widgets.controls.inline_spin import fit_width
from lmviz.app.widgets.plots.cumulative_bar import CumulativeBar
from lmviz.decoding.branches import Branches
from lmviz.decoding.distribution import Distribution
from lmviz.decoding.options import FILTERS
from lmviz.decoding.remarks import distribution_remark, draw_remark
from lmviz.inspection.recipes.decoding import roll_recipe
from lmviz.text.tokenizer import visible

STACKED = 60  # candidates drawn separately; more if the draw falls on a later one
MOST_STACKED = 2000
ROUNDING = 1e-9  # a rest as small as this is none
LENGTH, LONGEST = 30, 2000
PACE, FASTEST = 2, 30  # tokens a second
PLAY, PAUSE = "keep writing (space)", "pause (space)"
BETWEEN = 6
USUAL = 99  # tokens for which there is always room in a box
PINNED = "An earlier place is pinned. The die writes at the end, and Escape returns there."
LOW, LOWEST = 225, 190  # pixels below which the die needs the room of the settings, and of what was drawn
ROOMY = 250  # pixels from which on a sentence has room above the die
EVENLY = "one number, evenly from 0 to 1"
LAST_DRAWN = 4
FALLING = 2  # tokens a second up to which one can watch the number fall


class RollPanel(Panel):
    """The die, and the buttons that throw it: one step, play, back."""

    can_play = True
    draws = ("writing",)
    needs_next_word = "Open a language model to roll the die for its next word."

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._die = named(CumulativeBar(), "die")
        self._step = self._button(
            "sample_step_button", "Roll", "roll the die and write the token on which it lands"
        )
        self._play = self._button("sample_play_button", "", PLAY)
        self._back = self._button("sample_back_button", "", "one token back")
        self._step.setProperty("role", "primary")
        self._way = picker("sample_way", "how the next token is chosen", ["sampling", "greedy"], role="link")
        self._pace = self._spin("pace_spin", 1, FASTEST, PACE, "tokens a second", " a second")
        self._length = self._spin("length_spin", 1, LONGEST, LENGTH, "tokens to play at most", " tokens")
        self._stop_at_end = named(QCheckBox("stop at END"), "stop_at_end")
        self._drawn = named(MutedLine(), "drawn_tokens")
        self._remark = Remark("roll_remark")
        self._said = Label(role="muted", wraps=True)
        self._ids: list[int] = []
        self._shown: Prospect | None = None
        self._left = 0
        self._clock = QTimer(self)
        self._clock.timeout.connect(self._tick)
        self._card = self.add_card("The die", "", self._die)
        self._lay_out()
        self._connect()
        self._adopt_theme()

    @property
    def is_playing(self) -> bool:
        """Whether tokens are written on and on."""
        return self._clock.isActive()

    def toggle_play(self) -> None:
        """Keep writing up to the chosen length or END; or pause."""
        if self.is_playing:
            self._stop()
        elif self._can_go_on():
            self._left = self._length.value()
            self._clock.start(round(1000 / self._pace.value()))
            self._tick()
            self._name_play()

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The shares of the bar (share,): ids, probabilities, where each ends; and the draw, if one fell."""
        prospect = self._shown
        if prospect is None:
            return {}
        found = prospect.distribution
        arrays = {
            "ids": np.array(self._ids, dtype=np.int64),
            "probabilities": found.probabilities[self._ids],
            "cumulative": found.cumulative[: len(self._ids)],
        }
        return arrays if prospect.draw is None else arrays | {"draw": np.array([prospect.draw])}

    def recipe(self) -> str:
        prospect = self._shown
        if prospect is None:
            return ""
        return roll_recipe(
            prospect.moment, prospect.distribution.options.unusual_values(*FILTERS), prospect.draw
        )

    def have_asked(self) -> None:
        self.session.writing.look_ahead()

    def show_choices(self) -> None:
        self._stop_at_end.setChecked(self.session.writing.sampling.stop_at_end)

    def refresh(self) -> None:
        session = self.session
        node = session.writing.branches.node
        can_go_on = self._can_go_on()
        self._step.setEnabled(can_go_on)
        self._play.setEnabled(can_go_on or self.is_playing)
        self._back.setEnabled(node.parent >= 0)
        if not can_go_on and self.is_playing:
            self._stop()
        ended = "The model ended the document here." if node.is_end else ""
        self._say(PINNED if session.writing.looks_back and session.focus.is_position_pinned else ended)
        prospect = session.writing.prospect
        changes = in_words(prospect.moment.interventions) if prospect is not None else ""
        self._card.set_aside(changes or EVENLY)
        self._drawn.set_text(_drawn(session.writing.branches))
        self._draw()
        self._remark.say(self._found_remark())

    def _found_remark(self) -> str:
        """What the die did, or else what stands out in the distribution that it falls on."""
        prospect, noun = self.session.writing.prospect, self.session.reading.noun
        if prospect is None:
            return ""
        found = prospect.distribution
        thrown = "" if prospect.draw is None else draw_remark(found, prospect.draw)
        return thrown or distribution_remark(found, noun)

    def _connect(self) -> None:
        session = self.session
        self._step.clicked.connect(self._write_one)
        self._play.clicked.connect(self.toggle_play)
        self._back.clicked.connect(session.writing.step_back)
        self._pace.valueChanged.connect(lambda pace: self._clock.setInterval(round(1000 / pace)))
        self._stop_at_end.toggled.connect(lambda on: session.writing.set_sampling(stop_at_end=on))
        self._die.part_clicked.connect(lambda share: session.writing.write(self._ids[share]))
        self._die.part_hovered.connect(
            lambda share: session.writing.hover_token(self._ids[share] if share >= 0 else None)
        )
        session.writing.hovered_token_changed.connect(self._show_hovered)
        self.show_failures(session.writing)
        session.writing.failed.connect(lambda _: self._stop())
        theme_switch().theme_changed.connect(self._adopt_theme)
        self.follow(
            session.writing.branches_changed,
            session.writing.prospect_changed,
            session.writing.sampling_changed,
            session.reading.encoding_changed,
            session.focus.position_changed,
            session.focus.hovered_position_changed,
            session.reading.changed,
            session.surgery.changed,
        )

    def _can_go_on(self) -> bool:
        session = self.session
        return session.writing.can_write and not (
            session.writing.branches.node.is_end and session.writing.sampling.stop_at_end
        )

    def _write_one(self) -> None:
        if not self._can_go_on():
            return
        if self._way.currentText() == "greedy":
            self.session.writing.write_likeliest()
        else:
            self.session.writing.roll()

    def _tick(self) -> None:
        """The next token, unless the last is still being chosen."""
        if self.session.writing.is_choosing:
            return
        if self._left <= 0:
            self._stop()
            return
        self._left -= 1
        self._write_one()

    def _stop(self) -> None:
        self._clock.stop()
        self._name_play()

    def _name_play(self) -> None:
        said = PAUSE if self.is_playing else PLAY
        self._play.setAccessibleName(said)
        self._play.setToolTip(paragraph(said[0].upper() + said[1:]))
        self._adopt_theme()

    def _draw(self) -> None:
        prospect = self.session.writing.prospect
        if prospect is None:
            self._ids, self._shown = [], None
            self._die.set_shares([], [])
            self._die.set_before(None)
            self._die.set_draw(None)
            return
        self._ids, names, shares, rest = _stacked(prospect.distribution, prospect.landed)
        self._die.set_shares(names, shares, rest)
        if prospect.before is None:
            self._die.set_before(None)
        else:
            draw = prospect.draw
            landed = None if draw is None else prospect.before.at_draw(draw)
            _, names, shares, rest = _stacked(prospect.before, landed)
            self._die.set_before(names, shares, rest)
        thrown = self._shown is None or (prospect.node, prospect.draw) != (self._shown.node, self._shown.draw)
        returned = self._shown is not None and self._shown.position is not None
        self._shown = prospect
        if thrown:
            falls = not returned and (not self.is_playing or self._pace.value() <= FALLING)
            self._die.set_draw(prospect.draw, animated=falls)

    def _show_hovered(self) -> None:
        hovered = self.session.writing.hovered_token
        if self.isVisible() and not self._die.underMouse():
            self._die.set_hovered(self._ids.index(hovered) if hovered in self._ids else -1)

    def _say(self, sentence: str) -> None:
        self._said.setText(sentence)
        self._said.setVisible(bool(sentence))

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._stop()

    def _lay_out(self) -> None:
        buttons, self._settings = QWidget(), QWidget()
        for group, widgets in (
            (buttons, (self._step, self._play, self._back)),
            (self._settings, (self._way, self._pace, self._length, self._stop_at_end)),
        ):
            flow = FlowLayout(group, BETWEEN)
            for widget in widgets:
                flow.addWidget(widget)
            self._card.layout_below.addWidget(group)
        self._card.layout_below.insertWidget(1, self._remark)
        self._card.layout_below.insertWidget(3, self._drawn)
        self._card.layout_below.addWidget(self._said)

    def _button(self, name: str, text: str, description: str) -> QPushButton:
        button = named(QPushButton(text), name, description)
        button.setToolTip(paragraph(description[0].upper() + description[1:]))
        # The die takes the keyboard, so that after a click the space bar plays instead of pressing again.
        button.clicked.connect(self._die.setFocus)
        return button

    def _spin(self, name: str, least: int, most: int, value: int, description: str, unit: str) -> QSpinBox:
        spin = named(SpinBox(), name, description)
        spin.setToolTip(paragraph(description[0].upper() + description[1:]))
        spin.setRange(least, most)
        spin.setValue(value)
        spin.setSuffix(unit)
        spin.textChanged.connect(lambda _: fit_width(spin, USUAL))
        return spin

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._settings.setVisible(self.height() >= current_theme().scale * LOW)
        self._drawn.setVisible(self.height() >= current_theme().scale * LOWEST)
        self._remark.setVisible(self.height() >= current_theme().scale * ROOMY)

    def _adopt_theme(self) -> None:
        theme = current_theme()
        name = "transport/pause" if self.is_playing else "transport/play"
        self._play.setIcon(icon(name, theme.text, theme.faint_text))
        self._back.setIcon(icon("actions/undo", theme.text, theme.faint_text))
        for spin in (self._pace, self._length):
            fit_width(spin, USUAL)


def _stacked(
    distribution: Distribution, landed: int | None
) -> tuple[list[int], list[str], np.ndarray, float]:
    """The ids to stack, as far as the one that is drawn; their names, their shares, and that of the rest."""
    stacked = min(STACKED, distribution.choices)
    if landed is not None:
        stacked = min(max(stacked, distribution.rank_of(landed)), MOST_STACKED)
    ids = distribution.order[:stacked].tolist()
    rest = 1.0 - float(distribution.cumulative[stacked - 1])
    names = [visible(distribution.token(id)) for id in ids]
    return ids, names, distribution.probabilities[ids], rest if rest > ROUNDING else 0.0


def _drawn(branches: Branches) -> str:
    """The last tokens that were drawn, with the number that chose each."""
    drawn = [node for node in branches.path() if node.draws][-LAST_DRAWN:]
    if not drawn:
        return ""
    return "drawn  " + "   ".join(f"{visible(node.token)} {number(node.draws[-1], 2)}" for node in drawn)
