"""A model of very many heads reads a long text: every perspective shows it, within little memory."""

import random
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.panels.inside.picture import PicturePanel
from lmviz.app.panels.table import PERSPECTIVES
from lmviz.app.session.session import Session
from lmviz.app.widgets.matrix.mosaic import HeadMosaic
from lmviz.app.window.main_window import MainWindow
from lmviz.families import build_model
from lmviz.inspection import deferred_array
from lmviz.inspection.computed_square import MOST_KEPT
from lmviz.inspection.interventions import scale_head
from lmviz.interchange.saving import save_pretrained
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.text.tokenizer_options import TokenizerOptions
from lmviz.text.tokenizer_training import train_tokenizer

LETTERS = "abcdefghijklmnop"
PATIENT = 100_000


@pytest.fixture
def checkpoint(tmp_path: Path, layers: int, heads: int) -> Path:
    """A folder of transformers with a model of so many heads, over words of two letters."""
    words = " ".join(first + second for first in LETTERS for second in LETTERS)
    tokenizer = train_tokenizer([words], TokenizerOptions(kind="words"), marks_boundaries=False)
    configuration = TransformerConfiguration(layers=layers, heads=heads, width=2 * heads, context=1024)
    model = build_model("transformer", configuration, tokenizer.vocabulary_size, seed=0)
    model.tokenizer = tokenizer
    return save_pretrained(model, tmp_path / "large")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layers", "heads", "tokens"),
    [(3, 5, 24), pytest.param(48, 25, 1024, marks=pytest.mark.timeout(900))],
)
def test_every_perspective_shows_a_model_of_many_heads(
    window: MainWindow,
    session: Session,
    checkpoint: Path,
    layers: int,
    heads: int,
    tokens: int,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deferred_array, "MOST_RECORDED", min(deferred_array.MOST_RECORDED, tokens**2))
    said, made = list[str](), list[str]()
    make = deferred_array.DeferredArray.computed
    monkeypatch.setattr(
        deferred_array.DeferredArray, "computed", lambda square: made.append("a square") or make(square)
    )
    session.work.any_failed.connect(said.append)
    before = peak()
    session.library.open(checkpoint)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=PATIENT)
    chance = random.Random(0)
    session.reading.set_prefix(" ".join("".join(chance.choices(LETTERS, k=2)) for _ in range(tokens)))
    qtbot.waitUntil(lambda: session.reading.current is not None, timeout=PATIENT)
    weights = f"layers/{layers - 1}/attention/weights"
    trace = session.reading.current.trace
    assert trace[weights].is_deferred
    assert trace[weights].shape == (heads, tokens, tokens)
    assert made == [], "of what nobody looks at no square is made"
    for perspective in PERSPECTIVES:
        window.show_perspective(perspective.name)
        window.grab()
    window.show_perspective("attention")
    mosaic = window.perspective.findChild(HeadMosaic)
    qtbot.waitUntil(lambda: mosaic.grid == (layers, heads), timeout=PATIENT)
    window.show_perspective("inside")
    panel = window.perspective.findChild(PicturePanel)
    qtbot.waitUntil(lambda: panel.page is not None and panel.page.shown is not None, timeout=PATIENT)
    assert panel.page.shown.squares[weights].values.shape == (heads, min(tokens, 64), min(tokens, 64))

    cell = (weights, (heads - 1, tokens - 1, 2))
    session.focus.choose_cell(cell)
    qtbot.waitUntil(lambda: explained(session) == cell, timeout=PATIENT)
    arithmetic = session.explanation.arithmetic
    assert arithmetic.evaluate() == pytest.approx(trace[weights].at(query=tokens - 1)[heads - 1, 2], rel=1e-4)
    session.surgery.add(scale_head(layers - 1, heads - 1, 0.0))
    qtbot.waitUntil(lambda: session.reading.current.baseline is not None, timeout=PATIENT)
    mixed = session.reading.current.trace[f"layers/{layers - 1}/attention/mixed"].array
    assert (mixed[heads - 1] == 0).all()
    assert (mixed[0] != 0).any()

    session.gradients.show(True)
    qtbot.waitUntil(lambda: session.gradients.current is not None, timeout=PATIENT)
    qtbot.waitUntil(lambda: panel.page.shown.gradient is session.gradients.current, timeout=PATIENT)
    assert (panel.page.shown.squares["layers/0/attention/weights"].values != 0).any()
    assert session.gradients.current["layers/0/attention/weights"].is_deferred
    cell = ("gradient/layers/0/attention/weights", (0, tokens - 1, 2))
    session.focus.choose_cell(cell)
    qtbot.waitUntil(lambda: explained(session) == cell, timeout=PATIENT)
    arithmetic = session.explanation.arithmetic
    assert arithmetic.evaluate() == pytest.approx(arithmetic.value, rel=1e-3, abs=1e-9)
    assert said == []
    recorded = sum(each.array.nbytes for each in trace.arrays.values() if not each.is_deferred)
    kept = 4 * recorded + MOST_KEPT  # three traces and a gradient, and the squares that were read last
    assert peak() - before < 3 * kept, "on the way as much again, and as much by the allocator"


def explained(session: Session) -> tuple[str, tuple[int, ...]] | None:
    """The cell that the arithmetic on the screen is of."""
    arithmetic = session.explanation.arithmetic
    return None if arithmetic is None else (arithmetic.address, arithmetic.index)


def peak() -> int:
    """The most bytes of memory this process has had."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
