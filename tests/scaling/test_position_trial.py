"""The kinds of positions side by side: trained alike, in turn, and nothing written."""

import pytest

from lmviz.runs.preparation import rehearse
from lmviz.scaling.position_trial import KINDS, TrialOptions, configuration_of, training_of, try_positions
from lmviz.text.corpus import Corpus, text_corpus
from lmviz.text.corpus_options import CorpusOptions

OPTIONS = TrialOptions(width=8, layers=1, steps=20)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return text_corpus("the cows eat grass and the hens eat corn . " * 60, "farm", options=CorpusOptions())


def test_all_kinds_are_trained_and_end_with_the_losses_of_a_training(corpus: Corpus) -> None:
    *values, last = try_positions(OPTIONS, corpus)
    fractions = [value for value in [*values, last] if isinstance(value, float)]
    tried = [value for value in values if isinstance(value, tuple)][-1]
    assert fractions == sorted(fractions)
    assert [each.name for each in tried] == list(KINDS)
    assert all(each.is_done and each.steps == tuple(range(2, 21, 2)) for each in tried)
    assert all(each.losses[-1] < each.losses[0] for each in tried)
    rotary = tried[KINDS.index("rotary")]
    alone = rehearse("transformer", configuration_of("rotary", OPTIONS), training_of(OPTIONS), corpus)
    *_, end = alone
    assert rotary.losses[-1] == pytest.approx(end.validation_loss)


def test_the_models_differ_in_their_positions_alone() -> None:
    values = [configuration_of(kind, OPTIONS).to_values() for kind in KINDS]
    assert [value.pop("positions") for value in values] == list(KINDS)
    assert all(value == values[0] for value in values)
