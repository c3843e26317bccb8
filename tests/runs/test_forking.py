"""A fork goes on from a snapshot: as the run did where nothing was changed, and else with what fits."""

import json
import warnings
from pathlib import Path

import pytest
import torch
from small_models import small_settings
from small_trainings import assert_equal_states

import lmviz
from lmviz.base.errors import LmvizError, LmvizWarning
from lmviz.families import FAMILIES
from lmviz.text.corpus import Corpus
from lmviz.training.run import HoldsRun, Run

TINY = {"steps": 12, "batch": 3, "length": 6, "validate_every": 4, "snapshots": 13, "learning_rate": 0.01}
CASES = [(family, {}) for family in FAMILIES]
CASES += [("gru", {"sampling": "streams", "dropout": 0.2}), ("lstm", {"optimizer": "momentum"})]
CASES += [("rnn", {"optimizer": "sgd"}), ("transformer", {"dropout": 0.2, "optimizer": "adam"})]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def corpus(small_text: Path) -> Corpus:
    return lmviz.load_corpus(small_text)


@pytest.fixture(scope="module")
def parent(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return lmviz.train("gru", corpus, tmp_path_factory.mktemp("parent") / "run", **TINY, width=8)


def settings_of(family: str, corpus: Corpus) -> dict[str, object]:
    tiny = {name: TINY[name] for name in ("steps", "snapshots")} if FAMILIES[family].counts else TINY
    return {**tiny, **small_settings(family)}


@pytest.mark.parametrize(("family", "more"), CASES)
def test_a_fork_with_nothing_changed_goes_on_as_the_run_did(
    family: str, more: dict[str, object], corpus: Corpus, tmp_path: Path
) -> None:
    straight = lmviz.train(family, corpus, tmp_path / "run", **settings_of(family, corpus), **more)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fork = lmviz.fork(straight, 5, out=tmp_path / "fork", corpus=corpus)
    assert fork.snapshots()[0] == 5
    for step in fork.snapshots():
        assert_equal_states(fork.load_snapshot(step), straight.load_snapshot(step))
    losses = [[(line["step"], line.get("loss")) for line in run.metrics()] for run in (fork, straight)]
    assert losses[0] == losses[1]
    origin = json.loads((fork.folder / "run.json").read_text(encoding="utf-8"))["forked_from"]
    assert (origin["folder"], origin["step"], origin["begun_anew"]) == (str(straight.folder), 5, [])


def test_another_learning_rate_is_taken_from_the_step_on(parent: Run, corpus: Corpus, tmp_path: Path) -> None:
    fork = lmviz.fork(parent.folder, 5, out=tmp_path / "fork", learning_rate=0.001, schedule="constant")
    assert_equal_states(fork.load_snapshot(5), parent.load_snapshot(5))
    rates = [line["learning_rate"] for line in fork.metrics() if line["step"] > 5]
    assert rates == [0.001] * 7
    assert not torch.equal(*(run.load_snapshot(12)["embedding.weight"] for run in (fork, parent)))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"layers": 3}, "weight tensors do not fit and begin anew"),
        ({"optimizer": "momentum"}, "momentum has no use for what the other remembered"),
        ({"batch": 5, "seed": 3}, "Other excerpts of the text follow, for batch and seed changed"),
    ],
)
def test_what_cannot_be_carried_is_said(
    changed: dict[str, object], said: str, parent: Run, corpus: Corpus, tmp_path: Path
) -> None:
    with pytest.warns(LmvizWarning, match=said):
        fork = lmviz.fork(parent, 5, out=tmp_path / "fork", corpus=corpus, **changed)
    assert fork.snapshots()[-1] == 12
    assert any(said in sentence for sentence in fork.description.forked_from["begun_anew"])
    old, new = parent.load_snapshot(5), fork.load_snapshot(5)
    assert all(torch.equal(new[name], old[name]) for name in old.keys() & new.keys())


def test_nothing_is_begun_where_nothing_can_be_carried(parent: Run, corpus: Corpus, tmp_path: Path) -> None:
    for words, step, changed in (
        ("No matrix of", 5, {"width": 6}),
        ("no snapshot of step 99: the nearest is that of step 12", 99, {}),
        ("nothing to do in 4 steps", 5, {"steps": 4}),
        ("no setting 'widht'", 5, {"widht": 6}),
    ):
        with pytest.raises(LmvizError, match=words):
            lmviz.fork(parent, step, out=tmp_path / "fork", corpus=corpus, **changed)
    assert not (tmp_path / "fork").exists()
    with pytest.raises(HoldsRun):
        lmviz.fork(parent, 5, out=parent.folder, corpus=corpus, overwrite=True)


def test_a_finished_run_is_forked_from_its_end_with_as_many_steps_again(
    parent: Run, corpus: Corpus, tmp_path: Path
) -> None:
    fork = lmviz.fork(parent, out=tmp_path / "fork", corpus=corpus)
    assert fork.snapshots() == list(range(12, 25)) or fork.snapshots()[-1] == 24


def test_without_the_optimizers_memory_it_begins_anew_and_says_so(
    parent: Run, corpus: Corpus, tmp_path: Path
) -> None:
    lean = lmviz.train("gru", corpus, tmp_path / "lean", **TINY, width=8, snapshot_precision="half")
    with pytest.warns(LmvizWarning) as caught:
        lmviz.fork(lean, 5, out=tmp_path / "fork", corpus=corpus)
    told = [str(each.message) for each in caught]
    assert any("what it remembered was not kept" in each for each in told)
    assert any("rounded" in each for each in told)


def test_a_fork_that_was_stopped_can_be_resumed(parent: Run, corpus: Corpus, tmp_path: Path) -> None:
    from lmviz.api.training import prepare_fork

    prepared = prepare_fork(parent, 5, out=tmp_path / "fork", corpus=corpus)
    prepared.progress.close()  # before its first step
    lmviz.train("gru", corpus, tmp_path / "fork", resume=True)
    assert_equal_states(Run.open(tmp_path / "fork").load_snapshot(12), parent.load_snapshot(12))


def test_a_fork_that_cannot_begin_leaves_what_is_in_its_folder(
    parent: Run, corpus: Corpus, tmp_path: Path
) -> None:
    before = lmviz.fork(parent, 5, out=tmp_path / "fork", corpus=corpus).metrics()
    asked = {"out": tmp_path / "fork", "corpus": corpus, "overwrite": True}
    for impossible in ({"device": "mps"}, {"optimizer": "no such"}):
        with pytest.raises(LmvizError):
            lmviz.fork(parent, 5, **asked, **impossible)
        assert Run.open(tmp_path / "fork").metrics() == before
    lmviz.fork(parent, 5, **asked, steps=13)
    assert Run.open(tmp_path / "fork").metrics() != before
