"""How well models learn: the loss on held-out text after the same updates as a plain PyTorch model.

For each family and task a model of lmviz stands beside one of the same architecture made of PyTorch's own
modules, which begin as PyTorch lets them begin. Both make the same updates on the same batches with the
same optimizer, for several seeds, and the means of their losses are compared.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from benchmarks.rows import Measured, Row
from lmviz.api.training import load_corpus
from lmviz.families import build_model, find_family, learner_of
from lmviz.models.model import IGNORED, Model
from lmviz.tasks import find_task
from lmviz.text.corpus import Corpus
from lmviz.text.examples import Examples
from lmviz.text.pictures import PIXELS
from lmviz.training.batches import Batch
from lmviz.training.batching import batches_of
from lmviz.training.distributed import Team
from lmviz.training.options import TrainingOptions

HELD_OUT = 12
"""Batches that the loss is the mean of."""

WIDTH, HEADS, LAYERS, WINDOW, CONTEXT = 64, 4, 2, 4, 64
RECURRENT = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}


@dataclass(frozen=True)
class Case:
    """What both learn from, and how."""

    corpus: str
    updates: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    rate: float = 2e-3
    seeds: int = 3

    def options(self, seed: int) -> TrainingOptions:
        """Plain Adam at one rate."""
        sampling = "random" if self.corpus == "stories" else "sentences"
        return TrainingOptions(
            steps=self.updates,
            batch=32,
            length=32 if sampling == "random" else 0,
            learning_rate=self.rate,
            optimizer="adam",
            schedule="constant",
            sampling=sampling,
            validate_every=0,
            seed=seed,
        )


CASES = {
    "next-token": Case("stories", 200),
    "tagging": Case("ambiguous", 60, seeds=12),  # short rows, in which seeds differ most
    "classification": Case("reviews", 70, seeds=12),  # later it falls at another moment with each seed
    "translation": Case("twin", 200),
    "captioning": Case("pictures", 100),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "window": {"window": WINDOW, "width": WIDTH},
    "rnn": {"width": WIDTH},
    "lstm": {"width": WIDTH},
    "gru": {"width": WIDTH},
    "transformer": {"width": WIDTH, "heads": HEADS, "layers": LAYERS, "context": CONTEXT},
}


class _Window(nn.Module):
    """One hidden layer over the last words."""

    def __init__(self, tokens: int, outputs: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tokens, WIDTH)
        self.hidden = nn.Linear(WINDOW * WIDTH, WIDTH)
        self.output = nn.Linear(WIDTH, outputs)

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        padded = functional.pad(self.embedding(tokens), (0, 0, WINDOW - 1, 0))
        joined = torch.cat([padded[:, at : at + tokens.shape[1]] for at in range(WINDOW)], dim=-1)
        return self.output(torch.tanh(self.hidden(joined)))


class _Recurrent(nn.Module):
    """PyTorch's recurrent module between an embedding and a linear layer, for each token or for a text."""

    def __init__(self, module: type[nn.RNNBase], tokens: int, outputs: int, *, of_text: bool) -> None:
        super().__init__()
        self.of_text = of_text
        self.embedding = nn.Embedding(tokens, WIDTH)
        self.recurrence = module(WIDTH, WIDTH, batch_first=True)
        self.output = nn.Linear(WIDTH, outputs)

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        states, _ = self.recurrence(self.embedding(tokens))
        if self.of_text:
            states = states[torch.arange(len(states)), lengths - 1][:, None]
        return self.output(states)


def _seen_by_later(count: int) -> torch.Tensor:
    return nn.Transformer.generate_square_subsequent_mask(count)


class _Transformer(nn.Module):
    """nn.TransformerEncoder with a causal mask, pre-norm and learned positions.

    Where the output is tied, both tables begin as nn.Linear's: nn.Embedding's would make logits that are
    several nats from one another.
    """

    def __init__(self, tokens: int, outputs: int, *, of_text: bool, tied: bool) -> None:
        super().__init__()
        self.of_text = of_text
        self.embedding = nn.Embedding(tokens, WIDTH)
        self.positions = nn.Embedding(CONTEXT, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, HEADS, 4 * WIDTH, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, LAYERS, nn.LayerNorm(WIDTH), enable_nested_tensor=False)
        self.output = nn.Linear(WIDTH, outputs, bias=False)
        if tied:
            self.embedding.weight = self.output.weight

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        count = tokens.shape[1]
        stream = self.embedding(tokens) + self.positions.weight[:count]
        stream = self.layers(stream, _seen_by_later(count), is_causal=True)
        if self.of_text:
            counts = (torch.arange(count) < lengths[:, None])[..., None]
            stream = ((stream * counts).sum(dim=1) / lengths[:, None])[:, None]
        return self.output(stream)


