"""Learns a dictionary from texts: states are read within a stated memory, mixed, and learned from."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass

import torch

from lmviz.base.errors import LmvizError
from lmviz.features.dictionary import Dictionary
from lmviz.features.folder import FeatureFolder, Learning, read_learning
from lmviz.features.history import FeatureHistory, FeatureProgress
from lmviz.features.judging import judged, mean_loss
from lmviz.features.learner import DictionaryLearner
from lmviz.features.memory_taken import MEGABYTE, NUMBER, counted_bytes
from lmviz.features.places import States, default_tap, feedforward_taps, state_tap
from lmviz.features.recipe import FeatureRecipe
from lmviz.features.texts import FeatureTexts, ReadText
from lmviz.models.interruption import look_up, uncounted_work
from lmviz.models.model import Model

TOLD = 100
"""So often it is said how far the training is."""

JUDGED, JUDGED_ROWS = 10, 24
"""So often it is judged on the way, on so many of the held-out rows."""

REPORT_EVERY = 0.1
"""Seconds."""


def chosen_taps(model: Model, recipe: FeatureRecipe, tap: str | None) -> tuple[str, str]:
    """What is read, and what is written if that is something else, else ""; LmvizError as of `state_tap`."""
    if recipe.transcoder:
        return feedforward_taps(model, tap or _last_feedforward(model))
    return state_tap(model, tap or default_tap(model)).address, ""


def _last_feedforward(model: Model) -> str:
    found = [one.address for one in model.taps() if one.address.endswith("feedforward/output")]
    if not found:
        raise LmvizError(
            f"{model.name or 'This model'} has no feed-forward network that a transcoder could stand for: "
            "leave transcoder out."
        )
    return found[len(found) // 2 if len(found) > 2 else -1]


def fingerprint(texts: FeatureTexts) -> int:
    """A number that follows from all ids that are learned from."""
    found = 0
    for row in texts.learned:
        found = zlib.crc32(row.ids.tobytes(), found)
        found = found if row.source is None else zlib.crc32(row.source.tobytes(), found)
    return found


def learn_features(
    model: Model,
    texts: FeatureTexts,
    recipe: FeatureRecipe,
    tap: str | None = None,
    *,
    folder: FeatureFolder | None = None,
    resume: bool = False,
    overwrite: bool = False,
    is_enough: Callable[[], bool] = lambda: False,
) -> Generator[FeatureProgress, None, Dictionary]:
    """A dictionary learned on more and more states; what is returned in the end is judged on held-out text.

    In a folder, snapshots are kept, and a training that ends before its time can go on bit for bit, with
    `resume`, from the same texts. Once `is_enough` says so, what was learned so far is the result.
    LmvizError where there is no such tap, where the folder is another's, and where the machine has not the
    memory.
    """
    read, written = chosen_taps(model, recipe, tap)
    states = States.at(model, read, *([written] if written else []))
    counted_bytes(model, recipe, states.widths())
    learning = Learning(recipe, read, written, fingerprint(texts), model.name, model.step)
    rounds = _Rounds(states, texts.learned, recipe)
    history, learner = FeatureHistory(), None
    if folder is not None and resume and folder.can_go_on:
        history, learner = _gone_on_with(folder, learning, rounds)
    elif folder is not None:
        folder.begin(learning, overwrite=overwrite)
    training = _Training(model, texts, learning, rounds, history, learner, folder)
    try:
        yield from training.run(is_enough)
    finally:
        training.write_state()
    return training.finished()


def _gone_on_with(
    folder: FeatureFolder, learning: Learning, rounds: _Rounds
) -> tuple[FeatureHistory, DictionaryLearner]:
    before, history = read_learning(folder.path)
    if before != learning:
        raise LmvizError(
            f"{folder.path} holds features of another recipe, model or text: go on with the same, or "
            "begin anew in another folder."
        )
    state = folder.read_state()
    learner = DictionaryLearner.from_state(learning.recipe, state, rounds.device)
    if "round" not in state:
        raise LmvizError(f"{folder.path} does not say where the training stopped: find the features anew.")
    rounds.number, rounds.first = state["round"].tolist()
    return history, learner


class _Rounds:
    """States in a mixed order, read round after round: as many at once as the memory takes.

    Which states make a batch follows from the seed, the number of the round and the place in it, so that a
    training can go on in the middle.
    """

    def __init__(self, states: States, rows: Sequence[ReadText], recipe: FeatureRecipe) -> None:
        self._states, self._recipe = states, recipe
        parameter = next(states.model.parameters(), None)
        self.device = torch.device("cpu") if parameter is None else parameter.device
        room = recipe.memory * MEGABYTE // (NUMBER * sum(states.widths()))
        self._parts: list[list[ReadText]] = [[]]
        count = 0
        for row in rows:
            if count and count + states.count(row) > room:
                self._parts.append([])
                count = 0
            self._parts[-1].append(row)
            count += states.count(row)
        self.number = self.first = 0
        self._read: tuple[int, tuple[torch.Tensor, ...]] | None = None
        self._order: tuple[int, torch.Tensor] | None = None

    def read(self) -> Iterator[float]:
        """Read the states of the round under way, unless they are known; the share that is read so far."""
        part = self.number % len(self._parts)
        if self._read is not None and self._read[0] == part:
            return
        self._read = None
        rows = self._parts[part]
        found, done = [], 0
        for batch in self._states.batches(rows):
            look_up()
            with uncounted_work():
                found.append(self._states.read([rows[number] for number in batch]))
            done += len(batch)
            yield done / len(rows)
        # clones, because what was read in inference mode cannot be learned from
        self._read = part, tuple(torch.cat(some).clone() for some in zip(*found, strict=True))

    @property
    def states(self) -> tuple[torch.Tensor, ...]:
        """The states of the round under way, (state, channel) at each tap."""
        assert self._read is not None, "the round was read"
        return self._read[1]

    def batch(self) -> tuple[torch.Tensor, ...]:
        """The next states to learn from."""
        count = len(self.states[0])
        if self._order is None or self._order[0] != self.number:
            drawn = torch.Generator().manual_seed(self._recipe.seed * 1_000_003 + self.number)
            self._order = self.number, torch.randperm(count, generator=drawn).to(self.device)
        size = min(self._recipe.batch, count)
        chosen = self._order[1][self.first : self.first + size]
        self.first += size
        if self.first + size > count:  # what is left over is read in the next round again
            self.number, self.first = self.number + 1, 0
        return tuple(states[chosen] for states in self.states)


@dataclass
class _Training:
    """One training of a dictionary under way."""

    model: Model
    texts: FeatureTexts
    learning: Learning
    rounds: _Rounds
    history: FeatureHistory
    learner: DictionaryLearner | None
    folder: FeatureFolder | None
    is_whole: bool = True
    speed: float | None = None

    def run(self, is_enough: Callable[[], bool]) -> Iterator[FeatureProgress]:
        steps = self.learning.recipe.steps
        began, at_first = time.monotonic(), None
        told_every, judged_every = max(1, steps // TOLD), max(1, steps // JUDGED)
        said = 0.0
        while self.learner is None or (self.learner.step < steps and not is_enough()):
            for share in self.rounds.read():
                if time.monotonic() - said > REPORT_EVERY:
                    said = time.monotonic()
                    yield self._progress(reading=share)
            if self.learner is None:
                self.learner = self._first()
            if at_first is None:
                began, at_first = time.monotonic(), self.learner.seen
            look_up(self.learner.step / (steps + 1))
            self.is_whole = False
            self.learner.learn(*self.rounds.batch())
            self.is_whole = True
            step = self.learner.step
            if step % judged_every == 0 or step == steps:
                self._keep()
            if step % told_every == 0 or step == steps:
                self._note()
                self.speed = (self.learner.seen - at_first) / max(time.monotonic() - began, 1e-9)
                yield self._progress()

    def _first(self) -> DictionaryLearner:
        """The learner at its beginning: the mean and the scale are those of the first round."""
        found = []
        for states in self.rounds.states:
            mean = states.mean(0)
            scale = float((states - mean).square().mean().sqrt())
            if not scale > 0:
                raise LmvizError(
                    "The states there are all the same, so there are no features in them: choose another tap."
                )
            found.append((mean, scale))
        return DictionaryLearner(self.learning.recipe, *found[0], found[1] if len(found) > 1 else None)

    def _progress(self, reading: float | None = None) -> FeatureProgress:
        step = 0 if self.learner is None else self.learner.step
        steps = self.learning.recipe.steps
        return FeatureProgress(step, steps, self.history.copy(), reading, self.speed)

    def _dictionary(self) -> Dictionary:
        assert self.learner is not None, "a first round was read"
        learning = self.learning
        return self.learner.dictionary(
            learning.tap, learning.written, model=learning.model, step=learning.step
        )

    def _note(self) -> None:
        assert self.learner is not None, "a step was made"
        learner = self.learner
        self.history.rows.append(
            (
                learner.step,
                learner.seen,
                1 - float(learner.unexplained),
                float(learner.active),
                int((~learner.dead).sum()),
            )
        )

    def _keep(self) -> None:
        """Judge it on some of the held-out text, and keep it as it is."""
        assert self.learner is not None, "a step was made"
        dictionary, step = self._dictionary(), self.learner.step
        if self.model.predicts.continues:
            rows = self.texts.held_out[:JUDGED_ROWS]
            if self.history.judged:
                own, mean = self.history.judged[0][1], self.history.judged[0][3]
                coding = dictionary.coding(self.rounds.device)
                kept = mean_loss(self.model, rows, dictionary, coding.reconstructed)
                self.history.judged.append((step, own, kept, mean))
            else:
                worth = judged(self.model, dictionary, rows).worth
                assert worth is not None, "it was judged"
                self.history.judged.append(
                    (
                        step,
                        *(
                            float(loss or 0)
                            for loss in (worth.loss, worth.loss_reconstructed, worth.loss_mean)
                        ),
                    )
                )
        if self.folder is not None:
            self.folder.keep(dictionary, step)
            self.write_state()

    def write_state(self) -> None:
        """Write what the training goes on from, unless it is finished or in the middle of a step."""
        if self.folder is None or self.learner is None or not self.is_whole:
            return
        if self.folder.is_finished:
            return
        state = self.learner.state()
        state["round"] = torch.tensor([self.rounds.number, self.rounds.first])
        self.folder.write_state(state)
        self.folder.note(self.learning, self.history)

    def finished(self) -> Dictionary:
        """What was learned, judged on all the held-out text, and written."""
        found = judged(self.model, self._dictionary(), self.texts.held_out)
        if self.folder is not None:
            self.folder.note(self.learning, self.history)
            self.folder.finish(found)
        return found
