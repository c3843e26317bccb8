"""Training taggers and translators against plain PyTorch loops on the same padded batches.

Ours is the whole training, as in benchmarks/training.py. What is counted are the targets, tags or tokens,
that are learned from in a second; padding is none.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from benchmarks.rows import Measured, Row, interleave
from lmviz.families import build_model, find_family, learner_of
from lmviz.models.model import IGNORED
from lmviz.models.prediction import NEXT_TOKEN, Prediction
from lmviz.text.examples import Examples, Sequences
from lmviz.training.batches import Batch
from lmviz.training.batching import Sentences, with_sentences
from lmviz.training.description import RunDescription
from lmviz.training.distributed import Team
from lmviz.training.options import TrainingOptions
from lmviz.training.pieces import pieces_of_examples
from lmviz.training.run import Run

ROUNDS, STEPS, BATCH = 8, 12, 32
SENTENCES, SHORTEST, LONGEST = 4000, 5, 30
VOCABULARY, LABELS, WIDTH, LAYERS = 2000, 17, 128, 2
START, END = 0, 1

Training = Generator[int, None, None]
"""The targets of each step."""


def _examples(*, tags: bool) -> Examples:
    """Random sentences with tags, or in pairs."""
    chance = np.random.default_rng(0)
    lengths = chance.integers(SHORTEST, LONGEST + 1, SENTENCES)
    sources = [chance.integers(2, VOCABULARY, length).tolist() for length in lengths]
    if tags:
        targets = [chance.integers(LABELS, size=length).tolist() for length in lengths]
        return Examples(Sequences.of(sources, VOCABULARY), Sequences.of(targets, LABELS))
    targets = [[START, *chance.integers(2, VOCABULARY, length).tolist(), END] for length in lengths]
    ended = [[*source, END] for source in sources]
    return Examples(Sequences.of(ended, VOCABULARY), Sequences.of(targets, VOCABULARY))


_TAGS = Prediction("label", tuple(map(str, range(LABELS))), "position")


def _batches(examples: Examples, predicts: Prediction) -> Sentences:
    pieces = pieces_of_examples(examples, predicts, None)
    return Sentences(pieces, with_sentences(TrainingOptions(batch=BATCH)), Team())


def _ours(family: str, settings: dict[str, Any], examples: Examples, predicts: Prediction) -> Training:
    """Our training, which makes its batches itself."""
    options = with_sentences(TrainingOptions(steps=1_000_000, batch=BATCH, validate_every=0))
    configuration = find_family(family).configuration(**settings)
    translates = predicts is NEXT_TOKEN
    model = build_model(
        family, configuration, VOCABULARY, 0, predicts, source_vocabulary=VOCABULARY if translates else None
    )
    counted = _batches(examples, predicts)
    with tempfile.TemporaryDirectory() as folder:
        description = RunDescription(
            name=family,
            family=family,
            configuration=configuration.to_values(),
            vocabulary_size=VOCABULARY,
            source_vocabulary_size=VOCABULARY if translates else None,
            task="translation" if translates else "tagging",
            labels=predicts.names,
            training=options.to_values(),
        )
        run = Run.create(Path(folder) / "run", description)
        steps = learner_of(family)(model, examples, examples, options, run, ignored_target=None)
        with closing(steps):  # which writes a last snapshot
            next(steps)  # before the first update
            for step, _ in enumerate(steps):
                yield int((counted.batch(step).targets != IGNORED).sum())


def _plain_loop(
    model: nn.Module, batches: Iterator[Batch], loss_of: Callable[[nn.Module, Batch], torch.Tensor]
) -> Training:
    """The loop that everybody writes: AdamW, gradients clipped to norm 1."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for batch in batches:
        loss = loss_of(model, batch)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        loss.item()
        yield int((batch.targets != IGNORED).sum())


class _Tagger(nn.Module):
    """An embedding, PyTorch's bidirectional LSTM, and a linear output."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.recurrence = nn.LSTM(WIDTH, WIDTH, LAYERS, batch_first=True, bidirectional=True)
        self.output = nn.Linear(2 * WIDTH, LABELS)

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embedding(tokens), lengths, batch_first=True, enforce_sorted=False
        )
        return self.output(nn.utils.rnn.pad_packed_sequence(self.recurrence(packed)[0], batch_first=True)[0])


class _Translator(nn.Module):
    """An encoder and a decoder of PyTorch's GRU with dot attention, a word at a time, as in its tutorial."""

    def __init__(self) -> None:
        super().__init__()
        self.source_embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.encoder = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.decoder = nn.GRU(2 * WIDTH, WIDTH, batch_first=True)
        self.output = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens: torch.Tensor, source: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(
            self.source_embedding(source), lengths, batch_first=True, enforce_sorted=False
        )
        packed_states, state = self.encoder(packed)
        states = nn.utils.rnn.pad_packed_sequence(packed_states, batch_first=True)[0]
        padding = torch.arange(states.shape[1]) >= lengths[:, None]
        written = []
        for word in self.embedding(tokens).split(1, dim=1):
            scores = (states @ state[-1][..., None])[..., 0].masked_fill(padding, -torch.inf)
            context = scores.softmax(dim=-1)[:, None] @ states
            made, state = self.decoder(torch.cat([word, context], dim=-1), state)
            written.append(made)
        return self.output(torch.cat(written, dim=1))


