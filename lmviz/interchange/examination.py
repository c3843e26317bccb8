"""The checkpoint doctor: what a folder or a file of another program holds, and whether its parts agree."""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from lmviz.base.errors import LmvizError
from lmviz.base.machine_memory import GIGABYTE, machine_memory
from lmviz.interchange.arpa import open_arpa
from lmviz.interchange.arpa_tokenizer import ARPA_ENDINGS
from lmviz.interchange.checkpoint import Checkpoint, open_checkpoint
from lmviz.interchange.gguf_file import GGUF_ENDING
from lmviz.interchange.layout import Fit, shape_in_words, some
from lmviz.models.reading import evaluation
from lmviz.text.tokenizer import Tokenizer

Finding = tuple[str, str, str]
"""What was looked at; "fine", "note" or "problem"; and a sentence."""

SAMPLE = "The cat sat on the mat, and 12 mice ran away.\n"
POSITIONS = 16
"""Tokens on which logits are compared."""

LARGEST_DIFFERENCE = 1e-3
"""Between logits that count as equal, relative to the largest: what different orders of adding leave."""


def examine_checkpoint(place: str | Path, base: str | Path | None = None) -> Iterator[Finding]:
    """Look at everything in turn; what cannot be read ends it, with the reason.

    `base` is the model that an adapter is added to, by default the one that it names.
    """
    path = Path(place)
    if os.path.isfile(path / "run.json"):
        sentence = f"{place} is a run of lmviz and no checkpoint of another program: open it as it is."
        yield "checkpoint", "problem", sentence
        return
    if path.name.lower().endswith(ARPA_ENDINGS):
        yield _of_arpa(path)
        return
    try:
        checkpoint = open_checkpoint(place, base)
    except LmvizError as reason:
        yield "checkpoint", "problem", str(reason)
        return
    found = checkpoint.fit()
    yield _description(checkpoint)
    yield _storage(checkpoint)
    if checkpoint.taken_off:
        wrappers = " and ".join(repr(part) for part in checkpoint.taken_off)
        yield (
            "names",
            "note",
            f"In the names of its tensors, {wrappers} was left out, which wrappers put there.",
        )
    yield from _parts(found)
    output = _output(checkpoint)
    yield output
    yield from _tokenizer(checkpoint)
    try:
        model = checkpoint.model()
    except LmvizError as reason:
        yield "model", "problem", str(reason)
        return
    numbers = _numbers(checkpoint, found)
    yield numbers
    if numbers[1] == "problem":
        yield "logits", "note", "Logits are not compared, because not every number is finite."
    else:
        yield _agreement(checkpoint, model, explained=output[1] == "problem")


def _of_arpa(path: Path) -> Finding:
    """What an ARPA file of n-grams holds."""
    try:
        tables = open_arpa(path).tables
    except LmvizError as reason:
        return "checkpoint", "problem", str(reason)
    counts = (f"{len(each.probabilities):,} of order {n}" for n, each in enumerate(tables.levels, start=1))
    return "kind", "fine", f"N-grams in ARPA format: {', '.join(counts)}."


def _description(checkpoint: Checkpoint) -> Finding:
    configuration = checkpoint.configuration
    parts = [
        f"{configuration.layers} layers",
        f"{configuration.heads} heads",
        f"width {configuration.width:,}",
        f"context {configuration.context:,}",
        f"{checkpoint.vocabulary_size:,} tokens",
    ]
    if configuration.groups != configuration.heads:
        parts.insert(2, f"{configuration.groups} of keys and values")
    return "kind", "fine", f"{checkpoint.title}: {', '.join(parts)}."


def _storage(checkpoint: Checkpoint) -> Finding:
    stored = checkpoint.stored
    size = sum(path.stat().st_size for path in stored.files)
    kinds = sorted(set(stored.formats.values()))
    parameters = sum(torch.Size(shape).numel() for shape in checkpoint.shapes().values())
    files = f"{len(stored.files)} file{'s' if len(stored.files) != 1 else ''}"
    return (
        "weights",
        "fine",
        f"{parameters:,} parameters; {len(stored.shapes):,} tensors of {' and '.join(kinds)} in {files}, "
        f"{_size_in_words(size)}{_memory(checkpoint)}.",
    )


