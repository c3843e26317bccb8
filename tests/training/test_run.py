import contextlib
import json
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lmviz.base.errors import LmvizError
from lmviz.models.model import Model
from lmviz.text.tokenizer_options import TokenizerOptions
from lmviz.text.tokenizer_training import train_tokenizer
from lmviz.training import tensors as tensors_module
from lmviz.training.description import RunDescription
from lmviz.training.lock import LOCK_NAME
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run

DESCRIPTION = RunDescription(
    name="first",
    family="lstm",
    configuration={"width": 8},
    vocabulary_size=7,
    training=TrainingOptions(seed=5).to_values(),
    corpus={"name": "toy", "fingerprint": "abc"},
)

relaxed = settings(max_examples=60)


def test_what_is_created_can_be_opened(tmp_path: Path) -> None:
    created = Run.create(tmp_path / "deep" / "run", DESCRIPTION)
    opened = Run.open(created.folder)
    assert opened.description == DESCRIPTION
    assert (opened.description.seed, opened.description.fingerprint) == (5, "abc")
    assert opened.snapshots() == []
    assert opened.metrics() == []
    assert not opened.is_resumable


def test_run_json_says_what_a_person_wants_to_know(tmp_path: Path) -> None:
    Run.create(tmp_path / "run", DESCRIPTION)
    text = (tmp_path / "run" / "run.json").read_text()
    values = json.loads(text)
    assert len(text.splitlines()) > 10
    assert values["seed"] == 5
    assert values["corpus"]["fingerprint"] == "abc"
    assert {"lmviz", "torch", "python"} <= set(values["versions"])
    assert values["created"].endswith("+00:00")


def test_a_run_is_never_written_over(tmp_path: Path) -> None:
    Run.create(tmp_path / "run", DESCRIPTION)
    with pytest.raises(LmvizError, match="already holds a run"):
        Run.create(tmp_path / "run", DESCRIPTION)


def test_whatever_a_crash_leaves_half_made_goes_when_training_begins_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = train_tokenizer(["a b"], TokenizerOptions(), marks_boundaries=False)
    replace = os.replace

    def copy(source: Path, target: Path) -> None:
        """Leave the file beside where it is, as a crash would."""
        shutil.copy(source, f"{source}.left")
        replace(source, target)
        os.rename(f"{source}.left", source)

    monkeypatch.setattr(os, "replace", copy)
    monkeypatch.setattr(Path, "unlink", lambda self, missing_ok=False: None)
    run = Run.create(tmp_path / "run", DESCRIPTION, tokenizer)
    monkeypatch.undo()
    (run.folder / LOCK_NAME).unlink()  # which the next training takes over
    assert len(list(run.folder.iterdir())) == 6
    run.rewind(-1)
    assert {path.name for path in run.folder.iterdir()} == {
        "run.json",
        "tokenizer.json",
        "snapshots",
        "resume",
    }


def test_a_place_where_nothing_can_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    for name, reason in (("run", "Not a directory"), ("nul\0", "embedded null byte")):
        with pytest.raises(LmvizError, match=rf"could not be made \({reason}\)"):
            Run.create(tmp_path / "file" / name, DESCRIPTION)


@pytest.mark.parametrize("place", ["nowhere", "file", "."])
def test_a_place_without_a_run_is_told(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(LmvizError, match="holds no run"):
        Run.open(tmp_path / place)


def test_a_checkpoint_of_another_program_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"pickle")
    with pytest.raises(LmvizError, match="is a checkpoint of transformers"):
        Run.open(tmp_path)


@given(st.binary(max_size=300))
@relaxed
def test_any_bytes_as_run_json_are_a_run_or_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(LmvizError, match=r"run\.json"):
        Run.open(tmp_path)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@given(st.sampled_from(sorted(DESCRIPTION.to_values())), plain)
@relaxed
def test_any_value_in_run_json_is_a_run_or_a_sentence(tmp_path: Path, name: str, value: object) -> None:
    (tmp_path / "run.json").write_text(json.dumps(DESCRIPTION.to_values() | {name: value}))
    with contextlib.suppress(LmvizError):
        assert isinstance(Run.open(tmp_path).description.options, TrainingOptions)


