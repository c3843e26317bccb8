"""Opens checkpoints of other programs: their description first, and their weights when a model is wanted.

Nothing is downloaded and no code of a checkpoint is run. Shapes are compared with what the configuration asks
for before any number is read, so that a stranger's file cannot make lmviz take more memory than it is long.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.base.loading import loads
from lmviz.base.machine_memory import GIGABYTE, FreeMemory, machine_memory
from lmviz.interchange.adapter import Whole, open_adapter
from lmviz.interchange.chosen_bases import NoBase
from lmviz.interchange.containers import LARGEST_DESCRIPTION, check_unpacked, container
from lmviz.interchange.distributed_checkpoint import stored_distributed
from lmviz.interchange.fields import Fields
from lmviz.interchange.gguf_checkpoint import described_by
from lmviz.interchange.gguf_file import GGUF_ENDING, PART, gguf_in, models_in, read_gguf
from lmviz.interchange.gguf_tokenizer import tokenizer_in
from lmviz.interchange.hooked import can_be_hooked, hooked, is_hooked
from lmviz.interchange.kinds import kind_of
from lmviz.interchange.layout import Fit, StoredLayout, check_kinds, fit, some
from lmviz.interchange.litgpt import DESCRIPTION as LITGPT_DESCRIPTION
from lmviz.interchange.state_dictionary import read_state_dictionary, recognised
from lmviz.interchange.stored_names import unwrap
from lmviz.interchange.stored_tensors import StoredTensors, read_json, stored_at, stored_in
from lmviz.interchange.tokenizer_files import DESCRIPTION, lacking, read_tokenizer
from lmviz.models.blocks import without_blocks
from lmviz.models.shapes import without_numbers
from lmviz.models.transformer import TransformerModel
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.text.checkpoint_names import (
    ADAPTER,
    ADAPTER_WEIGHTS,
    DISTRIBUTED,
    SAVED_NAMES,
    is_adapter,
    is_checkpoint,
    is_distributed,
    is_of_transformers,
    weights_in,
)
from lmviz.text.tokenizer import Tokenizer

LARGEST_VOCABULARY = 10_000_000

COMFORTABLE = 1 / 4
"""The share of this machine's memory up to which packed matrices become single precision when a model is
opened. Left in their blocks they are unpacked with every use, which takes two to four times as long."""


BYTES_OF_TOKEN = 700
"""What a token of a large vocabulary takes, with the pairs that make it: as measured of Gemma's."""


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """What a folder or a file of another program holds, without its numbers.

    `title` is its kind in words; `find_tokenizer` reads what lies beside it. `described_in` is the folder
    of transformers whose `config.json` describes it, that of its base where it is an adapter; None where it
    is none of transformers.
    """

    place: Path
    title: str
    layout: StoredLayout
    vocabulary_size: int
    stored: StoredTensors
    find_tokenizer: Callable[[], Tokenizer | None]
    described_in: Path | None = None
    taken_off: tuple[str, ...] = ()

    @cached_property
    def tokenizer(self) -> Tokenizer | None:
        """How texts become its tokens, read when first asked for; None where nothing beside it says so."""
        return self.find_tokenizer()

    @property
    def configuration(self) -> TransformerConfiguration:
        """The Transformer that it describes."""
        return self.layout.configuration

    @property
    def name(self) -> str:
        """What a person calls it: the name of its folder or file, or that on the hub it came from.

        Files of nanoGPT and minGPT are all called the same, so that the folder says more.
        """
        path = self.place.absolute()
        path = path.parent if path.name in SAVED_NAMES else path
        if path.suffix.lower() == GGUF_ENDING:
            part = PART.fullmatch(path.stem)
            path = path.with_name(part[1] if part else path.stem)
        in_cache = path.parent.name == "snapshots" and path.parent.parent.name.startswith("models--")
        return path.parent.parent.name.removeprefix("models--").replace("--", "/") if in_cache else path.name

    @property
    def why_no_tokenizer(self) -> str:
        """Where it has none, why, and how it would get one: a sentence without its full stop."""
        return lacking(self.place if os.path.isdir(self.place) else self.place.parent)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The parameters of the model that is described, and their shapes; takes no memory."""
        return {name: tuple(value.shape) for name, value in self._empty().named_parameters()}

    def fit(self) -> Fit:
        """How what is stored fits what is described."""
        return fit(self.layout, self.shapes(), self.stored)

    @property
    def keeps_blocks(self) -> bool:
        """Whether matrices stay packed when it is opened, because memory would be short otherwise."""
        memory = machine_memory()
        taken = self.stored.in_single_precision(self.stored.packed)
        return memory is not None and taken > memory * COMFORTABLE

    @property
    def memory(self) -> int:
        """The bytes that it takes once it is open: its numbers beside those that stay in the file, and with
        them its tokenizer. 0 where all numbers stay in the file.
        """
        stored = self.stored
        made = stored.made_float if self.keeps_blocks else stored.packed | stored.made_float
        known = 0 if self.tokenizer is None else self.tokenizer.known_size
        return stored.in_single_precision(made) + BYTES_OF_TOKEN * known if made else 0

    @loads("checkpoint")
    def model(self) -> TransformerModel:
        """The model, for reading; LmvizError where what is stored does not fit what is described."""
        found = self.fit()
        found.check(self.place)
        memory = machine_memory()
        if memory is not None and self.memory > memory:
            raise LmvizError(
                f"{self.place} takes {self.memory / GIGABYTE:,.1f} GB of memory once its blocks are "
                f"single precision, and this machine has {memory / GIGABYTE:,.1f} GB: choose a smaller model."
            )
        check_kinds(self.place, self.stored, (name for names in found.names.values() for name in names))
        state = {
            parameter: self.layout.combined(parameter, [self.stored.get(name) for name in names])
            for parameter, names in found.names.items()
        }
        if not self.keeps_blocks:
            FreeMemory().give_back()  # what reading the tokenizer has left
            for parameter, tensor in state.items():
                state[parameter] = without_blocks(tensor)
                self.stored.let_go()
        model = self._empty()
        model.load_state_dict(state, assign=True)
        model.tokenizer, model.name, model.is_foreign = self.tokenizer, self.name, True
        model.why_no_tokenizer = "" if self.tokenizer is not None else self.why_no_tokenizer
        model.checkpoint = None if self.described_in is None else self.described_in.absolute()
        model.has_adapter = is_adapter(self.place)
        return model.eval().requires_grad_(False)

    def _empty(self) -> TransformerModel:
        with without_numbers():
            return TransformerModel(self.configuration, self.vocabulary_size)


@loads("checkpoint")
def open_checkpoint(
    place: str | Path, base: str | Path | None = None, *, tokenizer: Tokenizer | None = None
) -> Checkpoint:
    """The checkpoint in a folder or a file; LmvizError where there is none that can be opened.

    A folder is one of Hugging Face's transformers, of the kinds in `lmviz.interchange.kinds`, or holds a file
    of nanoGPT or minGPT; a file may be the latter, or any part of the former. `base` is the model that an
    adapter is added to, by default the one that it names; nothing else has one. `tokenizer` is that of
    another step of the same training: then none is read.
    """
    found = _opened(Path(place), None if base is None else Path(base))
    if tokenizer is not None:
        return replace(found, find_tokenizer=lambda: tokenizer)
    found.tokenizer  # noqa: B018 - a tokenizer that cannot be read is a fault of the checkpoint
    return found


def _opened(path: Path, base: Path | None = None) -> Checkpoint:
    if path.name in (ADAPTER, *ADAPTER_WEIGHTS) or _is_part_of_distributed(path):
        path = path.parent
    if is_adapter(path):
        return _of_adapter(path, base)
    if base is not None:
        raise LmvizError(f"{path} is not an adapter, and so has no base: leave the base out.")
    refused = None if is_checkpoint(path) or is_distributed(path) else container(path)
    if refused is not None:
        raise LmvizError(refused)
    return _in_folder(path) if os.path.isdir(path) else _in_file(path)


def _is_part_of_distributed(path: Path) -> bool:
    return (path.name == DISTRIBUTED or path.suffix == ".distcp") and is_distributed(path.parent)


def _in_folder(folder: Path) -> Checkpoint:
    if is_checkpoint(folder):
        return _of_transformers(folder)
    if is_distributed(folder):
        return _of_distributed(folder)
    if (alone := gguf_in(folder)) is not None:
        return _of_gguf(alone)
    if several := models_in(folder):
        names = some(each.name for each in several)
        raise LmvizError(f"{folder} holds {len(several)} models in GGUF ({names}): choose one of them.")
    saved = [folder / name for name in SAVED_NAMES if os.path.exists(folder / name)] or weights_in(folder)
    return _in_file(saved[0]) if saved and not is_of_transformers(saved[0]) else _of_transformers(folder)


def _in_file(path: Path) -> Checkpoint:
    if path.suffix.lower() == GGUF_ENDING:
        return _of_gguf(path)
    if _is_described_beside(path):
        by_usual_name = is_of_transformers(path) or path.suffix == ".json"
        return _of_transformers(path.parent, None if by_usual_name else path)
    return _of_state_dictionary(path)


def _is_described_beside(path: Path) -> bool:
    """Whether the config.json beside a file of weights is one of transformers, and not of minGPT."""
    if not os.path.exists(path.parent / DESCRIPTION) or os.path.exists(path.parent / LITGPT_DESCRIPTION):
        return False
    values = read_json(path.parent / DESCRIPTION, LARGEST_DESCRIPTION)
    is_sure = path.name not in SAVED_NAMES or "architectures" in values or "transformers_version" in values
    return "model_type" in values and is_sure


def _of_adapter(folder: Path, base: Path | None) -> Checkpoint:
    adapter = open_adapter(folder)
    base = base or adapter.find_base()
    if is_adapter(base):
        raise NoBase(
            f"{folder} is to be added to {base}, which is an adapter as well: choose a whole model.", folder
        )
    try:
        found = _opened(base)
    except LmvizError as reason:
        raise NoBase(str(reason), folder) from None
    whole = adapter.added_to(Whole(found.layout, found.vocabulary_size, found.stored))
    size = whole.vocabulary_size
    beside = found.place if os.path.isdir(found.place) else found.place.parent

    def tokenizer() -> Tokenizer | None:
        own = read_tokenizer(folder, size)
        return own or (found.tokenizer if size == found.vocabulary_size else read_tokenizer(beside, size))

    return replace(
        found,
        place=folder,
        title=f"{found.title} with an adapter ({adapter.title})",
        layout=whole.layout,
        vocabulary_size=size,
        stored=whole.stored,
        find_tokenizer=tokenizer,
    )


def _of_gguf(path: Path) -> Checkpoint:
    file = read_gguf(path)
    layout, size, stored = described_by(file)

    def tokenizer() -> Tokenizer | None:
        return tokenizer_in(file, size) or read_tokenizer(path.parent, size)

    return Checkpoint(path, f"{layout.kind.title} as GGUF", layout, size, stored, tokenizer)


def _of_transformers(folder: Path, weights: Path | None = None) -> Checkpoint:
    """The checkpoint of a folder of transformers; its weights may be those of a file by another name."""
    layout, size = described_in(folder)
    stored = stored_in(folder) if weights is None else stored_at(weights)
    if is_hooked(stored):
        return _of_hooked(weights or folder, folder, layout, stored)
    found = unwrap(folder, stored, layout.kind)
    return Checkpoint(
        weights or folder,
        layout.kind.title,
        layout,
        size,
        found.stored,
        lambda: read_tokenizer(folder, size),
        folder,
        found.taken_off,
    )


def _of_hooked(place: Path, folder: Path, layout: StoredLayout, stored: StoredTensors) -> Checkpoint:
    """A model of transformers whose weights were saved by TransformerLens."""
    try:
        if not can_be_hooked(layout.kind):
            raise LmvizError(f"lmviz does not know how TransformerLens changes those of {layout.kind.title}")
        turned, layout, size, taken_off = hooked(stored, Fields({}), layout.configuration)
    except LmvizError as error:
        reason = str(error).rstrip(".")
        raise LmvizError(
            f"{place} holds weights of TransformerLens that cannot be opened: {reason}."
        ) from None
    return Checkpoint(
        place,
        "TransformerLens",
        layout,
        size,
        turned,
        lambda: read_tokenizer(folder, size),
        taken_off=taken_off,
    )


def _of_distributed(folder: Path) -> Checkpoint:
    """Tensors in parts. What they are of is said by a config.json in their folder or in that of the training,
    or by their names.
    """
    stored, places = stored_distributed(folder), (folder, folder.parent)

    def tokenizer(size: int) -> Tokenizer | None:
        return read_tokenizer(folder, size) or read_tokenizer(folder.parent, size)

    for place in places:
        path = place / DESCRIPTION
        if os.path.exists(path) and "model_type" in read_json(path, LARGEST_DESCRIPTION):
            layout, size = described_in(place)
            found = unwrap(folder, stored, layout.kind)
            title = f"{layout.kind.title} in parts"
            return Checkpoint(
                folder, title, layout, size, found.stored, partial(tokenizer, size), taken_off=found.taken_off
            )
    says = any(os.path.exists(folder / name) for name in (DESCRIPTION, LITGPT_DESCRIPTION))
    known = recognised(folder / DISTRIBUTED if says else folder, stored)
    size = known.vocabulary_size
    title = f"{known.title} in parts"
    return Checkpoint(
        folder, title, known.layout, size, known.stored, partial(tokenizer, size), taken_off=known.taken_off
    )


def described_in(folder: Path) -> tuple[StoredLayout, int]:
    """What the `config.json` of a folder of transformers describes, and for how many tokens."""
    path = folder / DESCRIPTION
    if not os.path.exists(path):
        weights = some(path.name for path in weights_in(folder))
        raise LmvizError(
            f"{folder} holds weights ({weights}), and there is no config.json in it that says what they are "
            "of: put that of the model there."
            if weights
            else f"{folder} holds no checkpoint: there is no config.json in it."
        )
    values = read_json(path, LARGEST_DESCRIPTION)
    check_unpacked(values, folder)
    fields = Fields(values)
    try:
        kind = kind_of(fields.word("model_type", ""))
        layout = StoredLayout(kind, kind.configuration(fields))
        size = fields.whole("vocab_size", 50257)
        if not 1 <= size <= LARGEST_VOCABULARY:
            raise LmvizError(f"its vocabulary cannot have {size} tokens")
    except (LmvizError, ZeroDivisionError, OverflowError) as error:
        reason = str(error).rstrip(".")
        raise LmvizError(f"{path} describes no model that can be opened: {reason}.") from None
    return layout, size


def _of_state_dictionary(path: Path) -> Checkpoint:
    found = read_state_dictionary(path)
    return Checkpoint(
        path,
        found.title,
        found.layout,
        found.vocabulary_size,
        found.stored,
        lambda: read_tokenizer(path.parent, found.vocabulary_size),
        taken_off=found.taken_off,
    )
