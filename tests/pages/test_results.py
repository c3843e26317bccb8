"""What a page shows of results has their numbers, under the names by which a person counts."""

import numpy as np
import pytest

import lmviz
from lmviz.api.page_results import page_results
from lmviz.base.errors import LmvizError
from lmviz.looks.live_parts import (
    Frames,
    HeadWeights,
    OverText,
    PartsGraph,
    PollQuestion,
    TokenText,
    WhatFollows,
)
from lmviz.looks.parts import Bars, Curves, Matrix
from lmviz.pages.page import values_in
from lmviz.pages.reading import ChosenAttention, check_fits, trace_sections
from lmviz.pages.results import ResultsBefore, page_sections, sections_of
from lmviz.polls.poll import Poll, PollChoice
from lmviz.training.run import Run

TEXT = "Maya owned a brown stone . there lay the brown"
OTHER = "Maya owned a brown bell . there lay the brown"


@pytest.fixture(scope="module")
def model():
    return lmviz.open_model("stories-transformer")


@pytest.fixture(scope="module")
def trace(model):
    return lmviz.trace(model, TEXT)


@pytest.fixture(scope="module")
def contrast():
    return lmviz.contrast(TEXT, changed=OTHER)


def part_of(sections, kind):
    return next(part for section in sections for part in section.look.parts if isinstance(part, kind))


def test_a_trace_shows_its_words_with_their_surprisals(trace):
    part = part_of(trace_sections(trace), TokenText)
    logits = trace["logits"].array.astype(np.float64)
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    expected = -np.log2(shares[np.arange(len(trace) - 1), trace.ids[1:]])
    assert np.isnan(part.values[0])
    np.testing.assert_allclose(part.values[1:], expected, rtol=1e-9)


def test_what_follows_has_the_logits_of_every_position(trace):
    part = part_of(trace_sections(trace), WhatFollows)
    assert part.places == tuple(range(len(trace)))
    np.testing.assert_array_equal(part.logits, trace["logits"].array)
    likeliest = lmviz.next_token("stories-transformer", TEXT).top(1)[0].token
    assert part.vocabulary[int(part.likeliest[-1, 0])] == likeliest


def test_of_many_logits_those_of_the_last_position_are_kept(trace, monkeypatch):
    monkeypatch.setattr("lmviz.pages.reading.MOST_LOGITS", 2000)
    part = part_of(trace_sections(trace), WhatFollows)
    assert part.places == (len(trace) - 1,)
    np.testing.assert_array_equal(part.logits[0], trace["logits"].array[-1])


def test_heads_are_those_that_were_chosen(trace):
    part = part_of(trace_sections(trace, chosen=ChosenAttention(((2, 1), (0, 3)))), HeadWeights)
    assert (part.places, part.of) == (((2, 1), (0, 3)), (3, 4))
    np.testing.assert_array_equal(part.weights[0], trace["layers/2/attention/weights"].array[1])
    with pytest.raises(LmvizError, match="There is no head 9 in layer 2"):
        trace_sections(trace, chosen=ChosenAttention(((2, 9),)))


def test_attention_too_large_for_a_page_says_what_to_do():
    check_fits(144, 512, 512, top=16)
    with pytest.raises(LmvizError, match="144 heads over 512 tokens has 37,748,736 numbers"):
        check_fits(144, 512, 512)


def test_a_lens_takes_its_words_from_the_trace_before_it(model, trace):
    lens = lmviz.logit_lens(model, trace)
    part = part_of(page_sections([trace, lens]), OverText)
    np.testing.assert_array_equal(part.matrix.values, lens.by_layer.of_final)
    assert part.matrix.words[-1][-1] == model.tokenizer.token(int(lens.ids[-1, -1, 0]))
    with pytest.raises(LmvizError, match="A lens has no words"):
        sections_of(lens)


def test_patches_lie_with_the_last_layer_on_top(model, trace, contrast):
    patches = lmviz.patch(model, contrast)
    part = part_of(sections_of(patches), Matrix)
    np.testing.assert_array_equal(part.values, patches.array[::-1])
    assert list(part.rows) == ["layer 3", "layer 2", "layer 1", "words"]
    share, lines = part.readout(0, part.values.shape[1] - 1)
    assert share.endswith("comes back")
    assert lines[0] == "layer 3, brown"


def test_what_is_asked_about_is_said_in_words(model, trace, contrast):
    [section] = sections_of(lmviz.attribute(model, contrast), ResultsBefore(trace))
    assert section.look.aside == "logit of “stone” − “bell”"


def test_an_attribution_adds_up(model, contrast):
    found = lmviz.attribute(model, contrast)
    bars = part_of(sections_of(found), Bars)
    rounding = found.kinds["rounding"].total if "rounding" in found else 0.0
    assert sum(bars.values) + rounding == pytest.approx(found.value, abs=1e-4)


def test_a_circuit_has_all_its_parts_and_paths(model, trace, contrast):
    found = lmviz.circuit(model, contrast, 5)
    sections = sections_of(found, ResultsBefore(trace))
    graph, curve = part_of(sections, PartsGraph), part_of(sections, Curves)
    assert [node.value for node in graph.nodes[:5]] == found.array.tolist()
    for path, edge in zip(graph.edges, found.edges, strict=False):
        assert path.value == edge.share
        end = graph.nodes[path.receiver]
        assert end.name == ("the answer" if edge.receiver is None else end.name)
    np.testing.assert_allclose(curve.curves[0].y, 100 * found.curve.array)


def test_results_by_step_become_a_slider(trace):
    sections = sections_of({0: trace, 100: trace})
    frames = part_of(sections, Frames)
    assert (frames.title, frames.names) == ("step", ("0", "100"))
    assert ("steps", "0, 100") in sections[0].about


def test_the_losses_of_a_run_are_curves(model):
    run = Run.open(model.checkpoint or lmviz.api.training.find_run("stories-gru"))
    curves = part_of(sections_of(run), Curves).curves
    known = [(line["step"], line["loss"]) for line in run.metrics() if "loss" in line]
    np.testing.assert_array_equal(curves[0].points, known)


def test_a_poll_knows_its_answer_unless_that_takes_a_model():
    choices = (PollChoice("A", "one"), PollChoice("B", "two"))
    assert part_of(sections_of(Poll("T", "Q?", choices, right="B")), PollQuestion).right == "B"
    assert part_of(sections_of(Poll("T", "Q?", choices, likeliest_after="x")), PollQuestion).right == ""


def test_a_page_says_whose_numbers_it_has(model, trace):
    changed = lmviz.trace(model, TEXT, interventions=[lmviz.scale_head(0, 0)])
    page = lmviz.page([trace, changed])
    first, *_, last = values_in(page.html)["sections"]
    assert dict(first["about"]) == {
        "model": "stories-transformer",
        "step": "6,000",
        "text": TEXT,
        "surgery": "none",
    }
    assert dict(last["about"])["surgery"] == changed.interventions[0].describe()


@pytest.mark.parametrize("given", [None, "words", object(), {}, {"a": 1}, []])
def test_what_a_page_cannot_show_is_said(given):
    with pytest.raises(LmvizError, match=r"A page cannot show|nothing to show"):
        lmviz.page(given)


def test_a_page_of_two_texts_that_do_not_line_up_is_refused():
    with pytest.raises(LmvizError, match="do not line up"):
        page_results("stories-transformer", TEXT, changed=f"{TEXT} once more")
