"""Features in the window: opened, searched, named, looked at, turned, and put into surgery."""

import re
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from made_features import made_features
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton, QSlider, QWidget
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.opening.scenes import scene_of
from lmviz.app.panels.features.feature import FeaturePanel
from lmviz.app.panels.features.feature_turn import FeatureTurnPanel
from lmviz.app.panels.features.feature_words import FeatureWordsPanel
from lmviz.app.panels.features.features import FIND, OPEN, FeaturesPanel
from lmviz.app.panels.features.features_text import FeaturesTextPanel
from lmviz.app.panels.features.matched import CHOOSE, MatchedPanel
from lmviz.app.panels.features.staying import StayingPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import whole_percentage
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.app.window.find_features_dialog import FindFeaturesDialog
from lmviz.app.window.main_window import MainWindow
from lmviz.desktop.scene import Scene
from lmviz.features import remembered
from lmviz.inspection.recipes.recipe import array_recipe, as_source
from tests.app.conftest import open_other_text

ONLY_PANELS = (
    *("features", "feature", "staying", "matched", "features_text", "feature_words", "feature_turn"),
)
KEYWORDS = remembered.remembered_words.__kwdefaults__
TAP = "layers/0/residual2"
TEXT = "the cows eat grass"


@pytest.fixture
def file(transformer_run: Path, tmp_path: Path) -> Path:
    return made_features(lmviz.open_model(transformer_run), TAP, TEXT).save(tmp_path / "drawn.safetensors")


@pytest.fixture
def opened(
    window: MainWindow, session: Session, transformer_run: Path, text_file: Path, file: Path, qtbot: QtBot
) -> Session:
    """The window with a model, its text, a prefix and a dictionary, once all features are measured."""
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(transformer_run)
    with qtbot.waitSignal(session.text.changed):
        session.text.open(text_file, documents="line")
    session.reading.set_prefix(TEXT)
    session.features.open_file(file)
    qtbot.waitUntil(lambda: session.features.reading is not None and not session.features.is_reading)
    return session


def panel_of(window: MainWindow, kind: type):
    [found] = [item for item in window.perspective.panels if isinstance(item, kind)]
    return found


@pytest.mark.slow
def test_without_features_it_says_what_to_open(window: MainWindow, session: Session, qtbot: QtBot):
    panel = panel_of(window, FeaturesPanel)
    qtbot.waitUntil(lambda: any("Open a model" in label.text() for label in panel.findChildren(QLabel)))
    assert panel.exported_arrays() == {}
    assert panel.recipe() == ""


