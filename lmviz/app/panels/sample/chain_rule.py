"""The chain rule as a table: each word with its probability given all before it, and their product."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from lmviz.app.panels.panel import Panel
from lmviz.app.session.surgery import in_words
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.figures import count, number
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.tables.columns_model import Column
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.app.widgets.text.token_strip import TokenStrip
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.app.session.session import Session
    from lmviz.decoding.likelihood import Likelihood
    from lmviz.inspection.recipes.recipe import RecipeSubject
    from lmviz.models.model import Model

FORMULA = "p(w₁ … wₙ) = ∏ p(wₜ | w₁ … wₜ₋₁)"
SURPRISAL, RANK = "by surprisal", "by rank"
STRIP_SHARE, TABLE_SHARE = 1, 3


class ChainRulePanel(Panel):
    """The prefix and what was written after it, word by word; the text coloured by one of the columns."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("chain_rule_view")
        self._strip = TokenStrip()
        self._strip.setAccessibleName("the text, coloured by how unexpected each token is")
        self._table = TableView()
        self._table.setObjectName("chain_rule_table")
        self._table.setAccessibleName("chain rule")
        self._table.setSortingEnabled(False)
        self._color_by = QComboBox()
        self._color_by.setObjectName("color_by")
        self._color_by.setAccessibleName("what the colours of the text say")
        self._color_by.addItems([SURPRISAL, RANK])
        self._color_by.setProperty("role", "link")
        self._legend = QLabel()
        self._product = QLabel()
        for label in (self._legend, self._product):
            label.setProperty("role", "muted")
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._shown: Likelihood | None = None
        self._moment: RecipeSubject | None = None
        self._asked: object = None
        self._card = Card("Chain rule", "", self._lay_out())
        self.column.addWidget(self._card)
        self._color_by.currentIndexChanged.connect(lambda _: self._color())
        self._table.row_clicked.connect(self._choose)
        self._table.row_hovered.connect(self._hover)
        self._strip.token_clicked.connect(self._choose)
        self._strip.token_hovered.connect(self._hover)
        session.focus.position_changed.connect(self._mark)
        session.focus.hovered_position_changed.connect(self._mark)
        self.follow(
            session.writing.branches_changed, session.reading.encoding_changed, session.surgery.changed
        )

    @property
    def likelihood(self) -> Likelihood | None:
        """What is drawn."""
        return self._shown

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The columns of the table (token,), "p" and the others by their titles; NaN where there is none."""
        tokens = self._shown.tokens if self._shown is not None else ()
        if not tokens:
            return {}
        return {
            "p": _array([token.probability for token in tokens]),
            "bits": _array([token.surprisal for token in tokens]),
            "rank": _array([token.rank for token in tokens]),
            "product": _array([token.product if token.count else None for token in tokens]),
            "perplexity": _array([token.perplexity for token in tokens]),
        }

    def recipe(self) -> str:
        from lmviz.inspection.recipes.decoding import likelihood_recipe

        return "" if self._moment is None else likelihood_recipe(self._moment)

    def refresh(self) -> None:
        session = self.session
        if not session.writing.can_write:
            self.silence("chain rule")
            self._asked = None
            self._show(None, None)
            self._card.set_aside("Type a prefix" if session.library.model else "Open or train a model")
            return
        prefix, chosen = session.writing.branches.prefix, session.writing.branches.chosen()
        wanted = (session.library.model, session.library.step, session.surgery.in_force, prefix, chosen)
        if wanted == self._asked:
            return
        self._asked = wanted
        moment = session.reading.moment_of(session.writing.branches.node.text)

        def work(model: Model) -> Likelihood:
            from lmviz.decoding.likelihood import text_log_probabilities
            from lmviz.models.prefix import read_prefix

            ids = np.concatenate([read_prefix(model, prefix).ids, np.array(chosen, dtype=np.int64)])
            return text_log_probabilities(model, ids)

        self.ask("chain rule", work, lambda likelihood: self._show(likelihood, moment))

    def _lay_out(self) -> QWidget:
        foot = QHBoxLayout()
        foot.addWidget(self._color_by)
        foot.addWidget(self._legend, 1)
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._table, TABLE_SHARE)
        column.addWidget(self._product)
        column.addWidget(scrolling(self._strip), STRIP_SHARE)
        column.addLayout(foot)
        return body

    def _show(self, likelihood: Likelihood | None, moment: RecipeSubject | None) -> None:
        self._shown, self._moment = likelihood, moment
        tokens = likelihood.tokens if likelihood is not None else ()
        words = [visible(token.token) for token in tokens]
        products = [token.product if token.count else None for token in tokens]
        self._table.set_columns(
            [
                Column("word", words, tokens=True),
                Column("p", _array([token.probability for token in tokens]), _figure),
                Column("bits", _array([token.surprisal for token in tokens]), _bits),
                Column("rank", _array([token.rank for token in tokens]), _rank),
                Column("product", _array(products), _figure),
                Column("perplexity", _array([token.perplexity for token in tokens]), _bits),
            ]
        )
        self._strip.set_tokens(words)
        self._color()
        if likelihood is None or moment is None or likelihood.perplexity is None:
            self._card.set_aside("a first word has no probability" if words else "")
            self._product.setText(FORMULA)
        else:
            changes = in_words(moment.interventions)
            so_far = f"perplexity so far {number(likelihood.perplexity, 1)}"
            self._card.set_aside(f"{changes} · {so_far}" if changes else so_far)
            whose = "of the words as read: " if likelihood.differs else ""
            product = f"{_figure(tokens[-1].product)}, {likelihood.bits:.1f} bits"
            self._product.setText(f"{whose}{FORMULA} = {product}")
        self._mark()

    def _color(self) -> None:
        """The stronger the colour, the less the word was expected; ranks on a logarithmic scale."""
        tokens = self._shown.tokens if self._shown is not None else ()
        by_rank = self._color_by.currentText() == RANK
        if by_rank:
            values = np.log2(_array([token.rank for token in tokens]))
            largest = float(np.nanmax(values)) if np.isfinite(values).any() else 0.0
            self._legend.setText(f"pale: rank 1 · strong: rank {count(round(2**largest))}" if tokens else "")
        else:
            values = _array([token.surprisal for token in tokens])
            largest = float(np.nanmax(values)) if np.isfinite(values).any() else 0.0
            self._legend.setText(f"pale: 0 bits · strong: {largest:.1f} bits" if tokens else "")
        self._strip.set_shades(values, scale="share", limit=largest or 1.0)

    def _row_of(self, position: int) -> int:
        """The row of a position of the session, which counts from the first token the model can see."""
        if self._shown is None:
            return -1
        wanted = position + self.session.reading.dropped
        return next((row for row, token in enumerate(self._shown.tokens) if token.position == wanted), -1)

    def _position_of(self, row: int) -> int | None:
        """The session's position of a row; None for what was written after the prefix."""
        if self._shown is None or not 0 <= row < len(self._shown.tokens):
            return None
        position = self._shown.tokens[row].position - self.session.reading.dropped
        return position if 0 <= position < len(self.session.reading.encoding or ()) else None

    def _choose(self, row: int) -> None:
        position = self._position_of(row)
        if position is not None:
            self.session.focus.choose_position(position)

    def _hover(self, row: int) -> None:
        self.session.focus.hover_position(self._position_of(row))

    def _mark(self) -> None:
        session = self.session
        pinned = self._row_of(session.focus.position) if session.focus.is_position_pinned else -1
        self._table.set_current(pinned)
        self._strip.set_current(pinned)
        hovered = session.focus.hovered_position
        self._strip.set_hovered(-1 if hovered is None else self._row_of(hovered))

    def handle_failure(self, key: str) -> None:
        self._asked = None  # asked again with the next change, even of what has just failed
        self._show(None, None)


def _array(values: list[float | None]) -> np.ndarray:
    """(row,) float64, not-a-number where there is nothing."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _figure(value: float) -> str:
    """A probability; in powers of ten from where four decimals would no longer show it well."""
    if np.isnan(value):
        return "–"
    return number(value, 4) if value >= 0.001 or value == 0 else number(value, 2)


def _bits(value: float) -> str:
    return "–" if np.isnan(value) else number(value, 1)


def _rank(value: float) -> str:
    return "–" if np.isnan(value) else count(value)
