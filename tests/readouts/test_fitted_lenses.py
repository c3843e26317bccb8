"""Lenses that are fitted, against differences, TransformerLens, and least squares by numpy."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from covering import parametrize_few
from small_models import shaken

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES, build_model
from lmviz.inspection.interventions import add
from lmviz.inspection.tracing import trace
from lmviz.models.model import Model
from lmviz.readouts.fitted_lens import FittedLens
from lmviz.readouts.fitting import fit_lens, judged
from lmviz.readouts.passages import Passages, read_passages
from lmviz.readouts.stream_pass import StreamPass

IDS = np.array([5, 2, 6, 1, 2, 3, 4, 4, 1])


def by_differences(model: Model, place: str, end: str, where: slice) -> np.ndarray:
    """The Jacobian by central differences: each cell of a state is moved by an intervention."""
    size, width = 1e-4, trace(model, IDS)[place].array.shape[-1]
    positions = range(*where.indices(len(IDS)))
    columns = []
    for unit in range(width):
        moved = []
        for at in positions:
            ends = [
                trace(
                    model,
                    IDS,
                    interventions=[add(place, sign * size, position=at, **{_last(model, place): unit})],
                )[end].array[where]
                for sign in (1, -1)
            ]
            moved.append((ends[0].astype(float) - ends[1]).sum(0) / (2 * size))
        columns.append(np.mean(moved, axis=0))
    return np.stack(columns, axis=1)


def _last(model: Model, place: str) -> str:
    return next(tap.axes[-1] for tap in model.taps() if tap.address == place)


@parametrize_few("family", ["rnn", "lstm", "gru", "transformer"], quick=2)
def test_a_jacobian_is_what_moving_the_state_does(family):
    model = shaken(family)
    passages = Passages((IDS,), (IDS,), skipped=2)
    *_, lens = fit_lens(model, passages, "jacobian")
    where = passages.judged(IDS)
    for place in lens.places[:-1]:
        expected = by_differences(model, place, lens.end, where)
        assert lens.maps[place] == pytest.approx(expected, abs=1e-5), place
        assert np.abs(expected).max() > 0.05


def test_over_the_same_position_only_the_diagonal_blocks_count():
    model = shaken("transformer")
    stream, where = StreamPass(model), slice(2, 8)
    *_, lens = fit_lens(model, Passages((IDS,), (IDS,), skipped=2), "jacobian", scope="same")
    place = lens.places[0]
    expected = np.mean(
        [
            stream.rows_of_jacobian(IDS, range(8), slice(at, at + 1), stream.parameters())[place][:, at]
            for at in range(where.start, where.stop)
        ],
        axis=0,
    )
    assert lens.maps[place] == pytest.approx(expected, abs=1e-6)


# Made once by TransformerLens 4.3.0: JacobianLens.fit of the GPT-2 below, with skip_first_positions=2.
HOOKED = {
    0: (
        [1.111841082572937, -0.09179813414812088, -0.030021900311112404, 0.29544880986213684],
        4.254111289978027,
    ),
    1: (
        [0.970297634601593, -0.014414127916097641, -0.0031024098861962557, 0.13421522080898285],
        2.9034905433654785,
    ),
}


@pytest.fixture
def gpt2(tmp_path) -> Model:
    transformers = pytest.importorskip("transformers")
    configuration = transformers.GPT2Config(
        vocab_size=11, n_positions=16, n_embd=8, n_layer=3, n_head=2, bos_token_id=0, eos_token_id=0
    )
    model = transformers.GPT2LMHeadModel(configuration)
    with torch.no_grad():
        for number, (name, parameter) in enumerate(sorted(model.named_parameters())):
            values = 0.4 * torch.sin(1.7 * torch.arange(parameter.numel(), dtype=torch.float64) + number + 1)
            if name.endswith(".weight") and "ln_" in name:
                values = 1 + 0.2 * values
            parameter.copy_(values.reshape(parameter.shape).float())
    model.save_pretrained(tmp_path / "gpt2")
    return lmviz.open_model(tmp_path / "gpt2")


def hooked_passages() -> Passages:
    rows = tuple(
        np.array([0, *((3 * i * i + 7 * k + i) % 10 + 1 for i in range(14))], dtype=np.int64)
        for k in range(3)
    )
    return Passages(rows, rows[:1], skipped=2)


def test_it_is_the_lens_of_transformer_lens(gpt2):
    *_, lens = fit_lens(gpt2, hooked_passages(), "jacobian", centred=False)
    for layer, (beginning, norm) in HOOKED.items():
        matrix = lens.maps[f"layers/{layer}/residual2"]
        assert matrix[0, :4] == pytest.approx(beginning, abs=1e-5)
        assert np.linalg.norm(matrix) == pytest.approx(norm, rel=1e-5)


def test_a_file_of_transformer_lens_is_read_and_carries_alike(gpt2, tmp_path):
    *_, lens = fit_lens(gpt2, hooked_passages(), "jacobian", centred=False)
    matrices = {layer: torch.from_numpy(lens.maps[f"layers/{layer}/residual2"].copy()) for layer in HOOKED}
    path = tmp_path / "lens.pt"
    torch.save({"J": matrices, "n_prompts": 3, "source_layers": [0, 1], "d_model": 8}, path)
    opened = lmviz.open_lens(path, gpt2)
    assert opened.fitted is not None
    assert opened.fitted.passages == 3
    assert opened.fitted.tokens is None
    states = np.ones((2, 8), dtype=np.float32)
    place = "layers/0/residual2"
    assert opened.fitted.carried(place, states) == pytest.approx(lens.carried(place, states))
    torch.save({"J": {5: matrices[0]}}, path)
    with pytest.raises(LmvizError, match="layer 5"):
        lmviz.open_lens(path, gpt2)


def test_the_tuned_lens_is_least_squares_with_a_ridge():
    model = shaken("gru")
    rows = tuple(np.random.default_rng(seed).integers(1, 7, 12) for seed in range(6))
    passages = Passages(rows, rows[:1])
    *_, lens = fit_lens(model, passages, "tuned")
    states = [trace(model, ids) for ids in rows]
    inner = np.concatenate([one["layers/0/hidden"].array[3:11] for one in states]).astype(float)
    end = np.concatenate([one["layers/1/hidden"].array[3:11] for one in states]).astype(float)
    inner, end = inner - inner.mean(0), end - end.mean(0)
    ridge = 0.03 * (inner**2).sum(0).mean()
    expected = np.linalg.solve(inner.T @ inner + ridge * np.eye(inner.shape[1]), inner.T @ end).T
    assert lens.maps["layers/0/hidden"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stories-transformer", "echo-transformer"])
def test_a_tuned_lens_is_nearer_to_the_end_at_every_layer_of_a_trained_model(name):
    model = lmviz.open_model(name)
    texts = lmviz.load_corpus(name.split("-")[0]).training_documents
    *_, tuned = fit_lens(model, read_passages(model, texts, count=300, length=48), "tuned", every=300)
    for place in tuned.places[:-1]:
        assert tuned.divergence[place] < tuned.divergence_unfitted[place], place
    assert tuned.divergence[tuned.end] == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["echo-transformer", "stories-transformer"])
def test_the_centred_form_is_nearer_to_the_end_than_the_published_at_every_layer(name):
    model = lmviz.open_model(name)
    texts = lmviz.load_corpus(name.split("-")[0]).training_documents
    passages = read_passages(model, texts, count=12, length=32)
    *_, centred = fit_lens(model, passages, "jacobian", every=12)
    published = judged(model, replace(centred, centred=False), passages)
    for place in centred.places[:-1]:
        assert centred.divergence[place] < published.divergence[place], place


def test_it_grows_passage_by_passage_and_says_how_sure_it_is():
    rows = tuple(np.random.default_rng(seed).integers(1, 7, 12) for seed in range(5))
    found = list(fit_lens(shaken("transformer"), Passages(rows, rows[:1]), "jacobian", every=2))
    assert [lens.passages for lens in found] == [1, 3, 5]
    assert found[0].errors is None  # of one passage nothing is known
    assert found[-1].errors is not None
    assert 0 < found[-1].errors[found[-1].places[0]] < 1


def test_it_is_kept_in_a_file_and_read_again(tmp_path):
    rows = tuple(np.random.default_rng(seed).integers(1, 7, 12) for seed in range(3))
    model = shaken("lstm").float()
    *_, lens = fit_lens(model, Passages(rows, rows[:1]), "jacobian")
    opened = lmviz.open_lens(lens.save(tmp_path / "lens.safetensors"), model)
    assert opened.kind == "jacobian"
    assert opened.fitted is not None
    for name in ("places", "passages", "tokens", "errors", "divergence", "centred", "scope"):
        assert getattr(opened.fitted, name) == getattr(lens, name), name
    reading = trace(model, IDS)
    found = opened(reading, 2)
    assert found.places == lens.places
    own = reading["probabilities"].array
    assert found.probabilities[-1] == pytest.approx(-np.sort(-own, axis=-1)[:, :2], abs=1e-6)
    with pytest.raises(LmvizError, match="fit one to this model"):
        lmviz.open_lens(tmp_path / "lens.safetensors", shaken("transformer").float())


def test_from_python_it_gives_words_by_layer_and_says_how_far_it_is():
    model = lmviz.open_model("stories-transformer")
    heard: list[float] = []
    lens = lmviz.lens(
        model,
        ["One day Tom saw a big dog in the park. He was happy to run with it."] * 3,
        "tuned",
        passages=2,
        progress=heard.append,
    )
    found = lens(lmviz.trace(model, "One day Tom"), 3, [-1])
    assert found.ids.shape == (4, 1, 3)
    assert heard == sorted(heard)
    assert heard[-1] <= 1
    assert lmviz.lens(model, [], "logit")(lmviz.trace(model, "One")).places == found.places


@pytest.mark.parametrize(
    ("family", "kind", "said"),
    [
        ("window", "tuned", "one state"),
        ("ngram", "tuned", "counts"),
        ("gru", "logits", "no lens of the kind"),
    ],
)
def test_what_no_lens_can_be_fitted_to_says_so(family, kind, said):
    model = (
        shaken(family) if family != "ngram" else build_model("ngram", FAMILIES["ngram"].configuration(), 7, 0)
    )
    with pytest.raises(LmvizError, match=said):
        list(fit_lens(model, Passages((IDS,), (IDS,)), kind))


def test_passages_of_one_long_text_do_not_overlap():
    model = lmviz.open_model("stories-transformer")
    text = " ".join(f"word{number}" if number % 3 else "the dog" for number in range(4000))
    passages = read_passages(model, [text], count=10, length=20)
    assert len(passages.fitted) == 10
    assert len(passages.held_out) >= 2
    assert all(4 <= len(ids) <= 20 for ids in (*passages.fitted, *passages.held_out))
    with pytest.raises(LmvizError, match="too little text"):
        read_passages(model, ["the"])


def test_a_damaged_file_is_one_sentence(tmp_path: Path):
    path = tmp_path / "damaged.safetensors"
    lens = FittedLens(
        kind="tuned",
        places=("a", "b"),
        maps={"a": np.eye(2, dtype=np.float32)},
        means={"a": np.zeros(2, np.float32), "b": np.zeros(2, np.float32)},
        passages=1,
        tokens=2,
    )
    lens.save(path)
    whole = path.read_bytes()
    for cut in (0, 4, 40, len(whole) - 3):
        path.write_bytes(whole[:cut])
        with pytest.raises(LmvizError):
            lmviz.open_lens(path, "stories-transformer")
