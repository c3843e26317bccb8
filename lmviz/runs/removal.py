"""The proof: a run trained again from a snapshot without some lines, and what then becomes of a word.

Beside it as many other lines are left out, drawn at random, and nothing is. One removal with one seed is
mostly noise, so all of it is done for several seeds, each another order of the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.families import find_family
from lmviz.models.interruption import look_up

if TYPE_CHECKING:
    from lmviz.origins.learned_text import LearnedText
    from lmviz.origins.products import AskedToken
    from lmviz.text.corpus import Corpus
    from lmviz.training.learner import GradientLearner
    from lmviz.training.run import Run

SEEDS = (0, 1)
ARMS = ("with all lines", "without these lines", "without other lines")


@dataclass(frozen=True, eq=False)
class Removal:
    """What became of a word's log-probability, in nats, by arm and seed: (arm, seed), NaN where not known.

    The arms are ARMS. `lines` were left out, of `of`; training went from step `step` to `until`. `begun_anew`
    says what the snapshot did not keep, in sentences.
    """

    log_probabilities: np.ndarray
    seeds: tuple[int, ...]
    lines: tuple[int, ...]
    of: int
    step: int
    until: int
    begun_anew: tuple[str, ...] = ()

    @property
    def lost(self) -> np.ndarray:
        """By how many nats the word has become less likely without the lines, (seed,)."""
        return self.log_probabilities[0] - self.log_probabilities[1]

    @property
    def lost_at_random(self) -> np.ndarray:
        """The same without as many lines drawn at random, (seed,)."""
        return self.log_probabilities[0] - self.log_probabilities[2]

    @property
    def done(self) -> bool:
        """Whether all arms have been trained."""
        return not np.isnan(self.log_probabilities).any()


def targets_of(text: LearnedText, lines: Sequence[int]) -> np.ndarray:
    """Which targets (target,) are of some lines, by their numbers."""
    mask = np.zeros(len(text.wanted), dtype=bool)
    for line in lines:
        start, stop = text.line_starts[line : line + 2].tolist()
        mask[start:stop] = True
    return mask


def other_lines(text: LearnedText, lines: Sequence[int], seed: int) -> tuple[int, ...]:
    """As many other lines, drawn at random."""
    rest = np.setdiff1d(np.arange(len(text.line_starts) - 1), np.asarray(lines))
    drawn = np.random.default_rng(seed).permutation(rest)[: len(lines)]
    return tuple(drawn.tolist())


def trained_again(
    run: Run,
    corpus: Corpus,
    left_out: np.ndarray | None,
    *,
    step: int,
    until: int,
    seed: int | None = None,
) -> tuple[GradientLearner, tuple[str, ...]]:
    """What trains a run on from a snapshot without some targets (target,), and what began anew.

    The learning rate is that of the run's schedule. LmvizError for a model that counts, and where there is
    no such snapshot.
    """
    from lmviz.runs.forking import carried_state
    from lmviz.runs.preparation import untrained
    from lmviz.training.devices import choose_device
    from lmviz.training.distributed import Team
    from lmviz.training.learner import GradientLearner

    description = run.description
    if find_family(description.family).counts:
        raise LmvizError("This model counts its text: its counts say exactly what each line gave.")
    options = description.options
    if seed is not None:
        options = replace(options, seed=seed)
    if not step < until <= options.steps:
        raise LmvizError(f"From step {step:,} nothing can be trained to step {until:,}: choose a later one.")
    model = untrained(description)
    state = carried_state(run, step, model, replace(options, seed=description.seed))
    training = corpus.training if corpus.training_examples is None else corpus.training_examples
    learner = GradientLearner(
        model,
        training,
        options,
        ignored_target=corpus.tokenizer.start_id if corpus.marks_boundaries else None,
        device=choose_device(options.device),
        team=Team(),
        left_out=left_out,
    )
    tensors, values, anew = state
    learner.load_state(tensors, values)
    return learner, anew


def train_to(learner: GradientLearner, run: Run, until: int) -> Iterator[int]:
    """Make the updates up to a step, each at the rate of the run's schedule; yields the steps."""
    from lmviz.training.schedules import learning_rate

    options = run.description.options
    while learner.step < until:
        look_up()
        learner.update(learning_rate(learner.step + 1, options))
        yield learner.step


def remove(
    run: Run,
    corpus: Corpus,
    text: LearnedText,
    asked: AskedToken,
    lines: Sequence[int],
    *,
    step: int,
    until: int,
    seeds: Sequence[int] = SEEDS,
) -> Iterator[tuple[Removal, float]]:
    """Measure what lines gave a word: answers that grow, each with the share of the work that is done."""
    from lmviz.origins.products import log_probability

    if not len(lines):
        raise LmvizError("There is no line to leave out: choose some.")
    found = Removal(
        np.full((len(ARMS), len(seeds)), np.nan),
        tuple(seeds),
        tuple(lines),
        len(text.line_starts) - 1,
        step,
        until,
    )
    whole, done = len(ARMS) * len(seeds) * (until - step), 0
    yield found, 0.0
    for number, seed in enumerate(seeds):
        without = targets_of(text, lines), targets_of(text, other_lines(text, lines, seed))
        for arm, left_out in enumerate((None, *without)):
            learner, anew = trained_again(run, corpus, left_out, step=step, until=until, seed=seed)
            for _ in train_to(learner, run, until):
                done += 1
                yield found, done / whole
            measured = found.log_probabilities.copy()
            measured[arm, number] = log_probability(learner.model, asked)
            found = replace(found, log_probabilities=measured, begun_anew=anew)
            yield found, done / whole
