"""An opened model that is trained further, against peft and plain loops with the same batches."""

import json
import shutil
import warnings
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
import torch
from covering import in_turn, parametrize_few
from foreign_models import VOCABULARY, add_tokenizer, peer, saved
from small_trainings import assert_equal_states

import lmviz
from lmviz.base.errors import LmvizError, LmvizWarning
from lmviz.interchange.chosen_bases import NoBase, choose_base
from lmviz.models.tuned import TunedTransformer
from lmviz.models.tuning_configuration import TuningConfiguration
from lmviz.runs.tuning_start import begin_with
from lmviz.training.batches import RandomWindows
from lmviz.training.controls import Controls
from lmviz.training.distributed import Team
from lmviz.training.tuning import tuning_options

RATE, LENGTH, BATCH, STEPS = 0.002, 12, 3, 50
SHORT = {"steps": 6, "batch": 2, "length": 8, "validate_every": 3, "snapshots": 7}
ALL_OF = {
    "llama": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
    "gpt2": ["attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"],
}
ORDER = {
    "llama": {
        "attention.input": ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"],
        "attention.output": ["self_attn.o_proj"],
        "feedforward.gate": ["mlp.gate_proj"],
        "feedforward.hidden": ["mlp.up_proj"],
        "feedforward.output": ["mlp.down_proj"],
    },
    "gpt2": {
        "attention.input": ["attn.c_attn"],
        "attention.output": ["attn.c_proj"],
        "feedforward.hidden": ["mlp.c_fc"],
        "feedforward.output": ["mlp.c_proj"],
    },
}
LAYERS = {"llama": "model.layers", "gpt2": "transformer.h"}


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    torch.set_num_threads(1)
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path_factory.mktemp("data")))


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text of words that the small models know, in which some follow others more often."""
    chance = np.random.default_rng(3)
    words, at = [], 1
    for _ in range(900):
        at = (at * 7 + int(chance.integers(1, 4))) % (VOCABULARY - 1) + 1
        words.append(f"w{at}")
    path = tmp_path_factory.mktemp("text") / "words.txt"
    path.write_text(" ".join(words))
    return path


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("bases")
    return {name: add_tokenizer(saved(name, folder / name)) for name in ("llama", "gpt2")}


def peer_of(kind: str, settings: dict[str, object]) -> torch.nn.Module:
    """What peft or a plain loop trains, with dropout left out."""
    model = deepcopy(peer(kind))
    model.requires_grad_(False)
    if settings["adapter"] == "all":
        return model.requires_grad_(True)
    if settings["adapter"] == "last":
        model.get_submodule(f"{LAYERS[kind]}.1").requires_grad_(True)
        return model
    import peft

    configuration = peft.LoraConfig(
        r=4, lora_alpha=8, target_modules=ALL_OF[kind], fan_in_fan_out=kind == "gpt2", lora_dropout=0.0
    )
    return peft.get_peft_model(model, configuration)


def begin_alike(theirs: torch.nn.Module, kind: str, ours: TunedTransformer) -> None:
    """Have peft's A begin as ours; its B begin with zeros as well."""
    for (_, layer, module), place, name in adapted(kind, ours):
        A = ours.get_parameter(f"layers.{layer}.{module}.first.{place}")
        path = f"base_model.model.{LAYERS[kind]}.{layer}.{name}.lora_A.default.weight"
        theirs.get_parameter(path).data.copy_(A)


def adapted(kind: str, ours: TunedTransformer):
    for module in ours.tuning.products():
        parts = module.split(".", 2)
        for place, name in enumerate(ORDER[kind][parts[2]]):
            yield parts, place, name


def trained_there(theirs: torch.nn.Module, batches: RandomWindows) -> list[float]:
    """The losses of a plain loop."""
    learned = [parameter for parameter in theirs.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=RATE, betas=(0.9, 0.999), weight_decay=0.0)
    losses = []
    for step in range(STEPS):
        batch = batches.batch(step)
        logits = theirs(input_ids=torch.from_numpy(batch.tokens)).logits
        loss = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), torch.from_numpy(batch.targets).flatten()
        )
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learned, 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


