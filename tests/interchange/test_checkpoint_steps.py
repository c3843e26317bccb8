"""The checkpoints of a training of another program, in the order of their steps."""

import json

import torch

from lmviz.interchange.checkpoint_steps import StoredStep, step_inside, step_of_trainer, steps_in


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


def test_what_a_file_says_inside_comes_before_its_name(tmp_path):
    """nanoGPT has `iter_num`, litgpt `step_count` with batches beside it, Lightning `global_step`."""
    for name, said in (
        ("ckpt-1", {"iter_num": 70_000}),
        ("ckpt-2", {"iter_num": 300, "step_count": 5}),
        ("ckpt-3", {"epoch": 1, "global_step": 900, "loops": {"global_step": 7}}),
        ("ckpt-4", {"steps": 1}),
    ):
        torch.save({"model": {"a": torch.zeros(1)}, **said}, tmp_path / f"{name}.pt")
    found = {each.path.stem: each.step for each in steps_in(tmp_path)}
    assert found == {"ckpt-1": 70_000, "ckpt-2": 5, "ckpt-3": 900, "ckpt-4": 4}
    for content in (b"", b"PK", b"PK\x03\x04" + b"\0" * 40, (tmp_path / "ckpt-1.pt").read_bytes()[:-30]):
        (tmp_path / "torn.pt").write_bytes(content)
        assert step_inside(tmp_path / "torn.pt") is None


def test_the_step_of_a_long_training_is_read_from_the_beginning_of_its_state(tmp_path):
    history = [{"loss": 1.0, "step": step, "global_step": 7} for step in range(2000)]
    path = tmp_path / "trainer_state.json"
    path.write_text(json.dumps({"best_global_step": 3, "log_history": history, "global_step": 2000}))
    assert step_of_trainer(path) == 2000
    path.write_text(json.dumps({"global_step": 1990, "log_history": history}, indent=2))
    assert step_of_trainer(path) == 1990
    assert step_of_trainer(tmp_path) is None
