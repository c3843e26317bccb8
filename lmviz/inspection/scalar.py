"""The number that gradients are taken of: a loss, a logit, a probability, or any cell."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.inspection.indices import cell, from_start
from lmviz.inspection.measures import Measure, ModelAnswer, WordSum, name_of
from lmviz.inspection.scalar_words import answers_in, scalar_in_words, split_at_place
from lmviz.models.address import with_heads
from lmviz.models.other_names import hint
from lmviz.text.tokenizer import unseen

if TYPE_CHECKING:
    from lmviz.inspection.intervention import Intervention
    from lmviz.models.model import Model
    from lmviz.models.prediction import Prediction
    from lmviz.models.tap import Tap

Of = str | tuple[str, Sequence[int]]
"""How a number is chosen: "loss", "loss@3", "logit:night@4", "probability:night@4", or an address and an
index.

"logit:night-day@4" is the logit of one word minus that of another, and so with probabilities.
Positions count from 0, and negative ones from the end; a word without one is meant after the last token. Of
a model of labels a label stands in the place of the word, "loss:verb@2" is that of a label which the text
itself does not give, and where the whole text has one label there is no position: "probability:good"."""

AnyOf = Of | WordSum | Measure
"""A number chosen so, or a set of words, or a function of the answer (`lmviz.inspection.measures`)."""

TAPS = {"logit": "logits", "probability": "probabilities"}

SMALLEST = torch.finfo(torch.float32).tiny
"""Of a smaller probability float32 holds neither 1/p nor, below 1e−45, p itself."""


@dataclass(frozen=True)
class Scalar:
    """One number that a model computes from a text.

    `name` states it, as in "loss@3", and `said` says it in words. It is the cell of the tap at `address`,
    minus the one that it is held `against` where there is one; or with `is_loss` the sum of −ln of all
    `cells` in nats. A loss whose `address` is "logits" takes their softmax itself. With a `function` it is
    what that gives, of the taps that it `reads`.
    """

    name: str
    address: str
    cells: tuple[tuple[int, ...], ...]
    is_loss: bool = False
    against: tuple[tuple[int, ...], ...] = ()
    said: str = ""
    function: Measure | None = None
    reads: tuple[str, ...] = ()

    @property
    def addresses(self) -> tuple[str, ...]:
        """The taps that it is computed from."""
        if self.function is not None:
            return self.reads
        return ("logits", "probabilities") if self.is_loss else (self.address,)

    def check_is_cells(self, why: str) -> None:
        """LmvizError where it is a function of one's own, with what that cannot be used for."""
        if self.function is not None:
            raise LmvizError(f"{self.name} is a function of the answer, {why}: choose a logit or a loss.")

    def numbers(
        self,
        values: Mapping[str, torch.Tensor],
        unchanged: Callable[[], Mapping[str, torch.Tensor]] | None = None,
    ) -> torch.Tensor:
        """The number for each row of the batch, (batch,), from the values of its taps (batch, *axes)."""
        if self.function is None:
            return self.compute(values[self.address])
        rows = max(values[address].shape[0] for address in self.reads)
        return torch.stack(
            [_number(self.function, ModelAnswer(values, row, unchanged), self.name) for row in range(rows)]
        )

    def compute(self, value: torch.Tensor) -> torch.Tensor:
        """The number for each row of the batch, (batch,), from the tap's value (batch, *axes)."""
        chosen = (slice(None), *np.array(self.cells).T)
        if not self.is_loss:
            number = value[chosen].sum(dim=1)
            return (
                number - value[(slice(None), *np.array(self.against).T)].sum(dim=1)
                if self.against
                else number
            )
        if self.address == "logits":
            return -value.log_softmax(dim=-1)[chosen].sum(dim=1)
        return -value[chosen].log().sum(dim=1)


def read_scalar(of: AnyOf, model: Model, ids: np.ndarray, values: Mapping[str, torch.Tensor]) -> Scalar:
    """What `of` states, for a text of ids (position,) and taps with values (batch, *axes).

    LmvizError where there is no such number in the text or in the model.
    """
    if isinstance(of, WordSum):
        return _of_words(of, model, ids)
    if not isinstance(of, str | tuple | list) and callable(of):
        return _of_function(of, values)
    scalar = _read(of, model, ids, values)
    if not isinstance(of, str):
        return dataclasses.replace(scalar, said=scalar.name)
    names = model.predicts.names
    tokens = [str(id) if model.tokenizer is None else model.tokenizer.token(int(id)) for id in ids]
    is_answer = partial(_is_token, model) if model.predicts.continues else names.__contains__
    return dataclasses.replace(scalar, said=scalar_in_words(scalar.name, tokens, is_answer))


