"""The Corpus perspective, clicked through: open, cut into tokens, count, look up, go to a place."""

from collections.abc import Callable
from pathlib import Path

import pytest
from covering import others_slow
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.base.scrolling import QuietScrollArea
from lmviz.app.widgets.controls.row_list import RowList
from lmviz.app.widgets.controls.slider_row import SliderRow
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.widgets.plots.log_log_plot import LogLogPlot
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.app.widgets.text.concordance_list import ConcordanceList
from lmviz.app.widgets.text.token_strip import TokenStrip
from lmviz.app.window.main_window import MainWindow
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.remarks import corpus_remark

ONLY_PANELS = ("texts", "corpus_text", "concordance", "vocabulary")

LONG = 20_000


@pytest.fixture
def corpus(
    window: MainWindow, session: Session, text_file: Path, drawn: Callable[[], None], qtbot: QtBot
) -> MainWindow:
    """The window at the Corpus perspective, with a text open."""
    window.show_perspective("corpus")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line", validation=0.0)
    drawn()
    return window


def panel(window: MainWindow, name: str):
    return next(panel for panel in window.perspective.panels if panel.objectName() == name)


@pytest.mark.slow
def test_what_stands_out_in_the_text_is_said_of_the_open_one(
    corpus: MainWindow, session: Session, qtbot: QtBot
) -> None:
    said = panel(corpus, "corpus_text_view").findChild(QWidget, "corpus_remark")
    assert said.sentence == corpus_remark(session.text.corpus)
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open("farm")
    assert said.sentence == corpus_remark(session.text.corpus) != ""


