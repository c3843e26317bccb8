"""The text as the model sees it: tokens, tinted; for byte pairs, how they were merged; examples of a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named, stack
from lmviz.app.widgets.base.figures import count, percentage
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.base.remark import Remark
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.controls.slider_row import SliderRow
from lmviz.app.widgets.text.examples_view import ExamplesView, ShownExample
from lmviz.app.widgets.text.token_strip import TokenStrip
from lmviz.inspection.recipes.text import merges_recipe, page_recipe, settings_of
from lmviz.text.byte_level import readable_piece
from lmviz.text.merges import apply_merges, bpe_merges
from lmviz.text.remarks import corpus_remark
from lmviz.text.stretch import Stretch, Stretches
from lmviz.text.tokenizer import END, START, Tokenizer, visible

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus

PAGE = 480
MERGED = PAGE // 3  # tokens of the whole vocabulary that fall into pieces again
BEFORE = 60
EMPTY = "Choose a text from the list, or drop a file onto the window: it appears here cut into tokens."
SAID = 3  # lines that could not be read and are named; a tip names more of them


class CorpusTextPanel(Panel):
    """A page of the training text in tokens; a slider goes through it, another through the merges.

    Where the text is for a task, the page shows its examples, and below it the lines that were left out.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        session.text.offer_changed.connect(self.need_changed)
        self._strip = named(TokenStrip(), description="the text in tokens")
        self._first = 0
        self._merges: list[tuple[str, str]] = []
        self._place = SliderRow("through the text", "place in the text")
        self._learned = SliderRow("merges", "number of byte-pair merges")
        self._examples = named(ExamplesView(), "examples_view")
        self._page = range(0)
        self._plain, self._tasks = scrolling(self._strip), scrolling(self._examples)
        self._body = stack(self._plain, self._tasks)
        self._remark = Remark("corpus_remark")
        self._left_out = Label(name="left_out", role="warning", wraps=True)
        self._card = self.add_card("The text as the model sees it", "", self._body)
        self._card.layout_below.insertWidget(1, self._remark)
        self._card.layout_below.addWidget(self._left_out)
        self._card.layout_below.addWidget(self._learned)
        self._card.layout_below.addWidget(self._place)
        self._learned.hide()
        self._left_out.hide()
        self._examples.part_clicked.connect(self._choose_word)
        self._place.value_changed.connect(session.text.choose_place)
        self._learned.value_changed.connect(lambda _: self.refresh())
        self.follow(session.text.place_changed)
        session.text.changed.connect(self._take_corpus)
        self._take_corpus()

    @property
    def is_needed(self) -> bool:
        return self.session.text.offer is None

    def refresh(self) -> None:
        corpus = self.session.text.corpus
        if corpus is None:
            return
        if corpus.training_examples is not None:
            self._show_examples(corpus)
        elif self._shows_merging:
            self._show_merging(corpus)
        else:
            self._show_page(corpus)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The ids (token,) of the page and their texts; while merging, the texts (piece,) alone."""
        corpus = self.session.text.corpus
        if corpus is None:
            return {}
        if self._shows_merging:
            return {"pieces": np.array(self._pieces(corpus), dtype=np.str_)}
        shown = self._stretch(corpus, self._page_length(corpus))
        return {"ids": shown.ids, "tokens": np.array(shown.words(), dtype=np.str_)}

    def recipe(self) -> str:
        corpus = self.session.text.corpus
        if corpus is None or not corpus.sources:
            return ""
        source, first = (corpus.sources, settings_of(corpus)), self._begin(corpus)
        if self._shows_merging:
            return merges_recipe(*source, first, MERGED, self._learned.value)
        return page_recipe(*source, first, self._page_length(corpus))

    def _begin(self, corpus: Corpus) -> int:
        """The place of the first token of the page."""
        if corpus.training_examples is not None:
            return int(corpus.training_examples.source.starts[self._page.start])
        return max(0, self.session.text.place - BEFORE)

    def _page_length(self, corpus: Corpus) -> int:
        """How many tokens the page has at most."""
        if corpus.training_examples is not None:
            return int(corpus.training_examples.source.starts[self._page.stop]) - self._begin(corpus)
        return PAGE

    def _stretch(self, corpus: Corpus, count: int) -> Stretch:
        begin = self._begin(corpus)
        return Stretches(corpus.training_stream).at(begin, begin + count)

    def _pieces(self, corpus: Corpus) -> list[str]:
        """The page as it fell into pieces when only some of the merges had been learned."""
        text = self._stretch(corpus, MERGED).text
        return apply_merges(text, self._merges, self._learned.value)

    @property
    def _shows_merging(self) -> bool:
        return (
            bool(self._merges)
            and self._body.currentWidget() is self._plain
            and self._learned.value < len(self._merges)
        )

    def _take_corpus(self) -> None:
        corpus = self.session.text.corpus
        self._place.setVisible(corpus is not None)
        self._merges = []
        self._page = range(0)
        self._remark.say("" if corpus is None else corpus_remark(corpus))
        self._say_what_is_left_out(() if corpus is None else corpus.complaints)
        if corpus is None:
            self._card.set_placeholder(EMPTY)
            self._card.set_aside("")
            return
        self._card.set_aside(_summary(corpus))
        self._card.set_placeholder("")
        self._body.setCurrentWidget(self._plain if corpus.training_examples is None else self._tasks)
        self._place.set_range(len(corpus.training) - 1, self.session.text.place)
        if corpus.tokenizer.kind == "bpe" and corpus.training_examples is None:
            self._merges = bpe_merges(corpus.tokenizer)
        self._learned.setVisible(bool(self._merges))
        self._learned.set_range(len(self._merges), len(self._merges))
        self.refresh_soon()

    def _show_page(self, corpus: Corpus) -> None:
        first, tokenizer, shown = self._begin(corpus), corpus.tokenizer, self._stretch(corpus, PAGE)
        boundaries = {tokenizer.start_id, tokenizer.end_id}
        self._strip.set_tokens(
            [visible(word) for word in shown.words()],
            unknown=shown.unknown,
            boundaries=[n for n, id in enumerate(shown.ids.tolist()) if id in boundaries],
            tinted=True,
        )
        self._strip.set_current(self.session.text.place - first if self.session.text.place else -1)
        self._place.show_value(
            self.session.text.place, f"{count(first + 1)} – {count(first + len(shown.ids))}"
        )
        self._learned.show_value(len(self._merges), f"all {count(len(self._merges))}")

    def _show_examples(self, corpus: Corpus) -> None:
        place, page = self.session.text.place, page_at(corpus, self.session.text.place)
        if page != self._page:
            self._page = page
            self._examples.set_examples(shown_examples(corpus, page), special=(START, END))
        self._examples.set_current(place - self._begin(corpus) if place else -1)
        said = f"{count(page.start + 1)} – {count(page.stop)} of {count(len(corpus.training_documents))}"
        self._place.show_value(place, said)

    def _choose_word(self, index: int) -> None:
        corpus = self.session.text.corpus
        if corpus is not None:
            self.session.text.choose_place(self._begin(corpus) + index)

    def _say_what_is_left_out(self, complaints: tuple[str, ...]) -> None:
        more = len(complaints) - SAID
        said = [*complaints[:SAID], *([f"Point here for {count(more)} more."] if more > 0 else [])]
        self._left_out.setText(" ".join(said))
        self._left_out.setToolTip(paragraph(" ".join(complaints)) if more > 0 else "")
        self._left_out.setVisible(bool(complaints))

    def _show_merging(self, corpus: Corpus) -> None:
        """The page in pieces, and what the newest merge was."""
        learned = self._learned.value
        self._strip.set_tokens([visible(piece) for piece in self._pieces(corpus)], tinted=True)
        newest = tuple(visible(readable_piece(part)) for part in self._merges[learned - 1]) if learned else ()
        said = f"{count(learned)}: {newest[0]} + {newest[1]}" if newest else "0: single bytes"
        self._learned.show_value(learned, said)


def _summary(corpus: Corpus) -> str:
    statistics = corpus.statistics()
    learned = f", {count(statistics.training_tokens)} to learn from" if statistics.validation_tokens else ""
    has_sides = len(corpus.sides) > 1
    of = "sources: " if has_sides else ""
    parts = [f"{of}{count(statistics.tokens)} tokens{learned}", f"{count(statistics.types)} types"]
    unknown = {side: corpus.statistics(side).unknown_rate for side in corpus.sides}
    if any(unknown.values()):
        rates = (percentage(rate) + (f" of {side}s" if has_sides else "") for side, rate in unknown.items())
        parts.append(f"{' and '.join(rates)} unknown in validation")
    return " · ".join(parts)


MOST = 60
WORDS = 480
EXAMPLES_BEFORE = 1


def page_at(corpus: Corpus, place: int) -> range:
    """The numbers of the training examples to show, from just before the one with the token at a place."""
    examples = corpus.training_examples
    assert examples is not None, "plain text has no examples"
    first = max(0, examples.source.sequence_at(place) - EXAMPLES_BEFORE)
    starts = examples.source.starts
    last = first + 1
    while last < min(len(examples), first + MOST) and starts[last] - starts[first] < WORDS:
        last += 1
    return range(first, min(last, len(examples)))


def shown_examples(corpus: Corpus, page: range) -> list[ShownExample]:
    """The examples of a page as they are read: their words, and their tags, label or target."""
    examples, tokenizer, texts = corpus.training_examples, corpus.tokenizer, corpus.training_documents
    assert examples is not None, "plain text has no examples"
    wanted = examples.texts
    shown = []
    for number in page:
        ids, answer = examples.source[number].tolist(), examples.target[number].tolist()
        other = corpus.target_tokenizer
        names = () if other is not None else tuple(corpus.labels[id] for id in answer)
        shown.append(
            ShownExample(
                words=_words(tokenizer, ids, texts[number]),
                tags=names if corpus.task == "tagging" else (),
                label=names[0] if corpus.task == "classification" else "",
                target=_words(other, answer, wanted[number]) if other is not None and wanted else (),
                unknown=tuple(n for n, id in enumerate(ids) if id == tokenizer.unknown_id),
                pixels=tuple(id == 1 for id in ids) if corpus.task == "captioning" else (),
            )
        )
    return shown


def _words(tokenizer: Tokenizer, ids: list[int], text: str) -> tuple[str, ...]:
    """The tokens of a text, one that the vocabulary lacks as it is written."""
    if tokenizer.unknown_id not in ids:
        return tuple(visible(tokenizer.token(id)) for id in ids)
    encoding = tokenizer.encode_prefix(text)
    unknown = (
        text[start:end]
        for (start, end), is_unknown in zip(encoding.offsets, encoding.unknown, strict=True)
        if is_unknown
    )
    return tuple(visible(next(unknown) if id == tokenizer.unknown_id else tokenizer.token(id)) for id in ids)
