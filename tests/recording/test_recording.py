"""A loop of one's own is written as a run: the same logits, the same numbers, and never in the loop's way."""

import errno
import threading
import warnings
from collections.abc import Iterator
from copy import deepcopy

import pytest
import torch
from covering import parametrize_few
from foreign_models import peer
from own_modules import GPT, VOCABULARY, GPTConfig, all_logits, batch_of
from torch import nn

import lmviz
from lmviz.base.errors import LmvizError, LmvizWarning
from lmviz.recording import writer
from lmviz.recording.known_module import UnknownModule
from lmviz.training.run import HoldsRun

PROBE = torch.tensor([[3, 4, 5, 0, 9, 1]])


@pytest.fixture(autouse=True)
def _no_thread_stays() -> Iterator[None]:
    yield
    assert not [thread for thread in threading.enumerate() if thread.name == "lmviz recording"]


def train(module, folder, steps=20, first=1, **settings):
    """Train for some steps; the logits over the probe at each, and the losses."""
    generator = torch.Generator().manual_seed(1)
    optimizer = torch.optim.AdamW(module.parameters(), 1e-2)
    logits, losses = {0: all_logits(module, PROBE)}, {}
    with lmviz.record(folder, module, **settings) as recording:
        for step in range(first, steps + first):
            ids = batch_of(generator)
            answer = module(ids[:, :-1], ids[:, 1:]) if isinstance(module, GPT) else None
            loss = answer[1] if answer is not None else module(ids, labels=ids).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses[step] = loss.item()
            recording.step(step, loss=loss.item(), learning_rate=0.01)
            logits[step] = all_logits(module, PROBE)
    return logits, losses


def own() -> nn.Module:
    return GPT()


def of_lmviz() -> nn.Module:
    from lmviz.families import build_model, find_family

    return build_model("lstm", find_family("lstm").configuration(width=12), VOCABULARY, seed=0)


MODULES = {
    "nanoGPT": own,
    "nanoGPT without biases": lambda: GPT(GPTConfig(bias=False)),
    "compiled": lambda: torch.compile(own(), backend="eager"),
    "inside another": lambda: nn.Sequential(own()),
    "gpt2": lambda: deepcopy(peer("gpt2")).train().requires_grad_(True),
    "llama": lambda: deepcopy(peer("llama")).train().requires_grad_(True),
    "gpt_neox": lambda: deepcopy(peer("gpt_neox")).train().requires_grad_(True),
}


@pytest.mark.parametrize("name", MODULES)
def test_every_kept_step_computes_what_the_module_computed(name, tmp_path):
    torch.manual_seed(0)
    module = MODULES[name]()
    inner = module._orig_mod if name == "compiled" else module[0] if name == "inside another" else module
    generator, kept = torch.Generator().manual_seed(1), {0: all_logits(inner, PROBE)}
    optimizer = torch.optim.AdamW(module.parameters(), 1e-2)
    with lmviz.record(tmp_path / "run", module) as recording:
        for step in range(1, 7):
            ids = batch_of(generator)
            logits = inner(ids, ids)[0] if isinstance(inner, GPT) else inner(ids).logits
            nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()).backward()
            optimizer.step()
            optimizer.zero_grad()
            recording.step(step)
            kept[step] = all_logits(inner, PROBE)
    run = lmviz.Run.open(tmp_path / "run")
    assert run.snapshots() == [0, 1, 2, 4, 6]
    for step in run.snapshots():
        found = lmviz.open_model(run.folder, step)(PROBE)[0]
        torch.testing.assert_close(found, kept[step], atol=1e-5, rtol=1e-5)


def test_a_model_of_lmviz_in_a_loop_of_ones_own(tmp_path):
    module = of_lmviz()
    with lmviz.record(tmp_path / "run", module) as recording:
        with torch.no_grad():
            module.embedding.weight.mul_(2)
        recording.step(1)
        logits = module(PROBE)
    torch.testing.assert_close(lmviz.open_model(tmp_path / "run")(PROBE), logits)
    assert lmviz.Run.open(tmp_path / "run").description.family == "lstm"


