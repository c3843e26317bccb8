"""What Circuits asks: a changed text beside the one above, and the number that tells them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.shared.choices import set_choices
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, name_with, named, picker, row, sheet
from lmviz.app.widgets.base.figures import signed_figure
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.base.role import set_role
from lmviz.app.widgets.controls.hinted_edit import HintedEdit
from lmviz.circuits.recipes import contrast_recipe
from lmviz.looks.names import Names
from lmviz.models.sequences import SOURCE
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.circuits.contrast import MeasuredContrast
    from lmviz.circuits.shipped_questions import ShippedQuestion

ASK = "ask a question …"
NO_MODEL = "Open or train a model to ask on which of its parts an answer depends."
SEEN = 12  # letters behind the first change that are to be in sight
PROPOSED = "proposed: the likeliest answers"
TO_TYPE = (
    "Choose a number of the answer, or click and type one: logit:WORD, logit:WORD-OTHER, probability:WORD or "
    "loss.",
    "With @5 after it, it is the number at token 5, counted from 0, otherwise at the last. A label takes the "
    "place of the word.",
)
HINTS = ("the text above, changed, with as many tokens", "the changed text", "text")
ALONE = "Change the text, and states can be carried from one text into the other."


class ContrastPanel(Panel):
    """The changed text, the measure, what that is in both, and questions that come with lmviz."""

    draws = ("reading", "contrast")

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._offered: tuple[ShippedQuestion, ...] = ()
        self._questions = picker("circuit_question_picker", "a question that comes with lmviz")
        self._questions.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._edit = named(HintedEdit(*HINTS), "changed_edit", "the changed text")
        self._measure = picker("measure_picker", "the number that is asked about")
        self._measure.setEditable(True)  # so that any number can be typed
        self._typed_measure.setAccessibleName("the number that is asked about, as it is typed")
        self._measure.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self._measure.setMinimumContentsLength(14)
        self._measure.setToolTip(paragraph(*TO_TYPE))
        self._measure.setAccessibleDescription(" ".join(TO_TYPE))
        self._measure.installEventFilter(self)  # it has the focus of its field
        self._stated = ""  # the number that is asked about, as it is typed
        self._said = Label(name="contrast_sentence", role="muted", wraps=True)
        self._numbers = Label(name="contrast_numbers")
        self.add_card("Two texts", self._questions, self._lay_out())
        self._questions.activated.connect(self._open)
        self._edit.textEdited.connect(session.contrast.set_other)
        self._measure.activated.connect(self._choose)
        self._typed_measure.editingFinished.connect(self._take_typed)
        self.show_failures(session.contrast)
        self.follow(session.contrast.changed, session.library.model_changed)

    @property
    def _typed_measure(self) -> QLineEdit:
        """Where a number is typed."""
        edit = self._measure.lineEdit()
        assert edit is not None, "the picker was made editable"
        return edit

    def exported_arrays(self) -> dict[str, np.ndarray]:
        found = self.session.contrast.found
        if found is None:
            return {}
        return {"measure": np.array([found.clean, *([] if found.changed is None else [found.changed])])}

    def exported_names(self) -> Names:
        return Names(("text", "changed")[: len(self.exported_arrays().get("measure", ()))])

    def recipe(self) -> str:
        found, reading = self.session.contrast.found, self.session.contrast.reading
        return "" if found is None or reading is None else contrast_recipe(reading.moment, found.contrast)

    def show_complaint(self, sentence: str) -> None:
        """In the place of how the texts differ: a line above the two would push them over one another."""
        has_model = self.session.library.model is not None  # else a hint stands in the place of all
        super().show_complaint("" if has_model else sentence)
        set_role(self._said, "warning" if sentence else "muted")
        self._say(self.session.contrast.found)

    def have_asked(self) -> None:
        self.session.contrast.propose()
        self.session.contrast.renew()

    def refresh(self) -> None:
        contrast = self.session.contrast
        card = self.card
        if card is not None:
            card.set_placeholder("" if self.session.library.model is not None else NO_MODEL)
        self._offer()
        if self._edit.text() != contrast.other:
            self._edit.setText(contrast.other)
            self._edit.setCursorPosition(_first_change(self.session.reading.prefix, contrast.other))
        found = contrast.found
        self._say(found)
        self._numbers.setText(_numbers(found) if found is not None else "")
        self._show_measure(found)

    def _say(self, found: MeasuredContrast | None) -> None:
        self._said.setText(self.complaint or (_difference(found) if found is not None else ALONE))

    def _lay_out(self) -> QWidget:
        lines = []
        for name, widget in (("changed", self._edit), ("measure", self._measure)):
            label = Label(name, role="muted")
            name_with(label, widget)
            lines.append(row(label, (widget, 1)))
        lines.append(row((self._numbers, 0, Qt.AlignmentFlag.AlignTop), (self._said, 1), gap=12))
        return sheet(column(*lines, STRETCH, gap=3))

    def _offer(self) -> None:
        """List the questions that fit the shown model."""
        offered = self.session.contrast.offers()
        if offered == self._offered and self._questions.count():
            return
        self._offered = offered
        set_choices(self._questions, dict(enumerate([ASK, *(question.title for question in offered)])), 0)
        self._questions.setVisible(bool(offered))

    def _open(self, place: int) -> None:
        if place:
            self.session.contrast.open(self._offered[place - 1])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The number stands there in words, and as it is typed while it can be."""
        if event.type() == QEvent.Type.FocusIn and self._typed_measure.text() == self._measure.itemText(1):
            self._typed_measure.setText(visible(self._stated))
        return super().eventFilter(watched, event)

    def _show_measure(self, found: MeasuredContrast | None) -> None:
        """The measure that is asked about, and others that there are."""
        stated, is_typing = self.session.contrast.measure, self._typed_measure.hasFocus()
        self._stated = stated or (str(found.contrast.measure) if found is not None else "")
        said = visible(self._stated) if found is None else found.said
        text = visible(self._stated) if is_typing else said
        if is_typing and stated:
            text = self._typed_measure.text()
        with QSignalBlocker(self._measure):
            self._measure.clear()
            for words, number in {PROPOSED: "", **_offered(self._stated, said)}.items():
                self._measure.addItem(words, number)
            self._measure.setEditText(text)
            self._typed_measure.setCursorPosition(0)

    def _choose(self, place: int) -> None:
        contrast, chosen = self.session.contrast, self._measure.itemData(place)
        contrast.set_measure("" if chosen == self._stated and not contrast.measure else chosen)
        self._show_measure(contrast.found)

    def _take_typed(self) -> None:
        typed, offered = self._typed_measure.text(), self._measure
        place = next((at for at in range(offered.count()) if typed == offered.itemText(at)), None)
        if place is not None:
            self._choose(place)
        elif typed != visible(self._stated):
            self.session.contrast.set_measure(typed)
        if not self._typed_measure.hasFocus():
            self._show_measure(self.session.contrast.found)


