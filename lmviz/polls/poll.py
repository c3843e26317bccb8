"""A poll: a question, choices A to E, and how the right one is found."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.polls.order import OrderExperiment

if TYPE_CHECKING:
    from lmviz.models.model import Model

LETTERS = "ABCDE"
DECIMALS = 4
MOST_DECIMALS = 300
"""Places before or after its point to which a number is compared; beyond them it is 0, or infinite."""
LEAD = 0.1
"""Nats by which the likeliest of several texts has to lead before a model is said to prefer it."""
PLACES = ("before", "after", "weights", "kept weights")
"""What a choice of the position poll can name in braces: see `Poll.filled`."""

_BRACED = re.compile(r"\{([^{}]*)\}")
_NUMBER = re.compile(r"[-−]?\d+(?:\.\d+)?(?:e[-−]?\d+)?")


@dataclass(frozen=True)
class PollChoice:
    """One thing to vote for."""

    letter: str
    text: str


@dataclass(frozen=True)
class Right:
    """The right choices, usually one, and what was computed to find them; none where no choice is right.

    `said_by` names the model whose opinion it is: what a model finds likeliest need not be right.
    """

    letters: tuple[str, ...]
    computed: str = ""
    said_by: str = ""

    @property
    def letter(self) -> str:
        """The right choice, where there is exactly one."""
        return self.letters[0] if len(self.letters) == 1 else ""


@dataclass(frozen=True, eq=False)
class Poll:
    """A question with its choices.

    The right choice is `right`, where whoever wrote the poll says so. Otherwise it is found: by the
    `experiment` of the position poll; as the value `value` of a network, of which `network` is the text in
    the language of Autodiff, or as the gradient of its output with respect to that value, where
    `asks_gradient`; or as the likeliest continuation of the text `likeliest_after`, which takes a model.
    `because` explains it.
    """

    title: str
    question: str
    choices: tuple[PollChoice, ...]
    because: str = ""
    right: str = ""
    experiment: OrderExperiment | None = None
    network: str = ""
    value: str = ""
    likeliest_after: str = ""
    asks_gradient: bool = False

    @property
    def needs_model(self) -> bool:
        """Whether the right choice is another for another model."""
        return bool(self.likeliest_after)

    def with_experiment(self, experiment: OrderExperiment) -> Poll:
        """The same question about other numbers."""
        return replace(self, experiment=experiment)

    @cached_property
    def filled(self) -> tuple[PollChoice, ...]:
        """The choices with numbers in the place of braces, each different one once, lettered anew.

        `{before}` and `{after}` are what the last word has before and after the exchange, `{weights}` its
        weights before, and `{kept weights}` what it would have if they stayed at their places.
        """
        experiment = self.experiment
        if experiment is None:
            return self.choices
        numbers = {
            "before": experiment.before.last,
            "after": experiment.after.last,
            "weights": experiment.before.weights[-1, -1],
            "kept weights": experiment.weights_kept,
        }
        found = []
        for choice in self.choices:
            text = choice.text
            for place, vector in numbers.items():
                text = text.replace(f"{{{place}}}", written(vector))
            found.append(text)
        different = dict.fromkeys(found)
        return tuple(PollChoice(letter, text) for letter, text in zip(LETTERS, different, strict=False))

    def find_right(self, model: Model | None = None) -> Right:
        """Compute the right choice; LmvizError where that takes a model and there is none."""
        if self.right:
            return Right((self.right,))
        if self.experiment is not None:
            return self._matching(self.experiment.after.last)
        if self.network:
            from lmviz.autodiff import read

            network = read(self.network)
            if self.asks_gradient:
                return self._matching(np.asarray(network.backward()[self.value].gradient).ravel())
            return self._matching(network.forward()[self.value].numbers.ravel())
        if model is None:
            raise LmvizError("The answer to this poll is the open model's: open a language model.")
        return self._likeliest(model)

    def _matching(self, numbers: np.ndarray) -> Right:
        """The choices whose numbers (number,) are these, to as many decimals as they are written with."""
        letters = tuple(choice.letter for choice in self.filled if is_written(numbers, choice.text))
        return Right(letters, written(numbers))

    def _likeliest(self, model: Model) -> Right:
        """The choice that makes the text most probable, with those that come within `LEAD` of it."""
        from lmviz.decoding.likelihood import text_log_probabilities

        texts = [f"{self.likeliest_after} {choice.text}" for choice in self.choices]
        scores = [text_log_probabilities(model, text).log_probability for text in texts]
        first = [
            choice.letter
            for choice, score in zip(self.choices, scores, strict=True)
            if score >= max(scores) - LEAD
        ]
        parts = (f"{choice.text} {score:z.2f}" for choice, score in zip(self.choices, scores, strict=True))
        computed = f"log-probabilities of the text: {', '.join(parts)} nats"
        return Right(tuple(first), computed, model.name or "The open model")


def written(numbers: np.ndarray) -> str:
    """Numbers (number,) to four decimals, without the zeros at their ends: "0.1, 0.2, 1.2, 0.1"."""
    figures = (f"{round(number, DECIMALS) + 0.0:.{DECIMALS}f}".rstrip("0").rstrip(".") for number in numbers)
    return ", ".join(figures).replace("-", "−")


def numbers_in(text: str) -> list[tuple[float, int]]:
    """The numbers of a text, each with how many decimals it is written with."""
    found = []
    for figure in _NUMBER.findall(text):
        mantissa, _, power = figure.replace("−", "-").partition("e")
        shift = max(-MOST_DECIMALS, min(float(power or 0), MOST_DECIMALS))
        found.append((float(figure.replace("−", "-")), len(mantissa.partition(".")[2]) - int(shift)))
    return found


def is_written(numbers: np.ndarray, text: str) -> bool:
    """Whether a text states numbers (number,): as many, each right to its last decimal."""
    stated = numbers_in(text)
    return len(stated) == len(numbers) and all(
        math.isclose(value, number, rel_tol=0, abs_tol=0.5 * 10.0**-decimals + 1e-9)
        for (value, decimals), number in zip(stated, numbers.tolist(), strict=True)
    )


def unknown_places(text: str) -> list[str]:
    """What stands in braces and is none of `PLACES`."""
    return [name for name in _BRACED.findall(text) if name not in PLACES]
