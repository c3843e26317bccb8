"""Beside the prefix of a model with special tokens: whether they are read as such, and a token by its id."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QIntValidator
from PySide6.QtWidgets import QLineEdit, QWidget

from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named, row
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.controls.switch import Switch
from lmviz.app.widgets.text.token_strip import TokenStrip
from lmviz.base.errors import LmvizError
from lmviz.text.tokenizer import token_name

AS_LETTERS = "special tokens as letters"
WIDEST = 240
"""Pixels of a token before it is inserted."""


class SpecialTokensSwitch(QWidget):
    """On, special tokens in the prefix are letters. It is shown where the model has such tokens."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self._switch = Switch("special_tokens_switch", f"read {AS_LETTERS}, as they are typed")
        label = Label(AS_LETTERS, role="muted")
        row(self._switch, label, on=self)
        self._switch.toggled.connect(session.library.spell_out)
        session.reading.encoding_changed.connect(self._show_state)
        self._show_state()

    def _show_state(self) -> None:
        self.setVisible(_are_possible(self._session))
        model = self._session.library.model
        self._switch.setChecked(model is not None and model.spells_out)


class TokenById(QWidget):
    """A line for the id of a token, which Return inserts into the prefix where its cursor stands."""

    inserted = Signal(int)
    """The place in the prefix behind the token."""

    def __init__(self, session: Session, prefix: QLineEdit, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._prefix = session, prefix
        label = Label("insert by id", role="muted")
        self._id = named(QLineEdit(), "token_id_edit", "id of a token to insert")
        self._id.setToolTip(paragraph("The id of a token; Return inserts it at the cursor of the prefix"))
        self._ids = QIntValidator(0, 2**31 - 1)
        self._id.setValidator(self._ids)
        self._id.setFixedWidth(self._id.fontMetrics().horizontalAdvance("0" * 9))
        self._token = named(TokenStrip(), "token_by_id")
        self._said = Label(name="token_by_id_said", role="warning")
        row(label, self._id, self._token, self._said, on=self)
        self._id.textChanged.connect(self._show_token)
        self._id.returnPressed.connect(self._insert)
        session.reading.encoding_changed.connect(self._show_state)
        self._show_state()

    def _show_state(self) -> None:
        self.setVisible(_are_possible(self._session))
        self._show_token()

    @property
    def _index(self) -> int | None:
        """The id that is typed; None where there is none yet, as of "+". It may be written as 50,257."""
        index, is_whole = self._ids.locale().toInt(self._id.text())
        return index if is_whole else None

    def _show_token(self) -> None:
        """The token that would be inserted, or that there is none."""
        index = self._index
        # Without an id none is asked: it would load tokenizers before the first paint.
        tokenizer = None if index is None else self._session.reading.tokenizer
        token, special, said = "", False, ""
        if tokenizer is not None and index is not None:
            try:
                token, (special,) = tokenizer.token(index), tokenizer.are_special([index])
            except LmvizError:
                said = f"there are {tokenizer.vocabulary_size:,}, from 0"
        self._token.set_tokens([token_name(token, special)] if token else (), special=[0] if special else ())
        if token:
            self._token.setFixedWidth(round(self._token.laid_out(WIDEST).rectangles[0].width()))
        self._token.setVisible(bool(token))
        self._say(said)

    def _insert(self) -> None:
        reading, index = self._session.reading, self._index
        if index is None or reading.tokenizer is None:
            return
        try:
            text, end = reading.tokenizer.with_token(reading.prefix, self._prefix.cursorPosition(), index)
        except LmvizError as sentence:
            self._say(str(sentence))
            return
        reading.set_prefix(text)
        self.inserted.emit(end)

    def _say(self, sentence: str) -> None:
        self._said.setText(sentence)
        self._said.setVisible(bool(sentence))


def _are_possible(session: Session) -> bool:
    """Whether a prefix could hold special tokens of the shown model."""
    model = session.library.model  # one of lmviz is not asked for its tokenizer before the paint
    return model is not None and model.run.began_elsewhere and model.tokenizer.has_special
