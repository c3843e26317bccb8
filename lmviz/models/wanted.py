"""The id of a token, or of a label, that somebody asks about by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    from lmviz.models.prediction import Prediction
    from lmviz.text.tokenizer import Tokenizer


def wanted_id(word: str | int, predicts: Prediction, tokenizer: Tokenizer | None, vocabulary: int) -> int:
    """The id of what a model should say; LmvizError where it can say nothing such.

    `word` is a token, as it is displayed or spelled, or a label, or the id of one.
    """
    if not predicts.continues:
        names = predicts.names
        if isinstance(word, int) and 0 <= word < len(names):
            return word
        if word in names:
            return names.index(str(word))
        raise LmvizError(f"{word!r} is no label of this model: choose one of {', '.join(names)}.")
    if isinstance(word, int):
        if 0 <= word < vocabulary:
            return word
        raise LmvizError(f"Token id {word} is not in the vocabulary: choose one below {vocabulary}.")
    if tokenizer is None:
        raise LmvizError("This model has no tokenizer: give the id of the token.")
    found = tokenizer.id_of(word)
    if found is not None:
        return found
    ids = tokenizer.encode(word)
    if len(ids) == 1 and int(ids[0]) != tokenizer.unknown_id:
        return int(ids[0])
    what = "is several tokens" if len(ids) > 1 else "is not in the vocabulary"
    raise LmvizError(f"{word!r} {what}: give one token that the model can say.")