def _memory(checkpoint: Checkpoint) -> str:
    """What a file in blocks takes once it is open, and how it is kept."""
    taken, packed = checkpoint.memory, checkpoint.stored.packed
    told = f"; open, it takes {_size_in_words(taken)} of memory" if taken else ""
    if not checkpoint.keeps_blocks:
        return told
    whole = _size_in_words(checkpoint.stored.in_single_precision(packed))
    return (
        f"{told}; its blocks stay as they are and become numbers with every use, which takes longer, as in "
        f"single precision they would take {whole}"
    )


def _size_in_words(size: int) -> str:
    """Bytes in megabytes, or in kilobytes where they are few."""
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.0f} kB"


def _parts(found: Fit) -> Iterator[Finding]:
    if found.missing:
        yield "missing", "problem", f"{_tensors(found.missing)} missing: {some(found.missing)}."
    for name, shape, expected in found.wrong:
        sentence = f"{name} is {shape_in_words(shape)}, and should be {shape_in_words(expected)}."
        yield "shape", "problem", sentence
    if found.unexpected:
        sentence = f"{_tensors(found.unexpected)} not part of the model: {some(found.unexpected)}."
        yield "unexpected", "note", sentence
    if not (found.missing or found.wrong or found.unexpected):
        yield "parts", "fine", "Every tensor that is needed is there, in the right shape, and no other."


def _tensors(names: Sequence[str]) -> str:
    return "1 tensor is" if len(names) == 1 else f"{len(names):,} tensors are"


def _output(checkpoint: Checkpoint) -> Finding:
    """Whether the output is the embedding, and whether a second table beside it says something else."""
    if not checkpoint.configuration.tied:
        return "output", "fine", "The output has a matrix of its own."
    layout, stored = checkpoint.layout, checkpoint.stored
    by_end = {name.rpartition(".")[0].rpartition(".")[2] + ".weight": name for name in stored.shapes}
    table, output = (
        by_end.get(layout.stored_names(name)[0]) for name in ("embedding.weight", "output.weight")
    )
    if table is None or output is None:
        return "output", "fine", "The output is the embedding (tied weights)."
    if stored.are_equal(table, output):
        return "output", "fine", f"The output is the embedding (tied weights); {output} repeats it."
    sentence = f"The output should be the embedding, but {output} holds other numbers, which are not used."
    return "output", "problem", sentence


def _tokenizer(checkpoint: Checkpoint) -> Iterator[Finding]:
    tokenizer, size = checkpoint.tokenizer, checkpoint.vocabulary_size
    if tokenizer is None:
        why = checkpoint.why_no_tokenizer
        if _is_gguf(checkpoint):
            why = f"the file carries no tokenizer, and {why}"
        sentence = f"{why[0].upper()}{why[1:]}; without it, only token ids can be read."
        yield "tokenizer", "note", sentence
        return
    known = tokenizer.known_size
    if known > size:
        sentence = f"The tokenizer knows {known:,} tokens, more than the {size:,} of the model."
        yield "tokenizer", "problem", sentence
    elif known < size:
        sentence = (
            f"The tokenizer knows {known:,} tokens; the other {size - known:,} of the model have no text."
        )
        yield "tokenizer", "note", sentence
    else:
        yield "tokenizer", "fine", f"The tokenizer and the model have the same {size:,} tokens."
    yield from _special_tokens(tokenizer)
    back = tokenizer.decode(tokenizer.encode(SAMPLE))
    if back.strip() != SAMPLE.strip():
        yield "text", "note", f"A text does not come back from its tokens as it was: {back.strip()[:80]!r}."


