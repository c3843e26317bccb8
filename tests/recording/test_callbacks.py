"""The Trainers of other programs record with one line: their own steps, numbers and weights."""

import json

import pytest
import torch
from own_modules import VOCABULARY, all_logits, batch_of

import lmviz

PROBE = torch.tensor([[3, 4, 5, 0, 9, 1]])


def rows(count=64):
    generator = torch.Generator().manual_seed(0)
    return torch.cat([batch_of(generator) for _ in range(count // 4)])


@pytest.mark.slow
@pytest.mark.parametrize("stops_at", [None, 5])
def test_the_trainer_of_transformers(stops_at, tmp_path):
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

    class Witness(TrainerCallback):
        logits, stops = {}, stops_at

        def on_train_begin(self, args, state, control, model=None, **_):
            self.logits[0] = all_logits(model, PROBE)

        def on_step_end(self, args, state, control, model=None, **_):
            self.logits[state.global_step] = all_logits(model, PROBE)
            control.should_training_stop |= state.global_step == self.stops

    torch.manual_seed(0)
    sizes = {"vocab_size": VOCABULARY, "n_positions": 16, "n_embd": 16, "n_layer": 1, "n_head": 2}
    model = GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=0, eos_token_id=0))
    data = [{"input_ids": row, "labels": row} for row in rows()]
    arguments = TrainingArguments(
        output_dir=str(tmp_path / "out"),
        max_steps=9,
        per_device_train_batch_size=4,
        logging_steps=2,
        eval_strategy="steps",
        eval_steps=3,
        save_steps=3,
        load_best_model_at_end=True,
        learning_rate=3e-2,
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )
    callback = lmviz.TrainerCallback(tmp_path / "run")
    trainer = Trainer(
        model, arguments, train_dataset=data, eval_dataset=data[:8], callbacks=[callback, Witness()]
    )
    trainer.train()
    run, last = lmviz.Run.open(tmp_path / "run"), stops_at or 9
    assert run.snapshots() == [step for step in (0, 1, 2, 4, 8) if step < last] + [last]
    for step in run.snapshots():
        found = lmviz.open_model(run.folder, step)(PROBE)[0]
        torch.testing.assert_close(found, Witness.logits[step], atol=1e-5, rtol=1e-5)
    logged = {"grad_norm": "gradient_norm", "eval_loss": "validation_loss"}
    expected = [
        {logged.get(name, name): value for name, value in line.items()} for line in trainer.state.log_history
    ]
    lines = [{name: line[name] for name in line if name != "seconds"} for line in run.metrics()]
    for line, found in zip(lines, expected, strict=True):
        assert line == {name: value for name, value in found.items() if value is not None}
    assert run.description.recorded["by"] == "transformers' Trainer"


def test_a_trainer_that_goes_on_goes_on_in_its_folder(tmp_path):
    from types import SimpleNamespace

    from own_modules import GPT

    model, control = GPT(), SimpleNamespace(should_training_stop=False)
    first = lmviz.TrainerCallback(tmp_path / "run")
    first.on_train_begin(None, SimpleNamespace(global_step=0, max_steps=10), control, model=model)
    for step in range(1, 7):
        first.on_step_end(None, SimpleNamespace(global_step=step), control)
    first.on_train_end(None, None, None)
    again = lmviz.TrainerCallback(tmp_path / "run")
    again.on_train_begin(None, SimpleNamespace(global_step=3, max_steps=10), control, model=model)
    again.on_step_begin(None, None, None)  # which it has no use for
    for step in range(4, 11):
        control.should_training_stop = step == 10
        again.on_step_end(None, SimpleNamespace(global_step=step), control)
    again.on_train_end(None, None, None)
    assert lmviz.Run.open(tmp_path / "run").snapshots() == [0, 1, 2, 4, 8, 10]


@pytest.mark.slow
def test_lightning(tmp_path):
    lightning = pytest.importorskip("pytorch_lightning")
    from own_modules import GPT
    from pytorch_lightning.loggers import CSVLogger

    class Lit(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net, self.logits = GPT(), {}

        def on_train_start(self):
            self.logits[0] = all_logits(self.net, PROBE)

        def training_step(self, batch, _):
            loss = self.net(batch[:, :-1], batch[:, 1:])[1]
            self.log("train_loss", loss)
            return loss

        def validation_step(self, batch, _):
            self.log("val_loss", self.net(batch[:, :-1], batch[:, 1:])[1])

        def on_train_batch_end(self, *_):
            self.logits[self.global_step] = all_logits(self.net, PROBE)

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), 1e-2)

    torch.manual_seed(0)
    module, callback = Lit(), lmviz.LightningCallback(tmp_path / "run")
    trainer = lightning.Trainer(
        max_steps=9,
        accelerator="cpu",
        log_every_n_steps=1,
        callbacks=[callback],
        logger=CSVLogger(tmp_path, name="", version="csv"),
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
        val_check_interval=4,
    )
    data = torch.utils.data.DataLoader(rows(), batch_size=4)
    trainer.fit(module, data, torch.utils.data.DataLoader(rows(8), batch_size=4))
    run = lmviz.Run.open(tmp_path / "run")
    assert run.snapshots() == [0, 1, 2, 4, 8, 9]
    for step in run.snapshots():
        found = lmviz.open_model(run.folder, step)(PROBE)[0]
        torch.testing.assert_close(found, module.logits[step], atol=1e-5, rtol=1e-5)
    table = (tmp_path / "csv" / "metrics.csv").read_text().splitlines()
    names = table[0].split(",")
    for name, own in (("train_loss", "loss"), ("val_loss", "validation_loss")):
        column = [line.split(",")[names.index(name)] for line in table[1:]]
        expected = [float(value) for value in column if value]
        assert [line[own] for line in run.metrics() if own in line] == pytest.approx(expected)
        assert [line[name] for line in run.metrics() if name in line] == pytest.approx(expected)
    assert {line["learning_rate"] for line in run.metrics() if "learning_rate" in line} == {0.01}
    assert json.loads((run.folder / "run.json").read_text())["recorded"]["by"] == "Lightning"
