"""Every folder gets its right sentence: from Python, the command line and the doctor the same."""

import warnings

import pytest
from foreign_models import add_tokenizer, saved

import lmviz
from lmviz.base.errors import LmvizError, LmvizWarning
from lmviz.cli import run
from lmviz.desktop.doctor import examine_checkpoint
from lmviz.runs.opening import find_model


def put(folder, *names, content="text"):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


CASES = {
    "runs": (["a/run.json", "b/run.json"], "holds 2 runs (a, b): choose one of them"),
    "a run": (["a/run.json", "notes.md"], "holds one run (a): choose one of them"),
    "runs of several days": (["x/a/run.json", "y/b/run.json"], "holds 2 runs (x/a, y/b): choose one of them"),
    "a race": (["a/run.json", "b/run.json", "race.json"], "is a race, a folder of runs (a, b)"),
    "models": (
        [f"{name}/{file}" for name in ("one", "two") for file in ("config.json", "model.safetensors")],
        "holds 2 models (one, two): choose one of them",
    ),
    "adapters": (
        [f"{name}/adapter_{file}" for name in ("x", "y") for file in ("config.json", "model.safetensors")],
        "holds 2 adapters (x, y): choose one of them",
    ),
    "a model deep inside": (
        ["models--a--b/snapshots/c/config.json", "models--a--b/snapshots/c/model.safetensors"],
        "holds one model (models--a--b/snapshots/c): choose that",
    ),
    "trainings": (
        [
            f"{n}/checkpoint-5/{file}"
            for n in ("first", "other")
            for file in ("config.json", "model.safetensors")
        ],
        "holds 2 models (first, other): choose one of them",
    ),
    "an adapter without weights": (["adapter_config.json"], "describes an adapter and lacks its weights"),
    "tables of n-grams": (["a.arpa", "b.arpa.gz"], "holds 2 models in ARPA format (a.arpa, b.arpa.gz)"),
    "weights among texts": (["a.pth", "b.txt"], "holds one file of weights (a.pth) beside texts"),
    "texts": (["a.txt", "b/c.csv"], "holds texts, and no model: open it as a corpus"),
    "nothing": ([], "is empty: choose one with a model in it"),
    "something else": (["main.py", "picture.png"], "holds no model that lmviz knows"),
}


@pytest.mark.parametrize("name", CASES)
def test_every_folder_says_what_it_holds(name, tmp_path, capsys):
    names, words = CASES[name]
    folder = tmp_path / "folder"
    folder.mkdir()
    put(folder, *names)
    assert find_model(folder) is None
    with pytest.raises(LmvizError) as caught:
        lmviz.open_model(folder)
    said = str(caught.value)
    assert words in said
    assert "run.json" not in said
    assert [finding.sentence for finding in examine_checkpoint(str(folder))] == [said]
    assert run(["sample", str(folder), "--prefix", "a"]) == 2
    assert said in capsys.readouterr().err


REFUSED = {
    "weights alone": (["model.safetensors"], r"holds weights \(model\.safetensors\), and there is no config"),
    "weights in parts": (
        ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"],
        r"holds weights \(model-00001.*there is no config\.json in it",
    ),
    "a distributed checkpoint": (["__0_0.distcp", ".metadata"], "dcp_to_torch"),
    "what DeepSpeed saves": (
        ["zero_pp_rank_0_mp_rank_00_optim_states.pt", "zero_to_fp32.py"],
        "zero_to_fp32",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_recognised_and_not_opened(name, tmp_path):
    names, words = REFUSED[name]
    put(tmp_path, *names)
    assert find_model(tmp_path) is not None
    with pytest.raises(LmvizError, match=words) as caught:
        lmviz.open_model(tmp_path)
    assert str(caught.value) in [finding.sentence for finding in examine_checkpoint(str(tmp_path))]


def test_a_file_that_is_no_model(tmp_path):
    put(tmp_path, "a.txt")
    with pytest.raises(LmvizError, match=r"a\.txt is a file, and no model that lmviz knows"):
        lmviz.open_model(tmp_path / "a.txt")


@pytest.fixture
def training(tmp_path):
    """The folder of a training of transformers that has not ended."""
    folder = tmp_path / "trainer"
    for step in (500, 1000):
        add_tokenizer(saved("gpt2", folder / f"checkpoint-{step}"))
    put(folder, "README.md", "trainer_state.json", content="{}")
    return folder


def test_the_checkpoints_of_a_training_are_one_run(training, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error", LmvizWarning)
        model = lmviz.open_model(training)
        assert lmviz.open_model(training, 500).step == 500
    assert (model.name, model.step) == ("trainer", 1000)
    assert find_model(training) == training
    assert run(["sample", str(training), "--prefix", "w1", "--tokens", "1"]) == 0
    with pytest.raises(LmvizError, match="holds checkpoints of a model, such as checkpoint-1000"):
        lmviz.load_corpus(training)
    with pytest.raises(LmvizError, match="has no checkpoint of step 7: it has those of 500, 1000"):
        lmviz.open_model(training, 7)


def test_a_folder_that_is_a_model_itself_is_opened_itself(training):
    saved("gpt2", training)
    assert find_model(training) == training
