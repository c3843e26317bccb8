"""What a page computes of logits is what lmviz does: the same shares, and the same words cut."""

import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from page_scripts import script_engine

from lmviz.base import figures
from lmviz.decoding.distribution import next_distribution

LOGITS = st.lists(
    st.floats(-40, 40, width=32) | st.sampled_from([0.0, 1.0, -np.inf]), min_size=1, max_size=30
)


@pytest.fixture(scope="module")
def engine(qapp):
    return script_engine("figures", "decoding")


def written(values) -> str:
    return "[" + ",".join("-Infinity" if value == -np.inf else repr(float(value)) for value in values) + "]"


def asked(engine, program: str):
    found = engine.evaluate(f"JSON.stringify({program})")
    assert not found.isError(), found.toString()
    return json.loads(found.toString())


@settings(max_examples=60)
@given(
    LOGITS.filter(lambda logits: max(logits) > -np.inf),
    st.sampled_from([0.0, 1e-3, 0.5, 1.0, 2.7, 100.0]),
    st.integers(0, 12),
    st.sampled_from([0.0, 0.03, 0.31, 0.5, 0.77, 0.95, 1.0]),
    st.sampled_from([0.0, 0.013, 0.21, 1.0]),
)
@example([1.0, 1.0, 1.0], 1.0, 2, 1.0, 0.0)
def test_temperature_and_filters_give_what_python_gives(engine, logits, temperature, top_k, top_p, min_p):
    expected = next_distribution(np.array(logits), temperature, top_k, top_p, min_p)
    options = json.dumps({"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p})
    program = f"(() => {{ const l = {written(logits)}, f = distributionOf(l, descending(l), {options});"
    found = asked(
        engine,
        program + " return [f.order, Array.from(f.probabilities), f.cutBy, f.entropy, f.choices]; })()",
    )
    order, probabilities, cut_by, entropy, choices = found
    assert order == expected.order.tolist()
    assert cut_by == [expected.candidate(rank).cut_by for rank in range(1, len(logits) + 1)]
    np.testing.assert_allclose(probabilities, expected.probabilities, rtol=1e-12, atol=1e-300)
    assert entropy == pytest.approx(expected.entropy, abs=1e-9)
    assert choices == expected.choices


@settings(max_examples=200)
@given(
    st.floats(-1e9, 1e9, width=32) | st.floats(-1, 1, width=32) | st.sampled_from([0.0, 1.0, 0.9999, 1e-7])
)
@example(0.0625)
@example(0.125)
@example(12_500_000.0)
def test_numbers_are_written_as_everywhere(engine, value):
    assert asked(engine, f"numberFigure({value!r})") == figures.number(value)
    assert asked(engine, f"cellFigure({value!r})") == figures.cell_figure(value)


@settings(max_examples=200)
@given(st.floats(0, 1, width=32) | st.sampled_from([0.0, 1.0, 0.9999, 1e-7, 0.5]))
@example(0.125)
@example(0.0025)
@example(0.00625)
@example(9.999999974752427e-07)
def test_shares_are_written_as_everywhere(engine, share):
    assert asked(engine, f"percentageFigure({share!r})") == figures.percentage(share)
    assert asked(engine, f"wholePercentage({share!r})") == figures.whole_percentage(share)
