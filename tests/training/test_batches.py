from collections.abc import Iterable

import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.models.model import IGNORED
from lmviz.training.batches import BATCHES, Batch, Batches
from lmviz.training.distributed import Team
from lmviz.training.options import TrainingOptions


def make(
    ids: Iterable[int],
    *,
    context: int | None = None,
    ignored_target: int | None = None,
    rank: int = 0,
    size: int = 1,
    **options: object,
) -> Batches:
    team = Team()
    team.rank, team.size = rank, size
    chosen = TrainingOptions.from_values(options)
    text = np.array(list(ids), dtype=np.uint16)
    kind = BATCHES[chosen.sampling]
    return kind(text, chosen, context=context, ignored_target=ignored_target, team=team)


def pieces(batch: Batch) -> list[list[int]]:
    return [[*tokens, targets[-1]] for tokens, targets in zip(batch.tokens, batch.targets, strict=True)]


def test_targets_are_the_next_tokens_of_windows_from_everywhere() -> None:
    batches = make(range(50), batch=20, length=7)
    starts = set()
    for step in range(60):
        batch = batches.batch(step)
        assert batch.tokens.shape == batch.targets.shape == (20, 7)
        assert (batch.targets == batch.tokens + 1).all()
        assert (np.diff(batch.tokens, axis=1) == 1).all()
        starts |= set(batch.tokens[:, 0])
    assert starts == set(range(43))


@pytest.mark.parametrize("sampling", ["random", "streams"])
def test_a_batch_depends_on_seed_and_step_alone(sampling: str) -> None:
    one, same = (make(range(99), batch=3, length=5, sampling=sampling) for _ in range(2))
    for step in (9, 2, 2, 5):
        assert pieces(one.batch(step)) == pieces(same.batch(step))
    assert pieces(one.batch(2)) != pieces(one.batch(3))


def test_another_seed_draws_other_windows() -> None:
    one, other = (make(range(99), batch=3, seed=seed) for seed in (0, 1))
    assert pieces(one.batch(0)) != pieces(other.batch(0))


@pytest.mark.parametrize("sampling", ["random", "streams"])
@pytest.mark.parametrize("ignored_target", [None, 3])
def test_two_processes_cover_what_one_with_twice_the_batch_would(
    sampling: str, ignored_target: int | None
) -> None:
    ids = [step * step % 11 for step in range(200)]
    shared = {"length": 5, "sampling": sampling, "ignored_target": ignored_target}
    whole = make(ids, batch=6, **shared)
    parts = [make(ids, batch=3, rank=rank, size=2, **shared) for rank in range(2)]
    for step in range(30):
        halves = [part.batch(step) for part in parts]
        assert pieces(halves[0]) + pieces(halves[1]) == pieces(whole.batch(step))
        assert sum(half.share for half in halves) == pytest.approx(1)
        counts = [np.count_nonzero(half.targets != IGNORED) for half in halves]
        assert halves[0].share == pytest.approx(counts[0] / sum(counts))


def test_streams_read_the_text_from_start_to_end_and_again() -> None:
    batches = make(range(41), batch=2, length=6, sampling="streams")
    read: list[list[int]] = [[], []]
    for step in range(4):
        batch = batches.batch(step)
        assert batch.begins == (step == 0)
        for row in range(2):
            read[row] += list(batch.tokens[row])
    assert read == [list(range(20)), list(range(20, 40))]
    assert batches.batch(4).begins
    assert pieces(batches.batch(4)) == pieces(batches.batch(0))


def test_the_start_of_a_document_is_no_target() -> None:
    start = 9
    batches = make([start, 1, 2, start, 3, 4] * 20, batch=4, length=6, ignored_target=start)
    for step in range(10):
        batch = batches.batch(step)
        assert start in batch.tokens
        assert start not in batch.targets
        assert (batch.targets == IGNORED).any()


def test_a_draw_in_which_nothing_counts_is_drawn_again() -> None:
    batches = make([9, 1] * 30, batch=1, length=1, ignored_target=9)
    assert all(batches.batch(step).targets.tolist() == [[1]] for step in range(50))


def test_the_length_is_the_models_context_or_what_was_asked_for() -> None:
    assert make(range(999)).length == 64
    assert make(range(999), context=32).length == 32
    assert make(range(999), context=32, length=8).length == 8
    with pytest.raises(LmvizError, match="at most 32 positions"):
        make(range(999), context=32, length=33)


@pytest.mark.parametrize("size", [2, 3, 10])
def test_a_text_shorter_than_a_window_is_a_shorter_window(size: int) -> None:
    batch = make(range(size), batch=2, length=20).batch(0)
    assert pieces(batch) == [list(range(size))] * 2


@pytest.mark.parametrize(("size", "sampling"), [(0, "random"), (1, "random"), (1, "streams"), (5, "streams")])
def test_a_text_too_short_to_learn_from_is_told(size: int, sampling: str) -> None:
    with pytest.raises(LmvizError, match=r"too (few|short)"):
        make(range(size), batch=5, sampling=sampling)


def test_a_text_of_boundaries_alone_is_told() -> None:
    with pytest.raises(LmvizError, match="empty"):
        make([9] * 20, ignored_target=9)