WAYS = {
    "LoRA": {"adapter": "lora", "rank": 4, "alpha": 8},
    "last layers": {"adapter": "last", "last_layers": 1},
    "all weights": {"adapter": "all"},
}
PLAIN = {"schedule": "constant", "learning_rate": RATE, "batch": BATCH, "length": LENGTH, "steps": STEPS}


@pytest.mark.parametrize(("way", "kind"), in_turn(WAYS, ["llama", "gpt2"], among=["LoRA"]))
def test_it_learns_as_peft_and_a_plain_loop_do(way, kind, bases, text, tmp_path):
    pytest.importorskip("peft")
    settings = WAYS[way]
    run = lmviz.train(start=bases[kind], corpus=text, out=tmp_path / "run", **settings, **PLAIN)
    ours = [line["loss"] for line in run.metrics() if "loss" in line]

    corpus = lmviz.load_corpus(text, lmviz.open_model(bases[kind]).tokenizer)
    options = tuning_options("lora").from_values({**PLAIN, "seed": 0})
    batches = RandomWindows(corpus.training, options, context=32, ignored_target=None, team=Team())
    theirs = peer_of(kind, settings)
    if settings["adapter"] == "lora":
        start = begin_with(bases[kind], TuningConfiguration(**settings))
        begin_alike(theirs, kind, TunedTransformer.of(start.base, start.tuning, 0))
    expected = trained_there(theirs, batches)
    assert len(ours) == STEPS
    assert np.abs(np.array(ours) - expected).max() <= 1e-4
    assert ours[-1] < ours[0] - 0.05

    out = lmviz.convert(run.folder, tmp_path / "out")
    check_written(out, bases[kind], settings, theirs, kind)


def check_written(out: Path, base: Path, settings: dict[str, object], theirs: torch.nn.Module, kind: str):
    """What transformers and peft read of what was written computes what lmviz does, and learned the same."""
    import transformers

    tokens = torch.arange(12)[None] * 7 % VOCABULARY
    run = out.parent / "run"
    with torch.no_grad():
        ours = lmviz.open_model(run)(tokens)
        before = lmviz.open_model(run, step=0)(tokens)
    plain = transformers.AutoModelForCausalLM.from_pretrained(base if settings["adapter"] == "lora" else out)
    if settings["adapter"] == "lora":
        import peft

        read = peft.PeftModel.from_pretrained(plain, out).eval()
        learned = {name: value for name, value in read.named_parameters() if "lora_" in name}
        wanted = dict(theirs.named_parameters())
        assert learned.keys() == {name for name in wanted if "lora_" in name}
        for name, value in learned.items():
            assert torch.allclose(value, wanted[name], atol=1e-3), name
    else:
        read = plain.eval()
    with torch.no_grad():
        assert torch.allclose(read(tokens).logits, ours, rtol=0, atol=1e-5)
        assert torch.allclose(peer(kind)(tokens).logits, before, rtol=0, atol=1e-4)
    assert not torch.allclose(ours, before, atol=1e-2)
    whole = lmviz.convert(run, out.parent / "whole", merged=True)
    with torch.no_grad():
        merged = transformers.AutoModelForCausalLM.from_pretrained(whole).eval()(tokens).logits
        assert torch.allclose(merged, ours, rtol=0, atol=1e-5)
    if settings["adapter"] == "lora":
        assert torch.equal(lmviz.open_model(out)(tokens), ours)


