"""The interface that models of all families share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from lmviz.base.errors import LmvizError
from lmviz.looks.shown import Shown
from lmviz.models.explicit import ForwardPass
from lmviz.models.model_configuration import ModelConfiguration
from lmviz.models.prediction import NEXT_TOKEN, Prediction
from lmviz.models.sequences import TEXT
from lmviz.models.tap import Listener, Stage, Tap

if TYPE_CHECKING:
    from lmviz.text.tokenizer import Tokenizer

IGNORED = -100
"""A target that does not count, such as the START of the next document."""

EVERY_LINE = "every line"
"""`Model.documents` where each line is a document, the empty ones too, and all of its words count."""


class Model(Shown, nn.Module, ABC):
    """Turns token ids into logits: of the next token, or of labels, as `predicts` says.

    `causal` says whether a position uses nothing but what stands up to it. Where it does not, nothing can be
    continued: a longer text changes what was computed of the shorter one.

    `context` is the largest number of positions that `forward` takes, None where there is no limit.
    `family` is the name in `lmviz.families.FAMILIES`. `tokenizer`, `name` and `step` say where an opened
    model came from, `documents` how its text was divided (see CorpusOptions, and EVERY_LINE), and
    `checkpoint` the folder of another program that it was read from, `has_adapter` whether more was added to
    what lies there, and `why_no_tokenizer`, a sentence, what
    would give it one; `forward` does not need them. `inputs`
    names the sequences that it reads, the text and any others; those have `further_tokenizers` and
    `further_vocabularies` of their own. `recurrent` says whether training on a contiguous stream carries a
    state on from one piece to the next.
    `changes_stay` says that changes are in force at places of a text, which must therefore be read from its
    beginning to its end. `fixed` are the names of weights that a training leaves as they are: they are no
    part of its states.
    """

    family: str
    inputs: tuple[str, ...] = (TEXT,)
    recurrent: bool = False
    causal: bool = True
    changes_stay: bool = False
    fixed: frozenset[str] = frozenset()
    context: int | None = None
    tokenizer: Tokenizer | None = None
    name: str = ""
    step: int = 0
    is_foreign: bool = False
    has_adapter: bool = False
    documents: str = "file"
    checkpoint: Path | None = None
    why_no_tokenizer: str = ""
    further_tokenizers: Mapping[str, Tokenizer] = MappingProxyType({})
    further_vocabularies: Mapping[str, int] = MappingProxyType({})

    def __init__(
        self, configuration: ModelConfiguration, vocabulary_size: int, predicts: Prediction = NEXT_TOKEN
    ) -> None:
        super().__init__()
        self.configuration = configuration
        self.vocabulary_size = vocabulary_size
        self.predicts = predicts

    @property
    def sight(self) -> int | None:
        """How many of the last tokens a prediction can depend on at all; None where that has no limit."""
        return None

    @property
    def task(self) -> str:
        """What it is asked, a name in `lmviz.tasks.TASKS`."""
        if self.predicts.continues:
            return "next-token"
        return "classification" if self.predicts.per == "text" else "tagging"

    @property
    def outputs(self) -> int:
        """How many tokens or labels there is a distribution over."""
        return self.vocabulary_size if self.predicts.axis == "token" else len(self.predicts.names)

    @property
    def caution(self) -> str:
        """A sentence about what its figures do not mean; empty where there is nothing to beware of."""
        if self.causal or not self.predicts.continues:
            return ""
        return (
            "This model reads the tokens after each position too, and so the very token that it should "
            "predict: its loss says nothing about how well it would continue a text."
        )

    def check_source(self, ids: np.ndarray) -> None:
        """LmvizError where ids (position,) are nothing that it can read beside its text."""

    def check_continues(self) -> None:
        """LmvizError where the model predicts no tokens, so that no text can be continued."""
        if not self.predicts.continues:
            raise LmvizError(
                f"This model predicts {self.predicts.describe()} and continues no text: ask it with "
                "lmviz.predict, or choose a language model."
            )

    def reads_alike(self, one: int, other: int) -> bool:
        """Whether what is computed of the beginning of a text holds at another length, if it is causal."""
        return self.configuration.reads_alike(one, other)

    @property
    def reads_alone(self) -> bool:
        """Whether a text must be read from its beginning to its end, and not in a batch with longer ones.

        It must where what is computed at a position depends on where the text ends.
        """
        return self.changes_stay or not self.causal

    def spelling_out(self) -> Self:
        """The same model on the same weights, which reads the special tokens in a text as letters."""
        if self.tokenizer is None or not self.tokenizer.reads_special:
            return self
        twin = self.__new__(type(self))
        twin.__dict__ = self.__dict__ | {"tokenizer": self.tokenizer.literal}
        return twin

    def tokenizer_of(self, sequence: str) -> Tokenizer | None:
        """What turns a text into the tokens of a sequence, if it is known."""
        return self.tokenizer if sequence == TEXT else self.further_tokenizers.get(sequence)

    def tokenizer_needed(self, sequence: str = TEXT) -> Tokenizer:
        """The same, by default of the text; LmvizError where it is not known."""
        found = self.tokenizer_of(sequence)
        if found is None:
            raise LmvizError("This model has no tokenizer, so it cannot read a text: open it from a run.")
        return found

    def vocabulary_of(self, sequence: str) -> int:
        """How many different tokens a sequence can have."""
        return self.vocabulary_size if sequence == TEXT else self.further_vocabularies[sequence]

    @abstractmethod
    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Logits (batch, position, token) for tokens (batch, position); (batch, label) of whole texts.

        `lengths` (batch,) says how many tokens of each row are text, where the rest is padding. What is
        computed for a text does not depend on how it is padded.
        """

    @abstractmethod
    def taps(self) -> tuple[Tap, ...]:
        """The places inside, in the order of computation; the last two are logits, probabilities."""

    @abstractmethod
    def stages(self) -> tuple[Stage, ...]:
        """The steps of the explanation, in order."""

    def advance(self, tokens: torch.Tensor, state: Any = None) -> tuple[torch.Tensor, Any]:
        """Logits of further tokens, given the state after the earlier ones; and the state after these.

        They are those of the text up to the last of these tokens.

        A state is never changed, so that one may go on from it more than once. Families that override
        nothing here keep none, and must be given all tokens; so must a model that is not causal.
        """
        return self(tokens), None

    def as_read(self, ids: np.ndarray) -> tuple[np.ndarray, Model]:
        """What is really read where ids (position,) are given, and a model that reads just that.

        It is the ids themselves and this model, unless interventions put other tokens in their places.
        """
        return ids, self

    def loss(
        self,
        tokens: torch.Tensor,
        targets: torch.Tensor,
        state: Any = None,
        lengths: torch.Tensor | None = None,
        *,
        smoothing: float = 0.0,
    ) -> tuple[torch.Tensor, Any]:
        """Mean negative log-likelihood in nats over targets (batch, position) that are not IGNORED.

        Targets of whole texts are (batch, 1); `lengths` are those of `forward`. With `smoothing` ε it is the
        cross-entropy with 1 − ε on the target and ε spread evenly over all K tokens or labels (Szegedy et al.
        2016). And the state to carry on with: None unless the family is recurrent, cut off from the gradient.
        """
        logits = self(tokens) if lengths is None else self(tokens, lengths)
        rows = logits.reshape(-1, logits.shape[-1])
        loss = functional.cross_entropy(
            rows, targets.flatten(), ignore_index=IGNORED, label_smoothing=smoothing
        )
        return loss, None

    def log_probabilities(
        self, tokens: torch.Tensor, targets: torch.Tensor, lengths: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Natural log-probability of each target, (batch, position); IGNORED targets give 0."""
        logits = self(tokens) if lengths is None else self(tokens, lengths)
        rows = logits.reshape(-1, logits.shape[-1])
        losses = functional.cross_entropy(rows, targets.flatten(), ignore_index=IGNORED, reduction="none")
        return -losses.view(targets.shape)

    def listen(self, tokens: torch.Tensor, listener: Listener, **further: torch.Tensor) -> torch.Tensor:
        """The explicit path: every tap passes through the listener. Logits as of `forward`.

        `further` are the other sequences of `inputs`, each (batch, position), by name.
        """
        scope = ForwardPass(tokens, self.tensors(), **further)
        return scope.run(self.taps(), listener, keep=("logits",))["logits"]

    def operand(self, source: str, indices: np.ndarray) -> np.ndarray:
        """The numbers of a parameter at indices (term, axis), as `Factor` states them; (term,)."""
        parameter = self.get_parameter_or_buffer(source).detach()
        cells = parameter[tuple(torch.from_numpy(indices.T).to(parameter.device))]
        return cells.cpu().double().numpy()

    def get_parameter_or_buffer(self, name: str) -> torch.Tensor:
        """A parameter or a buffer by its dotted name; KeyError when there is none."""
        path, _, last = name.rpartition(".")
        try:
            value = getattr(self.get_submodule(path), last)
        except AttributeError:
            raise KeyError(name) from None
        if not isinstance(value, torch.Tensor):
            raise KeyError(name)
        return value

    def holders(self) -> tuple[object, ...]:
        """What the model's numbers are kept in: tensors, or tables that are replaced as a whole."""
        return tuple(self.tensors().values())

    def tensors(self) -> dict[str, torch.Tensor]:
        """Parameters and buffers by their dotted names.

        Asked for with every keystroke: PyTorch's own walk through a large model takes milliseconds, since it
        looks for the modules each time.
        """
        modules = self.__dict__.get("_named")
        if modules is None:
            modules = [
                (name and f"{name}.", module)
                for name, module in self.named_modules()
                if module._parameters or module._buffers
            ]
            self.__dict__["_named"] = modules
        return {
            f"{prefix}{name}": tensor
            for prefix, module in modules
            for name, tensor in (*module._parameters.items(), *module._buffers.items())
            if tensor is not None
        }

    def state(self) -> dict[str, torch.Tensor]:
        """What a snapshot stores, contiguous and on the CPU; see `fixed`."""
        return {
            name: value.detach().cpu().contiguous()
            for name, value in self.state_dict().items()
            if name not in self.fixed
        }

    def reading_state(self, largest: float = math.inf) -> dict[str, torch.Tensor] | None:
        """What the same model takes over that is not trained but read, None where it has more bytes."""
        state = self.state()
        return state if sum(value.nbytes for value in state.values()) <= largest else None

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Take over what `state` gave."""
        self.load_state_dict(self._completed(state))

    def exchange_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Take it over in new tensors: whoever still reads those before finds them unchanged."""
        kinds = {name: value.dtype for name, value in self.state_dict().items()}
        copies = {name: value.to(kinds.get(name, value.dtype), copy=True) for name, value in state.items()}
        self.load_state_dict(self._completed(copies), assign=True)

    def _completed(self, state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """A state with the weights that stay as they are; KeyError where it holds some of these."""
        if self.fixed & state.keys():
            raise KeyError(min(self.fixed & state.keys()))
        own = self.state_dict() if self.fixed else {}
        return {**{name: own[name] for name in self.fixed}, **state}

    def parameter_count(self) -> int:
        """The number of learned numbers, tied ones once."""
        return sum(parameter.numel() for parameter in self.parameters())
