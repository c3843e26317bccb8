"""Training an opened model further, against peft and transformers in a plain loop with as many tokens."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import nn

from benchmarks.rows import Measured, Row, interleave

ENDLESS = 100_000
RANK = 8
MATRICES = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


@dataclass(frozen=True)
class Shape:
    """A Llama, and how much of a text an update reads; `steps` make one of so many `rounds`."""

    layers: int
    width: int
    heads: int
    groups: int
    feedforward: int
    vocabulary: int
    batch: int
    length: int
    steps: int
    rounds: int


SMALL = Shape(4, 128, 4, 4, 344, 2_000, batch=8, length=64, steps=4, rounds=8)
SMOLLM2 = Shape(30, 576, 9, 3, 1536, 49_152, batch=2, length=128, steps=1, rounds=3)


def _saved(shape: Shape, folder: Path) -> Path:
    """A Llama with random weights and a tokenizer of words, as transformers writes it."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    configuration = LlamaConfig(
        vocab_size=shape.vocabulary,
        hidden_size=shape.width,
        intermediate_size=shape.feedforward,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.groups,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
    )
    LlamaForCausalLM(configuration).save_pretrained(folder)
    vocabulary = {"<unk>": 0, **{f"w{index}": index for index in range(1, shape.vocabulary)}}
    described = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"},
    }
    (folder / "tokenizer.json").write_text(json.dumps(described))
    return folder


def _ours(shape: Shape, base: Path, adapter: str, folder: Path) -> Generator[object, None, None]:
    """Our training, with its run; validation is left out, as the plain loop has none."""
    from lmviz.api.training import prepare_training

    text = folder / "text.txt"
    text.write_text(" ".join(f"w{index * 7919 % (shape.vocabulary - 1) + 1}" for index in range(20_000)))
    prepared = prepare_training(
        None,
        text,
        folder / "run",
        start=base,
        adapter=adapter,
        rank=RANK,
        steps=ENDLESS,
        batch=shape.batch,
        length=shape.length,
        validate_every=0,
        snapshots=2,
    )
    return prepared.progress


def _theirs(shape: Shape, base: Path, adapter: str) -> Iterator[object]:
    from transformers import AutoModelForCausalLM

    model: nn.Module = AutoModelForCausalLM.from_pretrained(base)
    if adapter == "lora":
        import peft

        wanted = peft.LoraConfig(r=RANK, lora_alpha=2 * RANK, target_modules=MATRICES, lora_dropout=0.0)
        model = peft.get_peft_model(model, wanted)
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=1e-4)
    ids = torch.randint(shape.vocabulary, (20_000,))
    model.train()
    while True:
        starts = torch.randint(len(ids) - shape.length - 1, (shape.batch,))
        windows = torch.stack([ids[start : start + shape.length + 1] for start in starts])
        logits = model(input_ids=windows[:, :-1], use_cache=False).logits
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learned, 1.0)
        optimizer.step()
        yield loss.item()


def tuning(shape: Shape, adapter: str) -> Measured:
    """The ratio of throughputs."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        base = _saved(shape, folder / "base")
        ours, theirs = _ours(shape, base, adapter, folder), _theirs(shape, base, adapter)

        def advance(training: Iterator[object]) -> None:
            for _ in itertools.islice(training, shape.steps):
                pass

        times = interleave(partial(advance, ours), partial(advance, theirs), shape.rounds)
        ours.close()
        tokens = shape.steps * shape.batch * shape.length
        said = f"{tokens / times.ours:,.0f} tokens/s, plain loop {tokens / times.theirs:,.0f}"
        return Measured(times.ratio, said)


def _row(name: str, shape: Shape, adapter: str) -> Row:
    way = f"LoRA of rank {RANK} in all matrices" if adapter == "lora" else "all weights"
    peer = "peft" if adapter == "lora" else "transformers"
    what = (
        f"training a Llama of {shape.layers} layers of {shape.width}, {shape.vocabulary:,} tokens, further "
        f"({way}), against {peer} in a plain loop"
    )
    return Row(name, what, "×", 1.0, False, partial(tuning, shape, adapter))


ROWS = (
    _row("tuning-lora-small", SMALL, "lora"),
    _row("tuning-all-small", SMALL, "all"),
    _row("tuning-lora-smollm2", SMOLLM2, "lora"),
    _row("tuning-all-smollm2", SMOLLM2, "all"),
)