def test_a_text_of_the_catalogue_opens_by_a_click(window: MainWindow, session: Session, qtbot: QtBot) -> None:
    window.show_perspective("corpus")
    texts = window.findChild(RowList, "corpus_picker")
    qtbot.waitUntil(lambda: len(texts.rows) >= 4)
    place = texts.visualRect(texts.model().index(0, 0)).center()
    what_to_do = panel(window, "corpus_text_view").findChild(EmptyText)
    assert what_to_do.isVisible()
    vocabulary = panel(window, "vocabulary_view")
    assert vocabulary.findChild(EmptyText).isVisible()
    assert not vocabulary.findChild(LogLogPlot).isVisible(), "no axes of nothing"
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        qtbot.mouseClick(texts.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert session.text.corpus.name == "farm"
    qtbot.waitUntil(lambda: not what_to_do.isVisible())
    qtbot.waitUntil(vocabulary.findChild(LogLogPlot).isVisible)
    assert not vocabulary.findChild(EmptyText).isVisible()


@pytest.mark.slow
def test_text_from_the_clipboard_becomes_a_corpus(window: MainWindow, session: Session, qtbot: QtBot) -> None:
    window.show_perspective("corpus")
    QGuiApplication.clipboard().setText("one two three\n" * 20)
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        qtbot.mouseClick(window.findChild(QPushButton, "corpus_paste_button"), Qt.MouseButton.LeftButton)
    assert session.text.corpus.name == "pasted text"
    assert {"one", "two", "three"} <= set(session.text.corpus.tokenizer.tokens())


@pytest.mark.slow
def test_no_field_is_pushed_out_by_byte_pairs(corpus: MainWindow, session: Session, qtbot: QtBot) -> None:
    corpus.resize(1000, 640)
    view, picker = panel(corpus, "texts_view"), corpus.findChild(QComboBox, "tokenizer_picker")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        picker.setCurrentText("bpe")
        picker.activated.emit(picker.currentIndex())
    pieces = next(spin for spin in view.findChildren(QSpinBox) if "pieces" in spin.accessibleName())
    qtbot.waitUntil(pieces.isVisible)
    area = view.findChild(QuietScrollArea)
    qtbot.waitUntil(lambda: area.widget().width() <= area.viewport().width())
    for field in area.findChildren(QWidget):
        if field.isVisible() and isinstance(field, QSpinBox | QComboBox | QPushButton):
            right = field.mapTo(area.viewport(), field.rect().topRight()).x()
            assert right < area.viewport().width(), field.accessibleName() or field.objectName()


@pytest.mark.slow
def test_texts_of_one_s_own_stay_in_the_list(
    corpus: MainWindow, session: Session, text_file: Path, qtbot: QtBot
) -> None:
    texts = corpus.findChild(RowList, "corpus_picker")

    def names() -> list[str]:
        return [listed.words[0] for listed in texts.rows]

    def click(name: str) -> None:
        qtbot.waitUntil(lambda: name in names())
        place = texts.visualRect(texts.model().index(names().index(name), 0)).center()
        with qtbot.waitSignal(session.text.changed, timeout=LONG):
            qtbot.mouseClick(texts.viewport(), Qt.MouseButton.LeftButton, pos=place)

    QGuiApplication.clipboard().setText("one two three\n" * 20)
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        qtbot.mouseClick(corpus.findChild(QPushButton, "corpus_paste_button"), Qt.MouseButton.LeftButton)
    click(text_file.stem)
    assert session.text.corpus.sources == (str(text_file.resolve()),)
    assert session.text.corpus.options.documents == "line", "read as it was read before"
    click("Farm")
    qtbot.waitUntil(lambda: {text_file.stem, "pasted text"} <= set(names()))
    click("pasted text")
    assert "three" in session.text.corpus.tokenizer.tokens()
    assert not session.text.corpus.sources
    qtbot.waitUntil(lambda: texts.currentIndex().data() == "pasted text")
    assert names().count("pasted text") == names().count(text_file.stem) == 1


@pytest.mark.slow
def test_another_tokenizer_cuts_the_same_text_anew(
    corpus: MainWindow, session: Session, qtbot: QtBot
) -> None:
    picker = corpus.findChild(QComboBox, "tokenizer_picker")
    assert picker.currentText() == "words"
    words = session.text.corpus.statistics().tokens
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        picker.setCurrentText("characters")
        picker.activated.emit(picker.currentIndex())
    assert session.text.corpus.tokenizer.kind == "characters"
    assert session.text.corpus.options.documents == "line"
    assert session.text.corpus.statistics().tokens > 3 * words


def test_the_text_stands_there_in_tokens(corpus: MainWindow, session: Session, qtbot: QtBot) -> None:
    strip = panel(corpus, "corpus_text_view").findChild(TokenStrip)
    qtbot.waitUntil(lambda: strip.accessibleDescription() != "")
    tokens = session.text.corpus.tokenizer.tokens()
    assert strip.tokens[: len(strip.tokens)] == tuple(
        tokens[index] for index in session.text.corpus.training[: len(strip.tokens)]
    )


@pytest.mark.slow
def test_the_text_stands_there_in_its_own_words(
    corpus: MainWindow, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    strip = panel(corpus, "corpus_text_view").findChild(TokenStrip)
    text = "the cat saw a zebra .\nthe cat saw a yak ."
    session.text.paste(text, CorpusOptions(minimum_count=2, documents="line", validation=0.0), "rare")
    qtbot.waitUntil(lambda: strip.tokens[5:6] == ("zebra",))
    assert "yak" in strip.tokens
    assert "⟨unknown⟩" not in strip.tokens
    session.text.paste("é 鼠 ü 鳥 " * 30, CorpusOptions(tokenizer="bpe:258", validation=0.0), "parts")
    qtbot.waitUntil(lambda: strip.tokens[:3] == ("é⟨1/2⟩", "é⟨2/2⟩", "␣鼠⟨1/3⟩"))


@pytest.mark.slow
def test_byte_pairs_can_be_watched_being_merged(
    corpus: MainWindow, session: Session, text_file: Path, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, tokenizer="bpe:280", documents="line")
    view = panel(corpus, "corpus_text_view")
    strip, rows = view.findChild(TokenStrip), view.findChildren(SliderRow)
    merges = next(row for row in rows if row.slider.accessibleName() == "number of byte-pair merges")
    qtbot.waitUntil(merges.isVisible)
    lengths = []
    for learned in (0, 5, merges.slider.maximum() - 1):
        merges.slider.setValue(learned)
        lengths.append(len(strip.tokens))
    assert lengths[0] > lengths[1] > lengths[2]
    merges.slider.setValue(0)
    assert "".join(strip.tokens).replace("␣", " ").startswith("the cows eat grass")


def test_the_concordance_counts_what_follows_and_leads_to_the_place(
    corpus: MainWindow, session: Session, qtbot: QtBot
) -> None:
    view = panel(corpus, "concordance_view")
    view.findChild(QLineEdit, "concordance_edit").setText("the cows")
    qtbot.waitUntil(lambda: view.found is not None and view.found.total > 0, timeout=LONG)
    ids = session.text.corpus.training.tolist()
    the, cows = (session.text.corpus.tokenizer.id_of(word) for word in ("the", "cows"))
    matches = [n for n in range(len(ids) - 1) if ids[n : n + 2] == [the, cows]]
    assert view.found.total == len(matches)
    assert sum(word.count for word in view.found.words) == len(matches)
    places, words = view.findChild(ConcordanceList), view.findChild(BarsView)
    qtbot.waitUntil(
        lambda: "places" in places.accessibleDescription() and words.accessibleDescription() != ""
    )
    with qtbot.waitSignal(session.text.place_changed):
        qtbot.mouseClick(places, Qt.MouseButton.LeftButton, pos=places.rect().topLeft() + _line(2))
    assert session.text.place == matches[2]


@pytest.mark.slow
@pytest.mark.parametrize("tokenizer", others_slow(["words", "characters", "bpe:300"], "characters"))
def test_a_click_on_a_bar_goes_on_with_it_whatever_the_tokens_are(
    window: MainWindow, session: Session, text_file: Path, tokenizer: str, qtbot: QtBot
) -> None:
    window.show_perspective("corpus")
    session.text.open(text_file, documents="line", tokenizer=tokenizer)
    qtbot.waitUntil(lambda: session.text.corpus is not None, timeout=LONG)
    view = panel(window, "concordance_view")
    phrase, bars = view.findChild(QLineEdit, "concordance_edit"), view.findChild(BarsView)
    phrase.setText("the")
    for _ in range(8):
        before = phrase.text()
        qtbot.waitUntil(
            lambda before=before: view.found is not None and view.searched == before, timeout=LONG
        )
        likeliest = view.found.words[0]
        if likeliest.id == session.text.corpus.tokenizer.end_id:
            break
        bars.part_clicked.emit(0)
        assert phrase.text() == session.text.corpus.tokenizer.continue_text(before, likeliest.id)
        qtbot.waitUntil(lambda before=before: view.searched not in ("", before), timeout=LONG)
        assert view.found.total == likeliest.count
    bars.part_clicked.emit(0)
    assert session.text.corpus.training_text.count(phrase.text()) >= view.found.total > 0


def test_the_vocabulary_is_counted_and_filtered(corpus: MainWindow, session: Session, qtbot: QtBot) -> None:
    view = panel(corpus, "vocabulary_view")
    table = view.findChild(TableView)
    qtbot.waitUntil(lambda: table.model().rowCount() == len(session.text.corpus.statistics().by_rank))
    first = [table.model().index(0, column).data() for column in range(3)]
    counts = session.text.corpus.statistics().counts
    assert first[0] == "1"
    assert int(first[2].replace(",", "")) == counts.max()
    view.findChild(QLineEdit, "vocabulary_filter").setText("cow")
    assert [table.model().index(row, 1).data() for row in range(table.model().rowCount())] == ["cows"]


@pytest.mark.slow
def test_what_cannot_be_read_is_said_beside_the_list(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    window.show_perspective("corpus")
    (tmp_path / "broken.txt").write_bytes(bytes(range(256)))
    with qtbot.waitSignal(session.text.failed) as failure:
        session.text.open(tmp_path / "broken.txt")
    said = panel(window, "texts_view").complaint
    assert said == failure.args[0]
    assert "binary" in said


def _line(number: int):
    from PySide6.QtCore import QPoint

    from lmviz.app.widgets.text.concordance_list import ROW

    return QPoint(200, round((number + 0.5) * ROW))


@pytest.mark.slow
def test_a_phrase_that_does_not_occur_is_said(corpus: MainWindow, session: Session, qtbot: QtBot) -> None:
    panel = corpus.findChild(QWidget, "concordance_view")
    said = panel.findChild(EmptyText)
    assert said.isVisible()
    panel.findChild(QLineEdit, "concordance_edit").setText("cows fly")
    qtbot.waitUntil(lambda: "does not occur" in said.text(), timeout=5000)
    panel.findChild(QLineEdit, "concordance_edit").setText("cows eat")
    qtbot.waitUntil(lambda: not said.isVisible(), timeout=5000)


def _shows_all(table: TableView) -> None:
    columns = [table.columnWidth(column) for column in range(table.model().columnCount())]
    places = (table.window().size(), table.viewport().size(), columns)
    assert table.horizontalScrollBar().maximum() <= 2, places


@pytest.mark.slow
def test_the_vocabulary_shows_all_its_columns_at_every_size(corpus: MainWindow, qtbot: QtBot) -> None:
    table = corpus.findChild(QWidget, "vocabulary_view").findChild(TableView)
    try:
        for projector, width, height in (
            (False, 1000, 640),
            (False, 1440, 900),
            (False, 2560, 1440),
            (True, 1440, 900),
        ):
            corpus.set_projector(projector)
            corpus.resize(width, height)
            qtbot.waitUntil(lambda: _shows_all(table), timeout=5000)
            assert table.height() > 100
    finally:
        corpus.set_projector(False)


@pytest.mark.slow
def test_every_text_is_in_the_list_however_large_the_type(
    corpus: MainWindow, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    texts = corpus.findChild(RowList, "corpus_picker")

    def lowest() -> int:
        return texts.visualRect(texts.model().index(len(texts.rows) - 1, 0)).bottom()

    try:
        for projector in (True, False):
            corpus.set_projector(projector)
            if projector:  # which puts the list away until it is asked for
                next(item for item in corpus.perspective.toggle_actions if item.text() == "Texts").trigger()
            drawn()
            qtbot.waitUntil(lambda: 0 < lowest() <= texts.viewport().height() + 1, timeout=5000)
    finally:
        corpus.set_projector(False)


@pytest.mark.slow
def test_the_list_of_words_after_another_text_has_none_of_the_old(
    corpus: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    table = panel(corpus, "vocabulary_view").findChild(TableView)

    def words() -> list[str]:
        model = table.model()
        return [model.index(row, 1).data() for row in range(model.rowCount())]

    qtbot.waitUntil(lambda: "cows" in words())
    search = panel(corpus, "vocabulary_view").findChild(QLineEdit)
    search.setText("co")
    assert set(words()) == {"cows", "corn"}
    other = tmp_path / "sea.txt"
    other.write_text("a ship sails\na cold wind blows\n" * 20, encoding="utf-8")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(other, documents="line", validation=0.0)
    search.clear()
    qtbot.waitUntil(lambda: "ship" in words())
    assert not {"cows", "corn", "hens", "dog", "grass", "the"} & set(words())