def test_what_is_wrong_with_a_run_json_is_said_within_one_sentence(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", DESCRIPTION)
    values = DESCRIPTION.to_values() | {"training": {"steps": 0}}
    (run.folder / "run.json").write_text(json.dumps(values))
    with pytest.raises(LmvizError, match=r"describes no run \([^()]*[^().]\): choose another run\.$"):
        Run.open(run.folder)


@pytest.mark.parametrize("values", ["no", [1], None])
def test_a_resume_state_without_values_is_damaged(tmp_path: Path, values: object) -> None:
    run = Run.create(tmp_path / "run", DESCRIPTION)
    run.save_resume({"weight": torch.zeros(1)}, values)  # type: ignore[arg-type]
    with pytest.raises(LmvizError, match=r"state\.safetensors is damaged"):
        run.load_resume()


def test_deeply_nested_json_is_told(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("[" * 100_000)
    with pytest.raises(LmvizError, match="not JSON"):
        Run.open(tmp_path)


@given(st.binary(max_size=200), st.integers(0, 300))
@relaxed
def test_any_bytes_as_weights_are_a_sentence(tmp_path: Path, content: bytes, length: int) -> None:
    folder = tmp_path / "run"
    run = Run.open(folder) if folder.exists() else Run.create(folder, DESCRIPTION)
    run.save_snapshot(0, {"weight": torch.zeros(20)})
    whole = run.snapshot_path(0).read_bytes()
    for damaged in (content, whole[:length], content + whole[len(content) :]):
        for path in (run.snapshot_path(1), folder / "resume" / "state.safetensors"):
            path.write_bytes(damaged)
        if damaged == whole:
            assert torch.equal(run.load_snapshot(1)["weight"], torch.zeros(20))
        else:
            with pytest.raises(LmvizError, match="000001"):
                run.load_snapshot(1)
        with pytest.raises(LmvizError, match="resume"):
            run.load_resume()  # weights alone are no state to go on from, even whole ones


def test_a_snapshot_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(LmvizError, match="000003"):
        Run.create(tmp_path / "run", DESCRIPTION).load_snapshot(3)


def test_foreign_files_among_the_snapshots_are_not_snapshots(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", DESCRIPTION)
    run.save_snapshot(12, {"weight": torch.zeros(1)})
    run.save_snapshot(1_234_567, {"weight": torch.zeros(1)})
    for name in ("12.safetensors", "0000012.safetensors", "abcdef.safetensors", ".000013.safetensors.part"):
        (run.folder / "snapshots" / name).write_bytes(b"")
    assert run.snapshots() == [12, 1_234_567]


def test_snapshots_stay_within_count_and_size(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", DESCRIPTION)
    for step in range(0, 40, 2):
        run.save_snapshot(step, {"weight": torch.zeros(25_000)})  # 0.1 MB
        run.thin_snapshots(count=15, megabytes=1.05)
        kept = run.snapshots()
        assert len(kept) <= 10
        assert (kept[0], kept[-1]) == (0, step)
    run.thin_snapshots(count=4, megabytes=1.05)
    assert len(run.snapshots()) == 4
    run.thin_snapshots(count=4, megabytes=0.01)
    assert run.snapshots() == [0, 38]


def test_a_run_can_be_read_while_another_thread_writes_it(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", DESCRIPTION)
    done = threading.Event()

    def write() -> None:
        for step in range(60):
            run.save_snapshot(step, {"weight": torch.full((20_000,), float(step))})
            run.append_metrics([{"step": step, "loss": float(step)}])
            run.change_training(TrainingOptions(steps=step + 1).to_values())
            run.save_resume({"weight": torch.full((20_000,), float(step))}, {"step": step})
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        reader = Run.open(run.folder)
        steps = [line["step"] for line in reader.metrics()]
        assert steps == list(range(len(steps)))
        for step in reader.snapshots()[-2:]:
            assert (reader.load_snapshot(step)["weight"] == step).all()
        if reader.is_resumable:
            tensors, values = reader.load_resume()
            assert (tensors["weight"] == values["step"]).all()
    writer.join()
    assert len(Run.open(run.folder).metrics()) == 60


def test_rewinding_forgets_what_came_later(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", DESCRIPTION)
    for step in range(5):
        run.save_snapshot(step, {"weight": torch.zeros(1)})
        run.append_metrics([{"step": step}])
    (run.folder / "snapshots" / ".000005.safetensors.1.2.part").write_bytes(b"torn")
    run.rewind(2)
    assert run.snapshots() == [0, 1, 2]
    assert [line["step"] for line in run.metrics()] == [0, 1, 2]
    assert len(list((run.folder / "snapshots").iterdir())) == 3


def test_a_run_made_for_a_model_describes_it(new_run: Callable[..., Run], lstm: Callable[..., Model]) -> None:
    model = lstm(width=4)
    run = new_run(model, TrainingOptions())
    assert Run.open(run.folder).description.configuration == model.configuration.to_values()


def test_a_run_that_was_renamed_is_still_its_own_and_one_that_was_overwritten_is_not(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", DESCRIPTION)
    Run.open(run.folder).rename("second")
    run.check_own()
    Run.open(run.folder).change_training(TrainingOptions(seed=6).to_values())
    with pytest.raises(LmvizError, match="Another training has begun"):
        run.check_own()


def test_header_and_tensors_of_a_file_that_is_replaced_belong_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run.create(tmp_path / "run", DESCRIPTION)
    run.save_resume({"weight": torch.zeros(8)}, {"step": 0})
    opened = tensors_module.safe_open
    openings: list[Path] = []

    class Replaced:
        """Opens as before, and has the file replaced between its header and its tensors."""

        def __init__(self, path: Path, framework: str) -> None:
            self.file = opened(path, framework=framework)
            openings.append(path)

        def __enter__(self) -> "Replaced":
            self.file.__enter__()
            return self

        def __exit__(self, *fault: object) -> None:
            self.file.__exit__(*fault)

        def keys(self) -> list[str]:
            return self.file.keys()

        def metadata(self) -> dict[str, str]:
            return self.file.metadata()

        def get_tensor(self, name: str) -> torch.Tensor:
            if len(openings) > 1:
                return self.file.get_tensor(name)
            run.save_resume({"weight": torch.ones(8)}, {"step": 1})
            with opened(openings[0], framework="pt") as newer:
                return newer.get_tensor(name)

    monkeypatch.setattr(tensors_module, "safe_open", Replaced)
    tensors, values = Run.open(run.folder).load_resume()
    assert len(openings) == 2
    assert (tensors["weight"] == values["step"]).all()
    assert values["step"] == 1