@parametrize_few("way", WAYS)
def test_only_what_was_learned_is_kept(way, bases, text, tmp_path):
    run = lmviz.train(start=bases["llama"], corpus=text, out=tmp_path / "run", **WAYS[way], **SHORT)
    base = lmviz.open_model(bases["llama"])
    sizes = {name: value.numel() for name, value in base.named_parameters()}
    kept = sum(value.numel() for value in lmviz.Run.open(run.folder).load_snapshot(6).values())
    expected = {
        "LoRA": 2 * 4 * (2 * 24 + 2 * (24 + 8) + 2 * 24 + 3 * (24 + 40)),
        "last layers": sum(size for name, size in sizes.items() if name.startswith("layers.1.")),
        "all weights": sum(sizes.values()),
    }
    assert kept == expected[way]
    assert lmviz.Run.open(run.folder).load_snapshot(0) == {}
    assert run.snapshots() == list(range(7))
    assert torch.equal(
        lmviz.open_model(run.folder, step=0)(torch.arange(5)[None]), base(torch.arange(5)[None])
    )


@parametrize_few("way", WAYS)
def test_it_is_resumed_and_forked_bit_for_bit(way, bases, text, tmp_path):
    settings = {**WAYS[way], **SHORT, "start": bases["gpt2"], "corpus": text}
    straight = lmviz.train(out=tmp_path / "straight", **settings)
    controls = Controls()

    def stop(progress):
        controls.stop = progress.step == 4

    lmviz.train(out=tmp_path / "stopped", progress=stop, controls=controls, **settings)
    assert lmviz.Run.open(tmp_path / "stopped").snapshots()[-1] == 4
    resumed = lmviz.train(out=tmp_path / "stopped", resume=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forks = [lmviz.fork(straight, step, out=tmp_path / f"fork {step}") for step in (0, 3)]
    for other in (resumed, *forks):
        assert_equal_states(other.load_snapshot(6), straight.load_snapshot(6))
        assert [line.get("loss") for line in other.metrics()] == [
            line.get("loss") for line in straight.metrics()
        ]


def test_a_fork_may_learn_with_another_rate_and_not_with_another_rank_of_what_it_has(bases, text, tmp_path):
    run = lmviz.train(start=bases["llama"], corpus=text, out=tmp_path / "run", rank=4, **SHORT)
    fork = lmviz.fork(run, 3, out=tmp_path / "faster", learning_rate=0.01)
    assert fork.description.tuning == run.description.tuning
    with pytest.raises(LmvizError, match="No matrix"):
        lmviz.fork(run, 3, out=tmp_path / "wider", rank=8)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", LmvizWarning)
        fork = lmviz.fork(run, 3, out=tmp_path / "queries", matrices="attention")
    assert fork.description.tuning.matrices == "attention"
    assert not told


def test_a_base_that_is_gone_or_is_another_one_is_said(bases, text, tmp_path):
    base = tmp_path / "base"
    shutil.copytree(bases["llama"], base)
    run = lmviz.train(start=base, corpus=text, out=tmp_path / "run", **SHORT)
    moved = base.rename(tmp_path / "moved")
    with pytest.raises(NoBase, match="choose where that model is"):
        lmviz.open_model(run.folder)
    tokens = torch.arange(5)[None]
    assert lmviz.open_model(run.folder, base=moved)(tokens).shape == (1, 5, VOCABULARY)
    shutil.copytree(bases["gpt2"], base)
    with pytest.raises(LmvizError, match="another one now"):
        lmviz.open_model(run.folder)


def test_what_a_run_from_elsewhere_names_is_not_opened_unasked(bases, text, tmp_path, monkeypatch):
    run = lmviz.train(start=bases["llama"], corpus=text, out=tmp_path / "run", **SHORT)
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path / "another machine"))
    with pytest.raises(NoBase):
        lmviz.open_model(run.folder)
    shutil.copytree(bases["llama"], tmp_path / "llama")
    assert lmviz.open_model(run.folder).step == 6


@parametrize_few(
    "said",
    [[], {"place": 3}, {"place": "x", "name": "", "fingerprint": "", "joined": True, "tuning": {"rank": 0}}],
)
def test_a_run_that_says_nonsense_of_its_base_is_refused(said, bases, text, tmp_path):
    run = lmviz.train(start=bases["llama"], corpus=text, out=tmp_path / "run", **SHORT)
    values = json.loads((run.folder / "run.json").read_text())
    (run.folder / "run.json").write_text(json.dumps(values | {"tuned_from": said}))
    with pytest.raises(LmvizError, match="describes no run"):
        lmviz.open_model(run.folder)


