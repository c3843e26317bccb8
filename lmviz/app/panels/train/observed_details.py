"""What stands behind a line of the training algorithm: texts, bars, or the numbers that moved farthest."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from lmviz.app.panels.train.observed_lines import (
    BACKWARD,
    BATCH,
    CLIP,
    COUNT,
    FIT,
    FORWARD,
    LOSS,
    TARGET,
    UPDATE,
    milliseconds,
)
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.widgets.base.building import column, named, stack
from lmviz.app.widgets.base.figures import number, percentage, plain, signed_figure
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.app.widgets.text.examples_view import ExamplesView, ShownExample
from lmviz.inspection.names import title_of
from lmviz.looks.columns import Column
from lmviz.models.prediction import Prediction
from lmviz.models.tap import place_of
from lmviz.text.pictures import picture_tokenizer
from lmviz.text.tokenizer import Tokenizer, visible
from lmviz.training.observation import Observed, ObservedBatch, ObservedCount, ObservedNumber, ObservedUpdate

MOST_TEXTS = 24  # bars
MOST_WORDS = 1_500
FITTED = "Probabilities are worked out from all counts at some steps: often at first, then rarely."


class ObservedDetails(QWidget):
    """`ObservedDetails()`: `show_line(name, observed, model)` shows what came of a line, by its name."""

    def __init__(self) -> None:
        super().__init__()
        self._said = Label(name="observed_sentence", role="muted", wraps=True)
        self._texts = named(ExamplesView(), "observed_texts")
        self._bars = named(BarsView(), "observed_bars")
        self._table = named(TableView(), "observed_table")
        self._sheets = stack(scrolling(self._texts), scrolling(self._bars), self._table)
        column(self._said, (self._sheets, 1), on=self)

    def show_line(self, name: str, observed: Observed, model: OpenedModel) -> None:
        """Show what came of a line."""
        if isinstance(observed, ObservedCount):
            self._show_count(name, observed, model)
        else:
            self._show_update(name, observed, model)

    def _show_update(self, name: str, observed: ObservedUpdate, model: OpenedModel) -> None:
        if name in (BATCH, FORWARD):
            self._show_texts(observed, model, probabilities=name == FORWARD)
        elif name == LOSS:
            losses = np.array([_mean(row) for row in observed.batch.losses[:MOST_TEXTS]])
            labels = [f"text {place}" for place in range(1, len(losses) + 1)]
            more = len(observed.batch.losses) - len(losses)
            what = "mean −ln p(target)" if observed.smoothing else "mean loss"
            self._show_bars(f"The {what} of each text, in nats." + _further(more), labels, losses)
        elif name == TARGET:
            self._show_target(observed, model)
        elif name == BACKWARD:
            layers = observed.layer_norms
            self._show_bars(
                "The norm of the gradient, by layer.", list(map(title_of, layers)), list(layers.values())
            )
        elif name == CLIP:
            labels = ["before", "threshold", "after"]
            norms = [observed.norm, observed.clip, observed.clipped_norm]
            said = "The whole gradient is scaled down; its direction stays."
            short = "The gradient is shorter than the threshold, so it stays as it is."
            self._show_bars(said if observed.is_clipped else short, labels, norms)
        elif name == UPDATE:
            self._show_changes(observed.changes)
        else:
            times = observed.seconds
            labels, values = list(times), [1000 * seconds for seconds in times.values()]
            texts = [milliseconds(seconds) for seconds in times.values()]
            self._show_bars("How long each part took.", labels, values, texts)

    def _show_target(self, observed: ObservedUpdate, model: OpenedModel) -> None:
        """The distribution that is aimed at in place of a target, and what the model gave it before."""
        right, other = observed.aimed_at
        targets, losses = observed.batch.targets, observed.batch.losses
        first = targets[np.isfinite(losses)][0] if observed.batch.counted else None
        names = model.predicts.names
        shown = "" if first is None else names[first] if names else visible(model.tokenizer.token(int(first)))
        kind = "label" if names else "token"
        others = observed.outputs - 1
        self._show_bars(
            f"q, which is learned in place of the target “{shown}”: 1 − ε + ε/K for it, and ε/K for every "
            f"other {kind}, with ε = {observed.smoothing:g} and K = {observed.outputs:,}.",
            [shown, f"each other {kind}", f"all {others:,} others"],
            [right, other, others * other],
            [plain(right, 6), plain(other, 6), plain(others * other, 6)],
        )

    def _show_count(self, name: str, observed: ObservedCount, model: OpenedModel) -> None:
        if name in (COUNT, FIT):
            orders = observed.orders
            self._say("The n-grams of the slice, by order." if name == COUNT else FITTED)
            frequent = [" ".join(in_words(model.tokenizer, np.array(o.most_frequent))) for o in orders]
            self._table.set_columns(
                [
                    Column("order", np.array([o.order for o in orders])),
                    Column("counted", np.array([o.total for o in orders])),
                    Column("different", np.array([o.different for o in orders])),
                    Column("most frequent", frequent, tokens=True),
                    Column("times", np.array([o.times for o in orders])),
                ]
            )
            self._sheets.setCurrentIndex(2)
            return
        self._say("The slice that was read." if name != LOSS else "The slice, scored before it was counted.")
        self._texts.set_examples([ShownExample(in_words(model.tokenizer, observed.ids[:MOST_WORDS]))])
        self._sheets.setCurrentIndex(0)

    def _show_texts(self, observed: ObservedUpdate, model: OpenedModel, *, probabilities: bool) -> None:
        batch, predicts = observed.batch, model.predicts
        source = model.run.source_tokenizer() if model.reads_source else None
        shown = shown_texts(batch, model.tokenizer, source, predicts, probabilities=probabilities)
        where = "Beside each text" if predicts.per == "text" else "Below each word"
        what = "the probability that the model gave its target" if probabilities else "its target"
        self._say(f"{where} stands {what}." + _further(len(batch.tokens) - len(shown)))
        self._texts.set_examples(shown)
        self._sheets.setCurrentIndex(0)

    def _show_bars(
        self, said: str, labels: list[str], values: np.ndarray | list[float], texts: list[str] | None = None
    ) -> None:
        self._say(said)
        self._bars.set_bars(labels, values, texts=texts or [number(value) for value in values])
        self._bars.setAccessibleName(said)
        self._sheets.setCurrentIndex(1)

    def _show_changes(self, changes: tuple[ObservedNumber, ...]) -> None:
        self._say("The numbers that moved farthest.")
        names = [f"{c.parameter} {place_of(c.index)}" for c in changes]
        self._table.set_columns(
            [
                Column("number", names, tokens=True),
                Column("gradient", np.array([c.gradient for c in changes]), lambda value: number(value, 4)),
                Column(
                    "moved",
                    np.array([c.after - c.before for c in changes]),
                    lambda value: signed_figure(value, 4),
                ),
            ]
        )
        self._sheets.setCurrentIndex(2)

    def _say(self, sentence: str) -> None:
        self._said.setText(sentence)


def _mean(losses: np.ndarray) -> float:
    """The mean of the targets that count; 0 where none does."""
    counted = losses[np.isfinite(losses)]
    return float(counted.mean()) if len(counted) else 0.0


def _further(count: int) -> str:
    return f" {count:,} more are not drawn." if count else ""


MOST = 1_500
"""Words that are drawn at most; further texts are only counted."""


def shown_texts(
    batch: ObservedBatch,
    tokenizer: Tokenizer,
    source: Tokenizer | None,
    predicts: Prediction,
    *,
    probabilities: bool,
) -> list[ShownExample]:
    """The first texts of a batch, with the target of each word below it, or the probability that it had.

    Where the whole text has one target, that stands beside the text; of a translation the source does, and
    before a caption its picture.
    """
    rows = max(1, MOST // batch.tokens.shape[1])
    return [
        _shown(batch, row, tokenizer, source, predicts, probabilities=probabilities)
        for row in range(min(rows, len(batch.tokens)))
    ]


def _shown(
    batch: ObservedBatch,
    row: int,
    tokenizer: Tokenizer,
    source: Tokenizer | None,
    predicts: Prediction,
    *,
    probabilities: bool,
) -> ShownExample:
    length = int(batch.lengths[row])
    words = in_words(tokenizer, batch.tokens[row, :length])
    losses, targets = batch.losses[row], batch.targets[row]
    counts = np.isfinite(losses)
    names = predicts.names
    said = [
        ""
        if not counts[place]
        else percentage(float(np.exp(-losses[place])))
        if probabilities
        else (names[targets[place]] if names else visible(tokenizer.token(int(targets[place]))))
        for place in range(min(length, len(targets)))
    ]
    if predicts.per == "text":
        return ShownExample(words, label=said[0])
    if source is None or "source" not in batch.beside:
        return ShownExample(words, tags=tuple(said))
    read = batch.beside["source"][row, : int(batch.beside["source_lengths"][row])]
    if source.json == picture_tokenizer().json:
        return ShownExample(words, tags=tuple(said), pixels=tuple(bool(pixel) for pixel in read))
    return ShownExample(words, tags=tuple(said), target=in_words(source, read))


def in_words(tokenizer: Tokenizer, ids: np.ndarray) -> tuple[str, ...]:
    """Tokens with their white space made visible."""
    return tuple(visible(tokenizer.token(int(token))) for token in ids)
