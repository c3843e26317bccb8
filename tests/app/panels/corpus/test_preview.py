"""A file is shown before it is read, and what it was taken for wrongly is a click away from right."""

from collections.abc import Callable
from pathlib import Path

import pytest
from covering import others_slow
from PySide6.QtWidgets import QCheckBox, QComboBox, QFileDialog, QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.widgets.base.card import Card
from lmviz.app.window.main_window import MainWindow
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.reading import read_raw

ONLY_PANELS = ("texts", "preview")

LONG = 60_000
SPAM = "v1,v2,,,\n" + "ham,Go until jurong point,,,\nspam,Free entry for £2,,,\nham,Ok lar,,,\n" * 4
SPAM += 'spam,"the password ""is" MIX, PO Box, MK17,,\nham,,,,\n'


@pytest.fixture
def offered(window: MainWindow, session: Session, tmp_path: Path, drawn: Callable[[], None], qtbot: QtBot):
    def offer(content: str, name: str = "spam.csv", encoding: str = "cp1252") -> MainWindow:
        path = tmp_path / name
        path.write_bytes(content.encode(encoding, "surrogateescape"))
        with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
            window.open_paths([path])
        drawn()
        qtbot.waitUntil(lambda: bool(said(window, "preview_sentence")), timeout=LONG)
        return window

    return offer


def said(window: MainWindow, name: str) -> str:
    return window.findChild(QLabel, name).accessibleName() or window.findChild(QLabel, name).text()


def choose(window: MainWindow, name: str, value: str) -> None:
    picker = window.findChild(QComboBox, name)
    at = picker.findData(value)
    assert at >= 0, f"{name} offers no {value!r}"
    picker.setCurrentIndex(at)
    picker.activated.emit(at)