def test_a_run_that_names_itself_is_refused(bases, text, tmp_path):
    run = lmviz.train(start=bases["llama"], corpus=text, out=tmp_path / "run", **SHORT)
    choose_base(run.folder, run.folder)
    with pytest.raises(LmvizError, match="names itself"):
        lmviz.open_model(run.folder)


def test_a_sample_model_is_trained_further_and_traced_at_every_step(tmp_path):
    story = "The bat made noise at the window. The cat saw the bat, and the bat saw the cat.\n" * 20
    (tmp_path / "story.txt").write_text(story)
    run = lmviz.train(
        start="stories-transformer", corpus=tmp_path / "story.txt", out=tmp_path / "run", **SHORT
    )
    for step in run.snapshots()[::3]:
        trace = lmviz.trace(lmviz.open_model(run.folder, step=step), "The bat made")
        assert trace["probabilities"].array.shape[-1] == run.description.vocabulary_size


def test_what_cannot_be_trained_further_is_refused(bases, text, tmp_path):
    with pytest.raises(LmvizError, match="Only a Transformer"):
        lmviz.train(start="stories-gru", corpus=text, out=tmp_path / "run", **SHORT)
    with pytest.raises(LmvizError, match="did you mean rank"):
        lmviz.train(start=bases["llama"], corpus=text, out=tmp_path / "run", ranks=3)
    run = lmviz.train(start=bases["llama"], corpus=text, out=tmp_path / "run", **SHORT)
    with pytest.raises(LmvizError, match="another adapter"):
        lmviz.train(start=bases["llama"], corpus=text, out=run.folder, resume=True, rank=3)


