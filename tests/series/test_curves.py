"""Curves as other programs recorded them: the same names, steps and values, and no others."""

import json
import math
import sqlite3

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lmviz.interchange.event_file import crc32c, record, write_events
from lmviz.interchange.event_reader import _crc32c_of, read_scalars
from lmviz.series.curves import curves_in

HISTORY = [
    {"epoch": 0.5, "grad_norm": 1.5, "learning_rate": 5e-5, "loss": 3.25, "step": 10},
    {"epoch": 0.5, "eval_loss": 3.5, "eval_runtime": 0.1, "step": 10},
    {"epoch": 1.0, "grad_norm": 1.25, "learning_rate": 4e-5, "loss": 2.5, "step": 20},
]


def as_dictionary(found):
    return {
        (curve.program, curve.run, curve.name): dict(
            zip(curve.steps.tolist(), curve.values.tolist(), strict=True)
        )
        for curve in found.curves
    }


def test_the_history_of_the_newest_checkpoint_of_trainer(tmp_path):
    for step in (10, 20, 9):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        history = [line for line in HISTORY if line["step"] <= step]
        (folder / "trainer_state.json").write_text(json.dumps({"global_step": step, "log_history": history}))
    found = curves_in(tmp_path)
    assert found.troubles == ()
    assert as_dictionary(found) == {
        ("Trainer", "", "grad_norm"): {10: 1.5, 20: 1.25},
        ("Trainer", "", "learning_rate"): {10: 5e-5, 20: 4e-5},
        ("Trainer", "", "loss"): {10: 3.25, 20: 2.5},
        ("Trainer", "", "eval_loss"): {10: 3.5},
        ("Trainer", "", "eval_runtime"): {10: 0.1},
    }
    assert found.named("train_loss", "loss").origin == "recorded by Trainer"
    assert found.named("accuracy") is None


def test_event_files_as_tensorboard_reads_them(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from torch.utils.tensorboard import SummaryWriter

    folder = tmp_path / "runs" / "Nov28"
    with SummaryWriter(folder) as writer:
        for step in range(0, 3000, 3):
            writer.add_scalar("train/loss", math.exp(-step / 1000), step)
            writer.add_scalar("train/rate", step * 1e-6, step, new_style=True)  # a tensor
            writer.add_histogram("weights", np.arange(30), step) if step % 900 == 0 else None
        writer.add_text("note", "hello", 5)
    events = EventAccumulator(str(folder), {"scalars": 0, "tensors": 0}).Reload()
    expected = {
        ("TensorBoard", "runs/Nov28", "train/loss"): {e.step: e.value for e in events.Scalars("train/loss")},
        ("TensorBoard", "runs/Nov28", "train/rate"): {
            e.step: e.tensor_proto.float_val[0] for e in events.Tensors("train/rate")
        },
    }
    assert as_dictionary(curves_in(tmp_path)) == expected
    assert len(expected["TensorBoard", "runs/Nov28", "train/loss"]) == 1000


def test_what_lmviz_writes_for_tensorboard_it_reads(tmp_path):
    write_events(tmp_path, [{"step": 0, "loss": 4.0}, {"step": 7, "loss": 2.5, "rate": 0.5}], 0.0)
    assert as_dictionary(curves_in(tmp_path)) == {
        ("TensorBoard", "", "loss"): {0: 4.0, 7: 2.5},
        ("TensorBoard", "", "rate"): {7: 0.5},
    }


def test_a_table_of_lightning_beside_its_checkpoints(tmp_path):
    table = "epoch,step,train_loss,val_loss\n0,1,3.5,\n0,3,2.5,\n0,3,,3.25\n1,5,nan,\n"
    (tmp_path / "metrics.csv").write_text(table)
    (tmp_path / "checkpoints").mkdir()
    expected = {
        ("Lightning", "", "train_loss"): {1: 3.5, 3: 2.5},
        ("Lightning", "", "val_loss"): {3: 3.25},
    }
    assert as_dictionary(curves_in(tmp_path)) == expected
    assert as_dictionary(curves_in(tmp_path / "checkpoints")) == expected


@pytest.mark.slow
def test_the_table_that_lightning_writes(tmp_path):
    logger = pytest.importorskip("pytorch_lightning.loggers").CSVLogger(tmp_path, name="lightning_logs")
    for step in range(5):
        logger.log_metrics({"loss": 3.0 - step / 4, "epoch": 0}, step)
    logger.log_metrics({"val_loss": 2.0}, 4)
    logger.save()
    assert as_dictionary(curves_in(tmp_path)) == {
        ("Lightning", "lightning_logs/version_0", "loss"): {step: 3.0 - step / 4 for step in range(5)},
        ("Lightning", "lightning_logs/version_0", "val_loss"): {4: 2.0},
    }


def test_lines_of_json_by_whichever_name_of_the_step(tmp_path):
    lines = [
        {"iter": 0, "loss": 4, "name": "a", "flag": True},
        {"iter": 5.0, "loss": 1e999, "time": 3.0},
        {"text": "a line of a corpus", "loss": 1.0},
        {"iter": 10, "loss": 2.5, "of": {"more": 1}},
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, lines)) + '\n{"iter": 15, "lo')
    found = curves_in(tmp_path)
    assert as_dictionary(found) == {("JSON Lines", "", "loss"): {0: 4.0, 5: math.inf, 10: 2.5}}
    assert found.troubles == ()  # the last line is being written