class _RecurrentTranslator(nn.Module):
    """An encoder and a decoder of PyTorch's module with bilinear attention, a word at a time."""

    def __init__(self, module: type[nn.RNNBase], sources: int, tokens: int) -> None:
        super().__init__()
        self.source_embedding = nn.Embedding(sources, WIDTH)
        self.embedding = nn.Embedding(tokens, WIDTH)
        self.encoder = module(WIDTH, WIDTH, batch_first=True)
        self.decoder = module(2 * WIDTH, WIDTH, batch_first=True)
        self.attention = nn.Linear(WIDTH, WIDTH, bias=False)
        self.output = nn.Linear(WIDTH, tokens)

    def forward(
        self, tokens: torch.Tensor, lengths: torch.Tensor, source: torch.Tensor, source_lengths: torch.Tensor
    ) -> torch.Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(
            self.source_embedding(source), source_lengths, batch_first=True, enforce_sorted=False
        )
        packed_states, last = self.encoder(packed)
        states = nn.utils.rnn.pad_packed_sequence(packed_states, batch_first=True)[0]
        keys, padding = self.attention(states), torch.arange(states.shape[1]) >= source_lengths[:, None]
        # The memory cell of an LSTM begins empty.
        state = (last[0], torch.zeros_like(last[1])) if isinstance(last, tuple) else last
        written = []
        for word in self.embedding(tokens).split(1, dim=1):
            top = (state[0] if isinstance(state, tuple) else state)[-1]
            scores = (keys @ top[..., None])[..., 0].masked_fill(padding, -torch.inf)
            context = scores.softmax(dim=-1)[:, None] @ states
            made, state = self.decoder(torch.cat([word, context], dim=-1), state)
            written.append(made)
        return self.output(torch.cat(written, dim=1))