def _loss_of_tags(model: nn.Module, batch: Batch) -> torch.Tensor:
    logits = model(torch.from_numpy(batch.tokens), torch.from_numpy(_lengths(batch)))
    return _cross_entropy(logits, batch)


def _loss_of_translation(model: nn.Module, batch: Batch) -> torch.Tensor:
    source, lengths = (torch.from_numpy(batch.beside[name]) for name in ("source", "source_lengths"))
    return _cross_entropy(model(torch.from_numpy(batch.tokens), source, lengths), batch)


def _cross_entropy(logits: torch.Tensor, batch: Batch) -> torch.Tensor:
    targets = torch.from_numpy(batch.targets)
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)


def _lengths(batch: Batch) -> np.ndarray:
    return np.full(len(batch.tokens), batch.tokens.shape[1]) if batch.lengths is None else batch.lengths


def _sorted_batches(examples: Examples, predicts: Prediction) -> Iterator[Batch]:
    """The very batches of our training."""
    batches = _batches(examples, predicts)
    return map(batches.batch, itertools.count())


def _shuffled_batches(examples: Examples, predicts: Prediction) -> Iterator[Batch]:
    """Batches of sentences as chance throws them together."""
    pieces, chance = pieces_of_examples(examples, predicts, None), np.random.default_rng(0)
    while True:
        chosen = chance.integers(len(pieces), size=BATCH)
        tokens, targets, lengths = pieces.side_by_side(chosen)
        yield Batch(tokens, targets, 1.0, True, lengths, pieces.beside(chosen))


def _compare(ours: Training, theirs: Training) -> Measured:
    """The ratio of targets in a second, as batches need not be alike."""
    learned = {"ours": 0, "theirs": 0}

    def advance(training: Training, name: str) -> None:
        learned[name] += sum(itertools.islice(training, STEPS))

    times = interleave(partial(advance, ours, "ours"), partial(advance, theirs, "theirs"), ROUNDS)
    ours.close()
    rounds = ROUNDS + 1
    speeds = {
        name: learned[name] / rounds / seconds
        for name, seconds in (("ours", times.ours), ("theirs", times.theirs))
    }
    ratio = times.ratio * learned["ours"] / learned["theirs"]
    return Measured(ratio, f"{speeds['ours']:,.0f} targets/s, the loop {speeds['theirs']:,.0f}")


def tagging() -> Measured:
    """A bidirectional LSTM for tags."""
    examples = _examples(tags=True)
    settings = {"layers": LAYERS, "width": WIDTH, "direction": "both"}
    loop = _plain_loop(_Tagger(), _sorted_batches(examples, _TAGS), _loss_of_tags)
    return _compare(_ours("lstm", settings, examples, _TAGS), loop)


def translation(batches: Callable[[Examples, Prediction], Iterator[Batch]]) -> Measured:
    """A GRU with attention, against the loop on these batches."""
    examples = _examples(tags=False)
    settings = {"layers": 1, "width": WIDTH, "attention": "dot"}
    loop = _plain_loop(_Translator(), batches(examples, NEXT_TOKEN), _loss_of_translation)
    return _compare(_ours("gru", settings, examples, NEXT_TOKEN), loop)


_TRANSLATOR = (
    f"training an encoder–decoder of GRUs of {WIDTH} with dot attention, against nn.GRUs in a plain loop on "
)

ROWS = (
    Row(
        "tagging",
        f"training {LAYERS} bidirectional layers of {WIDTH} for tags, against "
        "nn.LSTM(bidirectional=True) in a plain loop on the same packed batches",
        "×",
        0.95,
        False,
        tagging,
    ),
    Row(
        "translation",
        _TRANSLATOR + "the same batches",
        "×",
        0.95,
        False,
        partial(translation, _sorted_batches),
    ),
    Row(
        "translation-sorted",
        _TRANSLATOR + "batches of any lengths",
        "×",
        1.0,
        False,
        partial(translation, _shuffled_batches),
    ),
)