def test_a_corpus_in_lines_of_json_is_no_curve(tmp_path):
    (tmp_path / "train.jsonl").write_text('{"text": "one", "label": 1}\nnot json\n{"text": "two"}\n')
    assert curves_in(tmp_path).curves == ()
    assert curves_in(tmp_path).troubles == ()


def test_a_database_of_trackio(tmp_path):
    with sqlite3.connect(tmp_path / "project.db") as database:
        database.execute(
            "CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL, "
            "run_name TEXT NOT NULL, step INTEGER NOT NULL, metrics TEXT NOT NULL)"
        )
        for run, step, values in (
            ("one", 0, {"loss": 3.0}),
            ("two", 0, {"loss": 5.0}),
            ("one", 1, {"loss": 2.0}),
        ):
            database.execute(
                "INSERT INTO metrics (timestamp, run_name, step, metrics) VALUES ('now', ?, ?, ?)",
                (run, step, json.dumps(values)),
            )
    database.close()
    assert as_dictionary(curves_in(tmp_path)) == {
        ("trackio", "one", "loss"): {0: 3.0, 1: 2.0},
        ("trackio", "two", "loss"): {0: 5.0},
    }
    (tmp_path / "project.db").write_bytes((tmp_path / "project.db").read_bytes()[:3000])
    found = curves_in(tmp_path)
    assert found.curves == ()
    assert "trackio" in found.troubles[0]


def test_a_training_that_went_on_from_an_earlier_step_forgets_what_came_after(tmp_path):
    for first, steps in ((1000000000, (0, 5, 10, 15)), (1000000100, (10, 20))):
        write_events(tmp_path, [{"step": step, "loss": float(first % 7 + step)} for step in steps], first)
    [curve] = curves_in(tmp_path).curves
    assert curve.steps.tolist() == [0, 5, 10, 20]
    assert curve.values[2] == 1000000100 % 7 + 10


def test_damage_is_said_with_its_place_and_what_stands_before_it_is_drawn(tmp_path):
    path = write_events(tmp_path, [{"step": step, "loss": 1.0 + step} for step in range(20)], 0.0)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    found = curves_in(tmp_path)
    [curve] = found.curves
    assert 0 < len(curve.steps) < 20
    assert curve.values.tolist() == [1.0 + step for step in curve.steps]
    assert "damaged from byte" in found.troubles[0]
    (tmp_path / "trainer_state.json").write_text("{")
    assert len(curves_in(tmp_path).troubles) == 2
    assert "cannot be read" in curves_in(tmp_path / "gone" / "metrics.csv").troubles[0]


@given(st.lists(st.binary(max_size=70), min_size=1, max_size=8))
def test_checksums_of_many_are_those_of_each(messages):
    assert _crc32c_of(messages).tolist() == [crc32c(message) for message in messages]


@example(b"")
@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_damaged(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "events.out.tfevents.1"
    path.write_bytes(content)
    read_scalars(path)
    path.write_bytes(record(content))  # right checksums, and anything inside
    read_scalars(path)


@given(st.data())
def test_a_changed_byte_never_changes_a_value(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("events")
    path = write_events(folder, [{"step": step, "loss": 1.0 + step} for step in range(6)], 0.0)
    whole = read_scalars(path).scalars
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    found = read_scalars(path)
    assert found.scalars == whole[: len(found.scalars)]
    path.write_bytes(content[:place])
    cut = read_scalars(path)
    assert cut.scalars == whole[: len(cut.scalars)]
    assert cut.damaged_at is None


@given(st.binary(max_size=200), st.sampled_from(["metrics.csv", "log.jsonl", "trainer_state.json", "a.db"]))
def test_any_bytes_are_curves_or_one_sentence(tmp_path_factory, content, name):
    folder = tmp_path_factory.mktemp("curves")
    (folder / name).write_bytes(content)
    assert len(curves_in(folder).troubles) <= 1
    (folder / name).write_bytes(b"SQLite format 3\0" + content)
    assert len(curves_in(folder).troubles) <= 1