def test_what_was_measured_is_what_the_run_says(tmp_path):
    _, losses = train(GPT(), tmp_path / "run")
    lines = lmviz.Run.open(tmp_path / "run").metrics()
    assert {line["step"]: line["loss"] for line in lines} == losses
    assert {line["learning_rate"] for line in lines} == {0.01}


def test_the_training_goes_as_it_would_without(tmp_path):
    torch.manual_seed(0)
    module, generator = GPT(), torch.Generator().manual_seed(1)
    optimizer = torch.optim.AdamW(module.parameters(), 1e-2)
    begin = {name: value.clone() for name, value in module.state_dict().items()}
    torch.manual_seed(5)
    for _ in range(20):
        ids = batch_of(generator)
        optimizer.zero_grad()
        module(ids[:, :-1], ids[:, 1:])[1].backward()
        optimizer.step()
    plain = {name: value.clone() for name, value in module.state_dict().items()}
    again = GPT()
    again.load_state_dict(begin)
    modes = [each.training for each in again.modules()]
    torch.manual_seed(5)
    train(again, tmp_path / "run")
    assert [each.training for each in again.modules()] == modes
    assert all(torch.equal(value, plain[name]) for name, value in again.state_dict().items())


def test_steps_that_are_due_told_and_passed_over(tmp_path):
    module = GPT()
    with lmviz.record(tmp_path / "run", module, every=100) as recording:
        for step in range(10, 320, 10):
            recording.step(step, keep=step == 150)
    # 10 for the 1, 2, 4 and 8 of which nobody told, 20 for 16, 40 for 32, 70 for 64
    assert lmviz.Run.open(recording.folder).snapshots() == [
        0,
        10,
        20,
        40,
        70,
        100,
        130,
        150,
        200,
        260,
        300,
        310,
    ]
    with lmviz.record(tmp_path / "told", module, every=None) as recording:
        for step in range(1, 9):
            recording.step(step, keep=step == 3)
    assert lmviz.Run.open(recording.folder).snapshots() == [0, 3, 8]


def test_a_loop_that_counts_from_0_has_its_own_step_0(tmp_path):
    module = GPT()
    with lmviz.record(tmp_path / "run", module) as recording:
        for step in range(3):
            with torch.no_grad():
                module.lm_head.weight.add_(1)
            recording.step(step)
            if step == 0:
                logits = all_logits(module, PROBE)
    torch.testing.assert_close(lmviz.open_model(tmp_path / "run", 0)(PROBE)[0], logits)


def test_the_budget_gives_up_some_evenly(tmp_path):
    module = GPT()
    size = sum(value.numel() * 4 for value in module.parameters())
    with lmviz.record(tmp_path / "run", module, every=1, budget=int(size * 6.5)) as recording:
        for step in range(1, 41):
            recording.step(step)
            recording._writer._thread.join(0.002)
    steps = lmviz.Run.open(tmp_path / "run").snapshots()
    assert 3 <= len(steps) <= 6
    assert (steps[0], steps[-1]) == (0, 40)


def test_tokens_are_characters_words_or_numbers(tmp_path):
    table = {character: number for number, character in enumerate("abcdefghijk")}
    with lmviz.record(tmp_path / "characters", GPT(), tokenizer=table):
        pass
    assert lmviz.open_model(tmp_path / "characters").tokenizer.encode("cab").tolist() == [2, 0, 1]
    with lmviz.record(tmp_path / "numbers", GPT()):
        pass
    model = lmviz.open_model(tmp_path / "numbers")
    assert model.tokenizer.encode("3 10 0").tolist() == [3, 10, 0]
    with lmviz.record(tmp_path / "padded", GPT(), tokenizer={"a": 0, "b": 1}):
        pass
    assert lmviz.open_model(tmp_path / "padded").tokenizer.vocabulary_size == VOCABULARY
    with pytest.raises(LmvizError, match="12 tokens and the module 11"):
        lmviz.record(tmp_path / "large", GPT(), tokenizer={chr(97 + each): each for each in range(12)})


def test_a_module_that_computes_something_else_is_refused(tmp_path):
    torch.manual_seed(0)
    module = GPT(activation=nn.Tanh())
    nn.init.normal_(module.transformer.h[0].mlp.c_fc.weight)
    nn.init.normal_(module.transformer.h[0].mlp.c_proj.weight)
    with pytest.raises(UnknownModule, match="computes other logits"):
        lmviz.record(tmp_path / "run", module)
    with pytest.raises(UnknownModule):
        lmviz.record(tmp_path / "run", nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 5)))
    assert not (tmp_path / "run").exists()


