"""A file as a language model reads it to be judged: recognised as for training, and all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.models.model import EVERY_LINE, Model
from lmviz.text.answers import holds_answers, load_answers
from lmviz.text.contents import read_lines
from lmviz.text.corpus import load_corpus
from lmviz.text.encodings import RECOGNISED
from lmviz.text.forms import PLAIN

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus

Files = str | Path | Sequence[str | Path]
"""A file, several, a folder, or a corpus of the catalogue by its name."""

NONE: Mapping[str, Any] = {}


def text_in(model: Model, source: Files, settings: Mapping[str, Any] = NONE) -> Corpus:
    """The texts of a file, with nothing held out: of a table or of JSON its column of texts.

    A model with a template for chats reads chats by it, of which the answers alone count. `settings` say how
    the file is written, as for `lmviz.load_corpus`. LmvizError where it cannot be read, or where it is not
    clear which column has the texts.
    """
    tokenizer = model.tokenizer_needed()
    if (
        tokenizer.chat_template is not None
        and not settings
        and isinstance(source, str | Path)
        and holds_answers(source)
    ):
        return load_answers(source, tokenizer, validation=0.0)
    return load_corpus(
        source,
        tokenizer,
        texts_alone=True,
        documents="file" if model.documents == EVERY_LINE else model.documents,
        validation=0.0,
        **settings,
    )


def lines_in(text: Corpus, source: Files) -> str:
    """The same as lines: of plain text those that stand in the file, with their carriage returns."""
    if text.options.form in (RECOGNISED, PLAIN):
        return read_lines(source, text.options.encoding)
    return "".join(f"{document}\n" for document in text.training_documents)