def _special_tokens(tokenizer: Tokenizer) -> Iterator[Finding]:
    """Where a text begins and ends, and what is no text, as the folder says."""

    def named(ids: Iterable[int | None]) -> str:
        return " or ".join(f"{tokenizer.token(index)} ({index})" for index in ids if index is not None)

    parts = [
        f"{words} {named(ids)}"
        for words, ids in (
            ("a text ends at", tokenizer.end_ids),
            ("before each stands", (tokenizer.start_id,)),
            ("padding is", (tokenizer.padding_id,)),
        )
        if named(ids)
    ]
    parts += ["there is a template for chats"] if tokenizer.chat_template else []
    if not tokenizer.end_ids:
        yield "special", "note", "; ".join(["Nothing says where a text ends", *parts]) + "."
        return
    sentence = "; ".join(parts)
    yield "special", "fine", f"{sentence[0].upper()}{sentence[1:]}."


def _numbers(checkpoint: Checkpoint, found: Fit) -> Finding:
    names = {name for several in found.names.values() for name in several}
    bad = sorted(name for name in names if not torch.isfinite(checkpoint.stored.get(name)).all())
    if bad:
        return "numbers", "problem", f"NaN or infinity stands in {some(bad)}."
    return "numbers", "fine", "Every number is finite."


def _agreement(checkpoint: Checkpoint, model: Any, explained: bool) -> Finding:
    """Whether transformers computes the same logits; `explained` is whether a part says why it may not."""
    if checkpoint.place != checkpoint.described_in and not _is_gguf(checkpoint):
        return "logits", "note", "transformers does not open this, so logits are not compared."
    if importlib.util.find_spec("transformers") is None:
        return "logits", "note", "transformers is not installed, so logits are not compared."
    if _is_gguf(checkpoint) and importlib.util.find_spec("accelerate") is None:
        sentence = (
            "transformers reads GGUF with the package accelerate, which is not installed, so logits are not "
            "compared."
        )
        return "logits", "note", sentence
    parameters, memory = sum(map(math.prod, checkpoint.shapes().values())), machine_memory()
    if memory is not None and 8 * parameters > memory:  # both programs in single precision
        sentence = (
            f"Comparing logits would take {8 * parameters / GIGABYTE:,.0f} GB of memory, so they are not."
        )
        return "logits", "note", sentence
    count = min(POSITIONS, checkpoint.configuration.context)
    tokens = (torch.arange(count) * 7919 % checkpoint.vocabulary_size)[None]
    try:
        peer = load_peer(checkpoint.place)
        with evaluation(model) as reading:
            own = reading(tokens)
            theirs = peer(tokens).logits.float()
    except Exception as error:
        reason = str(error).split("\n")[0][:200].rstrip(".")
        return "logits", "note", f"transformers cannot open this, so logits are not compared ({reason})."
    apart = float((own - theirs).abs().max())
    largest = float(theirs.abs().max())
    compared = f"differ by {apart:.2g} at most, of {largest:.3g}" if apart else "are equal"
    if apart <= LARGEST_DIFFERENCE * max(1.0, largest):
        return "logits", "fine", f"The logits of lmviz and transformers {compared}."
    way_out = "transformers uses the output that lmviz leaves out" if explained else "please report this"
    return "logits", "problem", f"The logits of lmviz and transformers {compared}: {way_out}."


def _is_gguf(checkpoint: Checkpoint) -> bool:
    return checkpoint.place.suffix.lower() == GGUF_ENDING


def load_peer(place: Path) -> Any:
    """The same model by transformers, in single precision; nothing is downloaded and no code of it is run."""
    transformers: Any = import_module("transformers")
    level, shows_progress = (
        transformers.logging.get_verbosity(),
        transformers.logging.is_progress_bar_enabled(),
    )
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        load = transformers.AutoModelForCausalLM.from_pretrained
        options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        if os.path.isdir(place):
            return load(str(place), **options, dtype=torch.float32).eval()
        options |= {"gguf_file": place.name, "dtype": torch.float32}
        return load(str(place.parent), **options).eval()
    finally:
        transformers.logging.set_verbosity(level)
        if shows_progress:
            transformers.logging.enable_progress_bar()