def test_a_folder_with_a_run_is_refused_overwritten_or_gone_on_with(tmp_path):
    module = GPT()
    train(module, tmp_path / "run", steps=8)
    with pytest.raises(HoldsRun):
        lmviz.record(tmp_path / "run", module)
    with lmviz.record(tmp_path / "run", module, resume=True) as recording:
        for step in range(6, 11):
            recording.step(step, loss=7.0)
    run = lmviz.Run.open(tmp_path / "run")
    assert run.snapshots() == [0, 1, 2, 4, 6, 8, 10]
    assert [line["step"] for line in run.metrics()] == list(range(1, 11))
    assert run.metrics()[5]["loss"] == 7.0
    with pytest.raises(LmvizError, match="another model"):
        lmviz.record(tmp_path / "run", GPT(GPTConfig(n_layer=1)), resume=True)
    train(module, tmp_path / "run", steps=2, overwrite=True)
    assert run.snapshots() == [0, 1, 2]


def test_a_full_disk_is_one_warning_and_not_the_trainings_end(tmp_path, monkeypatch):
    module = GPT()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with lmviz.record(tmp_path / "run", module) as recording:
            recording.step(1, loss=1.0)
            while lmviz.Run.open(tmp_path / "run").snapshots() != [0, 1]:
                recording._writer._thread.join(0.01)

            def full(*_):
                raise OSError(errno.ENOSPC, "No space left on device")

            monkeypatch.setattr("lmviz.training.tensors.write_tensor_file", full)
            recording.step(2, loss=1.0)
            recording._writer._thread.join()
            for step in range(3, 6):
                recording.step(step, loss=1.0)
    assert [str(each.message) for each in said if each.category is LmvizWarning] == [
        f"Nothing more is recorded, and the training goes on: {recording.trouble}"
    ]
    assert "No space left" in recording.trouble
    assert lmviz.open_model(tmp_path / "run").step == 1


def test_the_loop_does_not_wait_for_a_slow_disk(tmp_path, monkeypatch):
    module, disk = GPT(), threading.Event()
    plain = lmviz.Run.save_snapshot

    def slow(*arguments):
        assert disk.wait(30)
        plain(*arguments)

    monkeypatch.setattr(lmviz.Run, "save_snapshot", slow)
    monkeypatch.setattr(writer, "ROOM", 3 * sum(value.numel() * 4 for value in module.parameters()))
    with lmviz.record(tmp_path / "run", module, every=1) as recording:
        logits = {0: all_logits(module, PROBE)}
        for step in range(1, 10):
            with torch.no_grad():
                module.transformer.wpe.weight.add_(torch.randn_like(module.transformer.wpe.weight))
            recording.step(step)  # would never return if it waited
            logits[step] = all_logits(module, PROBE)
        disk.set()
    # the beginning and two steps had room to wait; the last one is kept at the end
    assert lmviz.Run.open(tmp_path / "run").snapshots() == [0, 1, 2, 9]
    for step in (0, 1, 2, 9):
        torch.testing.assert_close(lmviz.open_model(tmp_path / "run", step)(PROBE)[0], logits[step])


def test_steps_that_go_back_are_left_out_with_a_warning(tmp_path):
    with lmviz.record(tmp_path / "run", GPT()) as recording:
        recording.step(5, loss=1.0)
        with pytest.warns(LmvizWarning, match="Step 3 comes after step 5"):
            recording.step(3, loss=2.0)
        recording.step(5, validation_loss=3.0)
    lines = lmviz.Run.open(tmp_path / "run").metrics()
    assert [(line["step"], line.get("loss"), line.get("validation_loss")) for line in lines] == [
        (5, 1.0, None),
        (5, None, 3.0),
    ]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"every": 0}, "every must be"),
        ({"every": "often"}, "every must be"),
        ({"budget": "much"}, "no room on a disk"),
        ({"precision": "double"}, "precision must be"),
        ({"resume": True, "overwrite": True}, "either resumed or overwritten"),
        ({"tokenizer": 7}, "no tokenizer that lmviz knows"),
    ],
)
def test_settings_that_cannot_be(settings, said, tmp_path):
    with pytest.raises(LmvizError, match=said):
        lmviz.record(tmp_path / "run", GPT(), **settings)