def test_what_is_forgotten_is_measured_on_what_it_wrote_before_and_on_a_second_text(bases, text, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text(" ".join(f"w{index * 5 % 49 + 1}" for index in range(300)))
    settings = {**SHORT, "start": bases["llama"], "corpus": text, "adapter": "all", "learning_rate": 0.01}
    run = lmviz.train(out=tmp_path / "run", second=other, **settings)
    beside = run.load_beside()
    theirs = deepcopy(peer("llama"))
    for step in (0, 6):
        [line] = [line for line in run.metrics() if line["step"] == step]
        whole = lmviz.convert(run.folder, tmp_path / f"at {step}", step=step, merged=True)
        theirs = type(theirs).from_pretrained(whole).eval()
        for name in ("own", "second"):
            ids = torch.from_numpy(beside.rows[name])
            with torch.no_grad():
                logits = theirs(ids).logits[:, :-1]
            expected = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
            assert line[f"{name}_loss"] == pytest.approx(expected.item(), abs=1e-5)
    first, last = [line for line in run.metrics() if "own_loss" in line][:: len(run.metrics()) // 3 or 1][:2]
    assert last["own_loss"] > first["own_loss"]
    again = lmviz.train(out=tmp_path / "again", **settings)
    assert (again.load_beside().rows["own"] == beside.rows["own"]).all()


def test_the_loss_on_what_it_wrote_is_its_entropy(bases):
    from lmviz.training.beside import mean_loss, written_by

    model = lmviz.open_model(bases["llama"])
    rows = np.concatenate([written_by(model, 30)])
    logits = model(torch.from_numpy(rows[:, :-1]))
    logs = logits.log_softmax(dim=-1)
    entropies = -(logs.exp() * logs).sum(dim=-1)
    noise = 4 * float(entropies.std()) / entropies.numel() ** 0.5 + 0.3
    assert mean_loss(model, rows, 4) == pytest.approx(float(entropies.mean()), abs=noise)


def test_from_the_command_line(bases, text, tmp_path, capsys):
    from lmviz.cli import run

    out = tmp_path / "run"
    made = ["train", "--from", str(bases["gpt2"]), "--corpus", str(text), "--out", str(out), "--json"]
    settings = ["--steps", "2", "--set", "batch=2", "--set", "length=8", "--set", "rank=3"]
    assert run([*made, "--adapter", "lora", *settings]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["step"] == 2
    assert "numbers are learned" in said.err
    assert lmviz.Run.open(out).description.tuning.rank == 3
    assert run(["train", "--resume", "--out", str(out), "--steps", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["step"] == 3
    assert run(["convert", str(out), str(tmp_path / "adapter")]) == 0
    assert (tmp_path / "adapter" / "adapter_config.json").exists()
    assert run([*made, "--family", "gru", "--tokenizer", "words"]) != 0
    assert "own tokenizer" in capsys.readouterr().err


def test_a_batch_in_parts_is_the_same_update(bases, text, tmp_path):
    settings = {"start": bases["llama"], "corpus": text, **SHORT, "batch": 5, "steps": 4}
    whole, parts = (
        lmviz.train(out=tmp_path / str(count), batch_parts=count, **settings).metrics() for count in (1, 3)
    )
    for one, other in zip(whole[1:], parts[1:], strict=True):
        assert one["loss"] == pytest.approx(other["loss"], abs=1e-5)
        assert one["gradient_norm"] == pytest.approx(other["gradient_norm"], rel=1e-4)


@pytest.mark.parametrize(("way", "kind"), in_turn(WAYS, ["gpt2", "llama"]))
def test_values_that_are_computed_again_are_the_same(way, kind, bases, text, tmp_path):
    """All losses are equal bit for bit, and a pass keeps less for the way back."""
    kept = {}
    settings = {"start": bases[kind], "corpus": text, **WAYS[way], **SHORT}
    losses = {}
    for recompute in (False, True):
        seen = kept.setdefault(recompute, [])
        hooks = torch.autograd.graph.saved_tensors_hooks(
            lambda tensor, seen=seen: seen.append(tensor.nbytes) or tensor, lambda tensor: tensor
        )
        out = tmp_path / str(recompute)
        with hooks:
            run = lmviz.train(out=out, recompute=recompute, **settings)
        losses[recompute] = [line["loss"] for line in run.metrics() if "loss" in line]
        assert len(losses[recompute]) == SHORT["steps"]
    assert losses[True] == losses[False]
    assert 0 < sum(kept[True]) < 0.7 * sum(kept[False])
    plans = [lmviz.training_plan(recompute=each, **settings).activations for each in (True, False)]
    assert plans[0] < plans[1] or way == "last layers"  # there is one of them


def test_the_plan_is_known_before_anything_begins(bases, text):
    plans = {
        way: lmviz.training_plan(bases["llama"], text, **settings, **SHORT) for way, settings in WAYS.items()
    }
    sizes = {name: value.numel() for name, value in lmviz.open_model(bases["llama"]).named_parameters()}
    whole = sum(sizes.values())
    trained = {
        "LoRA": 2 * 4 * (2 * 24 + 2 * (24 + 8) + 2 * 24 + 3 * (24 + 40)),
        "last layers": sum(size for name, size in sizes.items() if name.startswith("layers.1.")),
        "all weights": whole,
    }
    for way, plan in plans.items():
        assert (plan.trained, plan.parameters) == (trained[way], whole)
        assert plan.gradients == 4 * trained[way]
        assert plan.optimizer == 8 * trained[way]
        assert plan.seconds > 0
        assert plan.activations > 2 * 8 * 24 * 4  # one stream of the batch at least
    assert plans["all weights"].bytes > plans["LoRA"].bytes


def test_a_plan_that_does_not_fit_is_refused_with_what_would(bases, monkeypatch):
    from lmviz.runs.tuning_plan import check_fits, counted_plan

    start = begin_with(bases["llama"], TuningConfiguration())
    options = tuning_options("lora").from_values({"batch": 64, "length": 32})
    plan = counted_plan(start, options)
    with pytest.raises(LmvizError, match=r"batch_parts=4\."):
        check_fits(start, options, plan.bytes - plan.activations + plan.activations // 4)
    with pytest.raises(LmvizError, match="smaller model"):
        check_fits(start, options, 1000)
    one = counted_plan(start, options.from_values({**options.to_values(), "batch": 1}))
    with pytest.raises(LmvizError, match=r"choose batch=1 and recompute=True\."):
        check_fits(start, options, one.bytes - 1000)
    fits = options.from_values({**options.to_values(), "batch_parts": 4})
    assert check_fits(start, fits, plan.bytes - plan.activations + plan.activations // 4).parameters


def test_ranks_are_raced_and_each_lane_is_the_training_alone(bases, text, tmp_path):
    settings = {**SHORT, "start": str(bases["llama"])}
    race = lmviz.race(text, {**settings, "rank": [2, 3]}, out=tmp_path / "race")
    told = [(lane.name, progress.step) for lane, progress in race]
    assert {name for name, _ in told} == {"rank=2", "rank=3"}
    alone = lmviz.train(corpus=text, out=tmp_path / "alone", rank=3, **settings)
    raced = lmviz.Run.open(tmp_path / "race" / "rank=3")
    assert [line["loss"] for line in raced.metrics()[1:]] == [line["loss"] for line in alone.metrics()[1:]]
    list(lmviz.race(text, {"steps": 8}, out=tmp_path / "race", resume=True))
    assert lmviz.Run.open(tmp_path / "race" / "rank=2").snapshots()[-1] == 8


KINDS = ["gpt_neox", "phi3", "qwen2", "opt", "gemma2", "gptj", "mistral", "bloom"]


@pytest.mark.parametrize(
    "kind", [*KINDS[:2], *(pytest.param(each, marks=pytest.mark.slow) for each in KINDS[2:])]
)
def test_adapters_of_other_kinds_are_read_by_peft(kind, text, tmp_path):
    """Matrices that are joined, dealt out by group, or halves of one are written as they are stored."""
    peft = pytest.importorskip("peft")
    import transformers

    base = add_tokenizer(saved(kind, tmp_path / "base"))
    settings = {**SHORT, "learning_rate": 0.05, "rank": 3}
    run = lmviz.train(start=base, corpus=text, out=tmp_path / "run", **settings)
    out = lmviz.convert(run.folder, tmp_path / "adapter")
    plain = transformers.AutoModelForCausalLM.from_pretrained(base, attn_implementation="eager").eval()
    tokens = torch.arange(12)[None] * 7 % VOCABULARY
    with torch.no_grad():
        before = plain(tokens).logits
        theirs = peft.PeftModel.from_pretrained(plain, out).eval()(tokens).logits
        ours = lmviz.open_model(run.folder)(tokens)
    assert torch.allclose(theirs, ours, rtol=1e-5, atol=1e-4)
    assert not torch.allclose(before, theirs, atol=1e-2)


def test_a_base_in_half_precision_is_learned_in_single(text, tmp_path):
    import transformers

    base = add_tokenizer(saved("llama", tmp_path / "plain"))
    model = transformers.AutoModelForCausalLM.from_pretrained(base).to(torch.bfloat16)
    model.save_pretrained(tmp_path / "half")
    add_tokenizer(tmp_path / "half")
    run = lmviz.train(start=tmp_path / "half", corpus=text, out=tmp_path / "run", **SHORT)
    kept = lmviz.Run.open(run.folder).load_snapshot(6)
    assert {value.dtype for value in kept.values()} == {torch.float32}
    tokens = torch.arange(12)[None] * 7 % VOCABULARY
    ours = lmviz.open_model(run.folder)(tokens)
    whole = lmviz.convert(run.folder, tmp_path / "whole", merged=True)
    again = transformers.AutoModelForCausalLM.from_pretrained(whole).eval()
    with torch.no_grad():
        assert torch.allclose(again.float()(tokens).logits, ours, rtol=0, atol=1e-4)
