"""The checkpoints of a training of another program, in the order of their steps."""

import json
from pathlib import Path

import torch

from lmviz.interchange.checkpoint_steps import StoredStep, steps_in, steps_in_words


def put(folder, step, said=None):
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"")
    if said is not None:
        (folder / "trainer_state.json").write_text(said)
    return StoredStep(step, folder)


def test_what_a_trainer_has_written_down_comes_before_the_name(tmp_path):
    expected = [
        put(tmp_path / "checkpoint-10", 10),
        put(tmp_path / "checkpoint-3", 30, json.dumps({"global_step": 30})),
        put(tmp_path / "checkpoint-40", 40, "not JSON"),
        put(tmp_path / "best", 50, json.dumps({"global_step": 50})),
    ]
    put(tmp_path / "worst", 0, json.dumps({"global_step": "a word"}))
    assert list(steps_in(tmp_path)) == expected


def test_files_without_numbers_say_their_step_inside(tmp_path):
    for name, said in (
        ("last", {"iter_num": 90}),
        ("best", {"global_step": 40}),
        ("other", {"iter_num": "x"}),
    ):
        torch.save({"model": {"a": torch.zeros(1)}, **said}, tmp_path / f"{name}.pt")
    (tmp_path / "broken.pt").write_bytes(b"no file of torch")
    assert [(each.step, each.path.name) for each in steps_in(tmp_path)] == [(40, "best.pt"), (90, "last.pt")]


def test_one_file_and_a_whole_folder_are_no_steps(tmp_path):
    torch.save({"model": {}, "iter_num": 3}, tmp_path / "ckpt.pt")
    assert steps_in(tmp_path) == ()
    assert steps_in(tmp_path / "not there") == ()


def test_steps_in_words():
    steps = [StoredStep(number * 500, Path(f"checkpoint-{number * 500}")) for number in range(1, 10)]
    assert steps_in_words(Path("out"), steps, steps[-1].path) == (
        "out holds checkpoints of the steps 500, 1,000, 1,500, 2,000, 2,500, … and 4,500: the newest, "
        "checkpoint-4500, is opened."
    )
    assert "the step 500" not in steps_in_words(Path("out"), steps[:2], steps[0].path)
    assert steps_in_words(Path("out"), steps[:2], steps[0].path).endswith(
        "500 and 1,000: one of them, checkpoint-500, is opened."
    )
    assert "the checkpoint of step 500," in steps_in_words(Path("out"), steps[:1], steps[0].path)
