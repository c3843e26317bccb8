"""Since when layers can say a word: against the lenses of single snapshots."""

import numpy as np
import pytest
from covering import parametrize_few

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.readouts.lens_over_time import LensOverTime, SaidByLayer

TEXTS = ["the cows eat hay and the hens eat corn"] * 3
TEXT = "the cows eat"


@pytest.fixture
def run(farm_run):
    return farm_run.folder


@parametrize_few("kind", ["logit", "tuned", "jacobian"])
def test_each_step_is_what_its_own_lens_says(run, kind):
    given = {} if kind == "logit" else {"texts": TEXTS, "passages": 2, "length": 8}
    found = lmviz.lens_over_training(run, TEXT, "hay", kind=kind, **given)
    assert len(found) > 1
    for step in found.steps:
        model = lmviz.open_model(run, step)
        lens = lmviz.lens(model, TEXTS, kind, **{name: given[name] for name in given if name != "texts"})
        read = lens(lmviz.trace(model, TEXT), model.outputs)
        word = model.tokenizer.id_of("hay")
        at = [int(np.flatnonzero(row[-1] == word)[0]) for row in read.ids]
        shares = [row[-1][place] for row, place in zip(read.probabilities, at, strict=True)]
        assert found[step].probabilities == pytest.approx(shares, abs=1e-5)
        assert found[step].likeliest.tolist() == read.ids[:, -1, 0].tolist()
    assert found.ranks.shape == (len(found), len(found.places))


def test_a_column_says_what_the_lens_says_there(run):
    model = lmviz.open_model(run)
    trace = lmviz.trace(model, TEXT)
    given = {"passages": 2, "length": 8}
    whole = lmviz.lens(model, TEXTS, "jacobian", **given)(trace, 3, [-1])
    column = lmviz.lens_column(model, TEXTS, trace, count=3, **given)
    assert column.ids.tolist() == whole.ids.tolist()
    assert column.probabilities == pytest.approx(whole.probabilities, abs=1e-5)


def test_the_step_since_when_a_word_is_said_is_the_last_at_which_it_began_to_stay():
    def said(*ranks: int) -> SaidByLayer:
        return SaidByLayer(("a", "b"), np.array(ranks), np.zeros(2), np.zeros(2, int))

    found = LensOverTime({0: said(9, 1), 5: said(1, 4), 9: said(2, 1), 20: said(1, 1)})
    assert found.since("a") == 20
    assert found.since("a", 2) == 5
    assert found.since("b") == 9
    assert LensOverTime({0: said(3, 3)}).since("a") is None
    with pytest.raises(LmvizError, match="no step"):
        LensOverTime().places  # noqa: B018


def test_a_fitted_lens_needs_texts(run):
    with pytest.raises(LmvizError, match="fitted on texts"):
        lmviz.lens_over_training(run, TEXT, "hay", kind="tuned")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["logit", "tuned", "jacobian"])
def test_checkpoints_of_another_program_are_read_alike(kind, tmp_path):
    """A series that transformers has trained: at each step what a lens of that checkpoint says."""
    pytest.importorskip("transformers")
    from trained_series import transformers_series

    steps = transformers_series(tmp_path / "run")
    tokenizer = lmviz.open_model(tmp_path / "run").tokenizer
    text, word = tokenizer.decode([5, 9, 6, 11, 7]), tokenizer.token(9)
    given = (
        {} if kind == "logit" else {"texts": [tokenizer.decode(range(5, 25))] * 3, "passages": 2, "length": 8}
    )
    found = lmviz.lens_over_training(tmp_path / "run", text, word, kind=kind, **given)
    assert found.steps == sorted(steps)
    last = lmviz.open_model(tmp_path / "run", found.steps[-1])
    expected = lmviz.next_token(last, text).probabilities[9]
    assert found.probabilities[-1, -1] == pytest.approx(expected, abs=1e-5)
    assert len({float(share) for share in found.probabilities[:, -1]}) == len(steps)
