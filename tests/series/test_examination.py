"""What the doctor says of a series."""

import json
import os
import shutil

import pytest
from safetensors.torch import load_file, save_file
from trained_series import transformers_series

from lmviz.desktop.doctor import examine_checkpoint


@pytest.fixture(scope="module")
def trained_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "run"
    transformers_series(folder)
    return folder


@pytest.fixture
def series(trained_once, tmp_path):
    folder = shutil.copytree(trained_once, tmp_path / "run")
    for step in (0, 2, 4, 6):
        os.utime(folder / f"checkpoint-{step}" / "model.safetensors", (1000 + step, 1000 + step))
    return folder


def said_of(folder):
    """The sentences by what was looked at and how it stands."""
    found = {}
    for finding in examine_checkpoint(str(folder)):
        found.setdefault((finding.name, finding.state), []).append(finding.sentence)
    return found


def change(folder, step, changed):
    """Write the tensors of a step anew, as a function gives them."""
    path = folder / f"checkpoint-{step}" / "model.safetensors"
    moment = os.stat(path).st_mtime
    save_file(changed(load_file(path)), path, metadata={"format": "pt"})
    os.utime(path, (moment, moment))


def test_a_series_as_it_should_be(series):
    said = said_of(series)
    assert "4 checkpoints of the steps 0 to 6, every 2, 0.3 MB in all" in said["series", "fine"][0]
    assert said["whole", "fine"] == ["Every checkpoint is whole."]
    assert said["order", "fine"] == ["The checkpoints were written in the order of their steps."]
    assert said["different", "fine"] == ["No two steps hold the same weights."]
    assert said["moves", "fine"] == ["Every part moves."]
    assert said["logits", "fine"], "the newest is compared with transformers"
    assert not any(state == "problem" for _, state in said)


def test_steps_that_hold_the_final_weights_are_named(series):
    for step in (2, 4):
        shutil.copy2(series / "checkpoint-6" / "model.safetensors", series / f"checkpoint-{step}")
    said = said_of(series)
    assert said["different", "problem"] == ["The steps 2, 4 and 6 hold the same weights, number for number."]


def test_what_is_no_number_and_what_never_moves_is_named(series):
    still = "transformer.wpe.weight"
    frozen = load_file(series / "checkpoint-0" / "model.safetensors")[still]
    for step in (2, 4, 6):
        change(series, step, lambda tensors: tensors | {still: frozen})

    def broken(tensors):
        tensors["transformer.h.1.ln_1.bias"][3] = float("nan")
        return tensors

    change(series, 4, broken)
    said = said_of(series)
    assert said["moves", "note"] == [f"1 tensor never moves: {still}."]
    [sentence] = said["numbers", "problem"]
    assert sentence == "NaN or infinity stands in step 4: transformer.h.1.ln_1.bias."


def test_what_is_torn_of_another_model_or_out_of_order_is_named(series):
    path = series / "checkpoint-2" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"n_head": 2}))
    weights = series / "checkpoint-6" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    os.utime(series / "checkpoint-4" / "model.safetensors", (500, 500))
    shutil.copytree(series / "checkpoint-4", series / "the-best")
    shutil.copytree(series / "checkpoint-0", series / "main")
    (series / "main" / "trainer_state.json").unlink()
    said = said_of(series)
    assert said["whole", "problem"] == [
        "The checkpoint of step 6 cannot be opened: model.safetensors breaks off after 100 bytes."
    ]
    assert "heads 2, not 3" in said["parts", "problem"][0]
    assert said["order", "note"] == [
        "Step 4 is there 2 times, as checkpoint-4 and the-best: checkpoint-4 is shown.",
        "Beside the series lies what says no step, and is opened alone: main.",
        "Step 4 was written before step 2, so one of them may be misnamed.",
    ]


def test_a_misnamed_step_is_shown_where_it_says_that_it_belongs(series):
    (series / "checkpoint-6").rename(series / "checkpoint-600")
    assert said_of(series)["order", "note"] == [
        "checkpoint-600 says that it is of step 6, which is where it is shown."
    ]


def test_of_a_series_too_large_to_read_some_steps_are_read(series, monkeypatch):
    monkeypatch.setattr("lmviz.series.examination.MOST_BYTES", 150_000)
    assert said_of(series)["numbers", "note"] == [
        "The series is large, so the numbers of some steps are read: 0 and 6."
    ]
