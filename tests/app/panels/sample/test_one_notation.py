"""A probability is read in per cent wherever it is shown, and in no other notation beside that."""

from __future__ import annotations

import pytest
from benches.sample import Bench
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QLabel

from lmviz.base.figures import cell_figure, number, percentage, plain

SHOWN = 5  # of the likeliest words, whose figures are surely in sight


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Each text that is painted."""
    found: set[str] = set()
    paint = QPainter.drawText

    def noted(painter: QPainter, *arguments: object) -> object:
        found.update(each for each in arguments if isinstance(each, str))
        return paint(painter, *arguments)

    monkeypatch.setattr(QPainter, "drawText", noted)
    return found


def test_no_probability_of_sample_is_a_decimal_or_a_power_of_ten(bench: Bench, painted: set[str]) -> None:
    bench.wait(lambda: bench.find("chain_rule_view").likelihood is not None)
    bench.window.grab()
    found = bench.session.writing.prospect.distribution
    rows = found.top(SHOWN)
    words = [token.probability for token in bench.find("chain_rule_view").likelihood.tokens]
    shares = [row.probability for row in rows] + [row.cumulative for row in rows]
    shares += [share for share in words if share is not None and share < 0.995]
    told = {label.text() for label in bench.window.perspective.findChildren(QLabel)}
    said = {part for text in painted | told for part in text.split()}
    logits = {number(float(value), 2) for value in found.logits}
    others = {write(share) for share in shares for write in (cell_figure, number, plain)} - logits
    assert not said & others
    assert {percentage(row.probability) for row in rows[:2]} <= painted