def test_a_table_is_said_and_shown_before_it_is_read(
    offered, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    window = offered(SPAM)
    assert session.text.corpus is None
    assert window.perspective.name == "corpus"
    assert said(window, "preview_sentence") == (
        "A table of 13 texts: the label is in v1 (ham, spam), and the text is in v2."
    )
    assert "Line 15 has no text." in said(window, "preview_left_out")
    assert "1 row goes on in a column without a name, as line 14" in said(window, "preview_left_out")
    assert window.findChild(QComboBox, "preview_encoding").currentData() == "cp1252"
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.findChild(QPushButton, "read_offer_button").click()
    drawn()
    assert session.text.offer is None
    assert session.text.corpus.labels == ("ham", "spam")
    assert session.text.folder == str(Path(session.text.corpus.sources[0]).parent)


def test_a_column_is_chosen_on_its_head(
    offered, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    rows = [f"{n % 3},{'good' if n % 2 else 'bad'},the film number {n}" for n in range(12)]
    window = offered("\n".join(["stage,mark,wording", *rows]), "films.csv", "utf-8")
    assert "label is in mark" in said(window, "preview_sentence")
    with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
        choose(window, "column_1_picker", "label")
    drawn()
    assert "label is in stage" in said(window, "preview_sentence")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.findChild(QPushButton, "read_offer_button").click()
    assert session.text.corpus.labels == ("0", "1", "2")


@pytest.mark.slow
def test_what_becomes_of_several_labels_is_chosen(
    offered, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    lines = [f"__label__{'ab'[n % 2]} {'__label__c ' if n % 3 == 0 else ''}the dish {n}" for n in range(12)]
    window = offered("\n".join(lines), "topics.txt", "utf-8")
    assert "4 of 12 texts have several labels: only the first of each is read." in said(
        window, "preview_left_out"
    )
    picker = window.findChild(QComboBox, "preview_several")
    assert picker.isVisible()
    assert picker.currentData() == "first"
    with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
        choose(window, "preview_several", "set")
    drawn()
    assert "a + c" in said(window, "preview_sentence")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.findChild(QPushButton, "read_offer_button").click()
    assert set(session.text.corpus.labels) == {"a", "b", "a + c", "b + c"}


@pytest.mark.slow
def test_two_texts_of_a_label_are_joined_or_one_of_them_is_chosen(
    offered, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    rows = [f"{'yes' if n % 2 else 'no'},the cat number {n},a dog of {n}" for n in range(12)]
    window = offered("\n".join(["label,premise,hypothesis", *rows]), "nli.csv", "utf-8")
    assert "the text is in premise and hypothesis, joined by |." in said(window, "preview_sentence")
    assert window.findChild(QComboBox, "column_3_picker").currentData() == "text+"
    with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
        choose(window, "column_3_picker", "")
    drawn()
    assert "the text is in premise." in said(window, "preview_sentence")
    with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
        choose(window, "column_3_picker", "text+")
    drawn()
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.findChild(QPushButton, "read_offer_button").click()
    texts = [*session.text.corpus.training_documents, *session.text.corpus.validation_documents]
    assert "the cat number 3 | a dog of 3" in texts


@pytest.mark.slow
def test_the_encoding_is_chosen_and_shown(
    offered, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    window = offered(SPAM)
    with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
        window.findChild(QPushButton, "encoding_mac-roman_button").click()
    drawn()
    assert session.text.offer.options.encoding == "mac-roman"
    assert session.text.offer.layout.roles == {"label": 0, "text": 1}
    assert not window.findChild(QPushButton, "encoding_utf-8_button").isEnabled()


@pytest.mark.slow
def test_the_task_is_chosen_and_the_text_alone_is_read(
    offered, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    window = offered(SPAM)
    with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
        choose(window, "preview_task", "next-token")
    drawn()
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.findChild(QPushButton, "read_offer_button").click()
    assert session.text.corpus.task == "next-token"
    assert "Free entry for £2" in session.text.corpus.training_documents


@pytest.mark.slow
def test_what_is_read_is_offered_once_more_to_be_read_otherwise(
    offered, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    window = offered(SPAM)
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.findChild(QPushButton, "read_offer_button").click()
    drawn()
    with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
        window.findChild(QPushButton, "corpus_reread_button").click()
    drawn()
    assert session.text.offer is not None
    window.findChild(QPushButton, "leave_offer_button").click()
    assert session.text.offer is None
    assert session.text.corpus is not None


def reading(window: MainWindow, session: Session, qtbot: QtBot) -> list[str]:
    """The texts of what is offered, once it is read."""
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.findChild(QPushButton, "read_offer_button").click()
    corpus = session.text.corpus
    return sorted([*corpus.training_documents, *corpus.validation_documents])


@pytest.mark.slow
def test_a_corpus_is_offered_as_one_with_its_marks_and_wrong_bytes(
    offered, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    rows = [f'{{"id": {n}, "text": "the fox, nümber {n}<|endoftext|>it is {n}"}}\n' for n in range(9)]
    window = offered("".join(rows).replace("fox, nümber 7", "fox,\udcff nümber 7"), "foxes.jsonl", "utf-8")
    assert said(window, "preview_sentence") == (
        "JSON Lines of 9 documents: the text is in text. "
        "<|endoftext|> ends a document, 9 times: there are 18."
    )
    assert "1 byte is no UTF-8, and is shown as \ufffd (line 8" in said(window, "preview_left_out")
    assert "1 column is not read: id (0)." in said(window, "preview_left_out")
    with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
        choose(window, "preview_wrong_bytes", "dropped")
    drawn()
    with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
        window.findChild(QCheckBox, "preview_marks").click()
    drawn()
    assert "endoftext" not in said(window, "preview_sentence")
    assert "left out (line 8" in said(window, "preview_left_out")
    assert "the fox, nümber 7<|endoftext|>it is 7" in reading(window, session, qtbot)


@pytest.mark.slow
def test_a_line_of_one_s_own_ends_documents(
    window: MainWindow, session: Session, tmp_path: Path, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    (tmp_path / "own.txt").write_text("the first fox\n--\nthe second fox\n--\nthe third\n", encoding="utf-8")
    window.show_perspective("corpus")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(tmp_path / "own.txt")
    reread(window, session, drawn, qtbot)
    edit = window.findChild(QLineEdit, "preview_boundary")
    edit.setText("--")
    with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
        edit.editingFinished.emit()
    shown(window, "-- ends a document, 2 times: there are 3.", qtbot)
    assert reading(window, session, qtbot) == ["the first fox", "the second fox", "the third"]


@pytest.mark.slow
def test_where_nothing_tells_the_window_asks(
    offered, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    rows = [f"the fox{' said' * (n % 5)} no {n};a cat{' went' * (n * 7 % 4)} by {n}" for n in range(20)]
    window = offered("\n".join(rows), "any.csv", "utf-8")
    assert "Is that right? Several columns could be the text." in said(window, "preview_sentence")
    with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
        choose(window, "column_2_picker", "text")
    drawn()
    assert reading(window, session, qtbot)[0].startswith("a cat by")


@pytest.mark.slow
def test_rows_stand_as_close_whatever_was_offered_before(
    offered, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    for count in (4, 9):
        rows = [f"{n},the fox said no {n}" for n in range(count)]
        window = offered("\n".join(["id,text", *rows]), f"{count}.csv", "utf-8")
        shown(window, f"{count} documents", qtbot)
        drawn()
    grid = window.findChild(QComboBox, "column_1_picker").parentWidget().parentWidget().layout()
    assert [grid.rowStretch(line) for line in range(1, 9)] == [0] * 8


@pytest.mark.slow
def test_a_heading_is_one_click_from_being_a_row(
    offered, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    rows = [f"{n},the fox{' said' * (n % 5)} no" for n in range(9)]
    window = offered("\n".join(["number,wording", *rows]), "any.csv", "utf-8")
    assert window.findChild(QCheckBox, "preview_heading").isChecked()
    with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
        window.findChild(QCheckBox, "preview_heading").click()
    drawn()
    assert "wording" in reading(window, session, qtbot)


@pytest.mark.slow
def test_what_is_certain_is_read_at_once(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "films.csv").write_text("label,text\n" + "good,fine\nbad,so dull\n" * 4, encoding="utf-8")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.open_paths([tmp_path / "films.csv"])
    assert session.text.offer is None


@pytest.mark.slow
def test_what_goes_on_is_joined_and_what_repeats_is_kept_once(
    offered, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    window = offered(SPAM)
    assert said(window, "preview_repeated") == "9 rows repeat an earlier one: line 5 as line 2."
    for name in ("preview_joined", "preview_unrepeated"):
        with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
            window.findChild(QCheckBox, name).click()
        drawn()
    assert "what is there is joined to the text" in said(window, "preview_left_out")
    assert "A table of 4 texts" in said(window, "preview_sentence")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.findChild(QPushButton, "read_offer_button").click()
    corpus = session.text.corpus
    texts = [*corpus.training_documents, *corpus.validation_documents]
    assert sorted(texts) == sorted(
        ["Go until jurong point", "Free entry for £2", "Ok lar", '"the password ""is" MIX, PO Box, MK17']
    )


@pytest.mark.slow
@pytest.mark.parametrize("given", others_slow(["files", "folder"], "folder"))
def test_pairs_in_two_files_are_shown_where_lines_would_be_lost(
    given: str, window: MainWindow, session: Session, tmp_path: Path, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    folder = tmp_path / "pairs"
    folder.mkdir()
    files = [folder / "train.en", folder / "train.de"]
    files[0].write_text("".join(f"the house {n}\n" for n in range(9)), encoding="utf-8")
    files[1].write_text("".join(f"das Haus {n}\n" for n in range(7)), encoding="utf-8")
    with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
        window.open_paths(files if given == "files" else [folder])
    qtbot.waitUntil(lambda: bool(said(window, "preview_sentence")), timeout=LONG)
    assert session.text.corpus is None
    assert said(window, "preview_sentence").startswith(
        "Two files, line by line, of 7 pairs: the source is in"
    )
    assert "the 2 further lines of train.en are left out" in said(window, "preview_left_out")
    before = session.text.offer.layout.name_of("source")
    with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
        choose(window, "column_1_picker", "target")
    drawn()
    assert {before, session.text.offer.layout.name_of("source")} == {"en", "de"}
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.findChild(QPushButton, "read_offer_button").click()
    corpus = session.text.corpus
    sources = [*corpus.training_documents, *corpus.validation_documents]
    assert ("das Haus 3" if before == "en" else "the house 3") in sources


def read_for(task: str, said: str, window: MainWindow, session: Session, qtbot: QtBot) -> None:
    """Read what is offered for another task, once the panel has said what it takes it for."""
    with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
        choose(window, "preview_task", task)
    shown(window, said, qtbot)
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.findChild(QPushButton, "read_offer_button").click()


def reread(window: MainWindow, session: Session, drawn: Callable[[], None], qtbot: QtBot) -> None:
    """Ask for what is open to be shown once more."""
    drawn()
    button = window.findChild(QPushButton, "corpus_reread_button")
    assert button.isVisibleTo(button.parentWidget())
    with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
        button.click()
    offered_task = window.findChild(QComboBox, "preview_task")
    qtbot.waitUntil(lambda: offered_task.count() > 1, timeout=LONG)
    drawn()


def shown(window: MainWindow, words: str, qtbot: QtBot) -> None:
    """Wait until the sentence about what is offered has these words."""
    qtbot.waitUntil(lambda: words in said(window, "preview_sentence"), timeout=LONG)


@pytest.mark.slow
def test_files_of_two_languages_are_read_otherwise(
    window: MainWindow, session: Session, tmp_path: Path, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    (tmp_path / "left").write_text("".join(f"the house {n}\n" for n in range(9)), encoding="utf-8")
    (tmp_path / "right").write_text("".join(f"das Haus {n}\n" for n in range(9)), encoding="utf-8")
    window.show_perspective("corpus")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(tmp_path / "left", target=tmp_path / "right")
    reread(window, session, drawn, qtbot)
    shown(window, "the source is in left, and the target is in right.", qtbot)
    with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
        choose(window, "column_1_picker", "target")
    shown(window, "the source is in right, and the target is in left.", qtbot)
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.findChild(QPushButton, "read_offer_button").click()
    assert session.text.corpus.sources == (str(tmp_path / "right"),)
    assert "das Haus 3" in [
        *session.text.corpus.training_documents,
        *session.text.corpus.validation_documents,
    ]
    reread(window, session, drawn, qtbot)
    read_for("next-token", "Plain text", window, session, qtbot)
    assert session.text.corpus.task == "next-token"
    assert len(session.text.corpus.sources) == 2


@pytest.mark.slow
def test_several_files_that_were_taken_for_plain_text_are_read_as_tables(
    window: MainWindow, session: Session, tmp_path: Path, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    files = [tmp_path / f"part{number}.txt" for number in range(2)]
    for number, file in enumerate(files):
        rows = [f"{'good' if n % 2 else 'bad'},the film number {n} of {number}" for n in range(12)]
        file.write_text("\n".join(rows), encoding="utf-8")
    window.show_perspective("corpus")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open([str(file) for file in files], task="next-token")
    reread(window, session, drawn, qtbot)
    read_for("classification", "A table of 24 texts", window, session, qtbot)
    assert session.text.corpus.labels == ("bad", "good")


@pytest.mark.slow
def test_folders_that_were_taken_for_labels_are_read_as_plain_text_and_again(
    window: MainWindow, session: Session, tmp_path: Path, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    for name in ("spring", "autumn"):
        (tmp_path / name).mkdir()
        for number in range(3):
            (tmp_path / name / f"{number}.txt").write_text(f"a letter in {name}", encoding="utf-8")
    window.show_perspective("corpus")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(tmp_path)
    assert session.text.corpus.labels == ("autumn", "spring")
    reread(window, session, drawn, qtbot)
    read_for("next-token", "Plain text", window, session, qtbot)
    assert session.text.corpus.task == "next-token"
    assert len(session.text.corpus.sources) == 6
    reread(window, session, drawn, qtbot)
    read_for("classification", "6 texts", window, session, qtbot)
    assert session.text.corpus.labels == ("autumn", "spring")


@pytest.mark.slow
def test_what_is_in_no_file_of_a_person_s_is_not_read_otherwise(
    window: MainWindow, session: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    window.show_perspective("corpus")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open("farm")
    drawn()
    assert window.findChild(QPushButton, "corpus_reread_button").isHidden()


@pytest.mark.slow
def test_tables_in_several_files_are_shown_as_one(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    files = [tmp_path / f"part{number}.csv" for number in range(2)]
    for number, file in enumerate(files):
        rows = [f"{n},{'good' if n % 2 else 'bad'},the film number {n} of {number}" for n in range(12)]
        file.write_text("\n".join(["id,mark,wording", *rows, "12,good,"]), encoding="utf-8")
    with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
        window.open_paths(files)
    qtbot.waitUntil(lambda: bool(said(window, "preview_sentence")), timeout=LONG)
    assert "A table of 24 texts" in said(window, "preview_sentence")
    assert "part1.csv, line 14 has no text." in said(window, "preview_left_out")
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.findChild(QPushButton, "read_offer_button").click()
    assert session.text.corpus.labels == ("bad", "good")


@pytest.mark.slow
def test_what_was_shown_is_not_read_once_more(
    offered, session: Session, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    window = offered(SPAM)
    read: list[Path] = []
    monkeypatch.setattr("lmviz.text.contents.read_raw", lambda path: read.append(path) or read_raw(path))
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.findChild(QPushButton, "read_offer_button").click()
    assert not read
    window.open_paths([session.text.corpus.sources[0]])
    qtbot.waitUntil(lambda: session.text.offer is not None, timeout=LONG)
    assert len(read) == 1
    Path(session.text.corpus.sources[0]).write_bytes(SPAM.replace("ham,", "eggs,").encode("cp1252"))
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.findChild(QPushButton, "read_offer_button").click()
    assert len(read) == 2, "it was written to since"
    assert "eggs" in session.text.corpus.labels


@pytest.mark.slow
def test_the_file_dialog_begins_where_the_last_file_was(
    window: MainWindow, session: Session, tmp_path: Path, monkeypatch, qtbot: QtBot
) -> None:
    (tmp_path / "a.en").write_text("the cow eats hay", encoding="utf-8")
    asked = []
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *given: asked.append(given) or ([], ""))
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        window.open_paths([tmp_path / "a.en"])
    window.show_perspective("corpus")
    window.findChild(QPushButton, "corpus_open_button").click()
    _, _, start, kinds = asked[0]
    assert start == str(tmp_path)
    assert all(f"*.{ending}" in kinds for ending in ("en", "de", "jsonl", "gz"))


@pytest.mark.slow
def test_a_plain_text_shows_its_first_lines_with_their_numbers(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "plain.txt"
    path.write_text("One line here.\n\nAnother one there.\n" * 20, encoding="utf-8")
    with qtbot.waitSignal(session.text.offer_changed, timeout=LONG):
        session.text.consider(str(path), CorpusOptions())
    rows = session.text.offer.rows
    assert [row.number for row in rows] == [1, 3, 4, 6, 7, 9, 10, 12]
    assert {row.cells for row in rows} == {("One line here.",), ("Another one there.",)}

    def shown() -> set[str]:
        cards = [card for card in window.findChildren(Card) if card.title == "Its first lines"]
        return {label.text() for card in cards if card.isVisible() for label in card.findChildren(QLabel)}

    qtbot.waitUntil(lambda: {"1", "3", "12"} <= shown())
