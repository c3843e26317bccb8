"""The chain rule over the text, as the core computes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from benches.sample import Bench

from lmviz.app.panels.sample import chain_rule
from lmviz.base.errors import LmvizError
from lmviz.decoding.likelihood import text_log_probabilities
from lmviz.inspection.interventions import swap_tokens
from lmviz.text.tokenizer import END


def test_the_chain_rule_is_that_of_the_core_and_goes_on_with_the_branch(bench: Bench) -> None:
    panel = bench.find("chain_rule_view")

    def same(ids: list[int]) -> bool:
        found, expected = panel.likelihood, text_log_probabilities(bench.model, ids)
        return (
            found is not None
            and [token.id for token in found.tokens] == [token.id for token in expected.tokens]
            and np.isclose(found.log_probability, expected.log_probability)
            and [token.rank for token in found.tokens] == [token.rank for token in expected.tokens]
        )

    ids = list(bench.model.tokenizer.encode_prefix("the cows").ids)
    bench.wait(lambda: same(ids))
    bench.roll()
    bench.wait(lambda: same([*ids, *bench.session.writing.branches.chosen()]))
    strip = bench.find("chain_rule_strip")
    assert strip.in_sight.stop == len(panel.likelihood.tokens)
    strip.part_clicked.emit(0)
    assert bench.session.focus.position == panel.likelihood.tokens[0].position


@pytest.mark.slow
def test_the_losses_of_a_sentence_go_to_its_end_and_have_their_mean(bench: Bench) -> None:
    panel, strip = bench.find("chain_rule_view"), bench.find("chain_rule_strip")
    bench.wait(lambda: panel.likelihood is not None)
    without = len(panel.likelihood.tokens)
    bench.click("losses_with_end_button")
    bench.wait(lambda: len(strip.words) == without + 1)
    expected = text_log_probabilities(bench.model, bench.session.reading.prefix, ends=True)
    assert strip.words[-1] == END
    losses = [token.loss for token in expected.tokens if token.loss is not None]
    assert panel.exported_arrays()["loss"] == pytest.approx(losses, abs=1e-5)
    mean = sum(losses) / len(losses)
    assert strip.description().endswith(f"{END} {losses[-1]:.2f}; mean {mean:.2f}")
    assert bench.says("chain_rule_view", f"ℓ = {mean:.2f} nats")
    assert "ends=True" in panel.recipe()
    bench.click("losses_with_end_button")
    bench.wait(lambda: len(strip.words) == without)
    assert " × " in strip.description()


@pytest.mark.slow
def test_the_chain_rule_scores_swapped_words_as_they_are_read_and_says_so(bench: Bench) -> None:
    session, panel = bench.session, bench.find("chain_rule_view")
    session.reading.set_prefix("the cows eat corn")
    bench.wait_for_prospect()
    session.surgery.add(swap_tokens(2, 3))
    expected = text_log_probabilities(bench.model, "the eat cows corn")
    bench.wait(lambda: panel.likelihood is not None and panel.likelihood.differs)
    assert [token.token for token in panel.likelihood.tokens] == ["the", "eat", "cows", "corn"]
    assert panel.likelihood.log_probability == pytest.approx(expected.log_probability, abs=1e-4)
    assert bench.says("chain_rule_view", "of the words as read")
    session.surgery.undo()
    bench.wait(lambda: not panel.likelihood.differs)
    assert not bench.says("chain_rule_view", "of the words as read")


@pytest.mark.slow
def test_a_text_that_cannot_be_read_is_said_beside_the_chain_rule(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = bench.find("chain_rule_view")
    bench.wait(lambda: table.likelihood is not None)

    def refuse(model: object, text: object, **given: bool) -> None:
        raise LmvizError("No word of this is known.")

    monkeypatch.setattr(chain_rule, "text_log_probabilities", refuse)
    bench.session.reading.set_prefix("the hens see")
    bench.wait(lambda: bench.says("chain_rule_view", "No word of this is known."))
    assert table.likelihood is None
    assert table.recipe() == ""


@pytest.mark.slow
@pytest.mark.parametrize("bench", ["lstm"], indirect=True)
def test_what_an_n_gram_cannot_see_is_struck_out(bench: Bench, make_run: Callable[..., Path]) -> None:
    panel, strip, session = bench.find("chain_rule_view"), bench.find("chain_rule_strip"), bench.session
    session.reading.set_prefix("the hens see the dog")
    bench.wait(lambda: panel.likelihood is not None and len(panel.likelihood.tokens) == 5)
    assert strip.forgotten == frozenset(), "a recurrent network sees all of it"
    session.library.open(make_run("ngram", 3, order=3))
    bench.wait(lambda: panel.likelihood is not None and panel.likelihood.sight == 2)
    assert strip.forgotten == {0, 1}
    assert bench.says("chain_rule_view", "2 words before it")
    session.focus.hover_position(panel.likelihood.tokens[3].position - session.reading.dropped)
    assert strip.forgotten == {0}, "what the word under the pointer is given"
    session.focus.hover_position(None)
    assert strip.forgotten == {0, 1}
