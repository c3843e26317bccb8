from collections.abc import Callable

import numpy as np
import pytest
import torch

from lmviz.models.interruption import Interrupted, interruptible
from lmviz.models.model import IGNORED, Model
from lmviz.training.distributed import Team
from lmviz.training.options import TrainingOptions
from lmviz.training.validation import StreamValidation, Validation

either_kind = pytest.mark.parametrize("kind", [Validation, StreamValidation])

Make = Callable[..., Model]
Kind = type[Validation | StreamValidation]


def measure(
    model: Model,
    ids: np.ndarray,
    ignored_target: int | None = None,
    team: Team | None = None,
    kind: Kind = Validation,
    **options: int,
) -> float | None:
    chosen = TrainingOptions(**{"batch": 3, "validation_batches": 4} | options)
    team = team or Team()
    found = kind(ids, 10, chosen, ignored_target=ignored_target, team=team).measure(model)
    return None if found is None else found.loss


def mean_loss(
    model: Model, ids: np.ndarray, starts: list[int], lengths: list[int], ignored: int = -1
) -> float:
    """The same, window by window."""
    total, counted = 0.0, 0
    for start, length in zip(starts, lengths, strict=True):
        window = torch.from_numpy(ids[start : start + length + 1].astype(np.int64))[None]
        targets = window[:, 1:].clone()
        targets[targets == ignored] = IGNORED
        total -= model.eval().log_probabilities(window[:, :-1], targets).sum().item()
        counted += int((targets != IGNORED).sum())
    return total / counted


def test_a_short_text_is_measured_whole(lstm: Make, ids: np.ndarray) -> None:
    model = lstm()
    expected = mean_loss(model, ids[:74], [0, 10, 20, 30, 40, 50, 60, 70], [10] * 7 + [3])
    assert measure(model, ids[:74]) == pytest.approx(expected, rel=1e-5)


def test_a_long_text_is_measured_in_evenly_spread_windows(lstm: Make, ids: np.ndarray) -> None:
    model = lstm()
    starts = [round(589 * index / 11) for index in range(12)]
    assert measure(model, ids) == pytest.approx(mean_loss(model, ids, starts, [10] * 12), rel=1e-5)


def test_targets_that_do_not_count_are_left_out(lstm: Make, ids: np.ndarray) -> None:
    model = lstm()
    expected = mean_loss(model, ids[:41], [0, 10, 20, 30], [10] * 4, ignored=3)
    assert measure(model, ids[:41], ignored_target=3) == pytest.approx(expected, rel=1e-5)


@either_kind
@pytest.mark.parametrize("ids", [np.array([], int), np.array([1]), np.array([1, 6, 6])])
def test_a_text_without_targets_has_no_loss(lstm: Make, ids: np.ndarray, kind: Kind) -> None:
    assert measure(lstm(), ids, ignored_target=6, kind=kind) is None


def test_streams_are_read_with_the_state_carried_over(lstm: Make, ids: np.ndarray) -> None:
    model, streams = lstm(), StreamValidation
    expected = mean_loss(
        model, ids, [0, 199, 398], [40] * 3, ignored=3
    )  # four windows of ten are one of forty
    assert measure(model, ids, kind=streams, ignored_target=3) == pytest.approx(expected, rel=1e-5)
    expected = mean_loss(model, ids[:74], [0, 36], [36] * 2)
    assert measure(model, ids[:74], kind=streams) == pytest.approx(expected, rel=1e-5)
    expected = mean_loss(model, ids[:30], [0], [29])
    assert measure(model, ids[:30], kind=streams) == pytest.approx(expected, rel=1e-5)


@either_kind
def test_a_text_shorter_than_a_window_is_measured(lstm: Make, ids: np.ndarray, kind: Kind) -> None:
    model = lstm()
    assert measure(model, ids[:5], kind=kind) == pytest.approx(mean_loss(model, ids, [0], [4]), rel=1e-5)


@either_kind
def test_the_model_is_left_in_its_mode_and_measured_without_dropout(
    lstm: Make, ids: np.ndarray, kind: Kind
) -> None:
    model = lstm(dropout=0.5)
    model.train()
    assert measure(model, ids, kind=kind) == measure(model, ids, kind=kind)
    assert model.training
    model.eval()
    measure(model, ids, kind=kind)
    assert not model.training


@either_kind
def test_a_team_measures_what_one_process_would(lstm: Make, ids: np.ndarray, kind: Kind) -> None:
    """Each part sums its own share; together they are the whole."""
    sums = []

    class Half(Team):
        size = 2

        def __init__(self, rank: int) -> None:
            self.rank = rank

        def sum(self, values: torch.Tensor) -> torch.Tensor:
            sums.append(values)
            return values

    model = lstm()
    for rank in range(2):
        measure(model, ids, team=Half(rank), batch=3, kind=kind)
    total, counted = (sums[0] + sums[1]).tolist()
    assert abs(total) / counted == pytest.approx(measure(model, ids, batch=6, kind=kind), rel=1e-5)


@either_kind
def test_it_ends_between_two_batches_where_nobody_waits_for_it(
    lstm: Make, ids: np.ndarray, kind: Kind
) -> None:
    model, read = lstm(), 0

    def look(done: float | None) -> None:
        nonlocal read
        read += 1
        if read == 2:
            raise Interrupted

    with interruptible(look), pytest.raises(Interrupted):
        measure(model, ids, kind=kind)
    assert read == 2, "it looks up before each batch"