def test_where_no_features_lie_beside_a_model_finding_some_is_offered(
    window: MainWindow, session: Session, transformer_run: Path, file: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    bare = copytree(transformer_run, tmp_path / "bare")
    window.show_perspective("features")
    session.library.open(bare)
    button = window.findChild(QPushButton, "shipped_features_button")
    qtbot.waitUntil(lambda: button.text() == FIND and button.isVisible())
    button.click()
    [dialog] = window.findChildren(FindFeaturesDialog)
    qtbot.waitUntil(dialog.isVisible)
    dialog.close()

    beside = copytree(transformer_run, tmp_path / "beside")
    (beside / "features").mkdir()
    file.rename(beside / "features" / "drawn.safetensors")
    session.library.open(beside)
    qtbot.waitUntil(lambda: button.text() == OPEN and button.isVisible())
    button.click()
    qtbot.waitUntil(lambda: session.features.opened is not None)
    assert session.features.opened.file == beside / "features" / "drawn.safetensors"
    qtbot.waitUntil(lambda: button.text() == f"Open the text of {session.library.model.name}")
    assert button.isVisible()
    button.click()
    qtbot.waitUntil(lambda: session.features.reading is not None)


def test_the_list_is_what_python_reads_and_can_be_searched_and_named(
    window: MainWindow, opened: Session, transformer_run: Path, file: Path, qtbot: QtBot
):
    panel = panel_of(window, FeaturesPanel)
    table = panel.findChild(TableView, "features_list")
    qtbot.waitUntil(lambda: table.model().rowCount() == 24)
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    for name, array in panel.exported_arrays().items():
        np.testing.assert_allclose(array, known["values"][name], atol=1e-5, equal_nan=True)

    search, reading = panel.findChild(QLineEdit, "features_search"), opened.features.reading
    search.setText("grass")
    expected = set(reading.find("grass").tolist())
    assert 0 < len(expected) < 24
    qtbot.waitUntil(lambda: table.model().rowCount() == len(expected))
    search.clear()

    which = panel.findChild(QComboBox, "features_picker")
    which.setCurrentIndex(1)
    which.activated.emit(1)
    active = lmviz.open_features(file).encode(lmviz.trace(transformer_run, TEXT))[-1]
    qtbot.waitUntil(lambda: table.model().rowCount() == (active > 0).sum())
    which.setCurrentIndex(0)
    which.activated.emit(0)

    chosen = int(np.argmax(active))
    opened.features.choose(chosen)
    edit = panel.findChild(QLineEdit, "feature_name_edit")
    edit.setText("what cows eat")
    edit.editingFinished.emit()
    names = file.with_suffix(".names.json")
    qtbot.waitUntil(names.exists)
    assert "what cows eat" in names.read_text(encoding="utf-8")
    search.setText("cows eat")
    qtbot.waitUntil(lambda: table.model().rowCount() == 1)
    qtbot.waitUntil(lambda: "what cows eat" in panel_of(window, FeaturePanel).shown_look.title)
    opened.features.open_file(file)  # the name is kept with it
    qtbot.waitUntil(lambda: opened.features.opened.name_of(chosen) == "what cows eat")


def test_one_feature_is_shown_where_it_is_on(
    window: MainWindow, opened: Session, transformer_run: Path, file: Path, qtbot: QtBot
):
    dictionary = lmviz.open_features(file)
    active = dictionary.encode(lmviz.trace(transformer_run, TEXT))
    chosen = int(np.argmax(active[-1]))
    opened.features.choose(chosen)
    panel, grid = panel_of(window, FeaturePanel), panel_of(window, FeaturesTextPanel)
    qtbot.waitUntil(lambda: f"Feature {chosen}:" in panel.shown_look.title and panel.found is not None)
    np.testing.assert_allclose(panel.exported_arrays()["in_text"], active[:, chosen], atol=1e-5)
    for shown in (panel, grid):
        known: dict[str, object] = {}
        qtbot.waitUntil(lambda shown=shown: bool(shown.exported_arrays()))
        exec(shown.recipe(), known)
        name = "in_text" if shown is panel else "activations"
        np.testing.assert_allclose(known["values"], shown.exported_arrays()[name], atol=1e-5)
    assert grid.shown_look.parts[1].words[0][-1] == str(chosen)  # the strongest on top
    told = grid.shown_look.parts[1].readout(0, len(TEXT.split()))[1]
    operands = [float(each.replace("−", "-")) for each in re.findall(r"[+−]\d[\d.]*", told[-2])]
    assert sum(operands) == pytest.approx(active[-1, chosen], abs=0.02)
    [place, *_] = panel.found.places
    ids = opened.features.reading.rows[place.text]
    own = dictionary.encode(lmviz.trace(transformer_run, ids)[TAP].array)[:, chosen]
    np.testing.assert_allclose(panel.found.strengths[0], own, atol=1e-5)
    assert own[place.position] == pytest.approx(place.value, abs=1e-5)


def test_a_turned_feature_shows_what_python_gives_and_goes_into_surgery(
    window: MainWindow, opened: Session, transformer_run: Path, file: Path, qtbot: QtBot
):
    dictionary = lmviz.open_features(file)
    active = dictionary.encode(lmviz.trace(transformer_run, TEXT))
    chosen = int(np.argmax(active[-1]))
    opened.features.choose(chosen)
    panel, words = panel_of(window, FeatureTurnPanel), panel_of(window, FeatureWordsPanel)
    qtbot.waitUntil(lambda: f"Turn {chosen}" == panel.shown_look.title and panel.found is not None)
    expected = lmviz.turn_feature(
        transformer_run, dictionary, chosen, TEXT, panel.found.turned.factors.tolist()
    )
    np.testing.assert_allclose(panel.exported_arrays()["probabilities"], expected.probabilities, atol=1e-5)
    qtbot.waitUntil(lambda: words.found is not None and bool(words.recipe()))
    for shown, name in ((panel, "probabilities"), (words, "rises")):
        known: dict[str, object] = {}
        exec(shown.recipe(), known)
        np.testing.assert_allclose(known["values"], shown.exported_arrays()[name], atol=1e-4)

    panel.findChild(QPushButton, "feature_off_button").click()
    off = lmviz.next_token(
        transformer_run, TEXT, interventions=[lmviz.change_feature(dictionary, chosen, to=0)]
    ).probabilities

    def is_as(probabilities: np.ndarray) -> bool:
        reading = opened.reading.current
        return reading is not None and np.allclose(
            reading.trace["probabilities"].array[-1], probabilities, atol=1e-5
        )

    qtbot.waitUntil(lambda: is_as(off))
    assert f"feature {chosen} off" in [item.describe() for item in opened.surgery.interventions]
    np.testing.assert_allclose(  # it is turned as if nothing were changed
        panel.exported_arrays()["probabilities"], expected.probabilities, atol=1e-5
    )
    known = {}
    exec(array_recipe(opened.reading.current.moment, "probabilities"), known)
    np.testing.assert_allclose(known["values"][-1], off, atol=1e-5)  # the code of other panels
    known = {"lmviz": lmviz, "Intervention": lmviz.Intervention}
    made = eval(as_source(opened.surgery.interventions[0]), known)
    again = lmviz.next_token(transformer_run, TEXT, interventions=[made]).probabilities
    np.testing.assert_allclose(again, off, atol=1e-5)
    [kept] = Scene.from_bytes(scene_of(opened, "features").to_bytes(), "a scene").surgery
    again = lmviz.next_token(transformer_run, TEXT, interventions=[kept]).probabilities
    np.testing.assert_allclose(again, off, atol=1e-5)
    panel.findChild(QSlider).setValue(8)
    qtbot.waitUntil(lambda: "× 2" in panel.shown_look.parts[2].written)
    panel.findChild(QPushButton, "feature_apply_button").click()
    twice = expected.probabilities[8]
    qtbot.waitUntil(lambda: is_as(twice))
    assert len(opened.surgery.interventions) == 1  # one takes another's place
    opened.surgery.undo()
    qtbot.waitUntil(lambda: is_as(off))


@pytest.mark.slow
def test_words_are_read_off_the_states_beside_the_features_that_stay_on(
    window: MainWindow, opened: Session, transformer_run: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
):
    """The words of so small a model are no kinds: here each is one with all others."""
    monkeypatch.setattr(remembered, "NEAR", -1.0)
    monkeypatch.setattr(remembered, "FEWEST", 2)
    monkeypatch.setattr(remembered.remembered_words, "__kwdefaults__", {**KEYWORDS, "texts": 40})
    window.perspective.findChild(QWidget, "page_staying").raise_()
    panel = panel_of(window, StayingPanel)
    qtbot.waitUntil(lambda: panel.found is not None)
    assert "probe" not in panel.exported_arrays()
    panel.findChild(QPushButton, "remembered_button").click()
    qtbot.waitUntil(lambda: panel.remembered is not None)
    qtbot.waitUntil(lambda: "probe" in panel.exported_arrays())
    found = panel.remembered
    again = lmviz.remembered_words(transformer_run, TEXT, TAP, texts=40)
    np.testing.assert_array_equal(found.accuracy, again.accuracy)
    np.testing.assert_array_equal(found.untrained, again.untrained)
    np.testing.assert_array_equal(panel.exported_arrays()["probe"], found.since(0)[1:])
    assert found.sentence(0) in panel.shown_look.parts[0].text
    grid = next(part for part in panel.shown_look.parts if part.name == "remembered_words")
    assert grid.readout(0, 0) == ("“the” has not been said yet", ())
    assert grid.readout(0, 1)[0] == f"“the”: {whole_percentage(float(found.accuracy[0, 1]))}"
    assert "before the training" in grid.readout(0, 2)[1][1]
    grid.clicked(1, 0)
    qtbot.waitUntil(lambda: panel.exported_arrays()["probe"].shape == found.since(1)[1:].shape)
    opened.reading.set_prefix("the cows")  # of another text nothing is known yet
    qtbot.waitUntil(lambda: panel.remembered is None and "probe" not in panel.exported_arrays())


@pytest.mark.slow
def test_a_dictionary_beside_the_model_is_matched_by_choosing_it(
    window: MainWindow, session: Session, transformer_run: Path, tmp_path: Path, qtbot: QtBot
):
    run = Path(copytree(transformer_run, tmp_path / "run"))
    (run / "features").mkdir()
    one, other = (
        made_features(lmviz.open_model(run), TAP, TEXT, seed=seed).save(
            run / "features" / f"{seed}.safetensors"
        )
        for seed in (0, 1)
    )
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(run)
    with qtbot.waitSignal(session.features.taken):
        session.features.open_file(one)
    window.perspective.findChild(QWidget, "page_matched").raise_()
    panel = panel_of(window, MatchedPanel)
    which = panel.findChild(QComboBox, "matched_picker")
    qtbot.waitUntil(lambda: [which.itemText(at) for at in range(which.count())] == [CHOOSE, other.stem])
    which.setCurrentIndex(1)
    which.activated.emit(1)
    qtbot.waitUntil(lambda: bool(panel.exported_arrays()))
    expected = lmviz.match_features(lmviz.open_features(one), lmviz.open_features(other))
    np.testing.assert_array_equal(panel.exported_arrays()["cosines"], expected.cosines)
    assert panel.exported_arrays()["nearly_same"] == expected.share(0.9)
    assert panel.exported_arrays()["alike"] == expected.share(0.7)
    which.activated.emit(0)
    qtbot.waitUntil(lambda: not panel.exported_arrays())


@pytest.mark.slow
def test_features_belong_to_the_model_that_was_shown_when_they_were_opened(
    window: MainWindow, opened: Session, transformer_run: Path, file: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    features, library = opened.features, opened.library
    reading = features.reading
    library.open(copytree(transformer_run, tmp_path / "another"))
    button = window.findChild(QPushButton, "shipped_features_button")
    qtbot.waitUntil(lambda: button.text() == FIND and button.isVisible())
    assert features.opened is features.dictionary is features.reading is None
    assert not features.is_reading

    library.open("stories-5-gram")
    panel = panel_of(window, FeaturesPanel)
    qtbot.waitUntil(lambda: any("has no states" in said.text() for said in panel.findChildren(QLabel)))

    library.open(transformer_run)
    qtbot.waitUntil(lambda: features.reading is reading)
    assert features.opened.file == file
    assert not features.is_reading


def test_a_text_that_was_read_for_features_goes_with_the_next(
    window: MainWindow, opened: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    assert opened.features.reading is not None
    other = tmp_path / "other.txt"
    other.write_text("the hens eat corn\nthe dog sees the cows\n" * 20)
    open_other_text(opened, other, qtbot)
    qtbot.waitUntil(lambda: opened.features.reading is not None)
