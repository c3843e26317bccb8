"""Trainings by transformers' own Trainer, in this process and in another one that is watched meanwhile."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from trained_series import PROBE, VOCABULARY, add_tokenizer, fresh, logits_of

import lmviz
from lmviz.runs.opening import open_recorded
from lmviz.series.standing import standing_of

transformers = pytest.importorskip("transformers")

pytestmark = pytest.mark.slow

CLOSE = 1e-5


def train_by_trainer(model, folder, steps=6, every=2, **settings):
    """Train with transformers' Trainer; the logits of its own model whenever it saves."""
    generator = torch.Generator().manual_seed(0)
    halves = torch.randint(VOCABULARY, (32, 8), generator=generator)
    rows = [{"input_ids": torch.cat([half, half]), "labels": torch.cat([half, half])} for half in halves]
    logits = {}

    class Notes(transformers.TrainerCallback):
        def on_save(self, args, state, control, model=None, **others):
            logits[state.global_step] = logits_of(model)

    arguments = transformers.TrainingArguments(
        str(folder),
        max_steps=steps,
        save_steps=every,
        logging_steps=1,
        per_device_train_batch_size=4,
        learning_rate=0.01,
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
        **settings,
    )
    if not hasattr(model, "peft_config"):  # of an adapter, what it learns is chosen
        model.requires_grad_(True)
    trainer = transformers.Trainer(model, arguments, train_dataset=rows, callbacks=[Notes()])
    trainer.train()
    add_tokenizer(folder)
    return trainer, logits


@pytest.mark.parametrize("kind", ["gpt2", "llama", "gpt_neox"])
def test_every_step_of_a_trainer_computes_what_its_model_computed(kind, tmp_path):
    trainer, logits = train_by_trainer(fresh(kind), tmp_path / "out")
    traces = lmviz.trace(tmp_path / "out", PROBE[0].tolist(), steps="all")
    assert list(traces) == sorted(logits) == [2, 4, 6]
    for step, expected in logits.items():
        assert np.abs(traces[step]["logits"].array - expected.numpy()).max() <= CLOSE
    said = [line["loss"] for line in trainer.state.log_history if "loss" in line]
    run = open_recorded(tmp_path / "out")
    assert [line["loss"] for line in run.metrics()[:6]] == said
    assert standing_of(run.steps).phase() == "finished"
    assert lmviz.trace(lmviz.open_model(tmp_path / "out", 4), "w1 w2").tokens == ("w1", "w2")


def test_only_what_the_trainer_has_left_is_there(tmp_path):
    train_by_trainer(fresh("gpt2"), tmp_path / "out", save_total_limit=2)
    assert open_recorded(tmp_path / "out").snapshots() == [4, 6]


def test_adapters_of_one_base_are_a_series(tmp_path):
    peft = pytest.importorskip("peft")
    base = fresh("llama")
    base.save_pretrained(tmp_path / "base")
    add_tokenizer(tmp_path / "base")
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "base")
    adapted = peft.get_peft_model(
        model, peft.LoraConfig(r=2, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    )
    _, logits = train_by_trainer(adapted, tmp_path / "out")
    traces = lmviz.trace(tmp_path / "out", PROBE[0].tolist(), steps="all")
    assert list(traces) == [2, 4, 6]
    for step, expected in logits.items():
        assert np.abs(traces[step]["logits"].array - expected.numpy()).max() <= CLOSE
    assert (logits[2] - logits[6]).abs().max() > 1e-3
    (tmp_path / "base").rename(tmp_path / "elsewhere")
    with pytest.raises(lmviz.LmvizError, match="choose its base"):
        lmviz.open_model(tmp_path / "out")
    assert lmviz.open_model(tmp_path / "out", 4, base=tmp_path / "elsewhere").step == 4


def test_torn_at_any_byte_a_checkpoint_is_named_and_never_read(tmp_path):
    """As a program leaves it that was killed while it wrote."""
    train_by_trainer(fresh("gpt2"), tmp_path / "out")
    weights = tmp_path / "out" / "checkpoint-4" / "model.safetensors"
    content = weights.read_bytes()
    for share in range(20):
        weights.write_bytes(content[: len(content) * share // 20])
        run = open_recorded(tmp_path / "out")
        assert run.snapshots() == [2, 6]
        assert "model.safetensors" in run.troubles[4]
    weights.write_bytes(content)
    assert run.again().snapshots() == [2, 4, 6]


TRAINING = """
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[2], str(Path(sys.argv[2]) / "series")]
from test_trainers import fresh, train_by_trainer
train_by_trainer(fresh("gpt2"), Path(sys.argv[1]), steps=8, every=2)
"""


def test_a_training_in_another_process_is_watched_while_it_writes(tmp_path):
    """Looked at without pause, a step is never seen before it can be read."""
    out, script = tmp_path / "out", tmp_path / "train.py"
    script.write_text(TRAINING)
    tests = str(Path(__file__).parents[1])
    training = subprocess.Popen([sys.executable, str(script), str(out), tests], stderr=subprocess.DEVNULL)
    seen: dict[int, np.ndarray] = {}
    run = None
    while training.poll() is None or (run is not None and len(seen) < len(run.again().snapshots())):
        try:
            run = open_recorded(out) if run is None else run.again()
        except lmviz.LmvizError:
            continue  # nothing is there yet
        for step in set(run.snapshots()) - set(seen):
            model = lmviz.open_model(out, step)
            seen[step] = lmviz.trace(model, PROBE[0].tolist())["logits"].array
    assert training.returncode == 0
    assert sorted(seen) == [2, 4, 6, 8]
    after = lmviz.trace(out, PROBE[0].tolist(), steps="all")
    assert all(np.array_equal(seen[step], after[step]["logits"].array) for step in seen)
