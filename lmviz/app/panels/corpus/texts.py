"""Chooses the open text, and how it is split into tokens, documents and parts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QHideEvent
from PySide6.QtWidgets import QFileDialog, QPushButton, QSizePolicy, QWidget

from lmviz.app.panels.panel import JOBS, Panel
from lmviz.app.session.open_text import OwnText
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, named, picker, row, sheet
from lmviz.app.widgets.base.figures import percentage, short, with_unit
from lmviz.app.widgets.base.flow import FlowLayout
from lmviz.app.widgets.base.plain import Label, caption, paragraph
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.base.steady import SpinBox
from lmviz.app.widgets.controls.configuration_form import ConfigurationForm
from lmviz.app.widgets.controls.row_list import ListedRow, RowList
from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report
from lmviz.tasks import NEXT_TOKEN, find_task
from lmviz.text.catalogue import CATALOGUE, Entry, find_entry
from lmviz.text.corpus_options import AFTER_DECODING, CorpusOptions
from lmviz.text.download import download
from lmviz.text.encodings import RECOGNISED
from lmviz.text.several_files import file_in_another_language

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus

KINDS = ("characters", "words", "spaces", "bpe")
FILTER = (
    "Texts (*.txt *.md *.csv *.tsv *.tab *.json *.jsonl *.parquet *.conll *.conllu *.iob *.en *.de *.fr *.es "
    "*.it *.cs *.ru *.zh *.ja *.src *.tgt *.tmx *.tex *.py *.html *.gz *.bz2 *.xz *.zst *.zip);;All files (*)"
)
MANY_UNKNOWN = 0.05
"""The share of held-out words that are unknown from which it is worth a sentence."""

SETTLING = 400  # milliseconds without a change before the text is read again
FEWEST_PIECES = 260


class TextsPanel(Panel):
    """The catalogue and what was opened; Open, Paste, drop; the tokenizer and the split."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._texts = _text_list()
        self._sentence = Label(role="muted", wraps=True)
        self._fetch = named(QPushButton(), "corpus_download_button")
        self._fetch.clicked.connect(self._download)
        self._fetch.hide()
        self._wanted: Entry | None = None  # a text that has yet to be downloaded, and was clicked
        self._recognised = Label(name="recognised", wraps=True)
        self._other = named(QPushButton("Add the other language…"), "corpus_other_language_button")
        self._other.setToolTip(
            "Choose a file with the same lines in another language, to be translated into."
        )
        self._other.clicked.connect(self._add_other_language)
        self._other.hide()
        self._beside: Path | None = None  # the file in another language that lies beside the open one
        self._pair = named(QPushButton("Pairs with the file beside it"), "corpus_pair_button")
        self._pair.clicked.connect(self._read_as_pair)
        self._pair.hide()
        self._unknown = Label(name="many_unknown", wraps=True)
        self._rarer = named(QPushButton("Minimum count 2"), "minimum_count_2_button")
        self._rarer.clicked.connect(self._make_rare_unknown)
        self._pairs = named(QPushButton("Byte pairs"), "byte_pairs_button")
        self._pairs.clicked.connect(self._choose_byte_pairs)
        self._advice = QWidget()
        self._advice.hide()
        self._otherwise = named(QPushButton("Read it otherwise…"), "corpus_reread_button")
        self._otherwise.setToolTip("Show the file as it was read, and change its form, columns or encoding.")
        self._otherwise.clicked.connect(self._reconsider)
        self._otherwise.hide()
        self._kind = picker("tokenizer_picker", "Tokenizer", KINDS)
        self._kind.setToolTip(
            "What a token is: a character, a word, what is between spaces, or a piece learned by merging "
            "byte pairs."
        )
        self._kind.setCurrentText(CorpusOptions().tokenizer)
        self._pieces = named(SpinBox(), description="number of byte-pair pieces")
        self._pieces.setRange(FEWEST_PIECES, 100_000)
        self._pieces.setValue(1024)
        self._pieces_row = QWidget()  # beside the kind it would be wider than the panel
        self._form = ConfigurationForm(CorpusOptions())
        self._form.field("tokenizer").set_shown(False)
        self._form.field("tokenizer").control.setObjectName("tokenizer_specification")
        self.add_card("Texts", "or drop a file", self._lay_out())
        self._settle = QTimer(self, singleShot=True, interval=SETTLING)
        self._settle.timeout.connect(self._read_again)
        self._texts.activated.connect(self._choose)
        self._texts.clicked.connect(self._choose)
        self._kind.activated.connect(lambda _: self._tokenizer_chosen())
        self._pieces.valueChanged.connect(lambda _: self._tokenizer_chosen())
        self._form.configuration_changed.connect(lambda _: self._settle.start())
        self.show_failures(session.text)
        session.text.begun.connect(lambda: self.complain("", JOBS))
        self.follow(session.text.changed)

    @property
    def options(self) -> CorpusOptions:
        """What the form says, the tokenizer included."""
        return replace(self._form.configuration, tokenizer=self._specification)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.complain("", JOBS)

    def handle_failure(self, key: str) -> None:
        if key == JOBS:
            self.refresh()  # the open text is marked, and no other

    def refresh(self) -> None:
        self._fill_list()
        self._wanted = None
        self._fetch.hide()
        corpus = self.session.text.corpus
        if corpus is None:
            self._sentence.setText("Choose a text above, open a file, or paste one.")
            for widget in (self._recognised, self._otherwise, self._other, self._pair):
                widget.hide()
            self._advice.hide()
            return
        kind, _, pieces = corpus.options.tokenizer.partition(":")
        self._kind.setCurrentText(kind)
        if pieces:
            self._pieces.blockSignals(True)
            self._pieces.setValue(int(pieces))
            self._pieces.blockSignals(False)
        self._pieces_row.setVisible(kind == "bpe")
        self._form.set_configuration(corpus.options)
        entry = find_entry(corpus.name) if corpus.sources == (corpus.name,) else None
        self._sentence.setText(f"{entry.description} ({entry.licence})" if entry else "")
        self._sentence.setVisible(entry is not None)
        self._recognised.setText(_how_it_was_read(corpus))
        self._recognised.show()
        is_one_file = entry is None and len(corpus.sources) == 1 and not corpus.target_sources
        may_be_one_side = is_one_file and corpus.task == NEXT_TOKEN
        self._other.setVisible(may_be_one_side)
        self._beside = file_in_another_language(Path(corpus.sources[0])) if may_be_one_side else None
        self._pair.setVisible(self._beside is not None)
        if self._beside is not None:
            self._pair.setText(caption(f"Pairs with {self._beside.name}"))
            self._pair.setToolTip(paragraph(f"Read it with {self._beside}: lines of both belong together."))
        self._otherwise.setVisible(entry is None and bool(corpus.sources))
        self._form.set_shown(_settings_for(corpus, entry))
        self._advise(corpus)

    @property
    def _specification(self) -> str:
        kind = self._kind.currentText()
        return f"{kind}:{self._pieces.value()}" if kind == "bpe" else kind

    def _lay_out(self) -> QWidget:
        open_button = named(QPushButton("Open…"), "corpus_open_button")
        open_button.clicked.connect(self._open_files)
        paste_button = named(QPushButton("Paste"), "corpus_paste_button")
        paste_button.setToolTip("Use the text on the clipboard.")
        paste_button.clicked.connect(self._paste)
        buttons = row(open_button, paste_button, STRETCH)
        for button in (self._fetch, open_button, paste_button, self._pair, self._other, self._otherwise):
            button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        title = Label("Tokens", role="title")
        tokenizer = row(Label("Tokenizer"), STRETCH, self._kind)
        row(Label("Pieces"), STRETCH, self._pieces, on=self._pieces_row)
        self._pieces_row.hide()
        ways = FlowLayout()  # both side by side are wider than the column may be
        for button in (self._rarer, self._pairs):
            ways.addWidget(button)
        column(self._unknown, ways, on=self._advice)
        body = sheet(
            column(
                self._texts,
                self._sentence,
                self._fetch,
                buttons,
                self._pair,
                self._other,
                8,
                self._recognised,
                self._otherwise,
                self._advice,
                8,
                title,
                tokenizer,
                self._pieces_row,
                self._form,
                STRETCH,
            )
        )
        return scrolling(body)

    def _fill_list(self) -> None:
        corpus, own = self.session.text.corpus, self.session.text.own
        rows = [ListedRow((entry.title, _size(entry)), entry.name, _about(entry)) for entry in CATALOGUE]
        rows += [ListedRow((text.title, short(text.size)), text, "\n".join(text.sources)) for text in own]
        self._texts.set_rows(rows)
        if corpus is not None:
            known = [entry.name for entry in CATALOGUE if corpus.sources == (entry.name,)]
            for value in (*known, *(text for text in own if text.is_text_of(corpus))):
                self._texts.choose(value)
        self._texts.setFixedHeight(self._texts.sizeHintForRow(0) * len(rows) + 6)

    def _choose(self, index: QModelIndex) -> None:
        listed = self._texts.row_at(index)
        chosen = None if listed is None else listed.value
        if isinstance(chosen, OwnText):
            self.complain("", JOBS)
            self.session.text.open_own(chosen)
            return
        entry = find_entry(str(chosen))
        if entry is None:
            return
        if entry.is_present:
            self._open(entry.name)
        else:
            self._offer_download(entry)

    def _offer_download(self, entry: Entry) -> None:
        self.complain("", JOBS)
        self._wanted = entry
        self._sentence.setText(f"{entry.description} ({entry.licence})")
        self._sentence.show()
        self._fetch.setText(f"Download {_bytes(entry)}".strip())
        self._fetch.setToolTip(paragraph(f"Download {entry.title} from {entry.address}."))
        self._fetch.show()

    def _download(self) -> None:
        entry = self._wanted
        if entry is None:
            return
        self._fetch.hide()

        def work(report: Report) -> bool:
            return download(entry, report) is not None

        self.start_job(
            f"Downloading {entry.title}",
            work,
            lambda arrived: self.session.text.open(entry.name) if arrived else None,
        )

    def _open_files(self) -> None:
        names, _ = QFileDialog.getOpenFileNames(self, "Open texts", self.session.text.folder, FILTER)
        if names:
            self._open(names[0] if len(names) == 1 else names)

    def _add_other_language(self) -> None:
        """Ask for the file with the same lines, and read both."""
        title, start = "The same lines in another language", self.session.text.folder
        name, _ = QFileDialog.getOpenFileName(self, title, start, FILTER)
        if name:
            self._read_with(name)

    def _read_as_pair(self) -> None:
        """Read the open text with the file beside it."""
        if self._beside is not None:
            self._read_with(str(self._beside))

    def _read_with(self, other: str) -> None:
        """Read the open text again, as one side of pairs."""
        corpus = self.session.text.corpus
        if corpus is not None:
            self.complain("", JOBS)
            options = replace(corpus.options, task=RECOGNISED)
            self.session.text.open(corpus.sources[0], options, target=other)

    def _advise(self, corpus: Corpus) -> None:
        """Say that many words are unknown, and what helps: a model learns of them what it meets."""
        rate, side = max((corpus.statistics(side).unknown_rate, side) for side in corpus.sides)
        where = f" of the {side}s" if len(corpus.sides) > 1 else ""
        counts_words = corpus.tokenizer.kind in ("words", "spaces") and corpus.options.minimum_count == 1
        self._advice.setVisible(rate > MANY_UNKNOWN and counts_words and corpus.options.vocabulary == 0)
        self._unknown.setText(
            f"{percentage(rate)} of the held-out words{where} are unknown, and a model that never meets "
            "an unknown word cannot learn what to do with one."
        )
        self._pairs.setVisible(corpus.task != "tagging")  # whose tokens are words

    def _make_rare_unknown(self) -> None:
        self._form.set_configuration(replace(self._form.configuration, minimum_count=2))
        self._read_again()

    def _choose_byte_pairs(self) -> None:
        self._kind.setCurrentText("bpe")
        self._pieces_row.show()
        self._read_again()

    def _reconsider(self) -> None:
        """Offer the open file once more, to be read in another way."""
        corpus = self.session.text.corpus
        if corpus is not None and corpus.sources:
            self.complain("", JOBS)
            sources, target = corpus.sources, next(iter(corpus.target_sources), "")
            one_or_all = sources[0] if len(sources) == 1 else sources
            self.session.text.consider(one_or_all, corpus.options, target)

    def _open(self, source: str | list[str]) -> None:
        self.complain("", JOBS)  # what failed was about another text
        self.session.text.open(source)

    def _paste(self) -> None:
        text = QGuiApplication.clipboard().text()
        if text.strip():
            self.session.text.paste(text, replace(CorpusOptions(), tokenizer=self._specification))
        else:
            self._sentence.setText("There is no text on the clipboard: copy some first.")

    def _tokenizer_chosen(self) -> None:
        self._pieces_row.setVisible(self._kind.currentText() == "bpe")
        self._settle.start()

    def _read_again(self) -> None:
        """Read the same text with other options."""
        corpus = self.session.text.corpus
        try:
            options = self.options
        except LmvizError as sentence:
            self.complain(str(sentence), "options")
            return
        self.complain("", "options")
        if corpus is None or options == corpus.options:
            return
        if options.task != corpus.options.task:  # another one has another form
            usual = CorpusOptions().to_values()
            options = replace(options, **{name: usual[name] for name in AFTER_DECODING})
        own = next((own for own in self.session.text.own if own.is_text_of(corpus)), None)
        if own is not None:
            self.session.text.open_own(own, options)
        else:
            self.session.text.open(corpus.sources[0], options)


