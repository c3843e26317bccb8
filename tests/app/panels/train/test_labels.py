"""The Train form for texts with labels: which families, which settings, what is measured, and the floor."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.panels.train.loss import LossPanel
from lmviz.app.panels.train.plan import PlanPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import short
from lmviz.app.widgets.controls.configuration_form import ConfigurationForm, SettingField
from lmviz.app.widgets.diagrams.family_cards import FamilyCards
from lmviz.app.widgets.kit.axes import Axes, ReferenceLine
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.window.main_window import MainWindow
from lmviz.families import FAMILIES
from lmviz.training.options import TrainingOptions

ONLY_PANELS = ("loss", "plan")

REVIEWS = "good\ta fine film\nbad\ta dull film\ngood\tfine\n"
PAIRS = "one two\tuno dos y tres\nthree\ttres\none\tuno\n"
FLOOR = 0.0258  # nats per tag of ambiguous, from all sentences of its grammar


@pytest.fixture
def tagging(window: MainWindow, session: Session, qtbot: QtBot) -> MainWindow:
    """The Train perspective with tagged text open, a small n-gram planned before."""
    counting = TrainingOptions(steps=4, batch=4, validate_every=2, validation_batches=2)
    session.plan.set("ngram", FAMILIES["ngram"].configuration(), counting)
    session.text.open("ambiguous")
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    qtbot.waitUntil(lambda: session.plan.current.family != "ngram")
    return window


def click_card(cards: FamilyCards, family: str, qtbot: QtBot) -> None:
    place = cards.part_rectangle(list(FAMILIES).index(family)).center().toPoint()
    qtbot.mouseClick(cards, Qt.MouseButton.LeftButton, pos=place)


@pytest.mark.slow
def test_a_family_that_cannot_do_the_task_is_not_planned_and_says_why(
    tagging: MainWindow, session: Session, qtbot: QtBot
) -> None:
    cards = tagging.findChild(FamilyCards, "family_picker")
    assert list(cards.refused) == ["ngram"]
    assert "ngram cannot do tagging" in cards.refused["ngram"]
    click_card(cards, "ngram", qtbot)
    assert session.plan.current.family != "ngram"
    click_card(cards, "gru", qtbot)
    assert session.plan.current.family == "gru"


def test_a_tagger_is_trained_as_stated_and_measured_by_its_labels(
    tagging: MainWindow, session: Session, qtbot: QtBot
) -> None:
    options = session.plan.current.training_options
    session.plan.set("lstm", FAMILIES["lstm"].configuration(width=4, direction="both"), options)
    subject = tagging.findChild(QLabel, "training_subject")
    stated = "tagger: LSTM both ways · ambiguous · words"
    qtbot.waitUntil(lambda: subject.text() == f"will train {stated}")
    form = tagging.findChild(ConfigurationForm, "model_form")
    qtbot.waitUntil(lambda: form.field("direction").control.isVisibleTo(form))
    assert "pooling" not in session.plan.current.configuration.used_for("tagging")
    session.training.start()
    qtbot.waitUntil(lambda: session.training.state.phase == "finished")
    assert session.training.state.subject == stated
    qtbot.waitUntil(lambda: session.library.model is not None)
    assert session.library.model.description.task == "tagging"
    panel = tagging.findChild(QWidget, "loss_view")
    assert isinstance(panel, LossPanel)
    plot = panel.findChild(LinePlot, "loss_plot")
    qtbot.waitUntil(lambda: "validation" in plot.points())
    assert panel.card.title == "Loss per tag"
    assert references(plot) == pytest.approx({"floor": FLOOR}, abs=1e-4)
    unit = next(box for box in panel.findChildren(QComboBox) if box.accessibleName() == "unit of the loss")
    assert [unit.itemText(index) for index in range(unit.count())] == ["nats", "accuracy"]
    unit.setCurrentText("accuracy")
    qtbot.waitUntil(lambda: "training" not in plot.points())
    _, values = plot.points()["validation"].T
    measured = session.training.state.history.validation_accuracy.values
    assert values == pytest.approx(100 * measured)
    assert not references(plot)


@pytest.mark.slow
def test_a_transformer_that_tags_begins_without_the_mask_and_what_is_chosen_stays(
    tagging: MainWindow, session: Session, text_file: Path, qtbot: QtBot
) -> None:
    def masked() -> bool:
        return session.plan.current.configuration.to_values()["causal"]

    form, cards = (
        tagging.findChild(ConfigurationForm, "model_form"),
        tagging.findChild(FamilyCards, "family_picker"),
    )
    assert session.plan.current.family == "transformer"
    qtbot.waitUntil(lambda: "causal" in form.configuration.names() and not masked())
    box = form.field("causal").control
    assert "taggers and classifiers begin so" in box.toolTip()
    subject = tagging.findChild(QLabel, "training_subject")
    qtbot.waitUntil(lambda: "tagger: Transformer both ways" in subject.text())
    session.text.open(text_file)
    qtbot.waitUntil(lambda: session.plan.task == "next-token")
    assert masked()
    session.text.open("ambiguous")
    qtbot.waitUntil(lambda: session.plan.task == "tagging")
    assert not masked()
    qtbot.waitUntil(lambda: not box.isChecked())
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=box.rect().center())
    assert masked()
    for family in ("gru", "transformer"):
        click_card(cards, family, qtbot)
        assert session.plan.current.family == family
    assert masked()  # as it was left


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("the/d cat/n runs/v\ncats/n run/v\nthe/d cats/n\n", "tagger"),
        (REVIEWS, "classifier"),
        (PAIRS, "translator"),
    ],
)
def test_as_many_parameters_are_stated_as_the_trained_model_has(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot, text: str, what: str
) -> None:
    (tmp_path / "lines.txt").write_text(text * 8, encoding="utf-8")
    session.text.open(tmp_path / "lines.txt")
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    configuration = FAMILIES["gru"].configuration(width=9, pooling="attention", attention="bilinear")
    session.plan.set("gru", configuration, TrainingOptions(steps=1, batch=2, validate_every=0))
    subject = window.findChild(QLabel, "training_subject")
    qtbot.waitUntil(lambda: subject.text() == f"will train {what}: GRU · lines · words")
    plan = window.findChild(QWidget, "plan_view")
    assert isinstance(plan, PlanPanel)
    qtbot.waitUntil(lambda: plan.is_up_to_date)
    stated = plan.card.aside
    qtbot.mouseClick(window.findChild(QPushButton, "new_run_button"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.library.model is not None)
    assert stated.startswith(f"{short(session.library.model.parameters)} parameters")
    assert str(session.library.model.parameters)[:3] in stated.replace(".", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "family", "offered", "left_out"),
    [
        (
            "good\ta fine film\nbad\ta dull film\ngood\tfine\n",
            "transformer",
            "pooling",
            ("attention", "sampling"),
        ),
        (REVIEWS, "gru", "pooling", ("attention", "sampling")),
        (PAIRS, "lstm", "attention", ("pooling", "sampling")),
        (PAIRS, "transformer", "heads", ("causal", "sampling")),
        ("the cat ran\nthe dog sat\n", "gru", "sampling", ("pooling", "attention")),
    ],
)
def test_what_matters_to_the_task_is_in_sight_and_what_has_no_effect_is_not_there(
    window: MainWindow,
    session: Session,
    tmp_path: Path,
    qtbot: QtBot,
    text: str,
    family: str,
    offered: str,
    left_out: tuple[str, ...],
) -> None:
    streams = TrainingOptions(sampling="streams", steps=1)
    session.plan.set("gru", FAMILIES["gru"].configuration(width=4), streams)
    (tmp_path / "lines.txt").write_text(text * 8, encoding="utf-8")
    session.text.open(tmp_path / "lines.txt")
    qtbot.waitUntil(lambda: session.text.corpus is not None)
    session.plan.choose_family(family)
    forms = [window.findChild(ConfigurationForm, name) for name in ("model_form", "learning_form")]

    def in_sight() -> set[str]:
        """The settings that are there without unfolding anything."""
        fields = (field for form in forms for field in form.findChildren(SettingField))
        return {field.setting.name for field in fields if field.control.isVisibleTo(window)}

    qtbot.waitUntil(lambda: offered in in_sight() and not in_sight() & set(left_out))
    whole = session.plan.task != "next-token"
    assert session.plan.current.training_options.sampling == ("sentences" if whole else "streams")


def references(plot: LinePlot) -> dict[str, float]:
    """The dashed lines, by name."""
    items = plot.findChild(Axes).items_drawn
    return dict(item.reference for item in items if isinstance(item, ReferenceLine))