class _TransformerTranslator(nn.Module):
    """nn.Transformer with pre-norm, learned positions and a tied output."""

    def __init__(self, sources: int, tokens: int) -> None:
        super().__init__()
        self.source_embedding = nn.Embedding(sources, WIDTH)
        self.embedding = nn.Embedding(tokens, WIDTH)
        self.source_positions, self.positions = nn.Embedding(CONTEXT, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.transformer = nn.Transformer(
            WIDTH, HEADS, LAYERS, LAYERS, 4 * WIDTH, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.output = nn.Linear(WIDTH, tokens)
        self.embedding.weight = self.output.weight

    def forward(
        self, tokens: torch.Tensor, lengths: torch.Tensor, source: torch.Tensor, source_lengths: torch.Tensor
    ) -> torch.Tensor:
        padding = torch.arange(source.shape[1]) >= source_lengths[:, None]
        read = self.source_embedding(source) + self.source_positions.weight[: source.shape[1]]
        written = self.embedding(tokens) + self.positions.weight[: tokens.shape[1]]
        made = self.transformer(
            read,
            written,
            tgt_mask=_seen_by_later(tokens.shape[1]),
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        return self.output(made)


class _Captioner(nn.Module):
    """PyTorch's recurrent module that begins with what a linear layer makes of a picture."""

    def __init__(self, module: type[nn.RNNBase], tokens: int) -> None:
        super().__init__()
        self.start = nn.Linear(PIXELS, WIDTH)
        self.embedding = nn.Embedding(tokens, WIDTH)
        self.recurrence = module(WIDTH, WIDTH, batch_first=True)
        self.output = nn.Linear(WIDTH, tokens)

    def forward(
        self, tokens: torch.Tensor, lengths: torch.Tensor, source: torch.Tensor, source_lengths: torch.Tensor
    ) -> torch.Tensor:
        hidden = torch.tanh(self.start(source.float()))[None]
        begun = (hidden, torch.zeros_like(hidden)) if isinstance(self.recurrence, nn.LSTM) else hidden
        return self.output(self.recurrence(self.embedding(tokens), begun)[0])


def plain_model(family: str, corpus: Corpus, *, tied: bool) -> nn.Module:
    """PyTorch's own model of that architecture."""
    task, tokens = corpus.task, corpus.tokenizer.vocabulary_size
    if task in ("translation", "captioning"):
        written = corpus.target_tokenizer.vocabulary_size if corpus.target_tokenizer else tokens
        if task == "captioning":
            return _Captioner(RECURRENT[family], written)
        if family == "transformer":
            return _TransformerTranslator(tokens, written)
        return _RecurrentTranslator(RECURRENT[family], tokens, written)
    outputs, of_text = len(corpus.labels) or tokens, task == "classification"
    if family == "window":
        return _Window(tokens, outputs)
    if family == "transformer":
        return _Transformer(tokens, outputs, of_text=of_text, tied=tied and not corpus.labels)
    return _Recurrent(RECURRENT[family], tokens, outputs, of_text=of_text)


def _learned(model: nn.Module, batches: Iterator[Batch], options: TrainingOptions) -> nn.Module:
    """The model after the loop that everybody writes."""
    optimizer = torch.optim.Adam(
        model.parameters(), options.learning_rate, betas=(options.momentum, options.second_moment_decay)
    )
    for batch in itertools.islice(batches, options.steps):
        optimizer.zero_grad()
        loss_of(model, batch).backward()
        nn.utils.clip_grad_norm_(model.parameters(), options.clip)
        optimizer.step()
    return model


def loss_of(model: nn.Module, batch: Batch) -> torch.Tensor:
    """Nats per target of a batch, from the logits of either model."""
    lengths = np.full(len(batch.tokens), batch.tokens.shape[1]) if batch.lengths is None else batch.lengths
    beside = {name: torch.from_numpy(array) for name, array in batch.beside.items()}
    logits = model(torch.from_numpy(batch.tokens), torch.from_numpy(lengths), **beside)
    targets = torch.from_numpy(batch.targets)
    return functional.cross_entropy(
        logits.reshape(-1, logits.shape[-1]), targets.flatten(), ignore_index=IGNORED
    )


def held_out(model: nn.Module, batches: Iterator[Batch]) -> float:
    """Nats per target on text that nothing was learned from."""
    model.eval()
    with torch.no_grad():
        return statistics.fmean(loss_of(model, batch).item() for batch in itertools.islice(batches, HELD_OUT))


def our_model(family: str, corpus: Corpus, seed: int, **settings: Any) -> Model:
    """An untrained model of lmviz."""
    target = corpus.target_tokenizer
    return build_model(
        family,
        find_family(family).configuration(**settings),
        (target or corpus.tokenizer).vocabulary_size,
        seed,
        find_task(corpus.task).predicts(corpus.labels),
        corpus.tokenizer.vocabulary_size if target else None,
        corpus.task,
    )


@cache
def _corpus(name: str) -> Corpus:
    return load_corpus(name)


def batches_from(
    model: Model, part: np.ndarray | Examples, corpus: Corpus, options: TrainingOptions
) -> Iterator[Batch]:
    """Endless batches of a part of a corpus, as our training makes them."""
    start = corpus.tokenizer.start_id if corpus.marks_boundaries else None
    found = batches_of(model, part, options, ignored_target=start, team=Team())
    return map(found.batch, itertools.count())


def _parts(corpus: Corpus) -> tuple[np.ndarray | Examples, np.ndarray | Examples]:
    """What is learned from, and what is held out."""
    if corpus.training_examples is None:
        return corpus.training, corpus.validation
    return corpus.training_examples, corpus.validation_examples


def _train(model: Model, corpus: Corpus, options: TrainingOptions) -> None:
    """All updates, by our training."""
    for _ in learner_of(model.family)(
        *(model, *_parts(corpus), options, None),
        ignored_target=corpus.tokenizer.start_id if corpus.marks_boundaries else None,
    ):
        pass


def compare_precisions(family: str) -> Measured:
    """The mean of losses after trainings in bfloat16 over that after the same ones in float32."""
    case = CASES["next-token"]
    corpus = _corpus(case.corpus)
    losses: dict[str, list[float]] = {"bfloat16": [], "float32": []}
    for seed in range(case.seeds):
        for precision, found in losses.items():
            options = replace(case.options(seed), precision=precision, device="cpu")
            model = our_model(family, corpus, seed, **SETTINGS[family])
            _train(model, corpus, options)
            found.append(held_out(model, batches_from(model, _parts(corpus)[1], corpus, options)))
    halved, whole = (statistics.fmean(found) for found in losses.values())
    spread = statistics.stdev(losses["float32"])
    return Measured(
        halved / whole,
        f"{halved:.3f} nats per token, float32 {whole:.3f} ± {spread:.3f}, of {case.seeds} seeds",
    )


def compare(family: str, task: str) -> Measured:
    """The mean of our losses over that of the plain model's."""
    case, settings = CASES[task], SETTINGS[family]
    corpus = _corpus(case.corpus)
    training, validation = _parts(corpus)
    losses: dict[str, list[float]] = {"ours": [], "plain": []}
    for seed in range(case.seeds):
        options = case.options(seed)
        ours = our_model(family, corpus, seed, **settings)
        torch.manual_seed(seed)
        plain = plain_model(family, corpus, tied=ours.output.weight is None)
        _learned(plain, batches_from(ours, training, corpus, options), options)
        _train(ours, corpus, options)
        for name, model in (("ours", ours), ("plain", plain)):
            losses[name].append(held_out(model, batches_from(ours, validation, corpus, options)))
    ours_mean, plain_mean = (statistics.fmean(found) for found in losses.values())
    return Measured(
        ours_mean / plain_mean,
        f"{ours_mean:.3f} nats per {find_task(task).target}, plain {plain_mean:.3f}, of {case.seeds} seeds",
    )


def _row(family: str, task: str) -> Row:
    case = CASES[task]
    peer = "nn.Linear" if family == "window" else f"nn.{family.upper()}"
    peer = "nn.Transformer" if family == "transformer" else peer
    return Row(
        f"learning-{task}-{family}",
        f"loss on held-out `{case.corpus}` after {case.updates} updates, against plain {peer}",
        "×",
        1.03,
        True,
        partial(compare, family, task),
    )


ROWS = (
    *(_row(family, task) for task in CASES for family in SETTINGS if task in find_family(family).tasks),
    *(
        Row(
            f"learning-bfloat16-{family}",
            f"loss on held-out `{CASES['next-token'].corpus}` after a training in bfloat16, against float32",
            "×",
            1.03,
            True,
            partial(compare_precisions, family),
        )
        for family in SETTINGS
    ),
)