def _read(of: Of, model: Model, ids: np.ndarray, values: Mapping[str, torch.Tensor]) -> Scalar:
    if not isinstance(of, str):
        address, index = _parts(of)
        address = with_heads(address)
        return _any_cell(address, index, {tap.address: tap for tap in model.taps()}, values)
    if not model.predicts.continues:
        return _of_label(of, model.predicts, len(ids))
    if of.partition("@")[0] == "loss":
        return _loss(of, of.partition("@")[2], model, ids)
    stated, place = split_at_place(of)
    start, colon, words = stated.partition(":")
    if not colon or start not in TAPS:
        raise LmvizError(
            f"There is no number {of!r}: choose 'loss', 'loss@3', 'logit:WORD@4', 'logit:WORD-OTHER@4', "
            "'probability:WORD@4', or an address and an index, such as ('layers/0/hidden', (3, 17))."
        )
    position = from_start("position", _whole(of, place), len(ids))
    tokens = _one_or_two(words, partial(token_named, model), lambda: _no_token(model, words))
    cells = [((position, token),) for token in tokens]
    return Scalar(f"{stated}@{position}", TAPS[start], cells[0], against=cells[1] if len(cells) > 1 else ())


def _of_words(of: WordSum, model: Model, ids: np.ndarray) -> Scalar:
    """A number of a set of words, or of labels."""
    named: Callable[[str], int | None] = partial(token_named, model)
    if not model.predicts.continues:
        named = dict(zip(model.predicts.names, count())).get
    found: list[tuple[int, ...]] = []
    for side in (of.words, of.against):
        known = [named(word) for word in side]
        if None in known:
            word = side[known.index(None)]
            raise (
                _no_token(model, word)
                if model.predicts.continues
                else LmvizError(f"{word!r} is no label: choose among {', '.join(model.predicts.names)}.")
            )
        found.append(tuple(index for index in known if index is not None))
    place: tuple[int, ...] = ()
    if model.predicts.continues or model.predicts.per != "text":
        place = (from_start("position", of.position, len(ids)),)
    cells, against = (tuple((*place, index) for index in side) for side in found)
    name = f"{of.name}@{place[0]}" if place else of.name
    return Scalar(name, TAPS[of.of], cells, against=against, said=name)


def _of_function(of: Measure, values: Mapping[str, torch.Tensor]) -> Scalar:
    """What a function of the answer gives; it is tried once, to see what it reads."""
    noted: set[str] = set()
    name = name_of(of)
    number = _number(of, ModelAnswer(values, 0, None, noted), name)
    if not torch.isfinite(number):
        value = float(number.detach())
        raise LmvizError(f"{name} is {value} for this text, so nothing can be held against it.")
    if not noted:
        raise LmvizError(f"{name} reads nothing of the answer: use answer.logits or answer['ADDRESS'].")
    reads = tuple(address for address in values if address in noted)
    return Scalar(name, reads[-1], (), said=name, function=of, reads=reads)


def _number(of: Measure, answer: ModelAnswer, name: str) -> torch.Tensor:
    """What a measure of one's own gives, as a tensor of one number; LmvizError where it gives no number."""
    given = of(answer)
    try:
        number = torch.as_tensor(given)
        if number.numel() == 1:
            return number.reshape(())
    except (TypeError, ValueError, RuntimeError):
        pass
    shape = tuple(getattr(given, "shape", ()))
    raise LmvizError(
        f"{name} gave {type(given).__name__}{f' of shape {shape}' if shape else ''} instead of one number: "
        "let it return a number."
    )


def _parts(of: tuple[str, Sequence[int]]) -> tuple[str, Sequence[int]]:
    """The address and the index of a cell."""
    if not isinstance(of, tuple | list) or len(of) != 2 or not isinstance(of[0], str):
        raise LmvizError(
            f"{of!r} names no number: give one such as 'loss' or 'loss@3', or an address and an index, such "
            "as ('layers/0/hidden', (3, 17))."
        )
    return of[0], of[1]


def in_range(
    scalar: Scalar, values: Mapping[str, torch.Tensor], interventions: Sequence[Intervention]
) -> Scalar:
    """The same number, where a loss would be infinite, or its slope, only because float32 ends.

    −ln p of a very unlikely token is a number all the same, read off the logits. Then nothing goes back
    through the probabilities, and their gradient is 0. What an intervention has put there stays.
    """
    if not scalar.is_loss:
        return scalar
    probabilities = values["probabilities"][(slice(None), *np.array(scalar.cells).T)]
    leaves = leaves_float32(probabilities, interventions)
    return dataclasses.replace(scalar, address="logits") if leaves else scalar


def leaves_float32(probabilities: torch.Tensor, interventions: Sequence[Intervention]) -> bool:
    """Whether one of these is so small that −1/p is none, and no intervention made it so."""
    is_changed = any(item.concerns("probabilities") for item in interventions)
    return not is_changed and bool(probabilities.min() < SMALLEST)


