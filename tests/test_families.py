"""The table of families, and opening models from runs that may come from anywhere."""

import json
import subprocess
import sys

import pytest
import torch

import lmviz
from lmviz import families
from lmviz.base.errors import LmvizError
from lmviz.base.loading import Unexpected
from lmviz.families import FAMILIES, build_model, find_family, load, open_run_model
from lmviz.text.corpus_options import CorpusOptions
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run

ARGUMENTS_OF_TRAIN = {"family", "corpus", "out", "resume", "progress", "controls"}


@pytest.mark.parametrize("name", FAMILIES)
def test_families_stand_in_the_table_under_their_own_names(name):
    family = FAMILIES[name]
    assert name == family.name == build_model(name, family.configuration(), 11, seed=0).family


@pytest.mark.parametrize("family", FAMILIES.values(), ids=str)
def test_a_setting_belongs_to_the_text_the_model_or_the_training_and_never_to_two(family):
    names = family.configuration.names()
    assert not names & TrainingOptions.names()
    assert not names & CorpusOptions.names()
    assert not names & ARGUMENTS_OF_TRAIN
    assert CorpusOptions.names() & TrainingOptions.names() == {"seed"}


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "ngram"])
def test_initial_weights_depend_on_the_seed_alone(name):
    configuration = find_family(name).configuration()

    def weights(seed: int) -> torch.Tensor:
        return torch.cat(
            [value.flatten() for value in build_model(name, configuration, 11, seed).parameters()]
        )

    first = weights(3)
    torch.rand(5)
    assert torch.equal(first, weights(3))
    assert not torch.equal(first, weights(4))


@pytest.mark.parametrize("name", FAMILIES)
def test_building_a_model_leaves_the_chance_of_others_alone_even_meanwhile(name, monkeypatch):
    """A training in another thread draws its dropout from what torch shares."""
    configuration = find_family(name).configuration()
    shared = torch.get_rng_state()
    build, met = load(find_family(name).model), []

    def watched(*arguments):
        met.append(torch.get_rng_state())
        model = build(*arguments)
        met.append(torch.get_rng_state())
        return model

    monkeypatch.setattr(families, "load", lambda reference: watched)
    build_model(name, configuration, 11, seed=0)
    assert all(torch.equal(state, shared) for state in (*met, torch.get_rng_state()))


def test_an_unknown_family_is_named_with_those_there_are():
    with pytest.raises(LmvizError, match=r"'lstn'.*ngram, window"):
        find_family("lstn")


def test_reading_the_table_needs_neither_torch_nor_qt():
    code = (
        "import sys, lmviz, lmviz.families, lmviz.desktop.doctor, lmviz.cli\n"
        "lmviz.train, lmviz.trace\n"
        "print({'torch', 'PySide6', 'pyqtgraph', 'tokenizers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.fixture
def run(small_text, tmp_path) -> Run:
    corpus = lmviz.load_corpus(small_text, documents="line")
    return lmviz.train("rnn", corpus, tmp_path / "run", steps=3, width=8, snapshots=4)


def test_a_run_opens_at_its_last_step_or_a_chosen_one(run):
    last, first = open_run_model(run), open_run_model(run, 0)
    assert (last.step, first.step) == (3, 0)
    assert last.name == "run"
    assert last.documents == "line"
    assert last.tokenizer.vocabulary_size == last.vocabulary_size
    assert not torch.equal(last.embedding.weight, first.embedding.weight)
    assert not last.training


def test_a_snapshot_that_is_not_there_is_named_with_those_that_are(run):
    with pytest.raises(LmvizError, match="step 77: choose one of 0, 1, 2, 3"):
        open_run_model(run, 77)


def _rewrite(run: Run, **changes: object) -> Run:
    path = run.folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes), encoding="utf-8")
    return Run.open(run.folder)


def test_a_run_whose_weights_do_not_fit_its_configuration_is_refused_before_memory_is_taken(run):
    enormous = _rewrite(run, configuration={"layers": 32, "width": 8192})
    with pytest.raises(LmvizError, match=r"does not fit its run\.json"):
        open_run_model(enormous)


@pytest.mark.parametrize("impossible", [{"vocabulary_size": 2**31 - 1}, {"configuration": {"width": 2**40}}])
def test_a_run_of_a_size_that_nothing_can_have_is_refused(run, impossible):
    with pytest.raises(LmvizError) as said:
        open_run_model(_rewrite(run, **impossible))
    assert not isinstance(said.value, Unexpected)


@pytest.mark.brings_to_light
@pytest.mark.parametrize("fault", [ValueError("of lmviz"), KeyError("of lmviz"), RuntimeError("of lmviz")])
def test_a_defect_of_lmviz_is_not_put_down_to_the_file(run, monkeypatch, fault):
    def fails(model, state):
        raise fault

    monkeypatch.setattr("lmviz.models.model.Model.load_state", fails)
    with pytest.raises(Unexpected, match="of lmviz"):
        open_run_model(run)


def test_a_run_with_another_vocabulary_is_refused(run):
    with pytest.raises(LmvizError, match=r"tokenizer.json does not fit"):
        open_run_model(_rewrite(run, vocabulary_size=3))


def test_the_newest_snapshot_that_can_be_read_is_named_where_the_last_is_damaged(run):
    *_, before, last = run.snapshots()
    run.snapshot_path(last).write_bytes(b"torn")
    with pytest.raises(LmvizError, match=rf"{last:06d}\.safetensors cannot.*that of step {before}\."):
        open_run_model(run)
    assert open_run_model(run, before).step == before
    for step in run.snapshots():
        run.snapshot_path(step).write_bytes(b"torn")
    with pytest.raises(LmvizError, match=r"choose another snapshot\.$"):
        open_run_model(run)


def test_a_run_without_a_snapshot_says_what_to_do(run):
    for path in (run.folder / "snapshots").iterdir():
        path.unlink()
    with pytest.raises(LmvizError, match="train it first"):
        open_run_model(run)
