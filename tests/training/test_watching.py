"""A word that is watched while a model learns: snapshots are kept where it moves, at little cost."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from quickest import seconds
from small_trainings import SMALL, Make, NewRun, assert_equal_states, start

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.training.controls import Controls
from lmviz.training.options import TrainingOptions
from lmviz.training.watching import MOST_KEPT, MOVE, Watch, WatchedWord

RULE = WatchedWord(np.array([0, 3, 6, 2]), place=3, wanted=5)
LONG = SMALL | {"steps": 120, "snapshots": 4}


def test_snapshots_are_kept_where_the_word_moves(lstm: Make, new_run: NewRun, ids: np.ndarray) -> None:
    options = TrainingOptions(**LONG)
    model, plain = lstm(), lstm()
    run, other = new_run(model, options), new_run(plain, options, "other")
    told = list(start(model, ids, options, run, watched=RULE))
    list(start(plain, ids, options, other))
    assert_equal_states(run.load_snapshot(120), other.load_snapshot(120))  # watching changes nothing
    by_step = {progress.step: progress.watched for progress in told}
    assert len(by_step) == 121
    assert max(by_step.values()) > 0.8  # it has learned the rule
    moved = [progress.step for progress in told if progress.watched_moved]
    assert len(moved) >= 5
    assert set(run.snapshots()) == set(moved) | set(other.snapshots())
    kept = run.snapshots()
    for earlier, later in pairwise(kept):
        for step in range(earlier, later):  # nowhere in between has it moved further unseen
            assert abs(by_step[step] - by_step[earlier]) < MOVE
    assert {line["step"] for line in run.metrics() if line.get("watched_moved")} == set(moved)


def test_a_training_that_was_stopped_watches_on(lstm: Make, new_run: NewRun, ids: np.ndarray) -> None:
    options = TrainingOptions(**LONG)
    whole = new_run(lstm(), options)
    list(start(lstm(), ids, options, whole, watched=RULE))
    halted, controls = new_run(lstm(), options, "halted"), Controls()
    middle = whole.snapshots()[len(whole.snapshots()) // 2]
    for progress in start(lstm(), ids, options, halted, watched=RULE, controls=controls):
        controls.stop = progress.step >= middle
    list(start(lstm(), ids, options, halted, watched=RULE, resume=True))
    assert set(whole.snapshots()) <= set(halted.snapshots())


def test_of_too_many_snapshots_those_go_between_which_the_word_moved_least() -> None:
    watch = Watch(RULE)
    watch.keep(0, 0.0, moved=False)
    for step in range(1, MOST_KEPT + 2):
        watch.keep(step, 0.5 if step == 7 else step % 2 * 1.0, moved=True)
    assert len(watch.kept) == MOST_KEPT
    assert {1, MOST_KEPT + 1} <= watch.kept  # the first and the last
    assert 7 in watch.kept


def test_the_bound_on_size_holds_with_a_watched_word(lstm: Make, new_run: NewRun, ids: np.ndarray) -> None:
    options = TrainingOptions(**LONG | {"snapshot_megabytes": 1})
    model = lstm(width=60)
    run = new_run(model, options)
    list(start(model, ids, options, run, watched=RULE))
    assert sum(run.snapshot_path(step).stat().st_size for step in run.snapshots()) <= 1_000_000
    assert {0, 120} <= set(run.snapshots())


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("the cat sat on the mat . the dog ran to the door . " * 60)
    return path


@pytest.mark.parametrize(
    ("watched", "token"),
    [({"watched_text": "the cat sat"}, "sat"), ({"watched_text": "the cat", "watched_word": "ran"}, "ran")],
)
def test_a_word_is_watched_by_text(text: Path, tmp_path: Path, watched: dict[str, str], token: str) -> None:
    corpus = lmviz.load_corpus(text, "words")
    run = lmviz.train("gru", corpus, tmp_path / "run", steps=6, width=8, snapshots=2, batch=2, **watched)
    last = run.metrics()[-1]
    model = lmviz.open_model(run.folder)
    answer = lmviz.next_token(model, "the cat")
    by_name = dict(zip(corpus.tokenizer.tokens(), answer.probabilities, strict=True))
    assert last["watched"] == pytest.approx(by_name[token], rel=1e-4)


@pytest.mark.parametrize(
    "watched",
    [
        {"watched_word": "sat"},
        {"watched_text": "the cat", "watched_word": "unheard-of"},
        {"watched_text": "the cat", "watched_word": "sat on"},
        {"watched_text": "the unheard-of"},
    ],
)
def test_what_cannot_be_watched_is_refused_before_anything_is_written(
    text: Path, tmp_path: Path, watched: dict[str, str]
) -> None:
    with pytest.raises(LmvizError):
        lmviz.train("gru", lmviz.load_corpus(text, "words"), tmp_path / "run", steps=2, width=8, **watched)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_watching_costs_little(transformer: Make, new_run: NewRun, ids: np.ndarray) -> None:
    options = TrainingOptions(steps=60, batch=12, length=16, snapshots=2, validate_every=0)
    model = transformer(width=64)
    list(start(model, ids, options, new_run(model, options)))
    steps, looks = [], []
    for _ in range(3):  # in turn, as other work on the machine comes and goes
        steps.append(seconds(lambda: list(start(transformer(width=64), ids, options, None))) / 60)
        looks += [seconds(lambda: RULE.probability(model)) for _ in range(20)]
    assert min(looks) < 0.5 * min(steps)