def _first_change(text: str, other: str) -> int:
    """How many letters two texts have in common, and a word more, so that the change is in sight."""
    pairs = zip(text, other, strict=False)
    same = next((at for at, (one, two) in enumerate(pairs) if one != two), 0)
    return min(len(other), same + SEEN)


def _offered(measure: str, said: str) -> dict[str, str]:
    """By what is said of them, the same number and that of the same words of the other kind."""
    kind, _, words = measure.partition(":")
    if kind not in ("logit", "probability") or not words:
        return {said: measure} if measure else {}
    other = "probability" if kind == "logit" else "logit"
    return {said: measure, said.replace(kind, other, 1): f"{other}:{words}"}


def _difference(found: MeasuredContrast) -> str:
    if not found.others:
        return ALONE
    places = found.differing
    named = ", ".join(
        f"token {place + 1}, “{visible(found.tokens[place])}” for “{visible(found.others[place])}”"
        for place in places[:3]
    )
    words = "1 differs" if len(places) == 1 else f"{len(places)} differ"
    of = " of the source" if found.sequence == SOURCE else ""
    return f"{len(found.tokens)} tokens{of} each, {words}: {named}{' …' if len(places) > 3 else ''}"


def _numbers(found: MeasuredContrast) -> str:
    if found.changed is None:
        return f"text {signed_figure(found.clean)}"
    written = [
        (signed_figure(found.clean, digits), signed_figure(found.changed, digits)) for digits in range(2, 7)
    ]
    clean, changed = next((each for each in written if each[0] != each[1]), written[0])
    return f"text {clean}   changed {changed}"
