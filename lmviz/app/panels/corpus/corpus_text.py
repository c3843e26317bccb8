"""The text as the model sees it: tokens, tinted; and, for byte pairs, how they were merged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.panel import Panel
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.figures import count, percentage
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.controls.slider_row import SliderRow
from lmviz.app.widgets.text.token_strip import TokenStrip

if TYPE_CHECKING:
    from lmviz.app.session.session import Session
    from lmviz.text.corpus import Corpus
    from lmviz.text.statistics import Statistics

PAGE = 480
MERGED = PAGE // 3  # tokens of the whole vocabulary that fall into pieces again
BEFORE = 60


class CorpusTextPanel(Panel):
    """A page of the training text in tokens; a slider goes through it, another through the merges."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("corpus_text_view")
        self._strip = TokenStrip()
        self._strip.setAccessibleName("the text in tokens")
        self._first = 0
        self._merges: list[tuple[str, str]] = []
        self._place = SliderRow("through the text", "place in the text")
        self._learned = SliderRow("merges", "number of byte-pair merges")
        self._card = Card("The text as the model sees it", "", scrolling(self._strip))
        self._card.layout_below.addWidget(self._learned)
        self._card.layout_below.addWidget(self._place)
        self.column.addWidget(self._card)
        self._learned.hide()
        self._place.value_changed.connect(session.text.choose_place)
        self._learned.value_changed.connect(lambda _: self.refresh())
        self.follow(session.text.place_changed)
        session.text.changed.connect(self._take_corpus)
        self._take_corpus()

    def refresh(self) -> None:
        corpus = self.session.text.corpus
        if corpus is None:
            return
        if self._shows_merging:
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
        ids = self._ids(corpus, PAGE)
        tokens = [corpus.tokenizer.token(int(id)) for id in ids]
        return {"ids": ids, "tokens": np.array(tokens, dtype=np.str_)}

    def recipe(self) -> str:
        from lmviz.inspection.recipes.text import merges_recipe, page_recipe, settings_of

        corpus = self.session.text.corpus
        if corpus is None or not corpus.sources:
            return ""
        source, first = (corpus.sources, settings_of(corpus)), self._page_begins
        if self._shows_merging:
            return merges_recipe(*source, first, MERGED, self._learned.value)
        return page_recipe(*source, first, PAGE)

    @property
    def _page_begins(self) -> int:
        return max(0, self.session.text.place - BEFORE)

    def _ids(self, corpus: Corpus, count: int) -> np.ndarray:
        return corpus.training[self._page_begins : self._page_begins + count]

    def _pieces(self, corpus: Corpus) -> list[str]:
        """The page as it fell into pieces when only some of the merges had been learned."""
        from lmviz.text.merges import apply_merges

        text = corpus.tokenizer.decode(self._ids(corpus, MERGED))
        return apply_merges(text, self._merges, self._learned.value)

    @property
    def _shows_merging(self) -> bool:
        return bool(self._merges) and self._learned.value < len(self._merges)

    def _take_corpus(self) -> None:
        corpus = self.session.text.corpus
        self._place.setVisible(corpus is not None)
        self._merges = []
        if corpus is None:
            self._card.set_aside("Open a text on the left")
            return
        self._card.set_aside(_summary(corpus.statistics()))
        self._place.set_range(len(corpus.training) - 1, self.session.text.place)
        if corpus.tokenizer.kind == "bpe":
            from lmviz.text.merges import bpe_merges

            self._merges = bpe_merges(corpus.tokenizer)
        self._learned.setVisible(bool(self._merges))
        self._learned.set_range(len(self._merges), len(self._merges))
        self.refresh_soon()

    def _show_page(self, corpus: Corpus) -> None:
        from lmviz.text.tokenizer import visible

        first, tokenizer, ids = self._page_begins, corpus.tokenizer, self._ids(corpus, PAGE).tolist()
        boundaries = {tokenizer.start_id, tokenizer.end_id}
        self._strip.set_tokens(
            [visible(tokenizer.token(index)) for index in ids],
            unknown=[n for n, index in enumerate(ids) if index == tokenizer.unknown_id],
            special=[n for n, index in enumerate(ids) if index in boundaries],
            tinted=True,
        )
        self._strip.set_current(self.session.text.place - first if self.session.text.place else -1)
        self._place.show_value(self.session.text.place, f"{count(first + 1)} – {count(first + len(ids))}")
        self._learned.show_value(len(self._merges), f"all {count(len(self._merges))}")

    def _show_merging(self, corpus: Corpus) -> None:
        """The page in pieces, and what the newest merge was."""
        from lmviz.text.byte_level import readable_piece
        from lmviz.text.tokenizer import visible

        learned = self._learned.value
        self._strip.set_tokens([visible(piece) for piece in self._pieces(corpus)], tinted=True)
        newest = tuple(visible(readable_piece(part)) for part in self._merges[learned - 1]) if learned else ()
        said = f"{count(learned)}: {newest[0]} + {newest[1]}" if newest else "0: single bytes"
        self._learned.show_value(learned, said)


def _summary(statistics: Statistics) -> str:
    parts = [f"{count(statistics.tokens)} tokens", f"{count(statistics.types)} types"]
    if statistics.unknown_rate:
        parts.append(f"{percentage(statistics.unknown_rate)} unknown in validation")
    return " · ".join(parts)
