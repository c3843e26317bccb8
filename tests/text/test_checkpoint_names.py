"""What names say of the checkpoints of other programs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmviz.base.errors import LmvizError
from lmviz.text.checkpoint_names import is_weights, models_below, named_steps, step_in_name
from lmviz.text.reading import find_files

STEPS = {
    "checkpoint-500": 500,
    "checkpoint_1000": 1000,
    "ckpt_2000": 2000,
    "ckpt-40": 40,
    "model_000500": 500,
    "epoch=3-step=400": 400,
    "step1000": 1000,
    "step-00001000": 1000,
    "global_step600": 600,
    "iter_0001000": 1000,
    "iter-000600-ckpt": 600,
    "step1000-tokens4B": 1000,
    "500": 500,
    "tokens4B": 4_000_000_000,
    "olmo-2.5m_tokens": 2_500_000,
    "tokens-300k": 300_000,
    "tokenizer2b": None,
    "epoch-3": 3,
    "epoch_12": 12,
    "checkpoint-epoch2-step9": 9,
    "last": None,
    "best": None,
    "gpt2": None,
    "llama-3": None,
    "pythia-70m": None,
    "model-70m": None,
    "opt-125m": None,
    "model-00001-of-00002": 1,
    "stepped": None,
}


@pytest.mark.parametrize("name", STEPS)
def test_the_step_in_a_name(name):
    assert step_in_name(name) == STEPS[name]


@given(st.text(max_size=40))
def test_any_name_says_a_step_or_none(name):
    step = step_in_name(name)
    assert step is None or str(step) in name or "token" in name.lower()


def put(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\0")
    return folder


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["checkpoint-500/config.json", "checkpoint-500/model.safetensors", "README.md"], [500]),
        (
            [f"checkpoint-{n}/{name}" for n in (90, 500) for name in ("config.json", "model.safetensors")],
            [90, 500],
        ),
        ([f"checkpoint-{n}/adapter_{end}" for n in (3, 20) for end in ("config.json", "model.bin")], [3, 20]),
        (["ckpt_10.pt", "ckpt_200.pt", "ckpt_30.pt"], [10, 30, 200]),
        (["epoch=0-step=10.ckpt", "epoch=1-step=20.ckpt", "last.ckpt"], [None, 10, 20]),
        (["gpt-5.pt", "gpt-10.pt"], [5, 10]),
        (["step1/model.pth", "step2/model.pth"], [1, 2]),
        (["100/model.gguf", "200/model.gguf"], [100, 200]),
        (["ckpt.pt", "optimizer_5.pt", "scheduler.pt", "rng_state_0.pth"], []),
        (["ckpt_10.pt"], []),
        (["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "config.json"], []),
        (["weights-00001-of-00002.safetensors", "weights-00002-of-00002.safetensors"], []),
        (["llama-2/model.gguf", "llama-3/model.gguf"], []),
        (["train.bin", "val.bin", "meta.pkl", "input.txt"], []),
        (["chapter-1/text.txt", "chapter-2/text.txt", "1/a.txt"], []),
        (["a1.pt", "b2.pt"], []),
    ],
)
def test_checkpoints_of_a_training(names, found, tmp_path):
    assert [each.step for each in named_steps(put(tmp_path, *names))] == found


def test_a_folder_of_checkpoints_is_no_folder_of_texts(tmp_path):
    put(tmp_path, "checkpoint-5/config.json", "checkpoint-5/model.safetensors")
    (tmp_path / "all_results.json").write_text("{}")
    (tmp_path / "README.md").write_text("what was trained")
    with pytest.raises(LmvizError, match="holds checkpoints of a model, such as checkpoint-5"):
        find_files(tmp_path)


def test_a_folder_of_models_is_no_folder_of_texts_unless_texts_lie_there(tmp_path):
    put(
        tmp_path,
        "one/config.json",
        "one/model.safetensors",
        "two/adapter_config.json",
        "two/adapter_model.bin",
    )
    with pytest.raises(LmvizError, match="holds checkpoints of a model, such as one"):
        find_files(tmp_path)
    (tmp_path / "a.txt").write_text("a text")
    assert tmp_path / "a.txt" in find_files(tmp_path)[0]


def test_models_are_looked_for_a_few_folders_deep(tmp_path):
    put(tmp_path, "logs/version_0/checkpoints/last.ckpt", "a/config.json", "a/model.safetensors", "b/c.txt")
    put(tmp_path, "one/two/three/four/ckpt.pt", ".hidden/ckpt.pt")
    found = [path.relative_to(tmp_path).as_posix() for path in models_below(tmp_path)]
    assert found == ["a", "logs/version_0/checkpoints"]
    assert not is_weights(tmp_path / "train.bin")
    assert is_weights(tmp_path / "pytorch_model-00001-of-00002.bin")
