"""How corpora, sets of texts and tokenizers look."""

from __future__ import annotations

from lmviz.base.figures import counted
from lmviz.looks.look import Look
from lmviz.looks.parts import LookPart, Table
from lmviz.showing.pieces import MOST, counts, figures, shares, texts
from lmviz.text.corpus import Corpus
from lmviz.text.text_set import TextSet
from lmviz.text.tokenizer import Tokenizer, visible

COMMONEST = 12
COUNTED = 20_000_000
"""In a text of more tokens the commonest are not counted only to be shown."""


def look_of_corpus(corpus: Corpus) -> Look:
    """How the text was read, its parts, and its commonest tokens."""
    labels = ", ".join(corpus.labels[:12])
    said = [
        ("read as", corpus.recognised.rstrip(".")),
        ("training", _part(len(corpus.training), len(corpus.training_documents))),
        ("validation", _part(len(corpus.validation), len(corpus.validation_documents))),
        ("tokenizer", f"{corpus.tokenizer.kind}, {counted(corpus.tokenizer.vocabulary_size, 'token')}"),
        ("labels", labels or None),
        ("left out", counted(len(corpus.complaints), "line") if corpus.complaints else None),
    ]
    parts: list[LookPart] = [figures(said)]
    if 0 < len(corpus.training) <= COUNTED:
        found = corpus.statistics()
        ranked = found.by_rank[:COMMONEST]
        parts.append(
            Table(
                "commonest",
                columns=[
                    texts(
                        "commonest token",
                        (visible(corpus.tokenizer.token(int(id))) for id in ranked),
                        tokens=True,
                    ),
                    counts("times", found.counts[ranked]),
                    shares("share", found.rank_share[:COMMONEST], bar=True),
                ],
            )
        )
    return Look(parts, title=f"Corpus {corpus.name}", aside=f"task {corpus.task}")


def look_of_set(found: TextSet) -> Look:
    """The first rows."""
    rows = found.rows[:MOST]
    columns = [counts("row", range(len(rows))), texts("text", (row.text for row in rows))]
    for name in ("changed", "wanted", "other", "label"):
        if any(getattr(row, name) for row in rows):
            columns.append(texts(name, (getattr(row, name) or "" for row in rows)))
    named = f" from {found.name}" if found.name else ""
    return Look((Table("rows", columns=columns),), title=f"{counted(len(found), 'text')}{named}")


def look_of_tokenizer(tokenizer: Tokenizer) -> Look:
    """What kind it is, and its special tokens."""
    special = [
        (name, tokenizer.token(id))
        for name, id in (
            ("start", tokenizer.start_id),
            ("end", tokenizer.end_id),
            ("unknown", tokenizer.unknown_id),
            ("padding", tokenizer.padding_id),
        )
        if id is not None
    ]
    return Look(
        (figures(special),) if special else (),
        title=f"Tokenizer of {tokenizer.kind}: {counted(tokenizer.vocabulary_size, 'token')}",
    )


def _part(tokens: int, documents: int) -> str:
    return f"{counted(tokens, 'token')} in {counted(documents, 'document')}"


LOOKS = {
    Corpus: look_of_corpus,
    TextSet: look_of_set,
    Tokenizer: look_of_tokenizer,
}
"""How each kind of result looks, by its class."""