def test_numbers_that_are_none(tmp_path):
    with lmviz.record(tmp_path / "run", GPT()) as recording:
        recording.step(1, loss=torch.tensor(2.0), validation_loss=None, gradient_norm=float("nan"))
        with pytest.raises(LmvizError, match="no number"):
            recording.step(2, loss="much")
        with pytest.raises(LmvizError, match="step must be"):
            recording.step(1.5)
    [line] = lmviz.Run.open(tmp_path / "run").metrics()
    assert line.keys() == {"step", "loss", "seconds"}


def test_nothing_is_said_of_settings_that_nobody_knows(tmp_path):
    from lmviz.runs.race_table import settings_of
    from lmviz.scaling.own_runs import own_runs

    with lmviz.record(tmp_path / "run", GPT()) as recording:
        recording.step(1)
    assert "optimizer" not in settings_of(lmviz.Run.open(recording.folder).description)
    assert own_runs([tmp_path]) == ()
    (tmp_path / "text.txt").write_text("one two three four five six seven eight nine ten\n" * 9)
    corpus = lmviz.load_corpus(tmp_path / "text.txt", tokenizer="words")
    with pytest.raises(LmvizError, match="recorded from a loop of PyTorch, so its text is not known"):
        lmviz.fork(recording.folder, out=tmp_path / "fork", corpus=corpus, steps=9)


@parametrize_few("name", ["gpt2", "llama", "gpt_neox"])
def test_what_peft_adds_is_in_the_weights(name, tmp_path):
    peft = pytest.importorskip("peft")
    torch.manual_seed(0)
    module = deepcopy(peer(name)).train()
    settings = peft.LoraConfig(
        r=2, target_modules="all-linear", modules_to_save=["embed_in", "wte", "embed_tokens"]
    )
    adapted = peft.get_peft_model(module, settings)
    kept = {}
    with lmviz.record(tmp_path / "run", adapted) as recording:
        for step in range(3):
            with torch.no_grad():
                for parameter in adapted.parameters():
                    if parameter.requires_grad and step:
                        parameter.add_(0.05 * torch.randn_like(parameter))
            if step:
                recording.step(step)
            kept[step] = all_logits(adapted, PROBE)
    assert not torch.allclose(kept[1], kept[2], atol=1e-3)
    for step in (0, 1, 2):
        found = lmviz.open_model(tmp_path / "run", step)(PROBE)[0]
        torch.testing.assert_close(found, kept[step], atol=1e-5, rtol=1e-4)


def test_what_is_no_sum_is_refused(tmp_path):
    peft = pytest.importorskip("peft")
    adapted = peft.get_peft_model(deepcopy(peer("llama")), peft.LoraConfig(r=2, use_dora=True))
    with pytest.raises(UnknownModule, match="DoRA"):
        lmviz.record(tmp_path / "run", adapted)


def test_an_output_that_only_equals_the_embedding_at_first_is_one_of_its_own(tmp_path):
    module = GPT()
    module.lm_head.weight = nn.Parameter(module.transformer.wte.weight.detach().clone())
    with lmviz.record(tmp_path / "run", module) as recording:
        with torch.no_grad():
            module.lm_head.weight.add_(1.5 * torch.randn_like(module.lm_head.weight))
        recording.step(1)
    found = lmviz.open_model(tmp_path / "run")(PROBE)[0]
    torch.testing.assert_close(found, all_logits(module, PROBE), atol=1e-5, rtol=1e-5)


def test_nothing_is_compiled_for_a_recording(tmp_path):
    def compiled(graph, inputs):
        raise AssertionError("it was compiled")

    module = GPT()
    module.transformer.h[0].compile(backend=compiled)
    with lmviz.record(tmp_path / "run", torch.compile(module, backend=compiled)) as recording:
        recording.step(1)
    assert lmviz.Run.open(recording.folder).snapshots() == [0, 1]