def addresses_in(of: AnyOf) -> tuple[str, ...]:
    """The address of the cell that `of` states, if it is one."""
    if not isinstance(of, tuple | list):
        return ()
    return (with_heads(_parts(of)[0]),)


def _of_label(of: str, predicts: Prediction, positions: int) -> Scalar:
    """A number of a label; LmvizError where none is named, as the text does not say what its labels are."""
    is_of_text = predicts.per == "text"
    stated, place = (of, "") if is_of_text else split_at_place(of)
    kind, colon, label = stated.partition(":")
    taps = TAPS | {"loss": "probabilities"}

    def unknown() -> LmvizError:
        ending = "" if is_of_text else "@2"
        return LmvizError(
            f"There is no number {of!r}: choose 'loss:LABEL{ending}', 'logit:LABEL{ending}' or "
            f"'probability:LABEL{ending}', where LABEL is one of {', '.join(predicts.names)}, or an address "
            "and an index."
        )

    if not colon or kind not in taps:
        raise unknown()
    found = _one_or_two(label, dict(zip(predicts.names, count())).get, unknown)
    if len(found) > 1 and kind == "loss":
        raise unknown()
    index: tuple[tuple[int, ...], ...] = tuple((number,) for number in found)
    if not is_of_text:
        position = from_start("position", _whole(of, place), positions)
        index, stated = tuple((position, *place) for place in index), f"{stated}@{position}"
    return Scalar(stated, taps[kind], index[:1], is_loss=kind == "loss", against=index[1:])


def _one_or_two(
    words: str, known: Callable[[str], int | None], unknown: Callable[[], LmvizError]
) -> tuple[int, ...]:
    """The id of what is named, or of two with a minus between them; a name may have a minus itself."""
    found = [known(word) for word in answers_in(words, lambda word: known(word) is not None)]
    if not found:
        raise unknown()
    return tuple(index for index in found if index is not None)


def targets_of(model: Model, ids: np.ndarray) -> list[int]:
    """The positions of the tokens that the text gives as targets: all that follow another, but START.

    LmvizError where there are none, and for a model that predicts labels.
    """
    if not model.predicts.continues:
        raise LmvizError(
            "This model predicts labels, which the text itself does not give: choose the number of a label."
        )
    start = model.tokenizer.start_id if model.tokenizer is not None else None
    targets = [place for place in range(1, len(ids)) if ids[place] != start]
    if not targets:
        raise LmvizError("The text has no token that follows another, so no loss: give at least two tokens.")
    return targets


def _loss(of: str, place: str, model: Model, ids: np.ndarray) -> Scalar:
    targets = targets_of(model, ids)
    if place:
        target = from_start("token", _whole(of, place), len(ids))
        if target not in targets:
            raise LmvizError(
                f"Token {target} is not predicted, as it is at the beginning: choose one of "
                f"{targets[0]} to {targets[-1]}."
            )
        targets, of = [target], f"loss@{target}"
    cells = tuple((target - 1, int(ids[target])) for target in targets)
    return Scalar(of, "probabilities", cells, is_loss=True)


def _any_cell(
    address: str, index: Sequence[int], taps: Mapping[str, Tap], values: Mapping[str, torch.Tensor]
) -> Scalar:
    if address not in taps:
        raise LmvizError(f"No tap is called {address!r}: {hint(address, taps)}")
    found = cell(taps[address].axes, index, values[address].shape[1:])
    return Scalar(f"{address}[{', '.join(map(str, found))}]", address, (found,))


def _whole(of: str, place: str) -> int:
    try:
        return int(place)
    except ValueError:
        raise LmvizError(f"{of!r} names no position: write it as a whole number after @.") from None


def token_named(model: Model, word: str) -> int | None:
    """The id of a word: as it is displayed, as the vocabulary spells it, or as a text would have it.

    White space may be written with the signs that show it. Where there is no tokenizer, ids are all that
    tokens are called.
    """
    tokenizer = model.tokenizer
    if tokenizer is None:
        return int(word) if word.isdecimal() and int(word) < model.vocabulary_size else None
    index = tokenizer.id_of(word)
    if index is not None:
        return index
    for text in (word, f" {word}") if word else ():
        ids = tokenizer.encode(text)
        if len(ids) == 1 and ids[0] != tokenizer.unknown_id:
            return int(ids[0])
    return token_named(model, unseen(word)) if unseen(word) != word else None


def _is_token(model: Model, word: str) -> bool:
    return token_named(model, word) is not None


def _no_token(model: Model, words: str) -> LmvizError:
    if model.tokenizer is None:
        return LmvizError(
            "This model has no tokenizer, so it knows no words: give a token's id instead of the word, "
            "or a cell, such as ('logits', (4, 17))."
        )
    several = "" if "-" not in words else ", nor two of them with a minus between"
    return LmvizError(
        f"{words!r} is not a single token of the model's vocabulary{several}: choose another word."
    )