def _size(entry: Entry) -> str:
    """The characters of a text, its bytes where nobody has counted them, or that it is not here."""
    if not entry.is_present:
        return "download"
    return short(entry.characters) if entry.characters is not None else _bytes(entry)


def _about(entry: Entry) -> str:
    """What a text is, its licence, and what it takes to have it here."""
    to_come = "" if entry.is_present or not entry.sent else f" {_bytes(entry)} are downloaded."
    return f"{entry.description} ({entry.licence}){to_come}"


def _bytes(entry: Entry) -> str:
    return with_unit(entry.sent, "B") if entry.sent else ""


def _how_it_was_read(corpus: Corpus) -> str:
    """What the text was recognised as, how it can be read otherwise, and the floor of its models."""
    parts = [corpus.recognised]
    if corpus.recognised.startswith("Plain text."):
        parts = [corpus.recognised.replace("Plain text.", "Plain text: a model learns the next token.", 1)]
    if corpus.floor:
        parts.append(f"No model can go below {corpus.floor:.4f} nats per {find_task(corpus.task).target}.")
    return " ".join(parts)


def _settings_for(corpus: Corpus, entry: Entry | None) -> frozenset[str]:
    """The settings that make a difference to a text, but for the tokenizer, which has a field of its own."""
    without = {"tokenizer", *AFTER_DECODING}  # which are chosen where one sees what comes of them
    if corpus.task != "next-token":
        without.add("documents")
    if entry is None or entry.spans is None:
        without.add("span")
    return CorpusOptions.names() - without


def _text_list() -> RowList:
    texts = named(RowList(2), "corpus_picker", "texts")
    texts.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    texts.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return texts
