"""A folder of checkpoints of another program is a run with snapshots."""

import json
import shutil
from functools import partial

import numpy as np
import pytest
from trained_series import (
    PROBE,
    distributed_series,
    lightning_series,
    litgpt_series,
    nanogpt_series,
    transformers_series,
)

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.runs.opening import find_model, open_recorded

CLOSE = 1e-5


@pytest.fixture(scope="module")
def trained_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "run"
    return folder, transformers_series(folder)


@pytest.fixture
def series(trained_once, tmp_path):
    """A copy that a test may damage, and the logits of its steps."""
    folder, logits = trained_once
    return shutil.copytree(folder, tmp_path / "run"), logits


def check_logits(folder, logits):
    run = open_recorded(folder)
    assert run.snapshots() == sorted(logits)
    traces = lmviz.trace(folder, PROBE[0].tolist(), steps="all")
    for step, expected in logits.items():
        assert np.abs(traces[step]["logits"].array - expected.numpy()).max() <= CLOSE
        model = lmviz.open_model(folder, step)
        assert model.step == step
        model.load_state(run.load_snapshot(step))
        assert np.abs(lmviz.trace(model, PROBE[0].tolist())["logits"].array - expected.numpy()).max() <= CLOSE


def test_every_step_computes_what_its_trainer_computed(series):
    folder, logits = series
    assert find_model(folder) == folder
    check_logits(folder, logits)
    different = [(logits[0] - value).abs().max() for step, value in logits.items() if step]
    assert min(different) > 0.01  # or all steps might be one


@pytest.mark.parametrize(
    "train",
    [
        nanogpt_series,
        lightning_series,
        distributed_series,
        litgpt_series,
        partial(litgpt_series, is_older=True),
        partial(litgpt_series, kind="gpt_neox"),
        partial(litgpt_series, kind="gpt_neox", is_older=True),
    ],
    ids=["nanoGPT", "Lightning", "distributed", "litgpt", "older", "neox of litgpt", "older neox of litgpt"],
)
def test_the_ways_in_which_programs_save_are_series(train, tmp_path):
    check_logits(tmp_path / "out", train(tmp_path / "out"))


def test_a_series_is_a_run(series):
    folder, _ = series
    run = open_recorded(folder)
    assert (run.was_trained_elsewhere, run.has_steps) == (True, True)
    assert (run.description.name, run.description.family) == ("run", "transformer")
    assert run.tokenizer().vocabulary_size == 50
    assert lmviz.open_model(folder).step == 6
    assert list(lmviz.head_scores(folder, steps=[0, 6], words=4, rows=2).steps) == [0, 6]
    with pytest.raises(LmvizError, match=r"has no checkpoint of step 3: it has those of 0, 2, 4, 6\."):
        lmviz.open_model(folder, 3)
    with pytest.raises(LmvizError, match="rename its folder instead"):
        run.rename("mine")
    alone = open_recorded(folder / "checkpoint-2")
    assert (alone.snapshots(), alone.has_steps) == ([0], False)


def test_a_final_model_beside_its_checkpoints_leaves_them_a_series(series):
    folder, _ = series
    for name in ("config.json", "model.safetensors"):
        shutil.copy(folder / "checkpoint-6" / name, folder)
    assert open_recorded(folder).snapshots() == [0, 2, 4, 6]


def test_a_torn_step_is_named_and_the_rest_is_open(series):
    folder, _ = series
    weights = folder / "checkpoint-2" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    (folder / "checkpoint-6" / "model.safetensors").unlink()
    with pytest.warns(
        lmviz.LmvizWarning, match=r"without step 2 \(model\.safetensors breaks off after"
    ) as said:
        assert lmviz.open_model(folder).step == 4
    assert "step 6 (checkpoint-6 holds no weights" in str(said[0].message)
    assert open_recorded(folder).snapshots() == [0, 4]
    with pytest.raises(LmvizError, match=r"step 2 cannot be opened \(model\.safetensors breaks off"):
        open_recorded(folder).load_snapshot(2)


def test_a_step_of_another_shape_is_named(series):
    folder, _ = series
    path = folder / "checkpoint-2" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"n_head": 2}))
    run = open_recorded(folder)
    with pytest.raises(LmvizError, match=r"step 2 .* is of another model than the others \(heads 2, not 3\)"):
        run.load_snapshot(2)
    assert run.load_snapshot(4)


def test_a_tokenizer_need_not_lie_in_every_step(series):
    folder, _ = series
    for step in (0, 4, 6):
        (folder / f"checkpoint-{step}" / "tokenizer.json").unlink()
    assert lmviz.trace(lmviz.open_model(folder, 4), "w1 w2").tokens == ("w1", "w2")
    (folder / "checkpoint-2" / "tokenizer.json").rename(folder / "tokenizer.json")
    assert lmviz.trace(lmviz.open_model(folder, 0), "w1 w2").tokens == ("w1", "w2")


def test_nothing_that_opens_is_one_sentence(series):
    folder, _ = series
    for path in folder.glob("*/model.safetensors"):
        path.write_bytes(b"")
    with pytest.raises(LmvizError, match=r"No checkpoint in .* can be opened"):
        open_recorded(folder)


def test_a_series_that_has_grown_is_the_same_run(series):
    folder, _ = series
    run = open_recorded(folder)
    shutil.copytree(folder / "checkpoint-6", folder / "checkpoint-8")
    (folder / "checkpoint-8" / "trainer_state.json").unlink()
    shutil.rmtree(folder / "checkpoint-0")
    grown = run.again()
    assert grown.snapshots() == [2, 4, 6, 8]
    assert grown.description.continues(run.description)


def test_curves_are_those_that_the_program_recorded(series):
    folder, _ = series
    history = [
        {"loss": 3.5, "grad_norm": 1.25, "learning_rate": 0.1, "step": 2},
        {"eval_loss": 3.25, "step": 2},
        {"loss": 3.0, "step": 4},
    ]
    state = folder / "checkpoint-6" / "trainer_state.json"
    state.write_text(json.dumps(json.loads(state.read_text()) | {"log_history": history}))
    run = open_recorded(folder)
    assert run.metrics() == [
        {"step": 2, "loss": 3.5, "validation_loss": 3.25, "learning_rate": 0.1, "gradient_norm": 1.25},
        {"step": 4, "loss": 3.0},
    ]
    assert (run.recorded_by, run.curve_names["validation_loss"]) == ("Trainer", "eval_loss")
