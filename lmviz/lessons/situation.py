"""What is open and chosen in a window, as far as lessons speak of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

from lmviz.lessons.faults import StillComing

if TYPE_CHECKING:
    import numpy as np

    from lmviz.autodiff import Network
    from lmviz.decoding.branches import Branches
    from lmviz.inspection.trace import Trace
    from lmviz.text.corpus import Corpus
    from lmviz.text.tokenizer import Tokenizer


Source = Literal["text", "model", "step", "tokens", "reading", "comparison", "features", "network", "writing"]
"""What a number is read off, and what may be on its way: each is asked for, and comes a moment later."""

DRAWN: tuple[Source, ...] = ("text", "step", "comparison", "features", "network")
READ_OFF: Mapping[str, tuple[Source, ...]] = {
    **dict.fromkeys(("perspective", "control", "presses", "prefix", "source"), ()),  # put there by a person
    **dict.fromkeys(("planned", "interventions", "sampling", "position", "is_pinned"), ()),
    **dict.fromkeys(("training", "measured", "race", "lanes"), ()),  # told step by step
    "corpus": ("text",),
    **dict.fromkeys(("model", "family", "settings", "head", "cell", "cell_index"), ("model",)),
    **dict.fromkeys(("step", "last_step", "parameters"), ("step",)),
    "tokenizer": ("tokens",),
    **dict.fromkeys(("trace", "untouched", "stage"), ("reading",)),
    "compared": ("comparison",),
    "gradient_factors": ("reading", "comparison"),
    "branches": ("model", "writing"),
    "feature": ("features",),
    **dict.fromkeys(("network", "network_title", "network_changes"), ("network",)),
    **dict.fromkeys(("rate", "descents", "checked", "broken"), ("network",)),
    "drawn": DRAWN,  # whichever panel it is: that it waits for its own answer it says itself
}
"""What each member of a situation is read off: nothing is said of it while that is on its way."""


class Situation(Protocol):
    """What the values of lessons are functions of; None where nothing of that kind is open."""

    def coming(self, source: Source) -> str:
        """What is on its way, in words: "The text is being opened"; empty where this source is there."""

    @property
    def perspective(self) -> str:
        """The name of the perspective that is shown."""

    def control(self, name: str) -> str | float | None:
        """What is typed, chosen or set in the visible control of this object name."""

    def presses(self, name: str) -> int | None:
        """How often the visible button of this object name was pressed since this was first asked."""

    def drawn(self, panel: str) -> Mapping[str, np.ndarray]:
        """The numbers that the panel of this object name draws, by the names under which it exports them.

        There are none while it cannot be seen, or draws something else than what is asked now.
        """

    @property
    def corpus(self) -> Corpus | None:
        """The open text."""

    @property
    def model(self) -> str:
        """The name of the folder of the shown model; empty while none is open."""

    @property
    def family(self) -> str:
        """The family of the shown model; empty while none is open."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the shown model and of its training."""

    @property
    def planned(self) -> Mapping[str, Any]:
        """The family that would be trained, as "family", with its settings and those of the training."""

    @property
    def parameters(self) -> int | None:
        """How many numbers the shown model has learned."""

    @property
    def tokenizer(self) -> Tokenizer | None:
        """How the prefix is cut into tokens."""

    @property
    def step(self) -> int | None:
        """The step of its training at which the model is shown."""

    @property
    def last_step(self) -> int | None:
        """The newest step of the shown model's training."""

    @property
    def training(self) -> str:
        """The phase of the training: "idle", "running", "finished" and so on."""

    @property
    def measured(self) -> Mapping[str, float]:
        """The newest numbers of the training, such as "loss"."""

    @property
    def race(self) -> str:
        """How the race stands: "empty", "waiting", "running", "paused" or "ended"."""

    @property
    def lanes(self) -> Mapping[str, float | None]:
        """The lowest validation loss of each lane of the race by its label, None before it was measured."""

    @property
    def prefix(self) -> str:
        """The text that is typed."""

    @property
    def source(self) -> str:
        """The text that is to be translated."""

    @property
    def trace(self) -> Trace | None:
        """What the model computes for the prefix."""

    @property
    def untouched(self) -> Trace | None:
        """The same without interventions."""

    @property
    def interventions(self) -> tuple[str, ...]:
        """The interventions in force, in words."""

    @property
    def compared(self) -> tuple[str, ...]:
        """The models beside the shown one."""

    @property
    def gradient_factors(self) -> Mapping[str, float]:
        """What a step further back multiplies the gradient by, by the name of each compared model."""

    @property
    def branches(self) -> Branches:
        """What was written after the prefix."""

    @property
    def sampling(self) -> Mapping[str, Any]:
        """The options of sampling."""

    @property
    def stage(self) -> str:
        """The stage of the computation that is shown."""

    @property
    def position(self) -> int:
        """The shown position of the prefix; -1 where there is none."""

    @property
    def is_pinned(self) -> bool:
        """Whether a position is pinned."""

    @property
    def cell(self) -> str:
        """The address of the cell that is pointed at or pinned; empty where there is none."""

    @property
    def cell_index(self) -> tuple[int, ...]:
        """Its index along the axes of that address; empty where there is none."""

    @property
    def head(self) -> tuple[int, int]:
        """The chosen attention head: its layer and its number in it."""

    @property
    def feature(self) -> int:
        """The number of the feature that is looked at; -1 where none is."""

    @property
    def network(self) -> Network:
        """The network of Autodiff."""

    @property
    def network_title(self) -> str:
        """What that network is called; empty where it was written."""

    @property
    def network_changes(self) -> int:
        """How often the network or its numbers have changed."""

    @property
    def rate(self) -> float:
        """The rate of the next step of gradient descent on it."""

    @property
    def descents(self) -> int:
        """How many of these steps were taken."""

    @property
    def checked(self) -> int:
        """How many of its modules were checked alone."""

    @property
    def broken(self) -> str:
        """The broken module that a check has found; empty where none was."""


class Settled:
    """A situation as far as it is settled: StillComing where a member's source is on its way."""

    def __init__(self, now: Situation) -> None:
        self._now = now

    def __getattr__(self, name: str) -> Any:
        for source in READ_OFF[name]:
            if coming := self._now.coming(source):
                raise StillComing(f"{coming}: answer again in a moment.")
        return getattr(self._now, name)
