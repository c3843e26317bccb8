"""Labelled places in texts, which a probe reads: words with tags, texts with labels, lists of sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.models.model import Model
from lmviz.models.prefix import read_prefix
from lmviz.text.corpus import Corpus

MOST_TEXTS = 800
"""Texts that are read at most, drawn by a seed."""


@dataclass(frozen=True, eq=False)
class LabelledText:
    """A text as a model reads it, (token,) ids, and its labelled `places` (n,) with their `labels` (n,).

    `words` (n,) says what stands at each place, for the controls that know nothing else.
    """

    ids: np.ndarray
    places: np.ndarray
    labels: np.ndarray
    words: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class LabelledTexts:
    """Labelled texts, the names of the labels, and whether a label is of a whole text or of a word in it."""

    texts: tuple[LabelledText, ...]
    names: tuple[str, ...]
    of_texts: bool


def read_labelled(
    model: Model, given: Corpus | Mapping[str, Sequence[str]] | Sequence[str], *, seed: int = 0
) -> LabelledTexts:
    """The labelled places of a tagged or labelled corpus, or of texts by label, as a model reads them.

    A label of a text stands at its last token, one of a word at the word's last token. Texts are cut to what
    the model reads at once. LmvizError where there are no labels, or of one kind only.
    """
    if isinstance(given, Mapping):
        found = _of_lists(model, given, seed)
    elif isinstance(given, Corpus):
        found = _of_corpus(model, given, seed)
    else:
        raise LmvizError(
            f"{given!r} has no labels: give a tagged or labelled corpus, or texts by label, such as "
            '{"past": ["She went home."], "present": ["She goes home."]}.'
        )
    used = sorted({int(label) for text in found.texts for label in text.labels})
    if len(used) < 2:
        raise LmvizError("All places have the same label, so there is nothing to tell apart: give two kinds.")
    rank = {label: number for number, label in enumerate(used)}
    texts = tuple(
        LabelledText(text.ids, text.places, np.array([rank[int(label)] for label in text.labels]), text.words)
        for text in found.texts
    )
    return LabelledTexts(texts, tuple(found.names[label] for label in used), found.of_texts)


def _of_lists(model: Model, given: Mapping[str, Sequence[str]], seed: int) -> LabelledTexts:
    rows = [(text, number) for number, texts in enumerate(given.values()) for text in texts]
    order = np.random.default_rng(seed).permutation(len(rows))[:MOST_TEXTS]
    found = [_at_end(model, *rows[at]) for at in order]
    return LabelledTexts(tuple(found), tuple(map(str, given)), of_texts=True)


def _at_end(model: Model, text: str, label: int) -> LabelledText:
    prefix = read_prefix(model, text).last(model.context)
    return LabelledText(
        np.asarray(prefix.ids), np.array([len(prefix) - 1]), np.array([label]), (" ".join(prefix.tokens),)
    )


def _of_corpus(model: Model, corpus: Corpus, seed: int) -> LabelledTexts:
    examples = corpus.training_examples
    if examples is None or corpus.task not in ("tagging", "classification"):
        raise LmvizError(
            f"{corpus.name} has no labels ({corpus.task}): open a tagged or labelled text, or give texts "
            "by label."
        )
    order = np.random.default_rng(seed).permutation(len(examples))[:MOST_TEXTS]
    found = []
    for number in map(int, order):
        source, target = examples.source[number], examples.target[number]
        if corpus.task == "classification":
            found.append(_at_end(model, corpus.tokenizer.decode(source.tolist()), int(target[0])))
        elif (text := _tagged(model, corpus, source, target)) is not None:
            found.append(text)
    return LabelledTexts(tuple(found), corpus.labels, of_texts=corpus.task == "classification")


def _tagged(model: Model, corpus: Corpus, source: np.ndarray, target: np.ndarray) -> LabelledText | None:
    """A tagged sentence; None where the model finds none of its words.

    The model may cut words into pieces: a tag stands where its word ends.
    """
    words = [corpus.tokenizer.token(int(id)).strip() for id in source]
    ends, at = {}, 0
    for word, label in zip(words, target, strict=True):
        at += len(word)
        ends[at] = word, int(label)
        at += 1
    prefix = read_prefix(model, " ".join(words)).last(model.context)
    places = [place for place, (_, end) in enumerate(prefix.offsets) if end in ends]
    if not places:
        return None
    known = [ends[prefix.offsets[place][1]] for place in places]
    labels = np.array([label for _, label in known])
    return LabelledText(
        np.asarray(prefix.ids), np.array(places), labels, tuple(word.lower() for word, _ in known)
    )


OTHERS = "other words"
MOST_LOOKED_AT = 20_000
"""So many texts are looked through for marked words, drawn by a seed."""

SIDES = {"at": 0, "before": -1, "after": 1}
"""Where the state is read of a marked word: at its last token, or one token before it or after."""


def read_marked(
    model: Model, texts: Sequence[str], marked: Sequence[str], *, side: str = "at", seed: int = 0
) -> LabelledTexts:
    """The places of marked words or phrases in texts, and as many others drawn by the seed.

    A phrase stands where its last word ends. The label is the phrase, or "other words"; the state is read
    there or, by the `side`, one token "before", where it is still to come, or "after". LmvizError where
    nothing is marked, or where it is in fewer than two texts.
    """
    if not isinstance(side, str) or side not in SIDES:
        raise LmvizError(f"States are read 'at' a marked word, 'before' it or 'after' it, not {side!r}.")
    phrases = tuple(dict.fromkeys(phrase.strip() for phrase in marked if phrase.strip()))
    if not phrases:
        raise LmvizError("No word is marked: give one or several, such as ['the dog', 'cat'].")
    draw = np.random.default_rng(seed)
    found: list[LabelledText] = []
    for at in map(int, draw.permutation(len(texts))[:MOST_LOOKED_AT]):
        text = _marked(model, texts[at], phrases, SIDES[side], draw)
        if text is not None:
            found.append(text)
        if len(found) == MOST_TEXTS:
            break
    if len(found) < 2:
        raise LmvizError(
            f"{', '.join(phrases)} is marked in {len(found)} of these texts: mark words that more of them "
            "have."
        )
    return LabelledTexts(tuple(found), (*phrases, OTHERS), of_texts=False)


def _marked(
    model: Model, text: str, phrases: Sequence[str], shift: int, draw: np.random.Generator
) -> LabelledText | None:
    """A text with its marked places and as many others; None where nothing in it is marked."""
    ends: dict[int, int] = {}
    for number, phrase in enumerate(phrases):
        pattern = rf"(?<!\w){re.escape(phrase)}(?!\w)"
        ends |= {found.end(): number for found in re.finditer(pattern, text, re.IGNORECASE)}
    prefix = read_prefix(model, text).last(model.context)
    own = {place: ends[end] for place, (_, end) in enumerate(prefix.offsets) if end in ends}
    kept = {place + shift: label for place, label in own.items() if 0 <= place + shift < len(prefix)}
    rest = [place for place in range(1, len(prefix)) if place not in kept]
    if not kept or not rest:
        return None
    others = draw.choice(rest, min(len(kept), len(rest)), replace=False)
    labels = kept | {int(place): len(phrases) for place in others}
    places = sorted(labels)
    return LabelledText(
        np.asarray(prefix.ids),
        np.array(places),
        np.array([labels[place] for place in places]),
        tuple(prefix.tokens[place].strip().lower() for place in places),
    )
