"""What is measured here: the pace, the cost of longer texts, the points of one's own runs, an experiment."""

import numpy as np
import pytest

from lmviz.api.training import load_corpus, train
from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.scaling import machine
from lmviz.scaling.experiment import ExperimentOptions, fitted, lanes_of, run_experiment
from lmviz.scaling.machine import MachinePace, measure_pace
from lmviz.scaling.measured_race import MeasuredLane
from lmviz.scaling.own_runs import own_runs
from lmviz.scaling.planned_model import heads_for
from lmviz.scaling.power_law import fit_power_law
from lmviz.scaling.text_length import MeasuredModel, measure_lengths

TEXT = "the cows eat grass\nthe hens eat corn\nthe dog sees the cows\nthe hens see the dog\n" * 30


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("texts") / "farm.txt"
    path.write_text(TEXT, encoding="utf-8")
    return load_corpus(path, tokenizer="characters")


def test_the_pace_counts_the_tokens_of_steps_that_were_made(monkeypatch):
    monkeypatch.setattr(machine, "LONGEST", 0.05)

    def drive():
        yield (yield from measure_pace())

    *fractions, pace = drive()
    assert isinstance(pace, MachinePace)
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert pace.operations == 6 * pace.parameters * pace.tokens_per_second
    assert (
        pace.parameters
        == machine.MEASURED.estimate(machine.VOCABULARY, machine.BATCH, machine.MEASURED.context).parameters
    )


def small(family, **settings):
    return MeasuredModel(family, family, FAMILIES[family].configuration(width=16, layers=1, **settings), 20)


def test_what_a_longer_text_costs():
    *known, found = (
        value
        for value in measure_lengths([small("rnn"), small("transformer", heads=2, context=8)], (8, 32))
        if isinstance(value, tuple)
    )
    assert [(one.name, one.length) for one in found] == [
        ("rnn", 8),
        ("rnn", 32),
        ("transformer", 8),
        ("transformer", 32),
    ]
    assert all(one.milliseconds > 0 for one in found)
    assert found[1].bytes > 2 * found[0].bytes > 0
    assert found[3].bytes > 2 * found[2].bytes > 0
    assert known[0] == found[:1]


def test_the_bytes_kept_are_the_tensors_of_the_backward_pass():
    one = MeasuredModel("m", "rnn", FAMILIES["rnn"].configuration(width=16, layers=1), 20)
    [found] = next(value for value in measure_lengths([one], (10,)) if isinstance(value, tuple))
    least = 4 * 10 * 16 * 2  # its states and its embedded words, each 10 × 16 numbers of four bytes
    assert least <= found.bytes < 20 * least


def test_own_runs_are_points_with_what_they_have_read(corpus, tmp_path):
    settings = {"steps": 3, "batch": 2, "validate_every": 0}
    train("transformer", corpus, tmp_path / "a", width=8, heads=2, layers=1, context=16, **settings)
    train("lstm", corpus, tmp_path / "b", width=8, length=10, **settings)
    train("ngram", corpus, tmp_path / "c", steps=3)
    (tmp_path / "d").mkdir()
    found = {run.family: run for run in own_runs([tmp_path, tmp_path / "nowhere"])}
    assert set(found) == {"transformer", "lstm"}
    assert found["transformer"].tokens == 3 * 2 * 16
    assert found["lstm"].tokens == 3 * 2 * 10
    planned = found["transformer"].planned
    assert planned.configuration == TransformerConfiguration(width=8, heads=2, layers=1, context=16)
    assert found["transformer"].parameters == planned.parameters
    assert found["lstm"].planned is None


def test_heads_share_every_width_of_an_experiment():
    for smallest in range(8, 513):
        for lane in lanes_of(ExperimentOptions(smallest=smallest, models=6)):
            heads, width = lane.configuration.heads, lane.configuration.width
            assert width % heads == 0
            assert heads == 1 or width // heads >= 16
    assert [heads_for(width) for width in (8, 16, 32, 56, 64, 128)] == [1, 1, 2, 2, 4, 8]


def test_an_experiment_trains_the_widths_beside_one_another(corpus):
    options = ExperimentOptions(smallest=8, models=2, layers=1, steps=20)
    values = list(run_experiment(options, corpus))
    known = [value for value in values if isinstance(value, tuple)]
    first, second = known[-1]
    assert (first.name, second.name) == ("8", "16")
    assert first.is_done
    assert second.is_done
    assert first.parameters < second.parameters
    assert len(first.losses) == 10
    assert first.losses[-1] < first.losses[0]
    assert first.compute[-1] == 6 * first.parameters * 20 * 8 * 64
    fractions = [value for value in values if isinstance(value, float)]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    law = fitted(known[-1])
    assert law is not None
    assert law(np.array([first.compute[-1]]))[0] == pytest.approx(first.losses[-1])
    assert fitted(known[0]) is None


def test_models_under_way_are_not_fitted():
    done = MeasuredLane("8", 10, 512, (1, 2), (3.0, 2.0), True)
    assert fitted((done, MeasuredLane("16", 20, 512, (1,), (2.5,)))) is None


def test_a_power_law_is_found_again():
    compute = np.array([1e9, 1e10, 1e11, 1e12])
    law = fit_power_law(compute, 7.0 * compute**-0.05)
    assert (law.factor, law.exponent) == (pytest.approx(7.0), pytest.approx(0.05))
    assert law(compute) == pytest.approx(7.0 * compute**-0.05)
    scattered = 7.0 * compute**-0.05 * np.exp([0.1, -0.1, -0.1, 0.1])  # which rise nowhere on average
    around = fit_power_law(compute, scattered)
    assert around(compute) == pytest.approx(law(compute))


@pytest.mark.parametrize(
    ("compute", "loss"), [([1e9], [2.0]), ([1e9, 1e9], [2.0, 1.0]), ([1, 2], [1, 0]), ([1, 2], [1, np.nan])]
)
def test_what_determines_no_line_is_refused(compute, loss):
    with pytest.raises(LmvizError, match="two points"):
        fit_power_law(np.array(compute), np.array(loss))
