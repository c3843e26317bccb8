"""Copies of checkpoints that another program will delete."""

import shutil
from collections import namedtuple

import pytest
from trained_series import (
    distributed_series,
    lightning_series,
    litgpt_series,
    nanogpt_series,
    transformers_series,
)

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.runs.opening import open_recorded
from lmviz.series.keeping import keep_copy, place_of_copies, size_of_copies


@pytest.fixture(autouse=True)
def own_data(tmp_path, monkeypatch):
    monkeypatch.setattr("lmviz.series.keeping.data_folder", lambda: tmp_path / "data")


def test_a_copy_holds_what_opens_it_and_nothing_else(tmp_path):
    transformers_series(tmp_path / "out", steps=2)
    step = tmp_path / "out" / "checkpoint-2"
    (step / "optimizer.pt").write_bytes(b"\0" * 100_000)
    copies = place_of_copies(tmp_path / "out")
    place = keep_copy(step, copies)
    assert {path.name for path in place.iterdir()} == {
        *("config.json", "generation_config.json", "model.safetensors", "tokenizer.json"),
        "trainer_state.json",
    }
    assert size_of_copies(copies) < 100_000
    shutil.rmtree(step)
    run = open_recorded(tmp_path / "out")
    assert (run.snapshots(), run.copies) == ([0, 2], (2,))
    assert lmviz.open_model(tmp_path / "out", 2).step == 2


@pytest.mark.parametrize(
    ("train", "name"),
    [
        (nanogpt_series, "ckpt_000002.pt"),
        (lightning_series, "epoch=0-step=2.ckpt"),
        (distributed_series, "step-2"),
        (litgpt_series, "step-00000002"),
    ],
)
def test_copies_open_without_what_lay_beside_them(train, name, tmp_path):
    train(tmp_path / "out")
    step = tmp_path / "out" / name
    before = lmviz.trace(tmp_path / "out", "w1 w2", steps=[2])[2]["logits"].array
    keep_copy(step, place_of_copies(tmp_path / "out"))
    shutil.rmtree(step) if step.is_dir() else step.unlink()
    assert open_recorded(tmp_path / "out").copies == (2,)
    after = lmviz.trace(tmp_path / "out", "w1 w2", steps=[2])[2]["logits"].array
    assert (before == after).all()


def test_no_copy_takes_the_last_room(tmp_path, monkeypatch):
    transformers_series(tmp_path / "out", steps=2)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("lmviz.series.keeping.shutil.disk_usage", lambda _: usage(10**12, 10**12, 10**9))
    copies = place_of_copies(tmp_path / "out")
    with pytest.raises(LmvizError, match="No more copies are kept: there is no room"):
        keep_copy(tmp_path / "out" / "checkpoint-2", copies)
    assert size_of_copies(copies) == 0


def test_what_cannot_be_copied_is_one_sentence_and_leaves_nothing(tmp_path):
    (tmp_path / "out").mkdir()
    copies = place_of_copies(tmp_path / "out")
    with pytest.raises(LmvizError, match="cannot be copied"):
        keep_copy(tmp_path / "out" / "checkpoint-2", copies)
    assert size_of_copies(copies) == 0
