"""Caches the weights of open models at the steps that are shown."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from lmviz.app.workers.threads import compute_with
from lmviz.base.errors import LmvizError

if TYPE_CHECKING:
    import torch

    from lmviz.inspection.changed_model import ChangedModel
    from lmviz.inspection.intervention import Intervention
    from lmviz.models.model import Model
    from lmviz.training.run import Run

LARGEST_CACHE = 384 * 2**20  # bytes of snapshots kept in memory
NEIGHBOURS = 3  # steps of a series that are kept however large: these weights stay in their files
MODELS_KEPT = 6
SMALL = 5_000_000  # parameters up to which one core is fastest


class ModelCache:
    """Models with the weights of a chosen step. Belongs to the reading thread, which alone uses it.

    One instance per folder changes its weights from step to step; the weights themselves are kept,
    least recently used last, so that going back and forth in time does not read the disk again.
    """

    def __init__(self) -> None:
        self._models: OrderedDict[Path, Model] = OrderedDict()
        self._states: OrderedDict[tuple[Path, int], dict[str, torch.Tensor]] = OrderedDict()
        self._runs: dict[Path, Run] = {}
        self._changed: ChangedModel | None = None
        self._spelling: dict[Path, tuple[Model, Model]] = {}
        self._sizes: WeakKeyDictionary[Model, int] = WeakKeyDictionary()  # in parameters

    def open(self, folder: Path, step: int | None = None) -> tuple[Run, Model]:
        """A run and its model at a step, by default the newest; LmvizError when it cannot be opened.

        The disk is believed, not what was kept: another run may lie there by now.
        """
        from lmviz.runs.opening import open_model_of, open_recorded

        run = open_recorded(folder)
        model = open_model_of(run, step).eval()
        before = self._runs.get(folder)
        if before is not None and not run.description.continues(before.description):
            self.forget(folder)  # also the weights of steps that this run has not reached yet
        self._runs[folder] = run
        self._models[folder] = model
        for step in run.snapshots():
            self._states.pop((folder, step), None)
        return run, model

    def forget(self, folder: Path) -> None:
        """Keep nothing of a model any more: it has been closed."""
        model = self._models.pop(folder, None)
        self._runs.pop(folder, None)
        if self._changed is not None and self._changed.unchanged is model:
            self._changed = None
        self._spelling.pop(folder, None)
        for known in [known for known in self._states if known[0] == folder]:
            del self._states[known]

    def model(self, folder: Path, step: int, spells_out: bool = False) -> Model:
        """The model with the weights of a snapshot, by choice the one to which special tokens are letters."""
        model = self._model(folder)
        if model not in self._sizes:  # once: a keystroke asks several questions about the same model
            self._sizes[model] = model.parameter_count()
        compute_with(1 if self._sizes[model] <= SMALL else None)
        if model.step != step:
            self._load(model, folder, step)
        return self._spelling_out(folder, model) if spells_out else model

    def _spelling_out(self, folder: Path, model: Model) -> Model:
        """The same instance as long as the model is the same, so that a trace can be continued."""
        known = self._spelling.get(folder)
        if known is None or known[0] is not model:
            known = self._spelling[folder] = (model, model.spelling_out())
        return known[1]

    def _load(self, model: Model, folder: Path, step: int) -> None:
        state = self._state(folder, step)
        try:
            model.exchange_state(state)
        except (RuntimeError, ValueError, KeyError):  # some of its weights may have been taken over
            del self._models[folder], self._states[folder, step]
            raise LmvizError(f"{folder} holds a different run now: open it again.") from None
        model.step = step

    def changed(
        self, folder: Path, step: int, interventions: Sequence[Intervention], spells_out: bool = False
    ) -> Model:
        """The same with interventions in force; the same instance as long as they are.

        LmvizError when one of them names no tap of the model.
        """
        model = self.model(folder, step, spells_out)
        enabled = tuple(item for item in interventions if item.enabled)
        if not enabled:
            return model
        from lmviz.inspection.changed_model import ChangedModel

        changed = self._changed
        if changed is None or changed.unchanged is not model or changed.interventions != enabled:
            changed = self._changed = ChangedModel(model, enabled)
        return changed

    def keep(self, folder: Path, step: int, state: dict[str, torch.Tensor]) -> None:
        """Take in weights that came from elsewhere, such as those of the training under way."""
        self._states[folder, step] = state
        self._states.move_to_end((folder, step))
        size = sum(_bytes(state.values()) for state in self._states.values())
        run = self._runs.get(folder)
        least = NEIGHBOURS if run is not None and run.was_trained_elsewhere else 1
        while size > LARGEST_CACHE and len(self._states) > least:
            _, oldest = self._states.popitem(last=False)
            size -= _bytes(oldest.values())

    def _model(self, folder: Path) -> Model:
        if folder not in self._models:
            self.open(folder)
        self._models.move_to_end(folder)
        while len(self._models) > MODELS_KEPT:
            dropped, _ = self._models.popitem(last=False)
            self._spelling.pop(dropped, None)
        return self._models[folder]

    def _state(self, folder: Path, step: int) -> dict[str, torch.Tensor]:
        if (folder, step) not in self._states:
            self.keep(folder, step, self._run_now(folder).load_snapshot(step))
        self._states.move_to_end((folder, step))
        return self._states[folder, step]

    def _run_now(self, folder: Path) -> Run:
        """The run in a folder as it is now; of a series, only what has changed is looked at again."""
        from lmviz.runs.opening import open_recorded

        known = self._runs.get(folder)
        is_series = known is not None and known.was_trained_elsewhere and known.has_steps
        self._runs[folder] = known.again() if known is not None and is_series else open_recorded(folder)
        return self._runs[folder]


def _bytes(values: Iterable[torch.Tensor]) -> int:
    return sum(value.nbytes for value in values)
